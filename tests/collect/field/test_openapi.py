"""The server does what its OpenAPI description says, whatever is sent: checked by schemathesis, over loopback."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig

from naysay.collect.app import create_app
from naysay.collect.serving import background
from naysay.collect.storage import Store

CONFIG = SchemathesisConfig(seed=2016)


@pytest.fixture(scope="module")
def described(tmp_path_factory, published):
    """The description of an application that runs on a database."""
    store = Store(tmp_path_factory.mktemp("described") / "answers.db")
    app = create_app([published], store, client=published.client, each=0, everybody=0)
    with background(app) as server:
        yield schemathesis.openapi.from_url(f"{server}/openapi.json", config=CONFIG)
    store.dispose()


schema = schemathesis.pytest.from_fixture("described")


@schema.parametrize()
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_is_answered_against_the_description(case):
    case.call_and_validate()
