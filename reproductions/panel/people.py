"""People in households, drawn at once: who they are, and when what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reproductions.panel import society
from reproductions.panel.society import normal

__all__ = ["Changing", "People"]

NEVER = np.iinfo(np.int32).max
_DAYS = 365.2425
_ADULT = 16

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Changing:
    """A variable that changes at most once in each life that is looked at.

    Parameters
    ----------
    before, after : (n,) int
        Values, as codes.
    month : (n,) int
        The first month with the new value; `NEVER` where there is none.
    """

    before: Codes
    after: Codes
    month: Codes

    @classmethod
    def constant(cls, values: Codes) -> Changing:
        """A variable that stays as it is."""
        return cls(values, values, np.full(len(values), NEVER, np.int32))

    def at(self, rows: Codes, months: Codes) -> Codes:
        """Values of some people in some months."""
        return np.asarray(np.where(months >= self.month[rows], self.after[rows], self.before[rows]))


@dataclass(frozen=True, eq=False)
class People:
    """The truth about people.

    Parameters
    ----------
    household : (n,) int
        Not falling.
    born : (n,) datetime64[D]
    values : {name: (n,) int}
        What never changes, as codes.
    changing : {name: Changing}
    ticked : {name: (n,) bool}
        Answers of modules that are yes or no.
    income : (n,) float
        Net income a month in euro before occupation changes it, relative to the median of the occupation.
    """

    household: Codes
    born: NDArray[np.datetime64]
    values: Mapping[str, Codes]
    changing: Mapping[str, Changing]
    ticked: Mapping[str, NDArray[np.bool_]]
    income: NDArray[np.float64]
    labels: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)

    def __len__(self) -> int:
        return len(self.household)

    @property
    def year(self) -> Codes:
        """Year of birth."""
        return self.born.astype("datetime64[Y]").astype(np.int64) + 1970

    @property
    def month(self) -> Codes:
        """Month of birth, 1 to 12."""
        return self.born.astype("datetime64[M]").astype(np.int64) % 12 + 1

    @property
    def day(self) -> Codes:
        """Day of birth, 1 to 31."""
        return np.asarray((self.born - self.born.astype("datetime64[M]")).astype(np.int64) + 1)

    def labeled(self, name: str, codes: Codes) -> pl.Series:
        """Codes of a variable as its labels, or as numbers where they are numbers."""
        labels = self.labels.get(name)
        if labels is None:
            return pl.Series(name, codes.astype(np.int64))
        return pl.Series(name, labels, dtype=pl.Enum(labels)).gather(codes)

    def income_at(self, rows: Codes, months: Codes, start: int) -> NDArray[np.int64]:
        """Net income a month in whole euro: the median of the occupation, rising by 2 % each January."""
        wage = society.WAGES[self.changing["occupation"].at(rows, months)]
        euro = wage * self.income[rows] * 1.02 ** (months // 12 - start // 12)
        step = np.array([50, 10, 1])[(self.income[rows] * 1e6).astype(np.int64) % 3]
        return np.asarray(np.rint(euro / step) * step, np.int64)

    @classmethod
    def drawn(cls, households: int, *, start: int, months: int, rng: np.random.Generator) -> People:
        """People in a number of households, as they are in the month `start`, and what changes in the months after."""
        home = _Home.drawn(households, rng)
        age = home.ages(rng)
        days = (np.datetime64("1970-01") + (start - 12 * 1970)).astype("datetime64[D]") - np.floor(age * _DAYS).astype(
            "timedelta64[D]"
        )
        gender = home.genders(rng)
        moment = _Moments(start, months, rng)
        education = _adults(_choice(society.EDUCATIONS, len(age), rng), age)
        urban, moved = _choice(society.URBAN, households, rng), moment.of(np.full(households, 0.2))
        origin = _choice(society.COUNTRIES, households, rng)[home.of]
        mixed = rng.random(len(age)) < 0.08
        return cls(
            home.of,
            days,
            {
                "gender": gender,
                "position": home.position,
                "domestic": home.kind[home.of],
                "education": education,
                "origin": np.where(mixed, _choice(society.COUNTRIES, len(age), rng), origin),
                "profession": _professions(education, rng),
                "denomination": _choice(society.DENOMINATIONS, len(age), rng),
            },
            {
                "children": home.children(age, moment),
                "civil": home.civil(age, moment),
                "occupation": _occupations(age, moment, rng),
                "urban": Changing(urban[home.of], _choice(society.URBAN, households, rng)[home.of], moved[home.of]),
            },
            _ticked(age, education, origin, rng),
            rng.lognormal(0, 0.34, len(age)),
        )


LABELS: Mapping[str, Sequence[str]] = {
    "gender": society.GENDERS,
    "position": society.POSITIONS,
    "domestic": tuple(society.TYPES),
    "education": tuple(society.EDUCATIONS),
    "origin": tuple(society.COUNTRIES),
    "profession": tuple(society.PROFESSIONS),
    "denomination": ("none", *society.DENOMINATIONS),
    "civil": society.CIVIL,
    "occupation": society.OCCUPATIONS,
    "urban": tuple(society.URBAN),
    "income_class": society.INCOMES,
}


@dataclass(frozen=True, eq=False)
class _Moments:
    """Months in which something happens, within the time that is looked at."""

    start: int
    months: int
    rng: np.random.Generator

    def of(self, chance: NDArray[np.float64]) -> Codes:
        """A month after the start where chance will have it, `NEVER` elsewhere."""
        when = self.start + 1 + self.rng.integers(0, max(self.months - 1, 1), len(chance))
        within = chance * self.months / 60  # chances are over five years
        return np.where(self.rng.random(len(chance)) < within, when, NEVER).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Home:
    """Households and the places of people in them."""

    kind: Codes
    of: Codes
    position: Codes
    size: Codes

    @classmethod
    def drawn(cls, households: int, rng: np.random.Generator) -> _Home:
        kind = _choice(society.TYPES, households, rng)
        several = np.isin(kind, (2, 3))
        children = np.where(several, 1 + rng.choice(len(society.CHILDREN), households, p=society.CHILDREN), 0)
        grown = 1 + np.isin(kind, (1, 2))
        size = grown + children
        of = np.repeat(np.arange(households), size)
        place = np.arange(len(of)) - np.repeat(np.cumsum(size) - size, size)
        position = np.where(place == 0, 0, np.where(place < grown[of], 1, 2))
        return cls(kind, of, position, size)

    def ages(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Ages in years: partners near the head's, children a generation below."""
        at = rng.random(len(self.kind))
        head = np.select(
            [self.kind == place for place in range(len(society.TYPES))],
            [np.interp(at, society.HEAD_AGE["at"], society.HEAD_AGE[name]) for name in society.TYPES],
        )
        head = head[self.of]
        n = len(self.of)
        partner = np.clip(head + rng.normal(-1.5, 3.5, n), 18, 99)
        child = np.clip(head - rng.normal(30, 4.5, n), 0, 29) + rng.random(n)
        return np.select([self.position == 0, self.position == 1], [head, partner], child)

    def genders(self, rng: np.random.Generator) -> Codes:
        """Heads are men more often in couples; partners are mostly of the other gender."""
        man = rng.random(len(self.kind)) < np.array([0.46, 0.75, 0.78, 0.18])[self.kind]
        head, n = man[self.of], len(self.of)
        partner = head ^ (rng.random(n) < 0.975)
        return np.select([self.position == 0, self.position == 1], [head, partner], rng.random(n) < 0.51).astype(int)

    def children(self, age: NDArray[np.float64], moment: _Moments) -> Changing:
        """Children who live at home; couples below forty may have another, who is no member of the panel yet."""
        head = age[self.position == 0]
        number = self.size - 1 - np.isin(self.kind, (1, 2))
        month = moment.of(np.where(np.isin(self.kind, (1, 2)) & (head < 40), 0.35, 0.0))
        return Changing(number[self.of], number[self.of] + 1, month[self.of])

    def civil(self, age: NDArray[np.float64], moment: _Moments) -> Changing:
        """Civil status: couples marry, those who live alone were married once or not."""
        rng, head = moment.rng, age[self.position == 0]
        couple = np.isin(self.kind, (1, 2))
        married = rng.random(len(head)) < np.interp(head, (20, 30, 40, 60), (0.1, 0.5, 0.8, 0.96))
        once = np.clip((age - 30) / 45, 0, 0.95)
        lost = rng.random(len(age)) < np.clip((age - 50) / 45, 0.02, 0.9)
        alone = np.where(rng.random(len(age)) < once, np.where(lost, 3, 2), 0)
        before = np.where(couple[self.of], married[self.of].astype(int), alone)
        before[self.position == 2] = 0
        month = moment.of(np.where(couple & ~married, 0.3, 0.0))[self.of]
        return Changing(before, np.ones_like(before), np.where(self.position == 2, NEVER, month).astype(np.int32))


