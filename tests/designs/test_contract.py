"""What every design promises. A later family joins with one line in `BATTERY`."""

import inspect
import json
import math
import re
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from numpydoc.docscrape import FunctionDoc
from scipy import stats

import naysay
from naysay import Design, designs, privacy
from naysay.design import ByteSource, Levels, Pattern, Samples, Table
from naysay.design.protocol import probabilities
from naysay.errors import DesignError, NotEstimable
from naysay.estimate.linear import linear_map

ABC, ABCD, ABCDE = tuple("abc"), tuple("abcd"), tuple("abcde")
CYCLE = [[0, 0.1, 0.9], [0.9, 0, 0.1], [0.1, 0.9, 0]]
THETA = [[0.5, 0.9, 0.2, 0.7], [0.1, 0.5, 0.4, 0.5], [0.8, 0.6, 0.5, 0], [0.3, 0.5, 1, 0.5]]
FORCED = (0.1, 0.1, 0.05, 0.1, 0.05)
NO_BOUND = math.inf


class Case(NamedTuple):
    design: Design
    epsilon: float
    estimable: bool = True


def levels_of(choice: Levels) -> dict[str, Case]:
    return {f"{choice.name} at {level}": Case(choice.channel(level), NO_BOUND) for level in choice.levels}


def samples_of(survey: Samples, *epsilon: float) -> dict[str, Case]:
    """Each sample with its ε; where there are more cells than answers one sample alone tells nothing apart."""
    told = zip(survey.levels, epsilon, strict=True)
    cells = len(survey.cells)
    return {
        f"{survey.name} in {name}": Case(
            survey.channel(name), bound, estimable=survey.channel(name).space.size >= cells
        )
        for name, bound in told
    }


