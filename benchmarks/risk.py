"""How long anonymity sets and matches take, side by side in one run, and how the cost grows with the file.

    python benchmarks/risk.py [--out benchmarks/risk.md] [--plots benchmarks/risk.svg] [--large FILE.parquet] [--spark]

pandas, DuckDB and brute force come with the development dependencies. pycanon is compared where it is installed
(``pip install --no-deps pycanon``). Each case runs in a process of its own, so that its peak memory is its own. Seconds
on one machine mean little elsewhere; compare the ratios within one run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay import microdata

CARDS = (80, 2, 12, 9, 5, 300)
GONE = (0.05, 0.08, 0.10, 0.12, 0.15, 0.20)
MANY = (2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 12, 12, 15, 20, 20, 30, 40, 50, 60, 80, 100)
BRUTE = 10_000
HERE = Path(__file__).resolve().parent
sys.path = [
    place for place in sys.path if Path(place).resolve() != HERE
]  # else numba would import benchmarks/coverage.py as the package coverage
PACKAGES = ("naysay", "numpy", "polars", "pandas", "duckdb", "numba")


def table(n: int, cards: tuple[int, ...], gone: tuple[float, ...], seed: int = 1) -> pl.DataFrame:
    """Uniform keys, each missing at random; the last is a text, such as an occupation."""
    rng = np.random.default_rng(seed)
    columns = {}
    for place, (values, share) in enumerate(zip(cards, gone, strict=True)):
        cells = pl.Series(rng.integers(0, values, n, dtype=np.int32))
        if place == len(cards) - 1:
            cells = pl.Series([f"occupation {value}" for value in range(values)]).gather(cells)
        known = pl.Series(rng.random(n) >= share)
        columns[f"key {place + 1}"] = pl.select(pl.when(known).then(cells)).to_series()
    return pl.DataFrame(columns)


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """The result, and the best wall time of a few runs."""
    best, result = np.inf, None
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begun)
    return result, best


def peak() -> float:
    """Most memory that this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux getrusage also counts what the parent process held
        (line,) = (each for each in status.read_text(encoding="ascii").splitlines() if each.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def matched(frame: Any, algorithm: str | None = None) -> dict[str, float]:
    """Seconds to encode and to match a frame in memory, with the algorithm and the counts behind them."""
    keys, reading = timed(lambda: microdata.Keys(frame, list(frame.columns)))
    warm = microdata.Keys(table(40_000, (3,) * 12, (0.3,) * 12), [f"key {place}" for place in range(1, 13)])
    microdata.matches(warm, algorithm="bitmap")  # compiles the code, once on a machine
    plan = microdata.explain(keys)
    found, matching = timed(lambda: microdata.matches(keys, algorithm=algorithm))
    return {
        "seconds": reading + matching,
        "reading": reading,
        "estimate": next(cost.seconds for cost in plan.costs if cost.algorithm == (algorithm or plan.chosen)),
        "algorithm": algorithm or plan.chosen,
        "patterns": plan.patterns,
        "unique": int((found == 1).sum()),
        "rows": keys.n,
    }


def case(name: str, options: dict[str, Any]) -> dict[str, float]:
    """One measurement, in this process."""
    if name == "large":
        return large(Path(options["path"]))
    frame = table(options["n"], tuple(options["cards"]), tuple(options["gone"]))
    result = PEERS[name](frame) if name in PEERS else matched(frame, options.get("algorithm"))
    return result | {"peak": peak()}


def alone(name: str, **options: Any) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--case", json.dumps([name, options])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def pandas_groupby(frame: pl.DataFrame) -> dict[str, float]:
    """Anonymity sets by pandas, where a missing key is a category (pandas has no wildcards)."""
    data = frame.to_pandas()
    names = list(data.columns)
    _, seconds = timed(lambda: data.groupby(names, dropna=False)[names[0]].transform("size"))
    return {"seconds": seconds}


def pycanon(frame: pl.DataFrame) -> dict[str, float]:
    """The smallest anonymity set by pycanon, which has neither wildcards nor a size for each row."""
    from pycanon import anonymity

    data = frame.to_pandas()
    _, seconds = timed(lambda: anonymity.k_anonymity(data, list(data.columns)))
    return {"seconds": seconds}


def ours(frame: pl.DataFrame) -> dict[str, float]:
    """Anonymity sets by naysay, where a missing key is a category."""
    data = frame.to_pandas()
    names = list(data.columns)
    _, seconds = timed(lambda: microdata.anonymity(microdata.Keys(data, names, missing="category")))
    return {"seconds": seconds}


def brute(frame: pl.DataFrame) -> dict[str, float]:
    """Matches by comparing everybody with everybody, a row of numpy at a time."""
    codes = np.column_stack([frame[name].rank("dense").fill_null(0).to_numpy() for name in frame.columns])

    def count() -> list[int]:
        return [int(((codes == own) | (codes == 0) | (own == 0)).all(axis=1).sum()) for own in codes]

    found, seconds = timed(count)
    assert found == microdata.matches(microdata.Keys(frame, frame.columns)).tolist()
    return {"seconds": seconds}


def duckdb_join(frame: pl.DataFrame) -> dict[str, float]:
    """The join of patterns inside DuckDB: only the histogram leaves it."""
    import duckdb

    relation = duckdb.connect().from_arrow(frame.to_arrow())
    return engine(relation, frame)


def spark_join(frame: pl.DataFrame) -> dict[str, float]:
    """The same inside a local Spark."""
    import tempfile

    import pytest

    sys.path.insert(0, str(HERE.parent))
    from tests.microdata import jvm

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        session = jvm.session(folder, patch)
        path = f"{folder}/rows.parquet"
        frame.write_parquet(path)
        result = engine(session.read.parquet(path), frame)
        session.stop()
    return result


def engine(data: Any, frame: pl.DataFrame) -> dict[str, float]:
    """Seconds of an engine by the join of patterns and by its tally; results must equal those in memory."""
    keys, reading = timed(lambda: microdata.Keys(data, frame.columns))
    found, joining = timed(lambda: microdata.histogram(keys, algorithm="join"))
    tally, counting = timed(lambda: microdata.histogram(keys))
    here = microdata.histogram(microdata.Keys(frame, frame.columns))
    for each in (found, tally):
        assert each.sizes.tolist() == here.sizes.tolist()
        assert each.respondents.tolist() == here.respondents.tolist()
    return {"seconds": reading + joining, "tally": reading + counting}


def group_by(frame: pl.DataFrame) -> dict[str, float]:
    """A plain polars group_by: distinct rows and how many have each; processor seconds."""
    begun = time.process_time()
    frame.group_by(frame.columns).len()
    return {"group by": time.process_time() - begun}


def counted(frame: pl.DataFrame) -> dict[str, float]:
    """What naysay asks of complete rows, in processor seconds, the keys' encoding included in each."""
    small = table(1_000_000, CARDS, (0.0,) * 6)
    microdata.histogram(microdata.Keys(small, small.columns))  # loads the compiled code
    begun = time.process_time()
    keys = microdata.Keys(frame, frame.columns)
    reading = time.process_time() - begun
    asked = {
        "k of everybody": lambda: microdata.anonymity(keys),
        "m of everybody": lambda: microdata.matches(keys),
        "how many have each m": lambda: microdata.histogram(keys),
        "table of risk": lambda: microdata.risk_table(keys, [frame.columns]),
    }
    seconds = {"keys alone": reading}
    for name, work in asked.items():
        begun = time.process_time()
        work()
        seconds[name] = reading + time.process_time() - begun
    return seconds


def complete(n: int = 10_000_000) -> list[str]:
    """Complete rows beside a plain group_by of polars."""
    base = alone("group_by", n=n, cards=CARDS, gone=(0.0,) * 6)["group by"]
    found = alone("counted", n=n, cards=CARDS, gone=(0.0,) * 6)
    peak = found.pop("peak")
    rows = {"polars group_by": base, **found}
    lines = ["| question | processor seconds | of a group_by |", "|---|---|---|"]
    lines += [f"| {name} | {seconds:.2f} | {seconds / base:.2f} |" for name, seconds in rows.items()]
    told = (
        f"{n:,} complete rows × 6 keys, beside a plain group_by of polars. Reading the keys is in every row of naysay;"
    )
    return [f"{told} {peak:,.0f} MB at most in all.", "", *lines, ""]


PEERS = {
    "group_by": group_by,
    "counted": counted,
    "pandas": pandas_groupby,
    "pycanon": pycanon,
    "ours": ours,
    "brute": brute,
    "duckdb": duckdb_join,
    "spark": spark_join,
}


def large(path: Path) -> dict[str, float]:
    """A Parquet file of any size, scanned column by column."""
    scan = pl.scan_parquet(path)
    names = scan.collect_schema().names()
    begun = time.process_time()
    keys, reading = timed(lambda: microdata.Keys(scan, names))
    found, matching = timed(lambda: microdata.histogram(keys))
    return {
        "rows": keys.n,
        "processor": time.process_time() - begun,
        "reading": reading,
        "seconds": reading + matching,
        "distinct": keys.distinct,
        "least": int(found.sizes[0]),
        "peak": peak(),
    }


def written(path: Path, n: int) -> None:
    """A Parquet file of n rows, written in pieces."""
    import pyarrow.parquet as pq

    writer = None
    for piece, start in enumerate(range(0, n, 5_000_000)):
        rows = table(min(5_000_000, n - start), CARDS, GONE, seed=100 + piece).to_arrow()
        writer = writer or pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows, row_group_size=1_000_000)
    if writer is not None:
        writer.close()


