"""A client for one device: it reads a design's JSON and draws an answer, with the standard library alone.

It knows nothing of the rest of naysay. It is written from the words under "drawing" in the JSON, as a client in another
language would be, and may be copied as a single file onto a device that has neither NumPy nor naysay.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

__all__ = ["draw"]

Node = Mapping[str, Any]
"""A node of the tree that a design's JSON holds."""


SEVERAL = (("levels", "levels", "level"), ("samples", "samples", "sample"), ("hierarchy", "levels", "level"))
"""The kinds that hold several designs, where they hold them, and by what these are called."""


class Bytes:
    """Random bytes, and how many were read."""

    def __init__(self, read_bytes: Callable[[int], bytes]) -> None:
        self._read, self.read = read_bytes, 0

    def integer(self, below: int) -> int:
        """The rule "integer"."""
        if below == 1:
            return 0
        bit_count = (below - 1).bit_length()
        octet_count = (bit_count + 7) // 8
        while True:
            random_number = int.from_bytes(self.octets(octet_count), "big") % (1 << bit_count)
            if random_number < below:
                return random_number

    def integers(self, low: int, high: int) -> Iterator[int]:
        """An integer below `low`, one below low + 1, and so on to `high`, as `integer` draws them.

        Each of them takes one word or more of random bytes, so that as many words as are waited for are read at once:
        the same bytes in the same order, with a few calls in place of hundreds.
        """
        upper_bound = low
        while upper_bound <= high:
            bit_count = (upper_bound - 1).bit_length()
            if bit_count not in range(9, 17):  # two bytes are the common case, and the only one worth its lines
                yield self.integer(upper_bound)
                upper_bound += 1
                continue
            word_count = min(high, 1 << bit_count) - upper_bound + 1  # up to there the words have as many bits
            bit_mask = (1 << bit_count) - 1
            for word in struct.unpack(f">{word_count}H", self.octets(2 * word_count)):
                if word & bit_mask < upper_bound:
                    yield word & bit_mask
                    upper_bound += 1

    def octets(self, size: int) -> bytes:
        """So many random bytes."""
        octets = self._read(size)
        if len(octets) < size:
            raise EOFError("more random bytes are needed")
        self.read += size
        return octets


def ahead() -> Callable[[int], bytes]:
    """The operating system's random bytes for one draw, read ahead: a call costs more than the bytes.

    What is left over is forgotten, so that no two draws, threads or processes share any.
    """
    buffer, place = b"", 0

    def next_bytes(size: int) -> bytes:
        nonlocal buffer, place
        if place + size > len(buffer):
            buffer, place = secrets.token_bytes(max(size, 64)), 0
        place += size
        return buffer[place - size : place]

    return next_bytes


def draw(design: str | Node, truth: object, *, part: object = None, read: Callable[[int], bytes] | None = None) -> str:
    """The answer of one respondent, or of one device, as text.

    Parameters
    ----------
    design : str or object
        A design's JSON (``design.to_json()``), or what it holds.
    truth : label
        The true category; of two questions a pair; of a design of numbers the number, best as a decimal text. It does
        not leave this function.
    part : label, optional
        The level that was chosen, or drawn by lot for a hierarchy; or the sample that the respondent is in.
    read : callable
        Takes a number and gives that many random bytes; by default those of the operating system.

    Raises
    ------
    ValueError
        JSON that is no design of version 1, or a truth or part that it does not know; a design that remembers, whose
        memo must be kept: `naysay.telemetry.ledger.Ledger` does.

    Examples
    --------
    >>> from naysay import designs
    >>> text = designs.warner(p=0.75).to_json()
    >>> draw(text, "yes", read=lambda size: bytes(size))
    'yes'
    >>> draw(text, "yes", read=lambda size: bytes([3] * size))
    'no'
    """
    node, source = channel(design, part), Bytes(read or ahead())
    if holds(node, "remembered"):
        raise ValueError(
            "a design that remembers draws its memo once, and keeps it for all waves: answer with "
            "naysay.telemetry.ledger.Ledger; with a new memo for each report, enough reports show the truth"
        )
    return response_text(node, draw_response(node, position(node, truth, source), source))


def channel(design: str | Node, part: object = None) -> Node:
    """The node that draws: the design itself, or that of the chosen level or sample."""
    try:
        document = json.loads(design) if isinstance(design, str) else design
    except (ValueError, RecursionError):
        document = None
    header = document if isinstance(document, Mapping) else {}
    inner_node: Any = header.get("design")
    known_kind = isinstance(inner_node, Mapping) and inner_node.get("kind") in (
        *RULES,
        *(several_kind for several_kind, *_ in SEVERAL),
    )
    if (
        header.get("naysay") != "design"
        or header.get("version") != 1
        or header.get("version") is True
        or not known_kind
    ):
        raise ValueError(f"this is no design of version 1; make one with design.to_json() (got {str(design)[:60]!r})")
    design_node: Node = inner_node
    for several_kind, parts_field, name_field in SEVERAL:
        if design_node["kind"] == several_kind:
            node_of_part = {part_node[name_field]: part_node["design"] for part_node in design_node[parts_field]}
            if part not in node_of_part:
                raise ValueError(f"{part!r} is no {name_field}; there are {', '.join(map(repr, node_of_part))}")
            design_node = node_of_part[part]
    return design_node


