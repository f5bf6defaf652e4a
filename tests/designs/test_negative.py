"""Closed forms of the negative families, and what they refuse."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naysay import Design, designs, estimate, planning, privacy
from naysay.designs.negative import is_uniform
from naysay.errors import DesignError

ABC, ABCD, ABCDE = tuple("abc"), tuple("abcd"), tuple("abcde")


def exact_matrix(t, k, weight=lambda i: Fraction(1)):
    """P by enumeration: every k-subset without the truth, in proportion to the product of its weights."""
    sets = list(itertools.combinations(range(t), k))
    product = [math.prod((weight(i) for i in members), start=Fraction(1)) for members in sets]
    columns = [[Fraction(0) if j in s else w for s, w in zip(sets, product, strict=True)] for j in range(t)]
    return np.array([[entry / sum(column) for entry in column] for column in columns], dtype=float).T


sizes = st.integers(3, 7).flatmap(lambda t: st.tuples(st.just(t), st.integers(1, t - 2)))


@given(sizes)
def test_every_set_of_false_categories_is_equally_likely(size):
    t, k = size
    design = designs.negative(range(t), discards=k)
    np.testing.assert_allclose(design.matrix, exact_matrix(t, k)[_order(design, k)], rtol=1e-14)
    assert design.matrix.max() == pytest.approx(1 / math.comb(t - 1, k), rel=1e-15)
    np.testing.assert_allclose(design.expected_statistic, k / (t - 1) * (1 - np.eye(t)), rtol=1e-14)


def _order(design, k):
    """Rows of an enumeration in the order of the design's responses."""
    t = len(design.categories)
    sets = list(itertools.combinations(range(t), k))
    members = np.asarray(design.responses)
    if members.ndim == 1:
        members = members[:, None] == np.array(design.categories)
    return [sets.index(tuple(np.flatnonzero(row))) for row in members]


@given(
    sizes.flatmap(
        lambda size: st.tuples(st.just(size), st.lists(st.integers(1, 30), min_size=size[0], max_size=size[0]))
    )
)
def test_weighted_sets_are_in_proportion_to_their_products(drawn):
    (t, k), weights = drawn
    design = designs.negative(range(t), discards=k, weights=weights)
    expected = exact_matrix(t, k, weights.__getitem__)
    np.testing.assert_allclose(design.matrix, expected[_order(design, k)], rtol=1e-12, atol=1e-15)


@given(sizes)
def test_equal_weights_are_no_weights(size):
    t, k = size
    weighted = designs.negative(range(t), discards=k, weights=[3] * t)
    np.testing.assert_allclose(weighted.matrix, designs.negative(range(t), discards=k).matrix, rtol=1e-14)


def test_the_uniform_negative_survey_is_known_when_seen():
    assert is_uniform(designs.negative(ABCD))
    assert is_uniform(designs.two_option(ABCD))
    assert is_uniform(designs.negative(ABCD, weights=(2, 2, 2, 2)))
    assert not is_uniform(designs.negative(ABCD, weights=(2, 2, 2, 1)))
    assert not is_uniform(designs.negative(ABCD, discards=2))
    assert not is_uniform(designs.direct(ABCD))


@given(st.floats(1, 20), st.integers(3, 8))
def test_the_gaussian_design_puts_each_true_category_in_a_column(sigma, t):
    # Bao, Luo & Zhang (2013), equation 8: q(i -> j) is normalized over the responses j of a respondent of i.
    matrix = designs.gaussian_negative(range(t), sigma=sigma).matrix
    for true in range(t):
        density = [0 if named == true else math.exp(-((named - true) ** 2) / (2 * sigma**2)) for named in range(t)]
        np.testing.assert_allclose(matrix[:, true], np.array(density) / sum(density), rtol=0, atol=2e-15)


def test_the_gaussian_design_is_not_symmetric():
    matrix = designs.gaussian_negative(ABCDE, sigma=1).matrix
    assert matrix[1, 0] > matrix[0, 1], "an end has one neighbor, which it names more often than it is named"


def test_a_wide_gaussian_is_the_uniform_design():
    for sigma in (1e9, 1e200):
        np.testing.assert_allclose(
            designs.gaussian_negative(ABCD, sigma=sigma).matrix, designs.negative(ABCD).matrix, atol=1e-15
        )


@pytest.mark.parametrize("sigma", [0, -1, "x", math.nan, math.inf, [1]])
def test_sigma_is_a_positive_number(sigma):
    with pytest.raises(DesignError, match="sigma"):
        designs.gaussian_negative(ABC, sigma=sigma)


