"""What ``naysay risk`` prints and writes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from csv import writer
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import files
from naysay.console import output
from naysay.console.options import record_text
from naysay.microdata import Identification, Keys, RiskTable, StandOut, printing
from naysay.microdata.commands.risk_search import Found

__all__ = ["Told", "csv", "json", "table", "write"]


@dataclass(frozen=True)
class Told:
    """All that is answered.

    Parameters
    ----------
    risk : RiskTable
    tried : for each quasi-identifier, the scenarios that were asked for
    stand_out : StandOut, optional
    row : int, optional
        The respondent asked for, counted from 0.
    own : key sets on which she stands out
    found : Found, optional
        By a search.
    keys : Keys, optional
        All keys, under the first policy.
    """

    risk: RiskTable
    tried: Sequence[Sequence[Identification]]
    stand_out: StandOut | None
    row: int | None
    own: Sequence[tuple[str, ...]]
    found: Found | None = None
    keys: Keys | None = None


def write(told: Told, path: Path, separator: str) -> None:
    """Write k and m of every respondent, and how few keys make her stand out."""
    columns: dict[str, Any] = {"row": pl.int_range(1, told.risk.n + 1, eager=True)}
    for row in told.risk.quasi_identifiers:
        if row.records is not None:
            columns[f"k: {printing.label(row)}"] = _series(row.records.anonymity)
            columns[f"m: {printing.label(row)}"] = _series(row.records.matches)
    if told.stand_out is not None:
        columns["keys to stand out"] = told.stand_out.size
    files.write(pl.DataFrame(columns), path, separator=separator)
    output.note(f"{path}: k and m of {told.risk.n:,} respondents; whoever reads it can find those who stand out")


def _series(sizes: np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """Sizes with null where a respondent has none."""
    gone = pl.Series(np.ma.getmaskarray(sizes))
    return pl.select(pl.when(~gone).then(pl.Series(sizes.data))).to_series()


def table(told: Told) -> None:
    """The tables as a person reads them."""
    output.say(str(told.risk))
    for row, tried in zip(told.risk.quasi_identifiers, told.tried, strict=True):
        for each in tried:
            output.say(f"{printing.label(row)}, {each.scenario.name}: {_identification(each)}")
    if told.stand_out is not None:
        output.say()
        output.say(str(told.stand_out))
    if told.row is not None:
        sets = "; ".join(" + ".join(names) for names in told.own)
        output.say()
        output.say(
            f"row {told.row + 1} stands out on {sets}"
            if sets
            else f"row {told.row + 1} stands out on no set of keys that was tried"
        )
    if told.found is not None:
        _searched(told.found)


def _searched(found: Found) -> None:
    for part in (found.search, found.contributions, found.recodings):
        if part is not None:
            output.say()
            output.say(str(part))


def _identification(found: Identification) -> str:
    if found.probability != found.probability:
        return f"Pr(success | attempt) is withheld or undefined for this file; it would be {found.scenario.basis}"
    least = f"Pr(identification) = {found.attempt:.3g} × {found.success:.3g} = {found.probability:.3g}"
    most = f" at least, and {found.highest:.3g} at most" if found.most > found.success else ""
    return f"{least}{most}; Pr(success | attempt) is {found.scenario.basis}"


def json(told: Told) -> None:
    """One JSON object."""
    objects = told.risk.to_dict()
    for row, tried in zip(objects["quasi_identifiers"], told.tried, strict=True):
        if tried:
            row["identification"] = {
                each.scenario.name: {
                    "attempt": each.attempt,
                    "success": printing.number(each.success),
                    "probability": printing.number(each.probability),
                    "success_at_most": printing.number(each.most),
                    "probability_at_most": printing.number(each.highest),
                }
                for each in tried
            }
    if told.stand_out is not None:
        sets = [{"keys": list(found.keys), "respondents": found.respondents} for found in told.stand_out.sets]
        sizes = {str(size): number for size, number in told.stand_out.respondents.items()}
        objects["stand_out"] = {"most": told.stand_out.most, "respondents": sizes, "sets": sets}
    if told.row is not None:
        objects["row"] = {"row": told.row + 1, "stands_out_on": [list(names) for names in told.own]}
    if told.found is not None:
        parts = {"contributions": told.found.contributions, "recodings": told.found.recodings}
        more = {name: None if part is None else part.to_dict() for name, part in parts.items()}
        objects["search"] = told.found.search.to_dict() | more
    output.say(output.json_text(objects))


def csv(told: Told) -> None:
    """One row of CSV for each quasi-identifier; reservations go to stderr."""
    out = io.StringIO()
    rows_out = writer(out, lineterminator="\n")
    objects = told.risk.to_dict()
    rows = [_flat(row, objects["n"], objects["population"]) for row in objects["quasi_identifiers"]]
    rows_out.writerow(rows[0])
    rows_out.writerows(row.values() for row in rows)
    output.say(out.getvalue().rstrip("\n"))
    for text in printing.reservations(told.risk):
        output.note(text)
    if told.found is not None:
        output.note("csv holds the quasi-identifiers that were named; json and table also hold what the search found")
    asked = {"--attempt": any(told.tried), "--stand-out": told.stand_out is not None, "--row": told.row is not None}
    left = [option for option, given in asked.items() if given]
    if left:
        output.note(f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'} not in csv; ask for table or json")


def _flat(row: Mapping[str, Any], n: int, population: float | None) -> dict[str, Any]:
    """One row of a CSV: names of nested fields joined by a point, keys and policies as records."""
    flat: dict[str, Any] = {
        "keys": record_text(row["keys"]),
        "missing": record_text([f"{name}={policy}" for name, policy in row["missing"].items()]),
        "n": n,
        "population": population,
    }
    for part in ("listwise", "matches", "diversity"):
        for name, value in row.get(part, {}).items():
            if name == "theta_interval":
                flat[f"{part}.theta_low"], flat[f"{part}.theta_high"] = value
            elif isinstance(value, Mapping):
                flat |= {f"{part}.{name}.{inner}": number for inner, number in value.items()}
            else:
                flat[f"{part}.{name}"] = value
    return flat
