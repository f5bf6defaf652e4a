"""What is published of a design, and read by clients in any language: whole numbers, the rules of drawing, the JSON.

Probabilities are integers over a common denominator, so that what is published is what is drawn. Every design draws
through one primitive: a uniform integer below a bound. So each sampler is written once and gives exactly the published
probabilities from any source, the operating system or a seeded generator. The JSON holds the rule from bytes to
integers (`RULES`), so that a client in any language draws the same answer from the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from naysay._values import Array, Exact, JsonObject, Label
from naysay.errors import DataError, DesignError

_BULK = 2**14  # bytes from which on a key pays: the operating system takes 3 ns for one byte, AES a tenth of it

RULES = {
    "integer": (
        "To draw an integer below N: if N = 1 the integer is 0 and no byte is read. Otherwise let b be the number of "
        "bits of N - 1, read ceil(b / 8) bytes, take them as one big-endian number, clear all but its lowest b bits; "
        "if the result is N or more, discard it and read afresh."
    ),
}
"""How to draw an answer under each kind of design, in words, for clients in other languages. Each kind adds its own."""


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
        is_extreme = isinstance(value, str) and "e" in value.lower() and abs(Decimal(value).adjusted()) > _DIGITS
        if isinstance(value, bool) or is_extreme:
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


def table_weights(matrix: Sequence[Sequence[Any]], *, columns: Sequence[Label]) -> NDArray[np.int64]:
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
        _check_column(numerator_column, denominator, column_label)
    common_divisor = math.gcd(denominator, int(np.gcd.reduce(numerators, axis=None)))
    if denominator // common_divisor <= LIMIT and (numerators.sum(axis=0) == denominator).all():
        return (numerators // common_divisor).astype(np.int64)
    return np.array([rounded(numerator_column) for numerator_column in numerators.T.tolist()], dtype=np.int64).T


def _check_column(column: Array, denominator: int, label: Any) -> None:
    is_outside = (column < 0) | (column > denominator)
    if is_outside.any():
        outside_entry = Fraction(int(column[is_outside][0]), denominator)
        raise DesignError(f"probabilities must lie in [0, 1]; column {label!r} holds {float(outside_entry):g}")
    column_total = Fraction(int(column.sum()), denominator)
    if abs(column_total - 1) > _NOISE:
        raise DesignError(
            f"each column of the design matrix must sum to one; column {label!r} sums to {float(column_total):.12g} "
            "(columns are true categories, rows are responses: was the matrix transposed?)"
        )


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


VERSION = 1

KINDS: dict[str, Any] = {}
"""Every class of designs, by the `kind` of its JSON form. A class enters when it is defined."""

DESCRIPTIVE_FIELDS = ("name", "notes", "protocol", "alternatives")
"""Fields that describe a design and change no answer."""

TABLED = 256
"""A pattern of so many categories or fewer is hashed as the table that it stands for: before, it was one."""

_NUMBERS = ("columns",)  # long lists of numbers, which need no search for designs or descriptive fields


def enter_kind(design_class: Any) -> None:
    """Let the JSON of a kind be read as this class, and be drawn by its rule."""
    KINDS[design_class.kind] = design_class
    if design_class.rule:
        RULES[design_class.kind] = design_class.rule


def text_of(node: JsonObject, *, indent: int | None = None) -> str:
    """A design's JSON object as text, with the rules by which any client draws the same answers."""
    drawing_rules = {rule_name: RULES[rule_name] for rule_name in sorted({"integer", *_kinds(node)} & RULES.keys())}
    document = {"naysay": "design", "version": VERSION, "drawing": drawing_rules, "design": node}
    try:
        return json.dumps(document, ensure_ascii=False, indent=indent)
    except TypeError as error:
        raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None


