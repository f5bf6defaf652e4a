"""How long the core takes, side by side in one run, and how the cost grows with the survey.

    python benchmarks/speed.py [--n 1000000] [--out benchmarks/speed.md]

Seconds on one machine mean little elsewhere; compare the ratios within one run.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.optimize import LinearConstraint, minimize

from naysay import designs, estimate
from naysay.estimate.likelihood import evidence, expectation_step, maximize

LIMIT = 60.0  # seconds after which a slower solver is stopped


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result, and the best wall time of a few runs."""
    best = np.inf
    result = None
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begun)
    return result, best


def labels(t: int) -> tuple[str, ...]:
    """Category names."""
    return tuple(f"category {i}" for i in range(1, t + 1))


def shares(t: int, rng: np.random.Generator) -> np.ndarray:
    """Unequal proportions, some of them small."""
    return rng.dirichlet(np.linspace(0.3, 3, t))


def pipeline(n: int, t: int) -> list[str]:
    """Randomize, tally and estimate one big survey with levels that respondents choose."""
    rng = np.random.default_rng(1)
    choice = designs.negative_levels(labels(t))
    truth = np.array(labels(t))[rng.choice(t, n, p=shares(t, rng))]
    said, drawing = timed(lambda: choice.randomize(truth, rng=rng))
    _, system = timed(lambda: choice.randomize(truth), repeats=1)
    tally, counting = timed(lambda: choice.tally(said))
    fit, solving = timed(lambda: estimate.maximum_likelihood(choice, tally))
    _, averaging = timed(lambda: estimate.stratified(choice, tally).interval())
    distinct = sum(len(part.codes) for part in tally.parts)
    return [
        f"One survey of {n:,} people, t = {t}, k uniform on 1…{t - 1}; {distinct:,} distinct answers.",
        "",
        "| step | seconds |",
        "|---|---|",
        f"| randomize, seeded generator | {drawing:.2f} |",
        f"| randomize, operating system's randomness | {system:.2f} |",
        f"| tally | {counting:.2f} |",
        f"| maximum likelihood, W·gap {fit.maximum.total_gap:.0e} in {fit.maximum.iterations} steps | {solving:.2f} |",
        f"| stratified with intervals | {averaging:.2f} |",
        "",
    ]


def solvers(n: int, t: int) -> list[str]:
    """The solver beside plain EM and scipy's general ones, on the same rows."""
    rng = np.random.default_rng(2)
    choice = designs.negative_levels(labels(t))
    truth = np.array(labels(t))[rng.choice(t, n, p=shares(t, rng))]
    rows, weights, _ = evidence(choice.tally(choice.randomize(truth, rng=rng)))
    rows = rows / rows.max(axis=1, keepdims=True)
    ours, base = timed(lambda: maximize(rows, weights))
    table = [("naysay", base, ours.total_gap)]
    table += [("EM, plain", *em(rows, weights)), *(peer(rows, weights, method) for method in ("SLSQP", "trust-constr"))]
    return [
        f"Solvers on {len(rows):,} distinct rows × {t} categories (n = {n:,}), stopped at W·gap ≤ 1e-6 or {LIMIT:g} s.",
        "",
        "| solver | seconds | times ours | W·gap reached |",
        "|---|---|---|---|",
        *(f"| {name} | {seconds:.2f} | {seconds / base:.1f} | {gap:.1e} |" for name, seconds, gap in table),
        "",
    ]


def gap_of(rows: np.ndarray, weights: np.ndarray, pi: np.ndarray) -> float:
    """The certificate W·gap at some proportions."""
    return float((rows.T @ (weights / (rows @ pi))).max() - weights.sum())


def em(rows: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Plain EM until it reaches the certificate or the time limit."""
    pi, share = np.full(rows.shape[1], 1 / rows.shape[1]), weights / weights.sum()
    begun = time.perf_counter()
    while gap_of(rows, weights, pi) > 1e-6 and time.perf_counter() - begun < LIMIT:
        for _ in range(10):
            pi = expectation_step(rows, share, pi)
    return time.perf_counter() - begun, gap_of(rows, weights, pi)


def peer(rows: np.ndarray, weights: np.ndarray, method: str) -> tuple[str, float, float]:
    """A general constrained solver of scipy with exact gradients (and Hessians where it takes them)."""
    t, share = rows.shape[1], weights / weights.sum()
    best = np.full(t, 1 / t)
    begun = time.perf_counter()

    def fitted(x: np.ndarray) -> np.ndarray:
        return np.maximum(rows @ x, 1e-12)

    def stop(x: np.ndarray, *_: object) -> None:
        best[:] = np.maximum(x, 0) / np.maximum(x, 0).sum()
        if time.perf_counter() - begun > LIMIT or gap_of(rows, weights, np.maximum(best, 1e-15)) <= 1e-6:
            raise StopIteration

    exact = {"jac": lambda x: -(rows.T @ (share / fitted(x)))}
    if method == "trust-constr":
        exact["hess"] = lambda x: (rows * (share / fitted(x) ** 2)[:, None]).T @ rows
    options = {"maxiter": 2_000, **({"ftol": 1e-16} if method == "SLSQP" else {"gtol": 1e-12, "xtol": 1e-14})}
    with contextlib.suppress(StopIteration):
        minimize(
            lambda x: -share @ np.log(fitted(x)),
            best.copy(),
            bounds=[(0, 1)] * t,
            constraints=LinearConstraint(np.ones((1, t)), 1, 1),
            method=method,
            callback=stop,
            options=options,
            **exact,
        )
    return f"scipy {method}", time.perf_counter() - begun, gap_of(rows, weights, np.maximum(best, 1e-15))


def growth() -> list[str]:
    """Cost against n and against t, maximum likelihood and moments."""
    lines = ["| design | n | randomize | tally | maximum likelihood | moments |", "|---|---|---|---|---|---|"]
    rng = np.random.default_rng(3)
    cases = [(20, 10, n) for n in (1_000, 10_000, 100_000, 1_000_000)] + [(t, t // 2, 100_000) for t in (5, 10, 40, 60)]
    for t, k, n in cases:
        survey = designs.negative(labels(t), discards=k)
        truth = np.array(labels(t))[rng.choice(t, n, p=shares(t, rng))]
        said, drawing = timed(lambda: survey.randomize(truth, rng=rng), repeats=1)  # noqa: B023
        tally, counting = timed(lambda: survey.tally(said), repeats=1)  # noqa: B023
        _, solving = timed(lambda: estimate.maximum_likelihood(survey, tally), repeats=1)  # noqa: B023
        _, averaging = timed(lambda: estimate.moments(survey, tally), repeats=1)  # noqa: B023
        times = " | ".join(f"{seconds:.3f}" for seconds in (drawing, counting, solving, averaging))
        lines.append(f"| t = {t}, k = {k} | {n:,} | {times} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        "Seconds as surveys and categories grow.",
        "",
        *lines,
        "",
        f"Peak memory of the whole run: {peak:,.0f} MB.",
        "",
    ]


def main() -> int:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--t", type=int, default=20)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    lines = [*growth(), *pipeline(options.n, options.t), *solvers(options.n, options.t)]
    lines.append(
        f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}."
    )
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
