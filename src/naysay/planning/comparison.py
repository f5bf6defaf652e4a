"""Comparisons of designs: precision against privacy, and against a direct question to which people lie.

The result of a comparison of designs, and its text, table and JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, privacy
from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.design.several import choice, lies, share
from naysay.designs import direct as direct_question
from naysay.errors import DataError, DesignError
from naysay.planning.power import MOST, checked_error
from naysay.planning.variance import place_among, respondents, variance
from naysay.show import Column, Points, Table, text
from naysay.show.html import notebook
from naysay.show.text import csv_text


def compare(
    designs: Mapping[str, Answerable] | Sequence[Answerable],
    proportions: ArrayLike,
    *,
    n: float = 1_000,
    category: Any = None,
    standard_error: float | None = None,
    liars: Liars | None = None,
    **assumed: Any,
) -> Comparison:
    """Precision against privacy of several designs, or of one family over its parameter.

    With `liars`, the direct question comes first, and errors are root mean squares. Lying hides some of the people, and
    no number of respondents removes this bias. A randomized design has a larger variance but, if people trust it, no
    bias. So above some number of respondents, its error is smaller.

    Parameters
    ----------
    designs : {name: Design} or sequence of Design
        All of the same categories.
    proportions : (t,) float
        The assumed proportions of the population; for samples with finer cells, the proportions of the cells.
    n : int
        Respondents who answer.
    category : label, optional
        The category whose proportion is estimated. Needed if there are more than two; of two, it is the first,
        sensitive one.
    standard_error : float, optional
        The wanted standard error (with liars: root mean square error). The result then says how many respondents each
        design needs.
    liars : Liars, optional
    **assumed
        `estimator`, `preferences` (over levels) and `target`, as in `variance`.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        No designs, designs of different categories, fewer than one respondent, shares outside [0, 1].
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> offers = [designs.warner(p=p) for p in (0.6, 0.75)]
    >>> found = planning.compare(offers, (0.1, 0.9), n=1_000, liars=planning.Liars(share=0.4))
    >>> [(option.name, round(option.rmse, 3), option.pays_from) for option in found.options]
    [('direct()', 0.041, None), ('warner(p=0.6)', 0.078, 3772), ('warner(p=0.75)', 0.029, 490)]
    """
    named = _named(designs)
    first = next(iter(named.values()))
    finer = next((each for each in named.values() if each.finer), first)
    cells = _checks.probability_vector(proportions, len(finer.cells), what="proportions")
    pi = finer.proportions_of(cells)
    place = place_among(first.categories, category, len(pi))
    wanted = None if standard_error is None else checked_error(standard_error)
    question = _Question(pi, dict(zip(finer.cells, cells, strict=True)), place, respondents(n), wanted, liars, assumed)
    options, direct, lying = [], None, 0.0
    if liars is not None:
        # The direct question has no levels and only one estimator, so it takes neither argument.
        simple = replace(question, assumed={"target": assumed.get("target", "population"), "estimator": "moments"})
        direct = _option("direct()", direct_question(first.categories), simple, liars.share, None)
        options, lying = [direct], liars.under_design
    options += [_option(name, design, question, lying, direct) for name, design in named.items()]
    label, share = _checks.label(first.categories[place]), float(pi[place])
    return Comparison(label, share, n=int(n), wanted=wanted, liars=liars, options=tuple(options))


@dataclass(frozen=True)
class _Question:
    proportions: NDArray[np.float64]
    cells: dict[Any, float]
    place: int
    n: float
    wanted: float | None
    liars: Liars | None
    assumed: dict[str, Any]

    def stated(self, design: Answerable, amount: float) -> NDArray[np.float64]:
        """Shares of a design's cells as people state them, if a share of the sensitive category lies."""
        if design.finer:
            if amount:
                raise DataError(
                    f"the cells of {design.name or design.kind} already say who lies; leave out liars under a design"
                )
            if set(design.cells) != set(self.cells):
                raise DataError(f"proportions must be of the cells {_checks.shown(design.cells)}")
            return np.array([self.cells[cell] for cell in design.cells])
        if self.liars is None or amount == 0:
            return self.proportions
        sensitive = design.categories[self.place]
        return np.asarray(lies(design.categories, amount, among=(sensitive,), says=self.liars.says) @ self.proportions)


