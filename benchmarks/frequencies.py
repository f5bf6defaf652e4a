"""Frequencies of many categories: nanoseconds a report, accuracy against the formulas, and coverage.

    python benchmarks/frequencies.py [--runs 40] [--out benchmarks/frequencies.md]

Times are CPU time on one core, the best of several runs. Two Python packages are timed in the same run if they can be
imported; they are no dependencies. Add them beside the script with

    pip install --target peers --no-deps pure-ldp==1.2.0 multi-freq-ldpy==0.2.5 "xxhash<4" bitarray bitstring tibs \\
        scikit-learn joblib threadpoolctl cloudpickle
    PYTHONPATH=peers python benchmarks/frequencies.py
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from naysay import Design, designs, estimate
from naysay.design.drawing import system
from naysay.responses import Responses

# This folder holds a coverage.py, which would hide the package that numba looks for.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent.resolve()]

FAMILIES: dict[str, Callable[..., Design]] = {
    "k-ary": designs.k_ary,
    "subset selection": designs.subset_selection,
    "affine": designs.affine,
    "Hadamard": designs.hadamard,
    "unary": designs.unary,
}
GOALS = {  # nanoseconds: client, server; an estimate has a goal of 1 ms at 1,024 categories
    ("k-ary", 16): (10, 2), ("k-ary", 128): (10, 2), ("k-ary", 1024): (10, 2),
    ("affine", 16): (100, 2), ("affine", 128): (100, 2), ("affine", 1024): (100, 2),
    ("subset selection", 128): (1_000, 25), ("unary", 128): (None, 25),
}  # fmt: skip


def zipf(t: int) -> np.ndarray:
    """Shares in proportion to 1, 1/2, 1/3, …, (t,)."""
    shares = 1 / np.arange(1, t + 1)
    return shares / shares.sum()


def quickest(work: Callable[[], Any], times: int = 5) -> float:
    """The CPU seconds of the quickest run."""
    work()
    seconds = []
    for _ in range(times):
        begun = time.process_time()
        work()
        seconds.append(time.process_time() - begun)
    return min(seconds)


def speeds() -> Iterator[list[str]]:
    """Nanoseconds a report of client and server, and milliseconds of an estimate."""
    rng = np.random.default_rng(1)
    for name, family in FAMILIES.items():
        for t in (16, 128, 1024):
            if name in ("subset selection", "unary") and t > 128:
                continue
            design = family(t, epsilon=1)
            n = 1_000_000 if name in ("k-ary", "affine", "Hadamard") else 200_000
            truth = rng.choice(t, n, p=zipf(t))
            said = Responses(design.draw(truth, system), design.space)
            client = quickest(lambda d=design, x=truth: d.draw(x, system)) / n * 1e9
            server = quickest(lambda d=design, y=said: d.tally(y)) / n * 1e9
            tally = design.tally(said)
            fit = quickest(lambda d=design, y=tally: estimate.moments(d, y)) * 1e3
            aim = GOALS.get((name, t), (None, None))
            goal = " / ".join("–" if value is None else f"{value:,}" for value in aim)
            yield [name, f"{t:,}", f"{client:,.1f}", f"{server:,.1f}", goal, f"{fit:.2f}"]


def peers() -> Iterator[list[str]]:
    """The same for the packages that can be imported, one report at a time, as they are made to be used.

    FastOLH draws one of 1,000 hashes, whose table its server makes once; the server of Hadamard response keeps a list.
    What they leave for later is in the time of an estimate, which is of as many reports as were added.
    """
    warnings.simplefilter("ignore")
    rng, n = np.random.default_rng(1), 20_000
    for t in (16, 128):
        truth = rng.choice(t, n, p=zipf(t))
        if find_spec("pure_ldp"):
            from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, local_hashing, unary_encoding

            fast = {"use_olh": True, "k": 1_000}
            response = hadamard_response.HadamardResponseServer(1, t).get_hash_funcs()

            pairs = {
                "pure-ldp, k-ary": (direct_encoding.DEClient, direct_encoding.DEServer, {}),
                "pure-ldp, OLH": (local_hashing.LHClient, local_hashing.LHServer, {"use_olh": True}),
                "pure-ldp, FastOLH": (local_hashing.FastLHClient, local_hashing.FastLHServer, fast),
                "pure-ldp, Hadamard": (
                    lambda epsilon, d, keys=response: hadamard_response.HadamardResponseClient(epsilon, d, keys),
                    hadamard_response.HadamardResponseServer,
                    {},
                ),
                "pure-ldp, OUE": (unary_encoding.UEClient, unary_encoding.UEServer, {"use_oue": True}),
            }
            for name, (client, server, options) in pairs.items():
                one, other = client(1, t, **options), server(1, t, **options)
                few = truth[: 2_000 if name == "pure-ldp, OLH" else n]
                yield peer(name, t, lambda x, c=one: c.privatise(int(x) + 1), other, few)
        if find_spec("multi_freq_ldpy"):
            from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
            from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
            from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

            clients = {
                "multi-freq-ldpy, k-ary": lambda x, t=t: GRR_Client(int(x), t, 1),
                "multi-freq-ldpy, subset selection": lambda x, t=t: SS_Client(int(x), t, 1),
                "multi-freq-ldpy, OUE": lambda x, t=t: UE_Client(int(x), t, 1, True),
            }
            for name, draw in clients.items():
                yield peer(name, t, draw, None, truth[:2_000])


def peer(name: str, t: int, draw: Callable[[Any], Any], server: Any, truth: np.ndarray) -> list[str]:
    """One package's client, and its server if it takes one report at a time, with an estimate of all reports."""
    try:
        client = quickest(lambda: [draw(x) for x in truth], 2) / len(truth) * 1e9
        said = [draw(x) for x in truth]
        if server is None:
            return [name, f"{t:,}", f"{client:,.0f}", "–", "", ""]

        def counted() -> None:
            server.reset()
            for one in said:
                server.aggregate(one)

        def estimated() -> None:
            server.last_estimated = -1  # else the numbers of before are given again
            server.estimate_all(range(1, t + 1), suppress_warnings=True)

        adding = quickest(counted, 2) / len(truth) * 1e9
        fit = quickest(estimated, 2) * 1e3
    except Exception as error:  # it is no part of this package whether they run
        return [name, f"{t:,}", f"does not run: {type(error).__name__}", "", "", ""]
    return [name, f"{t:,}", f"{client:,.0f}", f"{adding:,.0f}", "", f"{fit:,.2f} ({len(truth):,})"]


