import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published data and papers beside the repository. In CI its absence is a failure; a bare clone
    elsewhere does without the tests that need it."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        absent = f"the reference material should be in {folder}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(absent)
    return folder
