"""The cost of many categories: k-ary response, from the design to the estimate.

    python benchmarks/categories.py [--n 100000] [--out benchmarks/categories.md]

With more than 256 categories the design is stored as one pattern: two integers and the labels. With at most 256 it is a
table of one integer for each pair of response and category.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

import numpy as np
from speed import timed

from naysay import Design, designs, estimate

SIZES = (16, 128, 256, 512, 1_024, 10_000)


def row(t: int, n: int) -> str:
    """One line of the table: seconds of each step, and the size of the design's JSON."""
    rng = np.random.default_rng(1)
    labels = np.array([f"category {place}" for place in range(t)])
    design, making = timed(lambda: designs.k_ary(labels.tolist(), epsilon=6), repeats=1)
    text, writing = timed(design.to_json, repeats=1)
    _, reading = timed(lambda: Design.from_json(text) == design, repeats=1)
    truth = labels[rng.integers(0, t, n)]
    said, drawing = timed(lambda: design.randomize(truth, rng=rng), repeats=1)
    tally, counting = timed(lambda: design.tally(said), repeats=1)
    _, averaging = timed(lambda: estimate.moments(design, tally).interval(), repeats=1)
    _, solving = timed(lambda: estimate.maximum_likelihood(design, tally).interval(), repeats=1)
    steps = (making, writing, reading, drawing, counting, averaging, solving)
    return f"| {t:,} | {' | '.join(f'{seconds:.2f}' for seconds in steps)} | {len(text) / 1e6:.2f} |"


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    head = (
        "| categories | make | write JSON | read and compare | randomize | tally | moments | maximum likelihood | MB |"
    )
    lines = [f"k_ary(epsilon=6), {options.n:,} answers; seconds, and the size of the JSON.", "", head]
    lines += ["|--:|--:|--:|--:|--:|--:|--:|--:|--:|", *(row(t, options.n) for t in SIZES), ""]
    lines += ["Estimates are timed with their intervals. As a table, 1,024 categories took 0.45 s to make and 16 MB of"]
    lines += ["JSON, and their estimates, without intervals, 8.7 and 23.2 s.", ""]
    lines.append(f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}.")
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
