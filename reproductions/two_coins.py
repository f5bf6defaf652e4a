"""The two coins: heads on the first, tell the truth; tails, say what the second shows. An example of 200 people."""

from __future__ import annotations

import math

import numpy as np

from naysay import designs, estimate, planning, privacy, simulate
from naysay.design import Design
from naysay.show import charts
from naysay.simulate import Simulation
from reproductions.result import Check, Measured, Picture, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["run"]

SOURCE = (
    "The randomized-response example with two coins, after J. D. Cook, “Randomized response, privacy, and Bayes "
    "theorem”: 200 people, 15 % of whom belong to the sensitive category."
)
PEOPLE, SHARE = 200, 0.15
_ESTIMATE, _TRUE_ANSWERS = 0.14, 0.75  # as printed, of one survey
_HALF_UNIT = 0.005


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    coins = designs.two_coins()
    proportions = (SHARE, 1 - SHARE)
    found = setting.surveys(
        coins, simulate.shares(proportions, coins.categories), place=0, n=PEOPLE, estimators=["moments"]
    )
    summary = found.summary("moments")
    planned = float(planning.variance(coins, proportions, estimator="moments").standard_errors(PEOPLE)[0])
    spread = Measured(float(summary.standard_deviation.values[0]), float(summary.standard_deviation.errors[0]))
    mean = Measured(SHARE + float(summary.bias.values[0]), float(summary.bias.errors[0]))
    true = _true_answers(setting)
    rows = (
        ("estimate of the share", SHARE, mean),
        ("standard error", planned, spread),
        ("answers that are true", float(coins.matrix[0, 0]), true),
        ("ε", math.log(3), float(privacy.epsilon(coins))),
    )
    return Reproduction(
        name="two_coins",
        title="Two coins: p̂ = 2Ȳ - ½",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(
            Table("numbers", "200 people, 15 in 100", ("", "formula", "simulated"), rows, digits=4),
            _reader(coins),
        ),
        checks=(
            Check("p̂ = 2Ȳ - ½ on average", SHARE, *mean),
            Check("standard error", planned, *spread),
            Check("standard error, to three digits", 0.066, planned, rounding=0.0005),
            Check("the post's 14 %, in standard errors off", 2.0, abs(_ESTIMATE - SHARE) / planned, relation="at most"),
            Check("p̂ for the post's share of yes, 0.32", _ESTIMATE, _estimate(64), rounding=_HALF_UNIT),
            Check("answers that are true", _TRUE_ANSWERS, *true),
            Check("ε = ln 3", math.log(3), float(privacy.epsilon(coins))),
        ),
        pictures=(Picture("estimates", "Estimates of all surveys beside the truth", lambda size: _chart(found, size)),),
        notes=("three quarters of all answers are true: half by the first coin, and half of the rest by chance",),
    )


def _estimate(yes: int) -> float:
    """The estimate from so many yes of 200."""
    coins = designs.two_coins()
    return float(estimate.moments(coins, coins.tally(count=[yes, PEOPLE - yes])).proportions[0])


def _true_answers(setting: Setting) -> Measured:
    """How many of all answers are true, over people drawn one by one."""
    coins, rng = designs.two_coins(), setting.rng(1)
    truth = rng.choice(coins.categories, size=setting.runs * PEOPLE, p=(SHARE, 1 - SHARE))
    share = float(np.mean(np.asarray(coins.randomize(truth, rng=rng)) == truth))
    return Measured(share, math.sqrt(share * (1 - share) / len(truth)))


def _reader(coins: Design) -> Table:
    """What somebody who sees an answer may conclude."""
    rows = []
    for said in coins.categories:
        after = float(privacy.posterior(coins, [said], prior=(SHARE, 1 - SHARE))[0, 0])
        rows.append((f"said {said}", SHARE, after, after / (1 - after) / (SHARE / (1 - SHARE))))
    columns = ("the answer", "before", "after", "odds, times")
    return Table("posterior", "How likely the person belongs to the sensitive category", columns, tuple(rows))


def _chart(found: Simulation, size: int) -> str:
    estimates = found.runs["moments"].proportions
    middle = np.quantile(estimates, [0.025, 0.975], axis=0).T
    marks = [
        charts.Mark("truth", "truth", found.truth),
        charts.Mark("estimate", "mean and 95 of 100 estimates", estimates.mean(axis=0), middle),
    ]
    return charts.dots(found.categories, marks, title="Two coins, 200 people", size=size, axis="share")
