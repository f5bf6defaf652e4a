"""The same reports estimated by pure-ldp, multi-freq-ldpy, OpenDP and naysay, and what goes wrong in the first two.

    python benchmarks/peers.py [--out benchmarks/peers.md] [--record tests/reference/peers.json]

The packages are no dependencies. Add them beside the script with

    pip install --target peers --no-deps pure-ldp==1.2.0 multi-freq-ldpy==0.2.5 opendp==0.16.0 \\
        "xxhash<4" bitarray bitstring tibs scikit-learn joblib threadpoolctl cloudpickle deprecated
    PYTHONPATH=peers python benchmarks/peers.py

Those three versions gave the recorded numbers; the others only have to fit them. Their clients draw from a fixed seed,
but OpenDP's takes none. What they reported is counted, and given to their estimators and to naysay's.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import random
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

# This folder holds a coverage.py, which would hide the package that numba looks for.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent.resolve()]

PI = np.array([0.5, 0.25, 0.12, 0.06, 0.04, 0.03, 0.0, 0.0])
T, N, SEED = len(PI), 20_000, 2016


def seeded() -> None:
    """The same numbers again from Python, NumPy, and NumPy inside compiled code."""
    import numba

    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 (their clients draw from it)
    numba.njit(lambda seed: np.random.seed(seed))(SEED)  # noqa: NPY002, PLW0108 (numba takes functions of Python)


def reports() -> Iterator[dict[str, Any]]:
    """What each client reported, counted, with its package's estimate of the proportions."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    truth = np.repeat(np.arange(T), np.rint(N * PI).astype(int)).tolist()

    def pure(client: Any, server: Any) -> tuple[list[Any], list[float]]:
        said = [client.privatise(x + 1) for x in truth]
        server.aggregate_all(said)
        return said, (server.estimate_all(range(1, T + 1), suppress_warnings=True) / N).tolist()

    seeded()
    said, found = pure(DEClient(1, T), DEServer(1, T))
    yield told("pure-ldp", "DEClient", "k_ary", "counts", np.bincount(said, minlength=T), found)
    said, found = pure(UEClient(1, T, use_oue=True), UEServer(1, T, use_oue=True))
    yield told("pure-ldp", "UEClient, use_oue=True", "unary", "named", np.sum(said, axis=0), found)
    said = [GRR_Client(x, T, 1) for x in truth]
    found = GRR_Aggregator_MI(said, T, 1).tolist()
    yield told("multi-freq-ldpy", "GRR_Client", "k_ary", "counts", np.bincount(said, minlength=T), found)
    said = [SS_Client(x, T, 1) for x in truth]
    found = SS_Aggregator_MI(said, T, 1).tolist()
    named = np.bincount(np.ravel(said), minlength=T)
    yield told("multi-freq-ldpy", "SS_Client", "subset_selection", "named", named, found)
    yield of_opendp(truth)


def of_opendp(truth: list[int]) -> dict[str, Any]:
    """A bit vector of one byte from each device, in which a bit is flipped with chance f/2 = 3/8."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    client = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.75)
    said = [client(bytes([1 << x])) for x in truth]
    found = [bit / N for bit in dp.m.debias_randomized_response_bitvec(said, 0.75)]
    bits = np.unpackbits(np.frombuffer(b"".join(said), np.uint8)[:, None], axis=1, bitorder="little")
    options = {"epsilon": 2 * math.log(5 / 3), "p": "5/8"}
    name = "make_randomized_response_bitvec, f=0.75"
    return told("opendp", name, "unary", "named", bits.sum(axis=0), found, options)


def told(
    package: str, client: str, design: str, form: str, counts: Any, found: list[float], options: Any = None
) -> dict[str, Any]:
    """One row of what is recorded."""
    version, options = importlib.metadata.version(package), options or {"epsilon": 1}
    head = {"package": package, "version": version, "client": client, "design": design, "options": options, "n": N}
    return head | {form: counts.tolist(), "estimate": found}


def ours(each: dict[str, Any]) -> Any:
    """naysay's estimate of the same reports."""
    from naysay import designs, estimate

    design = getattr(designs, each["design"])(T, **each["options"])
    counted = "counts" in each
    tally = design.tally(count=each["counts"]) if counted else design.tally_of_sums(each["named"], n=each["n"])
    return estimate.moments(design, tally)


