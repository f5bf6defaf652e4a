"""Pages on what was done: the log, the receipts of deletions, backups."""

from __future__ import annotations

import tempfile
from pathlib import Path

from starlette.responses import Response

from naysay.collect.admin import backup as backups
from naysay.collect.admin import log
from naysay.collect.admin.visits import HOME, Visit, download
from naysay.collect.storage import today
from naysay.errors import DataError

__all__ = ["backup", "deleted", "kept", "log_page", "restore"]


def log_page(visit: Visit) -> Response:
    """The log."""
    return visit.page("log.html", entries=log.entries(visit.store))


def deleted(visit: Visit) -> Response:
    """The receipts of all deletions."""
    return visit.page("deleted.html", receipts=visit.store.receipts())


def kept(visit: Visit) -> Response:
    """Backups: a form that writes one, and where there is no survey, one that restores one."""
    return visit.page("backup.html", is_empty=not visit.store.standing())


def backup(visit: Visit) -> Response:
    """Everything in the database, as one file."""
    folder = tempfile.TemporaryDirectory(prefix="naysay-")
    try:
        path = Path(folder.name, f"naysay-{today()}.db")
        counted = backups.backup(visit.store, path)
    except BaseException:
        folder.cleanup()
        raise
    visit.desk.record("took a backup", detail=str(counted))
    return download(folder, path)


def restore(visit: Visit) -> Response:
    """Restore an uploaded backup into a database without surveys."""
    given = visit.files.get("backup")
    if given is None or not given.filename:
        raise DataError("choose a file first: a backup that naysay wrote")
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        path = Path(folder, "uploaded.db")
        with path.open("xb") as file:
            while some := given.file.read(1 << 20):
                file.write(some)
        counted = backups.restore(visit.store, path, client=visit.desk.client)
    visit.desk.record("restored a backup", detail=str(counted))
    for name in counted.renewed:
        visit.desk.record("renewed", name, backups.hashes(visit.store, name))
    for name in counted.undated:
        visit.desk.record("struck out a first day", name, "it has no private question")
    visit.desk.refresh()
    changes = {"renewed-pages": counted.renewed, "undated": counted.undated}
    return visit.to(HOME, ".".join(["restored", *(notice for notice, names in changes.items() if names)]))
