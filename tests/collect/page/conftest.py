"""What the tests of the respondent's page share: a browser before a real server."""

import pytest
from browsing import Respondent, privates, serve
from hostile import lying

from naysay.collect.questionnaire import sample


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The sample survey, and its private questions alone."""
    with serve([sample(), privates()], tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="session")
def lied(tmp_path_factory):
    """One server for all lies about the sample survey and about its private questions alone."""
    with lying([sample(), privates()], tmp_path_factory.mktemp("lied")) as server:
        yield server


@pytest.fixture
def liar(lied):
    """A server that lies as a test tells it to (see `hostile.Liar`), and tells the truth until then."""
    lied.truth()
    return lied


@pytest.fixture
def respond(browser, served):
    """Somebody new before the sample survey: a fresh browser context."""
    contexts = []

    def new(name="sample", *, on=served, within=None, **context):
        if within is None:
            within = browser.new_context(**{"locale": "en-US", **context})
            within.set_default_timeout(10_000)
            contexts.append(within)
        return Respondent(within.new_page(), on.page(name))

    yield new
    for each in contexts:
        each.close()