BATTERY: dict[str, Case] = {
    "direct": Case(designs.direct(ABC), NO_BOUND),
    "uniform": Case(designs.uniform(ABC), 0.0, estimable=False),
    "uniform, sets": Case(designs.uniform(ABCDE, discards=2), 0.0, estimable=False),
    "negative": Case(designs.negative(ABCD), NO_BOUND),
    "negative, sets": Case(designs.negative(ABCDE, discards=3), NO_BOUND),
    "negative, weighted": Case(designs.negative(ABCD, weights=(1, 2, 3, 5)), NO_BOUND),
    "negative, weighted sets": Case(designs.negative(ABCDE, discards=2, weights=(4, 1, 1, 7, 2)), NO_BOUND),
    "negative_matrix": Case(designs.negative_matrix(CYCLE, categories=ABC), NO_BOUND),
    "gaussian_negative": Case(designs.gaussian_negative(ABCDE, sigma=1.5), NO_BOUND),
    "two_option": Case(designs.two_option(ABCD), NO_BOUND),
    "two_option, three shown": Case(designs.two_option(ABCDE, shown=3), NO_BOUND),
    "two_option, preferences": Case(designs.two_option(ABCD, preferences=THETA), NO_BOUND),
    "negative_sink": Case(designs.negative_sink(ABCD, sinks="a"), NO_BOUND),
    "negative_sink, two": Case(designs.negative_sink(ABCDE, sinks={"a": "x", "c": "y"}, members=0.05), NO_BOUND),
    "negative_sink, sets": Case(designs.negative_sink(ABCDE, sinks={"a": "x"}, discards=2), NO_BOUND),
    "negative_sink, two in sets": Case(designs.negative_sink(ABCDE, sinks={"a": "x", "d": "y"}, discards=3), NO_BOUND),
    "warner": Case(designs.warner(p=0.7), math.log(7 / 3)),
    "warner, below one half": Case(designs.warner(p="1/5"), math.log(4)),
    "two_coins": Case(designs.two_coins(), math.log(3)),
    "mangat": Case(designs.mangat(p=0.7), NO_BOUND),
    "kuk": Case(designs.kuk(p=(0.6, 0.3)), math.log(2)),
    "kuk, three draws": Case(designs.kuk(p=(0.6, 0.3), draws=3), 3 * math.log(2)),
    "kuk, five draws": Case(designs.kuk(p=("1/3", "5/6"), draws=5), 5 * math.log(4)),
    "forced_response": Case(designs.forced_response(forced_yes="1/6", forced_no="1/12"), math.log(10)),
    "forced_response, several": Case(designs.forced_response(ABCDE, forced=FORCED), math.log(13)),
    "crosswise": Case(designs.crosswise(prevalence=0.25), math.log(3)),
    "triangular": Case(designs.triangular(prevalence=0.25), NO_BOUND),
    "unrelated_question": Case(designs.unrelated_question(p=0.7, prevalence=0.25), math.log(0.775 / 0.075)),
    "unrelated_question, common": Case(designs.unrelated_question(p=0.5, prevalence=0.9), math.log(0.55 / 0.05)),
    **samples_of(designs.unrelated_question_unknown(p=(0.7, 0.3)), NO_BOUND, NO_BOUND),
    **samples_of(designs.cheating_detection(p=(0.25, 0.75)), NO_BOUND, NO_BOUND),
    **samples_of(designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1)), NO_BOUND, NO_BOUND),
    **samples_of(designs.stochastic_lie_detector(p=("2/12", "10/12")), NO_BOUND, NO_BOUND),
    **samples_of(designs.extended_crosswise(prevalence=0.2), math.log(4), math.log(4)),
    **samples_of(designs.anchored_crosswise(prevalence=0.15, anchor=0.25), math.log(0.25 / (0.15 * 0.25))),
    **samples_of(
        designs.controlled(designs.crosswise(prevalence=0.25), truth="no", control=designs.crosswise(prevalence=0.15)),
        math.log(0.25 / (0.25 * 0.15)),
    ),
    **samples_of(designs.controlled(designs.negative(ABC, discards=1), truth="lot"), *[NO_BOUND] * 3),
    **samples_of(designs.controlled(designs.negative(ABCD, discards=2), truth="a"), NO_BOUND),
    **samples_of(designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]), math.log(6), math.log(6)),
    **samples_of(
        designs.samples(open=designs.direct(("yes", "no")), masked=designs.crosswise(prevalence=0.25)),
        NO_BOUND,
        math.log(3),
    ),
    **samples_of(designs.one_saying(prevalence=0.2, types=("one-sayers", "random")), NO_BOUND, NO_BOUND, NO_BOUND),
    **samples_of(designs.item_count(items=2, placebo=True, types=("random",)), *[NO_BOUND] * 3),
    **samples_of(designs.double_list(items=(1, 2)), NO_BOUND, NO_BOUND),
    **samples_of(designs.calibrated([[30, 10], [20, 40]], categories=("yes", "no")), math.log(3)),
    **samples_of(designs.double_sampling(("yes", "no")), NO_BOUND, NO_BOUND),
    "single_sample_count": Case(designs.single_sample_count(), NO_BOUND),
    **samples_of(designs.asked_twice(designs.crosswise(prevalence=0.25)), math.log(9)),
    "k_ary": Case(designs.k_ary(ABCD, epsilon=1.25), 1.25),
    "subset_selection": Case(designs.subset_selection(ABCDE, epsilon=1), 1.0),
    "subset_selection, larger sets": Case(designs.subset_selection(tuple("abcdefg"), epsilon=0.5, size=4), 0.5),
    "affine": Case(designs.affine(ABCDE, epsilon=1), 1.0),
    "affine, a whole geometry": Case(designs.affine(9, epsilon=1, base=3), 1.0),
    "affine, one digit": Case(designs.affine(ABCD, epsilon=2), 2.0),
    "hadamard": Case(designs.hadamard(ABCDE, epsilon=1), 1.0),
    "unary": Case(designs.unary(ABCD, epsilon=1, p="1/2"), math.log(2**32 / math.ceil(2**32 / (math.e + 1)) - 1)),
    "unary, symmetric": Case(designs.unary(ABCD, epsilon=2 * math.log(3), p="symmetric"), 2 * math.log(3)),
    "frequency": Case(designs.frequency(9, epsilon=0.7), 0.7),
    "window": Case(designs.window(low=0, high=6, epsilon=1.5, steps=3, width=2), 1.5),
    "window, one step": Case(designs.window(low=-1, high=1, epsilon=math.log(3), steps=1, width=1), math.log(3)),
    "number": Case(designs.number(low=0, high=1, epsilon=2), 2.0),
    "remembered": Case(designs.remembered(ABCDE, epsilon=1, lifetime=2, design="k_ary"), 1.0),
    "remembered, affine": Case(designs.remembered(ABCDE, epsilon=1, lifetime=3, design="affine"), 1.0),
    "remembered, sets": Case(designs.remembered(ABCDE, epsilon=1, lifetime=2, design="subset_selection"), 1.0),
    "remembered, unary": Case(
        designs.remembered(ABCD, epsilon=1, lifetime=2, design="unary"),
        math.log(2**32 / math.ceil(2**32 / (math.e + 1)) - 1),
    ),
    **{
        f"hierarchy at {level}": Case(part, 1.0, estimable=part.width == 1)
        for level, part in designs.hierarchy(11, epsilon=1, fanout=3).parts.items()
    },
    "christofides": Case(designs.christofides(p=(0.2, 0.3, 0.5)), math.log(2.5)),
    "singh_joarder": Case(designs.singh_joarder(p=0.7), math.log(0.7 / 0.09)),
    "mangat_singh_singh": Case(designs.mangat_singh_singh(p=0.6, prevalence=0.25), NO_BOUND),
    "custom, more responses": Case(
        designs.custom([[0.5, 0.2, 0.1], [0.3, 0.2, 0.1], [0.1, 0.5, 0.1], [0.1, 0.1, 0.7]]), math.log(7)
    ),
    "mix": Case(
        designs.mix((3, designs.negative(ABC)), (1, designs.uniform(ABC))), math.log((3 / 8 + 1 / 12) / (1 / 12))
    ),
    "mix, sets": Case(
        designs.mix((0.5, designs.negative(ABCDE, discards=2)), (0.5, designs.uniform(ABCDE, discards=2))),
        math.log(1 + 10 / 6),
    ),
    "then": Case(designs.warner(p=0.9).then(designs.warner(p=0.9)), math.log(0.82 / 0.18)),
    "then, sets": Case(designs.k_ary(ABCD, epsilon=2).then(designs.negative(ABCD, discards=2)), 2.0),
    "product": Case(designs.two_coins() * designs.k_ary(ABC, epsilon=0.5), math.log(3) + 0.5),
    "product, sets": Case(designs.two_coins() * designs.negative(ABCD, discards=2), NO_BOUND),
    "levels": Case(designs.levels({"masked": designs.warner(p=0.6)}).channel("masked"), math.log(1.5)),
    **levels_of(designs.negative_levels(ABCD)),
    "budgets": Case(designs.budgets(ABCD, epsilon=(0.5, 2)).channel(0.5), 0.5),
}
# Noise before a negative answer: what is left of ε is at most that of the noise, exactly ln((e² + 1) / 2) here.
BATTERY["then, sets"] = BATTERY["then, sets"]._replace(epsilon=math.log((math.exp(2) + 1) / 2))

