"""What the answers of one device cost: ε of a design's JSON, and of several answers under a rule of asking again.

It belongs to `naysay.telemetry.ledger`, and needs the standard library and `naysay.telemetry.client` only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

try:
    from naysay.telemetry import client
except ImportError:  # on a device without naysay, beside client.py
    import client  # type: ignore[no-redef, import-not-found]

__all__ = ["after", "cost", "epsilon", "further", "most", "odds_of_memo"]

Node = Mapping[str, Any]


def cost(node: Node, rule: str) -> dict[str, Any]:
    """ε of one answer, how many values have draws of their own, and for a memory (ln p, ln q, ln ρ) of each piece.

    The number of values is None where different values can share a draw.
    """
    if rule != "memory":
        return {"epsilon": epsilon(node), "values": _values(node), "memo": None}
    memo_odds = odds_of_memo(pieces(node["first"]), node["second"]["keep"], node["second"]["whole"])
    memory_price = {"values": _values(node["first"]), "memo": memo_odds, "rule": "memory"}
    return {"epsilon": after(memory_price, 1), "values": memory_price["values"], "memo": memo_odds}


def odds_of_memo(parts: Iterable[tuple[Fraction, Fraction, int]], keep: int, whole: int) -> list[list[float]]:
    """[ln p, ln q, ln ρ] of each piece (p, q, n) of a memo whose noise keeps `keep` of `whole`."""
    return [[_ln(p), _ln(q), _ln(Fraction(keep * n + whole - keep, whole - keep))] for p, q, n in parts]


def _values(node: Node) -> int | None:
    """How many values have draws of their own; None for a hash with fewer values than there are categories."""
    if node["kind"] == "prefixes":
        return min(1 << int(node["prefixes"][-1]), 2**53)  # more than there are waves; every JSON holds it exactly
    if node["kind"] == "affine" and (node.get("named") or client.size(node) > node["base"]):
        return None
    return client.size(node)


def after(entry: Node, n: int) -> float:
    """ε of n answers about one value."""
    if not n:
        return 0.0
    if entry["rule"] != "memory":
        answer_epsilon = math.inf if entry["epsilon"] is None else entry["epsilon"]
        return float(answer_epsilon * (1 if entry["rule"] == "kept" else n))
    return math.fsum(_plus_one(_grown(p, n * rho)) - _plus_one(_grown(q, n * rho)) for p, q, rho in entry["memo"])


def _grown(log: float, power: float) -> float:
    """ln(p (ρ^w - 1)), for ln p and w ln ρ."""
    return log + power + math.log1p(-math.exp(-power)) if power else -math.inf


def _plus_one(*logs: float) -> float:
    """ln(1 + Σ x), for logarithms of x."""
    *other_logs, top = sorted((0.0, *logs))
    return top + math.log1p(math.fsum(math.exp(log - top) for log in other_logs))


def further(entry: Node, n: int) -> float:
    """What a change of the value adds at most to n answers."""
    if entry["rule"] == "fresh" or not n:
        return 0.0
    if entry["values"] is None:
        return math.inf if entry["rule"] == "kept" else most(entry, n) - after(entry, n)
    return _lifetime(entry)


def _lifetime(entry: Node) -> float:
    """ε of all answers about one value."""
    return after(entry, 1) if entry["rule"] == "kept" else math.fsum(p - q for p, q, _ in entry["memo"])


def most(entry: Node, n: int) -> float:
    """The most that n answers can tell about the values, besides showing that a value changed.

    Draws of different values are independent, so that ε adds over the values that were held. But where two values can
    share a hash, and with it a draw, answers also tell which ones do. Kept answers then prove it. For memos, the chance
    of report j + 1, given those before it, lies between two bounds: that of a memo which all j reports named, and that
    of one which none of them named. The logarithms of their ratios add, whatever the values are.
    """
    if entry["rule"] == "fresh" or n < 2:
        return after(entry, n)
    if entry["values"] is not None:
        separate_epsilon: float = min(n, entry["values"]) * _lifetime(entry)
        if entry["rule"] == "kept":
            return separate_epsilon
        return min(separate_epsilon, n * max(after(entry, k) / k for k in range(1, n + 1)))
    if entry["rule"] == "kept":
        return math.inf
    return math.fsum(
        _plus_one(_grown(p, (j + 1) * rho)) - _plus_one(_grown(p, j * rho), _grown(q, rho))
        for p, q, rho in entry["memo"]
        for j in range(n)
    )


def epsilon(node: Node) -> float:
    """ε of one answer; where there is no closed form, a bound."""
    kind = node["kind"]
    if kind in ("subset_selection", "affine", "window"):
        return _ln(Fraction(node["inside"], node["outside"]))
    if kind == "unary":
        (p, q, _), (r, s, _) = pieces(node)
        return _ln(p / q * r / s)
    if kind == "remembered":
        return float(cost(node, "memory")["epsilon"])
    if kind in ("grouped", "prefixes"):  # the group, or how much of the value is told, says nothing of it
        return epsilon(node["design"])
    if kind in ("product", "both"):
        return epsilon(node["first"]) + epsilon(node["second"])
    if kind in ("subset", "weighted_subset"):
        return math.inf if node.get("truthful", True) else 0.0
    if kind == "then":  # what is drawn from an answer tells no more than the answer
        return epsilon(node["first"])
    if kind == "mixture":
        return _mixture_epsilon(node["components"], node["weights"])
    if kind == "pattern":
        return _largest_ratio([[node["own"], node["other"]]])
    return _largest_ratio(zip(*node["columns"], strict=True))


def _largest_ratio(rows: Iterable[Sequence[Fraction | int]]) -> float:
    """The largest ln of the ratio of two chances in one row."""
    return max(
        _ln(Fraction(max(row)) / Fraction(min(row))) if min(row) > 0 else math.inf for row in rows if max(row) > 0
    )


def _mixture_epsilon(components: Sequence[Node], weights: Sequence[int]) -> float:
    """ε of a lottery: of the noisy negative survey and of tables exactly, otherwise that of its worst component."""
    if all(component["kind"] == "subset" for component in components):
        t, k = len(components[0]["categories"]), components[0]["discards"]
        noise_weight = sum(w for w, component in zip(weights, components, strict=True) if not component["truthful"])
        if not noise_weight:
            return math.inf
        noise_chance = Fraction(noise_weight, math.comb(t, k))
        return _ln((Fraction(sum(weights) - noise_weight, math.comb(t - 1, k)) + noise_chance) / noise_chance)
    components = [
        client.table_of_pattern(component) if component["kind"] == "pattern" else component for component in components
    ]
    if all("columns" in component for component in components):
        weighted_components = list(zip(weights, components, strict=True))
        response_count, t = len(components[0]["responses"]), len(components[0]["columns"])
        return _largest_ratio(
            [
                sum(
                    Fraction(w * component["columns"][j][y], component["denominator"])
                    for w, component in weighted_components
                )
                for j in range(t)
            ]
            for y in range(response_count)
        )
    return max(map(epsilon, components))


def pieces(node: Node) -> list[tuple[Fraction, Fraction, int]]:
    """(p, q, n) of each piece of a memo; see `naysay.design.algebra`."""
    kind = node["kind"]
    if kind == "unary":
        p, q = (Fraction(node[weight_name], 2**32) for weight_name in ("own", "other"))
        return [(p, q, 2), (1 - q, 1 - p, 2)]
    t = client.size(node) if not node.get("named") else 0
    if kind == "subset_selection":
        k, set_count = node["size"], math.comb(t, node["size"])
        denominator = node["inside"] * k + node["outside"] * (t - k)
        p, q = (Fraction(node[weight_name] * t, denominator * set_count) for weight_name in ("inside", "outside"))
        return [(p, q, set_count)]
    if kind == "affine":
        denominator = node["inside"] + (node["base"] - 1) * node["outside"]
        return [(Fraction(node["inside"], denominator), Fraction(node["outside"], denominator), node["base"])]
    if kind == "table":
        own_weight, other_weight = node["columns"][0][:2]
        return [(Fraction(own_weight, node["denominator"]), Fraction(other_weight, node["denominator"]), t)]
    denominator = node["own"] + (t - 1) * node["other"]
    return [(Fraction(node["own"], denominator), Fraction(node["other"], denominator), t)]


def _ln(ratio: Fraction) -> float:
    return math.log(ratio.numerator) - math.log(ratio.denominator)
