import io
import json
import logging
import socket
import sqlite3
import stat
import sys
import threading
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy.engine import make_url

from naysay.collect import Client, Published, serving
from naysay.collect.admin.account import Account
from naysay.collect.app import create_app
from naysay.collect.commands import serve as serve_command
from naysay.collect.questionnaire import sample
from naysay.collect.server import keys as certificates
from naysay.collect.storage import Reply, Store, today


@pytest.fixture
def asked(tmp_path):
    """A questionnaire in the folder, and its name."""
    (tmp_path / "survey.json").write_bytes(sample().to_json())
    return "survey.json"


@pytest.fixture
def served(monkeypatch):
    """What `naysay serve` would serve; it returns at once."""
    applications = []
    monkeypatch.setattr(serving, "serve", lambda app, *_: applications.append(app))
    return applications


@pytest.fixture(autouse=True)
def quiet():
    """Loggers as they were before."""
    loggers = [logging.getLogger(name) for name in (None, "naysay")]
    before = [(each, each.level, list(each.handlers)) for each in loggers]
    yield
    for each, level, handlers in before:
        each.setLevel(level)
        each.handlers = handlers


def test_serving_opens_surveys_and_prints_their_links(naysay, asked, served, tmp_path):
    code, out, _ = naysay("serve", asked, "--port", 0)
    assert code == 0
    assert out.startswith("http://127.0.0.1:")
    assert out.endswith("/s/sample\n")
    assert (tmp_path / "naysay-data" / "naysay.db").exists()
    assert [set(app.state.service.catalog.surveys) for app in served] == [{"sample"}]


def test_the_database_may_be_named_in_the_environment(naysay, asked, served, tmp_path, monkeypatch):
    monkeypatch.setenv("NAYSAY_DB", f"sqlite:///{tmp_path}/elsewhere.db")
    assert naysay("serve", asked, "--port", 0).code == 0
    assert (tmp_path / "elsewhere.db").exists()
    assert not (tmp_path / "naysay-data").exists()


def test_what_is_open_is_served_without_its_file(naysay, asked, served):
    naysay("survey", "open", asked)
    assert naysay("serve", "--port", 0).out.endswith("/s/sample\n")


def test_nothing_to_serve_is_said(refused, served):
    assert "there is no open survey to serve" in refused("serve", "--port", 0, "--no-admin")


def test_without_a_survey_the_admin_pages_are_served_and_the_link_sets_the_password_once(naysay, served, tmp_path):
    code, out, _ = naysay("serve", "--port", 0)
    assert code == 0
    key = out.strip().rpartition("/admin/setup/")[2]
    store = Store(tmp_path / "naysay-data" / "naysay.db")
    Account(store).set_password("correct horse battery", key=key)
    store.dispose()
    assert "set a password" not in naysay("serve", "--port", 0).out
    paths = [{route.path for route in app.router.routes} for app in served]
    assert all("/admin/login" in each for each in paths)


def test_without_admin_there_are_no_admin_pages(naysay, asked, served):
    _, _, err = naysay("serve", asked, "--port", 0, "--no-admin")
    assert "/admin/" not in err
    assert not any("admin" in route.path or "preview" in route.path for route in served[0].router.routes)


def test_a_closed_survey_is_not_opened_by_serving(naysay, asked, served):
    naysay("survey", "open", asked)
    naysay("survey", "close", "sample")
    code, _, err = naysay("serve", asked, "--port", 0, "--no-admin")
    assert code == 2
    assert "closed, and not opened by serving: sample" in err


