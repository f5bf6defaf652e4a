"""The demonstration: a survey on real counts, with server, respondents, estimates and a report.

A server on a free port asks five questions whose true answers are known. Respondents answer over HTTP, and the
estimates come from the database. It needs the extra ``collect``, and ``plots`` for the report.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from naysay import collect, designs, estimate, report
from naysay.collect import respond
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne
from naysay.data import gvu_counts
from naysay.design import Levels
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals
from naysay.estimate.page import holds
from naysay.files.frames import whole
from naysay.responses import JOINER
from naysay.show import Column, Content, Marked, Sentence, Table, show

if TYPE_CHECKING:
    from naysay.collect.storage import Replies
__all__ = [
    "PEOPLE",
    "Asked",
    "Question",
    "Result",
    "Results",
    "forever",
    "page",
    "people",
    "questionnaire",
    "questions",
    "run",
]


PEOPLE = 2_000
"""How many people are asked."""

_TITLES = {
    "falsification_of_information": "How often people falsify information",
    "race": "Race",
    "sexual_preference": "Sexual preference",
    "household_income": "Household income, in thousands of dollars",
    "age": "Age, in years",
}


def _in_words(name: str) -> str:
    """A category of the counts as people read it.

    Examples
    --------
    >>> [_in_words(name) for name in ("Under_25", "[56, 64)", "[72, 80]", "$10-19", "Not_Say", "NA")]
    ['Under 25', '56 to 63', '72 to 80', '$10 to 19', 'Rather not say', 'No answer']
    """
    if bounds := re.fullmatch(r"\[(\d+), (\d+)([\])])", name):
        return f"{bounds[1]} to {int(bounds[2]) - (bounds[3] == ')')}"
    words = {"Not_Say": "Rather not say", "Not_say": "Rather not say", "NA": "No answer"}
    return words.get(name) or re.sub(r"(\d)-(\d)", r"\1 to \2", name.replace("_", " "))


@dataclass(frozen=True, eq=False)
class Question:
    """A question whose true answers are known, so that estimates can be compared with them.

    Parameters
    ----------
    name, title : str
    counts : {category: count}
        The true answers of everybody.
    """

    name: str
    title: str
    counts: Mapping[str, int]

    @cached_property
    def design(self) -> Levels:
        """The offer: each respondent chooses how many categories to rule out."""
        return designs.negative_levels(tuple(self.counts))

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each category in data: ``{name: category}``."""
        category_of_name = {_name(category): category for category in self.counts}
        return (
            category_of_name
            if len(category_of_name) == len(self.counts)
            else {f"c{n}": numbered_category for n, numbered_category in enumerate(self.counts, 1)}
        )

    @cached_property
    def item(self) -> SelectOne:
        """The question as a private question of a questionnaire."""
        offer = designs.negative_levels(tuple(self.names))
        return SelectOne(
            name=self.name,
            label={"en": self.title},
            hint={"en": "You choose how many of the others your device rules out for you."},
            choices=tuple(
                Choice(name=category_name, label={"en": category}) for category_name, category in self.names.items()
            ),
            private=Private(design=json.loads(offer.to_json())),
        )

    @property
    def truth(self) -> NDArray[np.float64]:
        """The true proportions of everybody, (t,)."""
        counts = np.array(tuple(self.counts.values()), dtype=float)
        return np.asarray(counts / counts.sum())


def _name(category: str) -> str:
    """The category's name in data: letters, digits and underscores."""
    joined_words = re.sub(r"[^A-Za-z0-9]+", "_", category).strip("_")
    return joined_words if joined_words[:1].isalpha() else f"from_{joined_words}"


def questions() -> tuple[Question, ...]:
    """The five questions."""
    return tuple(
        Question(question_name, _TITLES[question_name], {_in_words(name): count for name, count in counts.items()})
        for question_name, counts in gvu_counts().items()
    )


def questionnaire(asked: Sequence[Question]) -> Questionnaire:
    """The questionnaire that the page shows and the server publishes.

    Examples
    --------
    >>> [question.name for question in questionnaire(questions()).questions][1:3]
    ['race', 'sexual_preference']
    """
    return Questionnaire(
        name="demo",
        title={"en": "Five sensitive questions"},
        about={
            "en": "Questions of a survey of web users in 1997, asked again. Your answers are randomized on your "
            "device, and stay on this computer: it is a demonstration."
        },
        thanks={"en": "Thank you. Your answers now stand among those of the demonstration."},
        languages=("en",),
        items=tuple(question.item for question in asked),
    )


