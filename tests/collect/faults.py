"""Let every write, sync, allocation and commit below a server fail once, in turn, and look at what is stored.

    python tests/collect/faults.py [--most 400 | --short] [--out docs/reference/faults.md]

A server takes answers, invitations and reports, counts them, rewrites them, stops, and its surveys are closed. A shim
(faults.c) counts what the database does meanwhile. Then all of it is done again as often as something was counted, and
each time another call fails. Senders send again until they get an acknowledgment, as devices do. At the end
the database must hold what it holds when nothing fails: nothing is lost, and nothing is counted twice. --short follows
one answer alone, from where it arrives to the server's end: so few calls that each can fail.
"""

import argparse
import asyncio
import contextlib
import ctypes
import faulthandler
import io
import json
import logging
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx2
import numpy as np
from databases import PostgreSQL
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from naysay import designs
from naysay.collect import Client, Published, invitations, reports, writer
from naysay.collect.app import create_app
from naysay.collect.device.memory import Draft
from naysay.collect.device.post import message
from naysay.collect.questionnaire import Integer, Private, Questionnaire, SelectOne
from naysay.collect.results.counting import differing, folding
from naysay.collect.storage import Store
from naysay.telemetry import batches

SHIM = Path(__file__).with_suffix(".c")
CALLS = ("write", "sync", "truncate", "allocate", "send", "receive")
COMMITS = {"commit": 6, "commit, told too late": 7}  # counted here, not by the shim
PLACES = {
    "SQLite": {
        **{f"{call} of the database file": number for number, call in enumerate(CALLS[:3])},
        "allocation of SQLite": 3,
        "commit": COMMITS["commit"],
    },
    "PostgreSQL": {
        **{f"{call} of the database server": 8 + number for number, call in enumerate(CALLS[:2])},
        "allocation of the database server": 11,
        "allocation of the driver": 3,
        "send to the database server": 4,
        "receive from the database server": 5,
        "commit": COMMITS["commit"],
        "commit that happened": COMMITS["commit, told too late"],
    },
}
OUTCOMES = (
    "nobody notices",  # the database or the server deals with it by itself
    "sent again",  # somebody was told that nothing was stored, or that it may not be
    "done again",  # all was acknowledged; what is done behind it failed, and is made up for
    "started again",  # the server, or the command that closes a survey, ends with an error and is started again
    "LOST",
    "TWICE",
)
JSON = {"content-type": "application/json"}


class Faults(ctypes.Structure):
    """What the processes share with the shim."""

    _fields_ = (
        ("counts", ctypes.c_int64 * 16),
        ("on", ctypes.c_int64),
        ("watched", ctypes.c_int64),
        ("at", ctypes.c_int64),
        ("fired", ctypes.c_int64),
    )

    def reset(self, watched=-1, at=0):
        self.on = self.fired = 0
        self.counts = (ctypes.c_int64 * 16)()
        self.watched, self.at = watched, at

    def fails(self, number):
        """Count a call from here; whether it is the one."""
        if self.on:
            self.counts[number] += 1
            if (self.watched, self.at) == (number, self.counts[number]):
                self.fired = 1
                return True
        return False


class Failing(PostgreSQL):
    """A database server whose processes are preloaded with the shim, and that writes durably."""

    options = (
        "-c fsync=on -c autovacuum=off -c checkpoint_timeout=1h -c bgwriter_lru_maxpages=0 -c wal_writer_delay=10s "
        "-c max_wal_size=1GB"
    )

    def stop(self):
        with contextlib.suppress(AssertionError):  # it has ended
            self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def revive(self):
        """Start it again where it has ended, as whatever runs services does."""
        asked = [self._bin / "pg_isready", "-q", "-U", "postgres", "-h", self.folder]
        if subprocess.run(asked, **self._who, check=False).returncode == 2:
            with contextlib.suppress(AssertionError):  # it runs, and recovers
                self.start()

    @property
    def environment(self):
        return {
            "LD_PRELOAD": os.environ["LD_PRELOAD"],
            "NAYSAY_FAULTS_FIRST": "8",
            "NAYSAY_FAULTS_FILES": str(self.folder / "data"),
            "NAYSAY_FAULTS_CODE": "bin/postgres",
        }


