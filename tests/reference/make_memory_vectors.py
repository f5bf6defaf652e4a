"""Write memory_vectors.json: what remembering designs draw from given bytes, as drawing_vectors.json has it for others.

Run after a change of format only:  python tests/reference/make_memory_vectors.py
"""

import json
import math
import random
import runpy
from pathlib import Path

from naysay import client, designs, ledger, prices
from naysay.design import Redraw

HERE = Path(__file__).parent
ABCDE = tuple("abcde")


def offers():
    """The designs, and how many truths each is tried with."""
    for family in ("k_ary", "affine", "subset_selection", "unary"):
        yield designs.remembered(ABCDE, epsilon=1, lifetime=3, design=family), 3
    yield designs.remembered(300, epsilon=1, lifetime=2), 3
    yield designs.warner(p=0.8).then(Redraw(1, 3)), 2


KEY = bytes(range(32))


TEXTS = ("abcd", "élan", "a", "zz")


def priced():
    """Designs whose cost and kept answers are recorded: each with its part, and truths where it lists no categories."""
    yield from ((design, None, None) for design in listed())
    yield designs.affine(("a", "b"), epsilon=1, names=True), None, TEXTS
    yield designs.heavy_hitters(epsilon=2, length=5), None, TEXTS
    yield designs.heavy_hitters(epsilon=1, length=6, alphabet="abcdefghijklmnopqrstuvwxyzé"), None, TEXTS
    yield designs.hierarchy(64, epsilon=1), 2, (0, 17, 63)


def listed():
    """Those that list their categories."""
    yield from (design for design, _ in offers())
    yield designs.negative(ABCDE, discards=2)
    yield designs.mix((3, designs.negative(ABCDE, discards=2)), (1, designs.uniform(ABCDE, discards=2)))
    yield designs.mix((1, designs.warner(p=0.8)), (2, designs.warner(p=0.6)))
    yield designs.affine(300, epsilon=1)
    yield designs.unary(ABCDE, epsilon=1)
    yield designs.warner(p=0.7) * designs.k_ary(("unter 30", "über 60"), epsilon=0.5)


def account(design, part, truths):
    """What a ledger with the key says of it: digest, price, kept answers by truth, ε of some numbers of answers."""
    node = client.channel(design.to_json(), part)
    rule = "memory" if design.kind == "remembered" else "kept"
    entry = prices.cost(node, rule) | {"rule": rule}
    first = node["first"] if rule == "memory" else node
    digest = ledger.digest(node)
    memos = []
    for truth in truths or design.categories[:4]:
        memo = ledger.kept_response(
            node,
            list(truth) if isinstance(truth, tuple) else truth,
            lambda label: ledger.stream(KEY, "q", digest, label),
        )
        memos.append([truth, client.response_text(first, memo)])
    costs = [[finite(each(entry, n)) for each in (prices.after, prices.most)] for n in (1, 2, 5, 100)]
    told = {"part": part, "rule": rule, "digest": digest, "values": entry["values"], "kept": memos}
    return told | {"costs": costs, "per_change": finite(prices.further(entry, 100))}


def finite(value):
    """The number, or None for infinity, as in JSON."""
    return None if math.isinf(value) else value


def main():
    chance = random.Random(1965)
    vectors = runpy.run_path(str(HERE / "make_drawing_vectors.py"))["vectors"]
    cases = [
        {"json": json.loads(design.to_json()), "vectors": list(vectors(design, truths, chance))}
        for design, truths in offers()
    ]
    accounts = [{"json": json.loads(design.to_json()), **account(design, *rest)} for design, *rest in priced()]
    return {"about": (__doc__ or "").strip(), "designs": cases, "key": KEY.hex(), "accounts": accounts}


if __name__ == "__main__":
    text = json.dumps(main(), ensure_ascii=False, indent=1) + "\n"
    (HERE / "memory_vectors.json").write_text(text, encoding="utf-8")
