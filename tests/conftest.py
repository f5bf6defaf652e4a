from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")

ROOT = Path(__file__).parents[1]
NOT_FAST = {
    line for line in (ROOT / "tests/not_fast.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
}
"""Folders, files and single tests, as they are named from the root of the repository."""


def pytest_ignore_collect(collection_path, config):
    """Do not even import what the quick round leaves out as a whole: browsers, engines and servers load slowly."""
    quick = "not long" in config.option.markexpr
    return True if quick and collection_path.relative_to(ROOT).as_posix() in NOT_FAST else None


def pytest_collection_modifyitems(items):
    for item in items:
        place = item.path.relative_to(ROOT)
        name = f"{place.as_posix()}::{item.name.partition('[')[0]}"
        if NOT_FAST & {name, *(each.as_posix() for each in (place, *place.parents))}:
            item.add_marker(pytest.mark.long)
