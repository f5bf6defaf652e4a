"""Bao, Luo & Zhang (2013): positive surveys from negative ones; figures 2, 4 and 5, table 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naysay import designs, estimate, simulate
from naysay.design import Design
from naysay.designs.negative import is_uniform
from naysay.estimate import Estimate
from naysay.show import charts
from naysay.simulate import Population, Simulation
from naysay.tally import Tally
from reproductions.result import Cell, Check, Measured, Picture, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["run"]

Floats = NDArray[np.float64]

SOURCE = (
    "Bao Y, Luo W, Zhang X (2013). Estimating positive surveys from negative surveys. Statistics & Probability Letters "
    "83(2): 551–558."
)
EXAMPLES = ((23, 22, 20, 18, 17), (2, 8, 16, 29, 45))
"""The negative surveys of figure 2, of 100 people."""

PEOPLE, CATEGORIES = 500, 5
POPULATIONS = {
    "uniform U(1, 5)": simulate.uniform(CATEGORIES),
    "normal N(3, 0.6667)": simulate.normal(CATEGORIES, mean=3, sd=0.6667),
    "exponential e(0.6886)": simulate.exponential(CATEGORIES, mean=0.6886),
    "log-normal (0.8959, 0.2310)": simulate.log_normal(CATEGORIES, log_mean=0.8959, log_sd=0.2310),
}
"""Table 1."""

_GAUSSIAN_PEOPLE, _GAUSSIAN = 100, 7
_SIGMA = 1.0  # ours; the paper does not say
_STOP = 1e-4


@dataclass(frozen=True, eq=False)
class _Survey:
    """One negative survey of a population, and what the reconstructions make of it."""

    name: str
    truth: Floats
    named: Floats
    found: dict[str, Floats]


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    five = designs.negative(tuple(range(1, CATEGORIES + 1)))
    gaussian = designs.gaussian_negative(tuple(range(1, _GAUSSIAN + 1)), sigma=_SIGMA)
    skewed = simulate.exponential(_GAUSSIAN, mean=1.0329)
    examples = [_reconstructed(five, five.tally(count=named)) for named in EXAMPLES]
    shown = [_survey(name, five, people, PEOPLE, setting, 1) for name, people in POPULATIONS.items()]
    shown.append(_survey(f"figure 5, σ = {_SIGMA:g}", gaussian, skewed, _GAUSSIAN_PEOPLE, setting, 5))
    fixed = {"target": "file", "estimators": ["moments", "maximum_likelihood"]}
    many = [
        setting.surveys(five, people, place=10 + place, n=PEOPLE, **fixed)
        for place, people in enumerate(POPULATIONS.values())
    ]
    many.append(setting.surveys(gaussian, skewed, place=20, n=_GAUSSIAN_PEOPLE, **fixed))
    names = [*POPULATIONS, "figure 5"]
    return Reproduction(
        name="bao2013",
        title="Positive surveys from negative ones: NStoPS, NStoPS-I, NStoPS-II",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(_iterations(examples), *(_table(each) for each in shown), _errors(names, many)),
        checks=(*_example_checks(examples), *_agreement(five, setting), *_error_checks(names, many)),
        pictures=(*_iteration_pictures(examples), *(_picture(each, shown.index(each)) for each in shown)),
        notes=(
            "values are rounded to the nearest category, and clipped to the first and the last (our convention)",
            f"the paper does not give the σ of figure 5; it is {_SIGMA:g} here",
            "people: root mean square error over categories and surveys, of the same people asked again and again",
        ),
    )


def _reconstructed(design: Design, tally: Tally) -> dict[str, Estimate]:
    """The paper's three methods; the third exists for the uniform survey only, where likelihood is the answer."""
    found = {"NStoPS": estimate.nstops(design, tally), "NStoPS-I": estimate.nstops_i(design, tally)}
    if is_uniform(design):
        return found | {"NStoPS-II": estimate.nstops_ii(design, tally)}
    return found | {"likelihood": estimate.maximum_likelihood(design, tally)}


def _survey(name: str, design: Design, people: Population, n: int, setting: Setting, place: int) -> _Survey:
    """One survey of people who are drawn from the population, as the paper has it."""
    rng = setting.rng(place)
    truth = rng.multinomial(n, people.proportions)
    tally = design.tally(design.randomize(np.repeat(design.categories, truth), rng=rng))
    found = {method: fit.counts for method, fit in _reconstructed(design, tally).items()}
    return _Survey(name, truth.astype(float), tally.counts.astype(float), found)


def _iterations(examples: Sequence[dict[str, Estimate]]) -> Table:
    """Figure 2 and the exact answer beside it."""
    rows: list[tuple[Cell, ...]] = []
    for named, found in zip(EXAMPLES, examples, strict=True):
        rows.append((f"named {named}", *map(float, named), None))
        for method, fit in found.items():
            steps = len(fit.path) - 1 if method == "NStoPS-I" and fit.path is not None else None
            rows.append((method, *fit.counts.tolist(), steps))
    columns = ("", *(f"t{place}" for place in range(1, CATEGORIES + 1)), "steps")
    return Table("figure2", "Figure 2. Two negative surveys of 100 people", columns, tuple(rows), digits=2)


