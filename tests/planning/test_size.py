import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naysay import designs, estimate, planning
from naysay.errors import DataError, NotEstimable

WARNER = designs.warner(p=0.7)
PI = (0.1, 0.9)


def test_the_size_is_the_least_that_reaches_the_error():
    n = planning.sample_size(WARNER, PI, standard_error=0.02)
    assert planning.standard_error(WARNER, PI, n=n)[0] <= 0.02 < planning.standard_error(WARNER, PI, n=n - 1)[0]


def test_without_a_category_all_of_them_reach_the_error():
    survey, pi = designs.negative(tuple("abcd"), discards=2), (0.7, 0.1, 0.1, 0.1)
    each = [
        planning.sample_size(survey, pi, standard_error=0.02, category=name, estimator="moments") for name in "abcd"
    ]
    assert planning.sample_size(survey, pi, standard_error=0.02, estimator="moments") == max(each) > min(each)


@given(p=st.floats(0.55, 0.99), pi=st.floats(0.05, 0.95), null=st.floats(0.0, 1.0), power=st.floats(0.1, 0.99))
def test_the_size_is_the_least_that_reaches_the_power(p, pi, null, power):
    if abs(pi - null) < 0.02:
        return
    design = designs.warner(p=p)
    n = planning.sample_size(design, (pi, 1 - pi), null=null, power=power)
    assert planning.power(design, (pi, 1 - pi), n=n, null=null) >= power
    if n > 2:
        assert planning.power(design, (pi, 1 - pi), n=n - 1, null=null) < power


def test_the_textbook_size_of_a_direct_question_is_close():
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    textbook = z**2 * 0.5 * 0.5 / 0.01**2  # at one half the variance hardly depends on the share
    found = planning.sample_size(designs.direct(("yes", "no")), (0.5, 0.5), null=0.49, power=0.8)
    assert found == pytest.approx(textbook, rel=0.005)


def enumerated(design, pi, n, excludes):
    """The chance of the counts of a yes-or-no design whose estimate passes a test."""
    fits = [estimate.default(design).fit(design, design.tally(count=[yes, n - yes])) for yes in range(n + 1)]
    chances = stats.binom.pmf(np.arange(n + 1), n, design.matrix[0] @ [pi, 1 - pi])
    return chances @ [excludes(fit) for fit in fits]


def printed(null):
    """Whether the interval that is printed excludes a value."""

    def excludes(fit):
        low, high = fit.interval()[0]
        return not low <= null <= high

    return excludes


@pytest.mark.parametrize(
    ("design", "pi", "null", "n", "once"),
    [
        (designs.direct(("yes", "no")), 0.02, 0.1, 39, 0.803),
        (designs.direct(("yes", "no")), 0.05, 0.15, 50, 0.804),
        (designs.warner(p=0.8), 0.05, 0.25, 104, 0.803),
    ],
)
def test_a_plan_promises_what_the_printed_interval_holds(design, pi, null, n, once):
    found = planning.power(design, (pi, 1 - pi), n=n, null=null)
    assert found == pytest.approx(enumerated(design, pi, n, printed(null)), abs=1e-9)
    assert found < once - 0.05, "the power by Wald's interval was promised before"


def test_few_answers_of_many_kinds_are_drawn_and_estimated():
    """A plan of 28 people promised .80 by Wald's interval; the printed one excludes .1 in .74 of surveys."""
    design, pi = designs.gaussian_negative(tuple("abcd"), sigma=0.5), (0.385, 0.396, 0.047, 0.172)
    found = planning.power(design, pi, n=28, null=0.1, category="a")
    surveys = np.random.default_rng(7).multinomial(28, design.matrix @ pi, 300)
    fits = [estimate.maximum_likelihood(design, design.tally(count=counts.tolist())) for counts in surveys]
    assert found == pytest.approx(np.mean([printed(0.1)(fit) for fit in fits]), abs=0.12)
    n = planning.sample_size(design, pi, null=0.1, category="a")
    assert planning.power(design, pi, n=n, null=0.1, category="a") >= 0.8
    assert n > 28