@pytest.mark.parametrize(("t", "sigma", "ratio"), [(4, 1, 0.72), (4, 1.5, 5.79), (5, 3, 1.77), (10, 3, 2.39)])
def test_a_gaussian_survey_is_less_private_and_not_always_more_precise(t, sigma, ratio):
    """That it is more precise is said of all of them (Xie, Kulik & Tanin 2011; Bao, Luo & Zhang 2013)."""
    even, near = designs.negative(range(t)), designs.gaussian_negative(range(t), sigma=sigma)
    assert privacy.information(near) > privacy.information(even)
    pi, n = np.full(t, 1 / t), 1_000
    inverse = np.linalg.inv(near.matrix)  # the error from its definition, and from the library
    variances = np.diagonal(inverse @ (np.diag(near.matrix @ pi) - np.outer(*[near.matrix @ pi] * 2)) @ inverse.T) / n
    planned = [planning.standard_error(design, pi, n=n, estimator="moments") for design in (near, even)]
    np.testing.assert_allclose(planned[0], np.sqrt(variances), rtol=1e-6)
    assert np.sqrt((planned[0] ** 2).mean() / (planned[1] ** 2).mean()) == pytest.approx(ratio, abs=0.006)


@pytest.mark.parametrize("sigma", [0.05, 1e-3, 1e-300])
def test_so_narrow_a_gaussian_that_only_the_next_is_named_is_refused(sigma):
    with pytest.raises(DesignError, match="sigma is too small for 5 categories"):
        designs.gaussian_negative(ABCDE, sigma=sigma)


def test_a_gaussian_over_many_categories_never_names_those_that_are_too_far():
    survey = designs.gaussian_negative(range(50), sigma=3)
    assert (survey.weights.sum(axis=0) == 2**53).all(), "columns sum to one exactly"
    density = [0 if place == 20 else math.exp(-((place - 20) ** 2) / 18) for place in range(50)]
    np.testing.assert_allclose(survey.matrix[:, 20], np.array(density) / sum(density), rtol=0, atol=3e-16)
    assert survey.matrix[46, 20] == 0 < survey.matrix[45, 20]
    assert "categories about 26 or more places away" in str(privacy.statement(survey))
    pi = np.arange(1, 51) / 1275
    tally = survey.tally(range(50), weights=1e6 * survey.matrix @ pi)
    np.testing.assert_allclose(estimate.moments(survey, tally).proportions, pi, atol=1e-9)
    assert designs.parse("gaussian_negative(sigma=3)", categories=range(50)) == survey


@pytest.mark.parametrize("shown", [2, 3, 4])
def test_a_fair_coin_makes_two_options_uniform(shown):
    np.testing.assert_allclose(designs.two_option(ABCDE, shown=shown).matrix, designs.negative(ABCDE).matrix)


@given(st.integers(3, 7).flatmap(lambda t: arrays(float, (t, t), elements=st.floats(0, 1).map(lambda x: round(x, 6)))))
def test_two_options_follow_equation_12_and_its_corrected_bounds(draw):
    t = len(draw)
    theta = np.where(np.tri(t, dtype=bool), 1 - draw.T, draw)
    matrix = designs.two_option(range(t), preferences=theta).matrix
    scale = 2 / (t * (t - 1))
    for i, j in itertools.permutations(range(t), 2):
        others = [k for k in range(t) if k not in (i, j)]
        assert matrix[i, j] == pytest.approx(scale * (1 + sum(theta[i, k] for k in others)), rel=1e-9)
        assert scale - 1e-15 <= matrix[i, j] <= 2 / t + 1e-15
    np.testing.assert_array_equal(np.diagonal(matrix), 0)


def test_the_upper_bound_of_two_options_is_reached():
    always_first = np.triu(np.ones((4, 4)), 1)
    matrix = designs.two_option(ABCD, preferences=always_first).matrix
    assert matrix.max() == pytest.approx(2 / 4)
    assert matrix[matrix > 0].min() == pytest.approx(2 / 12)


