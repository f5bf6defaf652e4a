"""The API: numbers are the command line's, tokens open what they are for and nothing else, answers never leave."""

import datetime
import io
import json
import zipfile

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from naysay import designs
from naysay.cli import main
from naysay.collect import Published, reports
from naysay.collect.admin import log, tokens
from naysay.collect.app import create_app
from naysay.collect.questionnaire import Questionnaire, sample
from naysay.collect.serving import background
from naysay.collect.storage import Reports, Store, today
from naysay.collect.storage.replies import Cell
from naysay.tally import Tally
from tests.collect.replying import fill

SURVEYS = "/api/v1/surveys"
N = 300
AREAS = [each.label["de"] for question in sample().questions if question.name == "area" for each in question.choices]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two surveys: the sample with its replies, and one that nobody has answered."""
    found = Store(tmp_path_factory.mktemp("api") / "naysay.db")
    empty = Questionnaire.model_validate({**sample().form(), "name": "empty"})
    for published in (Published.of(sample()), Published.of(empty)):
        found.open(published)
    fill(found, Published.of(sample()), N)
    yield found
    found.dispose()


@pytest.fixture(scope="module")
def client(store):
    with TestClient(create_app(store=store), client=("192.0.2.1", 5)) as found:
        yield found


@pytest.fixture(scope="module")
def secret(store):
    """A token for everything."""
    return tokens.create(store, "all", scopes=tokens.SCOPES)[1]


@pytest.fixture(scope="module")
def read(client, secret):
    def read(path, *, token=secret, **asked):
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return client.get(f"{SURVEYS}{path}", params=asked, headers=headers)

    return read


def test_surveys_are_listed_with_their_state(read, store):
    listed = read("").json()["surveys"]
    assert [(each["name"], each["replies"], each["state"]) for each in listed] == [
        ("empty", 0, "open"),
        ("sample", N, "open"),
    ]
    assert read("/sample").json() == listed[1]
    assert listed[1]["hash"] == store.published("sample").hash


def test_aggregates_are_what_the_command_line_prints(read, store, capsys):
    found = {each["column"]: each for each in read("/sample/aggregates").json()["questions"]}
    for column in ("smoking", "income", "area", "age"):
        address = f"sqlite:///{store.engine.url.database}"
        assert main(["estimate", "--db", address, "--survey", "sample", "--response", column, "--format", "json"]) == 0
        assert found[column]["result"] == json.loads(capsys.readouterr().out)
    grouped = {
        each["column"]: each for each in read("/sample/aggregates", by="area", language="de").json()["questions"]
    }
    assert {each["group"] for each in grouped["smoking"]["groups"]} >= set(AREAS)


@pytest.mark.parametrize("kind", ["csv", "parquet", "sav"])
def test_an_export_is_one_file_with_all_that_is_needed_to_read_it(read, store, kind):
    told = read("/sample/export", format=kind)
    assert told.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(told.content)) as packed:
        names = packed.namelist()
    stem = f"sample-{datetime.datetime.now(datetime.UTC).date()}.{kind}"
    assert names == [stem, f"{stem}.codebook.md", f"{stem}.codebook.xml", f"{stem}.designs.json"]
    assert (log.entries(store)[0].who, log.entries(store)[0].about) == ("token all", "sample")


def test_a_token_opens_what_it_is_for_and_nothing_else(read, store):
    aggregates = tokens.create(store, "a", scopes=["read:aggregates"])[1]
    export = tokens.create(store, "e", scopes=["read:export"], survey="empty")[1]
    gone = tokens.create(store, "g", scopes=tokens.SCOPES)
    tokens.revoke(store, gone[0].id)
    cases = [
        (aggregates, "/sample/aggregates", 200),
        (aggregates, "/sample/export", 403),
        (export, "/sample/export", 403),  # another survey
        (export, "/nowhere/export", 403),  # whether it exists is not told
        (export, "/empty/aggregates", 403),
        (export, "/empty/export", 409),
        (export, "", 403),
        (aggregates, "/nowhere/aggregates", 404),
        (gone[1], "", 401),
        (None, "", 401),
        (aggregates[:-1], "", 401),
        ("x" * 10_000, "", 401),
    ]
    for token, path, status in cases:
        told = read(path, token=token)
        assert told.status_code == status, (path, told.text)
        assert status == 200 or set(told.json()) == {"error"}
        if status == 401:
            assert told.headers["www-authenticate"] == "Bearer"


def test_a_token_is_not_taken_from_the_address_or_a_cookie(client, secret):
    for options in ({"params": {"token": secret, "access_token": secret}}, {"headers": {"cookie": f"token={secret}"}}):
        assert client.get(SURVEYS, **options).status_code == 401
    assert client.get(SURVEYS, headers={"authorization": f"Basic {secret}"}).status_code == 401


def test_what_cannot_be_understood_is_said(read):
    assert "no texts in 'fr'" in read("/sample/aggregates", language="fr").json()["error"]["message"]
    assert "no plain question 'shoes'" in read("/sample/aggregates", by="shoes").json()["error"]["message"]
    assert read("/sample/export", format="exe").json()["error"]["code"] == "malformed"
    assert read("/sample/aggregates", by="income").status_code == 422


def test_requests_are_bounded(store, secret):
    from naysay.collect.api import api

    with TestClient(api(store, address_limit=3)) as bounded:
        asked = [bounded.get("/v1/surveys", headers={"authorization": f"Bearer {secret}"}) for _ in range(5)]
    assert [told.status_code for told in asked] == [200, 200, 200, 429, 429]
    assert int(asked[-1].headers["retry-after"]) > 0


def test_a_preview_has_no_api():
    with TestClient(create_app([sample()])) as client:
        assert client.get(SURVEYS).status_code == 404


BOUNDED = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_nothing_is_answered_against_the_description(store, secret):
    """By schemathesis: with a token that is good, and with made-up ones."""
    with background(create_app(store=store, each=0, everybody=0)) as server:
        schema = schemathesis.openapi.from_url(f"{server}/api/openapi.json", config=SchemathesisConfig(seed=18))
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in operations:
            check(operation, {"Authorization": f"Bearer {secret}"})
    assert len(operations) == 6


def check(operation, headers):
    @BOUNDED
    @given(case=operation.as_strategy())
    def holds(case):
        case.path_parameters = case.path_parameters and {"name": "sample"}
        for sent in (headers, {}):
            case.call_and_validate(
                headers=sent, excluded_checks=[positive_data_acceptance]
            )  # not every text is a language

    holds()


def test_a_tally_of_reports_is_the_file_that_estimates_read(client, secret, store, tmp_path):
    design = designs.k_ary(("list", "map"), epsilon=1)
    topic = reports.open_topic(store, design, question="crash", wave="1")
    cells = {Cell(*topic, "", "report", place): people for place, people in enumerate((30, 12))}
    store.add([Reports(cells, today())])
    known = {"authorization": f"Bearer {secret}"}
    (listed,) = client.get("/api/v1/reports", headers=known).json()["reports"]
    assert (listed["design"], listed["question"], listed["reports"]) == (design.hash, "crash", 42)
    found = client.get("/api/v1/reports/tally", params={"question": "crash"}, headers=known)
    (tmp_path / "crash.tally").write_bytes(found.content)
    assert Tally.load(tmp_path / "crash.tally").counts.tolist() == [30, 12]
    assert client.get("/api/v1/reports/tally", params={"question": "other"}, headers=known).status_code == 422
    one = tokens.create(store, "one survey", scopes=["read:aggregates"], survey="sample")[1]
    for path in ("", "/tally"):
        assert client.get(f"/api/v1/reports{path}").status_code == 401
        forbidden = client.get(f"/api/v1/reports{path}", headers={"authorization": f"Bearer {one}"})
        assert forbidden.status_code == 403
