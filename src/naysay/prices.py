"""What the answers of one device cost: ε of a design's JSON, and of several answers under a rule of asking again.

It belongs to `naysay.ledger`, and needs the standard library and `naysay.client` only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

try:
    from naysay import client
except ImportError:  # on a device without naysay, beside client.py
    import client  # type: ignore[no-redef, import-not-found]

__all__ = ["after", "cost", "epsilon", "further", "most"]

Node = Mapping[str, Any]


def cost(node: Node, rule: str) -> dict[str, Any]:
    """ε of one answer, how many values can be kept apart, and for a memory (ln p, ln q, ln ρ) of each piece."""
    if rule != "memory":
        return {"epsilon": epsilon(node), "values": _values(node), "memo": None}
    keep, whole = node["second"]["keep"], node["second"]["whole"]
    memo = [[_ln(p), _ln(q), _ln(Fraction(keep * n + whole - keep, whole - keep))] for p, q, n in pieces(node["first"])]
    price = {"values": _values(node["first"]), "memo": memo, "rule": "memory"}
    return {"epsilon": after(price, 1), "values": price["values"], "memo": memo}


def _values(node: Node) -> int:
    if node["kind"] == "window":
        return int(node["steps"]) + 1
    return int(node["base"]) if node["kind"] == "affine" else client.size(node)


def after(entry: Mapping[str, Any], n: int) -> float:
    """ε of n answers about one value."""
    if not n:
        return 0.0
    if entry["rule"] != "memory":
        one = math.inf if entry["epsilon"] is None else entry["epsilon"]
        return float(one * (1 if entry["rule"] == "kept" else n))
    return math.fsum(_grown(p, n * rho) - _grown(q, n * rho) for p, q, rho in entry["memo"])


def _grown(log: float, power: float) -> float:
    """ln(1 + p (ρ^w - 1)), for ln p and w ln ρ."""
    more = log + power + math.log1p(-math.exp(-power))
    return more if more > 700 else math.log1p(math.exp(more))


def further(entry: Mapping[str, Any]) -> float:
    """What a change of the value adds at most."""
    if entry["rule"] == "memory":
        return math.fsum(p - q for p, q, _ in entry["memo"])
    return 0.0 if entry["rule"] == "fresh" else after(entry, 1)


def most(entry: Mapping[str, Any], n: int) -> float:
    """The most that n answers can tell about the values, besides showing that a value changed."""
    if entry["rule"] == "fresh" or not n:
        return after(entry, n)
    each: float = min(n, entry["values"]) * further(entry)
    if entry["rule"] == "kept":
        return each
    return min(each, n * max(after(entry, k) / k for k in range(1, n + 1)))


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
    if kind in ("product", "both"):
        return epsilon(node["first"]) + epsilon(node["second"])
    if kind in ("subset", "weighted_subset"):
        return math.inf if node.get("truthful", True) else 0.0
    if kind == "then":  # what is drawn from an answer tells no more than the answer
        return epsilon(node["first"])
    if kind == "mixture":
        return _mixed(node["components"], node["weights"])
    if kind == "pattern":
        return _largest([[node["own"], node["other"]]])
    return _largest(zip(*node["columns"], strict=True))


def _largest(rows: Iterable[Sequence[Any]]) -> float:
    """The largest ln of the ratio of two chances in one row."""
    told = [(Fraction(max(row)), Fraction(min(row))) for row in rows if max(row) > 0]
    return max(_ln(above / below) if below > 0 else math.inf for above, below in told)


def _mixed(components: Sequence[Node], weights: Sequence[int]) -> float:
    """ε of a lottery: of the noisy negative survey and of tables exactly, otherwise that of its worst component."""
    if all(each["kind"] == "subset" for each in components):
        t, k = len(components[0]["categories"]), components[0]["discards"]
        noise = sum(w for w, each in zip(weights, components, strict=True) if not each["truthful"])
        told = Fraction(sum(weights) - noise, math.comb(t - 1, k)) + Fraction(noise, math.comb(t, k))
        return _ln(told * math.comb(t, k) / noise) if noise else math.inf
    if all("columns" in each for each in components):
        parts = list(zip(weights, components, strict=True))
        size, t = len(components[0]["responses"]), len(components[0]["columns"])
        return _largest(
            [sum(Fraction(w * each["columns"][j][y], each["denominator"]) for w, each in parts) for j in range(t)]
            for y in range(size)
        )
    return max(map(epsilon, components))


def pieces(node: Node) -> list[tuple[Fraction, Fraction, int]]:
    """(p, q, n) of each piece of a memo; see `naysay.design.memory`."""
    kind = node["kind"]
    if kind == "unary":
        p, q = (Fraction(node[name], 2**32) for name in ("own", "other"))
        return [(p, q, 2), (1 - q, 1 - p, 2)]
    t = client.size(node) if not node.get("named") else 0
    if kind == "subset_selection":
        k, sets = node["size"], math.comb(t, node["size"])
        whole = node["inside"] * k + node["outside"] * (t - k)
        p, q = (Fraction(node[name] * t, whole * sets) for name in ("inside", "outside"))
        return [(p, q, sets)]
    if kind == "affine":
        whole = node["inside"] + (node["base"] - 1) * node["outside"]
        return [(Fraction(node["inside"], whole), Fraction(node["outside"], whole), node["base"])]
    if kind == "table":
        own, other = node["columns"][0][:2]
        return [(Fraction(own, node["denominator"]), Fraction(other, node["denominator"]), t)]
    whole = node["own"] + (t - 1) * node["other"]
    return [(Fraction(node["own"], whole), Fraction(node["other"], whole), t)]


def _ln(ratio: Fraction) -> float:
    return math.log(ratio.numerator) - math.log(ratio.denominator)
