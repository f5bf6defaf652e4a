"""Arguments that mean nothing are refused, with what would be right."""

import numpy as np
import pytest

from naysay import DataError, DesignError, designs, estimate

WARNER = designs.warner(p=0.8)
TALLY = WARNER.tally(count=[40, 60])


@pytest.mark.parametrize("replicates", [0, 1, -5, 2.5, True])
@pytest.mark.parametrize("estimator", [estimate.moments, estimate.maximum_likelihood])
def test_an_interval_without_replicates_is_refused(estimator, replicates):
    fit = estimator(WARNER, TALLY)
    with pytest.raises(DataError, match="replicates must be a whole number from 2 on, such as 1999; got"):
        fit.interval(method="bootstrap", replicates=replicates)


@pytest.mark.parametrize("tolerance", [-1, 0, float("nan")])
@pytest.mark.parametrize("design", [WARNER, designs.k_ary(tuple("abc"), epsilon=1)])
def test_a_tolerance_that_nothing_can_reach_is_refused(design, tolerance):
    answers = design.tally(count=[40, 60, 50][: len(design.categories)])
    with pytest.raises(DataError, match="tolerance must be positive, such as 1e-6; got"):
        estimate.maximum_likelihood(design, answers, tolerance=tolerance)


@pytest.mark.parametrize("flags", [[True, False], np.array([True, False])])
def test_booleans_are_no_counts_and_no_weights(flags):
    with pytest.raises(DataError, match="must be numbers; got 'True', 'False'"):
        WARNER.tally(count=flags)
    with pytest.raises(DataError, match="must be numbers; got 'True', 'False'"):
        WARNER.tally(["yes", "no"], weights=flags)


def drawable(red, draws):
    try:
        designs.kuk(p=red, draws=draws)
    except DesignError as error:
        assert "draws" in str(error)
        return False
    return True


@pytest.mark.parametrize("red", [(0.8, 0.2), (0.9, 0.5), (1, 0.5), ("1/3", "2/3")])
def test_kuk_offers_only_what_can_be_drawn(red):
    with pytest.raises(DesignError, match=r"draws must be a whole number from 1 to \d\d; got 100"):
        designs.kuk(p=red, draws=100)
    most = next(draws for draws in range(100, 0, -1) if drawable(red, draws))
    assert most > 10
    assert len(designs.kuk(p=red, draws=most).randomize(["yes", "no"]).texts()) == 2