# Designs put together from others have no steps of their own, any matrix is for a program to draw from.
UNTOLD = (
    "calibrated",
    "double_list",
    "double_sampling",
    "asked_twice",
    "mix",
    "then",
    "product",
    "anchored_crosswise",
    "controlled",
    "custom",
    "negative_matrix",
    "gaussian_negative",
)
UNTOLD += ("negative, weighted", "negative_sink", "negative_levels")

every_design = pytest.mark.parametrize("case", BATTERY.values(), ids=BATTERY.keys())
every_family = pytest.mark.parametrize("family", designs.FAMILIES.values(), ids=designs.FAMILIES.keys())


def bytes_from(seed):
    return ByteSource(np.random.default_rng(seed).bytes)


def truths(design, each):
    """Every category, `each` times over; two columns where there are two questions."""
    repeated = [category for category in design.categories for _ in range(each)]
    return tuple(zip(*repeated, strict=True)) if design.kind == "product" else repeated


def draws(design, each, rng):
    """How often each response was drawn for each category, (responses, t)."""
    said = design.randomize(truths(design, each), rng=rng)
    groups = np.repeat(np.arange(len(design.categories)), each)
    tallies = design.tally(said, by=groups)
    return np.column_stack([tallies[group].counts for group in range(len(design.categories))])


def chi_square(counts, matrix):
    """The statistic and its degrees of freedom; impossible responses must not have come."""
    expected = matrix * counts.sum(axis=0)
    possible = matrix > 0
    assert counts[~possible].sum() == 0, "a response was drawn that is impossible for its category"
    statistic = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    return statistic, possible.sum() - matrix.shape[1]


def fits(counts, matrix):
    statistic, freedom = chi_square(counts, matrix)
    return stats.chi2.sf(statistic, freedom) if freedom else 1.0


@every_design
def test_columns_sum_to_one(case):
    matrix = case.design.matrix
    assert matrix.shape == (case.design.space.size, len(case.design.categories))
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-14)