def questionnaire(name):
    choices = [{"name": each, "label": {"en": each}} for each in ("a", "b", "c")]
    design = json.loads(designs.k_ary(("a", "b", "c"), epsilon=1).to_json())
    items = (
        Integer(name="age", label={"en": "Age"}, low=0, high=120),
        SelectOne(name="area", label={"en": "Area"}, choices=choices, private=Private(design=design)),
    )
    return Questionnaire(name=name, title={"en": name}, languages=("en",), items=items)


class Messages:
    """A database with an open survey, one that invites, and a topic of reports; and what is sent to them."""

    def __init__(self, url, client):
        store = Store(url)
        for name in ("open", "invited"):
            store.open(Published.of(questionnaire(name), client=client))
        codes = invitations.invite(store, "invited", 2)
        design = designs.k_ary(("a", "b", "c"), epsilon=1)
        reports.open_topic(store, design, question="crash")
        published, invited = store.published("open"), store.published("invited")
        key = invitations.Issuer("invited", store.key("invited"))
        store.settle()
        store.dispose()
        uploads = io.BytesIO()
        batches.write(uploads, design, design.randomize(["a"] * 4), question="crash", form="json")
        self.requests = []
        for number, code in enumerate(codes):
            draft = Draft.of(code)
            asking = invitations.Asking.of_body(draft.asking(invited))
            token = draft.token(invited, key.issued(asking.blinded))
            self.requests += [
                ("/s/open/answers", self._reply(published, 2 * number), JSON),
                ("/s/invited/token", draft.asking(invited), JSON),
                ("/s/invited/answers", self._reply(invited, number, token), JSON),
                ("/s/open/answers", self._reply(published, 2 * number + 1), JSON),
                ("/reports", uploads.getvalue(), JSON | {"idempotency-key": f"{number:022}"}),
            ]

    def _reply(self, published, number, token=None):
        answers = {"age": 30 + number, "area": {"level": None, "response": "abc"[number % 3]}}
        return message(published, f"{number:032x}", answers, token=token)


class Seen(logging.Handler):
    """Counts the errors that the server logs."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.errors = 0

    def emit(self, record):
        self.errors += 1


class Trial:
    """One life of a server on a database, in which one call fails."""

    def __init__(self, faults, client, requests, closing, revive):
        self.faults, self.client, self.requests, self.closing, self.revive = faults, client, requests, closing, revive
        self.again = self.restarts = 0

    def commits(self, store):
        """Let a commit fail before it happens, or after."""
        dialect = store.engine.dialect
        commit = dialect.do_commit

        def do_commit(connection):
            if self.faults.fails(COMMITS["commit"]):
                raise OperationalError("COMMIT", {}, Exception("the commit fails"))
            commit(connection)
            if self.faults.fails(COMMITS["commit, told too late"]):
                raise OperationalError("COMMIT", {}, Exception("the commit has happened"))

        dialect.do_commit = do_commit
        return store

    def persistently(self, work):
        """Do something until it ends without an error, as who runs a server does."""
        for attempt in range(100):
            try:
                work()
            except Exception:
                if attempt == 99:
                    raise
                self.restarts += 1
                time.sleep(0.02 if attempt < 5 else 0.2)
                self.revive()
            else:
                return

    def live(self, url):
        self.faults.on = int(bool(self.closing))  # one answer alone: from where it arrives
        self.persistently(lambda: asyncio.run(self._serve(url)))
        for name in self.closing:
            self.persistently(lambda name=name: self._close(url, name))
        self.faults.on = 0

    async def _serve(self, url):
        store = Store(url)
        try:
            app = create_app([], self.commits(store), client=self.client, each=0, everybody=0, settle_every=3600)
            async with (
                app.state.service.lifespan(app),
                httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://survey") as devices,
            ):
                self.faults.on = 1
                for path, content, headers in self.requests:
                    await self._send(devices, path, content, headers)
                path, content, headers = self.requests[0]
                await self._send(devices, path, content, headers)  # its acknowledgment was lost
        finally:
            store.dispose()

    async def _send(self, devices, path, content, headers):
        for attempt in range(100):
            response = await devices.post(path, content=content, headers=headers)
            if response.status_code < 300:
                return
            if response.status_code < 500:
                raise AssertionError(f"{path} is refused for good: {response.text}")
            self.again += 1
            await asyncio.sleep(0.01 if attempt < 5 else 0.1)
            self.revive()
        raise AssertionError(f"{path} is never taken: {response.text}")

    def _close(self, url, name):
        store = Store(url, mode="change")
        try:
            self.commits(store).close(name)
        finally:
            store.dispose()


QUERIES = {
    "replies": "SELECT survey, day, answers FROM reply",
    "tokens": "SELECT survey, token FROM spent",
    "invitations": "SELECT survey, code, taken FROM invitation",
    "reports": "SELECT question, level, what, place, people FROM report_count",
}


def contents(url):
    """What a database holds, without numbers that are drawn anew, and how many of its tallies are not its replies'."""
    store = Store(url)
    try:
        folding(store)(1000)
        with store.engine.connect() as connection:
            held = {name: Counter(map(str, connection.execute(text(query)))) for name, query in QUERIES.items()}
        return held, sum(len(differing(store, name)) for name in ("open", "invited"))
    finally:
        store.dispose()