def defects() -> Iterator[tuple[str, str, str]]:
    """What was tried, what should come out, what came out."""
    from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient

    seeded()
    for t in (16, 128):
        first = [np.mean([SS_Client(x, t, 1.0)[0] == 3 for _ in range(20_000)]) for x in (3, 4)]
        what = f"`SS_Client(x, {t}, 1)`: chance that the first of the set is 3, at x = 3 and at x = 4"
        yield what, "at most e = 2.72 times", f"{first[0]:.3f} and {first[1]:.3f}: {first[0] / first[1]:.0f} times"
    said = np.bincount([L_GRR_Client(0, 16, 2.0, 1.0) for _ in range(1_000_000)], minlength=16)
    yield "`L_GRR_Client(x, 16, 2, 1)`: ε of one report", "1", f"{np.log(said[0] / said[1:].mean()):.3f}"
    waves = np.array([[L_GRR_Client(0, 4, 2.0, 1.0) for _ in range(1_000)] for _ in range(20)])
    share = (waves == 0).mean(axis=1)
    what = "`L_GRR_Client(0, 4, 2, 1)` called 1,000 times by each of 20 devices: share of reports that say 0"
    yield what, "one of two values: the kept answer is 0 or not", f"all between {share.min():.2f} and {share.max():.2f}"
    pi = np.array([0.9] + [0.1 / 15] * 15)
    truth = np.repeat(np.arange(16), np.rint(2_000 * pi).astype(int)).tolist()
    found = [GRR_Aggregator_MI([GRR_Client(x, 16, 1.0) for x in truth], 16, 1.0)[0] for _ in range(200)]
    mean, error = np.mean(found), np.std(found) / len(found) ** 0.5
    what = f"`GRR_Aggregator_MI`, 16 categories, {len(truth):,} reports: mean estimate of the largest share, 200 runs"
    yield what, f"{truth.count(0) / len(truth):.3f}", f"{mean:.3f} (s.e. {error:.3f})"
    for name, draw in (
        ("multi-freq-ldpy", lambda: HE_Client(0, 2, 1.0)),
        ("pure-ldp", lambda: HEClient(1, 2).privatise(1)),
    ):
        drawn = np.array([draw() for _ in range(20_000)])
        shares = [whole(drawn[:, bit]) for bit in (0, 1)]
        what = f"Laplace noise on a bit, {name}: share of reports between -1/2 and 1/2 that are whole in units of 2⁻⁵³"
        yield what, "the same for both bits", f"{shares[0]:.2f} if the bit is 1, {shares[1]:.2f} if it is 0"
    client = DEClient(6, 8)
    said = np.bincount([client.privatise(0) % 8 for _ in range(1_000)], minlength=8)
    yield (
        "`DEClient(6, 8).privatise(0)`, although categories are 1 to 8, 1,000 times",
        "an error on the device",
        f"a report, of category {said.argmax() + 1} in {said.max() / 10:.0f} %",
    )


def whole(noisy: np.ndarray) -> float:
    """The share of small numbers that are multiples of 2⁻⁵³."""
    small = noisy[np.abs(noisy) < 0.5] * 2.0**53
    return float((small == np.rint(small)).mean())


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="write the counts and their estimates as JSON")
    parser.add_argument("--out", type=Path, help="write the page")
    given = parser.parse_args()
    missing = [name for name in ("pure_ldp", "multi_freq_ldpy", "opendp") if not find_spec(name)]
    if missing:
        parser.error(f"{', '.join(missing)} cannot be imported; the first lines of this file say how to add them")
    warnings.simplefilter("ignore")
    found = list(reports())
    if given.record:
        given.record.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n", encoding="utf-8")
    rows: list[list[str]] = []
    for each in found:
        fit = ours(each)
        for place in range(T):
            name = f"{each['package']} {each['version']}, `{each['client']}`" if place == 0 else ""
            values = [PI[place], each["estimate"][place], fit.proportions[place], fit.standard_errors[place]]
            rows.append([name, str(place), *(f"{value:.4f}" for value in values)])
    page = (
        "# The same reports, estimated by others and by naysay\n\n"
        f"{N:,} reports of each client at ε = 1 (OpenDP: 1.02), seed {SEED} (OpenDP: none). Written by "
        "`python benchmarks/peers.py`.\n\n"
        + table(["package and client", "category", "truth", "theirs", "ours", "s.e."], rows)
        + "\n# What goes wrong\n\n"
        + table(["what was tried", "should be", "is"], [list(row) for row in defects()])
    )
    sys.stdout.write(page)
    if given.out:
        given.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
