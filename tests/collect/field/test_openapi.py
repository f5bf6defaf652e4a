"""The server does what its OpenAPI description says, whatever is sent: checked by schemathesis, over loopback."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.config import SchemathesisConfig

from naysay.collect import invitations
from naysay.collect.app import create_app
from naysay.collect.serving import background
from naysay.collect.storage import Store

BOUNDED = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_nothing_is_answered_against_the_description(tmp_path, published):
    store = Store(tmp_path / "answers.db")
    store.open(published)
    invitations.invite(store, "kinds", 1)
    with background(create_app([], store, client=published.client, each=0, everybody=0)) as server:
        schema = schemathesis.openapi.from_url(f"{server}/openapi.json", config=SchemathesisConfig(seed=2016))
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in operations:
            check(operation)
    store.dispose()
    assert len(operations) == 12


def check(operation):
    """Bounded examples of one operation, right and wrong ones, each held against the description."""

    @BOUNDED
    @given(case=operation.as_strategy())
    def holds(case):
        case.call_and_validate()

    holds()
