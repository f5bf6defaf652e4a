"""Models of the population against the truth: how far off they are, and how often their intervals hold.

    python benchmarks/population.py [DATA/gvu8.csv] [--out benchmarks/population.md] [--runs 40]

Each run draws a simple random sample of a population that is known, and asks the models how many people are unique in
it. For populations of keys the log-linear model is asked too; the class sizes of UCI Adult have no keys here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import microdata
from naysay.microdata.risk.loglinear import loglinear
from naysay.microdata.risk.uniques import Sample, pitman, snb, zayatz

ADULT = Path(__file__).resolve().parents[1] / "tests/reference/adult9_sizes.json"
MODELS: dict[str, Callable[..., Any]] = {"Pitman": pitman, "Zayatz": zayatz, "SNB": snb}
FRACTIONS = (0.01, 0.05, 0.1, 0.3)


@dataclass(frozen=True)
class Population:
    """People: the class of each, and their keys where there are any."""

    name: str
    owner: NDArray[Any]
    keys: NDArray[Any] | None = None

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Who is unique, by class."""
        return np.bincount(self.owner) == 1


def of_keys(name: str, keys: NDArray[Any]) -> Population:
    """A population by the keys of its people, (N, keys)."""
    return Population(name, np.unique(keys, axis=0, return_inverse=True)[1].ravel(), keys)


def partition(theta: float, alpha: float, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The classes of Pitman's random partition."""
    owner, sizes = np.zeros(people, np.int64), [1]
    chance, place, own = (rng.random(people) for _ in range(3))
    for number in range(1, people):
        if chance[number] * (theta + number) < theta + alpha * len(sizes):
            owner[number] = len(sizes)
            sizes.append(1)
            continue
        near = owner[int(place[number] * number)]
        while own[number] * sizes[near] > sizes[near] - alpha:
            own[number], near = rng.random(), owner[int(rng.random() * number)]
        owner[number] = near
        sizes[near] += 1
    return owner


def populations(gvu: Path | None) -> Iterator[Population]:
    """Populations of several shapes."""
    rng = np.random.default_rng(1919)
    told = json.loads(ADULT.read_text(encoding="utf-8"))["classes_by_size"]
    sizes = np.repeat([*map(int, told)], [*told.values()])
    yield Population("UCI Adult, 9 keys", np.repeat(np.arange(len(sizes)), sizes))
    yield Population("Pitman's partition, θ 500, α 0.6", partition(500, 0.6, 40_000, rng))
    shape = (20, 12, 6, 5)
    chances = [rng.dirichlet(np.ones(size)) for size in shape]
    free = np.stack([rng.choice(size, 40_000, p=p) for size, p in zip(shape, chances, strict=True)], axis=1)
    yield of_keys("4 independent keys", free)
    bound = free.copy()
    follows = rng.random((40_000, 2)) < 0.5
    bound[follows[:, 0], 1] = bound[follows[:, 0], 0] * 12 // 20
    bound[follows[:, 1], 2] = bound[follows[:, 1], 1] // 2
    yield of_keys("4 keys, two pairs dependent", bound)
    if gvu is not None:
        frame = pl.read_csv(gvu, infer_schema=False, null_values=["Not_Say", "NA", ""])
        for names in (["age", "gender", "country"], ["age", "gender", "education", "income"]):
            rows = frame.select(column for name in names for column in [_column(frame, name)]).drop_nulls()
            codes = np.stack([rows[name].rank("dense").to_numpy() - 1 for name in rows.columns], axis=1)
            yield of_keys(f"GVU survey: {', '.join(names)}", codes.astype(np.int64))


def _column(frame: pl.DataFrame, name: str) -> str:
    return next(column for column in frame.columns if name in column.lower())


def drawn(people: Population, fraction: float, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """One sample: for each model its number of unique people, and whether its interval holds the truth."""
    taken = rng.permutation(len(people.owner))[: round(fraction * len(people.owner))]
    count = np.bincount(people.owner[taken], minlength=len(people.unique))
    sample, true = Sample.of(count[count > 0], len(people.owner)), int(people.unique.sum())
    found = {}
    for name, model in MODELS.items():
        told = model(sample)
        within = float(told.interval[0] <= true <= told.interval[1]) if not np.isnan(told.interval[0]) else np.nan
        found[name] = (np.nan if told.withheld else told.people, within)
    if people.keys is not None:
        names = [f"key {place}" for place in range(people.keys.shape[1])]
        keys = microdata.Keys(dict(zip(names, people.keys[taken].T, strict=True)), names)
        fit = loglinear(keys, population=len(people.owner))
        right = int(people.unique[count == 1].sum())
        within = float(fit.interval[0] <= right <= fit.interval[1]) if fit.path else np.nan
        found["log-linear"] = (fit.people, within)
    return found


def row(people: Population, fraction: float, runs: int) -> str:
    """One row of the table."""
    rng = np.random.default_rng(round(1e4 * fraction))
    every = [drawn(people, fraction, rng) for _ in range(runs)]
    cells = []
    for name in (*MODELS, "log-linear"):
        told = np.array([each.get(name, (np.nan, np.nan)) for each in every])
        known = told[~np.isnan(told[:, 0])]
        cells.append(f"{known[:, 0].mean():,.0f} ({known[:, 0].std():,.0f})" if len(known) * 2 > runs else "–")
        if name in ("Pitman", "log-linear"):
            cells.append(f"{np.nanmean(known[:, 1]):.3f}" if len(known) * 2 > runs else "–")
    return f"| {people.name} | {people.unique.sum():,} | {fraction:g} | {' | '.join(cells)} |"


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gvu", type=Path, nargs="?", default=None)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    lines = [
        f"People unique in the population: the mean of {options.runs} samples (and their standard deviation).",
        "Holds: how often the 0.95 interval of Pitman's model holds the true number, and that of the log-linear model",
        "the number of unique records that are unique in the population. –: withheld, or no keys.",
        "",
        "| population | unique people | fraction | Pitman | holds | Zayatz | SNB | log-linear | holds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for people in populations(options.gvu):
        for fraction in FRACTIONS:
            lines.append(row(people, fraction, options.runs))
            sys.stderr.write(lines[-1] + "\n")
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