@pytest.mark.parametrize(
    ("design", "pi", "null", "n", "simulated"),
    [
        (designs.negative(tuple("abcd"), discards=2), (0.02, 0.2, 0.38, 0.4), 0.08, 400, 0.388),
        (designs.negative_levels(tuple("abcd")), (0.05, 0.25, 0.3, 0.4), 0.2, 300, 0.812),
        (designs.kuk(p=(0.8, 0.2), draws=3), (0.1, 0.9), 0.2, 1_000, None),
    ],
)
def test_many_answers_of_many_kinds_keep_the_power_of_the_printed_interval(design, pi, null, n, simulated):
    """Against 400 surveys by naysay simulate, whose share has an error of .025 at most."""
    found = planning.power(design, pi, n=n, null=null, category=design.categories[0])
    assert found > 0.99 if simulated is None else found == pytest.approx(simulated, abs=0.05)


@pytest.mark.parametrize("seed", range(12))
def test_the_power_of_a_random_yes_or_no_design_is_exact(seed):
    rng = np.random.default_rng((1936, seed))
    make = (designs.direct, lambda _: designs.warner(p=rng.uniform(0.6, 0.95)), lambda _: designs.two_coins())[seed % 3]
    design, n, confidence = make(("yes", "no")), int(rng.integers(2, 90)), (0.9, 0.95)[seed % 2]
    pi, null = rng.uniform(0, 1, 2)
    expected = enumerated(
        design, pi, n, lambda fit: not fit.interval(confidence)[0, 0] <= null <= fit.interval(confidence)[0, 1]
    )
    found = planning.power(design, (pi, 1 - pi), n=n, null=null, confidence=confidence)
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_larger_survey_than_the_planned_one_never_falls_below_the_power():
    design, pi = designs.direct(("yes", "no")), (0.02, 0.98)
    n = planning.sample_size(design, pi, null=0.1)
    powers = [planning.power(design, pi, n=each, null=0.1) for each in range(n - 1, 3 * n)]
    assert powers[0] < 0.8 <= min(powers[1:])
    assert any(planning.power(design, pi, n=each, null=0.1) >= 0.8 for each in range(n - 30, n - 1)), "it is ragged"


@pytest.mark.parametrize("design", [designs.direct(("yes", "no")), designs.warner(p=0.8)], ids=str)
@pytest.mark.parametrize("estimator", ["maximum_likelihood", "moments"])
def test_the_power_of_a_difference_is_that_of_the_printed_interval(design, estimator):
    """An interval that is not printed, since an estimate is at the boundary, excludes nothing."""
    first, second, sizes = (0.06, 0.94), (0.3, 0.7), (14, 17)
    fit = estimate.ESTIMATORS[estimator].fit
    fits = [[fit(design, design.tally(count=[yes, n - yes])) for yes in range(n + 1)] for n in sizes]
    chances = [
        stats.binom.pmf(np.arange(n + 1), n, design.matrix[0] @ pi)
        for n, pi in zip(sizes, (first, second), strict=True)
    ]
    expected = 0.0
    for p, one in zip(chances[0], fits[0], strict=True):
        for q, two in zip(chances[1], fits[1], strict=True):
            apart = estimate.differences({"first": one, "second": two})
            low, high = apart.interval()[0, 0]
            expected += p * q * bool(apart.reliable[0, 0] and not low <= 0 <= high)
    found = planning.difference_power(design, first, second, n=sizes, estimator=estimator)
    assert found == pytest.approx(expected, abs=1e-9)


def test_power_grows_with_respondents_and_distance():
    powers = [planning.power(WARNER, PI, n=n, null=0.05) for n in (100, 1_000, 10_000)]
    assert powers == sorted(powers)
    assert planning.power(WARNER, PI, n=1_000, null=0.0) > planning.power(WARNER, PI, n=1_000, null=0.05)


def test_power_near_the_null_is_the_size_of_the_test():
    assert planning.power(WARNER, PI, n=100_000, null=0.1 + 1e-9) == pytest.approx(0.05, abs=1e-3)
    assert planning.power(WARNER, PI, n=100_000, null=0.1 + 1e-9, confidence=0.9) == pytest.approx(0.1, abs=1e-3)


def test_two_groups_of_one_design():
    sizes = planning.difference_sample_size(WARNER, PI, (0.2, 0.8), power=0.9, ratio=2)
    assert sizes[1] == 2 * sizes[0]
    assert planning.difference_power(WARNER, PI, (0.2, 0.8), n=sizes) >= 0.9
    assert planning.difference_power(WARNER, (0.2, 0.8), PI, n=sizes[::-1]) == pytest.approx(
        planning.difference_power(WARNER, PI, (0.2, 0.8), n=sizes)
    )