def accuracy(runs: int) -> Iterator[list[str]]:
    """Squared error over the exact variance λ(1 - λ)/(n (p* - q*)²), n = 10⁵ and 128 categories."""
    t, n, rng = 128, 100_000, np.random.default_rng(2)
    pi = zipf(t)
    for name, family in FAMILIES.items():
        row = [name]
        for epsilon in (0.5, 1, 2, 4):
            design = family(t, epsilon=epsilon)
            alpha, q = design.structure.even_mean or (np.nan, np.nan)
            share = q + alpha * pi
            exact, found = share * (1 - share) / alpha**2 / n, np.zeros(t)
            for _ in range(runs):
                said = Responses(design.draw(rng.choice(t, n, p=pi), system), design.space)
                found += (estimate.moments(design, design.tally(said)).proportions - pi) ** 2
            row.append(f"{float((found / runs / exact).mean()):.3f}")
        yield row


def coverage(runs: int) -> Iterator[list[str]]:
    """Coverage of 0.95 intervals at 16 categories: mean over all categories, and the worst one."""
    t, rng = 16, np.random.default_rng(3)
    pi = zipf(t)
    for name, family in FAMILIES.items():
        for n in (2_000, 100_000):
            row = [name, f"{n:,}"]
            for epsilon in (0.5, 1, 2, 4):
                design, hits = family(t, epsilon=epsilon), np.zeros((2, t))
                for _ in range(runs):
                    truth = rng.choice(t, n, p=pi)
                    tally = design.tally(Responses(design.draw(truth, system), design.space))
                    goals = {"population": pi, "file": np.bincount(truth, minlength=t) / n}
                    for place, (target, goal) in enumerate(goals.items()):
                        bounds = estimate.moments(design, tally, target=target).interval()
                        hits[place] += (bounds[:, 0] <= goal) & (goal <= bounds[:, 1])
                mean, worst = (hits / runs).mean(axis=1), (hits / runs).min(axis=1)
                row.append(f"{mean[0]:.3f} ({worst[0]:.3f}), {mean[1]:.3f} ({worst[1]:.3f})")
            yield row


