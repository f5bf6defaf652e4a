"""Intervals hold what they promise, stay inside [0, 1], and agree where two routes lead to one."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.design import mix
from naysay.design.drawing import GeneratorSource
from naysay.estimate import assumptions, intervals, inversion, linear
from naysay.estimate.intervals import degrees_of_freedom
from naysay.estimate.inversion import likelihood_profile, mean_profile, score_bounds, simplex_profile
from naysay.estimate.likelihood import maximize
from naysay.estimate.linear import Indicators
from naysay.responses.spaces import MISSING
from naysay.sampling import Units
from naysay.tally import Part, Tally

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPEC = importlib.util.spec_from_file_location("coverage_benchmark", BENCHMARKS / "coverage.py")
coverage = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = coverage  # benchmarks are no package, and share a module of their own
SPEC.loader.exec_module(coverage)

RUNS = 200
DRAWN = np.random.default_rng(coverage.commit_date())
CELLS = [coverage.random_cell(DRAWN) for _ in range(16)]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CELLS)))
def test_the_default_interval_covers_in_surveys_drawn_at_random(number):
    """A few cells of benchmarks/coverage.py, others with every commit's date; its own table has three hundred."""
    found = coverage.measure(CELLS[number], RUNS, [coverage.commit_date(), number])
    assert found.worst >= 0.935 - 4 * np.sqrt(0.935 * 0.065 / found.runs), (
        f"{CELLS[number].label}, n = {CELLS[number].n}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.FOUND_WRONG)
def test_the_default_interval_covers_where_it_was_found_not_to(name):
    cell, before = coverage.FOUND_WRONG[name]
    runs = 200 if before < 0.75 else 600  # 200 tell even 0.75 in more than 999 of 1,000 times
    found = coverage.measure(cell, runs, [12])
    assert found.worst >= 0.935 - 3 * np.sqrt(0.935 * 0.065 / runs)


def test_kuk_with_many_draws_does_not_claim_what_moments_deny():
    """Forty answers, two carriers or none: the interval holds the moment estimate too."""
    survey = designs.kuk(p=(0.8, 0.2), draws=5)
    tally = survey.tally(count=[13, 16, 8, 2, 1, 0])
    fit, other = estimate.maximum_likelihood(survey, tally), estimate.moments(survey, tally)
    low, high = fit.interval()[0]
    assert low <= max(other.proportions[0], 0) <= high
    assert high > 0.05


@pytest.mark.slow
def test_few_surveys_that_keep_to_their_design_are_said_not_to():
    """Six categories that nobody belongs to: some interval misses 0 in one survey of five; that is chance."""
    survey = designs.negative(tuple("abcdefgh"))
    rng, said, missed = np.random.default_rng(5), 0, 0
    for _ in range(600):
        counts = rng.multinomial(500, survey.matrix @ [0.9, 0.1, 0, 0, 0, 0, 0, 0])
        found = estimate.maximum_likelihood(survey, survey.tally(count=counts)).intervals()
        said, missed = said + found.misfit, missed + bool(found.flagged.any())
    assert missed > 60
    assert said <= 6 + 4 * np.sqrt(6)


@given(st.lists(st.integers(0, 80), min_size=10, max_size=10).filter(lambda c: sum(c[:5]) > 2), st.integers(1, 3))
def test_where_two_answers_matter_the_score_interval_is_agresti_and_coulls(counts, k):
    """Two routes: the quadratic of V(c) from the design, and a binomial share with z²/2 answers added."""
    survey = designs.negative(tuple("abcde"), discards=k)
    fit = estimate.moments(survey, survey.tally(count=counts[: survey.space.size]))
    assert score_bounds(fit, 0.95).clip(0, 1) == pytest.approx(fit.interval(method="agresti_coull"), abs=1e-9)


@pytest.mark.parametrize("n", [24, 36, 48, 60, 123])
def test_a_category_that_nobody_named_has_the_interval_of_no_answers_out_of_n(n):
    """The binomial variance of no answers is rounding, and says nothing of how many answers there were.

    No answers lie beyond the fifteenth that is expected of a category in which nobody is, and count as that.
    """
    survey = mix((2, designs.direct(tuple("abcde"))), (1, designs.uniform(tuple("abcde"))))
    tally = survey.tally(count=[n - 19, 10, 6, 3, 0])
    z = 1.959963984540054
    share = (n / 15 + z**2 / 2) / (n + z**2)
    highest = (share + z * np.sqrt(share * (1 - share) / (n + z**2)) - 1 / 15) / (2 / 3)
    for fit in (estimate.moments(survey, tally), estimate.maximum_likelihood(survey, tally)):
        assert fit.interval(method="agresti_coull")[4, 1] == pytest.approx(max(highest, 0), abs=1e-9)


def test_levels_chosen_by_category_are_not_thought_more_alike_than_their_answers():
    """Nearly all are in one category and at one open level; the few at other levels are of other categories."""
    choice = designs.negative_levels(tuple("abcdef"))
    rng = np.random.default_rng(8)
    truth = np.repeat(list("abcdef"), [700, 12, 12, 12, 12, 12])
    level = np.where(truth == "a", 4, rng.integers(1, 3, len(truth)))
    fit = estimate.stratified(choice, choice.tally(choice.randomize(truth, level=level, rng=rng)))
    assert (np.ptp(fit.interval(), axis=1)[0]) > 0.95 * 2 * 1.96 * fit.standard_errors[0]


@pytest.mark.parametrize("solution", ["mean", "least_squares"])
@pytest.mark.parametrize("method", ["score", "profile", "wald"])
def test_the_interval_is_that_of_the_solution_that_was_asked_for(solution, method):
    survey = designs.kuk(p=(0.7, 0.4), draws=5)
    expected = np.rint(1_000 * survey.matrix @ [0.36, 0.64]).astype(int)
    fit = estimate.moments(survey, survey.tally(count=expected), solution=solution)
    low, high = fit.interval(method=method)[0]
    assert (low + high) / 2 == pytest.approx(fit.proportions[0], abs=0.002)
    assert high - low == pytest.approx(2 * 1.96 * fit.standard_errors[0], rel=0.2)


def test_a_category_that_nobody_named_is_not_certain_by_rounding():
    survey = designs.k_ary(tuple("abcde"), epsilon=3.0)
    for counts in ([57, 0, 33, 1, 11], [40, 0, 30, 20, 11], [29, 0, 0, 0, 1], [9, 7, 4, 0, 0]):
        fit = estimate.moments(survey, survey.tally(count=counts))
        assert fit.interval() == pytest.approx(fit.interval(method="score"), abs=1e-9)


def test_a_question_left_out_keeps_the_coverage_of_the_score_interval():
    survey, rng = designs.warner(p=0.7) * designs.k_ary(("a", "b", "c"), epsilon=1.5), np.random.default_rng(6)
    shares, hits = np.array([0.5, 0.2, 0.1, 0.1, 0.1, 0]), []
    for _ in range(300):
        codes = survey.draw(rng.choice(6, 30, p=shares), GeneratorSource(rng))
        codes[np.arange(9), rng.integers(0, 2, 9)] = MISSING
        tally = Tally((Part.of(survey, codes, count=np.ones(30, dtype=np.int64)),))
        bounds = estimate.maximum_likelihood(survey, tally).interval()
        hits.append((bounds[:, 0] <= shares) & (shares <= bounds[:, 1]))
    assert np.mean(hits, axis=0).min() > 0.92  # .87 where the answers that came stood for all


def test_weights_that_leave_the_worth_of_few_answers_are_told():
    survey = designs.negative(tuple("abcd"))
    said = list("abcd") * 15
    few, many = (survey.tally(said, weights=weights) for weights in ([100.0] * 5 + [1.0] * 55, [1.0] * 60))
    assert few.effective == pytest.approx(555**2 / (5 * 1e4 + 55))
    assert "the worth of 6 answers" in str(estimate.moments(survey, few))
    assert "the worth of" not in str(estimate.moments(survey, many)).replace("the worth of fewer than 30 people", "")


def test_score_intervals_do_not_depend_on_the_order_of_categories_or_the_unit_of_weights():
    survey, turned = designs.gaussian_negative(tuple("abcd"), sigma=1.3), None
    rng = np.random.default_rng(3)
    said, weights = rng.choice(list("abcd"), 150), rng.gamma(1.0, 1.0, 150)
    matrix = survey.matrix[::-1, ::-1]
    turned = designs.custom(matrix, categories=tuple("dcba"), responses=tuple("dcba"))
    for method in (estimate.moments, estimate.maximum_likelihood):
        here = method(survey, survey.tally(said, weights=weights)).interval()
        there = method(turned, turned.tally(said, weights=10 * weights)).interval()
        assert here == pytest.approx(there[::-1], abs=1e-6)


def test_the_score_interval_tests_every_value_with_the_variance_that_it_implies():
    """A second route: the variance of the efficient indicators by direct sums over the responses."""
    survey = designs.kuk(p=(0.7, 0.3), draws=3)
    counts = np.array([40, 60, 45, 25])
    fit = estimate.maximum_likelihood(survey, survey.tally(count=counts))
    matrix, n, z = survey.matrix, counts.sum(), scipy.stats.norm.ppf(0.975)
    even = np.full(2, 0.5)

    def weighted_least_squares(pi):
        chance = matrix @ pi
        contrast = matrix[:, 0] - matrix[:, 1]  # λ = P[:, 1] + π_1 (P[:, 0] - P[:, 1])
        slope = contrast / chance / (contrast @ (contrast / chance))
        return slope, slope @ matrix[:, 1]

    slope, offset = weighted_least_squares(even)
    first = slope @ counts / n - offset
    variance = 2 * (slope**2 @ (matrix @ even) - (slope @ (matrix @ even)) ** 2) / n
    pull = min(1.0, variance / (2 * (first - 0.5) ** 2))
    near = pull * even + (1 - pull) * fit.proportions
    slope, offset = weighted_least_squares(near)
    mean, u = slope @ counts / n - offset, slope - offset

    def excess(c):
        spread = (matrix @ [c, 1 - c]) @ u**2 - c**2
        return n * (mean - c) ** 2 - z**2 * spread

    roots = [scipy.optimize.brentq(excess, mean, 3), scipy.optimize.brentq(excess, -3, mean)]
    low, high = score_bounds(fit, 0.95)[0]
    assert low <= min(roots) + 1e-9
    assert high >= max(roots) - 1e-9
    assert (low + high) / 2 == pytest.approx(sum(roots) / 2, abs=1e-9)
    assert high - low < 1.1 * abs(roots[0] - roots[1])


def test_a_profile_keeps_the_chance_of_every_possible_answer():
    """A grid over all shares under which no response, given or not, has a negative probability."""
    survey = designs.negative(tuple("abcd"), discards=2)
    counts = np.array([2, 1, 0, 14, 16, 13])
    fit = estimate.maximum_likelihood(survey, survey.tally(count=counts))
    steps = np.linspace(-0.5, 1.3, 181)
    a, b, c = (axis.ravel() for axis in np.meshgrid(steps, steps, steps))
    chances = np.column_stack([a, b, c, 1 - a - b - c]) @ survey.matrix.T
    inside = chances.min(axis=1) >= -1e-12
    value = np.log(np.maximum(chances[inside], 1e-12)) @ counts
    points = np.column_stack([a, b, c, 1 - a - b - c])[inside]
    kept = points[2 * (value.max() - value) <= scipy.stats.f.ppf(0.95, 1, 40)]
    bounds = fit.interval(method="profile")
    assert (bounds[:, 0] >= kept.min(axis=0).clip(0) - 0.011).all()
    assert (bounds[:, 1] <= kept.max(axis=0).clip(0) + 0.011).all()
    assert np.ptp(bounds, axis=1) == pytest.approx(np.ptp(kept.clip(0, 1), axis=0), abs=0.04)


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4).filter(lambda c: sum(c) > 1), st.integers(1, 2))
def test_no_interval_leaves_the_unit_interval(counts, k):
    survey = designs.negative(tuple("abcd"), discards=k)
    tally = survey.tally(count=counts if k == 1 else [*counts, 3, 1])
    for method in (estimate.moments, estimate.maximum_likelihood):
        for name in ("wald", "agresti_coull"):
            bounds = method(survey, tally).interval(method=name)
            defined = bounds[np.isfinite(bounds).all(axis=1)]  # wald has none where the split is not determined
            assert (defined[:, 0] <= defined[:, 1] + 1e-12).all()
            assert (defined >= 0).all()
            assert (defined <= 1).all()
        default = method(survey, tally).interval(0.9)
        assert (default[:, 0] <= default[:, 1] + 1e-9).all()
        assert default.min() >= 0
        assert default.max() <= 1