def test_the_other_group_may_be_asked_otherwise():
    plain = designs.direct(("yes", "no"))
    mixed = planning.difference_power(WARNER, PI, (0.2, 0.8), n=(500, 500), other=plain)
    assert planning.difference_power(WARNER, PI, (0.2, 0.8), n=(500, 500)) < mixed
    assert mixed < planning.difference_power(plain, PI, (0.2, 0.8), n=(500, 500))


def test_a_known_group_leaves_the_power_of_one():
    alone = planning.power(WARNER, PI, n=2_000, null=0.2)  # its interval is narrower far from the estimate than Wald's
    assert planning.difference_power(WARNER, PI, (0.2, 0.8), n=(2_000, 10**9)) == pytest.approx(alone, abs=3e-3)


def test_without_variance_the_difference_is_always_found():
    plain = designs.direct(("yes", "no"))
    assert planning.power(plain, (1, 0), n=5, null=0.5, estimator="moments") == 1.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"standard_error": 0}, "must be above 0; got 0 .no number of respondents makes an estimate exact"),
        ({"standard_error": 2}, "must be below 1, .*; got 2 .for 2 percentage points write 0.02"),
        ({"standard_error": -0.1}, "must be above 0"),
        ({"standard_error": math.nan}, "must be above 0"),
        ({"standard_error": "small"}, "must be above 0; got 'small'"),
        ({"standard_error": 1e-9}, r"needs 1\.4e\+18 respondents, more than there are people"),
        ({}, "give either standard_error= or null="),
        ({"standard_error": 0.1, "null": 0.2}, "give either standard_error="),
        ({"null": 0.1}, "no number of respondents tells 0.1 from 0.1"),
        ({"null": 0.1 + 1e-8}, "more respondents than there are people"),
        ({"null": 1.2}, r"null must lie in \[0, 1\]"),
        ({"null": 0.2, "power": 1}, "power must lie between 0.05"),
        ({"null": 0.2, "power": 0.05}, "power must lie between 0.05"),
        ({"null": 0.2, "confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"null": 0.2, "category": "maybe"}, "'maybe' is no category"),
    ],
)
def test_targets_that_cannot_be(arguments, told):
    with pytest.raises(DataError, match=told):
        planning.sample_size(WARNER, PI, **arguments)


def test_power_is_for_a_difference():
    with pytest.raises(DataError, match="power is for a difference"):
        planning.power(WARNER, PI, n=100, null=0.1)
    with pytest.raises(DataError, match="both groups have 0"):
        planning.difference_power(WARNER, PI, PI, n=(100, 100))
    with pytest.raises(DataError, match="two equal proportions"):
        planning.difference_sample_size(WARNER, PI, PI)


def test_of_many_categories_one_is_named():
    survey = designs.negative(tuple("abc"))
    with pytest.raises(DataError, match="name the category, one of 'a', 'b', 'c'"):
        planning.power(survey, (0.2, 0.3, 0.5), n=100, null=0.1)
    assert planning.power(survey, (0.2, 0.3, 0.5), n=1_000, null=0.1, category="a") > 0.5


@pytest.mark.parametrize("n", [100, (100,), (0, 100)])
def test_two_groups_have_two_sizes(n):
    with pytest.raises(DataError, match=r"respondents of two groups|at least one respondent"):
        planning.difference_power(WARNER, PI, (0.2, 0.8), n=n)


def test_a_ratio_of_groups_is_positive():
    with pytest.raises(DataError, match="ratio must be above 0"):
        planning.difference_sample_size(WARNER, PI, (0.2, 0.8), ratio=0)


def test_no_size_makes_noise_tell_anything():
    with pytest.raises(NotEstimable):
        planning.sample_size(designs.uniform(("yes", "no")), PI, standard_error=0.1)


def test_the_dependable_level_is_how_often_an_estimate_lies_so_near():
    design, truth = designs.negative(("a", "b", "c", "d")), (0.4, 0.3, 0.2, 0.1)
    levels = planning.dependable_level(design, truth, n=500, within=0.06)
    rng = np.random.default_rng(6)
    counts = rng.multinomial(500, design.matrix @ truth, size=20_000)
    near = np.abs((1 - 3 * counts / 500) - truth) <= 0.06
    assert np.abs(near.mean(axis=0) - levels).max() < 0.03  # counts are whole: 3/500 is a step
    assert (planning.dependable_level(design, truth, n=5_000, within=0.06) > levels).all()
    with pytest.raises(DataError, match="a distance above 0"):
        planning.dependable_level(design, truth, n=500, within=0)