def test_two_options_are_what_showing_them_gives():
    rng = np.random.default_rng(5)
    theta = np.array([[0.5, 0.9, 0.2, 0.7], [0.1, 0.5, 0.4, 0.5], [0.8, 0.6, 0.5, 0], [0.3, 0.5, 1, 0.5]])
    n, true = 40_000, 2
    pairs = np.array([rng.choice(4, size=2, replace=False) for _ in range(n)])
    first = np.where(pairs[:, 0] == true, False, (pairs[:, 1] == true) | (rng.random(n) < theta[tuple(pairs.T)]))
    named = np.where(first, pairs[:, 0], pairs[:, 1])
    expected = designs.two_option(ABCD, preferences=theta).matrix[:, true]
    tolerance = 4 * np.sqrt(0.25 / n)
    np.testing.assert_allclose(np.bincount(named, minlength=4) / n, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shown": 1}, "shown must be a whole number from 2 to 3; got 1"),
        ({"shown": 4}, "from 2 to 3; got 4"),
        ({"preferences": np.full((3, 3), 0.5)}, "a matrix of 4 × 4"),
        ({"preferences": np.full((4, 4), 0.4)}, "got 0.4 and 0.4 for categories 1 and 2"),
        ({"preferences": np.full((4, 4), 0.5), "shown": 3}, "need shown=2"),
    ],
)
def test_two_options_say_what_does_not_fit(options, message):
    with pytest.raises(DesignError, match=message):
        designs.two_option(ABCD, **options)


@pytest.mark.parametrize("sinks", [{"a": "x"}, {"a": "x", "d": "y"}])
@pytest.mark.parametrize(("members", "others"), [(None, None), ("1/10", "1/5"), (0, "1/4"), (0.3, 0.1)])
def test_a_sink_stands_in_for_its_category(sinks, members, others):
    design = designs.negative_sink(ABCDE, sinks=sinks, members=members, others=others)
    b = Fraction(1, 4) if others is None else Fraction(str(others))
    a = b / 2 if members is None else Fraction(str(members))
    reported = np.asarray(design.responses).tolist()
    assert reported == [sinks.get(label, label) for label in ABCDE]
    for j, true in enumerate(ABCDE):
        column = dict(zip(ABCDE, design.matrix[:, j], strict=True))
        for category in sinks:
            assert column[category] == pytest.approx(float(a if category == true else b))
        false = [label for label in ABCDE if label not in sinks and label != true]
        rest = 1 - sum(column[category] for category in sinks)
        assert [column[label] for label in false] == pytest.approx([rest / len(false)] * len(false))
        assert true in sinks or column[true] == 0
    assert f"{float(a / b):.3g}" in design.notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sinks": "z"}, "'z', known are 'a', 'b', 'c', 'd'"),
        ({"sinks": "a", "members": 0.2, "others": 0.2}, "different chances, or nothing is learned"),
        ({"sinks": "a", "others": 0}, "or nothing is learned"),
        ({"sinks": {"a": "x", "b": "y", "c": "z"}}, "at least two"),
        ({"sinks": "a", "others": 1.5}, "must leave room"),
        ({"sinks": {"a": "b"}}, "must differ; 'b' is number 1 and number 2"),
    ],
)
def test_sinks_say_what_does_not_fit(options, message):
    with pytest.raises(DesignError, match=message):
        designs.negative_sink(ABCD, **options)


@pytest.mark.parametrize("sinks", ["a", {"c": "x"}, {"a": "x", "e": "y"}, {"a": "x", "b": "y", "c": "z"}])
def test_one_label_of_a_set_with_a_sink_is_the_answer_that_was_published(sinks):
    """For one discard the mask gives the design of Esponda, Huerta & Guerrero (2016), entry by entry."""
    single = designs.negative_sink(ABCDE, sinks=sinks)
    level = designs.negative_levels(ABCDE, sinks=sinks).channel(1)
    assert level.space.labels == single.space.labels
    assert level.matrix == pytest.approx(single.matrix, abs=1e-15)


@pytest.mark.parametrize("sinks", [{"a": "x"}, {"a": "x", "d": "y"}])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_set_names_a_sink_half_as_often_if_its_category_is_true(sinks, k):
    """P(S | j) from its definition: the k-sets without one's own label, or half the time without an ordinary one."""
    design = designs.negative_levels(ABCDE, sinks=sinks).channel(k)
    labels = [sinks.get(each, each) for each in ABCDE]
    sets = [frozenset(text.split(";")) for text in design.space.texts(design.space.listing())]
    ordinary, each = [label for label in labels if label in ABCDE], Fraction(1, math.comb(4, k))
    for row, said in enumerate(sets):
        for j, (true, own) in enumerate(zip(ABCDE, labels, strict=True)):
            alone = each * (own not in said)
            borrowed = sum(each * (label not in said) for label in ordinary) / len(ordinary)
            wanted = (alone + borrowed) / 2 if true in sinks else alone
            assert design.matrix[row, j] == pytest.approx(float(wanted), abs=1e-15)
    named = design.expected_statistic
    for place, true in enumerate(ABCDE):
        others = np.delete(named[place], place)
        assert named[place, place] == pytest.approx(others[0] / 2 if true in sinks else 0)


