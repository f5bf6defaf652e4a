"""What a panel reveals: the generated panel beside the paper's numbers; and how long its waves take.

    python benchmarks/panel.py [--out benchmarks/panel.md] [--speed benchmarks/panel_speed.md]

Seconds on one machine mean little elsewhere; compare the ratios within one run.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl

from naysay import microdata
from naysay.microdata import panel

sys.path.append(str(Path(__file__).parents[1]))
from reproductions.mulder import keyed
from reproductions.panel import Panel, generate

BORN = ["year_of_birth", "gender"]
MONTH = ["year_of_birth", "month_of_birth", "gender"]
WORK = ["occupation", "profession", "field"]
LIFE = ["origin", "children", "social_media"]
OTHERS = ["occupation", "income_class", "income", "origin", "children", "religion", "language", "field", "profession"]
EVENTS = {
    "wedding": ("civil", "married"),
    "move": ("urban", None),
    "new occupation": ("occupation", None),
    "birth of a child": ("children", None),
}


def lines(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    told = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in told) + "\n"


def against_the_paper(made: Panel, merged: panel.Merged, table: pl.DataFrame) -> str:
    """Every number in the paper's text, and that of the generated panel."""
    asked = [[*BORN, "occupation"], [*MONTH, "occupation"], [*BORN, *WORK, "income_class"], [*BORN, *LIFE, "language"]]
    asked += [["year_of_birth"], ["income"], [*MONTH, *WORK, "income_class"]]
    found = microdata.risk_table(table, asked, population=made.population, rule="first").quasi_identifiers
    job, born, work, life, year, income, both = found
    share = {row["variable"]: row["missing"] for row in merged.missing.to_dicts()}
    lengths = table["month_of_birth"].list.len().fill_null(0)
    kept = f"{work.listwise.pr_su_kept:.2%} / {work.listwise.pr_su_all:.1%}"
    rows = [
        ("everybody in some wave", "17,924", f"{merged.respondents:,}"),
        ("set aside, background only", "6,927", f"{merged.background_only:,}"),
        ("kept", "10,997", f"{merged.kept:,}"),
        ("missing: urbanization", "8", share["urban"]),
        ("missing: income", "1,783", f"{share['income']:,}"),
        ("missing: income in categories", "406", share["income_class"]),
        ("missing: origin", "2,264", f"{share['origin']:,}"),
        ("month of birth: two candidates", "80.4%", f"{(lengths == 2).mean():.1%}"),
        ("month of birth: one", "18.0%", f"{(lengths == 1).mean():.1%}"),
        ("month of birth: none", "1.6%", f"{(lengths == 0).mean():.1%}"),
        ("month of birth: three and more", "0", f"{(lengths > 2).mean():.1%}"),
        ("k = 1 on year of birth", "3", year.listwise.sizes.unique),
        ("m = 1 on income alone", "0", income.matches.sizes.unique),
        ("m = 1 on year of birth, gender, occupation", "269", job.matches.sizes.unique),
        ("m = 1 with month of birth", "1,559", f"{born.matches.sizes.unique:,}"),
        ("professional set: unique among kept / among all", "80.25% / 38.7%", kept),
        ("professional set: θ on k", "0.2%", f"{work.listwise.theta.estimate:.2%}"),
        ("personal set: unique among all", "14%", f"{life.listwise.pr_su_all:.1%}"),
        ("θ on m, professional set with month of birth", "at most 0.1%", f"{both.matches.theta.estimate:.2%}"),
        ("θ on m, professional set", "at most 0.1%", f"{work.matches.theta.estimate:.2%}"),
    ]
    return lines(("", "paper", "generated"), rows)


def what_adds(made: Panel, table: pl.DataFrame) -> str:
    """Uniqueness of year of birth and gender with one more key, and with the month of birth beside it."""
    asked = [keys for name in OTHERS for keys in ([*BORN, name], [*MONTH, name])]
    found = microdata.risk_table(table, asked, population=made.population).quasi_identifiers
    rows = []
    for name, plain, month in zip(OTHERS, found[::2], found[1::2], strict=True):
        sizes = plain.listwise.sizes.unique, plain.matches.sizes.unique, month.matches.sizes.unique
        theta = "–" if month.matches.theta.withheld else f"{month.matches.theta.estimate:.2%}"
        rows.append((name.replace("_", " "), *(f"{each:,}" for each in sizes), theta))
    heads = ("year of birth, gender and …", "k = 1", "m = 1", "m = 1 with month of birth", "θ with it")
    return lines(heads, rows)


def what_dates_add(made: Panel, table: pl.DataFrame) -> str:
    """How many more people match only themselves once the date of a change is known."""
    rows = []
    for name, (variable, to) in EVENTS.items():
        told: list[int] = []
        for unchanged in (None, "outside"):
            dates = panel.when_changed(made.background, variable, to=to, name="date", unchanged=unchanged)
            found = panel.gain(dates.beside(table), BORN, variable=variable, date="date")
            told.append(found.with_both)
        dated = table.join(dates.table, on="respondent")["date"].list.contains("outside").not_().sum()
        rows.append((name, *(f"{each:,}" for each in (dated, found.without, found.with_variable, *told))))
    heads = (
        "event",
        "dated",
        "m = 1 without it",
        "with the current value",
        "and the date",
        "and who was seen through it",
    )
    return lines(heads, rows)


