"""Coverage and width of the default intervals, in surveys drawn at random.

    python benchmarks/coverage.py [--cells 300] [--runs 1000] [--worst 30] [--again 4000] [--out benchmarks/coverage.md]
    python benchmarks/coverage.py --controls [--cells 80] …

A cell is a design, an estimator, a population and a size. It is drawn from the whole space, with the date of the commit
as the seed. Each run draws respondents (or, for a file, only their answers) and estimates. It then checks for each
category and each nuisance parameter whether the 95 % interval holds the true share. A cell is as good as its worst
category. The worst cells are measured again with fresh answers, because the worst of many is partly bad luck.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.stats
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks._cells import FOUND_WRONG, Cell, commit_date, controlled_cell, random_cell, survey
from naysay import estimate
from naysay.design import Samples
from naysay.errors import NaysayError
from naysay.estimate.intervals import METHODS, nuisance_intervals
from naysay.estimate.likelihood import inverse

PROMISE = 0.935


class Measured(NamedTuple):
    """A cell, the coverage of each share, and mean widths: its own, of moments, of the Cramér-Rao bound."""

    cell: Cell
    coverage: np.ndarray
    runs: int
    width: float
    moments: float
    bound: float
    method: str

    @property
    def worst(self) -> float:
        """Coverage of the worst share."""
        return float(np.nanmin(self.coverage))

    @property
    def holds(self) -> bool:
        """Whether the worst share is covered as promised, within two Monte Carlo standard errors."""
        return self.worst >= PROMISE - 2 * np.sqrt(PROMISE * (1 - PROMISE) / self.runs)


def measure(cell: Cell, runs: int, seed: list[int]) -> Measured:
    """Repeat one survey."""
    rng = np.random.default_rng(seed)
    hits, widths, done, method = 0.0, np.zeros(2), 0, ""
    for _ in range(runs):
        tally, truth = survey(cell, rng)
        try:
            fit = fitted(cell, tally)
        except NaysayError:  # a sample is empty, or a level that variance weights need
            continue
        bounds, method = fit.interval(), fit.intervals().method
        if fit.nuisance:
            bounds = np.vstack([bounds, list(nuisance_intervals(fit).values())])
        hits = hits + np.where(np.isnan(truth), np.nan, (bounds[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= bounds[:, 1]))
        widths[0] += np.ptp(bounds[: len(fit.categories)], axis=1).mean()
        if fit.maximum is not None and done < runs // 4:
            other = (estimate.moments if cell.preferences is None else estimate.stratified)(cell.design, tally)
            widths[1] += np.ptp(other.interval(), axis=1).mean() / min(runs // 4, runs)
        done += 1
    return Measured(cell, hits / done, done, widths[0] / done, widths[1] or np.nan, cramer_rao(cell), method)


def fitted(cell: Cell, tally: estimate.Estimate) -> estimate.Estimate:
    """The estimate that the cell asks for."""
    if cell.estimator in ("equal", "variance"):
        return estimate.stratified(cell.design, tally, weights=cell.estimator, target=cell.target)
    return getattr(estimate, cell.estimator)(cell.design, tally, target=cell.target)


def cramer_rao(cell: Cell) -> float:
    """Mean width of intervals at the Cramér-Rao bound; known for a likelihood, all shares above 0, and no weights."""
    likely = cell.estimator in ("maximum_likelihood", "pooled") and cell.target == "population" and not cell.weights
    listed = all(cell.design.channel(level).space.listable for level in cell.design.levels)
    if not (likely and listed) or isinstance(cell.design, Samples) or cell.shares.min() <= 0:
        return np.nan
    chosen = np.ones(1) if cell.preferences is None else cell.preferences[0]
    total = np.zeros((len(cell.shares),) * 2)
    for level, share in zip(cell.design.levels, chosen, strict=True):
        matrix = cell.design.channel(level).matrix
        matrix = matrix[matrix.max(axis=1) > 0]
        total += share * matrix.T @ (matrix / (matrix @ cell.shares)[:, None])
    errors = np.sqrt(np.diagonal(inverse(total)) / cell.n)
    return float(2 * scipy.stats.norm.ppf(0.975) * errors.mean())


def _task(task: tuple[int, Cell, int, list[int]]) -> tuple[int, Measured]:
    number, cell, runs, seed = task
    return number, measure(cell, runs, seed)


def measured(cells: dict[int, Cell], runs: int, seed: list[int], what: str) -> dict[int, Measured]:
    """All cells on all cores, with progress."""
    tasks = [(number, cell, runs, [*seed, number]) for number, cell in cells.items()]
    with multiprocessing.Pool() as pool, Progress(transient=True) as progress:
        found = progress.track(pool.imap_unordered(_task, tasks), total=len(tasks), description=what)
        return dict(sorted(found))


def ratio(values: list[float]) -> str:
    """The median of the known values."""
    known = [value for value in values if np.isfinite(value)]
    return f"{np.median(known):.2f}" if known else "–"


def by_family(found: list[Measured]) -> list[str]:
    """One line for each family and estimator."""
    lines = ["| design | estimator | cells | worst | median | width, times moments | times Cramér–Rao |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|")
    groups = sorted({(each.cell.family, each.cell.estimator) for each in found})
    for family, estimator in groups:
        own = [each for each in found if (each.cell.family, each.cell.estimator) == (family, estimator)]
        worst = [each.worst for each in own]
        moments, bound = ratio([e.width / e.moments for e in own]), ratio([e.width / e.bound for e in own])
        lines.append(
            f"| {family} | {estimator} | {len(own)} | {min(worst):.3f} | {np.median(worst):.3f} | {moments} | {bound} |"
        )
    return lines


def one_by_one(first: dict[int, Measured], again: dict[int, Measured]) -> list[str]:
    """The worst cells, worst first."""
    lines = ["| cell | estimator, target | n | interval | first | again | holds |", "|---|---|--:|---|--:|--:|---|"]
    for number, each in sorted(again.items(), key=lambda item: item[1].worst):
        cell = each.cell
        lines.append(
            f"| {number}: {cell.label} | {cell.estimator}, {cell.target} | {cell.n:,} | {each.method} | "
            f"{first[number].worst:.3f} | {each.worst:.3f} | {'yes' if each.holds else 'NO'} |"
        )
    return lines


def method_by_method(task: tuple[str, int]) -> str:
    """One line about a cell in which the first build's interval failed: all methods, on the same answers."""
    name, runs = task
    cell, before = FOUND_WRONG[name]
    rng = np.random.default_rng([12, runs])
    hits, widths, done = (dict.fromkeys(METHODS, 0.0) for _ in range(3))
    for run in range(runs):
        tally, truth = survey(cell, rng)
        fit = fitted(cell, tally)
        # a fifth of the runs: the bootstrap takes two hundred refits
        for method in tuple(METHODS)[:-1] if run >= runs // 5 else METHODS:
            try:
                bounds = fit.interval(method=method, replicates=199)
            except NaysayError:  # the method does not apply to such an estimate
                continue
            hits[method] += (bounds[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= bounds[:, 1])
            widths[method] += np.ptp(bounds, axis=1).mean()
            done[method] += 1
    told = [f"{np.min(hits[m] / done[m]):.3f} ({widths[m] / done[m]:.3f})" if done[m] else "–" for m in METHODS]
    return f"| {name} | {before} | {' | '.join(told)} |"


def found_wrong(runs: int) -> list[str]:
    """The cells in which the first build's interval failed, a line each."""
    with multiprocessing.Pool() as pool:
        lines = pool.map(method_by_method, [(name, runs) for name in FOUND_WRONG], chunksize=1)
    head = [
        "Where the first build's default did not hold: coverage of the worst share (mean width) by each method now, on "
        f"the same {runs:,} surveys (the bootstrap on a fifth of them).",
        "",
    ]
    return [
        *head,
        f"| survey | default before | {' | '.join(METHODS)} |",
        f"|---|--:|{'--:|' * len(METHODS)}",
        *lines,
        "",
    ]


def main() -> int:
    """Draw, measure, write the tables, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--worst", type=int, default=30, help="how many of the worst cells are measured again")
    parser.add_argument("--again", type=int, default=4_000, help="runs of each cell that is measured again")
    parser.add_argument("--controls", action="store_true", help="surveys with controls only, without the last table")
    parser.add_argument("--seed", type=int, default=None, help="by default the date of the commit")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    seed = commit_date() if options.seed is None else options.seed
    rng = np.random.default_rng(seed)
    draw_cell = controlled_cell if options.controls else random_cell
    cells = {number: draw_cell(rng) for number in range(options.cells)}
    begun = time.perf_counter()
    first = measured(cells, options.runs, [seed, 1], "cells")
    worst = sorted(first, key=lambda number: first[number].worst)[: options.worst]
    again = measured({number: cells[number] for number in worst}, options.again, [seed, 2], "the worst again")
    final = first | again
    values = np.array([each.worst for each in final.values()])
    failed = [number for number, each in final.items() if not each.holds]
    lines = [
        f"{options.cells} cells × {options.runs:,} runs, seed {seed}, the {options.worst} worst again with "
        f"{options.again:,}. Worst share of a cell: median {np.median(values):.3f}, worst {values.min():.3f}; "
        f"{len(final) - len(failed)} of {len(final)} cells hold.",
        "",
        *by_family(list(final.values())),
        "",
        f"The {options.worst} worst:",
        "",
        *one_by_one(first, again),
        "",
        *([] if options.controls else found_wrong(options.runs // 2)),
        f"Measured in {time.perf_counter() - begun:,.0f} s on {os.cpu_count()} cores with numpy {np.__version__}.",
    ]
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.write(f"{len(final)} cells, {len(failed)} do not hold\n")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
