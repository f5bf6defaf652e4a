"""What the commands that collect share: the database, and what is said and asked before a survey is opened."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naysay.console import output
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.collect.questionnaire import Examined, Questionnaire
    from naysay.collect.storage import Replies, Store
    from naysay.collect.storage.store import Mode

DATA = Path("naysay-data")
FILE = "naysay.db"

Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        envvar="NAYSAY_DB",
        help="sqlite:///FILE or postgresql://USER@HOST/DATABASE; by default a file in the data folder. A password is "
        "safer in the variable than on the command line; write @ as %40.",
    ),
]
Data = Annotated[Path, typer.Option("--data", metavar="FOLDER", help="Where the SQLite file is, without --db.")]


@dataclass(frozen=True)
class Surveyed:
    """A survey whose answers are read from its database instead of a file."""

    survey: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of FILE: a survey in the database of `naysay serve`.")
    ] = None
    db: Database = None
    data: Data = DATA

    def replies(self) -> Replies:
        """All replies to the survey; of an open one with controls it is said what two prints tell."""
        with opened(self.db, self.data, "read") as store:
            replies = store.replies(str(self.survey))
            is_open = store.standing()[str(self.survey)][1]
        if is_open and any(question.control is not None for question in replies.questionnaire.asked):
            output.note(
                f"survey {self.survey!r} is open and has controls: two prints, one reply apart, tell whether this "
                "person failed them; show the numbers to nobody before you have closed it"
            )
        return replies


@contextlib.contextmanager
def opened(db: str | None, data: Path, mode: Mode) -> Iterator[Store]:
    """The database as long as the context lasts; by `mode` it is made where there is none, changed, or only read."""
    try:
        from sqlalchemy.exc import SQLAlchemyError

        from naysay.collect.storage import Store
    except ModuleNotFoundError as error:
        problem_text = f"this needs the extra collect ({error.name} is missing): pip install 'naysay[collect]'"
        raise DataError(problem_text) from None
    if db is None and mode != "make" and not (data / FILE).is_file():
        way_out = "name its folder with --data, or its address with --db; a server makes one: naysay serve"
        raise DataError(f"there is no database in {str(data)!r}; {way_out}")
    try:
        if db is None and mode == "make":
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = Store(data / FILE if db is None else db, mode=mode)
    except OSError as error:
        raise DataError(f"cannot write to {str(error.filename or data)!r}: {error.strerror or error}") from None
    except SQLAlchemyError as error:
        raise DataError(f"the database cannot be opened: {_cause(error)}") from None
    try:
        yield store
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise DataError(f"the database failed: {_cause(error)}; run the command again") from None
    finally:
        store.dispose()


def log_act(store: Store, what: str, about: str | None = None, detail: str | None = None) -> None:
    """Add to the log what was done on the command line."""
    from naysay.collect.admin.log import COMMAND_LINE, record

    record(store, what, who=COMMAND_LINE, about=about, detail=detail)


def _cause(error: Exception) -> str:
    """The database's own message, in one line."""
    return str(getattr(error, "orig", None) or error).strip().split("\n")[0]


YES = "Open a survey without private questions without asking."


def confirmed(path: Path, *, yes: bool, opened_before: Collection[str] = ()) -> Questionnaire:
    """The questionnaire in a file, once its warnings are printed and a survey without private questions is agreed to.

    Parameters
    ----------
    path : Path
    yes : bool
        Agreed to beforehand.
    opened_before : collection of str, optional
        Surveys that have been opened already; nothing is said or asked about them again.

    Raises
    ------
    QuestionnaireError
        The questionnaire has errors.
    DataError
        No question is private, and nobody agreed to that.
    """
    from naysay.collect.questionnaire import examine

    examined = examine(path)
    form = examined.questionnaire
    return form if form is not None and form.name in opened_before else confirm(examined, path.name, yes=yes)


def confirm(examined: Examined, source: str, *, yes: bool) -> Questionnaire:
    """The questionnaire that was examined, under the same conditions; `source` is what it is called in messages."""
    from naysay.collect.questionnaire import QuestionnaireError

    form = examined.questionnaire
    if form is None:
        raise QuestionnaireError(source, examined.problems)
    for problem in examined.problems:
        output.note(f"{form.name}: {problem}")
    plain_names = [question.name for question in form.questions if question.privacy is None]
    if len(plain_names) == len(form.questions):
        output.note(f"{form.name}: no question is private; every answer is sent as it is")
        if not yes and not agreed(f"Open {form.name} without a private question? "):
            raise DataError(f"{form.name!r} was not opened: no question is private; confirm with y, or give --yes")
    elif plain_names:
        output.note(f"{form.name}: sent as they are: {', '.join(plain_names)}")
    return form


def agreed(question: str) -> bool:
    """Whether the person at the keyboard says yes; without a keyboard, no."""
    try:
        return typer.prompt(question, default="n", prompt_suffix="", err=True).strip().lower() in ("y", "yes")
    except typer.Abort:
        return False
