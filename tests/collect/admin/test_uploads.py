"""Hostile files: what is uploaded is read with caution, refused in words, and harms nothing."""

import io
import json
import re
import time
import zipfile

import pytest
from openpyxl import Workbook, load_workbook

from naysay.collect.admin import drafts
from naysay.collect.admin.surveys import examine_upload
from naysay.collect.questionnaire import sample, write_xlsform
from naysay.collect.storage import Store


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "a.db")
    yield found
    found.dispose()


@pytest.fixture(scope="module")
def workbook(tmp_path_factory):
    """A sound XLSForm."""
    path = tmp_path_factory.mktemp("form") / "sample.xlsx"
    write_xlsform(sample(), path)
    return path.read_bytes()


def packed(parts, *, level=9):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def parts(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_part(workbook, name, content):
    return packed({**parts(workbook), name: content})


ENTITIES = (
    b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]><x>&lol2;</x>"""
)
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]><x>&secret;</x>"""


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("a.xlsx", lambda w: with_part(w, "xl/bomb.xml", b"0" * 15_000_000), b"zip bomb"),
        ("a.xlsx", lambda w: with_part(w, "xl/media/big.bin", b"0" * 200_000_000), b"zip bomb"),
        ("a.xlsx", lambda w: with_part(w, "xl/sharedStrings.xml", ENTITIES), b"declares entities"),
        ("a.xlsx", lambda w: with_part(w, "xl/worksheets/sheet1.xml", OUTSIDE), b"declares entities"),
        ("a.xlsx", lambda w: with_part(w, "xl/vbaProject.bin", b"macro"), b"holds macros"),
        ("a.xlsx", lambda w: with_part(w, "xl/macrosheets/sheet1.xml", b"<x/>"), b"holds macros"),
        ("a.xlsx", lambda w: with_part(w, "xl/externalLinks/link1.xml", b"<x/>"), b"refers to other files"),
        ("a.xlsx", lambda w: with_part(w, "../../evil.xml", b"<x/>"), b"points out of the workbook"),
        ("a.xlsx", lambda w: packed({f"xl/p{n}.xml": b"" for n in range(600)}), b"at most 500 parts"),
        ("a.xlsx", lambda w: w[: len(w) // 2], b"no .xlsx workbook"),
        ("a.xlsx", lambda _: b"\xd0\xcf\x11\xe0" + b"\0" * 600, b"encrypted, or of the old .xls"),
        ("a.xlsx", lambda _: b"", b"no .xlsx workbook"),
        ("a.csv", lambda w: w, b"holds a workbook, not text"),
        ("a.csv", lambda _: b"\xff\xfe\0", b"must be UTF-8"),
        ("a.csv", lambda _: b"survey\n" * 20_000, b"at most 10,000 rows"),
        ("a.json", lambda _: b"[" * 100_000, b"must be JSON"),
        ("a.json", lambda _: b'{"naysay": "questionnaire", "items": 1e999}', b"cannot be fielded"),
        ("a.json", lambda _: b'{"naysay": "survey"}', b"must be an object"),
        ("a.json", lambda _: b" " * 5_050_000, b"at most 5,000,000 bytes"),
        ("a.json", lambda _: b" " * 6_000_000, b"a form of this page has at most"),
        ("a.xlsm", lambda w: w, b".xlsx, .csv, .md or .json"),
        ("a.svg", lambda _: b"<svg onload=alert(1)>", b".xlsx, .csv, .md or .json"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_in_words(admin, store, workbook, name, change, told):
    began = time.perf_counter()
    found = admin.upload(name, change(workbook))
    assert found.status in (413, 422), found.content
    assert told in found.content.replace(b"&#39;", b"'").replace(b"&#34;", b'"')
    assert b"Traceback" not in found.content
    assert drafts.listed(store) == ()
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(
    "name",
    ["../../../etc/cron.d/x.json", "..\\..\\x.json", "/x.json", "C:\\x.json", "x\0.json", "a" * 5_000 + ".json",
     "<img src=x>.json", "con.json", "ä☃.json"],
)  # fmt: skip
def test_the_name_of_a_file_leads_nowhere(admin, store, tmp_path, name):
    before = sorted(path.name for path in tmp_path.iterdir())
    examined, _ = examine_upload(name, sample().to_json())
    assert examined.questionnaire == sample()
    found = admin.upload(name.replace("\0", ""), b"{}")
    assert found.status == 422
    assert b"<img" not in found.content
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_sound_workbook_becomes_a_draft_and_a_preview_that_stores_nothing(office, admin, store, workbook):
    assert admin.upload("sample.xlsx", workbook).headers["location"] == "/admin/drafts/sample?done=uploaded"
    page = admin.get("/admin/drafts/sample").content.decode()
    assert "Please note" not in page
    draft = drafts.find(store, "sample")
    assert draft.questionnaire == sample()
    found = office.get(f"/preview/{draft.key}/survey.json")
    assert found.json["preview"] is True
    assert found.json["questionnaire"]["name"] == "sample"
    shown = office.get(f"/preview/{draft.key}")
    assert shown.status == 200
    for path in re.findall(rb'"(/client/[^"]+[^"/])"', shown.content):
        assert office.get(path.decode()).status == 200
    for key in ("0" * 32, "sample", draft.key.upper(), "%00"):
        assert office.get(f"/preview/{key}/survey.json").status == 404
    assert office.get("/s/sample").status == 404
    assert admin.post("/admin/drafts/sample/open").status == 303
    assert office.get("/s/sample").status == 200
    assert office.get(f"/preview/{draft.key}/survey.json").status == 404


def test_problems_stand_at_their_cells(admin, workbook):
    book = load_workbook(io.BytesIO(workbook))
    sheet = book["survey"]
    header = [cell.value for cell in sheet[1]]
    rows = {sheet.cell(row, header.index("name") + 1).value: row for row in range(2, sheet.max_row + 1)}
    sheet.cell(rows["age"], header.index("name") + 1).value = "1 <b>age</b>"
    sheet.cell(rows["sleep"], header.index("relevant") + 1).value = "${nobody} = 1"
    out = io.BytesIO()
    book.save(out)
    found = admin.upload("changed.xlsx", out.getvalue())
    assert found.status == 422
    page = found.content.decode()
    assert f"<h3>Row {rows['age']}</h3>" in page
    assert '<td class="wrong"><span class="mark">here:</span> 1 &lt;b&gt;age&lt;/b&gt;</td>' in page
    assert '<td class="wrong"><span class="mark">here:</span> ${nobody} = 1</td>' in page
    assert "What to do:" in page


def test_problems_of_json_stand_at_their_paths(admin):
    form = sample().form()
    form["items"][1]["name"] = "1"
    found = admin.upload("x.json", json.dumps(form).encode())
    assert found.status == 422
    assert b"items[1].name" in found.content


def test_text_of_a_questionnaire_cannot_become_part_of_a_page(admin, store):
    """Titles, labels and names of choices are shown on admin pages."""
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}'
    form = {**sample().form(), "title": dict.fromkeys(sample().languages, evil)}
    form["items"][1]["label"] = dict.fromkeys(sample().languages, evil)
    assert admin.upload("x.json", json.dumps(form).encode()).status == 303
    for path in ("/admin/drafts/sample", "/admin/"):
        content = admin.get(path).content
        assert b"<script" not in content
        assert b"<img" not in content
    assert b"{{ 7 * 7 }}" in admin.get("/admin/drafts/sample").content
    admin.post("/admin/drafts/sample/open")
    assert b"<script" not in admin.get("/admin/surveys/sample").content


def test_a_draft_never_takes_the_place_of_a_survey(admin, store, published):
    found = admin.upload("x.json", published.questionnaire.to_json())
    assert found.status == 422
    assert b"give the questionnaire another name, such as kinds-2" in found.content.replace(b"\n", b" ")
    assert store.published("kinds").bytes == published.bytes


def test_a_form_that_cannot_be_read_is_refused(admin):
    for kind, body in (
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: nothing\r\n\r\n"),
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"a=1&" * 1_000),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 30_000),
    ):
        headers = {"content_type": kind, "content_length": str(len(body))}
        assert 400 <= admin.ask("POST", "/admin/upload", body, **headers).status < 500
    assert admin.ask("POST", "/admin/upload", b"", content_type="multipart/form-data", content_length="x").status == 413


def test_an_empty_workbook_is_no_questionnaire(admin):
    out = io.BytesIO()
    Workbook().save(out)
    assert admin.upload("empty.xlsx", out.getvalue()).status == 422
    assert admin.post("/admin/upload").status == 422
