"""The database of the commands that collect."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
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
        """All replies to the survey."""
        with opened(self.db, self.data, "read") as store:
            return store.replies(str(self.survey))


@contextlib.contextmanager
def opened(db: str | None, data: Path, mode: Mode) -> Iterator[Store]:
    """The database as long as the context lasts; by `mode` it is made where there is none, changed, or only read."""
    try:
        from sqlalchemy.exc import SQLAlchemyError

        from naysay.collect.storage import Store
    except ModuleNotFoundError as error:
        problem = f"this needs the extra collect ({error.name} is missing): pip install 'naysay[collect]'"
        raise DataError(problem) from None
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


def _cause(error: Exception) -> str:
    """The database's own message, in one line."""
    return str(getattr(error, "orig", None) or error).strip().split("\n")[0]
