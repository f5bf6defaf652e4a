"""Coverage and width of every interval, regime by regime: the measurement behind the defaults.

    python benchmarks/coverage.py [--runs 2000] [--only PATTERN] [--out benchmarks/coverage.md]

In each cell the population is fixed, and each run draws respondents (or, for a file, only their answers), estimates,
and asks whether the interval of each category holds the true share. Shown are the worst coverage over the categories
and the mean width; the default method is in bold. A cell holds if the default covers at least 93.5 % less two Monte
Carlo standard errors in every category.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.progress import Progress

from naysay import designs, estimate
from naysay.design import Answerable, Levels
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError, NotEstimable
from naysay.estimate.intervals import METHODS, default_method
from naysay.tally import Part, Tally

PROMISE = 0.935


@dataclasses.dataclass(frozen=True)
class Cell:
    """One regime."""

    name: str
    design: Answerable
    shares: tuple[float, ...]
    n: int
    estimator: str
    target: str = "population"
    hiding: bool = False  # members of the rare category always choose the most private level

    @property
    def label(self) -> str:
        """The regime in words."""
        return f"{self.name}, n = {self.n:,}"


def rare_and(rest: str, t: int) -> tuple[float, ...]:
    """One category of 1 %, the rest equal or halving."""
    others = np.ones(t - 1) if rest == "equal" else 0.5 ** np.arange(t - 1)
    return (0.01, *(0.99 * others / others.sum()))


def cells() -> Iterator[Cell]:
    """All regimes."""
    for rest in ("equal", "halving"):
        for n in (200, 2_000):
            for t in (3, 5, 10):
                labels, shares = tuple(map(str, range(1, t + 1))), rare_and(rest, t)
                for k in sorted({1, min(t // 2, t - 2)}):
                    negative = designs.negative(labels, discards=k)
                    name = f"negative t = {t}, k = {k}, {rest}"
                    for target in ("population", "file"):
                        yield Cell(f"{name}, {target}", negative, shares, n, "moments", target)
                        yield Cell(f"{name}, {target}", negative, shares, n, "maximum_likelihood", target)
            labels, shares = tuple("abcde"), rare_and(rest, 5)
            for estimator in ("moments", "maximum_likelihood"):
                yield Cell(f"two-option t = 5, {rest}", designs.two_option(labels), shares, n, estimator)
                yield Cell(
                    f"Gaussian σ = 1.5, t = 5, {rest}",
                    designs.gaussian_negative(labels, sigma=1.5),
                    shares,
                    n,
                    estimator,
                )
            for t in (5, 10):
                labels, shares = tuple(map(str, range(1, t + 1))), rare_and(rest, t)
                choice = designs.negative_levels(labels)
                yield Cell(f"levels t = {t}, {rest}", choice, shares, n, "stratified")
                yield Cell(f"levels t = {t}, {rest}, self-selected", choice, shares, n, "stratified", hiding=True)
                yield Cell(f"levels t = {t}, {rest}, file", choice, shares, n, "stratified", "file")
                yield Cell(f"levels t = {t}, {rest}", choice, shares, n, "pooled")


def draw(cell: Cell, rng: np.random.Generator) -> tuple[Tally, np.ndarray]:
    """One survey, and the true shares that its intervals should hold."""
    shares = np.array(cell.shares)
    counts = rng.multinomial(cell.n, shares) if cell.target == "population" else fixed_file(shares, cell.n)
    truth = np.repeat(np.arange(len(shares)), counts)
    source = GeneratorSource(rng)
    parts = []
    chosen = np.zeros(cell.n, dtype=int)
    if isinstance(cell.design, Levels):
        chosen = rng.integers(len(cell.design.levels), size=cell.n)
        if cell.hiding:
            chosen[truth == 0] = 0
    for place, level in enumerate(cell.design.levels):
        channel = cell.design.channel(level)
        here = chosen == place
        codes = channel.draw(truth[here], source)
        parts.append(Part.of(channel, codes, level=level, count=np.ones(len(codes), dtype=np.int64)))
    return Tally(tuple(parts)), shares if cell.target == "population" else counts / cell.n


def fixed_file(shares: np.ndarray, n: int) -> np.ndarray:
    """Whole counts nearest to the shares."""
    counts = np.floor(shares * n).astype(int)
    counts[np.argsort(counts - shares * n)[: n - counts.sum()]] += 1
    return counts


def measure(task: tuple[Cell, int, int, int, tuple[str, ...]]) -> tuple[dict[str, np.ndarray], dict[str, float], str]:
    """Hits by category, and summed widths, of each method over some runs of a cell; and the usual default."""
    cell, runs, seed, replicates, methods = task
    rng = np.random.default_rng(seed)
    fit_by: Callable[..., estimate.Estimate] = getattr(estimate, cell.estimator)
    hits: dict[str, np.ndarray] = {}
    widths: dict[str, float] = {}
    defaults: Counter[str] = Counter()
    for _ in range(runs):
        tally, truth = draw(cell, rng)
        fit = fit_by(cell.design, tally, target=cell.target)
        default = default_method(fit)
        defaults[default] += 1
        for method in methods:
            if method == "bootstrap" and fit.indicators is None:
                continue  # two thousand refits a run
            try:
                chosen = None if method == "default" else method
                bounds = fit.interval(method=chosen, replicates=replicates, rng=rng)
            except (DataError, NotEstimable):
                continue
            if bounds.min() < 0 or bounds.max() > 1:
                raise RuntimeError(f"an interval of {cell.label} leaves [0, 1]")
            inside = (bounds[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= bounds[:, 1])
            hits[method] = hits.get(method, 0) + inside
            widths[method] = widths.get(method, 0.0) + float((bounds[:, 1] - bounds[:, 0]).mean())
            hits[f"{method} runs"] = hits.get(f"{method} runs", 0) + 1
    return hits, widths, defaults.most_common(1)[0][0]


def run(cell: Cell, runs: int, seed: int, pool: multiprocessing.pool.Pool, replicates: int) -> dict[str, object]:
    """Coverage and width in one cell, on all cores."""
    cores = os.cpu_count() or 1
    shares = [runs // cores + (i < runs % cores) for i in range(cores)]
    pieces = pool.map(
        measure, [(cell, share, seed + i, replicates, METHODS) for i, share in enumerate(shares) if share]
    )
    methods = sorted({name for hits, *_ in pieces for name in hits if not name.endswith(" runs")})
    result: dict[str, object] = {"cell": cell, "default": pieces[0][2]}
    for name in methods:
        done = sum(hits.get(f"{name} runs", 0) for hits, *_ in pieces)
        held = sum(hits.get(name, 0) for hits, *_ in pieces)
        result[name] = (float(np.min(held / done)), sum(w.get(name, 0.0) for _, w, *_ in pieces) / done, int(done))
    return result


def as_row(result: dict[str, object], promise: float) -> str:
    """One line of the table."""
    cell = result["cell"]
    assert isinstance(cell, Cell)
    entries = []
    for method in METHODS:
        found = result.get(method)
        if found is None:
            entries.append("–")
            continue
        coverage, width, _ = found  # type: ignore[misc]
        text = f"{coverage:.3f} ({width:.3f})"
        entries.append(f"**{text}**" if method == result["default"] else text)
    coverage = result[str(result["default"])][0]  # type: ignore[index]
    return f"| {cell.label} | {cell.estimator} | {' | '.join(entries)} | {'yes' if coverage >= promise else 'NO'} |"


def main() -> int:
    """Measure, write the table, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--replicates", type=int, default=999, help="of the bootstrap")
    parser.add_argument("--only", default="", help="cells whose label and estimator match this pattern")
    parser.add_argument("--seed", type=int, default=2016)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    chosen = [(i, cell) for i, cell in enumerate(cells()) if re.search(options.only, f"{cell.label} {cell.estimator}")]
    promise = PROMISE - 2 * np.sqrt(PROMISE * (1 - PROMISE) / options.runs)
    begun = time.perf_counter()
    results = []
    with multiprocessing.Pool() as pool, Progress(transient=True) as progress:
        for number, cell in progress.track(chosen, description="cells"):
            results.append(run(cell, options.runs, options.seed + 1_000 * number, pool, options.replicates))
            progress.console.print(as_row(results[-1], promise), soft_wrap=True)
    lines = [
        f"{options.runs:,} runs a cell, seed {options.seed}; worst coverage over the categories (mean width), "
        f"default in bold. The default holds where every category is covered at least {promise:.4f} of the time.",
        "",
        f"| regime | estimator | {' | '.join(METHODS)} | holds |",
        f"|---|---|{'---|' * len(METHODS)}---|",
        *(as_row(result, promise) for result in results),
        "",
        f"Measured in {time.perf_counter() - begun:,.0f} s on {os.cpu_count()} cores with numpy {np.__version__}.",
    ]
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    failed = sum("| NO |" in line for line in lines)
    sys.stdout.write(f"{len(results)} cells, {failed} do not hold\n")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
