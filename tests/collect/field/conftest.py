"""What the tests of scripted respondents share: people whose answers are known, and servers to answer to."""

import contextlib

import pytest

from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.serving import background

TRUTH = {
    "age": [30, 44, 18],
    "area": ["b", None, "a"],
    "news": ["c;a", None, "b"],
    "other": ['näh ☃\n"so" \\ <a>', None, "not asked"],
    "sleep": [7.5, 8.0, None],
    "moved": ["2020-02-29", None, None],
    "health": [4, 1, 5],
    "views/x": ["a", None, "b"],
    "views/y": [None, None, "c"],
    "order": ["b;a;c", None, "c;b;a"],
    "party": ["a", "b", "e"],
    "party_level": ["3", "coin", None],
    "rare": ["a", "b", None],
    "drugs/tea": ["yes", "no", None],
    "drugs/wine": ["no", "no", None],
    "drinks": [2, 7, 0],
}


@pytest.fixture
def truth():
    """What three people would answer to the questionnaire of all kinds."""
    return {name: list(column) for name, column in TRUTH.items()}


@pytest.fixture
def answered(store, client):
    """Serve a questionnaire on a database of each kind; gives what respondents fetch."""
    with contextlib.ExitStack() as stack:

        def start(questionnaire, **options):
            app = create_app([questionnaire], store, client=client, **{"each": 0, "everybody": 0, **options})
            server = stack.enter_context(background(app))
            return respond.fetch(f"{server}/s/{questionnaire.name}")

        yield start
