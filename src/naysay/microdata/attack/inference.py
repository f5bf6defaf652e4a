"""What an intruder learns about a person beside their keys, for released and for synthetic records.

People who are alone with their keys in the original, and stand again in a synthetic file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import gammaln

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.attack.linkage import nearest_records
from naysay.microdata.attack.register import Register, frame_of, texts
from naysay.microdata.attack.success import Share, share_of
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.population.uniques import Sample, pitman
from naysay.microdata.risk.written import DASH, Printed, percent
from naysay.show import Content, Facts, Note, Sentence, plain

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
        lead_sentence = f"A guess of {self.secret!r} from the nearest records on {', '.join(self.keys)} is right for"
        missing = "without a control, what the release teaches of everybody is taken for a risk of its people"
        return [Sentence(lead_sentence), Facts(tuple(rows)), *([] if self.control.n else [Note(missing)])]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        shares = {"inside": self.inside.fields(), "control": self.control.fields()}
        plain_fields = {
            "secret": self.secret,
            "keys": self.keys,
            "baseline": self.baseline,
            "excess": self.excess,
            "excess_interval": self.excess_interval,
        }
        json_fields: dict[str, Any] = plain(plain_fields | shares)
        return json_fields


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
        people_with_secret = frame.filter(texts(frame[secret]).is_not_null())
        right = _guess_chances(file, people_with_secret, keys, secret, most, seed)
        shares.append(share_of(right, confidence=level))
        if what == "the original":
            truth = texts(people_with_secret[secret])
            baseline = float((truth == truth.mode().sort()[0]).mean() or 0.0)
    return Inference(secret, tuple(keys), shares[0], shares[1], baseline)


def _guess_chances(
    file: Any, people: Any, keys: Sequence[str], secret: str, most: int | None, seed: int
) -> NDArray[np.float64]:
    """The chance of each guess to be right."""
    nobody = np.full(people.height, -1)
    names = tuple(keys)
    check_names(names, file.columns, what="column of the release")
    register = Register(names, people, file, nobody)
    register = register if most is None else register.sampled(most, seed)
    truth, released_secrets = texts(register.people[secret]).to_list(), texts(file[secret])
    labels = {
        label: number for number, label in enumerate(dict.fromkeys([*truth, *released_secrets.drop_nulls().to_list()]))
    }
    codes = np.array([labels.get(secret_label, -1) for secret_label in released_secrets.to_list()])
    true_codes = np.array([labels[secret_label] for secret_label in truth])
    right = np.zeros(len(true_codes))
    for rows, close in nearest_records(register):
        useful = close & (codes >= 0)
        number = useful.sum(axis=1)
        right[rows] = (useful & (codes == true_codes[rows, None])).sum(axis=1) / np.maximum(number, 1)
    return right


@dataclass(frozen=True)
class Replicated(Printed):
    """Unique people of the original whose keys stand again in a file of synthetic records.

    Parameters
    ----------
    keys : tuple of str
    unique : int
        People who are alone with their complete keys in the original.
    found : int
        Those whose keys a synthetic record holds.
    fresh : float
        How many a fresh sample of as many people holds: counted in the control, or else expected; NaN where too few
        people are alike for that.
    control : int
        People of the control; 0 where the number is expected.
    """

    name = "replicated"
    keys: tuple[str, ...]
    unique: int
    found: int
    fresh: float
    control: int

    def content(self) -> list[Content]:
        how = f"in {self.control:,} other people" if self.control else "expected under Pitman's model"
        fresh = DASH if math.isnan(self.fresh) else f"{self.fresh:,.0f}, {how}"
        rows = (
            ("alone in the original", f"{self.unique:,} people, on {', '.join(self.keys)}"),
            ("of them again in the synthetic file", f"{self.found:,}"),
            ("of them again in a fresh sample", fresh),
        )
        explanation = "More than a fresh sample holds means that the synthesis copied people."
        return [Facts(rows), Sentence(explanation, small=True)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        json_fields: dict[str, Any] = plain(vars(self))
        return json_fields


def replicated(synthetic: Any, original: Any, keys: Sequence[str], *, control: Any = None) -> Replicated:
    """How many unique people of the original stand again in a synthetic file, beside what a fresh sample holds.

    Parameters
    ----------
    synthetic, original : dataframe or mapping of columns
    keys : sequence of str
    control : dataframe or mapping of columns, optional
        Other people of the same population, as many as there are synthetic records or more; the first of them count.
        Without it, the number is expected under Pitman's model (`recurring`).

    Raises
    ------
    DataError
        A control with fewer people than there are synthetic records.

    Examples
    --------
    >>> people = {"age": [20, 30, 40, 40]}
    >>> found = replicated({"age": [20, 25, 40, 40]}, people, ["age"], control={"age": [21, 30, 20, 40]})
    >>> found.unique, found.found, found.fresh
    (2, 1, 2)
    """
    first, second = frame_of(original, what="the original"), frame_of(synthetic, what="the synthetic file")
    alone = _unique(first, keys)
    copied_people = _again(alone, second, keys)
    if control is None:
        return Replicated(tuple(keys), alone.height, copied_people, recurring(first, keys, second.height), 0)
    others = frame_of(control, what="the control")
    if others.height < second.height:
        counts_text = f"the control has {others.height:,} people, and there are {second.height:,} synthetic records"
        raise DataError(f"a control must have as many people as there are synthetic records; {counts_text}")
    fresh = _again(alone, others.head(second.height), keys)
    return Replicated(tuple(keys), alone.height, copied_people, fresh, second.height)


def recurring(original: pl.DataFrame, keys: Sequence[str], people: int) -> float:
    """How many of the unique people of a file have their keys again among so many others of its population.

    Under Pitman's model with θ and α a class of one person stays alone in m more draws after n with probability
    Γ(θ+n+m-1+α) Γ(θ+n) / (Γ(θ+n-1+α) Γ(θ+n+m)). NaN where the model has no answer.
    """
    table = pl.DataFrame({name: texts(original[name]) for name in keys}).drop_nulls()
    sizes = table.group_by(list(keys)).len()["len"].cast(pl.Int64).to_numpy()
    n = int(sizes.sum())
    if n < 2:
        return float("nan")
    pitman_parameters = pitman(Sample.of(sizes, 2 * n)).parameters  # they do not depend on the population
    if not pitman_parameters:
        return float("nan")
    theta, alpha = pitman_parameters["theta"], pitman_parameters["alpha"]
    alone = gammaln(theta + n + people - 1 + alpha) - gammaln(theta + n + people)
    alone += gammaln(theta + n) - gammaln(theta + n - 1 + alpha)
    return float((sizes == 1).sum() * -np.expm1(alone))


def _unique(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The keys of people who are alone with them, all of them known."""
    Keys(frame, keys)  # checks them
    table = pl.DataFrame({name: texts(frame[name]) for name in keys}).drop_nulls()
    return table.filter(table.is_unique())


def _again(alone: pl.DataFrame, frame: pl.DataFrame, keys: Sequence[str]) -> int:
    Keys(frame, keys)
    table = pl.DataFrame({name: texts(frame[name]) for name in keys}).drop_nulls().unique()
    return alone.join(table, on=list(keys), how="semi").height
