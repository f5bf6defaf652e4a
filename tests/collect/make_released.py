"""Keep a database and a survey of the version that is released: ``python tests/collect/make_released.py``, once.

What it writes into ``released/`` never changes afterwards: every later version has to open it.
"""

import datetime
import gzip
import sqlite3
import sys
import tempfile
from pathlib import Path

from replying import fill

import naysay
from naysay import designs
from naysay.collect import Client, Published, invitations, reports
from naysay.collect.questionnaire import sample
from naysay.collect.results.counting import folding
from naysay.collect.storage import Store
from naysay.collect.storage.replies import Reports, Taking, digest
from naysay.telemetry.batches import Heading

FOLDER = Path(__file__).with_name("released")
DAY = datetime.date(2026, 11, 28)


def main() -> None:
    target = FOLDER / f"{naysay.__version__}.sql.gz"
    if target.exists():
        sys.exit(f"{target.name} is there: what was released does not change")
    FOLDER.mkdir(exist_ok=True)
    form = sample()
    (FOLDER / f"{naysay.__version__}.json").write_bytes(form.to_json())
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "answers.db"
        store = Store(path)
        page = b"<!doctype html>{{importmap}}{{client}}{{integrity survey.html}}{{survey}}"
        published = Published.of(form, client=Client({"survey.html": page}))
        store.open(published)
        fill(store, published, 30, seed=7, day=DAY)
        store.open(Published.of(form.model_copy(update={"name": "invited"}), client=published.client))
        invitations.enlist(store, "invited", [f"{number:022}" for number in range(3)])
        store.add([Taking("invited", digest(f"{0:022}"), digest("blinded"))])
        design = designs.k_ary(("list", "map", "search"), epsilon=1)
        topic = reports.open_topic(store, design, question="crash", wave="2026-11")
        counts = {reports.Cell(*Heading(*topic, ""), "report", place): people for place, people in enumerate((5, 3, 2))}
        store.add([Reports(counts, DAY)])
        folding(store)(20)  # some are counted, and some are left for the next server
        store.dispose()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            lines = [line for line in connection.iterdump() if not line.startswith(("BEGIN", "COMMIT"))]
        target.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
