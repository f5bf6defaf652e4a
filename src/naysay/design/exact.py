"""Probabilities as integers over a common denominator, so that what is published is what is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DesignError

LIMIT = 2**53
"""Largest denominator: integers up to here are exact in every language's floating point."""

_NOISE = 1e-12  # a column's sum may differ from one by this much through floating-point arithmetic alone
_DIGITS = 400  # a larger power of ten is a typing error, and would take forever to write out as a fraction


def as_fraction(value: Any, *, what: str = "a probability") -> Fraction:
    """The number as it is written: 0.7 is 7/10.

    Examples
    --------
    >>> as_fraction(0.7), as_fraction("1/3")
    (Fraction(7, 10), Fraction(1, 3))
    """
    try:
        value = value.item() if isinstance(value, np.generic) else value
        value = repr(value) if isinstance(value, float) else value  # 0.7 as it is written, not as it is stored
        far = isinstance(value, str) and "e" in value.lower() and abs(Decimal(value).adjusted()) > _DIGITS
        if isinstance(value, bool) or far:
            raise ValueError
        return Fraction(value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, InvalidOperation):
        raise DesignError(f"{what} must be a number such as 0.7, '1/3' or Fraction(1, 3); got {value!r}") from None


def integer(value: Any) -> int:
    """A value read from JSON, if it is a whole number; neither a float nor a truth value passes.

    Examples
    --------
    >>> integer(3)
    3
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise DesignError(f"a design's JSON holds whole numbers only; got {value!r}")
    return value


def flag(value: Any) -> bool:
    """A value read from JSON, if it is true or false.

    Examples
    --------
    >>> flag(True)
    True
    """
    if not isinstance(value, bool):
        raise DesignError(f"a flag of a design's JSON must be true or false; got {value!r}")
    return value


def labels_of(labels: Any) -> Any:
    """A value, such as labels, with the tuples that JSON had turned into lists.

    Examples
    --------
    >>> labels_of(["a", ["b", 1]])
    ('a', ('b', 1))
    """
    return tuple(map(labels_of, labels)) if isinstance(labels, list) else labels


def table_weights(matrix: Sequence[Sequence[Any]], *, columns: Sequence[Any]) -> NDArray[np.int64]:
    """A matrix of probabilities as integers (responses, t); every column has the same sum.

    Probabilities are read as written where their common denominator is at most `LIMIT`. Otherwise (1/3 as a float, a
    density) they are rounded to multiples of 1/`LIMIT`; zeros stay zero.

    Examples
    --------
    >>> table_weights([[0.7, 0.3], [0.3, 0.7]], columns=("yes", "no"))
    array([[7, 3],
           [3, 7]])
    """
    exact = [[as_fraction(entry, what="an entry of the matrix") for entry in row] for row in matrix]
    denominator = math.lcm(*(entry.denominator for row in exact for entry in row))
    numerators = [[entry.numerator * (denominator // entry.denominator) for entry in row] for row in exact]
    return whole_weights(np.array(numerators, dtype=object), denominator, columns=columns)


def whole_weights(numerators: NDArray[Any], denominator: int, *, columns: Sequence[Any]) -> NDArray[np.int64]:
    """Numerators over a common denominator as integers (responses, t); every column has the same sum.

    They are in lowest terms if the denominator is then at most `LIMIT`; otherwise they are rounded as in
    `table_weights`.

    Examples
    --------
    >>> whole_weights(np.array([[4, 0], [2, 6]]), 6, columns=("yes", "no"))
    array([[2, 0],
           [1, 3]])
    """
    for column, label in zip(numerators.T, columns, strict=True):
        _check_column(column, denominator, label)
    shared = math.gcd(denominator, int(np.gcd.reduce(numerators, axis=None)))
    if denominator // shared <= LIMIT and (numerators.sum(axis=0) == denominator).all():
        return (numerators // shared).astype(np.int64)
    return np.array([rounded(column) for column in numerators.T.tolist()], dtype=np.int64).T


def _check_column(column: NDArray[Any], denominator: int, label: Any) -> None:
    outside = (column < 0) | (column > denominator)
    if outside.any():
        entry = Fraction(int(column[outside][0]), denominator)
        raise DesignError(f"probabilities must lie in [0, 1]; column {label!r} holds {float(entry):g}")
    total = Fraction(int(column.sum()), denominator)
    if abs(total - 1) > _NOISE:
        raise DesignError(
            f"each column of the design matrix must sum to one; column {label!r} sums to {float(total):.12g} "
            "(columns are true categories, rows are responses: was the matrix transposed?)"
        )


def rounded(shares: Sequence[Fraction | int]) -> list[int]:
    """Integers in proportion to the shares, summing to `LIMIT`: rounded by largest remainders; zeros stay zero.

    Examples
    --------
    >>> rounded([Fraction(2, 3), Fraction(1, 3), Fraction(0)])
    [6004799503160661, 3002399751580331, 0]
    """
    total = sum(shares)
    scaled = [divmod(share * LIMIT, total) for share in shares]
    integer_shares = [floor for floor, _ in scaled]
    # sorted() is stable, so that equal remainders go to the first shares: every run rounds alike.
    by_remainder = sorted(range(len(shares)), key=lambda place: scaled[place][1], reverse=True)
    for place in by_remainder[: LIMIT - sum(integer_shares)]:
        integer_shares[place] += 1
    vanished_shares = [share for share, integer in zip(shares, integer_shares, strict=True) if share and not integer]
    if vanished_shares:
        raise DesignError(
            f"chances below 2**-53 cannot be drawn; got {float(vanished_shares[0] / total):.3g} (write 0, or more)"
        )
    return integer_shares


def blended(a: int, b: int, copies: tuple[int, int], keep: int, whole: int) -> tuple[int, int]:
    """The odds (a', b') of a piece that is kept with chance keep/whole and is otherwise any of the n alike.

    Its chances are a/D and b/D, with D = own a + others b and n = own + others; they become k a/D + (1 - k)/n.

    Examples
    --------
    >>> blended(7, 3, (1, 1), 1, 2)
    (3, 2)
    """
    own_copies, other_copies = copies
    even = (whole - keep) * (own_copies * a + other_copies * b)
    first, second = (keep * weight * (own_copies + other_copies) + even for weight in (a, b))
    shared = math.gcd(first, second)
    total = own_copies * first + other_copies * second
    if total > LIMIT * shared:  # rounded so that the odds are not understated
        low = second * (LIMIT - own_copies) // total
        return -(-first * low // second), low
    return first // shared, second // shared


def steepened(a: int, b: int, copies: tuple[int, int], epsilon: Any) -> tuple[int, int]:
    """The largest odds below e^ε over the same denominator own a + others b, from which the odds (a, b) are blended.

    Examples
    --------
    >>> steepened(30, 20, (1, 1), 2)
    (44, 6)
    """
    own_copies, other_copies = copies
    shared = math.gcd(own_copies, other_copies)
    up, down = other_copies // shared, own_copies // shared
    high, low = odds_within(epsilon, others=1)
    steps = min((high * b - low * a) // (low * up + high * down), (b - 1) // down)
    if steps < 1:
        raise DesignError(f"the ε of a lifetime must be larger than that of one report; got {epsilon!r}")
    return a + steps * up, b - steps * down


def odds_within(epsilon: Any, others: int, own_copies: int = 1) -> tuple[int, int]:
    """Integers (a, b) with own·a + others·b ≤ `LIMIT` and a/b close to e^ε, but never above it.

    Above ε = ln 2⁵³ ≈ 36.7 the odds a/b are the largest that such integers allow.

    Examples
    --------
    >>> a, b = odds_within(1, others=3)
    >>> a + 3 * b <= 2**53, a / b
    (True, 2.718281828459045)
    """
    exact = as_fraction(epsilon, what="epsilon")
    if exact <= 0:
        raise DesignError(f"epsilon must be positive; got {epsilon!r} (at 0 an answer says nothing at all)")
    if exact > 700:
        raise DesignError(f"epsilon must be at most 700; got {epsilon!r} (use direct() to ask for the truth)")
    # The float 0.3 is less than 3/10: take the smaller one, so that the promise holds for both.
    exact = min(exact, Fraction(float(exact)))
    with localcontext() as context:
        context.prec = 60
        odds = (Decimal(exact.numerator) / Decimal(exact.denominator)).exp()
        b = max(1, int((Decimal(LIMIT) / (own_copies * odds + others)).to_integral_value(ROUND_FLOOR)))
        a = min(int((odds * b).to_integral_value(ROUND_FLOOR)), (LIMIT - others * b) // own_copies)
    if a <= b:
        raise DesignError(
            f"epsilon must be larger to be drawn at all; got {epsilon!r} (the odds would round to 1, and an answer "
            "would say nothing)"
        )
    return a, b
