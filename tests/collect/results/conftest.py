"""Commands are run as in the tests of the command line."""

from tests.cli.conftest import naysay  # noqa: F401 (a fixture)