def _table(each: _Survey) -> Table:
    columns = ("people", *(str(place) for place in range(1, len(each.truth) + 1)))
    shown = {"original": each.truth, "named in the negative survey": each.named, **each.found}
    rows = tuple((name, *values.tolist()) for name, values in shown.items())
    key = each.name.partition(" ")[0].replace("-", "_") if "figure" not in each.name else "figure5"
    title = (
        f"Figure 4. {each.name}, one survey"
        if key != "figure5"
        else f"Figure 5. Gaussian, {each.name[10:]}, one survey"
    )
    return Table(key, title, columns, rows, digits=1)


def _root(found: Simulation, estimator: str) -> Measured:
    """Root mean square error over categories and surveys, in people."""
    misses = found.survey.n * (found.runs[estimator].proportions - found.truth)
    squares = (misses**2).mean(axis=1)
    root = float(np.sqrt(squares.mean()))
    return Measured(root, float(squares.std(ddof=1) / np.sqrt(len(squares)) / (2 * root)))


def _negative(found: Simulation) -> Measured:
    """How often NStoPS gives a count below zero."""
    below = (found.runs["moments"].proportions < -1e-12).any(axis=1)
    share = float(below.mean())
    return Measured(share, float(np.sqrt(share * (1 - share) / found.replicates)))


def _errors(names: Sequence[str], many: Sequence[Simulation]) -> Table:
    rows = tuple(
        (name, _negative(found), _root(found, "moments"), _root(found, "maximum_likelihood"))
        for name, found in zip(names, many, strict=True)
    )
    columns = ("population", "NStoPS below zero", "NStoPS, people", "I and II, people")
    return Table("errors", "How often counts come out below zero, and how far they miss", columns, rows, digits=2)


def _example_checks(examples: Sequence[dict[str, Estimate]]) -> list[Check]:
    """The numbers of figure 2 and of the algorithm's own fixed points."""
    first, second = examples
    exact = ((8, 12, 20, 28, 32), (92, 68, 36, -16, -80), (80, 20, 0, 0, 0))
    found = {
        "NStoPS-I, first survey": (first["NStoPS-I"], exact[0], 0.005),
        "NStoPS, second survey": (second["NStoPS"], exact[1], 1e-9),
        "NStoPS-II, second survey": (second["NStoPS-II"], exact[2], 1e-9),
        "NStoPS-I, second survey": (second["NStoPS-I"], exact[2], 0.005),
    }
    return [
        Check(f"{name}, t{place + 1}", float(source), float(fit.counts[place]), rounding=rounding)
        for name, (fit, sources, rounding) in found.items()
        for place, source in enumerate(sources)
    ]


def _agreement(five: Design, setting: Setting) -> list[Check]:
    """I, II and maximum likelihood are one estimate: the largest difference over a few surveys, in people."""
    rng, apart, stopped = setting.rng(30), 0.0, 0.0
    for people in POPULATIONS.values():
        for _ in range(5):
            truth = rng.multinomial(PEOPLE, people.proportions)
            tally = five.tally(five.randomize(np.repeat(five.categories, truth), rng=rng))
            second = estimate.nstops_ii(five, tally).counts
            apart = max(apart, float(np.abs(second - estimate.maximum_likelihood(five, tally).counts).max()))
            stopped = max(stopped, float(np.abs(second - estimate.nstops_i(five, tally).counts).max()))
    return [
        Check("NStoPS-II less maximum likelihood, people", 0.0, apart, rounding=0.01),
        Check(f"NStoPS-I less NStoPS-II, people, stopped at {_STOP:g}", 0.0, stopped, rounding=0.5),
    ]


def _error_checks(names: Sequence[str], many: Sequence[Simulation]) -> list[Check]:
    """The paper: where NStoPS goes below zero, the others are much closer to the original."""
    checks = []
    for name, found in zip(names, many, strict=True):
        plain, ours = _root(found, "moments"), _root(found, "maximum_likelihood")
        error = float(np.hypot(plain.error, ours.error))
        checks.append(Check(f"{name}: error of I and II, people", plain.value, ours.value, error, relation="at most"))
    return checks


def _iteration_pictures(examples: Sequence[dict[str, Estimate]]) -> list[Picture]:
    pictures = []
    for letter, named, found in zip("ab", EXAMPLES, examples, strict=True):
        title = f"Figure 2 ({letter}). NStoPS-I from {named}"

        def draw(size: int, title: str = title, path: Floats | None = found["NStoPS-I"].path) -> str:
            return charts.convergence(path, range(1, CATEGORIES + 1), title=title, size=size)  # type: ignore[arg-type]

        pictures.append(Picture(f"figure2{letter}", title, draw))
    return pictures


def _picture(each: _Survey, place: int) -> Picture:
    """One of figure 4 or figure 5: original, NStoPS, and the methods that stay at zero or above."""
    n, name = each.truth.sum(), "figure5" if place == len(POPULATIONS) else f"figure4{'abcd'[place]}"
    marks = [
        charts.Mark("truth", "original", each.truth / n),
        charts.Mark("estimate", "NStoPS-I", each.found["NStoPS-I"] / n),
        charts.Mark("pooled", "NStoPS", each.found["NStoPS"] / n),
    ]
    title = f"Figure {name[6:]}. {each.name.removeprefix('figure 5, ')}"
    return Picture(
        name,
        title,
        lambda size: charts.dots(tuple(range(1, len(each.truth) + 1)), marks, title=title, size=size),
    )
