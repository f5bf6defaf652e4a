"""The files of the package that some trips enter. The pages ``docs/reference/walk_*.md`` list those of the longer ones.

    python benchmarks/_walks.py [TRIP ...]

Each trip runs once unwatched, so that what loads on first use is not on the way, and then once watched. What is printed
is JSON: for each trip, by default for all, its paths inside the package. Only commands and public names are used, so
that another checkout can be watched by its ``PYTHONPATH``.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAUSE = 2.5
"""Seconds in which the server has counted what it stored: it looks once a second."""

SHORT = """
import numpy as np
from naysay import client, designs, estimate, microdata
income = designs.negative(("a", "b", "c", "d"), discards=2)
truth = np.repeat(list("abcd"), 100)
device = designs.k_ary(tuple("abcdefgh"), epsilon=1)
form = device.to_json()
people = {"age": [40, 36, 36, None], "sex": list("fmmf"), "region": list("nnss")}
"""
EXAMPLES = {
    "short": "fit = estimate.maximum_likelihood(income, income.tally(income.randomize(truth)))",
    "short print": "str(estimate.maximum_likelihood(income, income.tally(income.randomize(truth))))",
    "reports": "estimate.moments(device, device.tally([client.draw(form, name) for name in 'abcdefgh' * 8]))",
    "table": "str(microdata.risk_table(people, [['age', 'sex', 'region']], population=1000))",
}
"""Trips of a line each."""

_watching = threading.Event()
_codes: set[CodeType] = set()


def sample() -> Any:
    """The sample questionnaire; trees before the wings have it one room higher."""
    try:
        from naysay.collect import questionnaire
    except ImportError:
        from naysay import questionnaire
    return questionnaire.sample()


def _note(frame: FrameType, event: str, _: object) -> None:
    if event == "call" and _watching.is_set():
        _codes.add(frame.f_code)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Calls are noted: in this thread, and in those that were started with `_note`."""
    _codes.clear()
    _watching.set()
    sys.setprofile(_note)
    try:
        yield
    finally:
        sys.setprofile(None)
        _watching.clear()


def files() -> list[str]:
    """The files of the package whose code was called; frames of imports are left out."""
    import naysay

    package = Path(naysay.__file__ or "").parent
    inside = (Path(code.co_filename) for code in _codes if code.co_name != "<module>")
    return sorted({path.relative_to(package).as_posix() for path in inside if path.is_relative_to(package)})


def entered(trip: Callable[[Any], object], prepared: Callable[[], Any] = lambda: None) -> list[str]:
    """The files that the second run of a trip enters, given what was prepared for it."""
    trip(prepared())
    given = prepared()
    with watched():
        trip(given)
    return files()


def example() -> tuple[str, str]:
    """The code on the page of an answer, and its last line, which prints."""
    page = (ROOT / "docs/reference/walk_answer.md").read_text(encoding="utf-8")
    code, _, last = "\n".join(re.findall(r"^>>> (.*)$", page, re.MULTILINE)).rpartition("\n")
    return code, last


def python(code: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run code that may print; its names."""
    names = {} if names is None else names
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    return names


def command(*words: str) -> None:
    """Run one command in this process."""
    from naysay import cli

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = cli.main(words)
    if code:
        raise SystemExit(f"naysay {' '.join(words)} exits with {code}")


def answer() -> list[str]:
    """From a design to its estimate."""
    return entered(lambda _: python(example()[0]))


def printing() -> list[str]:
    """The print of that estimate alone."""
    code, last = example()
    return entered(lambda names: python(last, names), lambda: python(code))


def printed() -> list[str]:
    """From a design to its printed estimate: all that the page does."""
    return entered(lambda _: python("\n".join(example())))


def file() -> list[str]:
    """From the command to its printed table."""
    command("demo", "--files", ".")
    return entered(lambda _: command("risk", "people.csv", "--keys", "age,gender"))


REPLY = {
    "age": 30,
    "news": ["paper", "net"],
    "income": {"level": "2", "response": "below_1000;to_2000"},
}
"""What one respondent to the sample survey sends beside whether they smoke; other questions stay open."""


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The sample survey, served from a thread; its link."""
    from naysay.collect.app import create_app
    from naysay.collect.serving import background
    from naysay.collect.storage import Store

    Path("naysay-data").mkdir()
    store = Store(Path("naysay-data/naysay.db"))
    with background(create_app([sample()], store)) as link:
        yield f"{link}/s/sample"
    store.dispose()


def send(link: str, number: int) -> None:
    """POST one reply, and wait until it is stored."""
    from naysay.collect import Published

    published = Published.of(sample())
    answers = dict.fromkeys((question.name for question in published.questionnaire.questions), None) | REPLY
    answers["smoking"] = {"level": None, "response": "yes" if number % 2 else "no"}
    message = {
        "naysay": "answers",
        "version": 1,
        "survey": published.hash,
        "id": f"{number:032x}",
        "answers": answers,
        "padding": "",
    }
    missing = published.body_length - len(json.dumps(message, separators=(",", ":")))
    body = json.dumps(message | {"padding": " " * missing}, separators=(",", ":")).encode()
    post = urllib.request.Request(f"{link}/answers", body, {"content-type": "application/json"})
    with urllib.request.urlopen(post) as response:
        response.read()


def reply() -> list[str]:
    """From the POST of a reply until it is counted."""
    threading.setprofile(_note)
    with served() as link:
        threading.setprofile(None)
        send(link, 1)
        time.sleep(PAUSE)
        with watched():
            sys.setprofile(None)  # what this thread does is the device's
            send(link, 2)
            time.sleep(PAUSE)
    return files()


def counted() -> list[str]:
    """From the command to the estimate of a private question, of replies that are stored."""
    with served() as link:
        for number in range(20):
            send(link, number)
    return entered(lambda _: command("estimate", "--survey", "sample", "--response", "smoking"))


def short(code: str) -> list[str]:
    """One of the examples of a line."""
    return entered(lambda names: python(code, names), cache(partial(python, SHORT)))


TRIPS: dict[str, Callable[[], list[str]]] = {
    "answer": answer,
    "print": printing,
    "printed": printed,
    "file": file,
    "reply": reply,
    "counted": counted,
} | {name: partial(short, code) for name, code in EXAMPLES.items()}


def main() -> None:
    found = {}
    for name in sys.argv[1:] or TRIPS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found[name] = TRIPS[name]()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
