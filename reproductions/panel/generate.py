"""A panel with known truth: what the waves say, and what they must not give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.codes import month_texts, one_month
from reproductions.panel import society
from reproductions.panel.people import Changing, Codes, People

__all__ = ["BACKGROUND", "Panel", "generate"]

BACKGROUND = (
    "gender",
    "year_of_birth",
    "age",
    "position",
    "children",
    "civil",
    "domestic",
    "occupation",
    "education",
    "urban",
    "income",
    "income_class",
    "origin",
)
"""The background variables of a generated panel."""

_LATER = (0.4, 0.7)  # of the time, when samples are refreshed
_FIRST_SAMPLE = 0.74
_STAY = (1.7, 82.0)  # shape and scale, in months, of the Weibull time that households stay
_INTERVIEW = 3.8  # days: a wave opens on the first of the month, and most answer within the week
_YEARLY = 12
_SKIPPED = 0.01  # items of a module
_FORGOTTEN = 0.1  # background items that are answered in some waves only
_PERSISTENT = {"urban": 0.0007, "income": 0.137, "income_class": 0.037, "origin": 0.206}
_HOUSEHOLD = 2.28  # people


@dataclass(frozen=True, eq=False)
class Panel:
    """A generated panel: its waves, and the truth behind them.

    Parameters
    ----------
    background : pl.DataFrame
        One row a member of a household and monthly wave: `respondent`, `wave`, and `BACKGROUND`.
    modules : {name: pl.DataFrame}
        Questionnaires: `respondent`, `wave` and answers, of those who were given them and answered.
    truth : pl.DataFrame
        One row a member: `respondent`, `household`, `participates` (answers for herself; of the others the background
        is known by proxy), `date_of_birth`, `month_of_birth`, `joined` and `left` (the first and last month), each
        variable as it is in the end, and `<variable>_changed`, the month in which it last changed.
    population : int
        People from whose households the sample is drawn.
    census : pl.DataFrame, optional
        Everybody in the population as they are in the end, in the order of their households, with `respondent` for
        those in the panel.
    """

    background: pl.DataFrame
    modules: dict[str, pl.DataFrame]
    truth: pl.DataFrame
    population: int
    census: pl.DataFrame | None = None

    @property
    def waves(self) -> list[pl.DataFrame]:
        """Background and modules, as `merge_waves` takes them."""
        return [self.background, *self.modules.values()]


def generate(
    *,
    respondents: int = 10_997,
    background_only: int = 6_927,
    population: int = 16_700_000,
    waves: int = 60,
    start: str = "2007-11",
    gaps: float = 0.005,
    census: bool = False,
    rng: int | np.random.Generator = 1,
) -> Panel:
    """A panel like the one of the paper, of which everything is known.

    Households are drawn from the population with equal chances, in a first sample and two that refresh it; each month
    one member answers the background questionnaire for all, on a day of her own; most adults answer modules for
    themselves. Ages are counted on the day of the interview, people marry, move and change their occupation, households
    leave for good or miss a wave, items are skipped.

    Parameters
    ----------
    respondents, background_only : int
        Members who answer for themselves, and those of whom only the background is known. Together a sample of whole
        households.
    population : int
        People, at least as many.
    waves : int
        Months from `start` on.
    start : str
        The first month.
    gaps : float
        The chance of a household to miss a wave.
    census : bool
        Draw everybody in the population, to know which matches are right. The frame takes about 60 bytes a
        person, drawing it four times as much.
    rng : int or Generator
        The same number gives the same panel.

    Raises
    ------
    DataError
        Sizes that no households fit: no respondents, fewer people than members, too few others to be children.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> small = generate(respondents=60, background_only=40, population=10_000, waves=24)
    >>> small.truth.height, small.background["wave"].n_unique()
    (100, 24)
    >>> merged = panel.merge_waves(small.waves, background=BACKGROUND)
    >>> merged.kept, merged.background_only
    (60, 40)
    """
    _check_sizes(respondents, background_only, population, waves, gaps)
    rng = np.random.default_rng(rng)
    first, n = one_month(start), respondents + background_only
    asked = population if census else n
    everybody = People.drawn(int(asked / _HOUSEHOLD * 1.1) + 50, start=first, months=waves, rng=rng)
    living = _whole_households(everybody.household, asked, rng) if census else np.ones(len(everybody), bool)
    members = np.flatnonzero(living)[_whole_households(everybody.household[living], n, rng)]
    members = members[
        np.argsort(rng.random(everybody.household.max() + 1)[everybody.household[members]], kind="stable")
    ]
    sample = _Sample.drawn(everybody, members, respondents, first, waves, gaps, rng)
    return Panel(
        sample.background(rng),
        sample.modules(rng),
        sample.truth(),
        population,
        _census(everybody, living, members, sample.last) if census else None,
    )


def _check_sizes(respondents: int, background_only: int, population: int, waves: int, gaps: float) -> None:
    asked: tuple[tuple[str, Any, int], ...] = (
        ("respondents", respondents, 1),
        ("background_only", background_only, 0),
        ("population", population, 1),
        ("waves", waves, 1),
    )
    for name, value, least in asked:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise DataError(f"{name} must be a whole number from {least} on; got {value!r}", value=value)
    if population < respondents + background_only:
        raise DataError(f"a population of {population:,} has no {respondents + background_only:,} people to sample")
    chance: Any = gaps
    if not isinstance(chance, int | float) or not 0 <= chance < 1:
        raise DataError(f"gaps must be a chance from 0 to below 1; got {gaps!r}")


def _whole_households(household: Codes, people: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Members of households drawn with equal chances, exactly so many people: the last few are those that fit."""
    homes, sizes = np.unique(household, return_counts=True)
    order = rng.permutation(len(homes))
    total = np.cumsum(sizes[order])
    taken = int(np.searchsorted(total, people, side="right"))
    chosen, left = list(order[:taken]), people - (int(total[taken - 1]) if taken else 0)
    for place in order[taken:]:
        if not left:
            break
        if sizes[place] <= left:
            chosen.append(place)
            left -= int(sizes[place])
    return np.isin(household, homes[chosen])


