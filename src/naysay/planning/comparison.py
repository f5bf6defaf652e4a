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
    named_designs = _designs_by_name(designs)
    first = next(iter(named_designs.values()))
    finer = next((candidate for candidate in named_designs.values() if candidate.finer), first)
    cells = _checks.probability_vector(proportions, len(finer.cells), what="proportions")
    pi = finer.proportions_of(cells)
    place = place_among(first.categories, category, len(pi))
    wanted_error = None if standard_error is None else checked_error(standard_error)
    question = _Question(
        pi, dict(zip(finer.cells, cells, strict=True)), place, respondents(n), wanted_error, liars, assumed
    )
    options, direct, lying = [], None, 0.0
    if liars is not None:
        # The direct question has no levels and only one estimator, so it takes neither argument.
        simple = replace(question, assumed={"target": assumed.get("target", "population"), "estimator": "moments"})
        direct = _option("direct()", direct_question(first.categories), simple, liars.share, None)
        options, lying = [direct], liars.under_design
    options += [_option(name, design, question, lying, direct) for name, design in named_designs.items()]
    label, share = _checks.label(first.categories[place]), float(pi[place])
    return Comparison(label, share, n=int(n), wanted=wanted_error, liars=liars, options=tuple(options))


@dataclass(frozen=True)
class _Question:
    proportions: NDArray[np.float64]
    cells: dict[Any, float]
    place: int
    n: float
    wanted_error: float | None
    liars: Liars | None
    assumed: dict[str, Any]

    def stated_shares(self, design: Answerable, amount: float) -> NDArray[np.float64]:
        """Shares of a design's cells as people state them, if a share of the sensitive category lies."""
        if design.finer:
            if amount:
                raise DataError(
                    f"the cells of {design.name or design.kind} already say who lies; leave out liars under a design"
                )
            if set(design.cells) != set(self.cells):
                raise DataError(f"proportions must be of the cells {_checks.listing_text(design.cells)}")
            return np.array([self.cells[cell] for cell in design.cells])
        if self.liars is None or amount == 0:
            return self.proportions
        sensitive = design.categories[self.place]
        return np.asarray(lies(design.categories, amount, among=(sensitive,), says=self.liars.says) @ self.proportions)


def _designs_by_name(designs: Mapping[str, Answerable] | Sequence[Answerable]) -> dict[str, Answerable]:
    """Designs by name, all of the same categories."""
    design_list = list(designs.values()) if isinstance(designs, Mapping) else list(designs)
    if not design_list:
        raise DataError("at least one design is needed to compare")
    for design in design_list:
        check_design(design, needed_text="a comparison takes designs")
    names = list(designs) if isinstance(designs, Mapping) else [design.name or design.kind for design in design_list]
    for name, design in zip(names, design_list, strict=True):
        if tuple(map(str, design.categories)) != tuple(map(str, design_list[0].categories)):
            raise DataError(
                f"designs to compare must have the same categories; {names[0]} has "
                f"{_checks.listing_text(design_list[0].categories)}, "
                f"{name} has {_checks.listing_text(design.categories)}"
            )
    if len(set(names)) < len(names):
        raise DataError(f"designs to compare must differ in name; got {_checks.listing_text(names)}")
    return dict(zip(names, design_list, strict=True))


def _option(name: str, design: Answerable, question: _Question, lying: float, direct: Option | None) -> Option:
    stated_shares = question.stated_shares(design, lying)
    chosen_by_people = design.assigned_by == "respondent"
    assumed = question.assumed if chosen_by_people else {**question.assumed, "preferences": None}
    design_variance = variance(design, stated_shares, **assumed)
    person_variance = float(design_variance.each[question.place])
    bias = float(design.proportions_of(stated_shares)[question.place] - question.proportions[question.place])
    error = math.sqrt(person_variance / question.n)
    return Option(
        name=name,
        bias=bias,
        standard_error=error,
        rmse=math.hypot(bias, error),
        deviation=math.sqrt(person_variance),
        needed=None if question.wanted_error is None else _needed_people(person_variance, bias, question.wanted_error),
        pays_from=None if direct is None else _pays_from(person_variance, bias, direct),
        kind=design_variance.kind,
        **_private(design, stated_shares, assumed.get("preferences")),
    )


def _needed_people(person_variance: float, bias: float, wanted_error: float) -> int | None:
    """Respondents for the wanted error; None if the bias alone is as large, or if there are not that many people."""
    variance_room = wanted_error**2 - bias**2
    if variance_room <= 0 or person_variance / variance_room > MOST:
        return None
    return max(1, math.ceil(person_variance / variance_room - 1e-9))


