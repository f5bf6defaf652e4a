"""A file of true answers that is randomized once: what is estimated is the file, and only chance in the answers counts.

Esponda, Huerta & Guerrero (2016) propose it "to disclose data sources that contain sensitive attributes". The standard
error of a sample would be too large here: nobody was sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naysay import designs, estimate
from naysay.design import Design, Levels
from naysay.estimate import Estimate
from naysay.show import charts
from naysay.simulate import Simulation
from naysay.tally import Tally
from reproductions.esponda2016 import QUESTIONS, SOURCE, Question
from reproductions.result import Check, Measured, Picture, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Released:
    """One column, randomized under one design: a single release, and many."""

    question: Question
    design: Design | Levels
    name: str
    fits: dict[str, Estimate]
    found: dict[str, Simulation]

    @property
    def truth(self) -> Floats:
        """The file's own shares."""
        return self.question.people.proportions


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    released = [each for place, question in enumerate(QUESTIONS) for each in _releases(question, setting, 10 * place)]
    return Reproduction(
        name="file",
        title="A randomized file: the file and the population as targets",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(_errors(released), *(_one(each) for each in released if isinstance(each.design, Levels))),
        checks=tuple(check for each in released for check in _checks(each)),
        pictures=tuple(_picture(each) for each in released if isinstance(each.design, Levels)),
        notes=(
            "file: the same 10,108 records, randomized again and again; population: another sample each time",
            "standard errors are means over the surveys, s.d. is the spread of the estimates, both over the categories",
        ),
    )


def _releases(question: Question, setting: Setting, place: int) -> list[_Released]:
    half = max(1, len(question.counts) // 2)
    asked: dict[str, Design | Levels] = {
        f"{half} ruled out": designs.negative(tuple(question.counts), discards=half),
        "levels": question.choice,
    }
    return [
        _release(question, name, design, setting, place + 3 * at) for at, (name, design) in enumerate(asked.items())
    ]


def _release(question: Question, name: str, design: Design | Levels, setting: Setting, place: int) -> _Released:
    """The column as a file of records, each of which is replaced by a randomized one."""
    rng = setting.rng(place)
    records = np.repeat(np.array(tuple(question.counts), dtype=object), tuple(question.counts.values()))
    tally = design.tally(design.randomize(records, rng=rng))
    targets = ("file", "population")
    options = {"n": question.n, "estimators": ["stratified" if isinstance(design, Levels) else "moments"]}
    return _Released(
        question,
        design,
        name,
        fits={target: _fit(design, tally, target) for target in targets},
        found={
            target: setting.surveys(design, question.people, place=place + at, target=target, **options)
            for at, target in enumerate(targets, start=1)
        },
    )


def _fit(design: Design | Levels, tally: Tally, target: str) -> Estimate:
    by = estimate.stratified if isinstance(design, Levels) else estimate.moments
    return by(design, tally, target=target)


def _mean(values: Floats, errors: Floats) -> Measured:
    """The mean over the categories; its error as if they moved together, which is at most too large."""
    return Measured(float(values.mean()), float(errors.mean()))


def _errors(released: Sequence[_Released]) -> Table:
    """Estimated standard errors beside the spread of the estimates, for both targets."""
    rows = []
    for each in released:
        shown: list[Measured | float] = []
        for target in ("file", "population"):
            summary = each.found[target].summary()
            told = 100 * float(summary.mean_standard_error.values.mean())
            spread = _mean(100 * summary.standard_deviation.values, 100 * summary.standard_deviation.errors)
            shown += [told, spread]
        rows.append((f"{each.question.label}, {each.name}", *shown))
    columns = ("column and design", "file: s.e.", "s.d.", "population: s.e.", "s.d.")
    return Table("errors", "Standard errors in percentage points", columns, tuple(rows), digits=2)


def _one(each: _Released) -> Table:
    """One released file: the truth, the estimate and both standard errors."""
    file, population = each.fits["file"], each.fits["population"]
    shown = [each.truth, file.proportions, file.standard_errors, population.standard_errors]
    rows = tuple(
        (str(category), *row)
        for category, row in zip(each.question.counts, (100 * np.array(shown).T).tolist(), strict=True)
    )
    columns = ("category", "truth", "estimate", "s.e., file", "s.e., population")
    return Table(
        each.question.name, f"One release: {each.question.label}, {each.name}, percent", columns, rows, digits=2
    )


def _checks(each: _Released) -> list[Check]:
    name, checks = f"{each.question.label}, {each.name}", []
    for target in ("file", "population"):
        summary = each.found[target].summary()
        told = float(summary.mean_standard_error.values.mean())
        spread = _mean(summary.standard_deviation.values, summary.standard_deviation.errors)
        checks.append(Check(f"{name}: s.d., {target}, points", 100 * told, 100 * spread.value, 100 * spread.error))
    away = np.abs(each.fits["file"].proportions - each.truth) / each.fits["file"].standard_errors
    checks.append(Check(f"{name}: one release, largest miss in s.e.", 4.0, float(away.max()), relation="at most"))
    if not isinstance(each.design, Levels):
        summary, k, t = each.found["file"].summary(), len(each.truth) // 2, len(each.truth)
        formula = np.sqrt((1 - each.truth) * (t - 1 - k) / (k * each.question.n)).mean()
        told = float(summary.mean_standard_error.values.mean())
        error = float(summary.mean_standard_error.errors.mean())
        checks.append(Check(f"{name}: (1-π)(t-1-k)/(kn), points", 100 * float(formula), 100 * told, 100 * error, 0.005))
    return checks


def _picture(each: _Released) -> Picture:
    fit = each.fits["file"]
    marks = [
        charts.Mark("truth", "the file", each.truth),
        charts.Mark("estimate", "estimate with 95 % interval", fit.proportions, fit.interval()),
    ]
    categories, title = tuple(each.question.counts), f"One release: {each.question.label}"
    return Picture(
        each.question.name,
        title,
        lambda size: charts.dots(categories, marks, title=title, size=size, room=17 if size < 400 else 26),
    )
