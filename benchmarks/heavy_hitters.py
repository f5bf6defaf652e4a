"""How many of the most common values are found without a list: ``python benchmarks/heavy_hitters.py [n …]``.

50,000 of all 32-bit numbers are in use, with Zipf shares. Found is the share of the 32 most common ones that are among
the 32 candidates of the last group; NCR (normalized cumulative rank) weighs the most common one 32, the next 31, and so
on.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from naysay import designs, estimate

USED, TOP = 50_000, 32


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


def main(sizes):
    print("| Zipf | ε | n | found | NCR | accepted | of these nobody's | forged reports | draw, s | find, s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n in sizes:
        for exponent in (1.1, 1.5):
            for epsilon in (1, 2, 4):
                runs = np.array([run(epsilon, exponent, n, seed) for seed in (1, 2)]).mean(axis=0)
                found, rank, accepted, false, forged, drawn, sought = runs
                cells = f"{found:.2f} | {rank:.2f} | {accepted:.1f} | {false:.1f} | {forged:,.0f}"
                print(f"| {exponent} | {epsilon} | {n:,} | {cells} | {drawn:.1f} | {sought:.1f} |", flush=True)


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [1_000_000])