def test_agresti_coull_is_the_formula_of_the_paper():
    survey = designs.negative(tuple("abcde"), discards=2)
    rng = np.random.default_rng(0)
    tally = survey.tally(survey.randomize(rng.choice(list("abcde"), 300), rng=rng))
    members = tally.parts[0].count @ np.asarray(survey.space.decode(tally.parts[0].codes), dtype=float)
    z = 1.959963984540054
    padded, share = 300 + z**2, (members + z**2 / 2) / (300 + z**2)
    half = z * np.sqrt(share * (1 - share) / padded)
    expected = np.column_stack([1 - 2 * (share + half), 1 - 2 * (share - half)]).clip(0, 1)
    assert estimate.moments(survey, tally).interval(method="agresti_coull") == pytest.approx(expected, abs=1e-9)


def test_the_file_score_interval_holds_the_shares_whose_score_is_within_z():
    survey = designs.warner(p=0.8)
    tally = survey.tally(count=[130, 370])
    low, high = estimate.moments(survey, tally, target="file").interval(method="agresti_coull")[0]
    z = 1.959963984540054
    for share in (low, high):
        variance = 500 * 0.8 * 0.2
        assert abs(130 - 500 * (0.2 + 0.6 * share)) / np.sqrt(variance) == pytest.approx(z, rel=1e-6)