def outcome(trial, errors, held, wrong_tallies, expected):
    """What became of everything that was acknowledged."""
    if any(expected[name] - held[name] for name in QUERIES):
        return "LOST"
    if wrong_tallies or any(held[name] - expected[name] for name in QUERIES):
        return "TWICE"
    if trial.restarts:
        return "started again"
    if trial.again:
        return "sent again"
    return "done again" if errors else "nobody notices"


@contextlib.contextmanager
def files(folder):
    """A function that makes a file of SQLite, as a copy of another one if there is one."""

    @contextlib.contextmanager
    def fresh(template=None):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            path = Path(name) / "watched.db"
            if template is not None:
                shutil.copy(template.removeprefix("sqlite:///"), path)
            yield f"sqlite:///{path}"

    yield fresh, lambda: None


@contextlib.contextmanager
def servers(_):
    """A function that makes a database in PostgreSQL, as a copy of another one if there is one."""
    server = Failing()

    @contextlib.contextmanager
    def fresh(template=None):
        name = f"trial_{time.monotonic_ns()}"
        copied = "" if template is None else f" TEMPLATE {template.partition('@/')[2].partition('?')[0]}"
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}{copied}")
            connection.execute("CHECKPOINT")  # so that it recovers quickly
        yield server.url(name)
        with server.connect() as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    yield fresh, server.revive
    server.stop()
    shutil.rmtree(server.folder)


