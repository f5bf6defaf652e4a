"""Run all benchmarks, and write one table of what they found, with the machine, the versions and the ratios.

    python -m benchmarks [NAME ...] [--list] [--read] [--out benchmarks/results.md]

A benchmark is a file in this folder that writes its table to ``--out`` and needs no other argument. Its table stands
beside it under the same name. Each benchmark runs in a process of its own. With names, only these benchmarks run; for
the others, their last tables are read. With --read none runs, and only what the tables say is written anew. Seconds are
compared with those of a reference, fixed matrix products on the same machine just before, so that results from
different machines can be compared.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

HERE = Path(__file__).parent
PACKAGES = ("numpy", "scipy", "polars")
_USAGE = 2  # exit code of a script that needs arguments


class Result(NamedTuple):
    """The costs and the findings of one benchmark."""

    name: str
    about: str
    code: int | None
    seconds: float
    memory: float
    found: str


def benchmarks(folder: Path) -> list[Path]:
    """The scripts that are benchmarks: those that take ``--out``."""
    scripts = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    return [path for path in scripts if '"--out"' in path.read_text(encoding="utf-8")]


def about(script: Path) -> str:
    """The first line of a script's docstring."""
    told = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return told.partition("\n")[0].rstrip(".")


def tables(text: str) -> list[list[list[str]]]:
    """The cells of all tables in a Markdown text, header first, without the line below the header."""
    found = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    cells = [[[cell.strip() for cell in line.strip("|").split("|")] for line in each.splitlines()] for each in found]
    return [[rows[0], *rows[2:]] for rows in cells if len(rows) > 2]


def findings(text: str) -> str:
    """The ratios of tables that compare ("times …"), and how many cells hold.

    A text that says how many of all its cells hold is believed: its table may list the worst of them only.
    """
    counted = re.search(r"\b[\d,]+ of [\d,]+ cells hold", text)
    if counted is not None:
        return counted.group()
    said = []
    for head, *rows in tables(text):
        columns = [place for place, name in enumerate(head) if name.startswith("times")]
        said += [", ".join(filter(None, (compared(head, row, place) for row in rows))) for place in columns]
        if "holds" in head:
            said.append(f"{sum(row[head.index('holds')] == 'yes' for row in rows)} of {len(rows)} hold")
    return "; ".join(part for part in said if part)


def compared(head: list[str], row: list[str], place: int) -> str:
    """One ratio with what was compared, and how far it got if the table says so; empty for the base."""
    if row[place] in ("1", "1.0", "–"):
        return ""
    words = " ".join(filter(None, row[: head.index("seconds") if "seconds" in head else 1]))
    reached = [
        f" ({name.removesuffix(' reached')} {row[at]})" for at, name in enumerate(head) if name.endswith("reached")
    ]
    return f"{words} {row[place]} ×{''.join(reached)}"


def reference() -> float:
    """Seconds of a fixed piece of work on one core: the best of three."""
    square, best = np.random.default_rng(0).normal(size=(400, 400)), np.inf
    for _ in range(3):
        begun = time.perf_counter()
        for _ in range(30):
            np.linalg.solve(square, square @ square)
        best = min(best, time.perf_counter() - begun)
    return float(best)


def measured(script: Path) -> Result:
    """Run a benchmark; its stderr is shown only if it fails."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as told:
        command = [sys.executable, str(script), "--out", str(script.with_suffix(".md"))]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
        seconds, process.returncode = time.perf_counter() - begun, os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, _USAGE):
            told.seek(0)
            sys.stderr.write(told.read())
    memory = used.ru_maxrss / 1024
    return Result(script.stem, about(script), process.returncode, seconds, memory, kept(script))


def kept(script: Path) -> str:
    """The content of the table beside a script."""
    table = script.with_suffix(".md")
    return findings(table.read_text(encoding="utf-8")) if table.exists() else ""


def line(result: Result, base: float) -> str:
    """One line of the table."""
    if result.code is None:
        taken = ["not run", "–", "–"]
    elif result.code == _USAGE:
        taken = ["needs arguments", "–", "–"]
    else:
        memory = "–" if np.isnan(result.memory) else f"{result.memory:,.0f}"
        taken = [
            f"{result.seconds:,.1f}" + (" (failed)" if result.code else ""),
            f"{result.seconds / base:,.0f}",
            memory,
        ]
    return f"| {result.name} | {result.about} | {' | '.join(taken)} | {result.found or 'see its table'} |"


def page(results: list[Result], base: float) -> str:
    """The table of all benchmarks, with the machine and the versions."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return "\n".join(
        [
            "Written by `python -m benchmarks`; each benchmark leaves its own table beside this one. "
            "Not run: read from its last table.",
            "",
            "| benchmark | what | seconds | times the reference | most memory, MB | ratios, and what holds |",
            "|---|---|--:|--:|--:|---|",
            *(line(result, base) for result in results),
            "",
            f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}, "
            f"{versions}; the reference took {base:.3f} s.",
            "",
        ]
    )


def reread(page_before: str, scripts: list[Path]) -> str:
    """The page with what the tables say now; what was measured of each run stays."""
    for script in scripts:
        cell = kept(script) or "see its table"
        page_before = re.sub(
            rf"^(\| {re.escape(script.stem)} \|.*\| )[^|]* \|$",
            lambda row, cell=cell: f"{row[1]}{cell} |",
            page_before,
            flags=re.MULTILINE,
        )
    return page_before


def main(argv: list[str] | None = None, folder: Path = HERE) -> int:
    """Run benchmarks and write the table; 1 if one of them failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the names, and what each measures")
    parser.add_argument("--read", action="store_true", help="run none; write anew what their tables say")
    parser.add_argument("--out", type=Path, default=folder / "results.md")
    options = parser.parse_args(argv)
    scripts = benchmarks(folder)
    unknown = set(options.names) - {script.stem for script in scripts}
    if unknown:
        parser.error(f"no benchmark is called {min(unknown)!r}; there are {', '.join(each.stem for each in scripts)}")
    if options.list:
        sys.stdout.write("".join(f"{script.stem}: {about(script)}\n" for script in scripts))
        return 0
    if options.read:
        options.out.write_text(reread(options.out.read_text(encoding="utf-8"), scripts), encoding="utf-8")
        return 0
    base, results = reference(), []
    with Progress(transient=True) as progress:
        for script in progress.track(scripts, description="benchmarks"):
            if options.names and script.stem not in options.names:
                results.append(Result(script.stem, about(script), None, np.nan, np.nan, kept(script)))
            else:
                results.append(measured(script))
    text = page(results, base)
    options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return int(any(result.code not in (0, None, _USAGE) for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