def test_the_profile_of_a_mean_is_the_multinomial_profile_of_a_square_design():
    """Two routes: the tilting of the answer shares, and Newton steps on the likelihood of the proportions."""
    survey = designs.gaussian_negative(tuple("abcd"), sigma=1.5)
    counts = np.array([60, 80, 110, 50])
    tally = survey.tally(count=counts)
    moments = estimate.moments(survey, tally)
    quantile = scipy.stats.f.ppf(0.95, 1, degrees_of_freedom(moments.indicators))
    newton = likelihood_profile(survey.matrix, counts.astype(float), np.full(4, 0.25), quantile)
    assert moments.interval(method="profile") == pytest.approx(newton.clip(0, 1), abs=1e-5)


def test_a_variance_is_worth_what_its_own_spread_says():
    """For normal values the sample variance has n degrees of freedom, give or take chance."""
    values = np.random.default_rng(0).normal(size=(40_000, 1))
    ones = np.ones(40_000)
    assert degrees_of_freedom(Indicators(values, ones, ones, ones, Units.independent(ones, ones, ones)))[
        0
    ] == pytest.approx(40_000, rel=0.05)


def test_the_profile_of_a_binomial_share_is_its_likelihood_ratio_interval():
    low, high = mean_profile(np.array([0.0, 1.0]), np.array([90.0, 10.0]), 100, 3.841458820694124, np.array([0.0, 1.0]))

    def ratio(p):
        return 2 * (10 * np.log(0.1 / p) + 90 * np.log(0.9 / (1 - p)))

    assert ratio(low) == pytest.approx(3.8414588, abs=1e-5)
    assert ratio(high) == pytest.approx(3.8414588, abs=1e-5)
    assert low < 0.1 < high


