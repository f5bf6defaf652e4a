"""How many of the most common values are found without a list.

    python benchmarks/heavy_hitters.py [--n 1000000] [--out benchmarks/heavy_hitters.md]

50,000 of all 32-bit numbers are in use, with Zipf shares. Found is the share of the 32 most common ones that are among
the 32 candidates of the last group; NCR (normalized cumulative rank) weighs the most common one 32, the next 31, and so
on.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from naysay import designs, estimate

USED, TOP = 50_000, 32
ABOUT = """# Heavy hitters

One core, CPU seconds, NumPy alone; the mean of two runs.

50,000 of all 32-bit numbers are in use, with Zipf shares. Groups report 8, 14, 20, 26, 32 and 32 bits; `keep=32`,
confidence .95. *Found* is the share of the 32 most common numbers among the 32 candidates of the last group. *NCR*
(normalized cumulative rank) weighs the most common one 32, the next one 31, and so on. *Accepted* are values above
the printed threshold; *nobody's* among them should stay below .05 a run. *Forged* is the printed number of reports
that would put any chosen value into the list.

Without a fresh group (five groups; the fifth chooses and estimates), T. Wang, Li & Jha's method finds about as
many: .19/.33, .53/.77 and .88/.98 for Zipf 1.1, .31/.52, .41/.63 and .88/.98 for Zipf 1.5 (one run each, by a
prototype). The sixth group takes a sixth of the reports from the others. It gives shares without a winner's curse,
and lowers the threshold of acceptance: 32 candidates are tested, and not 2,048.

"""


def run(epsilon, exponent, n, seed):
    rng = np.random.default_rng(seed)
    design = designs.heavy_hitters(bits=32, epsilon=epsilon)
    names = rng.choice(2**32, USED, replace=False)
    shares = 1 / np.arange(1, USED + 1) ** exponent
    truth = names[rng.choice(USED, n, p=shares / shares.sum())]
    start = time.process_time()
    tally = design.tally(design.randomize(truth, rng=rng))
    middle = time.process_time()
    found = estimate.heavy_hitters(design, tally, keep=TOP)
    end = time.process_time()
    weight = dict(zip(names[:TOP].tolist(), range(TOP, 0, -1), strict=True))
    held = [weight[value] for value in found.candidates if value in weight]
    false = sum(value not in set(names.tolist()) for value in found.values)
    share, rank = len(held) / TOP, sum(held) / sum(weight.values())
    return share, rank, len(found.values), false, found.forged, middle - start, end - middle


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="reports")
    parser.add_argument("--out", type=Path, help="the file to write; by default the table is printed")
    asked = parser.parse_args()
    lines = ["| Zipf | ε | n | found | NCR | accepted | of these nobody's | forged reports | draw, s | find, s |"]
    lines.append("|---" * 10 + "|")
    for exponent in (1.1, 1.5):
        for epsilon in (1, 2, 4):
            runs = np.array([run(epsilon, exponent, asked.n, seed) for seed in (1, 2)]).mean(axis=0)
            found, rank, accepted, false, forged, drawn, sought = runs
            cells = f"{found:.2f} | {rank:.2f} | {accepted:.1f} | {false:.1f} | {forged:,.0f}"
            lines.append(f"| {exponent} | {epsilon} | {asked.n:,} | {cells} | {drawn:.1f} | {sought:.1f} |")
    text = ABOUT + "\n".join(lines) + "\n"
    if asked.out is None:
        print(text)
    else:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
