"""A table of risk as text, as HTML and as JSON."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay.microdata.population.theta import FEWEST, Theta
from naysay.microdata.population.weighted import Weighted
from naysay.microdata.risk.diversity import Diversity
from naysay.microdata.risk.table import Listwise, Matches, QuasiIdentifier, RiskTable

__all__ = [
    "heading",
    "label",
    "number",
    "reservations",
    "spanned",
    "tables",
    "theta_cells",
    "theta_dict",
    "to_dict",
    "to_html",
    "to_text",
    "words",
]

_DASH = "–"


def label(row: QuasiIdentifier) -> str:
    """A quasi-identifier with the policies that are not the default: ``age + gender (age: drop)``."""
    policies = ", ".join(f"{name}: {policy}" for name, policy in row.missing.items())
    return " + ".join(row.keys) + (f" ({policies})" if policies else "")


def heading(found: RiskTable) -> list[str]:
    """What stands above the numbers."""
    weighted = "; weighted" if found.weighted else ""
    return [
        f"Risk of re-identification: {found.n:,} records"
        + (
            f" of a population of {found.population:,.12g} ({found.n / found.population:.3g} of it)"
            if found.population
            else ""
        )
        + weighted
    ]


def tables(found: RiskTable) -> list[tuple[str, Table]]:
    """The tables, each with its title."""
    rows = found.quasi_identifiers
    rules = ", ".join(dict.fromkeys(row.matches.rule for row in rows))
    gaps = "matches everything" + (" unless a policy says otherwise" if any(row.missing for row in rows) else "")
    told = [
        ("Listwise deletion: anonymity sets (k) of the records that have every key", _listwise(rows)),
        (f"Number of matches (m) of everybody; what is missing {gaps}; rule: {rules}", _matches(rows)),
    ]
    if found.weighted:
        told.append(("In people of the population, as the weights estimate it", _weighted(rows)))
    diverse = [row for row in rows if row.diversity is not None]
    if diverse:
        told.append((f"Diversity of {diverse[0].diversity.sensitive!r} where records are alike", _diverse(diverse)))  # type: ignore[union-attr]
    return told


def _grid(columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Table:
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column("quasi-identifier", overflow="fold", max_width=40)
    for name in columns:
        result.add_column(name, justify="right", no_wrap=True)
    for name, cells in rows:
        result.add_row(Text(name), *cells)
    return result


def _listwise(rows: Sequence[QuasiIdentifier]) -> Table:
    columns = ("deleted", "kept", "k=1", "k<5", "k<10", "Pr(SU) kept", "Pr(SU) all", "mean 1/k", "θ", "interval")
    return _grid(columns, ((label(row), _listwise_cells(row.listwise)) for row in rows))


def _listwise_cells(part: Listwise) -> list[str]:
    counts = [f"{number:,}" for number in (part.deleted, part.kept, *_counts(part))]
    shares = [_share(value) for value in (part.pr_su_kept, part.pr_su_all, part.sizes.inverse)]
    return [*counts, *shares, *theta_cells(part.theta)]


def _matches(rows: Sequence[QuasiIdentifier]) -> Table:
    columns = ("records", "m=1", "m<5", "m<10", "Pr(SU)", "mean 1/m", "informed", "θ", "interval")
    return _grid(columns, ((label(row), _match_cells(row.matches)) for row in rows))


def _match_cells(part: Matches) -> list[str]:
    counts = [f"{number:,}" for number in (part.sizes.records, *_counts(part))]
    shares = [_share(part.pr_su), _share(part.sizes.inverse), spanned(part.informed.least, part.informed.most, _share)]
    return [*counts, *shares, *theta_cells(part.theta)]


def spanned(least: float, most: float, written: Callable[[float], str]) -> str:
    """At least and at most, or one number where both are written alike."""
    low, high = written(least), written(most)
    return low if low == high else f"{low} to {high}"


def _counts(part: Listwise | Matches) -> tuple[int, int, int]:
    return part.sizes.unique, part.sizes.below_5, part.sizes.below_10


def _weighted(rows: Sequence[QuasiIdentifier]) -> Table:
    columns = ("least F̂", "F̂<5", "F̂<10", "share unique", "Σ 1/F̂", "least F̂ (m)", "F̂<5", "F̂<10", "Σ 1/F̂")
    cells = []
    for row in rows:
        own, all_ = row.listwise.weighted, row.matches.weighted
        if own is not None and all_ is not None:
            first = [_amount(own.smallest), f"{own.below_5:,}", f"{own.below_10:,}", _share(own.unique)]
            second = [_amount(all_.smallest), f"{all_.below_5:,}", f"{all_.below_10:,}", _amount(all_.expected)]
            cells.append((label(row), [*first, _amount(own.expected), *second]))
    return _grid(columns, cells)


def _diverse(rows: Sequence[QuasiIdentifier]) -> Table:
    columns = ("sets", "least distinct", "least entropy", "records sharing one (k>1)", "(m>1)")
    cells = []
    for row in rows:
        found = row.diversity
        if found is not None:
            numbers = [f"{found.sets:,}", f"{found.least_distinct:,}", _amount(found.least_entropy)]
            cells.append((label(row), [*numbers, f"{found.sharing:,}", f"{found.matches_sharing:,}"]))
    return _grid(columns, cells)


def _share(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.4f}"


def _amount(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:,.4g}"


def theta_cells(found: Theta) -> tuple[str, str]:
    """The number and its interval; dashes where it is withheld or undefined."""
    if found.withheld or math.isnan(found.estimate):
        return _DASH, _DASH
    low, high = found.interval
    return _small(found.estimate), f"{_small(low)} to {_small(high)}"


def _small(value: float) -> str:
    """Two significant digits without an exponent."""
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def words(found: RiskTable) -> list[str]:
    """What the columns mean, for a reader who has not met them."""
    return [
        "Pr(SU): share that is unique in the file. Informed: how often an intruder who knows all keys of a person in",
        "  the file picks the right record, at least and at most. Mean 1/m: what that would be if all matches were",
        "  equally likely; where values are missing they are not. Mean 1/k: how often an exact match is right, of the",
        "  records kept. θ: how often a person met by chance who fits exactly one record is the one it is about, with",
        f"  its {found.confidence:.4g} interval; on m a heuristic. {_DASH}: none, or withheld.",
    ]


def reservations(found: RiskTable) -> list[str]:
    """Warnings of the table and of its rows."""
    told = [str(warning) for warning in found.warnings]
    told += [str(warning) for row in found.quasi_identifiers for warning in row.warnings]
    if found.population is None:
        return list(dict.fromkeys([*told, "θ is withheld: it needs the size of the population (--population)"]))
    for kind, thetas in (("k", [row.listwise.theta for row in found.quasi_identifiers]), ("m", _heuristics(found))):
        withheld = [label(row) for row, each in zip(found.quasi_identifiers, thetas, strict=True) if each.withheld]
        if withheld:
            told.append(f"θ on {kind} is withheld below {FEWEST} unique records or pairs: {'; '.join(withheld)}")
    return list(dict.fromkeys(told))


def _heuristics(found: RiskTable) -> list[Theta]:
    return [row.matches.theta for row in found.quasi_identifiers]


def to_text(found: RiskTable, width: int = 130) -> str:
    """The table as plain text."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)

    def line(text: str = "") -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    for text in heading(found):
        line(text)
    for title, grid in tables(found):
        line()
        line(title)
        console.print(grid)
    line()
    for text in words(found):
        line(text)
    for text in reservations(found):
        line(f"note: {text}")
    return "\n".join(text.rstrip() for text in out.getvalue().splitlines())


