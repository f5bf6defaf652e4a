"""What the tests of collecting share: a small client, a questionnaire of all kinds, servers, and a real PostgreSQL."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pytest
from browsing import ARGUMENTS
from playwright.sync_api import sync_playwright
from sqlalchemy import Engine, event

import naysay
from naysay import designs
from naysay.collect import Client, Published
from naysay.collect.app import create_app
from naysay.collect.client import FOLDER
from naysay.collect.questionnaire import (
    Bin,
    Choice,
    Constraint,
    Date,
    Decimal,
    Grid,
    Group,
    Integer,
    Private,
    Questionnaire,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
    parse_expression,
)
from naysay.collect.storage import Store
from naysay.collect.storage.tables import REWRITTEN
from tests.collect.databases import PostgreSQL
from tests.node import run_node

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts with & ignore interrupts

JSON = {"content-type": "application/json"}
SHELL = (
    b'<!doctype html><script type="importmap">{{importmap}}</script>'
    b'<script type="module" src="{{client}}/survey.js" integrity="{{integrity survey.js}}"></script><p>{{survey}}</p>'
)
FILES = {
    "survey.html": SHELL,
    "threats.en.html": b"<!doctype html><title>Threats</title>",
    "threats.de.html": b"<!doctype html><title>Gefahren</title>",
    "survey.js": b"export const version = 1;\n" * 200,
    "words/en.js": b"export const words = {};\n",
    "style.css": b"p { color: black }\n",
}


@pytest.fixture(scope="session")
def whole_client():
    """The files that a server is started with, pages of its own among them."""
    return Client(FILES)


@pytest.fixture(scope="session")
def client(whole_client):
    """The files that a survey with invitations and lots is stored with: pages of the server are not among them."""
    return whole_client.serving(invites=True, lots=True, beside=True)


def label(text):
    return {"en": text}


def choices(*names):
    return tuple(Choice(name=name, label=label(name)) for name in names)


def private(design, *by_hand):
    return Private(design=json.loads(design.to_json()), by_hand=by_hand)


def named(kind, name, **fields):
    return kind(name=name, label=label(name), **fields)


@pytest.fixture(scope="session")
def questionnaire():
    """All kinds of questions, plain and private, asked always, if, and together."""
    abc, five = ("a", "b", "c"), ("a", "b", "c", "d", "e")
    levels = {"1": designs.negative(five, discards=1), "3": designs.negative(five, discards=3)}
    levels["coin"] = designs.two_option(five, shown=2)
    adult = Constraint(expression=parse_expression(". >= 18"))
    past = Constraint(expression=parse_expression(". <= today()"))
    bins = tuple(Bin(name=name, label=label(name), below=below) for name, below in (("few", 5), ("many", None)))
    return Questionnaire(
        name="kinds",
        title=label("Kinds"),
        languages=("en",),
        items=(
            named(Integer, "age", low=0, high=120, required=True, constraint=adult),
            named(SelectOne, "area", choices=choices(*abc)),
            named(SelectMultiple, "news", choices=choices(*abc)),
            named(Text, "other", max_length=20, relevant=parse_expression("selected(${news}, 'c')"), required=True),
            named(Decimal, "sleep", low=0, high=24),
            named(Date, "moved", constraint=past),
            named(Rating, "health"),
            named(Grid, "views", rows=choices("x", "y"), choices=choices(*abc)),
            named(Ranking, "order", choices=choices(*abc)),
            named(
                Group,
                "sensitive",
                items=(
                    named(SelectOne, "party", choices=choices(*five), private=private(designs.levels(levels), "coin")),
                    named(SelectOne, "rare", choices=choices(*abc), private=private(designs.negative(abc))),
                    named(
                        SelectMultiple,
                        "drugs",
                        choices=choices("tea", "wine"),
                        private=private(designs.warner(p=0.7)),
                    ),
                    named(
                        Integer,
                        "drinks",
                        bins=bins,
                        private=private(designs.warner(p=0.8, categories=("few", "many"))),
                    ),
                ),
            ),
        ),
    )


ANSWERS = {
    "age": 30,
    "area": "b",
    "news": ["a", "c"],
    "other": "näh ☃",
    "sleep": 7.5,
    "moved": "2020-02-29",
    "health": 4,
    "views": {"x": "a", "y": None},
    "order": ["b", "a", "c"],
    "party": {"level": "3", "response": "a;b;e"},
    "rare": {"level": None, "response": "c"},
    "drugs": {"tea": {"level": None, "response": "yes"}, "wine": {"level": None, "response": "no"}},
    "drinks": {"level": None, "response": "few"},
}


@pytest.fixture
def answers():
    """One valid answer to each question."""
    return json.loads(json.dumps(ANSWERS))


@pytest.fixture(scope="session")
def published(questionnaire, client):
    return Published.of(questionnaire, client=client)


def compact(form):
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode()


def body(published, answers, /, *, id=None, **changes):
    """A body as the page sends it, padded to its length."""
    form = {
        "naysay": "answers",
        "version": 1,
        "survey": published.hash,
        "id": id or uuid.uuid4().hex,
        "answers": answers,
    }
    form = {**form, "padding": ""} | changes
    if "padding" not in changes:
        form["padding"] = " " * (published.body_length - len(compact(form)))
    return compact(form)


@pytest.fixture(scope="session")
def write_body():
    return body


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


async def asked(app, method, path, content, headers, address):
    path, _, query = path.partition("?")
    sent, parts = [], iter([*content, b""] if isinstance(content, list) else [content])

    async def receive():
        part = next(parts)
        return {"type": "http.request", "body": part, "more_body": isinstance(content, list) and bool(part)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": (address, 50_000),
        "server": ("localhost", 80),
    }
    await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


class Running:
    """An application with its lifespan in a thread; ask it from anywhere."""

    def __init__(self, app):
        self.app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._life = app.state.service.lifespan(app)
        self._do(self._life.__aenter__())

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def ask(self, method, path, content=b"", headers=None, address="192.0.2.1"):
        return self._do(asked(self.app, method, path, content, headers or {}, address))

    def get(self, path, **headers):
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, content, name="kinds", **how):
        return self.ask("POST", f"/s/{name}/answers", content, headers=how.pop("headers", JSON), **how)

    def stop(self):
        if self._thread.is_alive():
            self._do(self._life.__aexit__(None, None, None))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


@pytest.fixture
def run():
    """Start an application; it is stopped at the end of the test."""
    with contextlib.ExitStack() as stack:

        def start(*arguments, **options):
            running = Running(create_app(*arguments, **options))
            for given in (*arguments, *options.values()):
                if isinstance(given, Store):  # its fixture may end before the application, which connects once more
                    stack.callback(given.dispose)
            stack.callback(running.stop)
            return running

        yield start


@pytest.fixture(scope="session")
def postgresql():
    server = PostgreSQL()
    yield server
    server.stop("immediate")  # hundreds of databases, which nobody reads again, are not written out
    shutil.rmtree(server.folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/answers.db"
    server = request.getfixturevalue("postgresql")
    return server.url(server.new_database())


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as started:
        yield started


def launched(playwright, *names):
    """The first of these that there is, otherwise Playwright's own (scripts/browsers brings either)."""
    found = next(filter(None, map(shutil.which, names)), os.environ.get("CHROMIUM"))
    return playwright.chromium.launch(executable_path=found, args=ARGUMENTS)


