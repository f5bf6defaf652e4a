"""The steps of the demonstration: a server on a free port, respondents over HTTP, the database, the report.

The demonstration's report.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from naysay import collect, report
from naysay.collect import respond
from naysay.demo.asking import PEOPLE, people, questionnaire, questions
from naysay.demo.results import Results, estimated_result
from naysay.errors import DataError
from naysay.files.writing import whole
from naysay.show import Sentence, show

REPORT = "report.html"
ANSWERS = "demo.db"


def run(
    out: Path, *, seed: int | None = None, console: Console, size: int = PEOPLE, stay: Callable[[], None] | None = None
) -> Path | None:
    """Run the whole survey: tables go to the console, the report and the answers to a folder.

    A server starts with SQLite on a free port of this computer. Respondents answer over HTTP, and the estimates come
    from the database.

    Parameters
    ----------
    out : Path
        The folder; it is made if it does not exist. ``report.html`` and ``demo.db`` in it are replaced.
    seed : int, optional
        The same seed asks the same people again. What they send still comes from the operating system's randomness.
    console : rich Console
    size : int
        How many people answer.
    stay : callable, optional
        Called at the end, while the server still runs. The server stops when this returns or is interrupted.

    Returns
    -------
    Path or None
        The report; None if the extra ``plots`` is not installed.

    Raises
    ------
    DataError
        If `out` cannot be a folder, or the extra ``collect`` is not installed.
    """
    began = time.perf_counter()
    if out.exists() and not out.is_dir():
        raise DataError(f"the report needs a folder, and {str(out)!r} is a file; name a folder with --out")
    with tempfile.TemporaryDirectory(prefix="naysay-demo-") as folder:
        database = Path(folder) / ANSWERS
        with _serve_survey(database) as link:
            _answer(link, size, seed, console)
            replies = collect.replies(database, "demo")
            with Progress(console=console, transient=True) as progress:
                tracked_questions = progress.track(questions(), description="estimates")
                results = Results(tuple([estimated_result(question, replies) for question in tracked_questions]))
            _show(results, console)
            path = _report_or_note(results, out, seed, console)
            say(console, f"It took {time.perf_counter() - began:.1f} seconds.")
            if stay is not None:
                _stay(link, path, console, stay)
        copied_database = _copy_database(database, out)
    say(console, f"The answers as they were sent: {copied_database}")
    say(console, f"Estimate from them: naysay estimate --survey demo --db {copied_database} --response race")
    if path is not None:
        say(console, f"The report: {path}")
    return path


@contextlib.contextmanager
def _serve_survey(database: Path) -> Iterator[str]:
    """Run a server in a thread of this process; gives the link of the survey."""
    try:
        from naysay.collect.app import create_app
        from naysay.collect.serving import background
        from naysay.collect.storage import Store
    except ModuleNotFoundError as error:
        raise DataError(
            f"the demonstration needs the extra collect ({error.name} is missing): pip install 'naysay[collect,plots]'"
        ) from None
    survey = questionnaire(questions())
    store = Store(database)
    try:
        with background(create_app([survey], store, each=0, everybody=0)) as server:
            yield f"{server}/s/{survey.name}"
    finally:
        store.dispose()


def _answer(link: str, size: int, seed: int | None, console: Console) -> None:
    """Let people answer over HTTP, and show a progress bar."""
    survey = respond.fetch(link)
    crowd = respond.checked(survey.questionnaire, people(questions(), size=size, seed=seed).columns)
    say(console, f"A survey is up at {link}, with the hash {survey.hash[:12]}…; {size:,} people answer it.")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("answers stored", total=size)
        began = time.perf_counter()
        delivery = respond.many(survey, crowd, on_acknowledged=lambda now: progress.update(task, completed=now.stored))
        seconds = time.perf_counter() - began
    say(console, f"{delivery.stored:,} answers were randomized, sent and stored in {seconds:.1f} seconds.")
    console.print()


def say(console: Console, text: str) -> None:
    """Print a line of text, not wrapped."""
    show([Sentence(text)], console)


def _show(results: Results, console: Console) -> None:
    for result in results.each:
        show(result.sections(), console)
        console.print()
    say(console, "estimate: stratified over the levels; diff.: stratified minus pooled estimate; !: misses the truth")
    summary_sentence = f"{results.holding} of {results.intervals} intervals hold the truth; about 95 in 100 should."
    console.print(Text(summary_sentence, style="bold"))


def _report_or_note(results: Results, out: Path, seed: int | None, console: Console) -> Path | None:
    try:
        return write_report(page(results, seed=seed), out)
    except report.ExtraMissing as error:
        say(console, f"No report was written: {error}")
        return None


def _stay(link: str, path: Path | None, console: Console, stay: Callable[[], None]) -> None:
    """Leave the server running until it is interrupted."""
    if path is not None:
        say(console, f"The report: {path}")
    say(console, f"Answer it yourself: {link}")
    say(console, "The server runs on this computer only; stop it with Ctrl+C.")
    with contextlib.suppress(KeyboardInterrupt):
        stay()


def forever() -> None:
    """Wait until interrupted."""
    threading.Event().wait()


def write_report(text: str, out: Path) -> Path:
    """Write the report to its folder: the whole file, or nothing."""
    out.mkdir(parents=True, exist_ok=True)
    with whole(out / REPORT) as file:
        file.write(text.encode())
    return out / REPORT


def _copy_database(database: Path, out: Path) -> Path:
    """Copy the closed database into the folder, where it replaces the one of an earlier run."""
    out.mkdir(parents=True, exist_ok=True)
    target = out / ANSWERS
    for suffix in ("-wal", "-shm"):  # left by an earlier run that was killed: SQLite would apply them to the new file
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    with whole(target) as file, database.open("rb") as source:
        shutil.copyfileobj(source, file)
    return target


def page(results: Results, *, seed: int | None = None) -> str:
    """The report as one HTML text. Its wording is in ``words.toml``.

    Parameters
    ----------
    results : Results
    seed : int, optional
        The seed of the people asked, for the note on chance.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    words = tomllib.loads(resources.files("naysay.demo").joinpath("words.toml").read_text(encoding="utf-8"))
    holding, intervals, (revealing, answers) = results.holding, results.intervals, results.revealing
    lead_numbers = {
        "people": results.people,
        "population": results.population,
        "revealing": revealing,
        "answers": answers,
    }
    chance = words["chance"]["unseeded" if seed is None else "seeded"].format(seed=seed)
    return report.html(
        "Five sensitive questions, asked in the negative",
        [report.estimate_section(result.fit, truth=result.question.truth) for result in results.each],
        facts=[
            (f"{results.people:,}", "people"),
            (f"{len(results.each)}", "questions"),
            (f"{holding} of {intervals}", "intervals hold the truth"),
        ],
        lead=[text.format(holding=holding, intervals=intervals, **lead_numbers) for text in words["lead"]],
        footnotes=[*words["before"].items(), ("Chance", chance), *words["after"].items()],
    )
