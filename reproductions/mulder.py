"""Who stands out in a survey panel: Mulder's tables 3 and 4 with all their rows, on a panel that is made up.

No respondent's data is here, and the numbers of both tables are lost from the text of the paper; what its sentences
still hold stands beside ours. So the checks are what the paper says in words, and what must hold of any panel.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from naysay import microdata
from naysay.microdata import panel
from naysay.microdata.risk.measure import Listwise
from naysay.microdata.risk.table import QuasiIdentifier
from naysay.microdata.risk.theta import Sizes, Theta
from reproductions.panel import BACKGROUND, Panel, generate
from reproductions.result import Cell, Check, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["COMPOSITES", "keyed", "run"]

SOURCE = "Mulder, Ensuring anonymity in survey panel research, tables 3 and 4."
COMPOSITES: dict[str, str | tuple[str, ...]] = {
    "field": "field_",
    "language": "language_",
    "social_media": ("facebook", "linkedin", "hyves"),
    "religion": ("religious", "denomination"),
}
YEAR, MONTH = ("year_of_birth", "gender"), ("year_of_birth", "month_of_birth", "gender")
ONE_MORE = (
    *("occupation", "income_class", "income", "origin", "children"),
    *("religion", "language", "field", "profession", "social_media"),
)
ALONE = ("children", "income", "religion", "profession", "social_media", "language")
WORK, LIFE = ("occupation", "profession", "field"), ("origin", "children", "social_media")
SETS = (WORK, (*WORK, "income_class"), LIFE, (*LIFE, "language"))
TABLE_3 = (
    ("year_of_birth",),
    YEAR,
    *((name,) for name in ALONE),
    *((*YEAR, name) for name in ONE_MORE),
    *((*YEAR, *keys) for keys in SETS),
)
TABLE_4 = (
    *TABLE_3[:18],
    *((*MONTH, name) for name in ONE_MORE),
    *TABLE_3[18:],
    *((*MONTH, *keys) for keys in SETS),
)
GAPS = ("wildcard", "category", "drop", "impute")
SHORT = {"year_of_birth": "YoB", "month_of_birth": "MoB", "income_class": "income cat.", "social_media": "social media"}


def keyed(made: Panel) -> tuple[panel.Merged, pl.DataFrame]:
    """The merged panel with months of birth and composites beside it."""
    merged = panel.merge_waves(made.waves, background=BACKGROUND)
    table = panel.month_of_birth(made.background).beside(merged.table)
    for name, parts in COMPOSITES.items():
        columns = [column for column in table.columns if column.startswith(parts)]
        table = table.with_columns(panel.composite(table, columns).alias(name))
    return merged, table


def run(setting: Setting) -> Reproduction:
    """The reproduction, on one panel of the size of the paper's."""
    made = generate(rng=setting.seed)
    merged, table = keyed(made)
    rows = microdata.risk_table(table, TABLE_4, population=made.population, rule="first").quasi_identifiers
    row_of = {row.keys: row for row in rows}
    third = [row_of[keys] for keys in TABLE_3]
    work, life = row_of[*YEAR, *SETS[1]], row_of[*YEAR, *SETS[3]]
    gaps = _treatments(made, table)
    return Reproduction(
        name="mulder",
        title="Who stands out in a survey panel",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=(
            Table(
                "table3",
                "Table 3: listwise deletion",
                ("keys", "deleted", "n", "k = 1", "k < 5", "k < 10", "Pr(SU) kept", "Pr(SU) all", "θ"),
                tuple(
                    (
                        _title(row.keys),
                        row.listwise.deleted,
                        row.listwise.kept,
                        *_sizes(row.listwise.sizes),
                        row.listwise.pr_su_kept,
                        row.listwise.pr_su_all,
                        _theta(row.listwise.theta),
                    )
                    for row in third
                ),
                digits=4,
            ),
            Table(
                "table4",
                f"Table 4: number of matches, all {merged.kept:,} respondents",
                ("keys", "m = 1", "m < 5", "m < 10", "Pr(SU)", "θ"),
                tuple(
                    (
                        _title(row.keys),
                        *_sizes(row.matches.sizes),
                        row.matches.sizes.unique / merged.kept,
                        _theta(row.matches.theta),
                    )
                    for row in rows
                ),
                digits=4,
            ),
            Table(
                "words",
                "Numbers that the text of the paper still holds",
                ("", "paper", "this panel"),
                (
                    ("m = 1: YoB + gender + occupation", 269, row_of[*YEAR, "occupation"].matches.sizes.unique),
                    ("the same with month of birth", 1_559, row_of[*MONTH, "occupation"].matches.sizes.unique),
                    ("professional set: unique among the kept", 0.8025, work.listwise.pr_su_kept),
                    ("professional set: unique among all", 0.387, work.listwise.pr_su_all),
                    ("personal set: unique among all", 0.14, life.listwise.pr_su_all),
                ),
                digits=4,
            ),
            Table(
                "gaps",
                "Four ways to treat a gap",
                ("keys, gaps", "n", "k = 1", "m = 1", "θ on m"),
                tuple(map(_treated, gaps)),
                digits=4,
            ),
        ),
        checks=_checks(rows, third, merged, [row for row in gaps if "impute" in row.missing.values()]),
        notes=("the panel is made up: its counts are near the paper's only where its shares were chosen so",),
    )


