"""Coverage and width of every interval, regime by regime: the measurement behind the defaults.

    python benchmarks/coverage.py [--suite negative|randomized] [--runs 2000] [--only PATTERN] [--out benchmarks/…]

In each cell the population is fixed, and each run draws respondents (or, for a file, only their answers), estimates,
and asks whether the interval of each category, and of each nuisance parameter, holds the true share. Shown are the
worst coverage and the mean width; the default method is in bold. A cell holds if the default covers at least 93.5 %
less two Monte Carlo standard errors everywhere.
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
from naysay.design import Answerable, Levels, Samples
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError, NotEstimable
from naysay.estimate.intervals import METHODS, default_method, nuisance_intervals
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


def one_sample() -> dict[str, Answerable]:
    """Designs of one sample and two categories, by what the literature calls them."""
    return {
        "Warner p = .7": designs.warner(p=0.7),
        "two coins": designs.two_coins(),
        "forced response 1/12, 1/6": designs.forced_response(forced_no="1/12", forced_yes="1/6"),
        "crosswise .25": designs.crosswise(prevalence=0.25),
        "triangular .25": designs.triangular(prevalence=0.25),
        "unrelated question .7, .25": designs.unrelated_question(p=0.7, prevalence=0.25),
        "Mangat .7": designs.mangat(p=0.7),
        "Kuk .8, .2": designs.kuk(p=(0.8, 0.2)),
        "Kuk .7, .4, five draws": designs.kuk(p=(0.7, 0.4), draws=5),
        "k-ary ε = 1": designs.k_ary(epsilon=1),
    }


def several_samples(share: float) -> dict[str, tuple[Answerable, tuple[float, ...]]]:
    """Designs with cells, and what share of the people is in each cell when `share` carry the trait."""
    rest = 1 - share
    unknown, unrelated = 0.3, designs.unrelated_question_unknown(p=(0.7, 0.3))
    crossed = (share * unknown, share * (1 - unknown), rest * unknown, rest * (1 - unknown))
    cheating = (share, 0.9 * rest, 0.1 * rest)
    symmetric = designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1))
    anchored = (0.85 * share, 0.85 * rest, 0.15)
    arms = designs.samples(direct=designs.direct(("yes", "no")), randomized=designs.crosswise(prevalence=0.25))
    return {
        "unrelated question, unknown .3": (unrelated, crossed),
        "cheating detection, 10 % cheat": (designs.cheating_detection(p=(0.25, 0.75)), cheating),
        "symmetric cheating detection": (symmetric, cheating),
        "stochastic lie detector, 70 % truthful": (
            designs.stochastic_lie_detector(p=("1/6", "5/6")),
            (0.7 * share, rest, 0.3 * share),
        ),
        "extended crosswise .25": (designs.extended_crosswise(prevalence=0.25), (share, rest)),
        "anchored crosswise .15, 15 % inattentive": (
            designs.anchored_crosswise(prevalence=0.15, anchor=0.15),
            anchored,
        ),
        "direct and crosswise arms": (arms, (share, rest)),
    }


def randomized() -> Iterator[Cell]:
    """The randomized-response family: every design, 2, 10 and 30 % carriers."""
    for n in (200, 1_000):
        for share in (0.02, 0.1, 0.3):
            for estimator in ("moments", "maximum_likelihood"):
                for name, design in one_sample().items():
                    yield Cell(f"{name}, π = {share}", design, (share, 1 - share), n, estimator)
                for name, (design, kinds) in several_samples(share).items():
                    yield Cell(f"{name}, π = {share}", design, kinds, n, estimator)
                rest = (1 - share) / 2
                forced = designs.forced_response(tuple("abc"), forced=(0.1, 0.1, 0.1))
                abul_ela = designs.abul_ela(tuple("abc"), p=[[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]])
                yield Cell(f"forced response t = 3, π = {share}", forced, (share, rest, rest), n, estimator)
                yield Cell(f"Abul-Ela t = 3, π = {share}", abul_ela, (share, rest, rest), n, estimator)


SUITES = {"negative": cells, "randomized": randomized}


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
    elif isinstance(cell.design, Samples):
        chosen = rng.permutation(np.arange(cell.n) % len(cell.design.levels))
    for place, level in enumerate(cell.design.levels):
        channel = cell.design.channel(level)
        here = chosen == place
        codes = channel.draw(truth[here], source)
        parts.append(Part.of(channel, codes, level=level, count=np.ones(len(codes), dtype=np.int64)))
    if isinstance(cell.design, Samples):
        estimated = (*cell.design.shares, *cell.design.nuisance)
        weights = [share.weights(cell.design.cells) for share in estimated]
        return Tally(tuple(parts)), np.array([above @ shares / (below @ shares) for above, below in weights])
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
                if fit.nuisance:
                    bounds = np.vstack([bounds, list(nuisance_intervals(fit, method=chosen).values())])
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
    parser.add_argument("--suite", choices=SUITES, default="negative")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--replicates", type=int, default=999, help="of the bootstrap")
    parser.add_argument("--only", default="", help="cells whose label and estimator match this pattern")
    parser.add_argument("--seed", type=int, default=2016)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    chosen = [
        (i, cell)
        for i, cell in enumerate(SUITES[options.suite]())
        if re.search(options.only, f"{cell.label} {cell.estimator}")
    ]
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
