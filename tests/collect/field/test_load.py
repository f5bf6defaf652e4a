"""200 respondents at once for a while: nothing is lost, and the server fails nobody. Times are for the benchmark."""

import importlib.util
from pathlib import Path

import pytest

from naysay.collect.storage import Store

SPEC = importlib.util.spec_from_file_location("load", Path(__file__).parents[3] / "benchmarks" / "collect.py")
benchmark = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(benchmark)


@pytest.mark.slow
def test_200_respondents_lose_nothing(url, questionnaire, tmp_path):
    found = benchmark.measure(questionnaire, url, tmp_path, respondents=200, seconds=5)
    assert found.acknowledged > 200
    assert found.lost == 0
    assert found.errors == found.broken == 0
    assert set(found.statuses) == {201}
    store = Store(url)
    frame = store.replies("kinds").frame
    store.dispose()
    assert frame.height == found.acknowledged