def _title(keys: Sequence[str]) -> str:
    return " + ".join(SHORT.get(name, name) for name in keys)


def _sizes(sizes: Sizes) -> tuple[int, int, int]:
    return sizes.unique, sizes.below_5, sizes.below_10


def _theta(theta: Theta) -> Cell:
    return None if theta.withheld else theta.estimate


def _treatments(made: Panel, table: pl.DataFrame) -> list[QuasiIdentifier]:
    """Keys with few and with many gaps, each under every treatment of gaps."""
    key_sets = [(*YEAR, "origin"), (*YEAR, "income_class"), (*YEAR, *SETS[1]), (*YEAR, *SETS[3])]
    found = microdata.risk_table(table, key_sets, population=made.population, rule="first", missing=GAPS)
    return sorted(found.quasi_identifiers, key=lambda row: key_sets.index(row.keys))


def _treated(row: QuasiIdentifier) -> tuple[Cell, ...]:
    """What one treatment of gaps does to k, m and θ."""
    numbers = row.listwise.kept, row.listwise.sizes.unique, row.matches.sizes.unique, _theta(row.matches.theta)
    return f"{_title(row.keys)}: {next(iter(row.missing.values()), GAPS[0])}", *numbers


def _checks(
    rows: Sequence[QuasiIdentifier],
    third: Sequence[QuasiIdentifier],
    merged: panel.Merged,
    imputed: Sequence[QuasiIdentifier],
) -> tuple[Check, ...]:
    """What the paper says in words, and what must hold of any panel."""
    row_of = {row.keys: row for row in rows}
    whole = [row for row in third if not row.listwise.deleted]
    mostly_kept = [row for row in third if row.listwise.deleted < merged.kept / 2]
    work = row_of[*YEAR, *SETS[1]].listwise
    more_m = [row for row in mostly_kept if row.matches.sizes.unique > row.listwise.sizes.unique]
    month = [
        row_of[*MONTH, name].matches.sizes.unique / max(row_of[*YEAR, name].matches.sizes.unique, 1)
        for name in ONE_MORE
    ]
    return (
        Check("respondents kept", 10_997, merged.kept),
        Check("set aside: background only", 6_927, merged.background_only),
        Check("deleted + n, least of all rows", 10_997, min(row.listwise.deleted + row.listwise.kept for row in third)),
        Check("deleted + n, most of all rows", 10_997, max(row.listwise.deleted + row.listwise.kept for row in third)),
        Check("m = 1 on income alone", 0, row_of["income",].matches.sizes.unique),
        Check(
            "no gaps: m = 1 less k = 1, largest difference",
            0,
            max(abs(row.matches.sizes.unique - row.listwise.sizes.unique) for row in whole),
        ),
        Check("rows with more m = 1 than k = 1, where half is kept", 0, len(more_m)),
        Check("professional set: uniques over the next row", 1, _above_others(third, work), relation="at least"),
        Check("θ on k, professional set", 0.002, float(work.theta.estimate), rounding=0.0005),
        Check("month of birth: times as many m = 1, least", 3, min(month), relation="at least"),
        Check("imputed: nobody is left out", 10_997, min(row.listwise.kept for row in imputed)),
        Check(
            "imputed: m = 1 less k = 1, largest difference",
            0,
            max(abs(row.listwise.sizes.unique - row.matches.sizes.unique) for row in imputed),
        ),
    )  # fmt: skip


def _above_others(rows: Sequence[QuasiIdentifier], highest: Listwise) -> float:
    """How much higher its share of uniques is than that of any other row."""
    return highest.pr_su_kept / max(row.listwise.pr_su_kept for row in rows if row.listwise is not highest)
