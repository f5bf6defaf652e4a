"""How long batches take: ``python -m benchmarks.batches [--http] [--engines]``, one core, best of several runs.

Prints nanoseconds a report for writing and counting, the promise of 10⁵ categories from build to estimate, with
``--http`` reports a second through POST /reports on loopback, and with ``--engines`` the SQL of
docs/how-to/engines.md on DuckDB with its price for 10⁹ reports.
"""

from __future__ import annotations

import http.client
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from naysay import batches, designs, estimate

PRICE = 0.05  # assumed: US dollars for an hour of one virtual core


def best(work: Callable[[], Any], *, runs: int = 5) -> float:
    """The least seconds of processor time of several runs."""
    taken = []
    for _ in range(runs):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def files() -> None:
    """Writing and counting, by design."""
    rng = np.random.default_rng(1)
    n = 2**21
    print(f"{'design':<34}{'bytes':>6}{'write ns':>10}{'count ns':>10}")
    for design in (
        designs.k_ary(1024, epsilon=2),
        designs.affine(128, epsilon=1),
        designs.affine(1024, epsilon=1),
        designs.subset_selection(128, epsilon=1),
        designs.unary(128, epsilon=1),
    ):
        some = n if design.space.numbered else n // 16
        said = design.randomize(rng.integers(0, len(design.categories), some), rng=rng)
        file = BytesIO()
        written = best(lambda: (file.seek(0), batches.write(file, design, said)), runs=2)  # noqa: B023
        content = file.getvalue()
        counted = best(lambda: batches.tally(content, design))  # noqa: B023
        size = len(content) / some
        name = f"{design.name}, t = {len(design.categories)}"
        print(f"{name:<34}{size:>6.1f}{1e9 * written / some:>10.1f}{1e9 * counted / some:>10.2f}")


def many() -> None:
    """10⁵ categories: build, draw, write, read and tally, estimate."""
    steps, began = {}, time.process_time()

    def step(name: str) -> None:
        nonlocal began
        steps[name], began = time.process_time() - began, time.process_time()

    design = designs.frequency(100_000, epsilon=2)
    step("build")
    rng = np.random.default_rng(2)
    said = design.randomize(np.minimum(rng.zipf(1.3, 10**6) - 1, 99_999), rng=rng)
    step("draw 10^6")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reports")
        batches.write(path, design, said)
        step("write")
        tally = batches.tally(path, design)
        step("read and tally")
    fit = estimate.moments(design, tally)
    assert abs(fit.proportions[0] - 1 / 3.93) < 0.02
    step("estimate")
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in steps.items())
    print(f"10^5 categories, {design.name}: {told}; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def over_http(senders: int = 4, seconds: float = 4.0) -> None:
    """Requests and reports a second through a server on loopback, with batches of 1 and of 100 reports."""
    from naysay.collect import reports
    from naysay.collect.app import create_app
    from naysay.collect.serving import background
    from naysay.collect.storage import Store

    design = designs.affine(128, epsilon=1)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "answers.db"))
        reports.open_topic(store, design, question="crash")
        with background(create_app([], store, each=0)) as link:
            for size in (1, 100):
                line = {"naysay": "reports", "version": 1, "design": design.hash, "question": "crash"}
                body = json.dumps(line | {"reports": list(range(size))}).encode()
                end = time.monotonic() + seconds

                def send(_: int, body: bytes = body, end: float = end) -> int:
                    connection, done = http.client.HTTPConnection(link.removeprefix("http://")), 0
                    while time.monotonic() < end:
                        connection.request("POST", "/reports", body, {"content-type": "application/json"})
                        connection.getresponse().read()
                        done += 1
                    return done

                before = sum(each.reports for each in reports.all_topics(store))
                with ThreadPoolExecutor(senders) as pool:
                    requests = sum(pool.map(send, range(senders)))
                counted = sum(each.reports for each in reports.all_topics(store)) - before
                assert counted == requests * size
                told = f"{requests / seconds:,.0f} requests, {counted / seconds:,.0f} reports a second"
                print(f"POST /reports, {size} a batch, {senders} senders: {told}")
        store.dispose()


def engines() -> None:
    """The SQL of docs/how-to/engines.md on DuckDB, two threads."""
    import duckdb

    design = designs.affine(1024, epsilon=1)
    db = duckdb.connect()
    db.execute("SET threads = 2")
    for n in (10**6, 10**7, 10**8):
        made = (
            f"'crash' AS question, 1 AS wave, '{design.hash}' AS design, (random() * {design.space.size - 1})::INT AS y"
        )
        db.execute(f"CREATE OR REPLACE TABLE reports AS SELECT {made} FROM range({n})")
        asked = "SELECT question, wave, design, y, count(*) AS n FROM reports GROUP BY question, wave, design, y"
        seconds = best(lambda: db.execute(asked).fetchall(), runs=2)  # noqa: B023
        nano = 1e9 * seconds / n
        price = nano / 3600 * PRICE
        print(f"DuckDB, {n:.0e} rows: {seconds:.3f} CPU s, {nano:.1f} ns a row; 10^9: {nano:.0f} CPU s, ${price:.5f}")


if __name__ == "__main__":
    files()
    many()
    if "--http" in sys.argv:
        over_http()
    if "--engines" in sys.argv:
        engines()
