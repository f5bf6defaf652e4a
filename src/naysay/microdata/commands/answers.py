"""What ``naysay risk`` prints and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import files
from naysay.console import output
from naysay.console.options import record_text
from naysay.microdata import (
    Contributions,
    Identification,
    Keys,
    Recodings,
    RiskTable,
    Search,
    StandOut,
)
from naysay.microdata.report.page import Provenance, risk_html


@dataclass
class Answers:
    """Everything that the command answers, filled in as the work goes on; None for what was not asked.

    Parameters
    ----------
    risk : RiskTable
    tried : for each quasi-identifier, the scenarios that were asked for
    keys : Keys, optional
        All keys, under the first policy.
    stand_out : StandOut, optional
    row : int, optional
        The respondent asked for, counted from 1.
    row_key_sets : key sets on which that respondent stands out
    search : Search, optional
    contributions, recodings : optional
        From the search, unless it was interrupted.
    protection, provenance : optional
        For the page: what was done to the file before, and where the report comes from.
    """

    risk: RiskTable
    tried: Sequence[Sequence[Identification]]
    keys: Keys | None = None
    stand_out: StandOut | None = None
    row: int | None = None
    row_key_sets: Sequence[tuple[str, ...]] = ()
    search: Search | None = None
    contributions: Contributions | None = None
    recodings: Recodings | None = None
    protection: Mapping[str, Any] | None = None
    provenance: Provenance | None = None

    def write(self, path: Path, separator: str) -> None:
        """Write k and m of every respondent, what measures say of each, and how few keys make them stand out."""
        columns: dict[str, Any] = {"row": pl.int_range(1, self.risk.n + 1, eager=True)}
        for row in self.risk.quasi_identifiers:
            if row.records is not None:
                columns[f"k: {row.label}"] = _series(row.records.anonymity)
                columns[f"m: {row.label}"] = _series(row.records.matches)
                values_by_measure = {
                    name: values for measure in row.measures for name, values in measure.of_each().items()
                }
                columns |= {
                    f"{name}: {row.label}": pl.Series(values, nan_to_null=True)
                    for name, values in values_by_measure.items()
                }
        if self.stand_out is not None:
            columns["keys to stand out"] = self.stand_out.size
        files.write(pl.DataFrame(columns), path, separator=separator)
        output.note(f"{path}: k and m of {self.risk.n:,} respondents; whoever reads it can find those who stand out")

    def page(self) -> str:
        """The report for the board."""
        return risk_html(
            self.risk,
            keys=self.keys,
            identifications=self.tried,
            search=self.search,
            contributions=self.contributions,
            recodings=self.recodings,
            protection=self.protection,
            provenance=self.provenance,
        )

    def table(self) -> None:
        """Print the tables as a person reads them."""
        output.say(str(self.risk))
        for row, tried in zip(self.risk.quasi_identifiers, self.tried, strict=True):
            for identification in tried:
                output.say(f"{row.label}, {identification.scenario.name}: {identification}")
        sets = "; ".join(" + ".join(names) for names in self.row_key_sets) or "no set of keys that was tried"
        row_sentence = None if self.row is None else f"row {self.row} stands out on {sets}"
        for part in (self.stand_out, row_sentence, self.search, self.contributions, self.recodings):
            if part is not None:
                output.say()
                output.say(str(part))

    def json(self) -> None:
        """Print one JSON object."""
        json_fields = self.risk.to_dict()
        for row, tried in zip(json_fields["quasi_identifiers"], self.tried, strict=True):
            if tried:
                row["identification"] = {
                    identification.scenario.name: identification.to_dict() for identification in tried
                }
        if self.stand_out is not None:
            json_fields["stand_out"] = self.stand_out.to_dict()
        if self.row is not None:
            json_fields["row"] = {"row": self.row, "stands_out_on": [list(names) for names in self.row_key_sets]}
        if self.search is not None:
            parts = {"contributions": self.contributions, "recodings": self.recodings}
            search_parts = {name: None if part is None else part.to_dict() for name, part in parts.items()}
            json_fields["search"] = self.search.to_dict() | search_parts
        output.say(output.json_text(json_fields))

    def csv(self) -> None:
        """Print one row of CSV for each quasi-identifier; reservations go to stderr."""
        rows = [_flat(row, self.risk) for row in self.risk.to_dict()["quasi_identifiers"]]
        names = list(dict.fromkeys(name for row in rows for name in row))  # a measure may tell of some keys only
        output.say(record_text(names))
        for row in rows:
            output.say(record_text([row.get(name) for name in names]))
        for text in self.risk.reservations:
            output.note(text)
        if self.search is not None:
            output.note(
                "csv holds the quasi-identifiers that were named; json and table also hold what the search found"
            )
        is_asked = {
            "--attempt": any(self.tried),
            "--stand-out": self.stand_out is not None,
            "--row": self.row is not None,
        }
        options_left = [option for option, is_given in is_asked.items() if is_given]
        if options_left:
            output.note(
                f"{' and '.join(options_left)} {'is' if len(options_left) == 1 else 'are'} not in csv; "
                "ask for table or json"
            )


def _series(sizes: np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """Sizes with null where a respondent has none."""
    gone = pl.Series(np.ma.getmaskarray(sizes))
    return pl.select(pl.when(~gone).then(pl.Series(sizes.data))).to_series()


def _flat(row: Mapping[str, Any], risk: RiskTable) -> dict[str, Any]:
    """One row of CSV: keys and policies as records, and each field of a measure named ``measure.field``."""
    policies = [f"{name}={policy}" for name, policy in row["missing"].items()]
    flat: dict[str, Any] = {"keys": record_text(row["keys"]), "missing": record_text(policies)}
    flat |= {"n": risk.n, "population": risk.population}
    for kind in risk.kinds:
        for name, value in row.get(kind.name, {}).items():
            if name.endswith("_interval"):
                stem = f"{kind.name}.{name.removesuffix('_interval')}"
                flat |= dict(zip((f"{stem}_low", f"{stem}_high"), value, strict=True))
            elif isinstance(value, Mapping):
                flat |= {f"{kind.name}.{name}.{inner}": number for inner, number in value.items()}
            else:
                flat[f"{kind.name}.{name}"] = record_text(value) if isinstance(value, list) else value
    return flat