@every_design
def test_a_table_is_its_integers(case):
    if not isinstance(case.design, Table | Pattern):
        assert not hasattr(case.design, "denominator")
        return
    assert set(case.design.weights.sum(axis=0).tolist()) == {case.design.denominator}
    assert 1 <= case.design.denominator <= 2**53
    np.testing.assert_array_equal(case.design.matrix, case.design.weights / case.design.denominator)


@every_design
def test_likelihood_rows_are_rows_of_the_matrix(case):
    np.testing.assert_array_equal(case.design.likelihood(case.design.responses), case.design.matrix)


@every_design
def test_the_expected_statistic_is_the_statistic_averaged_over_a_column(case):
    statistic = case.design.space.statistic(case.design.space.listing())
    np.testing.assert_allclose(case.design.expected_statistic, statistic.T @ case.design.matrix, rtol=0, atol=1e-14)


@every_design
def test_a_seeded_generator_draws_the_published_probabilities(case):
    assert fits(draws(case.design, 4_000, np.random.default_rng(2016)), case.design.matrix) > 1e-4


@every_design
def test_random_bytes_draw_the_published_probabilities(case):
    assert fits(draws(case.design, 4_000, bytes_from(1965)), case.design.matrix) > 1e-4


def test_the_operating_system_draws_the_published_probabilities():
    parts = [chi_square(draws(case.design, 500, None), case.design.matrix) for case in BATTERY.values()]
    statistic, freedom = np.sum(parts, axis=0)
    assert stats.chi2.sf(statistic, freedom) > 1e-6


def test_a_transposed_design_is_refused_or_noticed():
    skewed = [[0.8, 0.4], [0.2, 0.6]]
    designs.custom(skewed)
    with pytest.raises(DesignError, match=r"column 1 sums to 1\.2 .*was the matrix transposed\?"):
        designs.custom(np.transpose(skewed))
    cycle = np.array([[0.2, 0.1, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]])  # its rows sum to one as well
    counts = draws(designs.custom(cycle), 4_000, np.random.default_rng(1))
    assert fits(counts, cycle) > 1e-4
    assert fits(counts, cycle.T) < 1e-12


@every_design
def test_json_gives_an_equal_design_that_draws_the_same_answers_from_the_same_bytes(case):
    again = Design.from_json(case.design.to_json(indent=2))
    assert again == case.design
    assert hash(again) == hash(case.design)
    said, repeated = (d.randomize(truths(d, 50), rng=bytes_from(7)).texts() for d in (case.design, again))
    assert said == repeated


@every_design
def test_json_states_how_to_draw(case):
    whole = json.loads(case.design.to_json())
    kinds = set(re.findall(r'"kind": "(\w+)"', case.design.to_json()))
    assert kinds | {"integer"} == whole["drawing"].keys()


@every_design
def test_moments_recover_the_proportions_from_the_expected_statistic(case):
    if not case.estimable:
        with pytest.raises(NotEstimable, match="cannot tell"):
            linear_map(case.design)
        return
    pi = np.random.default_rng(3).dirichlet(np.ones(len(case.design.categories)))
    unbiased = linear_map(case.design)
    recovered = unbiased.constant + unbiased.slope @ (case.design.expected_statistic @ pi)
    np.testing.assert_allclose(recovered, pi, rtol=0, atol=1e-12)


@every_design
def test_epsilon_is_the_published_formula(case):
    assert privacy.epsilon(case.design) == pytest.approx(case.epsilon, rel=0, abs=1e-12)


