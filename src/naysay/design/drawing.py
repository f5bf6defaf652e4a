"""What a design draws with, and clients in any language, too: chances as whole numbers, and integers out of bytes.

Probabilities are integers over a common denominator, so that what is published is what is drawn. Every design draws
through one primitive: a uniform integer below a bound. So each sampler is written once and gives exactly the published
probabilities from any source, the operating system or a seeded generator. The JSON of a design holds the rule from
bytes to integers (`RULES`), so that a client in any language draws the same answer from the same bytes.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from importlib.util import find_spec
from numbers import Rational
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naysay._values import Array, Exact, Label
from naysay.errors import DataError, DesignError

_BLOCK = 2**14  # responses
_BULK = 2**14  # bytes from which on a key pays: the operating system takes 3 ns for one byte, AES a tenth of it


class Source(Protocol):
    """A source of exact uniform integers."""

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        """`size` independent integers, each uniform on 0 … bound - 1."""


class ByteSource:
    """Integers out of random bytes by rejection (the rule ``integer`` of `RULES`).

    Parameters
    ----------
    read : callable
        Takes a number and returns that many random bytes.

    Examples
    --------
    >>> stream = iter(bytes([7, 2]))
    >>> ByteSource(lambda n: bytes(next(stream) for _ in range(n))).below(6, 1)  # 7 is rejected
    array([2])
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        if bound == 1 or not size:
            return np.zeros(size, dtype=np.int64)
        bit_count = (bound - 1).bit_length()
        octet_count = -(-bit_count // 8)
        integer_draws = self._words(octet_count, size) & (
            (1 << bit_count) - 1
        )  # else more than half of all draws could be rejected
        waiting_places = np.flatnonzero(integer_draws >= bound)
        while len(waiting_places):
            redraws = self._words(octet_count, len(waiting_places)) & ((1 << bit_count) - 1)
            integer_draws[waiting_places] = redraws
            waiting_places = waiting_places[redraws >= bound]
        return integer_draws

    def _words(self, width: int, size: int) -> NDArray[np.int64]:
        """Big-endian numbers of that many bytes; above them stand bits of the number before."""
        if width == 1:
            return np.frombuffer(self._read(size), dtype=np.uint8).astype(np.int64)
        octets = bytes(8 - width) + self._read(width * size)
        return np.ndarray((size,), dtype=">i8", buffer=octets, strides=(width,)).astype(np.int64)


class GeneratorSource:
    """Integers from a seeded numpy generator: for simulation, never for respondents."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        return self._rng.integers(bound, size=size, dtype=np.int64)


def random_bytes(size: int) -> bytes:
    """Random bytes of the operating system; many at once are expanded from 32 of them by AES-256 in counter mode.

    Each call has a key of its own, so that nothing is kept between calls, threads or forked processes.
    """
    if size < _BULK or find_spec("cryptography") is None:
        return secrets.token_bytes(size)
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(secrets.token_bytes(32)), modes.CTR(bytes(16))).encryptor().update(bytes(size))


system = ByteSource(random_bytes)
"""The operating system's randomness."""


def source_of(rng: np.random.Generator | Source | None) -> Source:
    """The source that an `rng` argument asks for; None is the operating system."""
    if rng is None:
        return system
    if isinstance(rng, np.random.Generator):
        return GeneratorSource(rng)
    if hasattr(rng, "below"):
        return rng
    raise DataError(f"rng must be a numpy Generator, such as numpy.random.default_rng(2016), or None; got {rng!r}")


def blocks(size: int) -> Iterator[slice]:
    """The responses that are drawn at a time, so that what belongs to them stays in the cache.

    Examples
    --------
    >>> list(blocks(20_000))
    [slice(0, 16384, None), slice(16384, 32768, None)]
    """
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def lots(weights: Sequence[int], size: int, source: Source) -> NDArray[np.intp]:
    """The places that lot gives to so many people, each with the chance of its weight.

    One integer below the sum of the weights is drawn for each; a running sum that it is equal to is passed.

    Examples
    --------
    >>> lots([2, 1], 5, source_of(np.random.default_rng(1)))
    array([0, 0, 1, 1, 0])
    """
    return np.searchsorted(np.cumsum(weights), source.below(sum(weights), size), side="right")


ChanceRows: TypeAlias = Sequence[Sequence[Exact]] | Array
"""A matrix of probabilities by its rows, each entry read as written."""

LIMIT = 2**53
"""Largest denominator: integers up to here are exact in every language's floating point."""

_NOISE = 1e-12  # a column's sum may differ from one by this much through floating-point arithmetic alone
_DIGITS = 400  # a larger power of ten is a typing error, and would take forever to write out as a fraction


def without_noise(shares: Sequence[Fraction]) -> list[Fraction]:
    """Shares that sum to one but for the last digits of a computer's numbers, as they were meant; others as they are.

    Decimals are read as written, so that ``1 - 0.07`` is 0.9299999999999999. So are fractions such as ``1 / 3``.

    Examples
    --------
    >>> without_noise([as_fraction(0.07), as_fraction(1 - 0.07)])
    [Fraction(7, 100), Fraction(93, 100)]
    >>> sum(without_noise([as_fraction(0.3), as_fraction(0.6)]))
    Fraction(9, 10)
    """
    if sum(shares) == 1 or abs(float(sum(shares)) - 1) > _NOISE:
        return list(shares)
    meant = ([round(share, 15) for share in shares], [share.limit_denominator(10**6) for share in shares])
    return next((list(candidate) for candidate in meant if sum(candidate) == 1), list(shares))


def as_fraction(value: object, *, what: str = "a probability") -> Fraction:
    """The number as it is written: 0.7 is 7/10.

    Examples
    --------
    >>> as_fraction(0.7), as_fraction("1/3")
    (Fraction(7, 10), Fraction(1, 3))
    """
    try:
        value = value.item() if isinstance(value, np.generic) else value
        value = repr(value) if isinstance(value, float) else value  # 0.7 as it is written, not as it is stored
        is_extreme = isinstance(value, str) and "e" in value.lower() and abs(Decimal(value).adjusted()) > _DIGITS
        if isinstance(value, bool) or is_extreme or not isinstance(value, Rational | Decimal | str):
            raise ValueError
        return Fraction(value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, InvalidOperation):
        raise DesignError(f"{what} must be a number such as 0.7, '1/3' or Fraction(1, 3); got {value!r}") from None


def integer(value: object) -> int:
    """A value read from JSON, if it is a whole number; neither a float nor a truth value passes.

    Examples
    --------
    >>> integer(3)
    3
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise DesignError(f"a design's JSON holds whole numbers only; got {value!r}")
    return value


def flag(value: object) -> bool:
    """A value read from JSON, if it is true or false.

    Examples
    --------
    >>> flag(True)
    True
    """
    if not isinstance(value, bool):
        raise DesignError(f"a flag of a design's JSON must be true or false; got {value!r}")
    return value


def labels_of(labels: object) -> Any:
    """A value, such as labels, with the tuples that JSON had turned into lists.

    Examples
    --------
    >>> labels_of(["a", ["b", 1]])
    ('a', ('b', 1))
    """
    return tuple(map(labels_of, labels)) if isinstance(labels, list) else labels


def table_weights(matrix: ChanceRows, *, columns: Sequence[Label]) -> NDArray[np.int64]:
    """A matrix of probabilities as integers (responses, t); every column has the same sum.

    Probabilities are read as written where their common denominator is at most `LIMIT`. Otherwise (1/3 as a float, a
    density) they are rounded to multiples of 1/`LIMIT`; zeros stay zero.

    Examples
    --------
    >>> table_weights([[0.7, 0.3], [0.3, 0.7]], columns=("yes", "no"))
    array([[7, 3],
           [3, 7]])
    """
    exact_matrix = [
        [as_fraction(matrix_entry, what="an entry of the matrix") for matrix_entry in matrix_row]
        for matrix_row in matrix
    ]
    denominator = math.lcm(*(matrix_entry.denominator for matrix_row in exact_matrix for matrix_entry in matrix_row))
    numerators = [
        [matrix_entry.numerator * (denominator // matrix_entry.denominator) for matrix_entry in matrix_row]
        for matrix_row in exact_matrix
    ]
    return whole_weights(np.array(numerators, dtype=object), denominator, columns=columns)


def whole_weights(numerators: Array, denominator: int, *, columns: Sequence[Label]) -> NDArray[np.int64]:
    """Numerators over a common denominator as integers (responses, t); every column has the same sum.

    They are in lowest terms if the denominator is then at most `LIMIT`; otherwise they are rounded as in
    `table_weights`.

    Examples
    --------
    >>> whole_weights(np.array([[4, 0], [2, 6]]), 6, columns=("yes", "no"))
    array([[2, 0],
           [1, 3]])
    """
    for numerator_column, column_label in zip(numerators.T, columns, strict=True):
        is_outside = (numerator_column < 0) | (numerator_column > denominator)
        if is_outside.any():
            outside_entry = Fraction(int(numerator_column[is_outside][0]), denominator)
            raise DesignError(
                f"probabilities must lie in [0, 1]; column {column_label!r} holds {float(outside_entry):g}"
            )
        column_total = Fraction(int(numerator_column.sum()), denominator)
        if abs(column_total - 1) > _NOISE:
            raise DesignError(
                f"each column of the design matrix must sum to one; column {column_label!r} sums to "
                f"{float(column_total):.12g} (columns are true categories, rows are responses: was the matrix "
                "transposed?)"
            )
    common_divisor = math.gcd(denominator, int(np.gcd.reduce(numerators, axis=None)))
    if denominator // common_divisor <= LIMIT and (numerators.sum(axis=0) == denominator).all():
        return (numerators // common_divisor).astype(np.int64)
    return np.array([rounded(numerator_column) for numerator_column in numerators.T.tolist()], dtype=np.int64).T


def rounded(shares: Sequence[Fraction | int]) -> list[int]:
    """Integers in proportion to the shares, summing to `LIMIT`: rounded by largest remainders; zeros stay zero.

    Examples
    --------
    >>> rounded([Fraction(2, 3), Fraction(1, 3), Fraction(0)])
    [6004799503160661, 3002399751580331, 0]
    """
    share_total = sum(shares)
    scaled_shares = [divmod(share * LIMIT, share_total) for share in shares]
    integer_shares = [floor for floor, _ in scaled_shares]
    # sorted() is stable, so that equal remainders go to the first shares: every run rounds alike.
    by_remainder = sorted(range(len(shares)), key=lambda share_place: scaled_shares[share_place][1], reverse=True)
    for share_place in by_remainder[: LIMIT - sum(integer_shares)]:
        integer_shares[share_place] += 1
    vanished_shares = [
        share for share, integer_share in zip(shares, integer_shares, strict=True) if share and not integer_share
    ]
    if vanished_shares:
        raise DesignError(
            f"chances below 2**-53 cannot be drawn; got {float(vanished_shares[0] / share_total):.3g} "
            "(write 0, or more)"
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
    even_weight = (whole - keep) * (own_copies * a + other_copies * b)
    own_odds, other_odds = (keep * piece_odds * (own_copies + other_copies) + even_weight for piece_odds in (a, b))
    common_divisor = math.gcd(own_odds, other_odds)
    total_odds = own_copies * own_odds + other_copies * other_odds
    if total_odds > LIMIT * common_divisor:  # rounded so that the odds are not understated
        rounded_low = other_odds * (LIMIT - own_copies) // total_odds
        return -(-own_odds * rounded_low // other_odds), rounded_low
    return own_odds // common_divisor, other_odds // common_divisor


def steepened(a: int, b: int, copies: tuple[int, int], epsilon: Exact) -> tuple[int, int]:
    """The largest odds below e^ε over the same denominator own a + others b, from which the odds (a, b) are blended.

    Examples
    --------
    >>> steepened(30, 20, (1, 1), 2)
    (44, 6)
    """
    own_copies, other_copies = copies
    common_divisor = math.gcd(own_copies, other_copies)
    own_step, other_step = other_copies // common_divisor, own_copies // common_divisor
    high_odds, low_odds = odds_within(epsilon, others=1)
    steps = min((high_odds * b - low_odds * a) // (low_odds * own_step + high_odds * other_step), (b - 1) // other_step)
    if steps < 1:
        raise DesignError(f"the ε of a lifetime must be larger than that of one report; got {epsilon!r}")
    return a + steps * own_step, b - steps * other_step


def odds_within(epsilon: Exact, others: int, own_copies: int = 1) -> tuple[int, int]:
    """Integers (a, b) with own·a + others·b ≤ `LIMIT` and a/b close to e^ε, but never above it.

    Above ε = ln 2⁵³ ≈ 36.7 the odds a/b are the largest that such integers allow.

    Examples
    --------
    >>> a, b = odds_within(1, others=3)
    >>> a + 3 * b <= 2**53, a / b
    (True, 2.718281828459045)
    """
    exact_epsilon = as_fraction(epsilon, what="epsilon")
    if exact_epsilon <= 0:
        raise DesignError(f"epsilon must be positive; got {epsilon!r} (at 0 an answer says nothing at all)")
    if exact_epsilon > 700:
        raise DesignError(f"epsilon must be at most 700; got {epsilon!r} (use direct() to ask for the truth)")
    # The float 0.3 is less than 3/10: take the smaller one, so that the promise holds for both.
    exact_epsilon = min(exact_epsilon, Fraction(float(exact_epsilon)))
    with localcontext() as context:
        context.prec = 60
        odds = (Decimal(exact_epsilon.numerator) / Decimal(exact_epsilon.denominator)).exp()
        b = max(1, int((Decimal(LIMIT) / (own_copies * odds + others)).to_integral_value(ROUND_FLOOR)))
        a = min(int((odds * b).to_integral_value(ROUND_FLOOR)), (LIMIT - others * b) // own_copies)
    if a <= b:
        raise DesignError(
            f"epsilon must be larger to be drawn at all; got {epsilon!r} (the odds would round to 1, and an answer "
            "would say nothing)"
        )
    return a, b
