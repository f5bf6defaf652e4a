"""Plain questions: shares and quartiles, against scipy and against the binomial."""

import numpy as np
import pytest
from scipy import stats

from naysay.errors import DataError
from naysay.estimate.plain import numbers, shares

QUARTILES = {"first quartile": 0.25, "median": 0.5, "third quartile": 0.75}


@pytest.mark.parametrize("n", [4, 9, 37, 400])
def test_numbers_agree_with_scipy(n):
    values = np.random.default_rng(n).normal(50, 12, n)
    found = numbers([*values, np.nan])
    assert (found.n, found.missing) == (n, 1)
    mean = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose(found.rows["mean"], (values.mean(), stats.sem(values), mean.low, mean.high))
    for name, share in QUARTILES.items():
        peer = stats.quantile_test(values, q=np.median(values), p=share).confidence_interval(0.95)
        value, _, low, high = found.rows[name]
        assert value == pytest.approx(np.quantile(values, share))
        np.testing.assert_allclose([low or np.nan, high or np.nan], [*map(float, (peer.low, peer.high))])


@pytest.mark.parametrize("share", QUARTILES.values())
def test_intervals_of_quartiles_cover(share):
    rng, n, rounds = np.random.default_rng(7), 40, 800
    name = next(key for key, value in QUARTILES.items() if value == share)
    true = stats.expon.ppf(share)
    held = 0
    for _ in range(rounds):
        _, _, low, high = numbers(rng.exponential(size=n)).rows[name]
        held += low <= true <= high
    assert held / rounds > 0.95 - 4 * np.sqrt(0.95 * 0.05 / rounds)


def test_shares_are_what_was_said():
    found = shares(["a"] * 3 + ["b"] + [None] * 2, ["a", "b", "c"])
    assert (found.counts, found.n, found.missing) == ((3, 1, 0), 4, 2)
    assert found.standard_errors[0] == pytest.approx(np.sqrt(0.75 * 0.25 / 3))


def test_one_number_has_no_interval():
    assert numbers([7]).rows["mean"] == (7, None, None, None)
    assert numbers([7]).rows["median"] == (7, None, None, None)
    assert "–" in str(numbers([7]))


def test_nobody_answered():
    with pytest.raises(DataError, match="nobody has answered 'age'"):
        numbers([np.nan], question="age")
