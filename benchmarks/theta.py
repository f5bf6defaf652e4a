"""θ against the true probability that a unique match is correct, and the coverage of its interval.

    python benchmarks/theta.py [--runs 1000] [--people 200000] [--out benchmarks/theta.md]

There are four populations, from many small cells to few and very unequal ones. In each run everybody is in the file
with the same chance. The estimate θ̂ and its interval come from the file alone. The truth comes from the population: of
all people who match exactly one record of the file, the share whose record it is. In the second table some cells are
missing, and θ̂ is counted on matches.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from naysay import microdata

FRACTIONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5)


@dataclasses.dataclass(frozen=True)
class Population:
    """How people fall into the cells of a quasi-identifier."""

    name: str
    cells: float  # for each person
    spread: float  # standard deviation of the logarithm of a cell's share

    def sizes(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """People in each cell that holds anybody."""
        shares = rng.lognormal(0, self.spread, max(int(self.cells * people), 1))
        sizes = rng.multinomial(people, shares / shares.sum())
        return sizes[sizes > 0]


POPULATIONS = (
    Population("fine", 3, 0),
    Population("even", 0.3, 0),
    Population("skewed", 0.5, 1.5),
    Population("very skewed", 0.05, 2.5),
)


@dataclasses.dataclass(frozen=True)
class Measured:
    """The results of many files drawn from one population, and the truth."""

    unique: float
    pairs: float
    truth: float
    estimate: float
    withheld: float
    covered: float  # NaN where every file's θ is withheld
    covered_without_triples: float


def measure(sizes: NDArray[np.int64], fraction: float, runs: int, rng: np.random.Generator) -> Measured:
    """Means over the runs; coverage is over the runs whose θ is not withheld."""
    people = int(sizes.sum())
    rows = []
    for _ in range(runs):
        found = rng.binomial(sizes, fraction)
        n1, n2, n3 = ((found == size).sum() for size in (1, 2, 3))
        if not n1:
            continue
        truth = n1 / sizes[found == 1].sum()
        told = microdata.theta(n1, n2, triples=n3, fraction=found.sum() / people)
        short = microdata.theta(n1, n2, fraction=found.sum() / people)
        hits = [low <= truth <= high for low, high in (told.interval, short.interval)]
        rows.append((n1, n2, truth, told.estimate, told.withheld, *hits))
    n1, n2, truth, estimates, withheld, held, held_short = np.array(rows, dtype=float).T
    shown = withheld == 0
    covered, short = (float(hits[shown].mean()) if shown.any() else np.nan for hits in (held, held_short))
    return Measured(*(float(x.mean()) for x in (n1, n2, truth, estimates, withheld)), covered, short)


def on_complete_files(people: int, runs: int, seed: int) -> Iterator[tuple[Population, float, Measured]]:
    """The first table, cell by cell."""
    for number, population in enumerate(POPULATIONS):
        rng = np.random.default_rng([seed, number])
        sizes = population.sizes(people, rng)
        for fraction in FRACTIONS:
            yield population, fraction, measure(sizes, fraction, runs, rng)


def with_missing(people: int, missing: float, rng: np.random.Generator) -> microdata.Keys:
    """A population with age and three more keys, of which each cell is missing with the same chance."""
    columns = {"age": rng.integers(18, 90, people)}
    for name, size in (("gender", 2), ("job", 30), ("region", 40)):
        values = rng.geometric(min(0.5, 3 / size), people).clip(1, size)
        columns[name] = np.where(rng.random(people) < missing, None, values)
    return microdata.Keys(columns, list(columns))


def on_matches(people: int, seed: int) -> Iterator[tuple[float, float, microdata.Intrusion]]:
    """The second table, cell by cell."""
    for missing in (0.0, 0.05, 0.2):
        rng = np.random.default_rng([seed, 99])
        keys = with_missing(people, missing, rng)
        for fraction in (0.01, 0.03, 0.1, 0.3):
            yield missing, fraction, microdata.data_intrusion_simulation(keys, rng.random(people) < fraction)


def as_row(population: Population, fraction: float, found: Measured) -> str:
    """One line of the first table."""
    mostly = found.withheld < 0.5
    covered = [f"{x:.3f}" if mostly else "–" for x in (found.covered, found.covered_without_triples)]
    return (
        f"| {population.name} | {fraction:g} | {found.unique:,.0f} | {found.pairs:,.1f} | {found.truth:.4f} | "
        f"{found.estimate:.4f} | {found.withheld:.0%} | {covered[0]} | {covered[1]} |"
    )


def as_match_row(missing: float, fraction: float, found: microdata.Intrusion) -> str:
    """One line of the second table."""
    low, high = found.theta.interval
    interval = "withheld" if found.theta.withheld else f"{low:.4f} to {high:.4f}"
    return (
        f"| {missing:.0%} | {fraction:g} | {found.theta.unique:,.0f} | {found.theta.pairs:,.1f} | "
        f"{found.rate:.4f} | {found.theta.estimate:.4f} | {interval} |"
    )


def main() -> int:
    """Measure and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--people", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=2002)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    begun = time.perf_counter()
    with Progress(transient=True) as progress:
        cells = on_complete_files(options.people, options.runs, options.seed)
        first = [
            as_row(*cell) for cell in progress.track(cells, len(POPULATIONS) * len(FRACTIONS), description="coverage")
        ]
        second = [
            as_match_row(*cell) for cell in progress.track(on_matches(50_000, options.seed), 12, description="matches")
        ]
    lines = [
        f"{options.people:,} people, {options.runs:,} files for each row, seed {options.seed}; means over the files, "
        "and coverage of the 95 % interval in the files whose θ is not withheld, where these are most.",
        "",
        "| population | fraction | n₁ | n₂ | true θ | mean θ̂ | withheld | coverage | coverage without n₃ |",
        "|---|---|---|---|---|---|---|---|---|",
        *first,
        "",
        "Counted on matches, 50,000 people with an age and three more keys, one file for each row; the truth is "
        "`data_intrusion_simulation` over everybody.",
        "",
        "| missing cells | fraction | #(m = 1) | #(m = 2)/2 | true rate | θ̂ | interval |",
        "|---|---|---|---|---|---|---|",
        *second,
        "",
        f"Measured in {time.perf_counter() - begun:,.0f} s on {os.cpu_count()} cores with numpy {np.__version__}.",
    ]
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
