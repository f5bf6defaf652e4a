"""What one respondent is worth: against published formulas, a second route through algebra, and theorems."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate, planning
from naysay.data import gvu_counts
from naysay.design import Design
from naysay.design.base import Structure
from naysay.errors import DataError, NotEstimable
from naysay.estimate.linear import second_moments

_spec = importlib.util.spec_from_file_location("contract", Path(__file__).parents[1] / "designs" / "test_contract.py")
contract = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(contract)

CASES = {name: case.design for name, case in contract.BATTERY.items() if case.estimable}
LIKELY = {name: design for name, design in CASES.items() if not design.structure.moments_only}
every_likelihood = pytest.mark.parametrize("design", LIKELY.values(), ids=LIKELY.keys())
every_design = pytest.mark.parametrize("design", CASES.values(), ids=CASES.keys())


def proportions(design):
    t = len(design.categories)
    return np.roll(np.arange(2, t + 2), 1) / np.arange(2, t + 2).sum()


def drop_one(design):
    """P with the last proportion written as one minus the others: (responses, t - 1), and what is left over."""
    matrix = design.matrix
    return matrix[:, :-1] - matrix[:, -1:], matrix[:, -1]


@every_design
def test_moments_are_least_squares_of_the_expected_statistic(design):
    pi = proportions(design)
    statistic = design.space.statistic(design.space.listing())
    if design.structure.pure and not design.space.constant_sum:
        one_by_one(design, pi, statistic)
        return
    slope = np.linalg.pinv(design.expected_statistic[:, :-1] - design.expected_statistic[:, -1:])
    u = (statistic - design.expected_statistic[:, -1]) @ slope.T
    chance = design.matrix @ pi
    own = (u * chance[:, None]).T @ u - np.outer(chance @ u, chance @ u)
    least = np.eye(len(pi))[:, :-1] - np.eye(len(pi))[:, -1:]
    found = planning.variance(design, pi, estimator="moments").covariance
    exact = design.expected_statistic.shape[0] == len(pi)
    if exact:  # otherwise the constraint may be imposed in more than one way
        np.testing.assert_allclose(found, least @ own @ least.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-10)


def one_by_one(design, pi, statistic):
    """Where answers name different numbers of categories, each proportion is estimated by itself: (T - q) / (p - q)."""
    p, q = map(float, design.structure.named_chances)
    u = (statistic - q) / (p - q)
    chance = design.matrix @ pi
    own = (u * chance[:, None]).T @ u - np.outer(chance @ u, chance @ u)
    np.testing.assert_allclose(chance @ u, pi, atol=1e-12)
    found = planning.variance(design, pi, estimator="moments").covariance
    np.testing.assert_allclose(found, own, rtol=1e-9, atol=1e-12)


@every_likelihood
def test_likelihood_is_the_curvature_of_the_expected_log_likelihood(design):
    pi = proportions(design)
    chance = design.matrix @ pi
    change, rest = drop_one(design)
    seen = chance > 0

    def expected(free):
        return chance[seen] @ np.log(change[seen] @ free + rest[seen])

    size, step = len(pi) - 1, 1e-4
    hessian = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            moved = [expected(pi[:-1] + step * (i * np.eye(size)[a] + j * np.eye(size)[b])) for i, j in corners]
            hessian[a, b] = (moved[0] - moved[1] - moved[2] + moved[3]) / (4 * step**2)
    found = planning.variance(design, pi).covariance[:-1, :-1]
    np.testing.assert_allclose(found, np.linalg.inv(-hessian), rtol=1e-3, atol=1e-5)


@every_design
def test_nothing_unbiased_beats_the_cramer_rao_bound(design):
    pi = proportions(design)
    more = planning.variance(design, pi, estimator="moments").covariance - planning.variance(design, pi).covariance
    assert np.linalg.eigvalsh(more).min() > -1e-9


@every_design
def test_the_two_agree_where_the_design_is_square(design):
    if design.matrix.shape[0] == len(design.categories):
        pi = proportions(design)
        unbiased = planning.variance(design, pi, estimator="moments").covariance
        np.testing.assert_allclose(planning.variance(design, pi).covariance, unbiased, rtol=1e-7, atol=1e-10)


@given(t=st.integers(3, 9), k=st.integers(1, 7), seed=st.integers(0, 99))
def test_k_discards_have_the_published_covariance(t, k, seed):
    if k >= t:
        return
    pi = np.random.default_rng(seed).dirichlet(np.ones(t))
    found = planning.variance(designs.negative_levels(range(t)).channel(k), pi, estimator="moments").covariance
    named = k * (1 - pi) / (t - 1)
    both = k * (k - 1) / ((t - 1) * (t - 2)) * (1 - pi[:, None] - pi) if t > 2 else 0.0
    expected = ((t - 1) / k) ** 2 * (both - np.outer(named, named))
    np.fill_diagonal(expected, pi * (1 - pi) + (1 - pi) * (t - k - 1) / k)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_sixty_categories_thirty_discards():
    t, k = 60, 30
    pi = np.random.default_rng(0).dirichlet(np.ones(t))
    found = planning.variance(designs.negative(range(t), discards=k), pi, estimator="moments")
    np.testing.assert_allclose(found.each, pi * (1 - pi) * (1 + (t - k - 1) / (k * pi)), rtol=1e-12)
    assert found.kind == "moments, exact"


def test_likelihood_of_too_many_responses_says_how_it_was_found():
    t, k = 60, 30
    found = planning.variance(designs.negative(range(t), discards=k), np.full(t, 1 / t))
    assert found.kind == "maximum likelihood, expected information, by 100,000 drawn responses"
    own = 1 / t - 1 / t**2 + (t - k - 1) / (k * t) * (t - 1) / t
    assert (found.each <= own * 1.05 + (1 - 1 / t) * (t - k - 1) / k).all()


@pytest.mark.parametrize("p", [0.1, 0.7, 0.95])
def test_warner(p):
    pi = 0.2
    chance = p * pi + (1 - p) * (1 - pi)
    found = planning.variance(designs.warner(p=p), (pi, 1 - pi))
    assert found.each[0] == pytest.approx(chance * (1 - chance) / (2 * p - 1) ** 2, rel=1e-12)


def test_two_coins_as_the_source_computes_it():
    assert planning.standard_error(designs.two_coins(), (0.15, 0.85), n=200)[0] == pytest.approx(0.066, abs=5e-4)


def mean_ratio(question, estimator, target):
    """Standard deviations over those of one discard, averaged over the categories as the source does."""
    labels, people = tuple(question), np.array(list(question.values()), dtype=float)
    pi = people / people.sum()
    one = planning.variance(designs.negative(labels), pi, estimator="moments", target=target)
    levels = planning.variance(designs.negative_levels(labels), pi, estimator=estimator, target=target)
    return np.mean(np.sqrt(levels.each / one.each))


RATIOS = {
    ("stratified", "file"): (0.539, 0.515, 0.566, 0.495, 0.478),
    ("pooled", "file"): (0.199, 0.118, 0.153, 0.209, 0.168),
    ("pooled", "population"): (0.244, 0.147, 0.200, 0.241, 0.195),
}


@pytest.mark.parametrize(("estimator", "target"), RATIOS)
def test_levels_against_one_discard_on_the_published_counts(estimator, target):
    found = [mean_ratio(question, estimator, target) for question in gvu_counts().values()]
    np.testing.assert_allclose(found, RATIOS[estimator, target], atol=5e-4 if estimator == "stratified" else 0.012)


def test_one_level_is_its_design():
    choice = designs.negative_levels(tuple("abcde"))
    pi = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    for estimator, same in [
        ("stratified", "moments"),
        ("pooled", "maximum_likelihood"),
        ("stratified_equal", "moments"),
    ]:
        found = planning.variance(choice, pi, estimator=estimator, preferences=(0, 1, 0, 0))
        own = planning.variance(choice.channel(2), pi, estimator=same)
        np.testing.assert_allclose(found.covariance, own.covariance, atol=1e-12)


def test_variance_weights_beat_equal_and_proportional_ones():
    choice, pi = designs.negative_levels(tuple("abcde")), np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    traces = [
        np.trace(planning.variance(choice, pi, estimator=name, preferences=(0.4, 0.3, 0.2, 0.1)).covariance)
        for name in ("pooled", "stratified_variance", "stratified_equal")
    ]
    proportional = planning.variance(choice, pi, preferences=(0.4, 0.3, 0.2, 0.1))
    assert traces == sorted(traces)
    assert traces[1] < np.trace(proportional.covariance)


@every_design
def test_a_file_has_the_variance_of_drawing_people_less(design):
    pi = proportions(design)
    for estimator in ("moments", "maximum_likelihood")[: 1 if design.structure.moments_only else 2]:
        both = [planning.variance(design, pi, estimator=estimator, target=each) for each in ("population", "file")]
        drawing = np.diag(pi) - np.outer(pi, pi)
        np.testing.assert_allclose(both[0].covariance - both[1].covariance, drawing, atol=1e-12)


ALWAYS_LISTED = ("table", "two_option", "both", "pattern", "window", "grouped")
UNLISTED = [name for name, design in CASES.items() if second_moments(design) is not None]


@pytest.mark.parametrize("name", UNLISTED)
def test_closed_second_moments_are_those_of_the_list(name, monkeypatch):
    design, pi = CASES[name], proportions(CASES[name])
    listed = planning.variance(design, pi, estimator="moments").covariance
    monkeypatch.setattr(Structure, "listed", property(lambda structure: structure.design.kind in ALWAYS_LISTED))
    np.testing.assert_allclose(planning.variance(design, pi, estimator="moments").covariance, listed, atol=1e-11)


@pytest.mark.parametrize("name", ["negative, sets", "mix, sets", "then, sets", "product, sets", "warner"])
@pytest.mark.parametrize("estimator", ["moments", "maximum_likelihood"])
def test_drawn_responses_come_close_to_the_list(name, estimator, monkeypatch):
    design, pi = CASES[name], proportions(CASES[name])
    listed = planning.variance(design, pi, estimator=estimator)
    monkeypatch.setattr(Structure, "listed", False)
    monkeypatch.setattr("naysay.estimate.linear.second_moments", lambda design: None)
    drawn = planning.variance(design, pi, estimator=estimator)
    assert "drawn" in drawn.kind
    np.testing.assert_allclose(drawn.each, listed.each, rtol=0.02)


@pytest.mark.parametrize("name", ["uniform", "uniform, sets"])
@pytest.mark.parametrize("estimator", ["moments", "maximum_likelihood"])
def test_a_design_that_says_nothing_is_refused(name, estimator):
    design = contract.BATTERY[name].design
    with pytest.raises(NotEstimable, match="cannot tell"):
        planning.variance(design, proportions(design), estimator=estimator)


def test_a_response_that_never_comes_can_leave_too_little():
    with pytest.raises(NotEstimable, match="proportions above 0"):
        planning.variance(designs.direct(tuple("abcd")), (0, 0, 0.5, 0.5))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"proportions": (0.5, 0.4)}, "proportions must sum to one; they sum to 0.9"),
        ({"proportions": (1.5, -0.5)}, "negative"),
        ({"proportions": (1,)}, "must have 2 probabilities"),
        ({"estimator": "momnts"}, "did you mean 'moments'"),
        ({"estimator": "pooled"}, "the estimators are maximum_likelihood, moments"),
        ({"target": "sample"}, "target must be"),
        ({"preferences": (1,)}, "offers no levels"),
    ],
)
def test_bad_questions(arguments, told):
    with pytest.raises(DataError, match=told):
        planning.variance(designs.warner(p=0.7), arguments.pop("proportions", (0.1, 0.9)), **arguments)


@pytest.mark.parametrize("estimator", ["pooled", "stratified_equal", "stratified_variance"])
def test_a_choice_that_goes_with_the_category_is_only_for_stratified(estimator):
    choice = designs.negative_levels(tuple("abc"))
    tied = [[1, 0.5, 0.5], [0, 0.5, 0.5]]
    with pytest.raises(DataError, match="biased if the choice of level depends on the category"):
        planning.variance(choice, (0.2, 0.3, 0.5), estimator=estimator, preferences=tied)
    assert planning.variance(choice, (0.2, 0.3, 0.5), preferences=tied).each.min() > 0


def test_what_is_no_design():
    with pytest.raises(DataError, match="a design is needed first; got str"):
        planning.variance("warner(p=0.7)", (0.1, 0.9))


def test_a_new_kind_of_design_needs_likelihoods_and_nothing_else():
    table = designs.negative(("a", "b", "c"))

    class Strange(Design):
        draw = form = of_form = None

        def rows(self, codes):
            return table.rows(codes)

    strange = Strange(categories=table.categories, space=table.space, name="strange()")
    for estimator in ("moments", "maximum_likelihood"):
        found = [planning.variance(each, (0.5, 0.3, 0.2), estimator=estimator) for each in (strange, table)]
        np.testing.assert_allclose(found[0].covariance, found[1].covariance, rtol=1e-12)


def test_an_estimator_of_another_principle_is_not_planned_as_one_of_ours(monkeypatch):
    entry = estimate.Estimator("guess", estimate.moments, "a guess", "guessing", ("nobody",))
    monkeypatch.setitem(estimate.ESTIMATORS, "guess", entry)
    with pytest.raises(DataError, match="no variance is known for guess; simulate it"):
        planning.variance(designs.warner(p=0.7), (0.1, 0.9), estimator="guess")


@pytest.mark.parametrize("n", [0, -1, math.nan, math.inf, "many", True])
def test_respondents_are_at_least_one(n):
    with pytest.raises(DataError, match="at least one respondent"):
        planning.standard_error(designs.warner(p=0.7), (0.1, 0.9), n=n)