def test_an_answer_that_nobody_gave_still_widens_the_profile():
    """Zero of n: the likelihood ratio interval ends at 1 - exp(-q/2n)."""
    low, high = mean_profile(np.array([0.0]), np.array([50.0]), 50, 3.841458820694124, np.array([0.0, 1.0]))
    assert low == pytest.approx(0, abs=1e-9)
    assert high == pytest.approx(1 - np.exp(-3.841458820694124 / 100), abs=1e-9)


def test_the_simplex_profile_is_found_on_a_grid_too():
    rows = np.array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    weights = np.array([30.0, 25.0, 28.0, 6.0])
    best = maximize(rows, weights).proportions
    bounds = simplex_profile(rows, weights, best, np.full(3, 3.841458820694124))
    grid = np.linspace(0, 1, 401)
    a, b = np.meshgrid(grid, grid)
    inside = a + b <= 1
    points = np.column_stack([a[inside], b[inside], 1 - a[inside] - b[inside]])
    with np.errstate(divide="ignore"):
        value = np.log(np.maximum(points @ rows.T, 0)) @ weights
    kept = points[2 * (weights @ np.log(rows @ best) - value) <= 3.841458820694124]
    assert bounds[:, 0] == pytest.approx(kept.min(axis=0), abs=4e-3)
    assert bounds[:, 1] == pytest.approx(kept.max(axis=0), abs=4e-3)


