"""A published probability is a drawn one, to the last digit."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, privacy
from naysay.design.drawing import LIMIT, as_fraction, odds_within, rounded, table_weights
from naysay.errors import DesignError


def decimals(places):
    return st.integers(0, 10**places).map(lambda whole: whole / 10**places)


@given(st.integers(0, 12).flatmap(decimals))
def test_decimals_are_read_as_written(p):
    exact = as_fraction(p)
    assert exact == Fraction(str(p))
    assert 10**12 % exact.denominator == 0


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (0.7, Fraction(7, 10)),
        ("0.7", Fraction(7, 10)),
        (Decimal("0.7"), Fraction(7, 10)),
        (np.float64(0.7), Fraction(7, 10)),
        (np.int64(1), Fraction(1)),
        ("1/3", Fraction(1, 3)),
        (1e-5, Fraction(1, 100_000)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_are_what_they_say(written, value):
    assert as_fraction(written) == value


@pytest.mark.parametrize(
    "nonsense", [None, "", "a", math.nan, math.inf, "1/0", 1j, [1], "1e9999999999", "1e-400000000"]
)
def test_what_is_no_number_is_said_to_be_none(nonsense):
    with pytest.raises(DesignError, match=r"p must be a number such as 0\.7, '1/3'"):
        as_fraction(nonsense, what="p")


def test_a_table_of_decimals_has_their_common_denominator():
    design = designs.custom([[0.7, 0.25], [0.3, 0.75]])
    assert design.denominator == 20
    assert design.weights.tolist() == [[14, 5], [6, 15]]


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=6), st.data())
def test_floats_are_rounded_to_the_limit_and_zeros_kept(shares, data):
    zero = data.draw(st.integers(0, len(shares) - 1))
    shares[zero] = 0.0
    column = np.array(shares) / sum(shares)
    weights = table_weights(column.reshape(-1, 1), columns=("only",))[:, 0]
    assert weights.sum() <= LIMIT
    assert weights[zero] == 0
    np.testing.assert_allclose(weights / weights.sum(), column, rtol=0, atol=1e-12)


def test_one_third_as_a_float_is_as_near_as_integers_can_be():
    design = designs.custom([[1 / 3, 0.5], [2 / 3, 0.5]])
    assert design.denominator == LIMIT == 2**53
    for place, share in ((0, Fraction(1, 3)), (1, Fraction(2, 3))):
        assert abs(Fraction(int(design.weights[place, 0]), LIMIT) - share) < Fraction(1, 10**15)
    assert designs.custom([["1/3", 0.5], ["2/3", 0.5]]).denominator == 6


def test_a_chance_too_small_to_be_drawn_is_not_made_impossible():
    with pytest.raises(DesignError, match=r"chances below 2\*\*-53 cannot be drawn; got 1e-20"):
        designs.custom([[1e-20, 0.5], [1 - 1e-20, 0.5]])


@given(st.lists(st.fractions(0, 10), min_size=1, max_size=8).filter(any))
def test_rounding_shares_misses_each_by_less_than_one_unit(shares):
    try:
        whole = rounded(shares)
    except DesignError:
        return
    assert sum(whole) == LIMIT
    assert all(abs(w - share * LIMIT / sum(shares)) < 1 for w, share in zip(whole, shares, strict=True))


epsilons = st.one_of(st.floats(1e-9, 40), st.floats(1e-9, 1e-3), st.integers(1, 700), decimals(3).filter(bool))


@given(epsilons, st.integers(2, 60))
def test_the_realized_epsilon_never_exceeds_the_requested_one(epsilon, t):
    design = designs.k_ary(range(t), epsilon=epsilon)
    realized = privacy.epsilon(design)
    assert 0 < realized <= epsilon
    assert design.denominator <= LIMIT
    if 1e-9 <= epsilon <= 20:
        assert realized == pytest.approx(epsilon, rel=0, abs=t * 1e-12)


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.3, 0.7, 1, 1.1, math.log(3), 2.3, 5, 10, 20])
@pytest.mark.parametrize("t", [2, 4])
def test_the_realized_epsilon_is_the_requested_one_but_for_rounding(epsilon, t):
    assert epsilon - 1e-12 <= privacy.epsilon(designs.k_ary(range(t), epsilon=epsilon)) <= epsilon


@pytest.mark.parametrize("epsilon", [40, 700, 123.456])
def test_beyond_the_limit_the_odds_are_the_largest_there_are(epsilon):
    a, b = odds_within(epsilon, others=3)
    assert (a, b) == (LIMIT - 3, 1)


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (0, r"must be positive; got 0 \(at 0 an answer says nothing at all\)"),
        (-1, "must be positive"),
        (701, r"at most 700; got 701 \(use direct\(\)"),
        (1e-20, "must be larger to be drawn at all; got 1e-20"),
        ("x", "epsilon must be a number"),
    ],
)
def test_epsilon_is_a_number_that_can_be_kept(epsilon, message):
    with pytest.raises(DesignError, match=message):
        designs.k_ary(("a", "b"), epsilon=epsilon)


@given(st.fractions(0, 1).filter(lambda p: 2 * p != 1 and p.denominator < 10**6))
def test_a_fraction_is_kept_as_it_is(p):
    assert Fraction(int(designs.warner(p=p).weights[0, 0]), designs.warner(p=p).denominator) == p


@pytest.mark.parametrize(("p", "message"), [(0.5, "fair coin"), (1.1, r"\[0, 1\]; got 1.1"), (-0.1, r"\[0, 1\]")])
def test_warner_needs_an_unfair_coin(p, message):
    with pytest.raises(DesignError, match=message):
        designs.warner(p=p)


@pytest.mark.parametrize(
    "family", [lambda c: designs.warner(p=0.7, categories=c), lambda c: designs.two_coins(categories=c)]
)
def test_two_category_designs_take_two_categories(family):
    with pytest.raises(DesignError, match=r"takes two categories, the sensitive one first; got 3"):
        family(tuple("abc"))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [0.4, 0.5]], r"column 1 sums to 0\.9 .*was the matrix transposed"),
        ([[1.5, 0.5], [-0.5, 0.5]], r"lie in \[0, 1\]; column 1 holds 1\.5"),
        ([[0.5, math.nan], [0.5, 0.5]], "an entry of the matrix must be a number"),
        ([[0.5, 0.5], [0.5]], "rows .* of one length"),
        ([], "rows"),
        ([[]], "rows"),
    ],
)
def test_a_matrix_that_is_no_design_is_refused(matrix, message):
    with pytest.raises(DesignError, match=message):
        designs.custom(matrix)


def test_a_matrix_must_have_a_column_for_each_category():
    with pytest.raises(DesignError, match="the matrix has 2 columns; name that many categories, got 3"):
        designs.custom(np.eye(2), categories=tuple("abc"))
