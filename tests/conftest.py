from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published data and papers beside the repository; without it a test fails."""
    folder = Path(__file__).parents[2] / "shared"
    assert folder.is_dir(), f"the reference material should be in {folder}"
    return folder
