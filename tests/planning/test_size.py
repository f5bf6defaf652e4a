import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naysay import designs, planning
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


def exact_power(n, pi, null):
    """Of the Wald interval of a direct question, over every number of yes."""
    yes = np.arange(n + 1)
    share = yes / n
    rejected = (share - null) ** 2 > stats.norm.ppf(0.975) ** 2 * share * (1 - share) / (n - 1)
    return stats.binom.pmf(yes, n, pi)[rejected].sum()


@pytest.mark.parametrize(("pi", "null"), [(0.1, 0.06), (0.1, 0.15), (0.3, 0.4), (0.05, 0.1)])
def test_the_power_of_a_direct_question_is_near_the_exact_one(pi, null):
    sizes = range(380, 420)  # counts are whole, so the exact power is ragged
    exact = np.mean([exact_power(n, pi, null) for n in sizes])
    found = np.mean([planning.power(designs.direct(("yes", "no")), (pi, 1 - pi), n=n, null=null) for n in sizes])
    naive = np.mean(
        [stats.norm.sf(stats.norm.ppf(0.975) - abs(pi - null) / math.sqrt(pi * (1 - pi) / n)) for n in sizes]
    )
    assert found == pytest.approx(exact, abs=0.015)
    assert abs(found - exact) < abs(naive - exact), "that the standard error varies with the estimate matters"


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
    alone = planning.power(WARNER, PI, n=2_000, null=0.2)
    assert planning.difference_power(WARNER, PI, (0.2, 0.8), n=(2_000, 10**9)) == pytest.approx(alone, abs=1e-3)


def test_without_variance_the_difference_is_always_found():
    plain = designs.direct(("yes", "no"))
    assert planning.power(plain, (1, 0), n=5, null=0.5, estimator="moments") == 1.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"standard_error": 0}, "must be above 0; got 0 .no number of respondents makes an estimate exact"),
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