def _pays_from(person_variance: float, bias: float, direct: Option) -> int | None:
    """The least n at which bias² + V/n is below that of the direct question."""
    bias_gain = direct.bias**2 - bias**2
    variance_loss = person_variance - direct.deviation**2
    if variance_loss < 0 <= bias_gain:
        return 1
    return None if bias_gain <= 0 else max(1, math.floor(variance_loss / bias_gain) + 1)


def _private(design: Answerable, cells: NDArray[np.float64], preferences: ArrayLike | None) -> dict[str, Any]:
    """Measures of privacy. For an offer: those of its most revealing level, but bits averaged over chosen levels.

    If samples have finer cells: what an answer reveals about the categories, at the assumed shares of cells.
    """
    about = privacy.channels_about(design, _within(design, cells)) if design.finer else None
    channels = list((about or design.parts).values())
    level_shares = choice(design, preferences).mean(axis=1)
    statements: list[privacy.Statement] = [privacy.statement(channel) for channel in channels]
    fewest, most = zip(*(statement.still_possible for statement in statements), strict=True)
    return {
        "still_possible": (min(fewest), max(most)),
        "bits": float(level_shares @ [statement.bits for statement in statements]),
        "epsilon": max(statement.epsilon for statement in statements),
        "largest_odds": max(_largest_odds(channel) for channel in channels),
    }


def _within(design: Answerable, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """How common each cell is within each category, (cells, t); equally common in a category that nobody has."""
    share_weights = np.column_stack([share.weights(design.cells)[0] for share in design.shares])
    cell_shares = share_weights * cells[:, None]
    cell_shares = np.where(cell_shares.sum(axis=0) > 0, cell_shares, share_weights)
    return np.asarray(cell_shares / cell_shares.sum(axis=0))


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
        json_fields = asdict(self) | {"still_possible": list(self.still_possible)}
        return {name: _number(value) for name, value in json_fields.items()}


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
        json_fields = asdict(self)
        del json_fields["options"]  # options come last, below the assumptions that they rest on
        return json_fields | {"prior": "uniform", "options": [option.to_dict() for option in self.options]}

    def to_csv(self) -> str:
        """One line for each design; numbers are not rounded."""
        csv_rows = [option.to_dict() for option in self.options]
        for row in csv_rows:
            row["fewest_possible"], row["most_possible"] = row.pop("still_possible")
        return csv_text([list(csv_rows[0]), *(list(row.values()) for row in csv_rows)])

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
        has_liars = self.liars is not None
        names = ["s.e.", *(["bias", "rmse", "pays from n"] if has_liars else [])]
        names += ["n needed"] if self.wanted is not None else []
        rows = []
        for option in self.options:
            row = [option.name, f"{option.standard_error:.4f}"]
            if has_liars:
                pays = "never" if option.pays_from is None else f"{option.pays_from:,}"
                row += [f"{option.bias:.4f}", f"{option.rmse:.4f}", "–" if option is self.options[0] else pays]
            if self.wanted is not None:
                row.append("none reaches it" if option.needed is None else f"{option.needed:,}")
            few, many = option.still_possible
            row += [f"{few}" if few == many else f"{few} to {many}", _number_text(option.bits, ".3f")]
            rows.append((*row, _number_text(option.epsilon), _number_text(option.largest_odds)))
        names += ["categories left", "bits", "ε", "largest odds"]
        return Table((Column("design", words=True, width=44), *map(Column, names)), tuple(rows))

    def _notes(self) -> list[str]:
        lines = [
            "categories left, bits and odds: from one answer alone, under a uniform prior; of an offer of levels the "
            "bits as they are chosen, the rest of the most revealing level",
        ]
        if self.wanted is not None:
            what = "root mean square error" if self.liars is not None else "standard error"
            lines.append(f"n needed: for a {what} of {self.wanted:g}{self._unreached_sentence(self.wanted)}")
        if self.liars is not None:
            lines.append(
                "pays from n: with so many respondents or more the design errs less than the direct question; the bias "
                "of the direct question does not shrink with n"
            )
        kinds = dict.fromkeys(option.kind for option in self.options)
        return [*lines, f"standard errors: {'; '.join(kinds)}"]

    def _unreached_sentence(self, wanted_error: float) -> str:
        """Why some designs do not reach the wanted precision."""
        never = [option for option in self.options if option.needed is None]
        biased_names = [option.name for option in never if abs(option.bias) >= wanted_error]
        unreachable = [option.name for option in never if option.name not in biased_names]
        reasons = [f"the bias of {', '.join(biased_names)} alone is as large"] if biased_names else []
        if unreachable:
            reasons.append(f"{', '.join(unreachable)} would need more respondents than there are people")
        return f"; none reaches it: {'; '.join(reasons)}" if reasons else ""

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())


def _number_text(value: float, form: str = ".3g") -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else format(value, form)
