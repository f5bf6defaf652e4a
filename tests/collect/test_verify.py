"""What is published can be compared with what is served: whatever is changed is found."""

import functools

import pytest

from naysay.cli import main
from naysay.collect import Client, Published
from naysay.collect.app import create_app
from naysay.collect.client import FOLDER
from naysay.collect.questionnaire import sample
from naysay.collect.serving import background
from naysay.collect.verify import verify


@functools.cache
def genuine():
    """One application for all tests: it packs each document once."""
    return create_app([sample()])


def changing(path, change=None, header=None, when=lambda scope: True):
    """The genuine application, with another body at a path, or another header, where a request is as `when` says."""
    app = genuine()

    async def lying(scope, receive, send):
        if scope["type"] != "http" or not scope["path"].startswith(path) or not when(scope):
            await app(scope, receive, send)
            return
        plain = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
        said = []

        async def keep(message):
            said.append(message)

        await app({**scope, "headers": plain}, receive, keep)
        body = b"".join(message.get("body", b"") for message in said[1:])
        headers = [each for each in said[0]["headers"] if each[0] != b"content-length"]
        if header is not None:
            headers = [each for each in headers if each[0] != header[0]] + [header] * (header[1] is not None)
        await send({**said[0], "headers": headers})
        await send({"type": "http.response.body", "body": change(body) if change else body})

    return lying


@pytest.fixture(scope="module")
def approved():
    return Published.of(sample(), preview=True).hash


def test_a_genuine_server_differs_in_nothing(approved, capsys):
    with background(genuine()) as server:
        verdict = verify(f"{server}/s/sample#invitation", hash=approved.upper())
        assert (verdict.hash, verdict.differences) == (approved, ())
        assert {"/s/sample", "/s/sample/survey.json", "/threats?lang=ar", "/"} <= set(verdict.compared)
        assert main(["verify", f"{server}/s/sample", "--hash", approved]) == 0
        assert "byte for byte" in capsys.readouterr().out
        assert verify(f"{server}/s/sample", hash=approved[:16]).differences == ()  # as letters and statements show it
        assert "should be" in verify(f"{server}/s/sample", hash=approved[:15]).differences[0]
        assert "should be" in verify(f"{server}/s/sample", hash=approved[1:17]).differences[0]
        assert main(["verify", f"{server}/s/sample"]) == 0
        assert "Compare the hash of the survey with the one that others publish" in capsys.readouterr().out


