"""What others wrote and the page runs: made of packages whose digests stand in ``scripts/vendor``, and of no others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from naysay.collect.client import FOLDER
from tests.node import check_fetched

SCRIPT = Path(__file__).parents[2] / "scripts" / "vendor"


def vendored(folder, script):
    """What a script makes, and what it says; packages are fetched, whatever was fetched before."""
    (folder / "scripts").mkdir(parents=True)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "scripts" / "vendor").write_text(script, encoding="utf-8")
    made = folder / "voprf.js"
    command = [shutil.which("sh"), str(folder / "scripts" / "vendor"), str(made)]
    own = os.environ | {"npm_config_cache": str(folder), "npm_config_fetch_retries": "1"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=own)
    check_fetched(done)
    return made, done


@pytest.mark.slow
def test_the_vendored_file_is_what_its_script_makes_byte_for_byte(tmp_path):
    made, done = vendored(tmp_path / "here", SCRIPT.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stderr
    assert made.read_bytes() == (FOLDER / "vendor" / "voprf.js").read_bytes()


@pytest.mark.slow
def test_a_package_with_another_digest_is_refused(tmp_path):
    script = SCRIPT.read_text(encoding="utf-8")
    digests = re.findall(r'"integrity": "sha512-(\S{86}==)"', script)
    assert len(digests) == script.count('"version": ') == 3  # none without one
    made, done = vendored(tmp_path / "here", script.replace(digests[0], "A" + digests[0][1:]))
    assert done.returncode != 0
    assert "EINTEGRITY" in done.stderr
    assert not made.exists()
