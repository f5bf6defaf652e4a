import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate, planning

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
