import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate, planning
from naysay.tally import Part, Tally

SURVEYS = [
    designs.direct(("yes", "no")),
    designs.warner(p=0.2),
    designs.two_coins(),
    designs.mangat(p=0.4),
    designs.kuk(p=(0.2, 0.7)),
    designs.forced_response(forced_yes=0.2, forced_no=0.1),
]


@pytest.mark.parametrize("design", SURVEYS, ids=lambda design: design.name)
@pytest.mark.parametrize(("share", "null", "place", "n"), [(0.02, 0.1, 0, 39), (0.2, 1.0, 1, 30), (0.5, 0.0, 0, 25)])
def test_the_power_is_that_of_the_interval_that_an_estimate_prints(design, share, null, place, n):
    excluded = np.zeros(n + 1)
    for said in range(n + 1):
        fit = estimate.maximum_likelihood(design, design.tally(count=[said, n - said]))
        low, high = fit.intervals().bounds[place]
        excluded[said] = null < low or null > high
    chances = stats.binom.pmf(np.arange(n + 1), n, design.matrix[0] @ [share, 1 - share])
    found = planning.power(design, (share, 1 - share), n=n, null=null, category=design.categories[place])
    assert found == pytest.approx(chances @ excluded, abs=1e-9)


def test_a_difference_of_estimates_that_end_at_zero_is_not_promised():
    """A group whose estimate is 0 has no interval of the difference; .84 was promised, and .35 is true."""
    survey = designs.negative(tuple("abcdefghi"), discards=2, weights=(1, 2, 3, 1, 2, 3, 1, 2, 3))
    rng, shares = np.random.default_rng(7), (np.r_[0.4, np.full(8, 0.075)], np.r_[0.05, np.full(8, 0.95 / 8)])
    chances, codes = [survey.matrix @ each for each in shares], survey.space.listing()
    found = 0
    for _ in range(60):
        one, two = (
            estimate.maximum_likelihood(survey, Tally((Part.of(survey, codes[c > 0], count=c[c > 0]),)))
            for c in (rng.multinomial(40, each) for each in chances)
        )
        apart = estimate.differences({"one": one, "two": two})
        low, high = apart.interval()[0, 0]
        found += bool(apart.reliable[0, 0] and not low <= 0 <= high)
    planned = planning.difference_power(survey, *shares, n=(40, 40), category="a")
    assert planned == pytest.approx(found / 60, abs=0.15)