def holds(node: object, kind: str) -> bool:
    """Whether a design, or one that it is made of, is of this kind."""
    if not isinstance(node, Mapping):
        return False
    parts = [node.get(name) for name in ("first", "second", "design")] + list(node.get("components", ()))
    return node.get("kind") == kind or any(holds(inner_node, kind) for inner_node in parts)


def categories(design: Node) -> Sequence[Any]:
    """The categories of a design, in order."""
    kind = design["kind"]
    if kind == "mixture":
        return categories(design["components"][0])
    if kind in ("then", "both", "remembered"):
        return categories(design["first"])
    return domain(design)


def position(design: Node, truth: Any, source: Bytes) -> int:
    """The number of a true category; of a number, by lot, one of the two points of the grid beside it."""
    if design["kind"] == "window":
        return grid_point(design, truth, source)
    if design["kind"] == "product":
        first_truth, second_truth = truth
        category_place = position(design["first"], first_truth, source) * size(design["second"])
        return category_place + position(design["second"], second_truth, source)
    if design["kind"] == "remembered":
        return position(design["first"], truth, source)
    if design["kind"] == "prefixes":
        return int(bits(design, truth), 2)
    if design.get("named"):
        return int.from_bytes(hashlib.sha256(unicodedata.normalize("NFC", truth).encode()).digest()[:6], "big")
    labels = categories(design)
    try:
        category_place = labels.index(truth)
    except ValueError:
        category_place = -1
    if category_place < 0 or isinstance(truth, bool) != isinstance(labels[category_place], bool):  # True is no 1
        raise ValueError(f"{truth!r} is no category; there are {', '.join(map(repr, labels[:12]))}")
    return category_place


def grid_point(design: Node, truth: object, source: Bytes) -> int:
    """The first half of the rule "window"."""
    low_units: int = design["low"]
    high_units: int = design["high"]
    try:
        truth_units = Decimal(str(truth)).scaleb(design["decimals"])
    except InvalidOperation:
        raise ValueError(f"{truth!r} is no number; write it with digits, such as '12.5'") from None
    if (
        not truth_units.is_finite()
        or not low_units <= (z := int(truth_units.to_integral_value(ROUND_HALF_UP))) <= high_units
    ):
        if not (design["clip"] and truth_units.is_finite()):
            raise ValueError(f"{truth!r} does not lie between the bounds of the design")
        z = low_units if truth_units < low_units else high_units
    i, r = divmod((z - low_units) * int(design["steps"]), high_units - low_units)
    return i + (source.integer(high_units - low_units) < r)


def bits(design: Node, truth: Any) -> str:
    """The bits of a value of which devices report the beginning."""
    bit_count: int = design["prefixes"][-1]
    if not design["length"]:
        symbol_places, symbol_bits, length_limit = [int(truth)], bit_count, 1
    else:
        truth_text, alphabet = unicodedata.normalize("NFC", truth), design["alphabet"]
        symbol_places = (
            [alphabet.find(character) + 1 for character in truth_text] if alphabet else list(truth_text.encode())
        )
        symbol_bits, length_limit = len(alphabet).bit_length() if alphabet else 8, design["length"]
    if len(symbol_places) > length_limit or not all(
        (design["length"] > 0) <= symbol_place < 2**symbol_bits for symbol_place in symbol_places
    ):
        raise ValueError(f"{truth!r} is no value of this design")
    return "".join(f"{symbol_place:0{symbol_bits}b}" for symbol_place in symbol_places).ljust(bit_count, "0")


def size(design: Node) -> int:
    """How many categories there are."""
    if design["kind"] == "window":
        return int(design["steps"]) + 1
    return size(design["first"]) * size(design["second"]) if design["kind"] == "product" else len(categories(design))


def draw_response(design: Node, truth: int, source: Bytes) -> Any:
    """The response: a position in a table, a list of positions in a set, a pair of responses."""
    return RULES[design["kind"]](design, truth, source)


def running_sum(weights: Sequence[int], u: int) -> int:
    """The first place at which the weights add up to more than u."""
    weight_sum = 0
    for place, weight in enumerate(weights):
        weight_sum += weight
        if weight_sum > u:
            return place
    raise ValueError("the weights do not add up")


