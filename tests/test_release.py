"""What is released can be installed by a stranger: built twice with equal bytes, and tried in an empty environment."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_packages_are_built_twice_alike_and_work_in_an_empty_environment():
    """The wheel with all extras runs the README's commands and a survey over HTTP; the npm package draws."""
    command = [sys.executable, "release/build.py", "--quick"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "built twice, equal bytes" in built.stdout
    assert len((ROOT / "dist" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()) == 3