@dataclass(frozen=True, eq=False)
class Asked:
    """The people asked: their true answers, ``{question: (n,) names}``, and the levels that they choose."""

    answers: dict[str, list[str]]
    levels: dict[str, list[str]]

    @property
    def columns(self) -> dict[str, list[str]]:
        """A table in the form that `naysay respond` reads, with columns for the levels."""
        return self.answers | {
            f"{question_name}_level": level_column for question_name, level_column in self.levels.items()
        }


def people(asked: Sequence[Question], *, size: int = PEOPLE, seed: int | None = None) -> Asked:
    """People with answers drawn at random from the published counts, question by question, and random levels.

    Parameters
    ----------
    asked : sequence of Question
    size : int
        How many people.
    seed : int, optional
        The same seed asks the same people again. It does not fix what they send: devices draw that by themselves.

    Examples
    --------
    >>> few = people(questions(), size=3, seed=1)
    >>> few.answers["sexual_preference"], few.levels["sexual_preference"]
    (['Heterosexual', 'Heterosexual', 'Heterosexual'], ['5', '2', '3'])
    """
    rng = np.random.default_rng(seed)
    answers = {question.name: rng.choice(tuple(question.names), size, p=question.truth).tolist() for question in asked}
    levels = {question.name: rng.choice(tuple(map(str, question.design.levels)), size).tolist() for question in asked}
    return Asked(answers, levels)


@dataclass(frozen=True, eq=False)
class Result:
    """One question: the truth, and the estimate from the randomized answers alone."""

    question: Question
    fit: Estimate
    found: Intervals

    @property
    def holds(self) -> NDArray[np.bool_]:
        """Whether each interval holds the true share, (t,)."""
        return holds(self.found, self.question.truth)

    def parts(self) -> list[Content]:
        """The truth and the estimate in percent, the test of levels, and what an answer at each level reveals."""
        fit, level_comparison = self.fit, self.fit.comparison
        if level_comparison is None:
            raise DataError("the demo compares stratified and pooled estimates; each level must be estimable alone")
        share_columns = [self.question.truth, fit.proportions, fit.standard_errors, self.found.bounds]
        share_columns += [level_comparison.pooled.proportions, level_comparison.pooled.standard_errors]
        percent_columns = 100 * np.column_stack(
            [*share_columns, level_comparison.difference, level_comparison.standard_errors]
        )
        table_rows = []
        for category, percent_row, is_holding in zip(fit.categories, percent_columns.tolist(), self.holds, strict=True):
            truth_text, share_text, error_text, low_text, high_text, *compared_texts = (
                f"{value:.2f}" for value in percent_row
            )
            interval_text = f"{low_text}–{high_text} " if is_holding else Marked(f"{low_text}–{high_text}!", "wrong")
            table_rows.append((str(category), truth_text, share_text, error_text, interval_text, *compared_texts))
        column_names = ("s.e.", "95 % interval", "pooled", "s.e.", "diff.", "s.e.")
        first_columns = (
            Column("percent", words=True, width=40),
            *(Column(role, role=role) for role in ("truth", "estimate")),
        )
        level_texts = (
            f"{level}: reveals the answer"
            if level_statement.still_possible[0] == 1
            else f"{level}: {level_statement.still_possible[0]} left"
            for level, level_statement in fit.privacy.items()
        )
        privacy_sentence = (
            f"privacy by level, ε = ∞ throughout; of {len(fit.categories)} categories {', '.join(level_texts)}"
        )
        table = Table((*first_columns, *map(Column, column_names)), tuple(table_rows), caption=self.question.title)
        return [table, Sentence(str(level_comparison.test)), Sentence(privacy_sentence)]


@dataclass(frozen=True, eq=False)
class Results:
    """All questions, and how many intervals hold the truth."""

    each: tuple[Result, ...]

    @property
    def intervals(self) -> int:
        """How many intervals there are."""
        return sum(len(result.holds) for result in self.each)

    @property
    def holding(self) -> int:
        """How many intervals hold the truth."""
        return sum(int(result.holds.sum()) for result in self.each)

    @property
    def people(self) -> int:
        """How many respondents there are; each answers every question."""
        return max(result.fit.n for result in self.each)

    @property
    def population(self) -> int:
        """How many people the published counts cover; the respondents are drawn from them."""
        return max(sum(result.question.counts.values()) for result in self.each)

    @property
    def revealing(self) -> tuple[int, int]:
        """How many answers were given at the most open level, which reveals them; and how many in all."""
        level_tallies = [result.fit.tally.by_level for result in self.each]
        return sum(tally_of_level[max(tally_of_level)].n for tally_of_level in level_tallies), sum(
            result.fit.n for result in self.each
        )


