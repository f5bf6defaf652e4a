"""Esponda (2006): the salary question, the two-option scheme with its band, and the information of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import designs, estimate, planning, privacy, simulate
from naysay.design import Design, flowchart
from naysay.show import charts
from naysay.simulate import Simulation
from reproductions.result import Cell, Check, Measured, Picture, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["partial", "run"]

Floats = NDArray[np.float64]

SOURCE = "Esponda F (2006). Negative surveys. arXiv math/0608176."
SALARIES = (
    "Less than 30,000 dollars a year",
    "Between 30,000 and 60,000 dollars a year",
    "More than 60,000 dollars a year",
)
SHARES, PEOPLE = (0.5, 0.3, 0.2), 1_000
"""The paper gives no shares; these are ours."""

FOUR, FOUR_SHARES = ("a", "b", "c", "d"), (0.4, 0.3, 0.2, 0.1)
SIZES = range(3, 11)
_LARGE = 1_000_000  # answers in place of expectations, where counts must be whole


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    salary = designs.negative(SALARIES)
    people = simulate.shares(SHARES, SALARIES)
    found = setting.surveys(salary, people, place=0, n=PEOPLE, estimators=["moments"])
    bands = {strength: _band(strength) for strength in (0.0, 0.5, 1.0)}
    return Reproduction(
        name="esponda2006",
        title="Negative surveys: the salary question, two options, information",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(_matrix(salary), _salary(found), _preferences(bands), _information()),
        checks=(*_salary_checks(salary, found), *_option_checks(bands), *_information_checks()),
        pictures=(
            Picture(
                "salary",
                "The salary question, and the same in the negative",
                lambda size: flowchart.question_pair("I earn:", "I do not earn:", SALARIES),
            ),
            Picture("band", "Two options: an ignored coin, and the band that allows for it", _chart(bands[1.0])),
        ),
        notes=(
            "the paper gives no shares for its salaries; they are 50, 30 and 20 % of 1,000 people here",
            "two options: preferences of strength 1 reject the category that comes first, whatever the coin says",
            "information under a uniform prior; under another, a mean over the answers, of which one may be negative",
        ),
    )


def _matrix(salary: Design) -> Table:
    """What members of each category may answer."""
    names = [str(said) for said in salary.categories]
    rows = tuple((f"says no to: {name}", *row) for name, row in zip(names, salary.matrix.tolist(), strict=True))
    return Table("matrix", "P(response | category)", ("", "earns < 30k", "30–60k", "> 60k"), rows, digits=2)


def _salary(found: Simulation) -> Table:
    """Estimates and standard errors of the salary question, by formula and simulated."""
    summary = found.summary("moments")
    planned = planning.variance(found.survey.design, SHARES, estimator="moments").standard_errors(PEOPLE)
    rows: list[tuple[Cell, ...]] = []
    for place, name in enumerate(SALARIES):
        mean = Measured(SHARES[place] + float(summary.bias.values[place]), float(summary.bias.errors[place]))
        spread = Measured(
            float(summary.standard_deviation.values[place]), float(summary.standard_deviation.errors[place])
        )
        told = float(summary.mean_standard_error.values[place])
        rows.append((name, SHARES[place], mean, float(planned[place]), spread, told))
    columns = ("I earn", "truth", "mean", "s.e., formula", "s.d.", "mean s.e., equation 9")
    return Table("salary", "The salary question, 1,000 people", columns, tuple(rows), digits=4)


def _salary_checks(salary: Design, found: Simulation) -> list[Check]:
    """Equations 5 and 6 are equations 8 to 10 where every false category is as likely."""
    tally = salary.tally(count=[240, 350, 410])
    fit, named = estimate.moments(salary, tally), np.array([0.24, 0.35, 0.41])
    inverse = np.linalg.inv(salary.matrix)
    general = inverse @ (np.diag(named) - np.outer(named, named)) @ inverse.T / 999
    closed = -4 / 999 * np.outer(named, named)
    np.fill_diagonal(closed, 4 / 999 * named * (1 - named))
    summary = found.summary("moments")
    planned = planning.variance(salary, SHARES, estimator="moments").standard_errors(PEOPLE)
    checks = [
        Check(
            "salary, 240, 350, 410: equation 8 less equation 5",
            0.0,
            float(np.abs(1 - 2 * named - inverse @ named).max()),
        ),
        Check("salary: naysay less equation 8", 0.0, float(np.abs(1 - 2 * named - fit.proportions).max())),
        Check("salary: naysay less equation 6", 0.0, float(np.abs(general - fit.covariance).max())),
        Check("salary: equations 9 and 10 less equation 6", 0.0, float(np.abs(closed - general).max())),
    ]
    for place, name in enumerate(("< 30k", "30–60k", "> 60k")):
        spread = summary.standard_deviation
        checks.append(
            Check(
                f"salary, {name}: s.d.", float(planned[place]), float(spread.values[place]), float(spread.errors[place])
            )
        )
    return checks


def partial(t: int, strength: float) -> list[list[float]]:
    """Preferences θ (t, t): the category that comes first is rejected with chance ½ + strength/2 if both are false."""
    ahead = (1 + strength) / 2
    return [[0.0 if i == k else ahead if i < k else 1 - ahead for k in range(t)] for i in range(t)]


def _band(strength: float) -> dict[str, Any]:
    """What preferences do to an estimate that takes the coin for fair, in expectation, and the band around it."""
    fair = designs.two_option(FOUR)
    used = designs.two_option(FOUR, preferences=partial(4, strength)).matrix
    expected = np.rint(_LARGE * used @ np.array(FOUR_SHARES))
    tally = fair.tally(count=expected)
    estimates = estimate.moments(fair, tally).proportions
    return {"used": used, "estimate": estimates, "band": estimate.preference_band(fair, tally)}


def _preferences(bands: dict[float, dict[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for strength, found in bands.items():
        for place, name in enumerate(FOUR):
            low, high = found["band"][place].tolist()
            rows.append(
                (f"strength {strength:g}, {name}", FOUR_SHARES[place], float(found["estimate"][place]), low, high)
            )
    columns = ("preferences", "truth", "coin taken for fair", "band from", "to")
    return Table("two_option", "Two of four options: what an ignored coin does", columns, tuple(rows))


def _option_checks(bands: dict[float, dict[str, Any]]) -> list[Check]:
    """A fair coin is the uniform survey; every entry stays within its bounds; the band holds the truth."""
    truth = np.array(FOUR_SHARES)
    off = ~np.eye(4, dtype=bool)
    entries = np.concatenate([found["used"][off] for found in bands.values()])
    backwards = designs.two_option(FOUR, preferences=np.array(partial(4, 1.0)).T).matrix
    outside = max(
        float(np.maximum(found["band"][:, 0] - truth, truth - found["band"][:, 1]).max()) for found in bands.values()
    )
    return [
        Check("two options, fair coin: every entry", 1 / 3, float(bands[0.0]["used"][off].mean())),
        Check(
            "two options, coin ignored, order random: largest entry",
            1 / 3,
            float((bands[1.0]["used"] + backwards).max()) / 2,
        ),
        Check("two options: smallest entry, 2/(t(t-1))", 2 / 12, float(entries.min())),
        Check("two options: largest entry, 2/t", 2 / 4, float(entries.max())),
        Check("two options: truth outside the band by", 0.0, outside, rounding=1e-5, relation="at most"),
        Check(
            "two options: the estimate misses by",
            0.1,
            float(np.abs(bands[1.0]["estimate"] - truth).max()),
            relation="at least",
        ),
    ]


def _information() -> Table:
    """Bits of a positive and of a negative answer."""
    rows: list[tuple[Cell, ...]] = []
    for t in SIZES:
        asked, halving = designs.negative(tuple(range(t))), 0.5 ** np.arange(1.0, t + 1)
        prior = halving / halving.sum()
        positive = float(privacy.information(designs.direct(tuple(range(t)))))
        negative = float(privacy.information(asked))
        terms = privacy.gain(asked, list(range(t)), prior)
        rows.append(
            (
                str(t),
                positive,
                negative,
                negative / positive,
                float(privacy.information(asked, prior)),
                float(terms.min()),
            )
        )
    columns = ("t", "positive, bits", "negative", "share", "halving prior", "its least term")
    return Table("information", "What an answer tells, t = 3 … 10", columns, tuple(rows))


def _information_checks() -> list[Check]:
    """Equation 2 under a uniform prior, its average under another, and a term below zero."""
    checks = []
    for t in SIZES:
        asked = designs.negative(tuple(range(t)))
        checks.append(
            Check(f"bits of a negative answer, t = {t}", float(np.log2(t / (t - 1))), float(privacy.information(asked)))
        )
    three, prior = designs.negative(("a", "b", "c")), np.array([0.9, 0.05, 0.05])
    terms, chances = privacy.gain(three, ["a", "b", "c"], prior), three.matrix @ prior
    return [
        *checks,
        Check("bits of one answer under (.9, .05, .05)", -0.43, float(terms[0]), rounding=0.005),
        Check(
            "mean of the terms less the information", 0.0, float(terms @ chances - privacy.information(three, prior))
        ),
    ]


def _chart(found: dict[str, Any]) -> Any:
    marks = [
        charts.Mark("truth", "truth", FOUR_SHARES),
        charts.Mark("estimate", "coin taken for fair, with the band", found["estimate"], found["band"]),
    ]
    return lambda size: charts.dots(FOUR, marks, title="Two options, the coin ignored", size=size, axis="share")
