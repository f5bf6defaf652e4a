"""What the tests of devices share."""

from pathlib import Path

import pytest

import naysay
from tests.node import run_node

PACKAGE = Path(naysay.__file__).parent / "telemetry" / "javascript"
"""The folder of the package for web apps."""


@pytest.fixture
def node(request):
    """Runs a script of the test's folder under Node, on a module of the package for web apps."""
    return lambda script, task, module, given: run_node(request.path.with_name(script), task, PACKAGE / module, given)