@dataclass(frozen=True, eq=False)
class _Sample:
    """Members of the panel, when they are there, and who answers for herself."""

    people: People
    members: NDArray[np.int64]
    home: NDArray[np.int64]
    participates: NDArray[np.bool_]
    start: int
    present: NDArray[np.bool_]
    days: NDArray[np.int64]

    @classmethod
    def drawn(
        cls,
        people: People,
        members: NDArray[np.int64],
        respondents: int,
        start: int,
        waves: int,
        gaps: float,
        rng: np.random.Generator,
    ) -> _Sample:
        home = np.unique(people.household[members], return_inverse=True)[1]
        homes = int(home.max()) + 1
        joined = rng.choice(
            [0, *(int(waves * share) for share in _LATER)], homes, p=(_FIRST_SAMPLE, *(2 * [(1 - _FIRST_SAMPLE) / 2]))
        )
        stay = 1 + np.floor(_STAY[1] * rng.weibull(_STAY[0], homes)).astype(np.int64)
        month = np.arange(waves)
        within = (month >= joined[:, None]) & (month < (joined + stay)[:, None])
        missed = (rng.random((homes, waves)) < gaps) & (month > joined[:, None])
        days = 1 + np.minimum(np.floor(rng.exponential(_INTERVIEW, (homes, waves))), 27).astype(np.int64)
        participates = _participants(people, members, respondents, start, rng)
        return cls(people, members, home, participates, start, within & ~missed, days)

    @property
    def last(self) -> int:
        """The last month of the panel."""
        return self.start + int(self.present.shape[1]) - 1

    def background(self, rng: np.random.Generator) -> pl.DataFrame:
        """The monthly background questionnaire of all members."""
        row, month = np.nonzero(self.present[self.home])
        people, who, when = self.people, self.members[row], self.start + month
        income = people.income_at(who, when, self.start)
        columns = {
            "respondent": pl.Series(1 + row),
            "wave": month_texts(when),
            "year_of_birth": pl.Series(people.year[who]),
            "age": pl.Series(_ages(people, who, when, self.days[self.home[row], month])),
            "income": pl.Series(income),
            "income_class": people.labeled("income_class", np.searchsorted(society.INCOME_BOUNDS, income)),
            **{name: people.labeled(name, people.values[name][who]) for name in BACKGROUND if name in people.values},
            **{name: people.labeled(name, each.at(who, when)) for name, each in people.changing.items()},
        }
        refused = _refusals(len(self.members), rng)
        for name, never in refused.items():
            gone = never[row] | (rng.random(len(row)) < _FORGOTTEN)
            columns[name] = columns[name].set(pl.Series(gone), None)
        return pl.DataFrame({name: columns[name] for name in ("respondent", "wave", *BACKGROUND)})

    def modules(self, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        """Questionnaires, each of those to whom it was given and who answered."""
        return {name: self._module(name, *plan, rng) for name, plan in society.MODULES.items()}

    def _module(self, name: str, first: int, share: float, rng: np.random.Generator) -> pl.DataFrame:
        """One questionnaire: fielded once a year; the first that members get, on joining, is answered by all."""
        there = self.present[self.home] & self.participates[:, None]
        if name == "wellbeing":
            fielded = there & (np.cumsum(there, axis=1) == 1)
        else:
            given = rng.random(len(self.members)) < share
            fielded = there & given[:, None] & (np.arange(there.shape[1]) % _YEARLY == first)
            fielded &= rng.random(fielded.shape) < 0.8
        row, month = np.nonzero(fielded)
        columns: dict[str, pl.Series] = {"respondent": pl.Series(1 + row), "wave": month_texts(self.start + month)}
        for item, cells in self._items(name, self.members[row], rng).items():
            skipped = rng.random(len(row)) < (0 if name == "wellbeing" else _SKIPPED)
            columns[item] = cells.set(pl.Series(skipped), None) if item not in _ticks(name) else cells
        return pl.DataFrame(columns)

    def _items(self, name: str, who: NDArray[np.int64], rng: np.random.Generator) -> dict[str, pl.Series]:
        people = self.people
        if name == "wellbeing":
            return {"happiness": pl.Series(np.clip(np.rint(rng.normal(7.4, 1.3, len(who))), 0, 10).astype(np.int64))}
        if name == "work":
            return {"profession": people.labeled("profession", people.values["profession"][who])}
        ticks = {item: pl.Series(people.ticked[item][who]) for item in _ticks(name)}
        if name == "religion":
            chosen = np.where(people.ticked["religious"][who], 1 + people.values["denomination"][who], 0)
            ticks["denomination"] = people.labeled("denomination", chosen)
        return ticks

    def truth(self) -> pl.DataFrame:
        """Members as they are, and what the panel must not tell."""
        there = self.present[self.home]
        months = there.shape[1]
        return pl.DataFrame(
            {
                "respondent": 1 + np.arange(len(self.members)),
                "participates": self.participates,
                "joined": month_texts(self.start + there.argmax(axis=1)),
                "left": month_texts(self.start + months - 1 - there[:, ::-1].argmax(axis=1)),
                **_told(self.people, self.members, self.last),
                **{
                    f"{name}_changed": _when(each, self.members, self.last)
                    for name, each in self.people.changing.items()
                },
            }
        )


def _participants(
    people: People, members: NDArray[np.int64], respondents: int, start: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Who answers for herself: of each household the head, and other adults until there are enough."""
    adult = 12 * people.year[members] + people.month[members] - 1 <= start - 12 * 16
    if adult.sum() < respondents:
        raise DataError(
            f"{respondents:,} respondents and {len(members) - respondents:,} others do not fit households: only"
            f" {int(adult.sum()):,} of {len(members):,} members are 16 or older (ask for more with background only)"
        )
    head = people.values["position"][members] == 0
    rank = np.argsort(np.where(adult, np.where(head, 0, 1), 2) + rng.random(len(members)), kind="stable")
    chosen = np.zeros(len(members), bool)
    chosen[rank[:respondents]] = True
    return chosen


def _refusals(n: int, rng: np.random.Generator) -> dict[str, NDArray[np.bool_]]:
    """Who never tells what; whoever refuses the class of her income refuses the amount too."""
    never = {name: rng.random(n) < share for name, share in _PERSISTENT.items()}
    return never | {"income": never["income"] | never["income_class"]}


def _ages(people: People, who: Codes, months: Codes, days: Codes) -> NDArray[np.int64]:
    """Completed years on a day of a month."""
    year, month = months // 12, months % 12 + 1
    before = (month < people.month[who]) | ((month == people.month[who]) & (days < people.day[who]))
    return np.asarray(year - people.year[who] - before)


def _ticks(module: str) -> Sequence[str]:
    """The yes-or-no items of a module."""
    return {
        "religion": ("religious",),
        "education": tuple(f"field_{name.replace(' ', '_')}" for name in society.FIELDS),
        "media": tuple(society.NETWORKS),
        "language": tuple(f"language_{name}" for name in society.LANGUAGES),
    }.get(module, ())


def _told(people: People, who: NDArray[np.int64], month: int) -> dict[str, Any]:
    """Everything about some people, as it is in a month."""
    when = np.full(len(who), month)
    return {
        "household": 1 + people.household[who],
        "date_of_birth": people.born[who],
        "year_of_birth": people.year[who],
        "month_of_birth": people.month[who],
        **{name: people.labeled(name, people.values[name][who]) for name in people.values if name != "denomination"},
        **{name: people.labeled(name, each.at(who, when)) for name, each in people.changing.items()},
        **{name: ticked[who] for name, ticked in people.ticked.items()},
    }


def _when(changing: Changing, who: NDArray[np.int64], last: int) -> pl.Series:
    month = changing.month[who].astype(np.int64)
    happened = (month <= last) & (changing.before[who] != changing.after[who])
    return month_texts(np.where(happened, month, last)).set(pl.Series(~happened), None)


def _census(people: People, living: NDArray[np.bool_], members: NDArray[np.int64], month: int) -> pl.DataFrame:
    respondent = np.zeros(len(people), np.int64)
    respondent[members] = 1 + np.arange(len(members))
    frame = pl.DataFrame(_told(people, np.flatnonzero(living), month))
    number = pl.Series("respondent", respondent[living])
    return frame.insert_column(0, number.set(number == 0, None))
