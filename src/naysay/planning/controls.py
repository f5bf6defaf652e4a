"""Planning controls: how many respondents show that some do not comply, and what a control costs.

The test is exact and one-sided: so many answers that tell (in a negative survey: that rule out what is known to be
true) do not come from n people who all comply, except with chance α. Where those who comply give such answers, too, all
answers to several controls count, and the power is by the normal approximation, since a person's answers go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Floats, Key, Label
from naysay.design import Answerable
from naysay.design.several import positive, share
from naysay.errors import DataError, NaysayError
from naysay.estimate.samples import Controls, controls_of
from naysay.planning.power import MOST, checked_power
from naysay.planning.variance import respondents, variance


class _Telling(NamedTuple):
    """How likely a telling answer is if everybody complies, and if a share does not; and how many a person gives.

    The variance is that of how many telling answers a person gives if a share does not comply.
    """

    comply: float
    mixed: float
    answers: int
    variance: float


def _telling_chances(design: Answerable, share_of: float, slips: float) -> _Telling:
    channels = list(design.parts.values())
    channel_controls = [controls_of(design, channel) for channel in channels]
    controls = channel_controls[0]
    if controls is None:
        raise DataError(
            f"{design.name or design.kind} has no control that shows one type of people who do not comply; plan with "
            "designs.controlled(design, truth=…)"
        )
    share(share_of, what="the share that does not comply")
    several = len(controls.signals) if _counts_all(controls) else 1
    complying, others = (controls.signals[0].chances if several > 1 else controls.chances).tolist()
    complying = max(complying, share(slips, what="the share of slips"))
    mixed = (1 - share_of) * complying + share_of * others
    within = (1 - share_of) * complying * (1 - complying) + share_of * others * (1 - others)
    between = share_of * (1 - share_of) * (others - complying) ** 2
    return _Telling(complying, mixed, several, several * within + several**2 * between)


def _counts_all(controls: Controls) -> bool:
    """Whether the test counts all telling answers of a person: those who comply give some, to all controls alike."""
    return bool(
        controls.variances[0] > 1e-10
        and all(signal.has_two_values for signal in controls.signals)
        and np.ptp([signal.chances for signal in controls.signals], axis=0).max() < 1e-10
    )


def _power(n: Floats, telling: _Telling, alpha: float) -> Floats:
    # the least count that rejects: P(count or more) <= alpha if everybody complies
    answers = n * telling.answers
    least = scipy.stats.binom.isf(alpha, answers, telling.comply) + 1
    if telling.answers == 1:
        return np.asarray(scipy.stats.binom.sf(least - 1, answers, telling.mixed))
    return np.asarray(scipy.special.ndtr((answers * telling.mixed - least + 0.5) / np.sqrt(n * telling.variance)))


def detection_power(
    design: Answerable, share_of: float, *, n: int, slips: float = 0.0, confidence: float = 0.95
) -> float:
    """How often n answers to a control show that a share of people does not comply.

    Parameters
    ----------
    design : Samples
        A design with controls, such as `designs.controlled(…)`.
    share_of : float
        The share that does not comply.
    n : int
        Respondents who answer.
    slips : float
        The share of people who comply and yet give a telling answer by mistake. Where those who comply never give one,
        a single one rejects, unless slips are allowed for.
    confidence : float
        1 minus the size of the one-sided test.

    Raises
    ------
    DataError
        A design without such a control; shares outside [0, 1]; fewer than one respondent.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.controlled(designs.negative(tuple("abcde")), truth="lot")
    >>> round(detection_power(survey, 0.1, n=80), 3)
    0.801
    """
    people = np.array([respondents(n)])
    return float(_power(people, _telling_chances(design, share_of, slips), 1 - _checks.confidence(confidence))[0])


def detection_size(
    design: Answerable, share_of: float, *, power: float = 0.8, slips: float = 0.0, confidence: float = 0.95
) -> int:
    """The smallest number of answers from which on a control shows that a share of people does not comply.

    Parameters
    ----------
    design, share_of, slips, confidence
        As in `detection_power`.
    power : float
        How often the test shall find it.

    Raises
    ------
    DataError
        A target that no number of respondents reaches; anything that `detection_power` refuses.

    Examples
    --------
    >>> from naysay import designs
    >>> choices = designs.negative(tuple("abcde"), discards=2)
    >>> detection_size(designs.controlled(choices, truth="lot"), 0.1)
    40
    >>> crosswise = designs.crosswise(prevalence=0.25)
    >>> detection_size(designs.controlled(crosswise, truth="no"), 0.1)
    1980
    """
    wanted_power, alpha = checked_power(power, confidence), 1 - _checks.confidence(confidence)
    chances = _telling_chances(design, share_of, slips)
    if chances.mixed <= chances.comply:
        raise DataError(f"no number of respondents finds a share of {share_of:g} with this control; name a larger one")

    def reached(n: int) -> bool:
        return bool(_power(np.array([float(n)]), chances, alpha)[0] >= wanted_power)

    doubled_size = 2
    while not reached(doubled_size):
        doubled_size *= 2
        if doubled_size > MOST:
            raise DataError(f"a power of {power:g} needs more respondents than there are people")
    low, high = 1, 4 * doubled_size
    sizes = np.arange(low, high + 1, dtype=float)
    failing = sizes[_power(sizes, chances, alpha) < wanted_power]
    return int(failing[-1]) + 1


def control_costs(design: Answerable, proportions: ArrayLike, share_of: float, *, controls: int = 1) -> Floats:
    """How many respondents a survey with controls needs for one of the question alone, (t,), by moments.

    n Var π̂_j = [Var u_j + (π_j - v_j)² (Var D - 2ρ(1 - ρ))] / (1 - ρ)², with Var D = ρ(1 - ρ) plus the variance within
    those who comply and the others, which K controls divide by K. The question alone has Var u_j if everybody complies.

    Parameters
    ----------
    design : Samples
        A design with controls, such as `designs.controlled(…)`; its first control stands for all.
    proportions : (t,) float
        Of those who comply, by category.
    share_of : float
        The share that does not comply.
    controls : int
        K, how many such controls everybody answers.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    >>> float(control_costs(survey, (0.1, 0.9), 0).round(2)[0])
    1.57
    """
    _telling_chances(design, share_of, 0.0)  # refuses a design without controls, and what is no share
    pi = _checks.probability_vector(proportions, len(design.categories), what="proportions")
    several = _checks.whole_number(controls, 1, 1_000, what="controls")
    parts = [part for channel in design.parts.values() if (part := controls_of(design, channel)) is not None]
    question, indicators, look = parts[0].question, parts[0].indicators, parts[0].look
    codes = question.space.listing()
    values = question.space.statistic(codes) @ indicators.T
    chances = question.rows(codes) @ np.array([[*pi, 0.0], [*(1 - share_of) * pi, share_of]]).T
    alone, mixed = (chances.T @ values**2 - (chances.T @ values) ** 2).tolist()
    spread = share_of * (1 - share_of)
    within = np.mean([part.signals[0].variances for part in parts], axis=0) @ (1 - share_of, share_of) / several
    needed = np.array(mixed) + (pi - look) ** 2 * (within - spread)
    return np.asarray(needed / (1 - share_of) ** 2 / np.array(alone))


def arm_shares(
    arms: Mapping[Key, Answerable],
    proportions: Mapping[Key, ArrayLike] | ArrayLike,
    *,
    category: Label | None = None,
    costs: Mapping[Key, float] | None = None,
) -> dict[Key, float]:
    """The shares of the respondents in each arm that tell the arms apart best: in proportion to s.d. / √cost.

    Parameters
    ----------
    arms : {name: Design}
        Such as ``{"masked": designs.crosswise(prevalence=0.25), "direct": designs.direct(("yes", "no"))}``.
    proportions : (t,) float, or {name: (t,) float}
        The assumed proportions, which may differ by arm.
    category : label, optional
        The category whose share is compared; by default the first of two.
    costs : {name: float}, optional
        What a respondent costs in each arm; alike by default.

    Examples
    --------
    >>> from naysay import designs
    >>> arms = {"masked": designs.crosswise(prevalence=0.25), "direct": designs.direct(("yes", "no"))}
    >>> shares = arm_shares(arms, {"masked": (0.16, 0.84), "direct": (0.08, 0.92)})
    >>> {name: round(share, 2) for name, share in shares.items()}
    {'masked': 0.78, 'direct': 0.22}
    """
    deviations = {}
    for name, design in arms.items():
        arm_proportions: Any = proportions[name] if isinstance(proportions, Mapping) else proportions
        person = variance(design, arm_proportions, estimator="moments")
        cost = positive(1.0 if costs is None else costs[name], what=f"the cost in arm {name}")
        deviations[name] = float(np.sqrt(person.each[person.place(category)] / cost))
    return {name: deviation / sum(deviations.values()) for name, deviation in deviations.items()}


def arm_lines(design: Answerable, proportions: Floats, category: Label | None) -> list[str]:
    """How to share out the respondents if the difference of arms is the question; none for a design without arms."""
    if not design.structure.stacked or design.cells != design.categories or len(design.parts) != 2:
        return []
    try:
        shares = arm_shares(design.parts, proportions, category=category)
    except NaysayError:  # an arm tells nothing by itself, or no category is named
        return []
    saved = 1 - sum(shares.values()) ** 2 / (2 * sum(share**2 for share in shares.values()))
    split = " and ".join(f"{100 * share:.0f} of 100 in {_checks.label(name)}" for name, share in shares.items())
    more_text = f"equal arms need {100 * saved / (1 - saved):.0f}\u00a0% more people"
    return [f"for the difference of the arms {split} are best; {more_text}"]


def control_lines(design: Answerable, proportions: Floats, share_of: float, n: int) -> list[str]:
    """What the controls of a design show with n respondents and cost, as sentences; none where it has no such control.

    The proportions are of those who comply, by category.
    """
    if controls_of(design, next(iter(design.parts.values()))) is None or not 0 < share_of < 1:
        return []
    prices = [
        f"{max(100 * (control_costs(design, proportions, share, controls=controls)[0] - 1), 0.0):.0f} %"
        for controls in (1, 2)
        for share in (0.0, share_of)
    ]
    found = detection_power(design, share_of, n=n)
    return [
        f"if {100 * share_of:.3g} of 100 do not comply, the control shows it with a power of {found:.3f}; "
        f"{detection_size(design, share_of):,} respondents show it with a power of 0.8",
        f"beside the question alone, a control costs {prices[0]} more respondents for "
        f"“{_checks.label(design.categories[0])}” if everybody complies, and {prices[1]} at this share "
        f"(two: {prices[2]} and {prices[3]}; by moments)",
    ]