def table(design: Node, truth: int, source: Bytes) -> int:
    """The rule of this name."""
    return running_sum(design["columns"][truth], source.integer(design["denominator"]))


def pattern(design: Node, truth: int, source: Bytes) -> int:
    """The rule of this name."""
    own_weight: int = design["own"]
    other_weight: int = design["other"]
    u = source.integer(own_weight + (len(design["categories"]) - 1) * other_weight)
    if u < truth * other_weight:
        return u // other_weight
    return truth if u < truth * other_weight + own_weight else (u - own_weight) // other_weight + 1


def table_of_pattern(design: Node) -> dict[str, Any]:
    """The table with the weights of a pattern: it draws the same answers from the same bytes."""
    labels, own_weight, other_weight = design["categories"], design["own"], design["other"]
    places = range(len(labels))
    columns = [
        [own_weight if row_place == column_place else other_weight for row_place in places] for column_place in places
    ]
    denominator = own_weight + (len(labels) - 1) * other_weight
    return {"kind": "table", "categories": labels, "responses": labels, "denominator": denominator, "columns": columns}


def subset(design: Node, truth: int, source: Bytes) -> list[int]:
    """The rule of this name."""
    t, still_needed = len(design["categories"]), design["discards"]
    candidate_order = [(truth + step) % t for step in range(1, t)] if design["truthful"] else list(range(t))
    chosen_places = []
    for visited_count, candidate_place in enumerate(candidate_order):
        if source.integer(len(candidate_order) - visited_count) < still_needed:
            chosen_places.append(candidate_place)
            still_needed -= 1
    return sorted(chosen_places)


def e(count: int, weights: Sequence[int]) -> int:
    """Sum over the subsets of that size of the products of their weights."""
    if count < 0:
        return 0
    sums = [1] + [0] * count
    for weight in weights:
        for k in range(count, 0, -1):
            sums[k] += weight * sums[k - 1]
    return sums[count]


def weighted_subset(design: Node, truth: int, source: Bytes) -> list[int]:
    """The rule of this name."""
    category_weights, still_needed = design["weights"], design["discards"]
    candidate_order = [candidate_place for candidate_place in range(len(category_weights)) if candidate_place != truth]
    chosen_places = []
    for visited_count, candidate_place in enumerate(candidate_order):
        later_weights = [category_weights[later_place] for later_place in candidate_order[visited_count + 1 :]]
        u = source.integer(e(still_needed, [category_weights[candidate_place], *later_weights]))
        if u < category_weights[candidate_place] * e(still_needed - 1, later_weights):
            chosen_places.append(candidate_place)
            still_needed -= 1
    return chosen_places


def subset_selection(design: Node, truth: int, source: Bytes) -> list[int]:
    """The rule of this name."""
    t, k, a, b = len(domain(design)), design["size"], design["inside"], design["outside"]
    u = source.integer(a * k + b * (t - k))
    set_members = [c if c < truth else c + 1 for c in candidates(t - 1, k, source)]
    d = source.integer(k)
    if u < a * k:
        set_members[d] = truth
    set_members.sort()
    return set_members


def candidates(t: int, k: int, source: Bytes) -> list[int]:
    """A set of k of t categories, in the order in which they were drawn (Floyd)."""
    members: dict[int, None] = {}
    for j, v in enumerate(source.integers(t - k + 1, t), t - k):
        members[j if v in members else v] = None
    return list(members)


def affine(design: Node, truth: int, source: Bytes) -> int:
    """The rule of this name."""
    s = source.integer(hashes(design))
    return affine_response(design, s, hash_value(design, s, truth), source)


def hashes(design: Node) -> int:
    """How many hashes an affine design has: (g^m - 1)/(g - 1)."""
    prime_base: int = design["base"]
    vector_count, domain_size = prime_base, 2**48 if design["named"] else len(domain(design))
    while vector_count < domain_size:
        vector_count *= prime_base
    return (vector_count - 1) // (prime_base - 1)


def hash_value(design: Node, s: int, truth: int) -> int:
    """The value h of hash number s."""
    g: int = design["base"]
    fewer_digit_hashes, leading_power = 0, 1  # the hashes of fewer digits, and the leading power
    while fewer_digit_hashes + leading_power <= s:
        fewer_digit_hashes += leading_power
        leading_power *= g
    alpha_left, digit_sum = leading_power + s - fewer_digit_hashes, 0
    while alpha_left:
        alpha_left, alpha_digit = divmod(alpha_left, g)
        truth, truth_digit = divmod(truth, g)
        digit_sum += alpha_digit * truth_digit
    return digit_sum % g


def affine_response(design: Node, s: int, h: int, source: Bytes) -> int:
    """The response of hash number s, with its true value h."""
    g: int = design["base"]
    a: int = design["inside"]
    b: int = design["outside"]
    u = source.integer(a + (g - 1) * b)
    o = (u - a) // b
    return s * g + (h if u < a else o if o < h else o + 1)


