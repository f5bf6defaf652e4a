"""A client that knows nothing of naysay: it reads a design's JSON and random bytes, and draws the answer.

Written from the words under "drawing" in the JSON alone, with the Python standard library only, as a client in another
language would be. `draw(text, truth, octets)` gives the answer as text and the number of bytes read.
"""

import hashlib
import json
import unicodedata


class Bytes:
    def __init__(self, octets):
        self.octets = octets
        self.read = 0

    def integer(self, below):
        """The rule "integer"."""
        if below == 1:
            return 0
        bits = (below - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            octets = self.octets[self.read : self.read + size]
            if len(octets) < size:
                raise EOFError("more random bytes are needed")
            self.read += size
            number = int.from_bytes(octets, "big") % 2**bits
            if number < below:
                return number


def draw(text, truth, octets):
    whole = json.loads(text)
    if whole["naysay"] != "design" or whole["version"] != 1:
        raise ValueError("this is not a design that this client can read")
    design, source = whole["design"], Bytes(octets)
    if design["kind"] == "levels":
        chosen, truth = truth
        design = next(level["design"] for level in design["levels"] if level["level"] == chosen)
    if design["kind"] == "samples":
        own, truth = truth if isinstance(truth, tuple) else (None, truth)
        design = next(sample["design"] for sample in design["samples"] if sample["sample"] == own)
    place = position(design, truth)
    return said(design, drawn(design, place, source)), source.read


def categories(design):
    """How many categories a design has, and where each stands."""
    kind = design["kind"]
    if kind == "mixture":
        return categories(design["components"][0])
    if kind in ("then", "both"):
        return categories(design["first"])
    return domain(design)


def position(design, truth):
    if design["kind"] == "product":
        first, second = truth
        return position(design["first"], first) * size(design["second"]) + position(design["second"], second)
    if design.get("named"):
        return int.from_bytes(hashlib.sha256(unicodedata.normalize("NFC", truth).encode()).digest()[:6], "big")
    return categories(design).index(truth)


def size(design):
    return size(design["first"]) * size(design["second"]) if design["kind"] == "product" else len(categories(design))


def drawn(design, truth, source):
    """The response: a position in a table, a list of positions in a set, a pair of responses."""
    return RULES[design["kind"]](design, truth, source)


def running_sum(weights, u):
    total = 0
    for place, weight in enumerate(weights):
        total += weight
        if total > u:
            return place
    raise ValueError("the weights do not add up")


def table(design, truth, source):
    return running_sum(design["columns"][truth], source.integer(design["denominator"]))


def pattern(design, truth, source):
    own, other = design["own"], design["other"]
    u = source.integer(own + (len(design["categories"]) - 1) * other)
    if u < truth * other:
        return u // other
    return truth if u < truth * other + own else (u - own) // other + 1


def subset(design, truth, source):
    t, needed = len(design["categories"]), design["discards"]
    order = [(truth + step) % t for step in range(1, t)] if design["truthful"] else list(range(t))
    chosen = []
    for visited, place in enumerate(order):
        if source.integer(len(order) - visited) < needed:
            chosen.append(place)
            needed -= 1
    return sorted(chosen)


def e(count, weights):
    """Sum over the subsets of that size of the products of their weights."""
    if count < 0:
        return 0
    sums = [1] + [0] * count
    for weight in weights:
        for k in range(count, 0, -1):
            sums[k] += weight * sums[k - 1]
    return sums[count]


def weighted_subset(design, truth, source):
    weights, needed = design["weights"], design["discards"]
    order = [place for place in range(len(weights)) if place != truth]
    chosen = []
    for visited, place in enumerate(order):
        rest = [weights[other] for other in order[visited + 1 :]]
        u = source.integer(e(needed, [weights[place], *rest]))
        if u < weights[place] * e(needed - 1, rest):
            chosen.append(place)
            needed -= 1
    return chosen


def subset_selection(design, truth, source):
    t, k, a, b = len(domain(design)), design["size"], design["inside"], design["outside"]
    u, candidates = source.integer(a * k + b * (t - k)), []
    for j in range(t - 1 - k, t - 1):
        v = source.integer(j + 1)
        candidates.append(j if v in candidates else v)
    names = [c if c < truth else c + 1 for c in candidates]
    d = source.integer(k)
    if u < a * k:
        names[d] = truth
    return sorted(names)


def affine(design, truth, source):
    g, a, b, m = design["base"], design["inside"], design["outside"], 1
    while g**m < (2**48 if design["named"] else len(domain(design))):
        m += 1
    s, u = source.integer((g**m - 1) // (g - 1)), source.integer(a + (g - 1) * b)
    lead = max(L for L in range(m) if (g**L - 1) // (g - 1) <= s)
    alpha = g**lead + s - (g**lead - 1) // (g - 1)
    h = sum((alpha // g**i) * (truth // g**i % g) for i in range(m)) % g
    o = (u - a) // b
    return s * g + (h if u < a else o if o < h else o + 1)


def unary(design, truth, source):
    drawn = [source.integer(2**32) for _ in domain(design)]
    return [place for place, u in enumerate(drawn) if u < design["own" if place == truth else "other"]]


def domain(design):
    listed = design["categories"]
    return list(range(listed["size"])) if isinstance(listed, dict) else listed


def mixture(design, truth, source):
    lot = running_sum(design["weights"], source.integer(sum(design["weights"])))
    return drawn(design["components"][lot], truth, source)


def then(design, truth, source):
    return drawn(design["second"], drawn(design["first"], truth, source), source)


def product(design, truth, source):
    first, second = divmod(truth, size(design["second"]))
    return [drawn(design["first"], first, source), drawn(design["second"], second, source)]


def both(design, truth, source):
    return [drawn(design["first"], truth, source), drawn(design["second"], truth, source)]


RULES = {
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
    "unary": unary,
}


def said(design, response):
    """The response as text."""
    kind = design["kind"]
    if kind == "mixture":
        return said(design["components"][0], response)
    if kind == "then":
        return said(design["second"], response)
    if kind in ("product", "both"):
        return f"{said(design['first'], response[0])} × {said(design['second'], response[1])}"
    if kind == "affine":
        return str(response)
    if kind in ("table", "two_option"):
        return str(design["responses"][response])
    if kind == "pattern":
        return str(design["categories"][response])
    return ";".join(str(domain(design)[place]) for place in response) or ";"