def test_where_the_interval_misses_the_unit_interval_that_of_an_estimate_at_the_end_is_flagged():
    warner = designs.warner(p=0.7)
    fit = estimate.maximum_likelihood(warner, warner.tally(count=[250, 750]))
    found = fit.intervals()
    assert found.flagged.all()
    assert found.bounds == pytest.approx(np.array([[0, 0.0728], [0.9272, 1]]), abs=1e-4)
    shown = "shown is that of an estimate at the nearest end: yes, no; these answers hardly fit this design"
    assert shown in str(fit)
    profiled = fit.intervals(method="profile")
    assert profiled.bounds == pytest.approx(np.array([[0, 0], [1, 1]]))  # asked for by name: an empty interval
    assert profiled.flagged.all()


@pytest.mark.parametrize("made_by", ["maximum_likelihood", "moments"])
@pytest.mark.parametrize("target", ["population", "file"])
def test_no_number_of_noes_makes_an_interval_shorter_than_the_noes_of_nobody_who_did_it(made_by, target):
    """A survey of 50 by `warner(p=0.8)`: 10 say yes where nobody did it. Before, 0 and 1 of them gave 0 to 0."""
    warner = designs.warner(p=0.8)
    fits = (getattr(estimate, made_by)(warner, warner.tally(count=[yes, 50 - yes]), target=target) for yes in range(15))
    highs = [fit.interval()[0, 1] for fit in fits]
    assert highs[:10] == pytest.approx([highs[10]] * 10)
    assert highs[0] > 0.15
    assert np.all(np.diff(highs[10:]) > 0)


