"""How long suppression and the search for levels take on a million records, beside what was measured for others.

    python benchmarks/protect_speed.py [--rows 1000000] [--out benchmarks/protect_speed.md]
    python benchmarks/protect_speed.py --pieces 10000000

Six skewed keys, k = 3. sdcMicro and ARX are not run here: their rows say what was measured for them, on which file, and
give no more than an order of magnitude. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path = [place for place in sys.path if Path(place).resolve() != HERE]  # numba would take coverage.py for coverage

import numpy as np  # noqa: E402
import polars as pl  # noqa: E402

from naysay import files  # noqa: E402
from naysay.microdata import protect  # noqa: E402
from naysay.microdata.protect.pieces import release_in_pieces  # noqa: E402

_PIECE = 1_000_000
SIZES = (90, 2, 16, 20, 40, 8)
PACKAGES = ("naysay", "numpy", "polars", "numba")


def table(n: int, *, seed: int = 1) -> pl.DataFrame:
    """Keys whose values are rarer the higher they are."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({f"v{i}": np.minimum(rng.geometric(min(0.5, 2.5 / s), n), s) for i, s in enumerate(SIZES)})


def hierarchies() -> dict[str, protect.Hierarchy]:
    """Bins of 2, 4, 8 … values, and all together: 17,640 combinations of levels."""
    found = {}
    for place, size in enumerate(SIZES):
        widths = [2]
        while widths[-1] * 2 < size and len(widths) < 5:
            widths.append(widths[-1] * 2)
        found[f"v{place}"] = protect.hierarchy_of_numbers(range(1, size + 1), widths=widths)
    return found


def timed(work: object) -> tuple[float, object]:
    """Processor seconds, and the result."""
    begun = time.process_time()
    found = work()  # type: ignore[operator]
    return time.process_time() - begun, found


def rows(n: int) -> list[list[str]]:
    """One row a task: what was done, seconds, and what was found."""
    frame, told = table(n), []
    protect.Suppress(keys=list(frame.columns)).apply(frame.head(1_000))  # compile
    size = frame.estimated_size() / 2**20
    for target in ("k >= 3", "c >= 3"):
        seconds, (_, log) = timed(
            lambda target=target: protect.Suppress(keys=frame.columns, target=target).apply(frame)
        )
        share = 100 * log.suppressed / frame.height / frame.width
        told.append([f"suppression, {target}", f"{seconds:.1f}", f"{share:.1f} % of the cells, {log.deleted} deleted"])
    for share in (0.0, 0.02):
        seconds, found = timed(lambda share=share: protect.coarsen(frame, hierarchies(), suppress=share))
        done = f"{found.counted:,} of {found.nodes:,} combinations counted, loss {found.loss:.3f}"
        told.append([f"least loss, {share:.0%} suppressed", f"{seconds:.1f}", done])
    binned = frame.with_columns(pl.col("v0") // 10)
    seconds, (_, log) = timed(lambda: protect.Suppress(keys=frame.columns, importance={"v1": "must"}).apply(binned))
    told.append(["suppression after bins, one key kept", f"{seconds:.1f}", f"{log.suppressed:,} cells"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told.append(["the most memory, of it the frame", f"{peak:,.0f} MB", f"{size:,.0f} MB"])
    return told


def in_pieces(n: int) -> str:
    """A Parquet file that is released without holding it: drawn, decided, written, read again and measured."""
    with TemporaryDirectory() as folder:
        path, out = Path(folder) / "drawn.parquet", Path(folder) / "safe.parquet"
        files.write_pieces((table(min(_PIECE, n - begin), seed=begin + 1) for begin in range(0, n, _PIECE)), path)
        keys = [f"v{place}" for place in range(len(SIZES))]
        plan = protect.Plan(keys=keys, steps=[protect.Suppress(keys=keys)])
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds, found = timed(lambda: release_in_pieces(path, plan, out))
        size = path.stat().st_size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{n:,} rows × {len(SIZES)} keys from Parquet ({size:,.0f} MB) to Parquet, without holding the file: "
        f"{seconds:.0f} processor seconds, {peak:,.0f} MB at most ({held:,.0f} MB before); k >= {found.after.k}, "  # type: ignore[attr-defined]
        f"{100 * found.log.suppressed / n / len(SIZES):.1f} % of the cells emptied, {found.log.deleted} deleted."  # type: ignore[attr-defined]
    )


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=HERE / "protect_speed.md")
    parser.add_argument("--pieces", type=int, help="only print what a Parquet file of so many rows takes")
    given = parser.parse_args()
    if given.pieces:
        sys.stdout.write(f"{in_pieces(given.pieces)}\n")
        return
    lines = ["| task | seconds | found |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows(given.rows))]
    others = [
        "| others, on other machines | what was measured |",
        "|---|---|",
        "| sdcMicro 5.8.1, kAnon, 4,580 × 7 | a scan of all rows for each risky row; 293 cells, k < 3 left for 150 |",
        "| the lattice of ARX's Adult example, 12,960 combinations, plain loop over 19,502 tuples | 141 s |",
        "| level-wise prototype of strict suppression, 10⁶ × 6 | 11.6 s, 11 rounds, 7.2 % of the cells |",
        "| level-wise prototype of c, 10⁶ × 6 | 7.2 s, 4 rounds |",
    ]
    apart = [sys.executable, __file__, "--pieces"]  # a run's peak of memory is its own
    sizes = (str(given.rows), str(10 * given.rows))
    pieces = "\n".join(subprocess.run([*apart, n], check=True, capture_output=True, text=True).stdout for n in sizes)
    about = f"{given.rows:,} rows × {len(SIZES)} keys, Python {platform.python_version()}, "
    about += ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    text = "\n".join(["# Protection: time", "", f"{about}; processor seconds.", "", *lines, "", pieces, *others, ""])
    given.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
