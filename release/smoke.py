"""Try each door of an installed naysay, in the folder where it runs: ``python smoke.py [EXTRA …]``.

``scripts/release`` runs it in empty environments. It needs nothing but what is installed there.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
from pathlib import Path

import polars as pl

from naysay import designs, estimate
from naysay.cli import main

NEGATIVE = '--design "negative(discards=2)" --categories low,middle,high,none'
KEYS = "--keys age,gender,region"


def naysay(line: str) -> str:
    """What a command prints; it must succeed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exit_code = main(shlex.split(line))
    if exit_code:
        raise SystemExit(f"naysay {line}: exit code {exit_code}\n{out.getvalue()}")
    return out.getvalue()


def try_core() -> None:
    """The README's commands that need no extra."""
    naysay("--version")
    naysay("demo --files .")
    naysay("designs")
    naysay('plan --design "warner(p=0.7)" --proportions 0.1,0.9 --standard-error 0.02')
    fit = json.loads(naysay(f"estimate answers.csv --response income {NEGATIVE} --format json"))
    if abs(sum(fit["proportions"]) - 1) > 1e-9:
        raise SystemExit(f"the shares of income do not add to 1: {fit['proportions']}")
    naysay(
        'randomize people.csv --response income --design "k_ary(epsilon=1)" --categories low,middle,high --out safe.csv'
    )
    naysay(f"risk people.csv {KEYS} --keys age,income --population 16700000")
    naysay(f'protect people.csv {KEYS} --target "k >= 3" --out release.csv')
    naysay(f"attack release.csv --register people.csv {KEYS}")
    naysay(f"utility people.csv release.csv {KEYS}")


def try_collect() -> None:
    """A survey from the sheet to the report: a server, 2,000 devices over HTTP, the estimates."""
    naysay("questionnaire new survey.xlsx")
    naysay("questionnaire check survey.xlsx")
    naysay("demo --out demo")
    naysay("survey list --db sqlite:///demo/demo.db")


def try_files() -> None:
    """Files of SPSS and Parquet."""
    naysay(f'protect people.csv {KEYS} --target "k >= 2" --out release.parquet')
    naysay(f'protect people.csv {KEYS} --target "k >= 2" --out people.sav')
    naysay(f"risk people.sav {KEYS}")


def try_plots() -> None:
    """A picture of the shares."""
    design = designs.negative(("low", "middle", "high", "none"), discards=2)
    fit = estimate.maximum_likelihood(design, design.tally(design.randomize(["low"] * 50 + ["none"] * 50)))
    if "<svg" not in fit.plot()._repr_svg_():
        raise SystemExit("fit.plot() shows no picture")


def try_regression() -> None:
    """A regression on a private answer."""
    naysay(f'regress "income ~ age" answers.csv {NEGATIVE}')


def try_fast() -> None:
    """Compiled counting, and random numbers from a cipher."""
    import cryptography
    import numba

    naysay(f"risk people.csv {KEYS} --explain")
    del cryptography, numba


def try_protect() -> None:
    """A synthetic file, drawn from trees."""
    from naysay.microdata import protect

    protect.Synthesize(columns=["age", "gender", "region", "income"]).apply(pl.read_csv("people.csv"))


def try_linkage() -> None:
    """A probabilistic linkage."""
    naysay(f"attack release.csv --register people.csv {KEYS} --by probabilistic")


def try_duckdb() -> None:
    """Counting in DuckDB."""
    naysay(f"risk people.csv {KEYS} --engine duckdb")


def try_dask() -> None:
    """Counting answers in a dask frame."""
    import dask.dataframe

    frame = dask.dataframe.from_pandas(pl.read_csv("answers.csv").to_pandas(), npartitions=2)
    if designs.warner(p=0.7).tally(frame["cheated"]).n != 1000:
        raise SystemExit("not all answers of a dask frame were counted")


if __name__ == "__main__":
    try_core()
    for extra in sys.argv[1:]:
        globals()[f"try_{extra}"]()
    Path("passed").touch()
