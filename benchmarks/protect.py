"""Each method of protection on the GVU survey: what it keeps, and what an intruder finds afterwards.

    python benchmarks/protect.py DATA/gvu8.csv [--out benchmarks/protect.md]

The rows are public (UCI KDD Archive, "Internet Usage Data") and not shipped with naysay. The intruder has the original:
they know age, gender, occupation and income of everybody. Utility is measured on these four, education and race.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path = [place for place in sys.path if Path(place).resolve() != HERE]  # numba would take coverage.py for coverage

import polars as pl  # noqa: E402

from naysay.microdata import attack, protect, utility  # noqa: E402

KEYS = ("age", "gender", "occupation", "income")
OTHERS = {"education": "education_attainment", "race": "race"}
COLUMNS = {"age": "age", "gender": "gender", "occupation": "major_occupation", "income": "household_income"} | OTHERS
MISSING = ("Not_Say", "Not_say", "NA")
FORMULAS = ("gender ~ age + education",)
SEED = 1


class Made(NamedTuple):
    """A release of the survey, and the designs under which it was drawn."""

    table: pl.DataFrame
    designs: dict[str, Any]


def survey(path: Path) -> pl.DataFrame:
    """The variables, with null for cells that mean missing."""
    table = pl.read_csv(path, infer_schema=False).select(pl.col(old).alias(new) for new, old in COLUMNS.items())
    gone = pl.when(~pl.all().is_in(MISSING)).then(pl.all()).name.keep()
    return table.with_columns(gone).with_columns(pl.col("age").cast(pl.Int64)).with_row_index("row")


def steps(*methods: protect.Method) -> Callable[[pl.DataFrame], Made]:
    """A release made by some methods, one after the other."""

    def make(table: pl.DataFrame) -> Made:
        designs: dict[str, Any] = {}
        for method in methods:
            table, log = method.apply(table)
            designs |= log.steps[0].designs or {}
        return Made(table, designs)

    return make


def methods() -> dict[str, Callable[[pl.DataFrame], Made]]:
    """What is compared."""
    decades, fives = (protect.Bins(variable="age", width=width) for width in (10, 5))
    strict, shown = (protect.Suppress(keys=KEYS, target=f"{reading} >= 3") for reading in "kc")
    return {
        "nothing": steps(),
        "ages in steps of 5": steps(fives),
        "ages in steps of 10": steps(decades),
        "suppression, c >= 3": steps(shown),
        "suppression, k >= 3": steps(strict),
        "steps of 10, then k >= 3": steps(decades, strict),
        "ages above 65 as their mean": steps(protect.Top(variable="age", above=65)),
        "ages rounded to 5 at random": steps(protect.Round(columns=["age"], base=5, how="random", seed=SEED)),
        "noise on age, 10 % of the sd": steps(protect.Noise(columns=["age"], percent=10, seed=SEED)),
        "rank swapping of age, 5 %": steps(protect.RankSwap(columns=["age"], percent=5, seed=SEED)),
        "rank swapping of age, 20 %": steps(protect.RankSwap(columns=["age"], percent=20, seed=SEED)),
        "microaggregation of age, 3": steps(protect.Microaggregate(columns=["age"], least=3)),
        "PRAM of occupation, keep 0.8": steps(protect.Pram(variable="occupation", keep=0.8, seed=SEED)),
        "PRAM of both, keep 0.6": steps(
            protect.Pram(variable="occupation", keep=0.6, seed=SEED),
            protect.Pram(variable="income", keep=0.6, seed=SEED),
        ),
        "negative release of income": steps(protect.Negative(variable="income", seed=SEED)),
    }


def line(name: str, made: Made, original: pl.DataFrame, *, linkage: bool) -> str:
    """A row of the table."""
    kept = utility.compare(original, made.table, id="row", formulas=FORMULAS, designs=made.designs)
    least = protect.guarantee(made.table.with_columns(pl.col(KEYS).cast(pl.String)), KEYS)  # ages need not be whole
    by = ("exact", "nearest", *(["probabilistic"] if linkage else []))
    found = {
        each.name: each for each in attack.link(made.table, original, KEYS, id="row", attacks=by, most=None).attacks
    }
    single = found["exact, a single candidate"]
    shares = [f"{found[each].of_all.value:.3f}" for each in ("exact, any candidate", "nearest")]
    shares += [f"{found['probabilistic'].of_all.value:.3f}"] if linkage else []
    sure = f"{single.of_links.value:.3f} of {single.of_links.n:,}" if single.of_links.n else "none"
    changed = sum(each.suppressed + each.changed for each in kept.changes.variables if each.name in KEYS)
    known = sum(each.known for each in kept.changes.variables if each.name in KEYS)
    numbers = (f"{least.k}", f"{changed / known:.3f}", f"{kept.changes.loss:.3f}", f"{kept.distances.mean_pair:.3f}")
    more = (f"{kept.propensity.ratio:.2f}", f"{kept.estimates.mean_overlap:.2f}")
    return f"| {' | '.join((name, *numbers, *more, *shares, sure))} |"


def synthetic(original: pl.DataFrame) -> list[str]:
    """Synthetic records, which belong to nobody: copies of people, and a secret guessed beside a control."""
    half, others = (original.sample(original.height, shuffle=True, seed=SEED)[each::2] for each in (0, 1))
    lines = ["| records | pairs | pMSE ratio | unique people again | guessed income, of the half | of others |"]
    lines.append("|---|---|---|---|---|---|")
    drawn = {
        f"trees, leaf {least}": protect.Synthesize(columns=list(COLUMNS), least=least, seed=SEED) for least in (5, 50)
    }
    made = {name: method.apply(half)[0] for name, method in drawn.items()}
    for name, table in ({"the half itself": half, "the other half": others} | made).items():
        kept = utility.compare(half, table, synthetic=True, variables=list(COLUMNS))
        copies = attack.replicated(table, half, KEYS, control=others)
        guess = attack.infer(table, half, ["age", "gender", "occupation"], "income", control=others)
        cells = (name, f"{kept.distances.mean_pair:.3f}", f"{kept.propensity.ratio:.2f}")
        again = f"{copies.found:,} of {copies.unique:,}"
        lines.append(f"| {' | '.join((*cells, again, f'{guess.inside.value:.3f}', f'{guess.control.value:.3f}'))} |")
    return lines


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--linkage", action="store_true", help="probabilistic linkage, too; takes minutes")
    asked = parser.parse_args()
    original = survey(asked.data)
    heads = ["method", "min k", "cells changed", "loss", "pairs", "pMSE ratio", "overlap", "exact", "nearest"]
    heads += [*(["probabilistic"] if asked.linkage else []), "a single candidate"]
    rows = []
    for name, make in methods().items():
        rows.append(line(name, make(original), original, linkage=asked.linkage))
        sys.stderr.write(rows[-1] + "\n")
    text = [
        f"# {__doc__.partition(chr(10))[0]}",
        "",
        f"{original.height:,} people; an intruder who has the original knows {', '.join(KEYS)} of everybody.",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *rows,
        "",
        "Synthetic records of one half of the people; the other half is the control.",
        "",
        *synthetic(original),
    ]
    asked.out.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
