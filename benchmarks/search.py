"""How long a search over combinations of keys takes, beside counting every combination by itself.

    python benchmarks/search.py [--rows 100000] [--out benchmarks/search.md] [--plots benchmarks/search.svg]

One search runs as a whole. In the same run, the other ways are timed on combinations drawn from it, and the times are
multiplied up. The run checks that all ways give equal numbers. Seconds on one machine mean little elsewhere; compare
the ratios.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

from naysay import microdata

HERE = Path(__file__).resolve().parent
sys.path = [
    place for place in sys.path if Path(place).resolve() != HERE
]  # else numba would import benchmarks/coverage.py as the package coverage
CARDS = (80, 2, 12, 9, 5, 100, 4, 6, 10, 20, 3, 8, 50, 15, 7)
GONE = (0.02, 0.0, 0.3, 0.1, 0.08, 0.15, 0.0, 0.05, 0.1, 0.2, 0.05, 0.12, 0.25, 0.1, 0.03)
DRAWN = 40  # combinations of each size that the other ways count
PACKAGES = ("naysay", "numpy", "polars", "numba")


def table(n: int, *, sets: bool = False, seed: int = 1) -> pl.DataFrame:
    """Fifteen keys of uneven values, some missing at random; with `sets`, half the rows have two candidate months."""
    rng = np.random.default_rng(seed)
    columns = {}
    for place, (values, share) in enumerate(zip(CARDS, GONE, strict=True)):
        cells = np.floor(rng.random(n) ** 1.7 * values).astype(np.int64)
        known = pl.Series(rng.random(n) >= share)
        if sets and values == 12:
            second = np.where(rng.random(n) < 0.5, (cells + 1) % 12, cells)
            cells = pl.Series(np.column_stack([cells, second]).tolist()).list.unique()
        columns[f"key {place + 1}"] = pl.select(pl.when(known).then(pl.Series(cells))).to_series()
    return pl.DataFrame(columns)


def by_itself(keys: microdata.Keys, names: tuple[str, ...]) -> tuple[int, int]:
    """k = 1 and m = 1, counted as `risk_table` counts one quasi-identifier."""
    part = keys.only(names)
    found = [microdata.histogram(part, measure=measure) for measure in ("anonymity", "matches")]
    first, second = (dict(zip(each.sizes.tolist(), each.respondents.tolist(), strict=True)) for each in found)
    return first.get(1, 0), second.get(1, 0)


def in_polars(frame: pl.DataFrame, names: tuple[str, ...]) -> int:
    """k = 1 by a group_by, which has no wildcards and so gives no m."""
    return int((frame.lazy().select(names).drop_nulls().group_by(names).len().collect()["len"] == 1).sum())


def measured(n: int, size: int, *, sets: bool) -> tuple[dict[str, float], list[dict[str, float]]]:
    """One search and the other ways beside it, in total and by size."""
    frame = table(n, sets=sets)
    begun = time.perf_counter()
    keys = microdata.Keys(frame, frame.columns)
    reading = time.perf_counter() - begun
    told: list[tuple[int, float]] = []
    begun = time.perf_counter()
    progress = lambda name, _: told.append((name.count(" + ") + 1, time.perf_counter()))  # noqa: E731
    found = microdata.search(keys, size=size, minutes=600, progress=progress)
    whole = time.perf_counter() - begun
    told.append((size + 1, time.perf_counter()))
    starts = [next(at for number, at in told if number == each) for each in range(1, size + 2)]
    rng, rows = np.random.default_rng(2), []
    for number in range(1, size + 1):
        every = found.of(number)
        drawn = [every[place] for place in rng.permutation(len(every))[:DRAWN]]
        row = {"keys": number, "combinations": len(every), "search": starts[number] - starts[number - 1]}
        begun = time.perf_counter()
        for each in drawn:
            assert by_itself(keys, each.keys) == (each.k.unique, each.m.unique)
        row["alone"] = (time.perf_counter() - begun) / len(drawn) * len(every)
        if not sets:
            begun = time.perf_counter()
            for each in drawn:
                assert in_polars(frame, each.keys) == each.k.unique
            row["polars"] = (time.perf_counter() - begun) / len(drawn) * len(every)
        rows.append(row)
    begun = time.perf_counter()
    microdata.contributions(found)
    added = time.perf_counter() - begun
    begun = time.perf_counter()
    microdata.recodings(keys.only(found.combinations[0].keys))
    recoded = time.perf_counter() - begun
    plan = microdata.search_plan(keys, size=size)
    return {
        "rows": n,
        "size": size,
        "sets": sets,
        "combinations": len(found.combinations),
        "reading": reading,
        "search": whole,
        "alone": sum(row["alone"] for row in rows),
        "plan": plan.time,
        "added": added,
        "recoded": recoded,
    }, rows


def report(every: list[tuple[dict[str, float], list[dict[str, float]]]]) -> str:
    """The page."""
    lines = [
        "Every combination of up to so many of 15 keys (2 to 100 values, 0 to 30 % missing): k and m of everybody.",
        "",
        "| respondents | cells | keys | combinations | search, s | said beforehand, s | one by one, s | times ours"
        " | contributions, s | recodings, s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for whole, _ in every:
        cells = "months of two candidates" if whole["sets"] else "values and gaps"
        lines.append(
            f"| {whole['rows']:,} | {cells} | up to {whole['size']} | {whole['combinations']:,} |"
            f" {whole['search']:.1f} | {whole['plan']:.1f} |"
            f" {whole['alone']:.1f} | {whole['alone'] / whole['search']:.1f} | {whole['added']:.1f} |"
            f" {whole['recoded']:.1f} |"
        )
    lines += [
        "",
        "By the number of keys; the other ways timed on up to 40 combinations of each and multiplied out.",
        "",
        "| respondents | cells | keys | combinations | search, ms each | one by one, ms each"
        " | polars `group_by`, k only, ms each |",
        "|---|---|---|---|---|---|---|",
    ]
    for whole, rows in every[1:]:
        cells = "months of two candidates" if whole["sets"] else "values and gaps"
        for row in rows:
            each = {
                name: 1e3 * row[name] / row["combinations"] for name in ("search", "alone", "polars") if name in row
            }
            peer = f"{each['polars']:.1f}" if "polars" in each else "–"
            lines.append(
                f"| {whole['rows']:,} | {cells} | {row['keys']} | {row['combinations']:,} | {each['search']:.1f} |"
                f" {each['alone']:.1f} | {peer} |"
            )
    used = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return "\n".join([*lines, "", f"Python {platform.python_version()}, {used}."]) + "\n"


def drawn(rows: list[dict[str, float]]) -> str:
    """Seconds for one combination against its number of keys, as SVG."""
    import altair as alt
    import vl_convert

    names = {"search": "search", "alone": "one by one", "polars": "polars, k only"}
    values = [
        {"keys": row["keys"], "ms": 1e3 * row[way] / row["combinations"], "way": name}
        for row in rows
        for way, name in names.items()
    ]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("keys:O", title="keys in the combination", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("ms:Q", scale=alt.Scale(type="log"), title="ms for one combination"),
            color=alt.Color("way:N", title=None, scale=alt.Scale(range=["#0072b2", "#d55e00", "#009e73"])),
        )
        .properties(width=420, height=220)
    )
    return vl_convert.vegalite_to_svg(chart.to_dict(), allowed_base_urls=[])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plots", type=Path)
    asked = parser.parse_args()
    every = [
        measured(asked.rows // 10, 4, sets=False),
        measured(asked.rows, 4, sets=False),
        measured(asked.rows // 10, 4, sets=True),
        measured(asked.rows // 10, 6, sets=False),
    ]
    text = report(every)
    sys.stdout.write(text)
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    if asked.plots is not None:
        asked.plots.write_text(drawn(every[-1][1]), encoding="utf-8")


if __name__ == "__main__":
    main()
