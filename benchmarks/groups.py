"""A thousand groups of a million answers: tally, estimate, intervals, and the same for one group.

    python benchmarks/groups.py [--n 1000000] [--groups 1000] [--out benchmarks/groups.md]

Ratios are to the time of counting the columns in polars, which every tool must do. RRreg's RRuni was measured
elsewhere, at 2.9 seconds for a single estimate from 10⁶ answers; it has no groups.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import designs, estimate
from naysay.design import Answerable, Samples


def surveys() -> dict[str, tuple[Answerable, list[float]]]:
    """Designs, and the share of people in each category or cell."""
    return {
        "Warner p = .7": (designs.warner(p=0.7), [0.15, 0.85]),
        "Kuk, five draws": (designs.kuk(p=(0.8, 0.2), draws=5), [0.15, 0.85]),
        "cheating detection": (designs.cheating_detection(p=(0.25, 0.75)), [0.15, 0.75, 0.1]),
    }


def answered(design: Answerable, shares: list[float], n: int, groups: int, rng: np.random.Generator) -> pl.DataFrame:
    """A file of answers."""
    kinds = np.array(design.cells if isinstance(design, Samples) else design.categories, dtype=object)
    said: Any = design.randomize(kinds[rng.choice(len(shares), n, p=shares)], rng=rng)  # type: ignore[attr-defined]
    columns: dict[str, Any] = {"answer": said.texts(), "group": rng.integers(groups, size=n)}
    if isinstance(design, Samples):
        columns["sample"] = np.asarray(said.level).astype(np.int64)
    return pl.DataFrame(columns)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the wall time."""
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def measured(design: Answerable, frame: pl.DataFrame) -> tuple[float, list[float], float]:
    """Seconds for counting alone; for tally, estimates and intervals by group; and for all of these for one group."""
    sample = "sample" if isinstance(design, Samples) else None
    _, counting = timed(lambda: frame.group_by(frame.columns).len())
    tallies, first = timed(lambda: design.tally(frame, "answer", by="group", sample=sample))
    fits, second = timed(lambda: [estimate.maximum_likelihood(design, tally) for tally in tallies.values()])
    _, third = timed(lambda: [fit.interval() for fit in fits])
    whole = lambda: estimate.maximum_likelihood(design, design.tally(frame, "answer", sample=sample)).interval()  # noqa: E731
    return counting, [first, second, third], timed(whole)[1]


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rng = np.random.default_rng(1965)
    lines = [
        f"{options.n:,} answers in {options.groups:,} groups; seconds (ratio to counting the columns in polars).",
        "",
        "| design | counting | tally | estimates | intervals | one group, all of it |",
        "|---|---|---|---|---|---|",
    ]
    for name, (design, shares) in surveys().items():
        counting, steps, one = measured(design, answered(design, shares, options.n, options.groups, rng))
        cells = [f"{seconds:.2f} ({seconds / counting:.0f})" for seconds in (*steps, one)]
        lines.append(f"| {name} | {counting:.3f} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"polars {pl.__version__}.",
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