def to_html(found: RiskTable) -> str:
    """The table as HTML, for notebooks."""
    return f"<pre>{html.escape(to_text(found))}</pre>"


def to_dict(found: RiskTable) -> dict[str, Any]:
    """The table as one JSON object with stable names; undefined numbers are None."""
    return {
        "n": found.n,
        "population": found.population,
        "confidence": found.confidence,
        "weighted": found.weighted,
        "quasi_identifiers": [_row(row) for row in found.quasi_identifiers],
        "warnings": [str(warning) for warning in found.warnings],
    }


def _row(row: QuasiIdentifier) -> dict[str, Any]:
    told: dict[str, Any] = {
        "keys": list(row.keys),
        "missing": dict(row.missing),
        "listwise": _listwise_dict(row.listwise),
        "matches": _matches_dict(row.matches),
        "warnings": [str(warning) for warning in row.warnings],
    }
    if row.diversity is not None:
        told["diversity"] = _diversity_dict(row.diversity)
    return told


def _listwise_dict(part: Listwise) -> dict[str, Any]:
    return {
        "deleted": part.deleted,
        "kept": part.kept,
        "k1": part.sizes.unique,
        "k_lt_5": part.sizes.below_5,
        "k_lt_10": part.sizes.below_10,
        "pr_su_kept": number(part.pr_su_kept),
        "pr_su_all": number(part.pr_su_all),
        **theta_dict(part.theta),
        "smallest": part.sizes.smallest or None,
        "prosecutor_mean": number(part.sizes.inverse),
        "prosecutor_highest": number(part.sizes.highest),
        **_weighted_dict(part.weighted),
    }


def _matches_dict(part: Matches) -> dict[str, Any]:
    return {
        "rule": part.rule,
        "records": part.sizes.records,
        "m1": part.sizes.unique,
        "m_lt_5": part.sizes.below_5,
        "m_lt_10": part.sizes.below_10,
        "pr_su": number(part.pr_su),
        "informed_least": number(part.informed.least),
        "informed_most": number(part.informed.most),
        "informed_exact": number(part.informed.exact),
        "informed_weighed": number(part.informed.weighed),
        **theta_dict(part.theta),
        "theta_heuristic": True,
        "smallest": part.sizes.smallest or None,
        "prosecutor_mean": number(part.sizes.inverse),
        "prosecutor_highest": number(part.sizes.highest),
        **_weighted_dict(part.weighted),
    }


def theta_dict(found: Theta) -> dict[str, Any]:
    """θ as fields of a JSON object."""
    return {
        "theta": number(found.estimate),
        "theta_interval": [number(bound) for bound in found.interval],
        "theta_withheld": found.reason or None,
    }


def _weighted_dict(found: Weighted | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "weighted": {
            "smallest": number(found.smallest),
            "lt_5": found.below_5,
            "lt_10": found.below_10,
            "unique": number(found.unique),
            "expected": number(found.expected),
        }
    }


def _diversity_dict(found: Diversity) -> dict[str, Any]:
    return {
        "sensitive": found.sensitive,
        "sets": found.sets,
        "least_distinct": found.least_distinct or None,
        "least_entropy": number(found.least_entropy),
        "sharing": found.sharing,
        "matches_sharing": found.matches_sharing,
    }


def number(value: float) -> float | None:
    """A JSON number; None where it is undefined."""
    return None if math.isnan(value) or math.isinf(value) else float(value)