def _choice(shares: Mapping[str, float], n: int, rng: np.random.Generator) -> Codes:
    return rng.choice(len(shares), n, p=normal(*shares.values())).astype(np.int8)


def _by_row(shares: NDArray[np.float64], rows: Codes, rng: np.random.Generator) -> Codes:
    """One draw for each person, from the row of shares that is hers."""
    sums = np.cumsum(shares, axis=1)[:, :-1]
    at = rng.random(len(rows))
    return np.asarray(np.sum([at > column[rows] for column in sums.T], axis=0), np.int8)


def _adults(codes: Codes, age: NDArray[np.float64]) -> Codes:
    """Education, primary for children."""
    return np.where(age < _ADULT, 0, codes).astype(np.int8)


def _occupations(age: NDArray[np.float64], moment: _Moments, rng: np.random.Generator) -> Changing:
    """The main occupation, and another one for some, as of somebody who has grown older by half the time."""
    before, after = (
        _by_row(society.OCCUPATION_SHARES, np.searchsorted(society.OCCUPATION_AGES, at, side="right"), rng)
        for at in (age, age + moment.months / 24)
    )
    working = (age >= _ADULT) & (age < 66)
    month = moment.of(np.where(working, 0.25, 0.0))
    return Changing(before, after, np.where(before == after, NEVER, month).astype(np.int32))


