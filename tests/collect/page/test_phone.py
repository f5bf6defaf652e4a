"""A survey by HTTPS, with a certificate made on the spot, answered in a browser that is told to go on."""

import re
import ssl
import urllib.request

import pytest
import segno
from browsing import Respondent
from cryptography import x509

from naysay.collect.app import create_app
from naysay.collect.commands import serve
from naysay.collect.questionnaire import sample
from naysay.collect.server import keys as certificates
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.errors import DataError


@pytest.fixture
def served(tmp_path):
    """The sample survey by HTTPS on every address of this computer: its port, and where it is stored."""
    store = Store(tmp_path / "naysay.db")
    with (
        certificates.temporary_certificate(["127.0.0.1", "127.0.0.2"]) as own,
        background(create_app([sample()], store), host="0.0.0.0", certificate=own) as link,
    ):
        assert link.startswith("https://127.0.0.1:")
        yield int(link.rpartition(":")[2]), store, own
    store.dispose()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_browser_that_goes_on_answers_by_https(browser, served, host):
    port, store, _ = served
    context = browser.new_context(locale="en-US", ignore_https_errors=True)
    context.set_default_timeout(20_000)
    respondent = Respondent(context.new_page(), f"https://{host}:{port}/s/sample")
    respondent.open().start().to_review().confirm()
    assert store.replies("sample").frame.height == 1
    assert respondent.problems == []
    context.close()


def test_a_browser_that_does_not_go_on_is_warned(browser, served):
    port, *_ = served
    page = browser.new_context().new_page()
    with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
        page.goto(f"https://127.0.0.1:{port}/")
    page.context.close()


def test_the_certificate_names_the_addresses_and_its_fingerprint(served):
    port, _, own = served
    trusting = ssl.create_default_context(cafile=own.certificate)
    with urllib.request.urlopen(f"https://127.0.0.1:{port}/", context=trusting) as answer:
        assert b"Surveys in which chance protects private answers" in answer.read()
    read = x509.load_pem_x509_certificate(own.certificate.read_bytes())
    names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each.value) for each in names] == ["localhost", "127.0.0.1", "127.0.0.2"]
    assert re.fullmatch("([0-9A-F]{2}:){31}[0-9A-F]{2}", own.fingerprint)


def test_the_key_is_deleted():
    with certificates.temporary_certificate(["127.0.0.1"]) as own:
        kept = own.key
        assert kept.exists()
    assert not kept.exists()


def test_the_code_is_that_of_the_link():
    link = "https://192.0.2.7:8000/s/sample"
    matrix = [bytes(row) for row in segno.make_qr(link, error="m").matrix]
    blocks = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}  # light is drawn, dark is left
    lines = serve.code(link).splitlines()
    drawn = [bytes(blocks[each][half] for each in line) for line in lines for half in (0, 1)]
    border = next(place for place, row in enumerate(drawn) if any(row))
    side = len(matrix)
    assert [row[border : border + side] for row in drawn[border : border + side]] == matrix


def test_a_certificate_of_ones_own_is_checked(tmp_path):
    with (
        certificates.temporary_certificate(["127.0.0.1"]) as one,
        certificates.temporary_certificate(["127.0.0.1"]) as other,
    ):
        assert certificates.certificate_of_files(one.certificate, one.key) == one
        with pytest.raises(DataError, match=r"cannot serve with .* give the chain and the key of one certificate"):
            certificates.certificate_of_files(one.certificate, other.key)
        with pytest.raises(DataError, match="No such file"):
            certificates.certificate_of_files(tmp_path / "no.pem", one.key)
        (tmp_path / "x.pem").write_text("nothing")
        with pytest.raises(DataError, match="in PEM and without a password"):
            certificates.certificate_of_files(tmp_path / "x.pem", one.key)
