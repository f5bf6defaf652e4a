"""What controls say: who does not comply, and the cells that follow from it by moments.

People of one type answer question and controls in a way of their own, whatever is true of them. With ū the unbiased
indicators of the question as if everybody complied, v what such people look like there, and D a statistic of the
controls whose mean is 0 among those who comply and 1 among the others,

    ρ̂ = D̄,   a_j = ū_j - ρ̂ v_j,   π̂_j = a_j / (1 - ρ̂).

D is the linear statistic of a control's answers that has the least variance among those who comply; where an answer is
impossible for them, it has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from naysay._values import Floats
from naysay.design import Answerable, Both
from naysay.estimate.likelihood import tangent
from naysay.tally import Channel

_NONE = 1e-10  # variances and distances below it are rounding


class Signal(NamedTuple):
    """What one control shows: D = shift + slope · T, of the values that its answers give it.

    Parameters
    ----------
    slope : (d,) float
    shift : float
    values : (responses,) float
        D of each response that somebody can give.
    comply, others : (responses,) float
        How likely each response is from those who comply, and from the others.
    """

    slope: Floats
    shift: float
    values: Floats
    comply: Floats
    others: Floats

    @property
    def variances(self) -> Floats:
        """Var D among those who comply and among the others, (2,)."""
        chances = np.array([self.comply, self.others])
        return np.asarray(chances @ self.values**2 - (chances @ self.values) ** 2)

    @property
    def chances(self) -> tuple[float, float] | None:
        """How likely the larger of two values of D is from those who comply, and from the others.

        None where D has more than two values.
        """
        low, high = self.values.min(), self.values.max()
        is_high = self.values > (low + high) / 2
        if np.abs(np.where(is_high, high, low) - self.values).max() > _NONE * max(high - low, 1.0):
            return None
        return float(self.comply @ is_high), float(self.others @ is_high)


class Controls(NamedTuple):
    """A sample's question, what people who do not comply look like there, and its controls.

    Parameters
    ----------
    question : Channel
    indicators : (t, d) float
        U, so that u = centre + U (T - A centre) for equal shares `centre`.
    look : (t,) float
        v, the mean indicators of people who do not comply.
    signals : tuple of Signal
    """

    question: Channel
    indicators: Floats
    look: Floats
    signals: tuple[Signal, ...]

    @property
    def slope(self) -> Floats:
        """How the cells move with the means of the statistics of all answers, (cells, d)."""
        signal_slopes = [signal.slope / len(self.signals) for signal in self.signals]
        share_slope = np.concatenate([np.zeros(self.indicators.shape[1]), *signal_slopes])
        category_slopes = np.pad(self.indicators, ((0, 0), (0, len(share_slope) - self.indicators.shape[1])))
        return np.vstack([category_slopes - np.outer(self.look, share_slope), share_slope])

    @property
    def variances(self) -> Floats:
        """Var D̄ of one person who complies, and of one who does not, (2,)."""
        return np.asarray(np.sum([signal.variances for signal in self.signals], axis=0) / len(self.signals) ** 2)


def controls_of(design: Answerable, channel: Channel) -> Controls | None:
    """The question and the controls that the answers of a sample hold; None where it is no such sample.

    The last answers are controls if all who comply answer them alike. There is one cell of people who do not comply.
    """
    t, answers = len(design.categories), _answers(channel)
    complying_cells = [list(design.cells).index(cell) for share in design.shares for cell in share.of]
    if len(answers) < 2 or complying_cells != list(range(t)) or len(design.cells) != t + 1:
        return None
    question, *control_parts = answers
    signals = [_signal(part, t) for part in control_parts]
    expected, centre, basis = question.expected_statistic, np.full(t, 1 / t), tangent(t)
    indicators = basis @ np.linalg.pinv(expected[:, :t] @ basis, rcond=_NONE)
    if any(signal is None for signal in signals) or np.linalg.matrix_rank(expected[:, :t] @ basis, tol=_NONE) < t - 1:
        return None
    look = centre + indicators @ (expected[:, t] - expected[:, :t] @ centre)
    return Controls(question, indicators, look, tuple(signal for signal in signals if signal is not None))


def _answers(channel: Channel) -> list[Channel]:
    """The designs of the answers of one person whose statistics stand side by side."""
    if not isinstance(channel, Both) or channel.joint:
        return [channel]
    return [*_answers(channel.first), channel.second]


def _signal(control: Channel, t: int) -> Signal | None:
    """D of one control; None where it depends on the category, or tells nothing."""
    expected = control.expected_statistic
    if np.abs(expected[:, :t] - expected[:, :1]).max() > _NONE:
        return None
    response_codes = control.space.listing()
    chances, statistic = control.rows(response_codes), control.space.statistic(response_codes)
    difference = expected[:, t] - expected[:, 0]
    if np.abs(difference).max() < _NONE:
        return None
    spread = statistic.T @ (statistic * chances[:, :1]) - np.outer(expected[:, 0], expected[:, 0])
    eigenvalues, eigenvectors = np.linalg.eigh(spread)
    still_directions = eigenvectors[:, eigenvalues < _NONE]
    slope = still_directions @ (still_directions.T @ difference)
    if np.abs(slope).max(initial=0.0) < 1e-7:  # all answers are possible for those who comply
        slope = np.linalg.pinv(spread, rcond=_NONE, hermitian=True) @ difference
    slope = slope / (slope @ difference)
    is_possible = chances.max(axis=1) > 0
    shift = -float(slope @ expected[:, 0])
    values = shift + statistic[is_possible] @ slope
    return Signal(slope, shift, values, chances[is_possible, 0], chances[is_possible, t])
