"""The result of a comparison of designs, and its text, table and JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from naysay import _checks
from naysay.design.several import share
from naysay.printing import Column, Points, Table, text
from naysay.printing.html import notebook
from naysay.printing.numbers import csv_text

__all__ = ["Comparison", "Liars", "Option"]


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
