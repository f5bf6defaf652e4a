"""The risk tables of the GVU's 8th WWW User Survey: aggregate numbers for the page on risk.

    python benchmarks/risk_gvu.py DATA/gvu8.csv [--out benchmarks/risk_gvu.md]

The rows are public (UCI KDD Archive, "Internet Usage Data") and not shipped with naysay; the file needs the columns
that `KEYS` names. ``Not_Say`` and ``NA`` are missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from naysay import microdata
from naysay.microdata import QuasiIdentifier, Theta
from naysay.show.result import spanned

POPULATION = 50_000_000  # assumed: people on the web in 1997

KEYS = {
    "age": "age",
    "gender": "gender",
    "occupation": "major_occupation",
    "income": "household_income",
    "education": "education_attainment",
    "race": "race",
    "country": "country",
}

QUASI_IDENTIFIERS = (
    ("age",),
    ("country",),
    ("age", "gender"),
    ("age", "gender", "occupation"),
    ("age", "gender", "education"),
    ("age", "gender", "race"),
    ("age", "gender", "income"),
    ("age", "gender", "country"),
    ("age", "gender", "country", "race"),
    ("age", "gender", "country", "occupation"),
    ("age", "gender", "occupation", "education", "income"),
    ("age", "gender", "country", "race", "education"),
    tuple(KEYS),
)
SENSITIVE = {"falsification": "falsification_of_information", "preference": "sexual_preference"}
MISSING = ("Not_Say", "Not_say", "NA")


def respondents(path: Path) -> pl.DataFrame:
    """The keys and the sensitive variables, with null for cells that mean missing."""
    table = pl.read_csv(path, infer_schema=False)
    columns = {name: table[column] for name, column in (KEYS | SENSITIVE).items()}
    return pl.DataFrame(columns).with_columns(
        pl.when(pl.all().is_in(MISSING)).then(None).otherwise(pl.all()).name.keep()
    )


def text(theta: Theta) -> str:
    """θ in a million."""
    if theta.withheld:
        return "withheld"
    low, high = theta.interval
    return f"{theta.estimate * 1e6:,.0f} ({low * 1e6:,.0f} to {high * 1e6:,.0f})"


def listwise(rows: Sequence[QuasiIdentifier]) -> list[str]:
    """Table 3 of the paper."""
    return [
        "| quasi-identifier | deleted | kept | k = 1 | k < 5 | k < 10 | Pr(SU) kept | Pr(SU) all | mean 1/k | "
        "θ in a million |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {' + '.join(row.keys)} | {part.deleted:,} | {part.kept:,} | {part.sizes.unique:,} | "
            f"{part.sizes.below_5:,} | {part.sizes.below_10:,} | {part.pr_su_kept:.4f} | {part.pr_su_all:.4f} | "
            f"{part.sizes.inverse:.4f} | {text(part.theta)} |"
            for row in rows
            for part in [row.listwise]
        ),
    ]


def matched(rows: Sequence[QuasiIdentifier], names: Sequence[str] | None = None) -> list[str]:
    """Table 4 of the paper."""
    return [
        "| quasi-identifier | records | m = 1 | m < 5 | m < 10 | Pr(SU) | mean 1/m | informed | θ in a million |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {name} | {part.sizes.records:,} | {part.sizes.unique:,} | {part.sizes.below_5:,} | "
            f"{part.sizes.below_10:,} | {part.pr_su:.4f} | {part.sizes.inverse:.4f} | "
            f"{spanned(part.informed.least, part.informed.most, '{:.4f}'.format)} | {text(part.theta)} |"
            for row, name in zip(rows, names or [" + ".join(row.keys) for row in rows], strict=True)
            for part in [row.matches]
        ),
    ]


def policies(table: pl.DataFrame) -> list[str]:
    """Three policies for missing cells, side by side."""
    asked = ("wildcard", "category", "drop")
    keys = [("age", "gender", "income")]
    found = microdata.risk_table(table, keys, population=POPULATION, missing=asked)
    names = [f"{' + '.join(row.keys)}, {policy}" for row, policy in zip(found.quasi_identifiers, asked, strict=True)]
    return matched(found.quasi_identifiers, names)


def diverse(table: pl.DataFrame, sensitive: str) -> list[str]:
    """How many people have the same sensitive value as everybody who has their keys."""
    found = microdata.risk_table(table, QUASI_IDENTIFIERS, population=POPULATION, sensitive=sensitive)
    lines = []
    for row in found.quasi_identifiers:
        told = row.diversity
        if told is not None:
            lines.append(f"| {' + '.join(row.keys)} | {told.sets:,} | {told.sharing:,} | {told.matches_sharing:,} |")
    head = f"| quasi-identifier | anonymity sets | share one {sensitive} (k > 1) | the same among matches (m > 1) |"
    return [head, "|---|---|---|---|", *lines]


def standing_out(table: pl.DataFrame) -> list[str]:
    """The fewest keys on which people match only themselves."""
    found = microdata.stand_out(microdata.Keys(table, list(KEYS)), most=4)
    sizes = [f"| {size} | {number:,} |" for size, number in found.respondents.items()]
    never = f"| more than {found.most}, or never | {found.keys.n - sum(found.respondents.values()):,} |"
    best = {}
    for each in found.sets:
        best.setdefault(len(each.keys), each)
    told = [f"| {' + '.join(each.keys)} | {each.respondents:,} |" for each in best.values()]
    return [
        *("| fewest keys that suffice | respondents |", "|---|---|", *sizes, never, ""),
        *("| most telling set of each size | respondents for whom it is a smallest set |", "|---|---|", *told),
    ]


def report(table: pl.DataFrame) -> str:
    """All tables."""
    found = microdata.risk_table(table, QUASI_IDENTIFIERS, population=POPULATION)
    rows = found.quasi_identifiers
    parts = [
        [f"{found.n:,} respondents; population {POPULATION:,} (assumed). Listwise deletion:"],
        listwise(rows),
        ["Number of matches:"],
        matched(rows),
        ["The same under three policies for missing cells:"],
        policies(table),
        ["Who could be told the answer without being found:"],
        diverse(table, "preference"),
        ["On how few of the seven keys people match only themselves:"],
        standing_out(table),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def main() -> int:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    told = report(respondents(options.data))
    if options.out:
        options.out.write_text(told, encoding="utf-8")
    else:
        sys.stdout.write(told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