@pytest.fixture(scope="session")
def browser(playwright):
    """Chromium without windows, where there is one: its engine, network and storage, at two thirds of the time."""
    with launched(playwright, "chromium-headless-shell", "chromium") as started:
        yield started


@pytest.fixture(scope="session")
def whole_browser(playwright):
    """Chromium as people have it, for statements about what a browser does by itself."""
    with launched(playwright, "chromium") as started:
        yield started


@pytest.fixture
def node(request):
    """Runs a script of the test's folder under Node."""
    return lambda script, task, module, given: run_node(request.path.with_name(script), task, FOLDER / module, given)


@pytest.fixture
def page_node():
    """Runs a script of the page's tests under Node."""
    scripts = Path(__file__).parent / "page"
    return lambda script, task, module, given: run_node(scripts / script, task, FOLDER / module, given)


@pytest.fixture(autouse=True)
def replies_are_locked_first(request):
    """No transaction uses several of the tables that `settle` locks unless it begins with the replies.

    Another order, and `settle` and that transaction could each hold what the other one waits for.
    """
    used_tables, wrong = WeakKeyDictionary(), []

    def note(connection, _cursor, statement, *_):
        names = [
            name for name in re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(\w+)", statement) if name in REWRITTEN
        ]
        if connection.get_transaction() is None or connection.dialect.name == "sqlite":  # which has one lock for all
            return
        tables = used_tables.setdefault(connection.get_transaction(), [])
        tables += names
        if names and tables[0] != "reply" and len(set(tables)) > 1:
            wrong.append((tables, statement))

    event.listen(Engine, "before_cursor_execute", note)
    yield
    event.remove(Engine, "before_cursor_execute", note)
    assert not wrong or request.node.get_closest_marker("reads_tables")


@pytest.fixture
def store(url):
    found = Store(url)
    yield found
    found.dispose()


def until(holds, *, seconds=60.0):
    """Wait for something that another thread or process does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture(name="until")
def until_fixture():
    return until


@pytest.fixture
def published_for_real(questionnaire):
    """The survey with naysay's own client, as the command serves it."""
    return Published.of(questionnaire)


class Served:
    """``naysay serve`` in a process of its own."""

    def __init__(self, folder, url, *, files=None, arguments=("--rate", "0")):
        self._out = folder / f"{uuid.uuid4().hex}.txt"
        command = [sys.executable, "-m", "naysay", "serve", "kinds.json", "--port", "0", *arguments]
        if files is not None:
            command = ["prlimit", f"--nofile={files}:{files}", *command]
        source = str(Path(naysay.__file__).parents[1])
        environment = {**os.environ, "NAYSAY_DB": url, "PYTHONUNBUFFERED": "1", "PYTHONPATH": source}
        with self._out.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
        until(lambda: "/s/kinds" in self.output() or self.process.poll() is not None, seconds=60)
        assert self.process.poll() is None, self.output()
        self.link = next(word for word in self.output().split() if word.startswith("http"))

    def output(self):
        return self._out.read_text()


@pytest.fixture
def serve(tmp_path, questionnaire):
    """Run ``naysay serve`` on a database; it is ended with the test."""
    folder = tmp_path / "serve"
    folder.mkdir()
    (folder / "kinds.json").write_bytes(questionnaire.to_json())
    started = []

    def start(url, **how):
        started.append(Served(folder, url, **how))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait(20)