def estimated_result(question: Question, replies: Replies) -> Result:
    """The estimate of a question. The estimator sees only what was sent."""
    level_column = replies.level_of(question.name)
    response_levels = None if level_column is None else replies.frame[level_column].to_list()
    responses = [  # replace the names by the categories as people read them
        None
        if response_text is None
        else {question.names[category_name] for category_name in response_text.split(JOINER)}
        for response_text in replies.frame[question.name].to_list()
    ]
    tally = replace(question.design.tally(responses, level=response_levels), question=question.title)
    fit = estimate.stratified(question.design, tally)
    _ = fit.comparison  # a cached property: compute it here, while a progress bar is shown
    return Result(question, fit, fit.intervals())


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
    start_time = time.perf_counter()
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
            report_path = None
            try:
                report_path = write_report(page(results, seed=seed), out)
            except report.ExtraMissing as error:
                say(console, f"No report was written: {error}")
            say(console, f"It took {time.perf_counter() - start_time:.1f} seconds.")
            if stay is not None:
                if report_path is not None:
                    say(console, f"The report: {report_path}")
                say(console, f"Answer it yourself: {link}")
                say(console, "The server runs on this computer only; stop it with Ctrl+C.")
                with contextlib.suppress(KeyboardInterrupt):
                    stay()
        copied_database = _copy_database(database, out)
    say(console, f"The answers as they were sent: {copied_database}")
    say(console, f"Estimate from them: naysay estimate --survey demo --db {copied_database} --response race")
    if report_path is not None:
        say(console, f"The report: {report_path}")
    return report_path


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
    progress_columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*progress_columns, console=console, transient=True) as progress:
        progress_task = progress.add_task("answers stored", total=size)
        start_time = time.perf_counter()
        delivery = respond.many(
            survey, crowd, on_acknowledged=lambda now: progress.update(progress_task, completed=now.stored)
        )
        seconds_taken = time.perf_counter() - start_time
    say(console, f"{delivery.stored:,} answers were randomized, sent and stored in {seconds_taken:.1f} seconds.")
    console.print()


def say(console: Console, text: str) -> None:
    """Print a line of text, not wrapped."""
    show([Sentence(text)], console)


def _show(results: Results, console: Console) -> None:
    for result in results.each:
        show(result.parts(), console)
        console.print()
    say(console, "estimate: stratified over the levels; diff.: stratified minus pooled estimate; !: misses the truth")
    summary_sentence = f"{results.holding} of {results.intervals} intervals hold the truth; about 95 in 100 should."
    console.print(Text(summary_sentence, style="bold"))


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
    target_path = out / ANSWERS
    for suffix in ("-wal", "-shm"):  # left by an earlier run that was killed: SQLite would apply them to the new file
        target_path.with_name(target_path.name + suffix).unlink(missing_ok=True)
    with whole(target_path) as target_file, database.open("rb") as source_file:
        shutil.copyfileobj(source_file, target_file)
    return target_path


def page(results: Results, *, seed: int | None = None) -> str:
    """The report as one HTML text. Its wording is in ``data/demo_words.toml``.

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
    report_words = tomllib.loads(resources.files("naysay.data").joinpath("demo_words.toml").read_text(encoding="utf-8"))
    revealing_count, answer_count = results.revealing
    lead_numbers = {
        "people": results.people,
        "population": results.population,
        "revealing": revealing_count,
        "answers": answer_count,
        "holding": results.holding,
        "intervals": results.intervals,
    }
    chance_note = report_words["chance"]["unseeded" if seed is None else "seeded"].format(seed=seed)
    return report.html(
        "Five sensitive questions, asked in the negative",
        [
            report.estimate_section(result.fit, truth=result.question.truth, heading=result.question.title)
            for result in results.each
        ],
        facts=[
            (f"{results.people:,}", "people"),
            (f"{len(results.each)}", "questions"),
            (f"{results.holding} of {results.intervals}", "intervals hold the truth"),
        ],
        lead=[lead_text.format(**lead_numbers) for lead_text in report_words["lead"]],
        footnotes=[*report_words["before"].items(), ("Chance", chance_note), *report_words["after"].items()],
    )