def hash_of(node: JsonObject) -> str:
    """The SHA-256 of what decides about answers.

    That is the design's form without `DESCRIPTIVE_FIELDS`, as JSON with sorted keys.
    """
    try:
        text = json.dumps(unnamed(node), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except TypeError as error:
        raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def formed(value: Any) -> Any:
    """A field as JSON: a tuple becomes a list, a design or a share becomes its own form."""
    if isinstance(value, tuple):
        return [formed(entry) for entry in value]
    return value.form() if hasattr(value, "form") else value


def _kinds(node: Any) -> set[str]:
    if isinstance(node, dict):
        node_kinds = {node["kind"]} if "kind" in node else set()
        return node_kinds.union(*(_kinds(value) for value in node.values()))
    return set().union(*(_kinds(value) for value in node)) if isinstance(node, list) else set()


def unnamed(node: Any, *, memo: bool = False) -> Any:
    """A design's JSON form, in which it is hashed, without the fields that only describe it (`DESCRIPTIVE_FIELDS`).

    A pattern of at most `TABLED` categories becomes its table, so that a design in both forms is one; a memo stays.
    """
    if isinstance(node, dict):
        bare_node = {field_name: value for field_name, value in node.items() if field_name not in DESCRIPTIVE_FIELDS}
        if bare_node.get("kind") == "pattern" and len(bare_node["categories"]) <= TABLED and not memo:
            return tabled(bare_node)
        memo = bare_node.get("kind") == "remembered"
        return {
            field_name: value if field_name in _NUMBERS else unnamed(value, memo=memo)
            for field_name, value in bare_node.items()
        }
    return [unnamed(value) for value in node] if isinstance(node, list) else node


def tabled(pattern: Mapping[str, Any]) -> dict[str, Any]:
    """The form of the table with the same weights as a pattern; it draws the same answers from the same bytes."""
    labels, own_weight, other_weight = pattern["categories"], pattern["own"], pattern["other"]
    places = range(len(labels))
    columns = [
        [own_weight if row_place == column_place else other_weight for row_place in places] for column_place in places
    ]
    denominator = own_weight + (len(labels) - 1) * other_weight
    return {"kind": "table", "categories": labels, "responses": labels, "denominator": denominator, "columns": columns}


def of_text(text: str | Mapping[str, Any]) -> Any:
    """The design that a JSON text or object describes."""
    try:
        document = json.loads(text) if isinstance(text, str) else text
    except (json.JSONDecodeError, RecursionError) as error:
        raise DesignError(f"a design's JSON must be readable; {error}") from None
    if not isinstance(document, Mapping) or document.get("naysay") != "design":
        raise DesignError('a design\'s JSON must be an object with "naysay": "design"')
    if document.get("version") != VERSION or document["version"] is True:
        raise DesignError(f"this naysay reads designs of version {VERSION}; got version {document.get('version')!r}")
    return of_node(document.get("design"))


def of_node(node: Any) -> Any:
    """The design that one object of the tree describes."""
    try:
        design_class = KINDS[node["kind"]]
        built_fields = {
            field_name: field_content if field_name in _NUMBERS else _build_field(field_content)
            for field_name, field_content in node.items()
        }
        label_fields = {
            field_name: labels_of(built_fields[field_name])
            for field_name in ("categories", "responses")
            if field_name in built_fields
        }
        design = design_class._of_form({**built_fields, **label_fields})
        alternative_designs = tuple(built_fields.get("alternatives", ()))
        return replace(design, alternatives=alternative_designs) if alternative_designs else design
    except DesignError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        kind_name = node.get("kind") if isinstance(node, Mapping) else node
        raise DesignError(
            f"a design's JSON must be of a known kind ({', '.join(KINDS)}) with its fields complete; "
            f"got kind {kind_name!r} and stumbled over {error!r}"
        ) from None


def _build_field(value: Any) -> Any:
    """A field of the JSON, in which every object that describes a design is replaced by the design."""
    if isinstance(value, Mapping):
        return of_node(value) if "kind" in value else {key: _build_field(entry) for key, entry in value.items()}
    return [_build_field(entry) for entry in value] if isinstance(value, list) else value
