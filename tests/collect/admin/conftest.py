"""Somebody at the admin pages, without a browser: they keep the cookie, and send the forms that they were given."""

import re
import uuid
from urllib.parse import urlencode

import pytest
from argon2 import PasswordHasher

from naysay.collect.admin.account import Account

PASSWORD = "correct horse battery"
HERE = "127.0.0.1"


class Visitor:
    """Requests from one browser; `token` is that of the last page which had one."""

    def __init__(self, running, address=HERE):
        self.running, self.address = running, address
        self.cookie = self.token = ""

    def ask(self, method, path, content=b"", **headers):
        headers = {"cookie": self.cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
        found = self.running.ask(method, path, content, headers, address=self.address)
        if "set-cookie" in found.headers:
            self.cookie = found.headers["set-cookie"].partition(";")[0]
        if token := re.search(rb'name="form_token" value="(\w+)"', found.content):
            self.token = token[1].decode()
        return found

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, fields=None, *, files=None, headers=None):
        fields = {"form_token": self.token, **(fields or {})}
        if not files:
            kind = {"content_type": "application/x-www-form-urlencoded"}
            return self._sent(path, urlencode(fields).encode(), {**kind, **(headers or {})})
        line = uuid.uuid4().hex
        parts = [f'name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
        for name, (file, content) in files.items():
            parts.append(f'name="{name}"; filename="{file}"\r\n\r\n'.encode() + content)
        body = b"".join(f"--{line}\r\nContent-Disposition: form-data; ".encode() + each + b"\r\n" for each in parts)
        kind = {"content_type": f"multipart/form-data; boundary={line}"}
        return self._sent(path, body + f"--{line}--\r\n".encode(), {**kind, **(headers or {})})

    def _sent(self, path, body, headers):
        return self.ask("POST", path, body, **{"content_length": str(len(body)), **headers})

    def upload(self, name, content):
        return self.post("/admin/upload", files={"questionnaire": (name, content)})

    def log_in(self, password=PASSWORD, **fields):
        found = self.post("/admin/login", {"password": password, **fields})
        if found.status == 303:
            self.get("/admin/")
        return found


@pytest.fixture(autouse=True)
def hasher(monkeypatch):
    """Argon2 with the least memory, so that tests that try many passwords are quick."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("naysay.collect.admin.account._ARGON2", quick)
    return quick


@pytest.fixture
def office(run, store, client, published):
    """An application with a survey, admin pages and a password."""
    Account(store).set_password(PASSWORD)
    return run([published], store, client=client, admin=True)


@pytest.fixture
def visitor(office):
    """Somebody who is not logged in."""
    return Visitor(office)


@pytest.fixture
def admin(visitor):
    """Somebody who is logged in."""
    assert visitor.log_in().status == 303
    return visitor
