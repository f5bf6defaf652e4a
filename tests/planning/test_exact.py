import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate, planning
from naysay.planning.exact import PrintedInterval

SURVEYS = [
    designs.direct(("yes", "no")),
    designs.warner(p=0.2),
    designs.two_coins(),
    designs.mangat(p=0.4),
    designs.kuk(p=(0.2, 0.7)),
    designs.forced_response(forced_yes=0.2, forced_no=0.1),
]


def interval(design, share, null, place=0):
    found = planning.variance(design, (share, 1 - share))
    return PrintedInterval.of(design, found, place, null, 0.95)


@pytest.mark.parametrize("design", SURVEYS, ids=lambda design: design.name)
@pytest.mark.parametrize(("share", "null", "place", "n"), [(0.02, 0.1, 0, 39), (0.2, 1.0, 1, 30), (0.5, 0.0, 0, 25)])
def test_the_power_is_that_of_the_interval_that_an_estimate_prints(design, share, null, place, n):
    excluded = np.zeros(n + 1)
    for said in range(n + 1):
        fit = estimate.maximum_likelihood(design, design.tally(count=[said, n - said]))
        low, high = fit.intervals().bounds[place]
        excluded[said] = null < low or null > high
    chances = stats.binom.pmf(np.arange(n + 1), n, design.matrix[0] @ [share, 1 - share])
    assert interval(design, share, null, place).power(n) == pytest.approx(chances @ excluded, abs=1e-9)


def test_the_number_that_is_needed_reaches_the_power_and_so_do_larger_ones():
    found = interval(designs.direct(("yes", "no")), 0.02, 0.1)
    n = found.needed(0.8, 39)
    assert found.power(n - 1) < 0.8
    assert min(found.power(each) for each in range(n, n + n // 10)) >= 0.8


def test_other_intervals_and_very_many_answers_have_no_exact_power():
    survey = designs.negative(("a", "b", "c"))
    assert PrintedInterval.of(survey, planning.variance(survey, (0.2, 0.3, 0.5)), 0, 0.1, 0.95) is None
    assert interval(designs.two_coins(), 0.1, 0.05).power(10**6) is None
