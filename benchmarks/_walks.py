"""The files of the package that three trips enter: an answer, a file, a reply. The pages ``docs/walk_*.md`` list them.

    python benchmarks/_walks.py answer|print|file|reply|stored

Each trip runs once unwatched, so that what loads on first use is not on the way, and then once watched. What is printed
is a JSON list of paths inside the package. Only commands and public names are used, so that another checkout can be
watched by its ``PYTHONPATH``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
WATCH = threading.Event()
"""Whether calls are noted now."""

PAUSE = 2.5
"""Seconds in which the server has counted what it stored: it looks once a second."""

_codes: set[CodeType] = set()


def _note(frame: FrameType, event: str, _: object) -> None:
    if event == "call" and WATCH.is_set():
        _codes.add(frame.f_code)


def entered(trip: Callable[[], object]) -> list[str]:
    """The files that a trip enters in this thread and those that it starts."""
    _codes.clear()
    threading.setprofile(_note)
    sys.setprofile(_note)
    try:
        WATCH.set()
        trip()
    finally:
        WATCH.clear()
        sys.setprofile(None)
        threading.setprofile(None)
    return files()


def files() -> list[str]:
    """The files of the package whose code was called."""
    import naysay

    package = Path(naysay.__file__ or "").parent
    inside = (Path(code.co_filename) for code in _codes if code.co_name != "<module>")
    return sorted({path.relative_to(package).as_posix() for path in inside if path.is_relative_to(package)})


def example() -> str:
    """The code on the page of an answer."""
    page = (ROOT / "docs/walk_answer.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^>>> (.*)$", page, re.MULTILINE))


def python(code: str) -> None:
    """Run code that prints."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, {})


def command(*words: str) -> None:
    """Run one command in this process."""
    from naysay import cli

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = cli.main(words)
    if code:
        raise SystemExit(f"naysay {' '.join(words)} exits with {code}")


def twice(trip: Callable[[], object]) -> list[str]:
    """The files of a second run."""
    trip()
    return entered(trip)


def answer() -> list[str]:
    """From a design to its estimate."""
    return twice(lambda: python(example().rpartition("\n")[0]))


def printed() -> list[str]:
    """From a design to its printed estimate: what the page does."""
    return twice(lambda: python(example()))


def file() -> list[str]:
    """From the command to its printed table."""
    command("demo", "--files", ".")
    return twice(lambda: command("risk", "people.csv", "--keys", "age,gender"))


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
    from naysay.questionnaire import sample

    Path("naysay-data").mkdir()
    store = Store(Path("naysay-data/naysay.db"))
    with background(create_app([sample()], store)) as link:
        yield f"{link}/s/sample"
    store.dispose()


def send(link: str, number: int) -> None:
    """POST one reply, and wait until it is stored."""
    from naysay.collect import Published
    from naysay.questionnaire import sample

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
    """From the POST of a reply until it is counted, in a server of its own."""
    threading.setprofile(_note)
    with served() as link:
        threading.setprofile(None)
        send(link, 1)
        time.sleep(PAUSE)
        WATCH.set()
        send(link, 2)
        time.sleep(PAUSE)
        WATCH.clear()
    return files()


def counted() -> list[str]:
    """From the command to the estimate of a private question, of replies that are stored."""
    with served() as link:
        for number in range(20):
            send(link, number)
    return twice(lambda: command("estimate", "--survey", "sample", "--response", "smoking"))


TRIPS = {"answer": answer, "printed": printed, "file": file, "reply": reply, "counted": counted}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(json.dumps(TRIPS[sys.argv[1]]()))
