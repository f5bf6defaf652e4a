"""Anyone who has the link can answer any number of times: how far dishonest answers move an estimate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from naysay.collect.questionnaire import Questionnaire
from naysay.design import Answerable
from naysay.errors import NotEstimable, StatisticalWarning
from naysay.estimate import Estimate, leverage

OPEN_LINK = "anyone who has the link can answer any number of times"
BY_INVITATION = "each answer comes with an invitation of its own"


def cautioned(fit: Estimate, *, invites: bool = False) -> Estimate:
    """An estimate from answers to an open link, with that among its warnings; from one that invites, as it is.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.warner(p=0.7)
    >>> print(cautioned(estimate.moments(survey, survey.tally(count=[480, 520]))).warnings[-1])
    anyone who has the link can answer any number of times: of every 100 answers, a single one that is repeated or ...
    """
    if invites:
        return fit
    caution_text = (
        f"{OPEN_LINK}: of every 100 answers, a single one that is repeated or dishonest moves a share by up to"
    )
    return replace(
        fit, warnings=(*fit.warnings, StatisticalWarning(f"{caution_text} {_points_text(_points([fit.design]))}"))
    )


def moved_points_text(questionnaire: Questionnaire) -> str:
    """By how much one percent of repeated or dishonest answers moves the share that moves most; empty if all is plain.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> moved_points_text(sample())
    'up to ... percentage points (by moments)'
    """
    most_points = most_moved_points(questionnaire)
    return f"up to {_points_text(most_points)}" if most_points is not None else ""


def most_moved_points(questionnaire: Questionnaire) -> float | None:
    """By how many percentage points one percent of dishonest answers moves a share at most; None if all is plain.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> most_moved_points(sample()) > 1
    True
    """
    private_designs = [question.privacy.offer for question in questionnaire.questions if question.privacy is not None]
    return _points(private_designs) if private_designs else None


def _points(designs: Iterable[Answerable]) -> float:
    most_leverage = 0.0
    for design in designs:
        try:
            most_leverage = max(most_leverage, leverage(design))
        except NotEstimable:  # nothing is estimated from such a design, so nothing can be moved
            continue
    return 100 * most_leverage


def _points_text(points: float) -> str:
    return f"{points:.3g} percentage points (by moments)"  # likelihood may move more, see `leverage`