def test_a_port_that_is_taken_is_told_with_the_way_out(refused, asked, served, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused("serve", asked, "--port", port)
    assert f"cannot serve at 127.0.0.1:{port}" in told
    assert "take another port with --port (0 takes a free one)" in told
    assert not (tmp_path / "naysay-data").exists()  # nothing is opened that is not served


def test_an_interrupt_that_is_repeated_still_ends_the_application(tmp_path, caplog):
    store = Store(tmp_path / "answers.db")
    app = create_app([sample()], store)
    server = serving._server(app)
    with serving.bound("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        server.force_exit = server.should_exit = True  # as uvicorn notes a second Ctrl+C
        thread.join(30)
    store.dispose()
    assert not thread.is_alive()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_an_address_of_another_computer_is_refused(refused, asked, served):
    assert "cannot serve at 192.0.2.1:0" in refused("serve", asked, "--host", "192.0.2.1", "--port", 0)


def test_starting_says_that_anyone_may_answer_any_number_of_times(naysay, asked, served):
    told = naysay("serve", asked, "--port", 0).err
    assert "note: sample: anyone who has the link can answer any number of times; 1 % of repeated or dishonest " in told
    assert "moves a share by up to 5 percentage points" in told  # its design with a sink moves most
    assert "any number of times" in " ".join(naysay("serve", "--help").out.split())


def test_a_link_that_other_devices_cannot_use_is_told_of(naysay, asked, served):
    for command in (("serve", asked), ("questionnaire", "preview", asked)):
        ran = naysay(*command, "--port", 0, "--host", "0.0.0.0")
        assert ran.out.startswith("http://127.0.0.1:")
        assert "other devices need HTTPS" in ran.err
        assert "other devices" not in naysay(*command, "--port", 0).err


def test_in_a_container_a_proxy_is_asked_for(naysay, asked, served, monkeypatch, tmp_path):
    def told(*words):
        return "FORWARDED_ALLOW_IPS" in naysay("serve", asked, "--port", 0, *words).err

    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.setattr(serve_command, "_CONTAINER", (str(tmp_path / "dockerenv"),))
    assert not told()
    (tmp_path / "dockerenv").touch()
    assert told()
    assert not told("--rate", 0)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "172.17.0.1")
    assert not told()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://u@db.example/x", True),
        ("postgresql://u@db.example/x?sslmode=require", True),
        ("postgresql://u@db.example/x?sslmode=verify-full", False),
        ("postgresql://u@localhost/x", False),
        ("postgresql://u@/x?host=/run/postgresql", False),
        ("sqlite:///x.db", False),
    ],
)
def test_a_database_elsewhere_is_to_be_verified(address, told, monkeypatch):
    opened = SimpleNamespace(engine=SimpleNamespace(url=make_url(address)))
    monkeypatch.delenv("PGSSLMODE", raising=False)
    found = list(serve_command._of_database(opened))
    assert ["sslmode=verify-full" in line for line in found] == [True] * told


def test_a_survey_with_an_older_page_is_told_of(naysay, tmp_path, served):
    store = Store(tmp_path / "old.db")
    store.open(Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})))
    store.dispose()
    serving = ("serve", "--db", "sqlite:///old.db", "--port", 0)
    assert "naysay survey renew sample" in naysay(*serving).err
    naysay("survey", "renew", "sample", "--db", "sqlite:///old.db")
    assert "naysay survey renew sample" not in naysay(*serving).err


def test_every_problem_of_a_questionnaire_has_a_line_of_its_own(naysay, tmp_path, served):
    """Three problems were one line of 800 characters."""
    form = sample().form()
    form["items"] = [{**form["items"][0], "name": name} for name in ("a", "a", "1", "b", "b")]
    (tmp_path / "bad.json").write_text(json.dumps(form))
    code, _, err = naysay("serve", "bad.json", "--port", 0)
    first, *problems = err.splitlines()
    assert code == 2
    assert first == f"naysay: bad.json cannot be fielded; {len(problems)} problems:"
    assert len(problems) == 3
    assert all(line.startswith("  error: ") for line in problems)


