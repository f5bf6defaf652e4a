import atexit
import gc
import time
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
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)  # or one of them runs alone in the end


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Spare the collector of garbage the objects of some 5,000 modules, which are none: it looked at all each time.

    Of what tests make it looks at 100,000 new objects at a time, not at 700: that is 2 to 8 % of their processor time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        atexit.register(gc.unfreeze)  # once pytest has looked; some modules count what is left of them at the end
        gc.set_threshold(100_000, 20, 20)


class Progress:
    """Says every minute of a long run how far it is, and how long the rest takes if it goes on like this."""

    def __init__(self, reporter):
        self.reporter, self.start = reporter, time.monotonic()
        self.total = self.finished = self.minutes = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.total = len(ids)

    def pytest_collection_finish(self, session):
        self.total = len(session.items) or self.total

    def pytest_runtest_logreport(self, report):
        self.finished += report.when == "teardown"
        if (seconds := time.monotonic() - self.start) // 60 > self.minutes:
            self.minutes = int(seconds // 60)
            self.reporter.write_line(f"\n{self.line(seconds)}")

    def line(self, seconds):
        rest = seconds * (self.total / max(self.finished, 1) - 1) / 60
        done = f"{self.finished:,} of {self.total:,} tests after {seconds / 60:.0f} min"
        return f"{done}; about {rest:.0f} min remain" if self.finished * 50 > self.total else done


@pytest.hookimpl(trylast=True)  # what writes to the terminal comes first
def pytest_configure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(reporter), "naysay-progress")
