"""Regressions of randomized answers, beside the loop that anybody would write in NumPy.

    python benchmarks/regression.py [--n 1000000] [--out benchmarks/regression.md]

Each task is run in a process of its own, so that its peak memory is its own. Times of naysay are from a dataframe with
texts to a regression with standard errors; the loop begins with arrays of numbers that are ready. Peak memory is what
came on top of the table itself. The R packages RRreg, GLMMRR and rr were measured elsewhere, at 78 to 85 seconds for
the first task.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import designs, regression


def loop(x: np.ndarray, y: np.ndarray, p: float) -> np.ndarray:
    """Fisher scoring for Warner's design, as plain as it gets."""
    beta = np.zeros(x.shape[1])
    for _ in range(100):
        share = 1 / (1 + np.exp(-(x @ beta)))
        said = (1 - p) + (2 * p - 1) * share
        slope = (2 * p - 1) * share * (1 - share)
        score = x.T @ (slope * (y - said) / (said * (1 - said)))
        step = np.linalg.solve(x.T @ ((slope**2 / (said * (1 - said)))[:, None] * x), score)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            return beta
    raise SystemExit("the loop did not converge")


def population(n: int, coefficients: int, t: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Covariates (n, coefficients), the first constant, and true places (n,)."""
    x = np.column_stack([np.ones(n), rng.normal(size=(n, coefficients - 1))])
    beta = rng.normal(scale=0.3, size=(t - 1, coefficients))
    beta[:, 0] -= 0.5
    odds = np.column_stack([np.exp(x @ beta.T), np.ones(n)])
    shares = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    return x, (rng.random(n)[:, None] > shares).sum(axis=1)


def table(x: np.ndarray, said: Any, level: Any = None) -> tuple[pl.DataFrame, str]:
    """A table of answers and covariates, and its formula."""
    columns = {f"x{i}": x[:, i] for i in range(1, x.shape[1])}
    frame = pl.DataFrame({"said": said.texts(), **columns} | ({} if level is None else {"level": level}))
    return frame, f"said ~ {' + '.join(columns)}"


def warner(n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Three coefficients of a randomized yes or no: naysay, and the loop."""
    rng, design = np.random.default_rng(1), designs.warner(p=0.8)
    x, truth = population(n, 3, 2, rng)
    said = design.randomize(np.array(["yes", "no"])[truth], rng=rng)
    frame, formula = table(x, said)
    y = (said.codes[:, 0] == 0).astype(float)
    return lambda: regression.regress(design, formula, frame).standard_errors, lambda: loop(x, y, 0.8)


def few(n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The same with covariates that are whole numbers, so that rows are alike."""
    rng, design = np.random.default_rng(2), designs.warner(p=0.8)
    x, truth = population(n, 3, 2, rng)
    x[:, 1:] = np.round(2 * x[:, 1:])
    said = design.randomize(np.array(["yes", "no"])[truth], rng=rng)
    frame, formula = table(x, said)
    y = (said.codes[:, 0] == 0).astype(float)
    return lambda: regression.regress(design, formula, frame).standard_errors, lambda: loop(x, y, 0.8)


def levels(n: int) -> tuple[Callable[[], Any], None]:
    """Twenty coefficients, yes or no, at five levels of privacy."""
    rng = np.random.default_rng(3)
    design = designs.levels(
        {name: designs.warner(p=p) for name, p in zip("abcde", (0.6, 0.7, 0.8, 0.9, 1), strict=True)}
    )
    x, truth = population(n, 20, 2, rng)
    level = rng.choice(list("abcde"), n)
    frame, formula = table(x, design.randomize(np.array(["yes", "no"])[truth], level=level, rng=rng), level)
    return lambda: regression.regress(design, formula, frame, level="level").standard_errors, None


def negative(n: int) -> tuple[Callable[[], Any], None]:
    """Twenty coefficients for each of five categories against a sixth, at five levels of a negative survey."""
    rng = np.random.default_rng(4)
    design = designs.negative_levels(tuple("abcdef"))
    x, truth = population(n, 20, 6, rng)
    level = rng.choice(design.levels, n)
    frame, formula = table(x, design.randomize(np.array(design.categories)[truth], level=level, rng=rng), level)
    return lambda: regression.regress(design, formula, frame, level="level").standard_errors, None


TASKS = {
    "10⁶ rows × 3 coefficients": (warner, 1),
    "the same, whole numbers": (few, 1),
    "10⁵ rows × 20 coefficients × 5 levels": (levels, 10),
    "10⁵ rows × 5 × 20 coefficients × 5 levels": (negative, 10),
}


def peak() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work: Callable[[], Any], runs: int = 3) -> float:
    """The best wall time of some runs."""
    best = np.inf
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return float(best)


def measured(name: str, n: int) -> dict[str, float | None]:
    """One task in this process: seconds of naysay and of the loop, and memory on top of the table."""
    make, part = TASKS[name]
    regression.regress(designs.warner(p=0.8), "y ~ x", {"y": ["yes", "no"] * 20, "x": list(range(40))})  # imports
    ours, plain = make(n // part)
    before = peak()
    ours()
    memory = peak() - before
    return {"ours": timed(ours), "plain": None if plain is None else timed(plain), "memory": memory}


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        sys.stdout.write(json.dumps(measured(options.task, options.n)))
        return 0
    lines = ["| task | tool | seconds | times the loop | memory, MB |", "|---|---|--:|--:|--:|"]
    for name in TASKS:
        command = [sys.executable, __file__, "--n", str(options.n), "--task", name]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ratio = "–" if found["plain"] is None else f"{found['ours'] / found['plain']:.2f}"
        lines.append(f"| {name} | naysay | {found['ours']:.2f} | {ratio} | {found['memory']:,.0f} |")
        if found["plain"] is not None:
            lines.append(f"| | NumPy loop | {found['plain']:.2f} | 1 | – |")
    machine = (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, NumPy {np.__version__}"
    )
    text = "\n".join([(__doc__ or "").strip().split("\n\n")[-1], "", *lines, "", f"n = {options.n:,}; {machine}.", ""])
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
