"""Write memory_vectors.json: what remembering designs draw from given bytes, as drawing_vectors.json has it for others.

Run after a change of format only:  python tests/reference/make_memory_vectors.py
"""

import json
import random
import runpy
from pathlib import Path

from naysay import designs
from naysay.design import Redraw

HERE = Path(__file__).parent
ABCDE = tuple("abcde")


def offers():
    """The designs, and how many truths each is tried with."""
    for family in ("k_ary", "affine", "subset_selection", "unary"):
        yield designs.remembered(ABCDE, epsilon=1, lifetime=3, design=family), 3
    yield designs.remembered(300, epsilon=1, lifetime=2), 3
    yield designs.warner(p=0.8).then(Redraw(1, 3)), 2


def main():
    chance = random.Random(1965)
    vectors = runpy.run_path(str(HERE / "make_drawing_vectors.py"))["vectors"]
    cases = [
        {"json": json.loads(design.to_json()), "vectors": list(vectors(design, truths, chance))}
        for design, truths in offers()
    ]
    return {"about": (__doc__ or "").strip(), "designs": cases}


if __name__ == "__main__":
    text = json.dumps(main(), ensure_ascii=False, indent=1) + "\n"
    (HERE / "memory_vectors.json").write_text(text, encoding="utf-8")
