"""How often techniques for sensitive questions were wrong in surveys in which the truth was known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from naysay.data import validation_counts
from naysay.show import Chart, Column, Content, Points, Records, Result, Table, charts

_KINDS = {
    "no": "false yes, of people of whom it is not true",
    "carrier": "false no, of people of whom it is true",
    "control": "answered at random, by a control",
}
_CHI_SQUARE = float(scipy.special.chdtri(1, 0.05))


@dataclass(frozen=True)
class Validated:
    """One technique in one survey: the share of wrong answers, or of random ones, and its 95 % interval.

    Parameters
    ----------
    study, technique : str
    truth : {"no", "carrier", "control"}
        What the share is of: false yes, false no, or random answers.
    n : int
        People.
    share, low, high : float
        NaN where no interval was published.
    counted : bool
        Whether the share is computed here from counts; otherwise it is as published.
    source : str
    """

    study: str
    technique: str
    truth: str
    n: int
    share: float
    low: float
    high: float
    counted: bool
    source: str


@dataclass(frozen=True)
class Validation(Result):
    """The surveys in which the truth was known.

    Parameters
    ----------
    surveys : tuple of Validated
    """

    surveys: tuple[Validated, ...]

    def parts(self) -> list[Content]:
        """A table for false yes, for false no, and for random answers."""
        reading = "* as published, or computed from files of persons; the others are computed here from counts"
        sources = tuple(dict.fromkeys(survey.source for survey in self.surveys))
        return [*(self._table(truth) for truth in _KINDS), Points((reading, *sources), small=True)]

    def _table(self, truth: str) -> Table:
        columns = (
            Column("survey", words=True),
            Column("technique", words=True),
            *map(Column, ("people", "share", "low", "high")),
        )
        rows = tuple(
            (
                survey.study,
                survey.technique + ("" if survey.counted else " *"),
                f"{survey.n:,}",
                *("–" if math.isnan(value) else f"{value:.3f}" for value in (survey.share, survey.low, survey.high)),
            )
            for survey in self.surveys
            if survey.truth == truth
        )
        return Table(columns, rows, caption=_KINDS[truth])

    def chart(self, truth: str = "no", *, size: int = 640, room: int = 34) -> str:
        """An SVG image: of a hundred people, how many were counted wrongly (or answered at random), by survey.

        Parameters
        ----------
        truth : {"no", "carrier", "control"}
        size, room : int
            As in `show.charts.dots`. Shares and ends below 0 are drawn at 0.
        """
        surveys = [survey for survey in self.surveys if survey.truth == truth]
        bounds = np.clip(np.array([[survey.low, survey.high] for survey in surveys]), 0, 1)
        shares = np.clip([survey.share for survey in surveys], 0, 1)
        labels = [f"{survey.technique}, {survey.study}" for survey in surveys]
        marks = [charts.Mark("estimate", _KINDS[truth].partition(",")[0], shares, bounds)]
        return charts.dots(labels, marks, title=_KINDS[truth], size=size, room=room, axis="share of these people")

    def charts(self) -> list[Chart]:
        """The three images, for a page."""
        return [Chart(lambda size, room, truth=truth: self.chart(truth, size=size, room=room)) for truth in _KINDS]  # type: ignore[misc]

    def numbers(self) -> dict[str, object]:
        """The surveys by the names of their JSON."""
        return {"surveys": [vars(survey) for survey in self.surveys]}

    def records(self) -> Records:
        """A row for each survey and technique."""
        names = list(Validated.__dataclass_fields__)
        return Records(names, [[getattr(survey, name) for name in names] for survey in self.surveys])


def validation() -> Validation:
    """How often techniques were wrong in surveys in which the truth was known, with 95 % intervals.

    Of people of whom the sensitive statement is not true, the share counted as yes (false yes); of carriers, the share
    counted as no (false no); and by controls of which both truths are known, the share that answers at random: twice
    the share of wrong answers, since half of the random answers are right. Intervals of counts are those of the
    likelihood, and for controls exact (Clopper & Pearson).

    References
    ----------
    `data.validation_counts` names the source of each.

    Examples
    --------
    >>> by_control = [survey for survey in validation().surveys if survey.truth == "control" and survey.counted]
    >>> [f"{survey.share:.3f} ({survey.low:.3f} to {survey.high:.3f})" for survey in by_control][:2]
    ['0.254 (0.189 to 0.333)', '0.271 (0.200 to 0.355)']
    """
    surveys = []
    for study in validation_counts()["studies"]:
        if (is_counted := "errors" in study) and study["truth"] == "control":
            exact = scipy.stats.binomtest(study["errors"], study["n"]).proportion_ci(method="exact")
            share, low, high = (2 * float(end) for end in (study["errors"] / study["n"], exact.low, exact.high))
        elif is_counted:
            share, (low, high) = study["errors"] / study["n"], _likelihood_interval(study["errors"], study["n"])
        else:
            share, low, high = (math.nan if study[name] is None else study[name] for name in ("share", "low", "high"))
        surveys.append(
            Validated(
                study=study["study"],
                technique=study["technique"],
                truth=study["truth"],
                n=study["n"],
                share=share,
                low=low,
                high=high,
                counted=is_counted,
                source=study["source"],
            )
        )
    return Validation(tuple(surveys))


def _likelihood_interval(errors: int, n: int) -> tuple[float, float]:
    """The shares whose likelihood is within the quantile of chi-square on one degree of freedom."""
    best_share = errors / n

    def above(share: float) -> float:
        log_ratio = scipy.special.xlogy(errors, best_share / share) + scipy.special.xlogy(
            n - errors, (1 - best_share) / (1 - share)
        )
        return float(2 * log_ratio - _CHI_SQUARE)

    tiny = 1e-12
    low = 0.0 if errors == 0 else float(scipy.optimize.brentq(above, tiny, best_share))
    return low, 1.0 if errors == n else float(scipy.optimize.brentq(above, best_share, 1 - tiny))