@pytest.mark.parametrize(
    ("survey", "counts"),
    [
        (designs.cheating_detection(p=(0.7, 0.28)), {"1": [60, 340], "2": [200, 200]}),
        (designs.stochastic_lie_detector(p=(0.43, 0.88)), {"1": [49, 1], "2": [45, 6]}),
        (designs.extended_crosswise(prevalence=0.2), {"1": [0, 90], "2": [82, 0]}),
        (designs.unrelated_question_unknown(p=(0.9, 0.4)), {"1": [0, 125], "2": [100, 25]}),
        (designs.abul_ela(("a", "b", "c"), p=[[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]), {"1": [0, 150], "2": [5, 152]}),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_no_share_of_several_samples_is_a_point_where_the_answers_lie_beyond_the_design(survey, counts):
    named = dict(zip(survey.levels, counts.values(), strict=True))
    fit = estimate.maximum_likelihood(survey, _tally_of_samples(survey, named))
    ends = np.vstack([fit.interval(), list(intervals.nuisance_intervals(fit).values()) or np.empty((0, 2))])
    assert (np.ptp(ends, axis=1) > 0.02).all(), ends


def _tally_of_samples(survey, counts):
    parts = []
    for level, often in counts.items():
        channel = survey.channel(level)
        parts.append(Part.of(channel, channel.space.listing(), level=level, count=np.array(often)))
    return Tally(tuple(parts))


def test_more_confidence_is_a_wider_interval_by_every_method():
    survey = designs.negative(tuple("abcd"), discards=2)
    rng = np.random.default_rng(1)
    tally = survey.tally(survey.randomize(rng.choice(list("abcd"), 400), rng=rng))
    for fit in (estimate.moments(survey, tally), estimate.maximum_likelihood(survey, tally)):
        for method in ("wald", "agresti_coull", "profile", "bootstrap"):
            narrow, wide = (fit.interval(level, method=method, replicates=199) for level in (0.8, 0.99))
            assert (wide[:, 0] <= narrow[:, 0]).all()
            assert (wide[:, 1] >= narrow[:, 1]).all()


def test_the_bootstrap_gives_the_same_numbers_twice():
    survey = designs.negative(tuple("abcd"))
    fit = estimate.moments(survey, survey.tally(count=[28, 24, 26, 22]))
    assert (fit.interval(method="bootstrap") == fit.interval(method="bootstrap")).all()


def test_weights_widen_the_profile_as_they_widen_the_error():
    survey = designs.negative(tuple("abcd"))
    rng = np.random.default_rng(2)
    said = rng.choice(list("abcd"), 400)
    weights = rng.gamma(1.0, 1.0, 400)
    plain, heavy = survey.tally(said), survey.tally(said, weights=weights)
    for method in (estimate.moments, estimate.maximum_likelihood):
        for name in ("wald", "profile", "agresti_coull"):
            narrow, wide = (np.ptp(method(survey, tally).interval(method=name), axis=1) for tally in (plain, heavy))
            assert wide.mean() > 1.2 * narrow.mean()


@pytest.mark.parametrize(
    ("confidence", "method", "problem"),
    [(95, None, "between 0 and 1"), (0.95, "exact", "interval methods are"), (0.95, "agresti_coull", "binomial share")],
)
def test_what_does_not_exist_is_refused_with_what_does(confidence, method, problem):
    survey = designs.gaussian_negative(tuple("abcd"), sigma=1)
    fit = estimate.moments(survey, survey.tally(count=[10, 20, 20, 10]))
    with pytest.raises(ValueError, match=problem):
        fit.interval(confidence, method=method)


def test_the_bootstrap_refuses_a_file_and_weights():
    survey = designs.negative(tuple("abcd"))
    tally = survey.tally(count=[10, 20, 20, 10])
    with pytest.raises(ValueError, match="a file is fixed"):
        estimate.moments(survey, tally, target="file").interval(method="bootstrap")
    with pytest.raises(ValueError, match="weighted tally"):
        estimate.moments(survey, survey.tally(["a", "b"], weights=[1, 2])).interval(method="bootstrap")


def test_a_print_computes_the_law_of_its_score_intervals_once(monkeypatch):
    """Of 50 levels it was computed four times, which took 9.5 of 10 seconds."""
    survey = designs.negative_levels(tuple("abcd"))
    tally = survey.tally(["b", "c", "a;b"], level=[1, 1, 2], count=[30, 3, 20])
    fit, laws, law = estimate.stratified(survey, tally), [], inversion._law
    monkeypatch.setattr(inversion, "_law", lambda asked: laws.append(asked) or law(asked))
    wide, _ = fit.interval(0.99), str(fit)
    assert len(laws) == 1
    np.testing.assert_array_equal(wide, estimate.stratified(survey, tally).interval(0.99))


def test_a_print_makes_its_linear_map_and_what_its_intervals_rest_on_once(monkeypatch):
    survey, made = designs.negative(tuple("abc")), []
    fit = estimate.maximum_likelihood(survey, survey.tally(count=[50, 70, 80]))
    for module, name in ((linear, "linear_map"), (assumptions, "linear_map"), (intervals, "indicators")):
        maker = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, _maker=maker: made.append(_maker.__name__) or _maker(*given))
    wide, _ = fit.interval(0.99), str(fit)
    assert sorted(made) == ["indicators", "linear_map"]
    np.testing.assert_array_equal(wide, estimate.maximum_likelihood(survey, fit.tally).interval(0.99))
