"""What an intruder learns about a person beside their keys, for released and for synthetic records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.attack.linkage import nearest_records
from naysay.microdata.attack.register import Register, frame_of, texts
from naysay.microdata.attack.success import Share, share_of
from naysay.microdata.keys.table import check_names
from naysay.microdata.risk.written import Printed, percent
from naysay.printing import Content, Facts, Note, Sentence, plain

__all__ = ["Inference", "infer"]

_Z = 1.959963984540054


@dataclass(frozen=True)
class Inference(Printed):
    """How often a secret is guessed from a release, of people whom it was made from and of others.

    Parameters
    ----------
    secret : str
    keys : tuple of str
    inside, control : Share
        Right guesses about people of the original, and about people who are not in it.
    baseline : float
        Right guesses of the most common value for everybody, which needs no release of records.
    """

    name = "inference"
    secret: str
    keys: tuple[str, ...]
    inside: Share
    control: Share
    baseline: float

    @property
    def excess(self) -> float:
        """(inside - control)/(1 - control): what being in the file costs a person, beyond what it teaches of all."""
        if not self.control.n or self.control.value == 1:
            return float("nan")
        return (self.inside.value - self.control.value) / (1 - self.control.value)

    @property
    def excess_interval(self) -> tuple[float, float]:
        """The 95 % interval of the excess, by the delta method, with binomial shares."""
        a, c = self.inside, self.control
        if math.isnan(self.excess):
            return self.excess, self.excess
        variance = a.value * (1 - a.value) / a.n + c.value * (1 - c.value) / c.n * ((1 - a.value) / (1 - c.value)) ** 2
        half = _Z * math.sqrt(variance) / (1 - c.value)
        return self.excess - half, self.excess + half

    def content(self) -> list[Content]:
        rows = [
            ("people whom the release was made from", f"{self.inside}, of {self.inside.n:,}"),
            (
                "the same attack on others (control)",
                f"{self.control}, of {self.control.n:,}" if self.control.n else "–",
            ),
            ("the most common value for everybody", percent(self.baseline)),
        ]
        if not np.isnan(self.excess):
            low, high = map(percent, self.excess_interval)
            rows.append(
                ("what being in the file costs", f"{percent(self.excess)} of what else is unknown ({low} to {high})")
            )
        told = f"A guess of {self.secret!r} from the nearest records on {', '.join(self.keys)} is right for"
        missing = "without a control, what the release teaches of everybody is taken for a risk of its people"
        return [Sentence(told), Facts(tuple(rows)), *([] if self.control.n else [Note(missing)])]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        shares = {"inside": self.inside.fields(), "control": self.control.fields()}
        own = {
            "secret": self.secret,
            "keys": self.keys,
            "baseline": self.baseline,
            "excess": self.excess,
            "excess_interval": self.excess_interval,
        }
        told: dict[str, Any] = plain(own | shares)
        return told


def infer(
    release: Any,
    original: Any,
    keys: Sequence[str],
    secret: str,
    *,
    control: Any = None,
    most: int | None = 1_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> Inference:
    """Guess a secret of people from the released records that are nearest to them on some keys.

    The records may be synthetic: nobody needs to be linked. A guess is drawn from the nearest records.

    Parameters
    ----------
    release, original : dataframe or mapping of columns
    keys : sequence of str
    secret : str
        A column that is no key.
    control : dataframe or mapping of columns, optional
        People from the same population who are not in the original.
    most : int, optional
        The most people attacked of each kind.
    confidence : float
    seed : int

    Raises
    ------
    DataError
        Columns that a file does not have; a secret that is a key.

    Examples
    --------
    >>> people = {"age": [20, 30, 40], "ill": ["no", "no", "yes"]}
    >>> infer(people, people, ["age"], "ill").inside.value
    1.0

    Source: Giomi et al. (2023), inference and its control.
    """
    level = _checks.confidence(confidence)
    if secret in keys:
        raise DataError(f"the secret must not be a key; {secret!r} is both", column=secret)
    file = frame_of(release, what="the release")
    check_names([secret], file.columns, what="column of the release")
    shares, baseline = [], float("nan")
    for people, what in ((original, "the original"), (control, "the control")):
        if people is None:
            shares.append(share_of([]))
            continue
        frame = frame_of(people, what=what)
        check_names([*keys, secret], frame.columns, what="column of " + what)
        known = frame.filter(texts(frame[secret]).is_not_null())
        right = _guessed(file, known, keys, secret, most, seed)
        shares.append(share_of(right, confidence=level))
        if what == "the original":
            truth = texts(known[secret])
            baseline = float((truth == truth.mode().sort()[0]).mean() or 0.0)
    return Inference(secret, tuple(keys), shares[0], shares[1], baseline)


def _guessed(
    file: Any, people: Any, keys: Sequence[str], secret: str, most: int | None, seed: int
) -> NDArray[np.float64]:
    """The chance of each guess to be right."""
    nobody = np.full(people.height, -1)
    names = tuple(keys)
    check_names(names, file.columns, what="column of the release")
    register = Register(names, people, file, nobody)
    register = register if most is None else register.sampled(most, seed)
    truth, said = texts(register.people[secret]).to_list(), texts(file[secret])
    labels = {label: number for number, label in enumerate(dict.fromkeys([*truth, *said.drop_nulls().to_list()]))}
    codes = np.array([labels.get(each, -1) for each in said.to_list()])
    own = np.array([labels[each] for each in truth])
    right = np.zeros(len(own))
    for rows, close in nearest_records(register):
        useful = close & (codes >= 0)
        number = useful.sum(axis=1)
        right[rows] = (useful & (codes == own[rows, None])).sum(axis=1) / np.maximum(number, 1)
    return right