def trials(kind, faults, most, short, folder):
    """Each place with how many calls there are, and the outcomes of at most so many of them, spread over all."""
    logger, seen = logging.getLogger("naysay.collect"), Seen()
    logger.addHandler(seen)
    logger.propagate = False
    writer.TALLIED = 2
    writer.LOOK = 3600.0  # nothing is done by the clock, so that calls come in the same order
    client = Client({"survey.html": b"<!doctype html>{{importmap}}{{client}}{{integrity survey.js}}{{survey}}"})
    with {"SQLite": files, "PostgreSQL": servers}[kind](folder) as (fresh, revive), fresh() as template:
        requests, closing = Messages(template, client).requests, ("open", "invited")
        if short:
            requests, closing = requests[:1], ()

        def lived(watched=-1, at=0):
            faults.reset(watched, at)
            seen.errors = 0
            trial = Trial(faults, client, requests, closing, revive)
            with fresh(template) as url:
                faulthandler.dump_traceback_later(60, exit=True)  # a server that hangs
                trial.live(url)
                faulthandler.cancel_dump_traceback_later()
                return trial, *contents(url)

        trial, expected, wrong_tallies = lived()
        assert (trial.again, trial.restarts, seen.errors, wrong_tallies) == (0, 0, 0, 0)
        assert expected["replies"].total() == (1 if short else 6)
        totals = {place: faults.counts[number] for place, number in PLACES[kind].items()}
        for place, number in PLACES[kind].items():
            outcomes = Counter()
            spread = np.arange(1, totals[place] + 1)
            if most < len(spread):
                spread = np.linspace(0, len(spread), most + 2)[1:-1].round().astype(int)
            for call in spread.tolist():
                trial, held, wrong_tallies = lived(number, call)
                if faults.fired:
                    found = outcome(trial, seen.errors, held, wrong_tallies, expected)
                    outcomes[found] += 1
                    if found.isupper():
                        print(f"{kind}, {place}, call {call}: {found}", file=sys.stderr, flush=True)
            print(f"{kind}, {place}: {dict(outcomes)} of {totals[place]:,} calls", file=sys.stderr, flush=True)
            yield place, totals[place], outcomes


def table(rows):
    """The table in Markdown."""
    yield "| database | what fails | calls | tried | " + " | ".join(OUTCOMES) + " |"
    yield "|---|---|--:|--:|" + "--:|" * len(OUTCOMES)
    for kind, place, calls, outcomes in rows:
        counts = " | ".join(f"{outcomes.get(each, 0):,}" for each in OUTCOMES)
        yield f"| {kind} | {place} | {calls:,} | {sum(outcomes.values()):,} | {counts} |"


def watched(kind, most, short, folder):
    """The rows of one database, tried in a process that is preloaded with the shim."""
    shim, control = folder / "faults.so", folder / f"control-{kind}"
    if not shim.exists():
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", shim, SHIM, "-ldl"], check=True)
    control.write_bytes(bytes(ctypes.sizeof(Faults)))
    control.chmod(0o666)  # the database server runs as somebody else
    environment = {
        "LD_PRELOAD": str(shim),
        "NAYSAY_FAULTS": str(control),
        "NAYSAY_FAULTS_FILES": "watched.db",
        "NAYSAY_FAULTS_CODE": {"SQLite": "sqlite3", "PostgreSQL": "libpq"}[kind],
    }
    command = [sys.executable, __file__, "--most", str(most), "--inside", kind, *["--short"] * short]
    inside = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(inside.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=10**9, help="calls of each kind, spread over all of them")
    parser.add_argument("--database", choices=PLACES, help="only this one")
    parser.add_argument("--short", action="store_true", help="one answer alone")
    parser.add_argument("--out", type=Path, help="a page with the table; rows of another database are kept")
    parser.add_argument("--inside", choices=PLACES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if options.inside:
            with Path(os.environ["NAYSAY_FAULTS"]).open("r+b") as file:
                faults = Faults.from_buffer(mmap.mmap(file.fileno(), 0))
            title = f"{options.inside}, one answer" if options.short else options.inside
            rows = [(title, *row) for row in trials(options.inside, faults, options.most, options.short, folder)]
            print(json.dumps(rows))
            return 0
        rows = [
            row
            for kind in [options.database] * bool(options.database) or PLACES
            for row in watched(kind, options.most, options.short, folder)
        ]
    lines = list(table(rows))
    print(*lines, f"\n{time.monotonic() - start:.0f} seconds", sep="\n")
    if options.out:
        before, _, old = options.out.read_text(encoding="utf-8").partition("| database |")
        new_kinds = {kind for kind, *_ in rows}
        others = [
            line for line in old.splitlines() if line.startswith("| ") and line.split(" | ")[0][2:] not in new_kinds
        ]
        lines = lines[:2] + sorted([*lines[2:], *others], key=lambda line: line[:14])
        options.out.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")
    return int(any(outcomes.get(each) for *_, outcomes in rows for each in ("LOST", "TWICE")))


if __name__ == "__main__":
    sys.exit(main())
