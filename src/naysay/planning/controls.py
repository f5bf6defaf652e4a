"""Planning controls: how many respondents show that some do not comply, and what a control costs.

The test is exact and one-sided: so many answers that tell (in a negative survey: that rule out what is known to be
true) do not come from n people who all comply, except with chance α.
"""

from __future__ import annotations

import numpy as np
import scipy

from naysay import _checks
from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.several import share
from naysay.errors import DataError
from naysay.estimate.controls import controls_of
from naysay.planning.power import MOST, checked_power
from naysay.planning.variance import respondents


def _telling_chances(design: Answerable, share_of: float, slips: float) -> tuple[float, float]:
    """How likely a telling answer is if everybody complies, and if a share does not."""
    channels = list(design.parts.values())
    channel_controls = [controls_of(design, channel) for channel in channels]
    controls = channel_controls[0]
    if controls is None:
        raise DataError(
            f"{design.name or design.kind} has no control that shows one type of people who do not comply; plan with "
            "designs.controlled(design, truth=…)"
        )
    share(share_of, what="the share that does not comply")
    complying, others = controls.chances.tolist()
    complying = max(complying, share(slips, what="the share of slips"))
    return complying, (1 - share_of) * complying + share_of * others


def _power(n: Floats, chances: tuple[float, float], alpha: float) -> Floats:
    # the least count that rejects: P(count or more) <= alpha if everybody complies
    least = scipy.stats.binom.isf(alpha, n, chances[0]) + 1
    return np.asarray(scipy.stats.binom.sf(least - 1, n, chances[1]))


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
    if chances[1] <= chances[0]:
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


def control_lines(design: Answerable, share_of: float, n: int) -> list[str]:
    """What the controls of a design show with n respondents, as sentences; none where it has no such control."""
    if controls_of(design, next(iter(design.parts.values()))) is None or not 0 < share_of < 1:
        return []
    found = detection_power(design, share_of, n=n)
    return [
        f"if {100 * share_of:.3g} of 100 do not comply, the control shows it with a power of {found:.3f}; "
        f"{detection_size(design, share_of):,} respondents show it with a power of 0.8"
    ]
