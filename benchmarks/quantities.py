"""Numbers: variance beside the published mechanisms, distance of distributions, ranges by fanout, projected shares.

    python benchmarks/quantities.py [--runs 100] [--out benchmarks/quantities.md]

Simulated surveys have fixed seeds. Seconds are of one process on the machine that ran it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import stats

from naysay import designs, estimate
from naysay.estimate.ranges import Tree

# This folder holds a coverage.py, which would hide the package that numba looks for.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent.resolve()]

EPSILONS = (0.5, 1, 1.5, 2, 3, 4)


def table(*rows: tuple[object, ...]) -> Iterator[str]:
    for place, row in enumerate(rows):
        yield f"| {' | '.join(f'{cell:.4g}' if isinstance(cell, float) else str(cell) for cell in row)} |"
        if not place:
            yield "|---" * len(row) + "|"


def worst_variances() -> Iterator[str]:
    x = np.linspace(0, 1, 201)
    rows = []
    for epsilon in EPSILONS:
        duchi, half, share = 1 / math.tanh(epsilon / 2) ** 2, math.expm1(epsilon / 2), -math.expm1(-epsilon / 2)
        piecewise = x**2 / half + (half + 4) / (3 * half**2)
        hybrid = duchi if epsilon <= 0.61 else (share * piecewise + (1 - share) * (duchi - x**2)).max()
        chosen = designs.number(low=-1, high=1, epsilon=epsilon)
        found = float(chosen.variance(np.linspace(-1, 1, 2_001)).max())
        rows.append((epsilon, chosen.steps, chosen.width, found, duchi, float(piecewise.max()), float(hybrid)))
    yield from table(("ε", "steps", "window", "largest variance", "Duchi et al.", "piecewise", "hybrid"), *rows)


def means(runs: int) -> Iterator[str]:
    rows = []
    for n in (2_000, 100_000):
        for epsilon in (0.5, 1, 2, 4):
            rng, design = np.random.default_rng([n, int(10 * epsilon)]), designs.number(low=0, high=1, epsilon=epsilon)
            hits, values = 0, []
            for _ in range(runs):
                fit = estimate.mean(design, design.tally(design.randomize(rng.beta(2, 5, n), rng=rng)))
                low, high = fit.interval()
                hits += low <= 2 / 7 <= high
                values.append(fit.value)
            exact = math.sqrt((design.variance(rng.beta(2, 5, 20_000)).mean() + stats.beta(2, 5).var()) / n)
            rows.append((f"{n:,}", epsilon, float(np.mean(values) - 2 / 7), float(np.std(values)), exact, hits / runs))
    yield from table(("n", "ε", "bias", "standard deviation", "formula", "coverage"), *rows)


def distances(runs: int) -> Iterator[str]:
    law, grid, rows = stats.beta(5, 2), np.linspace(0, 1, 2_001), []
    for epsilon in (0.5, 1, 2):
        rng = np.random.default_rng(int(10 * epsilon))
        design, found = designs.number(low=0, high=1, epsilon=epsilon, aim="distribution"), []
        for _ in range(runs):
            tally = design.tally(design.randomize(law.rvs(100_000, random_state=rng), rng=rng))
            own = []
            for smooth in (False, True):
                fit = estimate.distribution(design, tally, smooth=smooth)
                edges = np.concatenate([[0], (fit.points[1:] + fit.points[:-1]) / 2, [1]])
                below = np.interp(grid, edges, np.concatenate([[0], np.cumsum(fit.shares)]))
                own.append(np.abs(below - law.cdf(grid)).mean())
            mean = estimate.mean(design, tally).value - law.mean()
            found.append((*own, fit.quantile(0.5)[0] - law.median(), mean, fit.points @ fit.shares - law.mean()))
        numbers = np.array(found)
        average, spread = numbers.mean(axis=0), numbers.std(axis=0)
        rows.append((epsilon, *map(float, average[:3]), float(spread[3]), float(spread[4])))
    head = ("ε", "EM", "EM, smoothed", "median, smoothed, off by", "s.d. of the unbiased mean", "s.d. of its mean")
    yield from table(head, *rows)


def fanouts() -> Iterator[str]:
    rows = []
    for fanout, depth in ((2, 12), (3, 8), (4, 6), (5, 5), (8, 4), (9, 4), (16, 3)):
        rng, t = np.random.default_rng(fanout), fanout**depth
        tree = Tree(fanout, tuple(fanout**level for level in range(1, depth + 1)), (float(depth),) * depth)
        ends = np.sort(rng.integers(0, t + 1, (2, 300)), axis=0)
        inside = ((np.arange(t)[:, None] >= ends[0]) & (np.arange(t)[:, None] < ends[1])).astype(float)
        squares = depth * sum((weights**2).sum(axis=0) for weights in tree.weights(inside)) / math.log(t) ** 2
        log = math.log(fanout) ** 2
        rows.append((fanout, f"{t:,}", (fanout - 1) / log, (fanout + 1) / log, squares.mean(), squares.max()))
    yield from table(("B", "categories", "(B-1)/ln²B", "(B+1)/ln²B", "measured mean", "measured largest"), *rows)


def coverage_of_ranges(runs: int) -> Iterator[str]:
    rows = []
    for size, epsilon, n in ((100, 1, 20_000), (1_024, 1, 100_000)):
        rng, survey = np.random.default_rng(size), designs.hierarchy(size, epsilon=epsilon)
        pi = rng.dirichlet(np.full(size, 0.2))
        below, hits, band = np.concatenate([[0], np.cumsum(pi)]), 0, 0
        for _ in range(runs):
            said = survey.randomize(rng.choice(size, n, p=pi), rng=rng)
            fit = estimate.ranges(survey, survey.tally(said, level=said.level))
            first, last = np.sort(rng.integers(0, size, 2)).tolist()
            row, found = fit.range(first, last), fit.band()
            hits += row.low - 1e-9 <= below[last + 1] - below[first] <= row.high + 1e-9
            band += bool(((found.low <= below[found.cuts]) & (below[found.cuts] <= found.high)).all())
        rows.append((f"{size:,}", epsilon, f"{n:,}", hits / runs, band / runs))
    yield from table(("categories", "ε", "n", "coverage of random ranges", "coverage of the whole band"), *rows)


def projections(runs: int) -> Iterator[str]:
    rows, design, n = [], designs.affine(16, epsilon=1), 2_000
    zipf = 1 / np.arange(1, 17)
    for name, pi, places in (
        ("share .9 in one of 16", np.array([0.9, *[0.1 / 15] * 15]), [0]),
        ("the 8 rarest of a Zipf law", zipf / zipf.sum(), range(8, 16)),
    ):
        rng, chosen, found, hits = np.random.default_rng(16), list(places), [], np.zeros(3)
        for _ in range(runs):
            fit = estimate.moments(design, design.tally(design.randomize(rng.choice(16, n, p=pi), rng=rng)))
            cut = np.maximum(fit.proportions, 0)
            each = [own[chosen].sum() for own in (fit.proportions, fit.projected().shares, cut / cut.sum())]
            half = 1.96 * math.sqrt(fit.covariance[np.ix_(chosen, chosen)].sum())
            hits += np.abs(np.array(each) - pi[chosen].sum()) <= half
            found.append(each)
        bias = np.mean(found, axis=0) - pi[chosen].sum()
        for method, off, share in zip(("raw", "projected", "cut off and scaled"), bias, hits / runs, strict=True):
            rows.append((name, method, float(off), float(share)))
    yield from table(("sum of shares", "method", "bias", "coverage of ± 1.96 s.e. of raw"), *rows)


def speed() -> Iterator[str]:
    rows = []
    for size, n in ((1_024, 100_000), (65_536, 1_000_000)):
        rng, began = np.random.default_rng(1), time.perf_counter()
        survey = designs.hierarchy(size, epsilon=1)
        built, truth = time.perf_counter() - began, np.minimum(rng.gamma(2, size / 12, n).astype(int), size - 1)
        said = survey.randomize(truth, rng=rng)
        tally = survey.tally(said, level=said.level)
        times = [time.perf_counter()]
        fit = estimate.ranges(survey, tally)
        times.append(time.perf_counter())
        fit.range(3, size // 3)
        times.append(time.perf_counter())
        fit.band()
        times.append(time.perf_counter())
        rows.append((f"{size:,}", f"{n:,}", float(built), *np.diff(times).tolist()))
    yield from table(("categories", "n", "build, s", "fit, s", "a range, s", "the band, s"), *rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    asked = parser.parse_args()
    parts = (
        ("Largest variance of one report, numbers in [-1, 1]", worst_variances()),
        (f"Means of Beta(2, 5), {asked.runs} surveys", means(asked.runs)),
        ("Wasserstein-1 distance to Beta(5, 2), n = 100,000, 256 points", distances(max(asked.runs // 10, 2))),
        ("Variance of random ranges by fanout, in units of V ln²t / n", fanouts()),
        (f"Ranges of random shares, {asked.runs} surveys", coverage_of_ranges(asked.runs)),
        (f"Projected shares, n = 2,000, ε = 1, {4 * asked.runs} surveys", projections(4 * asked.runs)),
        ("Seconds of a hierarchy, ε = 1", speed()),
    )
    text = ["# Numbers", "", f"Made by `python benchmarks/quantities.py --runs {asked.runs}`.", ""]
    for title, lines in parts:
        text += [f"## {title}", "", *lines, ""]
        asked.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