SCRIPT = b"<script>fetch('/x')</script>"
CHANGES = {
    "an inline script": ("/s/sample", lambda body: body.replace(b"<noscript>", SCRIPT + b"<noscript>"), None),
    "one byte of code": ("/s/sample", lambda body: body.replace(b"closed", b"open"), None),
    "one letter for another": ("/s/sample", lambda body: body.replace(b"closed", b"opened"), None),
    "the page's policy": ("/s/sample", lambda body: body.replace(b"img-src data:", b"img-src *"), None),
    "a page on threats": ("/threats", lambda body: body + SCRIPT, None),
    "a language": ("/client/", lambda body: body + b"\n", None),
    "the first page": ("/", lambda body: body + b" ", None),
    "a style sheet by header": ("/s/sample", None, (b"link", b"</x.css>; rel=stylesheet")),
    "a cookie": ("/s/sample", None, (b"set-cookie", b"a=b")),
    "speculation rules": ("/s/sample", None, (b"speculation-rules", b'"/rules.json"')),
    "a header less": ("/s/sample", None, (b"x-frame-options", None)),
    "another type": ("/client/", None, (b"content-type", b"text/plain")),
    "a tag for each visitor": ("/client/", None, (b"etag", b'"visitor 17"')),
    "a packing that is not read": ("/s/sample", None, (b"content-encoding", b"dcb")),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_whatever_is_changed_is_said_and_ends_with_2(changed, approved, capsys):
    path, change, header = CHANGES[changed]
    with background(changing(path, change, header)) as server:
        assert main(["verify", f"{server}/s/sample", "--hash", approved]) == 2
    said = capsys.readouterr().err
    assert said.startswith("naysay: ")
    name = (header or (b"it differs from byte",))[0].decode()
    assert name.replace("content-encoding", "it is packed as 'dcb'") in said


LIES = {
    "to another link than the shortest": ("/s/sample?from=mail", lambda scope: scope["query_string"] == b"from=mail"),
    "to a link that ends with a slash": ("/s/sample/", lambda scope: scope["path"].endswith("/")),
    "to browsers alone": ("/s/sample", lambda scope: b"Mozilla/5.0" in dict(scope["headers"])[b"user-agent"]),
    "to what opens a page": ("/s/sample", lambda scope: (b"sec-fetch-dest", b"document") in scope["headers"]),
    "to what runs a script": ("/s/sample", lambda scope: (b"sec-fetch-dest", b"script") in scope["headers"]),
    "to what the page reads": ("/s/sample", lambda scope: (b"sec-fetch-mode", b"cors") in scope["headers"]),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_cannot_know_the_comparison_by_its_link_or_its_headers(lie, approved, capsys):
    link, when = LIES[lie]
    with background(changing("/", lambda body: body + b" ", when=when)) as server:
        assert main(["verify", f"{server}{link}", "--hash", approved]) == 2
    assert "/s/sample" in capsys.readouterr().err or lie == "to what runs a script"


JUNK = [b"[" * 100_000, b"{}", b'{"client": []}']


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:20]))
def test_a_survey_that_is_none_is_refused_in_one_sentence(junk, capsys):
    """They ended in a traceback."""
    with background(changing("/s/sample/survey.json", lambda _: junk)) as server:
        assert main(["verify", f"{server}/s/sample"]) == 2
    assert "what stands at survey.json is no survey" in capsys.readouterr().err


def test_a_body_that_cannot_be_unpacked_is_said_and_ends_with_2(capsys):
    with background(changing("/s/sample", header=(b"content-encoding", b"br"))) as server:
        assert main(["verify", f"{server}/s/sample"]) == 2
    assert "what the server sends is damaged" in capsys.readouterr().err


def test_the_page_on_threats_is_compared_without_a_language_too(approved, capsys):
    plainly = changing("/threats", lambda body: body + SCRIPT, when=lambda scope: not scope["query_string"])
    with background(plainly) as server:
        assert main(["verify", f"{server}/s/sample", "--hash", approved]) == 2
    assert "/threats: it differs from byte" in capsys.readouterr().err


def test_a_body_without_an_end_is_not_read_to_its_end(capsys):
    with background(changing("/s/sample/survey.json", lambda _: b" " * 8_000_001)) as server:
        assert main(["verify", f"{server}/s/sample"]) == 2
    assert "/s/sample/survey.json has more than 8,000,000 bytes" in capsys.readouterr().err


def test_another_survey_or_another_version_is_said(approved, capsys):
    with background(genuine()) as server:
        assert main(["verify", f"{server}/s/sample", "--hash", "0" * 64]) == 2
        assert f"the hash is {approved}, and should be {'0' * 64}" in capsys.readouterr().err
        newer = Client({**Client.of(FOLDER).files, "style.css": b"p {}"})
        told = verify(f"{server}/s/sample", client=newer).differences
        assert any("it names other files than this version of naysay has (style.css)" in each for each in told)


def test_where_there_is_no_survey_it_is_said(capsys):
    with background(genuine()) as server:
        assert main(["verify", f"{server}/s/none"]) == 2
        assert "there is no open survey" in capsys.readouterr().err
    assert main(["verify", "survey.example.org"]) == 2
    assert main(["verify", "http://127.0.0.1:9/s/sample"]) == 2
    assert "cannot be reached" in capsys.readouterr().err