def prototypes() -> list[str]:
    """Files of several shapes."""
    cases = [
        ("10⁶ rows × 6 keys", 1_000_000, CARDS, GONE),
        ("10⁷ rows × 6 keys", 10_000_000, CARDS, GONE),
        ("10⁷ rows × 6 keys, complete", 10_000_000, CARDS, (0.0,) * 6),
        ("10⁵ rows × 25 keys, 20 % missing", 100_000, MANY, (0.2,) * 25),
        ("10⁵ rows × 6 keys, 53 % of rows incomplete", 100_000, CARDS, GONE),
    ]
    lines = [
        "| file | algorithm | seconds | of it reading | MB at most in all | patterns of missing keys |",
        "|---|---|---|---|---|---|",
    ]
    for name, n, cards, gone in cases:
        found = alone("matches", n=n, cards=cards, gone=gone)
        lines.append(
            f"| {name} | {found['algorithm']} | {found['seconds']:.2f} | {found['reading']:.2f} |"
            f" {found['peak']:,.0f} | {found['patterns']:,} |"
        )
    return ["Matches of every respondent, from a frame in memory; encoding included.", "", *lines, ""]


def peers(*, spark: bool) -> list[str]:
    """Other tools on the same rows."""
    have = ["pandas", *(["pycanon"] if importlib.util.find_spec("pycanon") else [])]
    lines = ["| question, rows × keys | tool | seconds | times ours |", "|---|---|---|---|"]
    for n in (100_000, 1_000_000):
        base = alone("ours", n=n, cards=CARDS, gone=GONE)["seconds"]
        lines.append(f"| k, missing a category, {n:,} × 6 | naysay | {base:.2f} | 1 |")
        for peer in have:
            seconds = alone(peer, n=n, cards=CARDS, gone=GONE)["seconds"]
            lines.append(f"| | {peer} | {seconds:.2f} | {seconds / base:.1f} |")
    engines = ["brute", "duckdb", *(["spark"] if spark else [])]
    base = alone("matches", n=BRUTE, cards=CARDS, gone=GONE)["seconds"]
    lines.append(f"| m, missing a wildcard, {BRUTE:,} × 6 | naysay | {base:.3f} | 1 |")
    for peer in engines:
        seconds = alone(peer, n=BRUTE, cards=CARDS, gone=GONE)["seconds"]
        lines.append(f"| | {LABELS[peer]} | {seconds:.2f} | {seconds / base:,.0f} |")
    return ["Other tools on the same rows; engines give equal numbers, checked in the run.", "", *lines, ""]