def test_a_database_that_cannot_be_opened_is_told(refused, asked, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "the database cannot be opened" in refused("serve", asked, "--db", "sqlite:///folder")
    told = refused("serve", asked, "--db", "postgresql://secret-user:secret-word@127.0.0.1:1/x")
    assert "the database cannot be opened" in told
    assert "secret-word" not in told
    assert "a database is sqlite:///FILE" in refused("serve", asked, "--db", "mysql://host/x")


def test_a_folder_that_cannot_be_made_is_told(refused, asked, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot write to 'file" in refused("serve", asked, "--data", "file/x")


def test_another_questionnaire_of_that_name_is_refused(naysay, refused, asked, served, tmp_path):
    naysay("serve", asked, "--port", 0)
    other = sample().model_copy(update={"thanks": {}})
    (tmp_path / "survey.json").write_bytes(other.to_json())
    assert "does not change once it is open" in refused("serve", asked, "--port", 0)
    assert naysay("survey", "open", asked, "--replace").code == 0


def test_a_preview_stores_nothing(naysay, asked, served, tmp_path):
    code, out, _ = naysay("questionnaire", "preview", asked, "--port", 0)
    assert (code, out.endswith("/s/sample\n")) == (0, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.json"]
    assert served[0].state.service.line.healthy


def answered(folder):
    """One reply to the sample in the folder's database."""
    store = Store(folder / "naysay-data" / "naysay.db")
    digest = store.surveys()[0].hash
    store.add([Reply("sample", digest, "a" * 32, "{}", today())])
    store.dispose()


def test_surveys_are_listed(naysay, asked, tmp_path):
    Store(tmp_path / "empty.db").dispose()
    listed = naysay("survey", "list", "--format", "json", "--db", f"sqlite:///{tmp_path}/empty.db")
    assert json.loads(listed.out) == {"surveys": []}
    naysay("survey", "open", asked)
    answered(tmp_path)
    (found,) = json.loads(naysay("survey", "list", "--format", "json").out)["surveys"]
    assert (found["name"], found["state"], found["replies"], found["closed"]) == ("sample", "open", 1, None)
    assert found["opened"] == today().isoformat()
    assert len(found["hash"]) == 64
    assert "sample" in naysay("survey", "list").out


def test_a_survey_is_opened_closed_and_opened_again(naysay, asked):
    assert "sample is open, with the hash " in naysay("survey", "open", asked).out
    assert naysay("survey", "close", "sample").out == "sample is closed\n"
    assert json.loads(naysay("survey", "list", "--format", "json").out)["surveys"][0]["state"] == "closed"
    code, out, err = naysay("survey", "open", "sample")
    assert (code, "sample is open" in out) == (0, True)
    assert "counts as another" in err


def test_a_survey_is_renewed_with_both_hashes(naysay, asked, tmp_path):
    store = Store(tmp_path / "old.db")
    old = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    store.open(old)
    store.dispose()
    renew = ("survey", "renew", "sample", "--db", "sqlite:///old.db")
    told = naysay(*renew).out.splitlines()
    assert told == ["sample is renewed", f"hash before: {old.hash}", f"hash now:    {told[-1].split()[-1]}"]
    assert naysay(*renew).out == f"sample has the page of this naysay already; its hash stays {told[-1].split()[-1]}\n"


def test_only_what_opens_a_survey_makes_a_database(naysay, refused, asked, tmp_path):
    for command in (("list",), ("close", "x"), ("delete", "x", "--yes"), ("open", "x"), ("renew", "x")):
        for where in ((), ("--db", "sqlite:///typo.db"), ("--data", "typo")):
            assert "there is no database " in refused("survey", *command, *where)
    assert "there is no database " in refused("estimate", "--survey", "x", "--db", "sqlite:///typo.db")
    assert [path.name for path in tmp_path.iterdir()] == [asked]


def test_nobody_else_looks_into_the_folder(naysay, asked, tmp_path):
    naysay("survey", "open", asked)
    assert stat.S_IMODE((tmp_path / "naysay-data").stat().st_mode) == 0o700


def test_names_that_are_not_there(naysay, refused, asked):
    naysay("survey", "open", asked)
    for command in ("open", "close"):
        assert "there is no survey 'gone'" in refused("survey", command, "gone")
    assert "there is no survey 'gone'" in refused("survey", "delete", "gone", "--yes")
    assert "--replace needs the new questionnaire" in refused("survey", "open", "gone", "--replace")


@pytest.mark.parametrize(("said", "deleted"), [("y\n", True), ("n\n", False), ("", False), ("\n", False)])
def test_deleting_asks_first(naysay, asked, monkeypatch, said, deleted):

    naysay("survey", "open", asked)
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    code, _, err = naysay("survey", "delete", "sample")
    assert code == (0 if deleted else 2)
    assert ("was not deleted" in err) is not deleted
    left = json.loads(naysay("survey", "list", "--format", "json").out)["surveys"]
    assert [each["name"] for each in left] == ([] if deleted else ["sample"])


def test_a_database_that_fails_on_the_way_is_told(naysay, refused, asked, tmp_path, monkeypatch):
    naysay("survey", "open", asked)

    def locked(store):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(Store, "settle", locked)
    assert refused("survey", "close", "sample") == "the database failed: database is locked; run the command again"


def test_deleting_with_yes_does_not_ask(naysay, asked):
    naysay("survey", "open", asked)
    told = naysay("survey", "delete", "sample", "--yes", "--receipt", "receipt.json").out
    assert told.startswith("sample is deleted\nSurvey sample was deleted on ")
    assert json.loads(Path("receipt.json").read_text())["replies"] == 0


def test_without_the_extra_it_is_named(refused, asked, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy.exc", None)
    assert "pip install 'naysay[collect]'" in refused("serve", asked)


def test_serving_in_the_background_ends_with_the_context():

    app = create_app([sample()], client=Client({"survey.html": b"<!doctype html>"}))
    with serving.background(app) as link, urllib.request.urlopen(f"{link}/health") as answer:
        assert json.load(answer) == {"status": "ok"}
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{link}/health")


def test_ipv6_addresses_are_links_too():
    class Socket:
        def getsockname(self):
            return ("::1", 8000, 0, 0)

    assert serving.url_of(Socket()) == "http://[::1]:8000"


def test_a_phone_gets_a_link_a_code_and_words_about_the_warning(naysay, asked, served, monkeypatch):
    monkeypatch.setattr(serve_command, "_CONTAINER", ())
    monkeypatch.setattr("naysay.collect.server.keys.own_address", lambda: "192.0.2.7")
    code, out, err = naysay("serve", asked, "--port", 0, "--phone")
    assert code == 0
    assert out.startswith("https://192.0.2.7:")
    assert out.splitlines()[0].endswith("/s/sample")
    assert "█" in out
    assert "the browser warns that the connection is not private" in err
    assert "fingerprint of the certificate (SHA-256): " in err
    assert "other devices need HTTPS" not in err


def test_a_phone_needs_a_network(naysay, asked, served, monkeypatch):
    monkeypatch.setattr("naysay.collect.server.keys.own_address", lambda: None)
    assert "this computer is in no network" in naysay("serve", asked, "--port", 0, "--phone").err
    alone = naysay("serve", asked, "--port", 0, "--phone", "--host", "127.0.0.1")
    assert "this address is for this computer alone" in alone.err
    assert alone.out.startswith("https://127.0.0.1:")


def test_a_real_certificate_needs_no_words(naysay, asked, served):
    with certificates.temporary_certificate(["127.0.0.1"]) as own:
        ran = naysay("serve", asked, "--port", 0, "--certificate", own.certificate, "--key", own.key)
    assert ran.code == 0
    assert ran.out.startswith("https://127.0.0.1:")
    assert "browser warns" not in ran.err


def test_a_certificate_needs_its_key(refused, asked, served):
    assert "--certificate and --key belong together" in refused("serve", asked, "--certificate", "x.pem")


def test_a_preview_for_phones_speaks_https_and_shows_a_code(naysay, asked, served, monkeypatch):
    monkeypatch.setattr("naysay.collect.server.keys.own_address", lambda: "192.0.2.7")
    code, out, err = naysay("questionnaire", "preview", asked, "--phone", "--port", 0)
    assert code == 0
    assert out.startswith("https://192.0.2.7:")
    assert "fingerprint of the certificate" in err


def test_webhooks_are_checked_before_anything_is_served(naysay, asked, served, monkeypatch):
    assert "a webhook must be an address https://" in naysay("serve", asked, "--webhook", "http://example.org/").err
    assert (
        "the secret of webhooks must have 16 letters" in naysay("serve", asked, "--webhook", "https://example.org/").err
    )
    monkeypatch.setenv("NAYSAY_WEBHOOK_SECRET", "a secret of some length")
    assert naysay("serve", asked, "--webhook", "https://example.org/", "--port", 0).code == 0


@pytest.fixture
def unprotected(tmp_path):
    """A questionnaire about drugs without a private question, with one thing that the checker warns of."""
    label = {"en": "Do you take <b>drugs</b>?"}
    item = {"kind": "select_one", "name": "drugs", "label": label}
    item["choices"] = [{"name": name, "label": {"en": name}} for name in ("yes", "no")]
    form = {"naysay": "questionnaire", "version": 1, "name": "drugs", "title": {"en": "Drugs"}, "languages": ["en"]}
    (tmp_path / "drugs.json").write_text(json.dumps({**form, "items": [item]}))
    return "drugs.json"


@pytest.mark.parametrize("command", [("serve", "--port", 0), ("survey", "open")])
def test_a_survey_without_a_private_question_is_not_opened_unless_somebody_agrees(
    naysay, unprotected, served, command, monkeypatch
):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, _, err = naysay(*command, unprotected)
    assert code == 2
    assert "drugs: no question is private; every answer is sent as it is" in err
    assert "'drugs' was not opened" in err
    assert "warning: " in err
    assert "'<b>'" in err
    assert not served
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    code, _, err = naysay(*command, unprotected)
    assert (code, "no question is private" in err) == (0, True)


@pytest.mark.parametrize("command", [("serve", "--port", 0), ("survey", "open")])
def test_scripts_open_it_with_yes_and_nobody_is_asked_again(naysay, unprotected, served, command):
    code, _, err = naysay(*command, unprotected, "--yes")
    assert (code, "no question is private" in err) == (0, True)
    assert naysay(*command, unprotected)[0] == 0


def test_what_is_sent_as_it_is_stands_beside_private_questions(naysay, asked, served):
    _, _, err = naysay("survey", "open", asked)
    assert "sample: sent as they are: age, area, " in err
