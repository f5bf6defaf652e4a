"""Whatever fails below a server, nothing acknowledged is lost and nothing is counted twice. See scripts/faults."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(("database", "most"), [("SQLite", 3), ("PostgreSQL", 1)])
def test_calls_of_each_kind_fail_and_nothing_is_lost_or_counted_twice(database, most):
    command = [sys.executable, "tests/collect/faults.py", "--database", database, "--most", str(most)]
    tried = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    rows = [line for line in tried.stdout.splitlines() if line.startswith(f"| {database}")]
    assert len(rows) == {"SQLite": 5, "PostgreSQL": 8}[database]
    assert all(1 <= int(row.split("|")[4]) <= most for row in rows)


def test_the_table_in_the_docs_shows_no_loss():
    page = (ROOT / "docs" / "reference" / "faults.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:SQLite|SQLite, one answer|PostgreSQL) \|.*\|$", page, re.MULTILINE)
    assert len(rows) == 18
    assert all(row.endswith("| 0 | 0 |") for row in rows)