def grouped(design: Node, truth: int, source: Bytes) -> Any:
    """The rule of this name."""
    return draw_response(design["design"], truth // int(design["width"]), source)


def window(design: Node, truth: int, source: Bytes) -> int:
    """The second half of the rule of this name."""
    w: int = design["width"]
    a: int = design["inside"]
    b: int = design["outside"]
    u = source.integer(a * w + b * design["steps"])
    o = (u - a * w) // b
    return truth + u // a if u < a * w else o if o < truth else o + w


def prefixes(design: Node, truth: int, source: Bytes) -> list[int]:
    """The rule of this name."""
    i = source.integer(len(design["prefixes"]))
    beginning = f"{truth:0{design['prefixes'][-1]}b}"[: design["prefixes"][i]]
    return [i + 1, affine(design["design"], position(design["design"], beginning, source), source)]


def unary(design: Node, truth: int, source: Bytes) -> list[int]:
    """The rule of this name."""
    random_words = [source.integer(2**32) for _ in domain(design)]
    return [place for place, u in enumerate(random_words) if u < design["own" if place == truth else "other"]]


def domain(design: Node) -> Sequence[Any]:
    """The categories that a node lists, or the numbers of a domain that it only counts."""
    category_list = design["categories"]
    return range(category_list["size"]) if isinstance(category_list, dict) else category_list


def mixture(design: Node, truth: int, source: Bytes) -> Any:
    """The rule of this name."""
    lot = running_sum(design["weights"], source.integer(sum(design["weights"])))
    return draw_response(design["components"][lot], truth, source)


def then(design: Node, truth: int, source: Bytes) -> Any:
    """The rule of this name."""
    return draw_response(design["second"], draw_response(design["first"], truth, source), source)


def remembered(design: Node, truth: int, source: Bytes) -> Any:
    """The rule of this name."""
    return redraw_response(design, draw_response(design["first"], truth, source), source)


def redraw_response(design: Node, memo: Any, source: Bytes) -> Any:
    """The second half of the rule "remembered": one more report of the same memo."""
    memo_design, keep_weight, whole_weight = design["first"], design["second"]["keep"], design["second"]["whole"]
    if memo_design["kind"] == "unary":
        bit_draws = [(source.integer(whole_weight), source.integer(2)) for _ in domain(memo_design)]
        return [
            category_place
            for category_place, (u, v) in enumerate(bit_draws)
            if (category_place in memo if u < keep_weight else v == 1)
        ]
    is_kept = source.integer(whole_weight) < keep_weight
    if memo_design["kind"] == "subset_selection":
        fresh_set = candidates(len(domain(memo_design)), memo_design["size"], source)
        return memo if is_kept else sorted(fresh_set)
    g: int = memo_design.get("base") or len(categories(memo_design))
    v = source.integer(g)
    return memo if is_kept else memo // g * g + v  # a label is below g


def product(design: Node, truth: int, source: Bytes) -> list[Any]:
    """The rule of this name."""
    first, second = divmod(truth, size(design["second"]))
    return [draw_response(design["first"], first, source), draw_response(design["second"], second, source)]


def both(design: Node, truth: int, source: Bytes) -> list[Any]:
    """The rule of this name."""
    return [draw_response(design["first"], truth, source), draw_response(design["second"], truth, source)]


RULES: dict[str, Callable[[Node, int, Bytes], Any]] = {
    "table": table,
    "two_option": table,
    "pattern": pattern,
    "subset": subset,
    "weighted_subset": weighted_subset,
    "mixture": mixture,
    "then": then,
    "product": product,
    "both": both,
    "subset_selection": subset_selection,
    "affine": affine,
    "prefixes": prefixes,
    "unary": unary,
    "grouped": grouped,
    "window": window,
    "remembered": remembered,
}


def response_text(design: Node, response: Any) -> str:
    """The response as text."""
    kind = design["kind"]
    if kind == "mixture":
        return response_text(design["components"][0], response)
    if kind == "then":
        return response_text(design["second"], response)
    if kind == "remembered":
        return response_text(design["first"], response)
    if kind == "grouped":
        return response_text(design["design"], response)
    if kind in ("product", "both"):
        return f"{response_text(design['first'], response[0])} × {response_text(design['second'], response[1])}"
    if kind in ("affine", "window"):
        return str(response)
    if kind == "prefixes":
        return f"{response[0]};{response[1]}"
    if kind in ("table", "two_option"):
        return str(design["responses"][response])
    if kind == "pattern":
        return str(design["categories"][response])
    category_list = design["categories"]
    response_labels = (
        response if isinstance(category_list, dict) else [category_list[category_place] for category_place in response]
    )  # numbers name themselves
    return ";".join(map(str, response_labels)) or ";"