def test_levels_with_a_sink_leave_two_categories_at_least():
    choice = designs.negative_levels(ABCDE, sinks="b")
    assert choice.levels == (1, 2, 3)
    assert [privacy.still_possible(choice.channel(k)) for k in choice.levels] == [(4, 5), (3, 4), (2, 3)]
    assert choice.channel(2) == designs.negative_sink(ABCDE, sinks="b", discards=2)
    assert designs.parse(choice.name, categories=ABCDE) == choice
    assert Design.from_json(choice.to_json()) == choice


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.negative_levels(ABCDE, most=4, sinks="a"), "most must be a whole number from 1 to 3; got 4"),
        (lambda: designs.negative_levels(ABCDE, sinks={}), "name at least one category"),
        (lambda: designs.negative_levels(ABC, sinks={"a": "x", "b": "y"}), "at least two categories must not be sinks"),
        (lambda: designs.negative_levels(ABCDE, sinks={"a": "b"}), "must differ"),
        (lambda: designs.negative_sink(ABCDE, sinks="a", discards=4), "discards must be a whole number from 1 to 3"),
        (lambda: designs.negative_sink(ABCDE, sinks="a", discards=2, others=0.2), "leave them out"),
    ],
)
def test_a_sink_beside_levels_says_what_does_not_fit(make, message):
    with pytest.raises(DesignError, match=message):
        make()


def test_levels_run_from_the_most_private_to_the_truth():
    choice = designs.negative_levels(ABCDE)
    assert choice.levels == (1, 2, 3, 4)
    for k in choice.levels:
        design = choice.channel(k)
        np.testing.assert_allclose(design.matrix, exact_matrix(5, k), rtol=1e-14)
        assert design.notes == (("this reveals your answer",) if k == 4 else ())
    assert designs.negative_levels(ABCDE, least=2, most=3).levels == (2, 3)


@pytest.mark.parametrize(("least", "most"), [(0, 2), (3, 2), (1, 5)])
def test_levels_stay_between_one_and_all_but_one(least, most):
    with pytest.raises(DesignError, match="must be a whole number from"):
        designs.negative_levels(ABCDE, least=least, most=most)


@pytest.mark.parametrize(
    ("discards", "message"),
    [
        (0, "from 1 to t - 2 = 2; got 0$"),
        (3, "got 3; ruling out all but one reveals the answer, ask directly then"),
        (4, "got 4$"),
        (True, "whole number"),
        (1.0, "whole number"),
        ("2", "whole number"),
    ],
)
def test_a_negative_answer_may_not_be_the_truth(discards, message):
    with pytest.raises(DesignError, match=message):
        designs.negative(ABCD, discards=discards)


def test_numpy_integers_are_integers():
    design = designs.negative(ABCD, discards=np.int64(2), weights=np.array([1, 2, 3, 4]))
    assert designs.negative(ABCD, discards=2, weights=[1, 2, 3, 4]) == design
    assert "np." not in design.to_json()
    assert "np." not in designs.two_option(ABCDE, shown=np.int64(3)).to_json()
    assert "np." not in designs.negative_levels(ABCDE, least=np.int64(2), most=np.int64(3)).to_json()


@pytest.mark.parametrize(
    "family",
    [
        designs.negative,
        designs.two_option,
        designs.negative_levels,
        lambda labels: designs.gaussian_negative(labels, sigma=1),
        lambda labels: designs.negative_sink(labels, sinks="yes"),
        lambda labels: designs.negative_matrix([[0, 1], [1, 0]], categories=labels),
    ],
)
def test_with_two_categories_a_negative_answer_reveals_the_other(family):
    with pytest.raises(DesignError, match=r"got 2: 'yes', 'no'\. With two, ruling one out reveals the other"):
        family(("yes", "no"))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1, 2, 3), "must be 4 positive integers"),
        ((1, 2, 3, 0), "must be 4 positive integers"),
        ((1, 2, 3, 0.5), "must be 4 positive integers"),
        ((2**40, 2**40, 1, 1), "too fine"),
    ],
)
@pytest.mark.parametrize("discards", [1, 2])
def test_weights_of_a_negative_survey_are_positive_integers(discards, weights, message):
    if discards == 1 and message == "too fine":
        return
    with pytest.raises(DesignError, match=message):
        designs.negative(ABCD, discards=discards, weights=weights)


def test_nobody_names_her_own_category():
    with pytest.raises(DesignError, match=r"it is not for 'b' \(a design that may report the truth is custom\(\)\)"):
        designs.negative_matrix([[0, 0.5, 0.5], [0.5, 0.1, 0.5], [0.5, 0.4, 0]], categories=ABC)
