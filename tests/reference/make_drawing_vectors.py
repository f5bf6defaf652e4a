"""Write drawing_vectors.json: for every kind of design, random bytes and the answer that they must give.

A client in any language replays them: read the design, draw for the truth from the bytes, compare the answer's text and
how many bytes were read. The bytes come from Python's `random` with a fixed seed; a few begin with 0xff, which most
rules must reject. Run after a change of format only:  python tests/reference/make_drawing_vectors.py
"""

import json
import random
from pathlib import Path

from naysay import designs
from naysay.design import ByteSource, Pattern

HERE = Path(__file__).parent
ABC, ABCDE = tuple("abc"), tuple("abcde")
SEVENTY = tuple(f"c{number:02}" for number in range(1, 71))


def offers():
    """The designs, and how many truths each is tried with, or which."""
    sets = designs.negative(ABCDE, discards=2)
    yield designs.warner(p=0.7), 2
    yield designs.negative(("unter 30", "30–60", "über 60", "نعم")), 4
    yield designs.k_ary(ABC, epsilon=1), 3
    yield designs.gaussian_negative(ABCDE, sigma=1.5), 3
    yield designs.custom([[0.5, 0.2], [0.3, 0.2], [0.2, 0.6]], categories=(1, 2), responses=("x", "y", "z")), 2
    yield designs.two_option(ABCDE, shown=3), 2
    yield designs.negative_sink(ABCDE, sinks="a"), 2
    yield sets, 5
    yield designs.uniform(ABCDE, discards=2), 2
    yield designs.negative(range(60), discards=30), 4
    yield designs.negative(SEVENTY, discards=20), 5
    yield designs.negative(ABCDE, discards=3, weights=(4, 1, 1, 7, 2)), 5
    yield designs.negative(SEVENTY, discards=4, weights=[1 + place % 5 for place in range(70)]), 3
    yield designs.mix((3, sets), (1, designs.uniform(ABCDE, discards=2))), 3
    yield designs.mix((0.25, designs.negative(ABC)), (0.25, designs.uniform(ABC)), (0.5, designs.direct(ABC))), 3
    yield designs.k_ary(ABCDE, epsilon=2).then(sets), 3
    yield designs.warner(p="2/3") * sets, 4
    yield designs.negative_levels(ABCDE), 2
    yield designs.levels({"masked": designs.warner(p=0.7), "open": designs.direct(("yes", "no"))}), 2
    yield designs.kuk(p=(0.6, 0.3), draws=3), 2
    yield designs.crosswise(prevalence=0.25, between=(0.2, 0.3)), 2
    yield designs.stochastic_lie_detector(p=("2/12", "10/12")), 3
    yield designs.anchored_crosswise(prevalence=0.15, anchor=0.25), 3
    yield designs.k_ary([f"c{number:03}" for number in range(1, 258)], epsilon=6), 6
    yield Pattern.of(ABCDE, own=7, other=3, name="pattern"), 12
    yield Pattern.of(ABCDE, own=0, other=2**50, name="negative pattern"), 12
    yield designs.negative_levels(ABCDE, sinks={"a": "none"}), 6
    yield designs.subset_selection(ABCDE, epsilon=1), 5
    yield designs.subset_selection(SEVENTY, epsilon=2, size=12), 4
    yield designs.affine(ABCDE, epsilon=1), 5
    yield designs.affine(300, epsilon=2), 5
    yield designs.affine(("example.org", "münchen.de", "نعم"), epsilon=1, names=True), 3
    yield designs.hadamard(ABCDE, epsilon=0.5), 3
    yield designs.unary(ABCDE, epsilon=1), 5
    yield designs.unary(ABC, epsilon=6, p="symmetric"), 3
    yield designs.window(low=0, high=100, epsilon=1, steps=1, width=1, decimals=1), (0, "12.345", 99.995, 100)
    yield (
        designs.number(low=-273.15, high="1e3", epsilon=2, aim="distribution", decimals=3, clip=True),
        (-300, "0.0005", 7, 2e3),
    )
    yield designs.window(low=-1, high=1, epsilon=4, steps=1000, width=135), ("-0.5", "-0.0000004", 0.25, 1)
    yield designs.hierarchy(200, epsilon=1, fanout=5), 3


def offers_since():
    """Designs that came later: they follow all others, whose bytes and answers so stay as they are."""
    yield designs.number(low=0, high=100, epsilon=1), (0, "12.345", 99.995, 100)


def beginnings():
    """Designs whose devices report the beginning of a value, and the values."""
    yield designs.heavy_hitters(length=4, alphabet="abcdefghijklmnopqrstuvwxyz", epsilon=4), ("cat", "a", "zzzz")
    yield designs.heavy_hitters(length=6, epsilon=2), ("né", "ne\u0301", "😀", "aaaaaa")
    yield designs.heavy_hitters(length=3, alphabet="äb😀", epsilon=1), ("ä😀b", "b")
    yield designs.heavy_hitters(bits=64, epsilon=1), (0, 2**53 - 1)


def begun(design, value, octets):
    """A vector of such a design, whose devices draw their group themselves."""
    source = Reader(octets)
    said = design.randomize([value], rng=ByteSource(source))
    answer = f"{said.level[0]};{said.texts()[0]}"
    return {"truth": value, "bytes": octets[: source.read + 8].hex(), "answer": answer, "read": source.read}


class Reader:
    """Bytes in order, and how many were read."""

    def __init__(self, octets):
        self.octets, self.read = octets, 0

    def __call__(self, n):
        self.read += n
        return self.octets[self.read - n : self.read]


def vectors(design, truths, chance):
    """Draws with plain random bytes, and with bytes of which the first are rejected where rejection happens."""
    for level in design.levels:
        categories = design.channel(level).categories
        if isinstance(truths, int):
            places = [0, *(chance.randrange(len(categories)) for _ in range(truths - 1))]
            chosen = [categories[place] for place in places]
        else:
            chosen = truths
        for truth in chosen:
            for opening in (b"", b"\xff" * 9):
                octets = opening + chance.randbytes(1_000)
                yield vector(design, truth, level, octets)


def vector(design, truth, level, octets):
    source = Reader(octets)
    asked = ([truth[0]], [truth[1]]) if isinstance(truth, tuple) else [truth]
    said = design.channel(level).randomize(asked, rng=ByteSource(source))
    entry = {"truth": list(truth) if isinstance(truth, tuple) else truth}
    entry |= {} if level is None else {"level": level}
    return entry | {"bytes": octets[: source.read + 8].hex(), "answer": said.texts()[0], "read": source.read}


def main():
    chance = random.Random(1965)

    def replayed(offered):
        return [
            {"json": json.loads(design.to_json()), "vectors": list(vectors(design, truths, chance))}
            for design, truths in offered
        ]

    cases = replayed(offers())
    prefixes = [
        {
            "json": json.loads(design.to_json()),
            "vectors": [begun(design, value, chance.randbytes(1_000)) for value in values for _ in range(3)],
        }
        for design, values in beginnings()
    ]
    return {"about": (__doc__ or "").strip(), "designs": cases + replayed(offers_since()), "prefixes": prefixes}


if __name__ == "__main__":
    text = json.dumps(main(), ensure_ascii=False, indent=1) + "\n"
    (HERE / "drawing_vectors.json").write_text(text, encoding="utf-8")