def large() -> Iterator[list[str]]:
    """Seconds for 100,000 categories and a million reports."""
    t, n, rng = 100_000, 1_000_000, np.random.default_rng(4)
    truth, begun = np.minimum(rng.geometric(0.001, n) - 1, t - 1), time.perf_counter()

    def lap() -> str:
        nonlocal begun
        seconds, begun = time.perf_counter() - begun, time.perf_counter()
        return f"{seconds:.2f}"

    design = designs.frequency(t, epsilon=1)
    yield ["build", lap()]
    said = design.randomize(truth)
    yield ["draw", lap()]
    tally = design.tally(said)
    yield ["tally", lap()]
    fit = estimate.default(design).fit(design, tally)
    yield ["estimate", lap()]
    fit.interval()
    yield ["intervals", lap()]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=int, default=40, help="surveys of each cell of accuracy; 10 times as many for coverage"
    )
    parser.add_argument("--out", type=Path, help="the file to write; by default the table is printed")
    asked = parser.parse_args()
    epsilons = [f"ε = {value}" for value in (0.5, 1, 2, 4)]
    compiled = "with numba" if find_spec("numba") else "without numba"
    parts = [
        "# Frequencies of many categories",
        f"{os.cpu_count()} cores, {platform.system()}, Python {sys.version.split()[0]}, numpy {np.__version__}, "
        f"{compiled}.",
        "## Speed",
        "Nanoseconds a report at ε = 1, on one core. Goals: client / server; an estimate of counts within 1 ms. The "
        "servers of FastOLH (1,000 hashes) and of pure-ldp's Hadamard response only file a report, and leave the "
        "work to the estimate; in parentheses stands how many reports an estimate of another package is of.",
        table(["design", "categories", "client", "server", "goal", "estimate, ms"], [*speeds(), *peers()]),
        "One report drawn alone on a device takes longer, most of all that of subset selection: of 1,024 categories it "
        "names 275 at ε = 1. In Python the text of 275 numbers takes 36 µs by itself, so that a draw in 20 µs, as of "
        "an affine design, is out of reach. A faster draw of the set would also need other random bytes. But answers "
        "that are kept come from the bytes of a key, in this order: under another one, every ledger that is in use "
        "would answer a value anew, and give a second report of it. Devices that must be quick take an affine design.",
        "## Accuracy",
        f"Squared error over the exact variance, mean over 128 categories, n = 100,000, {asked.runs} surveys each.",
        table(["design", *epsilons], list(accuracy(asked.runs))),
        "## Coverage",
        "Coverage of 0.95 intervals at 16 categories: the mean and, in parentheses, the worst category, for the "
        f"population and for the file; {10 * asked.runs} surveys each.",
        table(["design", "n", *epsilons], list(coverage(10 * asked.runs))),
        "## A hundred thousand categories",
        "Seconds for a million reports at ε = 1.",
        table(["step", "seconds"], list(large())),
    ]
    text = "\n\n".join(parts) + "\n"
    if asked.out is None:
        sys.stdout.write(text)
    else:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
