"""Sizes of the printed tests, in right surveys drawn at random.

    python benchmarks/sizes.py [--cells 60] [--runs 100] [--out benchmarks/sizes.md]

A cell is a design, an estimator, a population and a size, drawn as for coverage, with the date of the commit as the
seed. In each run the null hypothesis is true: levels are chosen by all categories alike, all groups come from one
population. The size is how often the test rejects at .05.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks._cells import _FAMILIES, Cell, _preferences, _shares, commit_date, survey
from naysay import estimate
from naysay.design import Levels
from naysay.errors import NaysayError

LEVEL = 0.05


class Size(NamedTuple):
    """A test, whether people were weighted, how many groups, the cell, and how often it rejected in so many runs."""

    test: str
    cell: Cell
    groups: int
    rejected: float
    runs: int

    @property
    def holds(self) -> bool:
        """Whether the size is at most .05, within two standard errors of the simulation."""
        return self.rejected <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / self.runs)


def random_null(rng: np.random.Generator, *, levels: bool) -> tuple[Cell, int]:
    """A cell in which all categories choose levels alike, and a number of groups."""
    family = str(rng.choice(["negative levels", "levels"] if levels else [*_FAMILIES]))
    design = _FAMILIES[family](rng)
    n = round(float(np.exp(rng.uniform(np.log(30), np.log(2_000)))))
    t = len(design.cells) if hasattr(design, "cells") else len(design.categories)
    preferences, estimator = None, str(rng.choice(["moments", "maximum_likelihood"]))
    if isinstance(design, Levels):
        t, estimator = len(design.categories), str(rng.choice(["stratified", "stratified", "pooled"]))
        preferences = np.tile(_preferences(rng, len(design.levels)), (t, 1))
    weights = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    informative = bool(weights and rng.random() < 0.5)
    shares = _shares(rng, t)
    return Cell(family, design, estimator, "population", n, shares, preferences, weights, informative), int(
        rng.integers(2, 11)
    )


def p_values(test: str, cell: Cell, groups: int, runs: int, rng: np.random.Generator) -> Iterator[float]:
    """The p-values of right surveys; surveys that cannot be tested yield NaN."""
    for _ in range(runs):
        try:
            if test == "independence":
                yield estimate.independence_test(cell.design, survey(cell, rng)[0]).p_value
            elif test == "fit":
                found = estimate.goodness_of_fit(cell.design, survey(cell, rng)[0])
                yield np.nan if found is None else found.p_value
            else:
                small = dataclasses.replace(cell, n=max(cell.n // groups, 5))
                fitted = getattr(estimate, cell.estimator)
                yield estimate.differences(
                    {g: fitted(cell.design, survey(small, rng)[0]) for g in range(groups)}
                ).p_value
        except NaysayError:  # a sample is empty
            yield np.nan


def measured(test: str, cells: int, runs: int, seed: int) -> list[Size]:
    """Cells of one test until so many could be tested."""
    rng, found = np.random.default_rng([seed, len(test)]), []
    for number in range(4 * cells):
        cell, groups = random_null(rng, levels=test == "independence")
        values = np.array(list(p_values(test, cell, groups, 2, np.random.default_rng([seed, number]))))
        if np.isnan(values).all():
            continue
        values = np.array(list(p_values(test, cell, groups, runs, np.random.default_rng([seed, number, 1]))))
        known = values[~np.isnan(values)]
        if len(known) >= runs / 2:
            found.append(Size(test, cell, groups, float((known < LEVEL).mean()), len(known)))
        if len(found) == cells:
            break
    return found


def table(found: list[Size], what: str) -> list[str]:
    """One line for each test, unweighted and weighted, then the cells that do not hold."""
    lines = [what, "", "| test | people | cells | hold | median size | largest |", "|---|---|--:|--:|--:|--:|"]
    for test in dict.fromkeys(each.test for each in found):
        for weighted in (False, True):
            own = [each for each in found if each.test == test and bool(each.cell.weights) == weighted]
            if own:
                sizes = [each.rejected for each in own]
                who = "weighted" if weighted else "unweighted"
                numbers = f"{len(own)} | {sum(each.holds for each in own)} | {np.median(sizes):.2f} | {max(sizes):.2f}"
                lines.append(f"| {test} | {who} | {numbers} |")
    lines += ["", "Cells whose size is above .05 by more than two standard errors:", ""]
    lines += ["| test | size | people | groups | survey |", "|---|--:|--:|--:|---|"]
    failed = sorted((each for each in found if not each.holds), key=lambda each: -each.rejected)
    lines += [
        f"| {e.test} | {e.rejected:.2f} | {e.cell.n:,} | {e.groups if e.test == 'groups' else ''} | "
        f"{e.cell.estimator}, {e.cell.label} |"
        for e in failed
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    seed = commit_date()
    found = [
        each for test in ("independence", "groups", "fit") for each in measured(test, asked.cells, asked.runs, seed)
    ]
    what = f"{asked.cells} cells for each test and {asked.runs} surveys a cell, drawn with the seed {seed}."
    text = "\n".join(table(found, what)) + "\n"
    sys.stdout.write(text)
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