def _named(designs: Mapping[str, Answerable] | Sequence[Answerable]) -> dict[str, Answerable]:
    """Designs by name, all of the same categories."""
    given = list(designs.values()) if isinstance(designs, Mapping) else list(designs)
    if not given:
        raise DataError("at least one design is needed to compare")
    for each in given:
        check_design(each, told="a comparison takes designs")
    names = list(designs) if isinstance(designs, Mapping) else [each.name or each.kind for each in given]
    for name, each in zip(names, given, strict=True):
        if tuple(map(str, each.categories)) != tuple(map(str, given[0].categories)):
            raise DataError(
                f"designs to compare must have the same categories; {names[0]} has "
                f"{_checks.shown(given[0].categories)}, {name} has {_checks.shown(each.categories)}"
            )
    if len(set(names)) < len(names):
        raise DataError(f"designs to compare must differ in name; got {_checks.shown(names)}")
    return dict(zip(names, given, strict=True))


def _option(name: str, design: Answerable, question: _Question, lying: float, direct: Option | None) -> Option:
    stated = question.stated(design, lying)
    chosen = design.assigned_by == "respondent"
    assumed = question.assumed if chosen else {**question.assumed, "preferences": None}
    found = variance(design, stated, **assumed)
    one = float(found.each[question.place])
    bias = float(design.proportions_of(stated)[question.place] - question.proportions[question.place])
    error = math.sqrt(one / question.n)
    return Option(
        name=name,
        bias=bias,
        standard_error=error,
        rmse=math.hypot(bias, error),
        deviation=math.sqrt(one),
        needed=None if question.wanted is None else _needed(one, bias, question.wanted),
        pays_from=None if direct is None else _pays_from(one, bias, direct),
        kind=found.kind,
        **_private(design, stated, assumed.get("preferences")),
    )


def _needed(one: float, bias: float, wanted: float) -> int | None:
    """Respondents for the wanted error; None if the bias alone is as large, or if there are not that many people."""
    left = wanted**2 - bias**2
    if left <= 0 or one / left > MOST:
        return None
    return max(1, math.ceil(one / left - 1e-9))


def _pays_from(one: float, bias: float, direct: Option) -> int | None:
    """The least n at which bias² + V/n is below that of the direct question."""
    gained = direct.bias**2 - bias**2
    lost = one - direct.deviation**2
    if lost < 0 <= gained:
        return 1
    return None if gained <= 0 else max(1, math.floor(lost / gained) + 1)


def _private(design: Answerable, cells: NDArray[np.float64], preferences: ArrayLike | None) -> dict[str, Any]:
    """Measures of privacy. For an offer: those of its most revealing level, but bits averaged over chosen levels.

    If samples have finer cells: what an answer reveals about the categories, at the assumed shares of cells.
    """
    about = privacy.channels_about(design, _within(design, cells)) if design.finer else None
    channels = list((about or design.parts).values())
    chosen = choice(design, preferences).mean(axis=1)
    told: list[privacy.Statement] = [privacy.statement(channel) for channel in channels]
    fewest, most = zip(*(each.still_possible for each in told), strict=True)
    return {
        "still_possible": (min(fewest), max(most)),
        "bits": float(chosen @ [each.bits for each in told]),
        "epsilon": max(each.epsilon for each in told),
        "largest_odds": max(_largest_odds(channel) for channel in channels),
    }


