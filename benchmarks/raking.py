"""Raking of a million rows, beside ipfn, in one run on one thread.

    pip install ipfn
    OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python benchmarks/raking.py --out benchmarks/raking.md

Three margins of 2, 12 and 4 classes; every person has a weight of their own. ipfn returns weights. naysay returns a
tally: the weights, and what a variance by linearization needs of every unit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from naysay import designs, estimate
from naysay.sampling import Sampling

PEOPLE = 1e7
TOTALS = {
    "sex": {"f": 0.52, "m": 0.48},
    "region": {f"r{i:02}": (i + 5) / sum(range(5, 17)) for i in range(12)},
    "age": {"18-29": 0.2, "30-44": 0.3, "45-59": 0.3, "60+": 0.2},
}


def people(n: int) -> dict[str, np.ndarray]:
    """Answers, classes, weights and schools, drawn with a fixed seed."""
    rng = np.random.default_rng(2016)
    classes = {name: rng.choice(list(shares), n) for name, shares in TOTALS.items()}
    answers = {"answer": rng.choice(["yes", "no"], n), "weight": rng.lognormal(0, 0.5, n)}
    return answers | classes | {"school": rng.integers(0, 5_000, n)}


def by_ipfn(frame: pd.DataFrame) -> np.ndarray:
    """The weights by ipfn."""
    from ipfn import ipfn

    margins = [pd.Series(shares).mul(PEOPLE).rename_axis(name) for name, shares in TOTALS.items()]
    raked = ipfn.ipfn(
        frame, margins, [[name] for name in TOTALS], weight_col="weight", convergence_rate=1e-9, rate_tolerance=0
    ).iteration()
    return raked["weight"].to_numpy()


def by_naysay(frame: Any, clusters: str | None) -> estimate.Estimate:
    """The estimate from raked weights."""
    totals = {name: {label: share * PEOPLE for label, share in shares.items()} for name, shares in TOTALS.items()}
    survey = designs.warner(p=0.8)
    sampling = Sampling(weights="weight", clusters=clusters, totals=totals)
    return estimate.moments(survey, survey.tally(frame, "answer", sampling=sampling))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and the result."""
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def main() -> int:
    """Measure, compare the weighted shares, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    columns = people(options.rows)
    polars, pandas = pl.DataFrame(columns), pd.DataFrame(columns)
    by_naysay(polars[:1_000], None)  # modules load late
    alone, fit = timed(lambda: by_naysay(polars, None))
    clustered, _ = timed(lambda: by_naysay(polars, "school"))
    peer, weights = timed(lambda: by_ipfn(pandas))
    share = float(weights[columns["answer"] == "yes"].sum() / weights.sum())
    apart = abs(share - fit.tally.parts[0].weight[fit.tally.parts[0].codes[:, 0] == 0].sum() / fit.tally.weight)
    lines = [
        f"{options.rows:,} rows, three margins of 2, 12 and 4 classes, one thread; weighted shares of yes differ by "
        f"{'less than 1e-8' if apart < 1e-8 else f'{apart:.1e}'}.",
        "",
        "| | CPU seconds |",
        "|---|--:|",
        f"| ipfn, the weights | {peer:.1f} |",
        f"| naysay, tally and estimate with standard errors | {alone:.1f} |",
        f"| the same, 5,000 schools as clusters | {clustered:.1f} |",
    ]
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