LABELS = {
    "brute": "brute force, numpy",
    "duckdb": "the join of patterns inside DuckDB",
    "spark": "the join of patterns inside local Spark",
}


def growth() -> pl.DataFrame:
    """The cost of each algorithm against rows, keys, share missing and patterns, and against rows with wide keys."""
    cases = [("rows", n, n, (80, 12, 9, 5, 20), (0.1,) * 5) for n in (1_000, 10_000, 100_000, 1_000_000)]
    cases += [("keys", q, 20_000, (8,) * q, (0.2,) * q) for q in (2, 4, 6, 8, 12, 20)]
    cases += [("share missing", share, 100_000, (40, 12, 9, 5), (share,) * 4) for share in (0.0, 0.05, 0.2, 0.5, 0.8)]
    cases += [("patterns", 2**q, 50_000, (8,) * 10, (0.2,) * q + (0.0,) * (10 - q)) for q in (0, 2, 4, 6, 8, 10)]
    cases += [("rows, wide keys", n, n, (5_000, 4_000, 300), (0.02,) * 3) for n in (10_000, 100_000, 1_000_000)]
    rows = []
    for what, at, n, cards, gone in cases:
        frame = table(n, cards, gone)
        keys = microdata.Keys(frame, frame.columns)
        for cost in microdata.explain(keys).costs:
            if cost.seconds < 20 and cost.bytes < 2**31:
                microdata.matches(keys.only(frame.columns[:2]), algorithm=cost.algorithm)
                _, seconds = timed(lambda: microdata.matches(keys, algorithm=cost.algorithm), repeats=2)  # noqa: B023
                rows.append((what, float(at), cost.algorithm, seconds, cost.seconds))
    return pl.DataFrame(rows, schema=["against", "at", "algorithm", "seconds", "estimate"], orient="row")