def how_sure(made: Panel, kept: pl.Series) -> str:
    """Candidates for the month of birth, from changes alone and from all that an intruder has."""
    ways = {
        "changes of age": {},
        "every age": {"bounds": True},
        "every age, and year of birth": {"bounds": True, "year_of_birth": "year_of_birth"},
    }
    rows = []
    for name, options in ways.items():
        found = panel.month_of_birth(made.background, **options)
        lengths = found.table.filter(pl.col("respondent").is_in(kept.implode()))["month_of_birth"].list.len()
        none, one, two = lengths.is_null().sum(), (lengths == 1).sum(), (lengths == 2).sum()
        rows.append((name, *(f"{each:,}" for each in (one, two, len(lengths) - one - two - none, none))))
    return lines(("from", "one candidate", "two", "more", "none"), rows)


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result, and the best wall time of a few runs."""
    best, result = float("inf"), None
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begun)
    return result, best


def speed(waves: int = 60, people: int = 20_000) -> str:
    """Seconds for waves × people, beside pandas."""
    made = generate(respondents=12_500, background_only=people - 12_500, waves=waves)
    everybody = made.background.filter(wave=made.background["wave"][0]).height
    grid = full(made.background, waves, people)
    pandas = grid.to_pandas()
    apart = {month[0]: table for month, table in grid.partition_by("wave", as_dict=True).items()}
    merged, whole = timed(lambda: panel.merge_waves(grid))
    _, files = timed(lambda: panel.merge_waves(apart))
    _, frames = timed(lambda: panel.merge_waves(pandas))
    peer, last = timed(lambda: pandas.sort_values("wave").groupby("respondent", observed=True).last())
    same(merged.table, peer)
    born, months = timed(lambda: panel.month_of_birth(grid))
    _, bounds = timed(lambda: panel.month_of_birth(grid, bounds=True, year_of_birth="year_of_birth"))
    _, dates = timed(lambda: panel.when_changed(grid, "occupation"))
    _, making = timed(generate, repeats=1)
    rows = [
        ("merge_waves, one long polars frame", f"{whole:.2f}"),
        (f"merge_waves, {waves} frames", f"{files:.2f}"),
        ("merge_waves, one long pandas frame", f"{frames:.2f}"),
        ("pandas sort_values, groupby, last (no counts, no checks)", f"{last:.2f}"),
        ("month_of_birth", f"{months:.2f}"),
        ("month_of_birth with bounds and year of birth", f"{bounds:.2f}"),
        ("when_changed", f"{dates:.2f}"),
        ("generate, the default panel (10,997 + 6,927 members)", f"{making:.2f}"),
    ]
    told = f"{waves} waves × {born.table.height:,} respondents = {grid.height:,} rows, {grid.width} columns; "
    told += f"Python {platform.python_version()}, "
    told += ", ".join(f"{name} {version(name)}" for name in ("numpy", "polars", "pandas"))
    assert everybody <= people
    return told + ".\n\n" + lines(("", "seconds"), rows)


def full(background: pl.DataFrame, waves: int, people: int) -> pl.DataFrame:
    """Everybody in every wave: a missing month takes the last known values, so that ages still change."""
    months = background["wave"].unique().sort()
    grid = pl.DataFrame({"respondent": range(1, people + 1)}).join(pl.DataFrame({"wave": months}), how="cross")
    texts = background.with_columns(pl.col(pl.Enum).cast(pl.String))
    joined = grid.join(texts, on=["respondent", "wave"], how="left", maintain_order="left")
    assert joined.height == waves * people
    return joined.with_columns(pl.exclude("respondent", "wave", "age").forward_fill().over("respondent"))


def same(merged: pl.DataFrame, peer: pd.DataFrame) -> None:
    """Raise unless the other tool gives the same values."""
    other = pl.from_pandas(peer.reset_index()).select(merged.columns).sort("respondent")
    for name in merged.columns:
        mine, theirs = merged[name], other[name].cast(merged[name].dtype)
        assert mine.equals(theirs), name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).resolve().parent
    parser.add_argument("--out", type=Path, default=here / "panel.md")
    parser.add_argument("--speed", type=Path, default=here / "panel_speed.md")
    asked = parser.parse_args()
    made = generate()
    merged, table = keyed(made)
    told = {
        "The paper and the generated panel": against_the_paper(made, merged, table),
        "How sure the month of birth is": how_sure(made, merged.table["respondent"]),
        "What the month of birth adds": what_adds(made, table),
        "What the date of a change adds": what_dates_add(made, table),
    }
    asked.out.write_text("\n".join(f"**{title}**\n\n{text}" for title, text in told.items()), encoding="utf-8")
    asked.speed.write_text(speed(), encoding="utf-8")


if __name__ == "__main__":
    main()
