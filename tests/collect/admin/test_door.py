"""The door: who is let in, under which secret, and that no other page, site or line gets a foot in it."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pyotp
import pytest
from argon2 import PasswordHasher, Type
from starlette.routing import Route

from naysay import DataError
from naysay.collect.admin import account as accounts
from naysay.collect.admin import log
from naysay.collect.admin.account import Account, Sessions
from naysay.collect.admin.visits import POLICY
from naysay.collect.server.guard import SECURITY, Tries
from naysay.collect.storage import Store
from naysay.collect.storage.tables import session as session_table

from .conftest import PASSWORD, Visitor

ARGON2 = accounts._ARGON2
HALF_AN_HOUR, HALF_A_DAY = 30 * 60, 12 * 60 * 60  # what is promised, in seconds, and not what the code says
OPEN = {"/admin/login", "/admin/setup/{key}", "/admin"}


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "a.db")
    yield found
    found.dispose()


def routes(office, method):
    found = [each for each in office.app.router.routes if isinstance(each, Route) and each.path.startswith("/admin")]
    known = {"name": "kinds", "key": "0" * 43, "kind": "json", "rest": "x"}
    chosen = [each for each in found if method in each.methods and not each.path.endswith(".css")]
    return {each.path: re.sub(r"\{(\w+)(:path)?\}", lambda part: known[part[1]], each.path) for each in chosen}


def test_without_a_session_every_page_leads_to_the_login_and_every_act_does_nothing(office, store):
    stranger = Visitor(office)
    pages, acts = routes(office, "GET"), routes(office, "POST")
    assert len(pages) > 10
    assert len(acts) > 20
    for path, address in pages.items():
        found = stranger.get(address)
        assert path in OPEN or (found.status, found.headers["location"]) == (303, "/admin/login"), path
        assert b"kinds" not in found.content
    for path, address in acts.items():
        found = stranger.post(address, {"confirmed": "kinds", "password": "x" * 20, "again": "x" * 20})
        assert path in OPEN or found.headers["location"].startswith("/admin/login"), path
    assert [each.closed for each in store.surveys()] == [None]
    assert [entry.what for entry in log.entries(store)] == ["wrong password"]


def test_every_act_needs_the_token_of_its_own_session_and_comes_from_this_site(office, admin, store):
    other = Visitor(office)
    other.log_in()
    before = [(entry.what, entry.about) for entry in log.entries(store)]
    for path, address in routes(office, "POST").items():
        if path in OPEN:
            continue
        for token in ("", other.token, admin.token[:-1], admin.cookie.partition("=")[2], "é"):
            assert admin.post(address, {"form_token": token, "confirmed": "kinds"}).status == 403, path
        for site in ("cross-site", "same-site"):
            sent = {"confirmed": "kinds"}
            assert admin.post(address, sent, headers={"sec_fetch_site": site}).status == 403, path
    assert [(entry.what, entry.about) for entry in log.entries(store)] == before
    assert [each.closed for each in store.surveys()] == [None]
    assert admin.get("/admin/surveys/kinds/close").status == 404  # nothing changes by being looked at
    assert admin.post("/admin/surveys/kinds/close").status == 303
    assert store.surveys()[0].closed is not None


def test_another_site_can_log_nobody_in(visitor):
    found = visitor.post("/admin/login", {"password": PASSWORD}, headers={"sec_fetch_site": "cross-site"})
    assert found.status == 403
    assert "set-cookie" not in found.headers


def test_the_cookie_is_sent_to_admin_pages_only_and_no_script_reads_it(office, visitor):
    found = visitor.log_in()
    name, _, attributes = found.headers["set-cookie"].partition("=")
    assert name == "naysay-admin"
    assert attributes.partition("; ")[2].lower() == "httponly; path=/admin; samesite=strict"
    secure = Visitor(office, "192.0.2.1")
    office.app.state.desk.tries._each = 0
    scope = {"scheme": "https"}
    original = office.app.middleware_stack

    async def https(given, receive, send):
        await original({**given, **scope}, receive, send)

    office.app.middleware_stack = https
    attributes = secure.log_in().headers["set-cookie"]
    assert attributes.startswith("__Secure-naysay-admin=")
    assert attributes.endswith("; Secure")
    assert secure.get("/admin/").status == 200


def test_no_password_goes_over_a_line_that_others_read(office):
    for address in ("192.0.2.1", "2001:db8::1", "10.0.0.1"):
        far = Visitor(office, address)
        for found in (far.get("/admin/login"), far.log_in(), far.get("/admin/")):
            assert found.status == 403
            assert b"need HTTPS" in found.content
            assert "set-cookie" not in found.headers
    near = Visitor(office, "::1")
    assert near.get("/admin/login").status == 200
    assert near.get("/admin/login", host="127.0.0.1:8000").status == 200
    assert near.get("/admin/login", host="[::1]:8000").status == 200
    assert near.get("/admin/login", host="survey.example.org").status == 403  # a proxy here, or a name that leads here


def test_respondents_get_no_cookie_and_the_same_bytes_whoever_asks(office, admin, published, answers, write_body):
    """The admin pages leave no trace on the pages of respondents, even in the browser of an admin."""
    for path in (
        "/",
        "/s/kinds",
        "/s/kinds/survey.json",
        "/threats",
        "/health",
        f"/client/{published.client.hash}/style.css",
    ):
        plain, known = office.get(path), office.ask("GET", path, headers={"cookie": admin.cookie})
        assert plain.content == known.content
        assert plain.headers.keys() == known.headers.keys()
        assert "set-cookie" not in known.headers
    headers = {"content-type": "application/json", "cookie": admin.cookie}
    taken = office.post(write_body(published, answers), headers=headers)
    assert taken.status == 201
    assert "set-cookie" not in taken.headers
    assert office.get("/s/kinds").headers["content-security-policy"] != POLICY


def test_every_admin_page_runs_no_script_and_is_not_kept(office, admin):
    for path, address in routes(office, "GET").items():
        found = admin.get(address)
        if not found.content or "questionnaire" in path:
            continue
        in_frame = path.endswith("/live")  # the one page that another admin page may show in a frame
        policy = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'") if in_frame else POLICY
        assert found.headers["content-security-policy"] == policy, path
        assert found.headers["cache-control"] == "no-store"
        assert set(SECURITY) <= set(found.headers)
        assert not re.search(rb"<script|<style| style=| on\w+=|javascript:", found.content)


# Sessions


def test_a_session_that_somebody_fixed_is_not_taken_over(office, visitor, store):
    """An attacker who can set a cookie in the browser of an admin knows nothing after the login."""
    planted = "A" * 43
    visitor.cookie = f"naysay-admin={planted}"
    visitor.log_in()
    first = visitor.cookie
    assert planted not in first
    attacker = Visitor(office)
    attacker.cookie = f"naysay-admin={planted}"
    assert attacker.get("/admin/").status == 303
    visitor.log_in()
    assert visitor.cookie != first
    attacker.cookie = first
    assert attacker.get("/admin/").status == 303  # the session before the login is over


def test_a_session_ends_when_nothing_happens_and_after_half_a_day(store):
    now = [time.time()]
    sessions = Sessions(store, clock=lambda: now[0])
    idle, late, busy = (sessions.begin().secret for _ in range(3))
    began = now[0]
    now[0] += HALF_AN_HOUR
    assert sessions.find(late)
    assert sessions.find(busy)
    now[0] += 1
    assert sessions.find(idle) is None
    watching = sessions.begin().secret
    for _ in range(3):  # what a browser fetches by itself keeps no session going
        now[0] += HALF_AN_HOUR / 3
        assert sessions.find(watching, noted=False)
        assert sessions.find(busy)
    now[0] += 1
    assert sessions.find(watching, noted=False) is None
    while now[0] + HALF_AN_HOUR - 2 <= began + HALF_A_DAY:
        now[0] += HALF_AN_HOUR - 2
        assert sessions.find(busy)
    now[0] = began + HALF_A_DAY + 1
    assert sessions.find(busy) is None
    sessions.begin()
    with store.engine.connect() as connection:
        assert len(connection.execute(session_table.select()).all()) == 1  # those that are over are deleted


def test_logging_out_ends_the_session_on_the_server(office, admin):
    kept = admin.cookie
    assert admin.post("/admin/logout").status == 303
    assert admin.cookie == 'naysay-admin=""'
    admin.cookie = kept
    assert admin.get("/admin/").status == 303


def test_another_password_and_logging_out_everywhere_end_all_sessions(office, admin, store):
    other = Visitor(office)
    other.log_in()
    new = {"password": "another horse battery", "again": "another horse battery"}
    assert admin.post("/admin/account/password", {"old": "wrong", **new}).status == 422
    assert admin.post("/admin/account/password", {"old": PASSWORD, **new, "again": "x"}).status == 422
    assert admin.post("/admin/account/password", {"old": PASSWORD, **new}).status == 303
    assert other.get("/admin/").status == 303
    assert admin.get("/admin/").status == 200
    assert other.log_in().status == 403
    assert other.log_in(new["password"]).status == 303
    other.post("/admin/logout-all")
    assert admin.get("/admin/").status == 303


def test_neither_password_nor_cookie_is_stored(office, admin, store, tmp_path):
    store.settle()
    content = (tmp_path / "a.db").read_bytes()
    for secret in (PASSWORD, admin.cookie.partition("=")[2], admin.token):
        assert secret.encode() not in content
    assert b"$argon2id$" in content


# Passwords


def test_the_first_password_is_set_once_by_the_latest_link(run, store, client, published):
    office = run([published], store, client=client, admin=True)
    account = Account(store)
    old, key = account.setup(), account.setup()
    visitor = Visitor(office)
    assert visitor.log_in("").status == 403
    assert visitor.get(f"/admin/setup/{old}").status == 404
    assert visitor.get(f"/admin/setup/{key}").status == 200
    for given, told in (
        ({"password": "short", "again": "short"}, b"12 to 1,000 characters; got 5"),
        ({"password": "a" * 20, "again": "a" * 20}, b"5 different"),
        ({"password": PASSWORD, "again": PASSWORD + " "}, b"differ"),
    ):
        found = visitor.post(f"/admin/setup/{key}", given)
        assert found.status == 422
        assert told in found.content
    given = {"password": PASSWORD, "again": PASSWORD}
    assert visitor.post(f"/admin/setup/{old}", given).status == 422
    assert visitor.post(f"/admin/setup/{key}", given).status == 303
    assert visitor.get("/admin/").status == 200
    late = Visitor(office)
    assert late.get(f"/admin/setup/{key}").status == 404
    assert late.post(f"/admin/setup/{key}", given).status == 422
    assert account.setup() is None


def test_a_setup_link_is_void_after_a_day(store):
    now = [1e9]
    account = Account(store, clock=lambda: now[0])
    key = account.setup()
    now[0] += accounts.SETUP
    with pytest.raises(DataError, match="this link is void"):
        account.set_password(PASSWORD, key=key)
    assert not account.has_password


def test_a_password_is_the_same_from_every_keyboard(store):
    account = Account(store)
    account.set_password("pässword für mich")
    assert account.is_right("pa\u0308ssword fu\u0308r mich")
    assert not account.is_right("passwort fur mich")


def test_trying_passwords_is_throttled_and_the_right_one_does_not_help_then(office, visitor, store):
    statuses = [visitor.log_in(f"guess number {n}").status for n in range(12)]
    assert statuses == [403] * 10 + [429] * 2
    blocked = visitor.log_in()
    assert blocked.status == 429
    assert 0 < int(blocked.headers["retry-after"]) <= 60
    near = Visitor(office, "127.0.0.2")
    assert near.log_in().status == 303
    assert [entry.what for entry in log.entries(store)] == ["logged in", "wrong password"]


def test_many_addresses_together_get_few_tries(office):
    statuses = [Visitor(office, f"127.0.1.{n}").log_in("wrong").status for n in range(64)]
    assert statuses == [403] * 60 + [429] * 4


def test_a_try_is_hashed_also_where_no_password_is_set(store, monkeypatch):
    """Else the time would tell whether there is one; and what is hashed costs memory and time as RFC 9106 asks."""
    assert (ARGON2.type, ARGON2.memory_cost, ARGON2.time_cost) == (Type.ID, 65_536, 3)
    tried = []
    monkeypatch.setattr("naysay.collect.admin.account._ARGON2", Counting(tried))
    assert not Account(store).is_right("wrong")
    Account(store).set_password(PASSWORD)
    assert not Account(store).is_right("wrong")
    assert tried == ["wrong", "wrong"]


class Counting(PasswordHasher):
    """Remembers what was verified."""

    def __init__(self, tried):
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.tried = tried

    def verify(self, hash, password):
        self.tried.append(password)
        return super().verify(hash, password)


# The second factor


def test_a_code_is_needed_good_once_and_only_for_a_minute(store):
    now = [1e9]
    account = Account(store, clock=lambda: now[0])
    account.set_password(PASSWORD)
    secret = pyotp.random_base32()
    with pytest.raises(DataError, match="not the code that the app shows now"):
        account.start_second_factor(secret, "000000" if pyotp.TOTP(secret).at(int(1e9)) != "000000" else "111111")
    account.start_second_factor(secret, pyotp.TOTP(secret).at(int(now[0])))
    assert not account.is_right(PASSWORD)
    assert not account.is_right(PASSWORD, pyotp.TOTP(secret).at(int(now[0])))  # used a moment ago
    now[0] += 300
    code = pyotp.TOTP(secret).at(int(now[0]))
    assert not account.is_right("wrong horse battery", code)
    assert not account.is_right(PASSWORD, pyotp.TOTP(secret).at(int(now[0]) - 60))
    assert account.is_right(PASSWORD, f"{code[:3]} {code[3:]}")
    assert not account.is_right(PASSWORD, code)
    assert not account.is_right(PASSWORD, pyotp.TOTP(secret).at(int(now[0]) - 30))  # an earlier one that was seen
    now[0] += 60
    for junk in ("", "abcdef", "１２３４５６", "9" * 5_000, "\0"):
        assert not account.is_right(PASSWORD, junk)


def test_the_second_factor_is_turned_on_and_off_from_the_page(office, admin, store):
    page = admin.get("/admin/account").content
    secret = re.search(rb'name="secret" value="(\w+)"', page)[1].decode()
    now = pyotp.TOTP(secret).now()
    assert admin.post("/admin/account/factor", {"secret": secret, "new_code": now, "old": "wrong"}).status == 422
    assert admin.post("/admin/account/factor", {"secret": "x", "new_code": now, "old": PASSWORD}).status == 422
    assert admin.post("/admin/account/factor", {"secret": secret, "new_code": now, "old": PASSWORD}).status == 303
    other = Visitor(office)
    assert b"Code from your phone" in other.get("/admin/login").content
    assert other.log_in().status == 403
    later = pyotp.TOTP(secret).at(int(time.time()) + 30)
    assert other.log_in(code=later).status == 303
    admin.get("/admin/account")
    assert admin.post("/admin/account/factor-off", {"old": PASSWORD, "code": later}).status == 422
    Account(store).stop_second_factor()
    assert Visitor(office).log_in().status == 303


def test_codes_that_are_guessed_at_once_are_counted_before_they_are_compared(store, monkeypatch):
    secret = pyotp.random_base32()
    account = Account(store)
    account.set_password(PASSWORD)
    account.start_second_factor(secret, pyotp.TOTP(secret).now())
    compared = []
    monkeypatch.setattr(Account, "_spend", lambda _, __, code: compared.append(code) or time.sleep(0.1))
    codes = Tries(10, window=3_600)
    with ThreadPoolExecutor(24) as threads:
        found = list(threads.map(lambda _: account.wrong(PASSWORD, "000000", codes=codes), range(24)))
    assert len(compared) == 10
    assert sorted(found) == ["code"] * 10 + ["tries"] * 14


def test_ten_tries_an_hour_are_ten_in_any_hour_and_a_right_code_is_none_of_them():
    seconds = [3_590.0]
    tries = Tries(10, window=3_600, clock=lambda: seconds[0])
    for _ in range(20):
        assert tries.take() == 0
        tries.give_back()
    assert [tries.take() for _ in range(10)] == [0] * 10
    seconds[0] = 3_610.0
    assert tries.take() == 3_580
    seconds[0] = 7_190.0
    assert tries.take() == 0


def test_whoever_guesses_codes_behind_the_right_password_gets_ten_an_hour_and_is_noted(office, store, monkeypatch):
    secret = pyotp.random_base32()
    Account(store).start_second_factor(secret, pyotp.TOTP(secret).now())
    right = {pyotp.TOTP(secret).at(int(time.time()) + 30 * near) for near in range(-3, 40)}
    guesses = [code for code in map("{:06d}".format, range(200)) if code not in right]
    seconds, desk = [0.0], office.app.state.desk
    for limit in (desk.tries, desk.wrong_codes):
        limit._clock = lambda: seconds[0]
    desk.tries._renew()
    thief = Visitor(office)
    statuses = []
    for minute, guess in enumerate(guesses[:55]):
        seconds[0] = 61.0 * minute
        statuses.append(thief.log_in(code=guess).status)
    assert statuses[:10] == [403] * 10
    assert set(statuses[10:]) == {429}
    noted = [entry for entry in log.entries(store) if entry.what == "wrong code"]
    assert len(noted) == 10
    assert all("the password was right" in entry.detail for entry in noted)