GAPS = (70, 2, 5, 15, 8, 10, 6, 12, 9, 7, 20, 4, 3, 5, 30, 11, 2, 8, 6, 40, 3, 5, 7, 9, 12, 4, 2, 50, 10, 6)


def half_missing() -> list[str]:
    """A million rows with half of the cells missing, against the number of keys."""
    lines = ["| keys | distinct tuples | algorithm | processor seconds | mean m |", "|---|---|---|---|---|"]
    for count in (10, 30):
        frame = table(1_000_000, GAPS[:count], (0.5,) * count)
        keys = microdata.Keys(frame, frame.columns)
        chosen = microdata.explain(keys).chosen
        begun = time.process_time()
        found = microdata.matches(keys)
        seconds = time.process_time() - begun
        lines.append(f"| {count} | {keys.distinct:,} | {chosen} | {seconds:.1f} | {found.mean():,.0f} |")
    return ["1,000,000 rows, half of the cells missing; processor seconds to match.", "", *lines, ""]


def grown(costs: pl.DataFrame) -> list[str]:
    """The growth as a table."""
    lines = ["| against | at | cube | join | bitmap | chosen by the estimate |", "|---|---|---|---|---|---|"]
    for (against, at), part in costs.group_by(["against", "at"], maintain_order=True):
        seconds = dict(zip(part["algorithm"], part["seconds"], strict=True))
        cells = " | ".join(f"{seconds[name]:.3f}" if name in seconds else "–" for name in ("cube", "join", "bitmap"))
        chosen = part.sort("estimate")["algorithm"][0]
        lines.append(f"| {against} | {at:g} | {cells} | {chosen} |")
    return ["Seconds to match, without encoding; – is what the estimate says would take long.", "", *lines, ""]


def plotted(costs: pl.DataFrame, path: Path) -> None:
    """The growth as four charts."""
    import altair as alt

    def chart(against: str) -> alt.Chart:
        scale = alt.Scale(type="linear" if against == "share missing" else "log")
        return (
            alt.Chart(costs.filter(pl.col("against") == against), width=240, height=180)
            .mark_line(point=True)
            .encode(
                x=alt.X("at:Q", title=against, scale=scale),
                y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log")),
                color=alt.Color("algorithm:N", title=None),
            )
        )

    names = costs["against"].unique(maintain_order=True).to_list()
    alt.concat(*map(chart, names), columns=2).save(path)


def of_large(path: Path, n: int) -> list[str]:
    """The report on a file that is too large for a frame in memory."""
    if not path.exists():
        written(path, n)
    found = alone("large", path=os.fspath(path))
    return [
        f"{found['rows']:,} rows from Parquet ({path.stat().st_size / 2**20:,.0f} MB), scanned column by column:"
        f" {found['reading']:.0f} s to read and encode {found['distinct']:,} distinct tuples,"
        f" {found['seconds'] - found['reading']:.0f} s to match them (least m: {found['least']:,});"
        f" {found['processor']:.0f} processor seconds; {found['peak']:,.0f} MB at most in all.",
        "",
    ]


def main() -> int:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--plots", type=Path, default=None)
    parser.add_argument("--large", type=Path, default=None, help="a Parquet file; it is written if it is not there")
    parser.add_argument("--large-rows", type=int, default=100_000_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--case", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        sys.stdout.write(json.dumps(case(*json.loads(options.case))) + "\n")
        return 0
    costs = growth()
    lines = [*prototypes(), *complete(), *peers(spark=options.spark)]
    lines += of_large(options.large, options.large_rows) if options.large else []
    lines += half_missing()
    lines += grown(costs)
    if options.plots:
        plotted(costs, options.plots)
        lines += [f"![Seconds against rows, keys, the share missing, and patterns]({options.plots.name})", ""]
    packages = [
        *PACKAGES,
        *(["pycanon"] if importlib.util.find_spec("pycanon") else []),
        *(["pyspark"] if options.spark else []),
    ]
    lines.append(
        f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        + ", ".join(f"{package} {version(package)}" for package in packages)
        + "."
    )
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