def _within(design: Answerable, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """How common each cell is within each category, (cells, t); equally common in a category that nobody has."""
    own = np.column_stack([share.weights(design.cells)[0] for share in design.shares])
    held = own * cells[:, None]
    held = np.where(held.sum(axis=0) > 0, held, own)
    return np.asarray(held / held.sum(axis=0))


def _largest_odds(channel: Design) -> float:
    try:
        return float(privacy.odds(channel).max())
    except DesignError:  # too many responses to list
        return math.nan


@dataclass(frozen=True)
class Liars:
    """The assumed behavior of people who would rather not tell the truth.

    Parameters
    ----------
    share : float
        The share of the sensitive category's members who lie when asked directly.
    says : label, optional
        What liars say instead. By default they say each other category equally often.
    under_design : float
        The share who lie even under a randomized design.
    """

    share: float
    says: Any = None
    under_design: float = 0.0

    def __post_init__(self) -> None:
        share(self.share, what="the share of liars")
        share(self.under_design, what="the share of liars under a design")


@dataclass(frozen=True)
class Option:
    """One design in a comparison.

    Parameters
    ----------
    name : str
    bias : float
        The error that lying causes, whatever the number of respondents; 0 if nobody lies.
    standard_error, rmse : float
        Errors with n answers; rmse² = bias² + standard_error².
    deviation : float
        Standard deviation per respondent: the standard error times √n.
    needed : int or None
        Respondents for the wanted precision; None if no number of respondents reaches it.
    pays_from : int or None
        The smallest number of respondents with which the design has a smaller error than the direct question. None if
        there is no such number, or if nobody lies when asked directly.
    still_possible : (int, int)
        Fewest and most categories left after an answer.
    bits : float
        Bits that an answer reveals about the person on average, under a uniform prior; for levels, averaged over the
        levels as people choose them.
    epsilon : float
    largest_odds : float
        Posterior odds over prior odds of a category after the most revealing answer, under a uniform prior.
    kind : str
        What the standard error rests on.
    """

    name: str
    bias: float
    standard_error: float
    rmse: float
    deviation: float
    needed: int | None
    pays_from: int | None
    still_possible: tuple[int, int]
    bits: float
    epsilon: float
    largest_odds: float
    kind: str

    def to_dict(self) -> dict[str, Any]:
        """The option as a JSON object; an infinite number is "inf"."""
        told = asdict(self) | {"still_possible": list(self.still_possible)}
        return {name: _number(value) for name, value in told.items()}


def _number(value: Any) -> Any:
    """A JSON value: "inf" for infinity, None for a number that was not computed."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf"
    return value


@dataclass(frozen=True)
class Comparison:
    """A comparison of designs; `compare` makes it.

    Parameters
    ----------
    category : str
        The category whose proportion is estimated.
    proportion : float
    n : int
        Respondents who answer.
    wanted : float or None
        The standard error (with liars: the root mean square error) that `needed` reaches.
    liars : Liars or None
    options : tuple of Option
        If there are liars, the direct question comes first.
    """

    category: str
    proportion: float
    n: int
    wanted: float | None
    liars: Liars | None
    options: tuple[Option, ...]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one JSON object."""
        told = asdict(self)
        del told["options"]  # options come last, below the assumptions that they rest on
        return told | {"prior": "uniform", "options": [option.to_dict() for option in self.options]}

    def to_csv(self) -> str:
        """One line for each design; numbers are not rounded."""
        told = [option.to_dict() for option in self.options]
        for row in told:
            row["fewest_possible"], row["most_possible"] = row.pop("still_possible")
        return csv_text([list(told[0]), *(list(row.values()) for row in told)])

    def sections(self) -> tuple[Points, Table, Points]:
        """The assumptions, a table with a row for each design, and notes on how to read the numbers."""
        lines = [f"Proportion of {self.category!r}, assumed to be {self.proportion:.4g}; {self.n:,} respondents answer"]
        if self.liars is not None:
            says = "another category" if self.liars.says is None else repr(_checks.label(self.liars.says))
            lines.append(
                f"A share of {self.liars.share:.4g} of those in {self.category!r} says {says} to the direct question, "
                f"{self.liars.under_design:.4g} under a randomized design"
            )
        return Points(tuple(lines)), self._table(), Points(tuple(self._notes()), small=True)

    def _table(self) -> Table:
        lied = self.liars is not None
        names = ["s.e.", *(["bias", "rmse", "pays from n"] if lied else [])]
        names += ["n needed"] if self.wanted is not None else []
        rows = []
        for option in self.options:
            row = [option.name, f"{option.standard_error:.4f}"]
            if lied:
                pays = "never" if option.pays_from is None else f"{option.pays_from:,}"
                row += [f"{option.bias:.4f}", f"{option.rmse:.4f}", "–" if option is self.options[0] else pays]
            if self.wanted is not None:
                row.append("none reaches it" if option.needed is None else f"{option.needed:,}")
            few, many = option.still_possible
            row += [f"{few}" if few == many else f"{few} to {many}", _written(option.bits, ".3f")]
            rows.append((*row, _written(option.epsilon), _written(option.largest_odds)))
        names += ["categories left", "bits", "ε", "largest odds"]
        return Table((Column("design", words=True, width=44), *map(Column, names)), tuple(rows))

    def _notes(self) -> list[str]:
        lines = [
            "categories left, bits and odds: from one answer alone, under a uniform prior; of an offer of levels the "
            "bits as they are chosen, the rest of the most revealing level",
        ]
        if self.wanted is not None:
            what = "root mean square error" if self.liars is not None else "standard error"
            lines.append(f"n needed: for a {what} of {self.wanted:g}{self._unreached(self.wanted)}")
        if self.liars is not None:
            lines.append(
                "pays from n: with so many respondents or more the design errs less than the direct question; the bias "
                "of the direct question does not shrink with n"
            )
        kinds = dict.fromkeys(option.kind for option in self.options)
        return [*lines, f"standard errors: {'; '.join(kinds)}"]

    def _unreached(self, wanted: float) -> str:
        """Why some designs do not reach the wanted precision."""
        never = [option for option in self.options if option.needed is None]
        biased = [option.name for option in never if abs(option.bias) >= wanted]
        rest = [option.name for option in never if option.name not in biased]
        told = [f"the bias of {', '.join(biased)} alone is as large"] if biased else []
        if rest:
            told.append(f"{', '.join(rest)} would need more respondents than there are people")
        return f"; none reaches it: {'; '.join(told)}" if told else ""

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())


def _written(value: float, form: str = ".3g") -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else format(value, form)