@every_design
def test_epsilon_is_what_the_matrix_says(case):
    rows = case.design.matrix
    rows = rows[rows.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        largest = np.log(rows.max(axis=1) / rows.min(axis=1)).max()
    assert privacy.epsilon(case.design) == pytest.approx(largest, rel=0, abs=1e-12)


@every_design
def test_a_missing_truth_gives_a_missing_answer(case):
    nothing = ([None], [None]) if case.design.kind == "product" else [None]
    said = case.design.randomize(nothing, rng=np.random.default_rng(0))
    assert said.missing.tolist() == [True]
    assert said.texts() == [None]
    np.testing.assert_array_equal(case.design.likelihood(said), np.ones((1, len(case.design.categories))))


@every_design
def test_posteriors_sum_to_one_and_information_stays_below_the_entropy(case):
    t = len(case.design.categories)
    prior = np.random.default_rng(11).dirichlet(np.ones(t))
    np.testing.assert_allclose(privacy.posterior(case.design, case.design.responses, prior).sum(axis=1), 1, atol=1e-12)
    bits = privacy.information(case.design, prior)
    assert -1e-12 <= bits <= stats.entropy(prior, base=2) + 1e-12
    assert 0 <= privacy.information(case.design) + 1e-12 <= math.log2(t) + 2e-12


@every_design
def test_after_and_before_are_statements_about_one_person(case):
    after, before = privacy.vulnerability(case.design)
    assert before == pytest.approx(1 / len(case.design.categories))
    assert before - 1e-12 <= after <= 1 + 1e-12
    possible = (case.design.matrix > 0).sum(axis=1)
    possible = possible[possible > 0]
    assert privacy.still_possible(case.design) == (possible.min(), possible.max())
    stay = "stays" if possible.max() == 1 else "stay"
    assert f"of {len(case.design.categories)} categories {stay} possible" in str(privacy.statement(case.design))


@every_design
def test_a_design_and_its_answers_cannot_be_changed(case):
    said = case.design.randomize(truths(case.design, 1), rng=np.random.default_rng(0))
    for array in (case.design.expected_statistic, said.codes, case.design.tally(said).parts[0].count):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_every_family_is_in_the_battery():
    # The groups of heavy hitters all draw by `affine`, for texts that nobody lists: tests/test_heavy_hitters.py.
    assert {re.match(r"\w+", name)[0] for name in BATTERY} >= designs.FAMILIES.keys() - {"heavy_hitters"}


def test_the_public_families_are_in_the_catalog():
    about = {"ASSUMPTIONS", "FAMILIES", "SOURCES", "catalog", "parse"}
    assert set(designs.__all__) - about == designs.FAMILIES.keys()
    assert [name for name, *_ in designs.catalog()] == list(designs.FAMILIES)


@every_family
def test_families_are_documented(family):
    documentation = FunctionDoc(family)
    summary = " ".join(documentation["Summary"])
    assert re.fullmatch(r"\S.*\.", summary), f"the first line should be a sentence: {summary!r}"
    assert len(documentation["Summary"]) == 1
    assert ">>> " in "\n".join(documentation["Examples"])
    parameters = inspect.signature(family).parameters.values()
    named = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    told = {name.strip("* ") for entry in documentation["Parameters"] for name in entry.name.split(",")}
    assert told == named, "every parameter is documented, and no other"
    assert all(" ".join(entry.desc).strip() or entry.type for entry in documentation["Parameters"])


@pytest.mark.parametrize("name", designs.FAMILIES)
def test_families_have_a_source_and_assumptions(name):
    assert re.search(r"\(\d{4}\)|questioning|noise|matrix|samples|lottery", designs.SOURCES[name])
    assumed = designs.ASSUMPTIONS[name]
    assert all(text and not text.endswith(".") for text in assumed), "each in a few words, to be joined by semicolons"
    assert len(set(assumed)) == len(assumed)


@pytest.mark.parametrize(("name", "case"), BATTERY.items(), ids=BATTERY.keys())
def test_what_respondents_are_told_adds_up_to_the_design(name, case):
    told = case.design.protocol
    assert (told is None) == name.startswith(UNTOLD)
    if told is None:
        return
    assert re.fullmatch(r"[A-Z“].*\.", told.instruction, flags=re.DOTALL)
    assert told.source
    assert str(told)
    if told.complete:
        numerators, denominator = probabilities(told.first, case.design.categories, case.design.space.labels)
        rows = (numerators / denominator).astype(float)
        np.testing.assert_allclose(rows, case.design.matrix, rtol=0, atol=1e-15)


@every_design
def test_json_keeps_what_respondents_are_told(case):
    again = Design.from_json(case.design.to_json())
    assert again.protocol == case.design.protocol


@every_family
def test_everything_after_the_data_is_keyword_only(family):
    positional = [p.name for p in inspect.signature(family).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 1


@pytest.mark.parametrize("p", [0, 0.1, "1/3", Fraction(2, 7), 0.499, 0.999, 1])
def test_warner_epsilon(p):
    chance = float(Fraction(p) if isinstance(p, str) else p)
    expected = math.inf if chance in (0, 1) else abs(math.log(chance / (1 - chance)))
    assert privacy.epsilon(designs.warner(p=p)) == pytest.approx(expected, rel=1e-12)


def test_the_package_shows_its_designs():
    assert naysay.designs is designs