def _professions(education: Codes, rng: np.random.Generator) -> Codes:
    """Professions, of which the academic ones go with education."""
    shares = np.array([normal(*society.PROFESSIONS.values())] * len(society.EDUCATIONS))
    tilt = np.array([1, 0.8, 0.7, 0.3, 0.2, -0.4, -0.7, -0.9, -0.2])
    shares *= np.exp(np.outer(np.linspace(-1.2, 1.6, len(society.EDUCATIONS)), tilt))
    return _by_row(shares / shares.sum(axis=1, keepdims=True), education.astype(np.int64), rng)


def _ticked(
    age: NDArray[np.float64], education: Codes, origin: Codes, rng: np.random.Generator
) -> dict[str, NDArray[np.bool_]]:
    """Fields of education, profiles on networks, languages, religion: yes or no, each."""
    n = len(age)
    main, second = _choice(society.FIELDS, n, rng), _choice(society.FIELDS, n, rng)
    general = (rng.random(n) < 0.85) & (education < 3)
    several = (rng.random(n) < 0.07) & ~general
    fields = {
        f"field_{name.replace(' ', '_')}": np.where(general, place == 0, main == place) | (several & (second == place))
        for place, name in enumerate(society.FIELDS)
    }
    networks = {
        name: rng.random(n) < share / (1 + np.exp((age - half) / 9)) for name, (share, half) in society.NETWORKS.items()
    }
    foreign = origin > 0
    languages = {
        f"language_{name}": rng.random(n)
        < (np.where(foreign, 0.55, share + 0.05) if name == "dutch" else np.where(foreign, share * 6, share * 0.6))
        for name, share in society.LANGUAGES.items()
    }
    return {**fields, **networks, **languages, "religious": rng.random(n) < np.interp(age, (20, 80), (0.28, 0.55))}
