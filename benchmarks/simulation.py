"""How long replicated surveys take: five published questions, a hundred replicates, four estimators.

    python benchmarks/simulation.py [--replicates 100] [--workers 2] [--out benchmarks/simulation.md]

Each of 10,108 people chooses how many categories to rule out. Stratified, variance-weighted and pooled estimates from
the same answers are compared with those of a survey in which everybody rules out one category.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

from naysay import designs, planning, simulate
from naysay.data import gvu_counts

LEVELS = ("stratified", "stratified_variance", "pooled")


def question(name: str, counts: dict[str, int], replicates: int, workers: int) -> tuple[str, float]:
    """One line of the table, and the seconds."""
    people, n = simulate.counts(counts), sum(counts.values())
    choice, one = designs.negative_levels(tuple(counts)), designs.negative(tuple(counts))
    fixed = {"n": n, "replicates": replicates, "target": "file", "seed": 2016, "workers": workers}
    begun = time.perf_counter()
    chosen = simulate.replicate(choice, people, estimators=LEVELS, **fixed)
    single = simulate.replicate(one, people, estimators=["moments"], **fixed).summary().standard_deviation
    seconds = time.perf_counter() - begun
    base = planning.variance(one, people.proportions, estimator="moments", target="file")
    ratios = []
    for summary in chosen.summaries:
        planned = planning.variance(choice, people.proportions, estimator=summary.estimator, target="file")
        found = np.mean(summary.standard_deviation.values / single.values)
        ratios.append(f"{found:.3f} ({np.mean(np.sqrt(planned.each / base.each)):.3f})")
    return f"| {name.replace('_', ' ')} | {len(counts)} | {' | '.join(ratios)} | {seconds:.1f} |", seconds


def main() -> int:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows, total = [], 0.0
    for name, counts in gvu_counts().items():
        row, seconds = question(name, counts, options.replicates, options.workers)
        rows.append(row)
        total += seconds
        sys.stderr.write(row + "\n")
    lines = [
        "Standard deviations over those of one discard, simulated (and planned), averaged over the categories; the "
        "same people in every survey.",
        "",
        "| question | categories | stratified | variance weights | pooled | seconds |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        f"{options.replicates:,} replicates of {len(rows)} questions and four estimators in {total:.1f} s, on "
        f"{options.workers} of {os.cpu_count()} cores; Python {platform.python_version()}, numpy {np.__version__}; "
        "Wald intervals.",
    ]
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
