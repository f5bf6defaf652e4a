"""Workbooks of strangers: refused with one clear error, quickly, in bounded memory, or rendered harmless."""

import io
import struct
import time
import tracemalloc
import zipfile

import pytest

from naysay.collect.questionnaire import examine, load, sample, write_xlsform
from naysay.errors import DataError

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def workbook(tmp_path):
    """The sample's workbook with some parts exchanged or added: ``workbook({"xl/x.xml": b"…"})``."""
    write_xlsform(sample(), tmp_path / "sample.xlsx")

    def changed(parts, name="changed.xlsx"):
        path = tmp_path / name
        with (
            zipfile.ZipFile(tmp_path / "sample.xlsx") as before,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after,
        ):
            for part in before.namelist():
                if part not in parts:
                    after.writestr(part, before.read(part))
            for part, content in parts.items():
                after.writestr(part, content)
        return path

    return changed


@pytest.fixture
def refused():
    """The one line in which a file is refused, in two seconds and 100 MB at most."""

    def told(path):
        tracemalloc.start()
        started = time.process_time()
        try:
            with pytest.raises(DataError) as error:
                load(path)
            assert time.process_time() - started < 10
            assert tracemalloc.get_traced_memory()[1] < 150_000_000
        finally:
            tracemalloc.stop()
        assert "\n" not in str(error.value)
        return str(error.value)

    return told


def test_a_zip_bomb(workbook, refused):
    assert "zip bomb" in refused(workbook({SHEET: b"<worksheet>" + b" " * 15_000_000 + b"</worksheet>"}))


def test_a_bomb_of_many_parts(workbook, refused):
    noise = bytes(range(32, 127)) * 4_000
    parts = {f"xl/part{place}.xml": noise[place:] * 3 for place in range(20)}
    told = refused(workbook(parts))
    assert "unpacked" in told or "zip bomb" in told


def test_a_directory_that_lies_about_sizes(workbook, refused):
    """The declared size is that of an honest part, what comes out is a thousand times as much."""
    path = workbook({SHEET: b"<worksheet>" + b" " * 15_000_000 + b"</worksheet>"})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = -1
        while (at := content.find(signature, at + 1)) >= 0:
            if struct.unpack_from("<I", content, at + offset)[0] > 10_000_000:
                struct.pack_into("<I", content, at + offset, 2_000)
    path.write_bytes(content)
    assert "damaged" in refused(path)


def test_an_archive_of_too_many_parts(workbook, refused):
    assert "at most 500 parts" in refused(workbook({f"xl/{place}.xml": b"" for place in range(600)}))


def test_a_million_rows(workbook, refused):
    row = b"<row><c><v>1</v></c></row>"
    told = refused(workbook({SHEET: b"<worksheet><sheetData>" + row * 1_000_000 + b"</sheetData></worksheet>"}))
    assert "at most" in told or "zip bomb" in told


@pytest.mark.parametrize("row", [b"<row/>", b"<x:row >", b"<row\n>"])
def test_many_short_rows(workbook, refused, row):
    filler = "".join(f"<!--{place * 7919}-->" for place in range(40_000)).encode()
    content = b"<worksheet><sheetData>" + row * 20_000 + filler + b"</sheetData></worksheet>"
    assert "at most 10,000 rows" in refused(workbook({SHEET: content}))


def test_a_row_far_below(workbook):
    """A single cell in row 1,048,576 of a sheet does not make a million rows."""
    content = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1048576">'
    )
    content += b'<c r="A1048576" t="inlineStr"><is><t>x</t></is></c></row></sheetData></worksheet>'
    started = time.process_time()
    assert any("must hold the questions" in each.message for each in examine(workbook({SHEET: content})).errors)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet>&e;</worksheet>',
        b'<!doctype x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet>&b;</worksheet>',
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x><worksheet/>'.encode("utf-16"),
    ],
    ids=["external", "laughs", "utf-16"],
)
def test_entities(workbook, refused, content):
    assert "declares entities" in refused(workbook({SHEET: content}))


@pytest.mark.parametrize("part", ["xl/vbaProject.bin", "xl/macrosheets/sheet1.xml", "xl/activeX/activeX1.xml"])
def test_macros(workbook, refused, part):
    assert "holds macros" in refused(workbook({part: b"x"}))


def test_links_to_other_files(workbook, refused):
    assert "refers to other files" in refused(workbook({"xl/externalLinks/externalLink1.xml": b"<x/>"}))


@pytest.mark.parametrize(
    "part", ["../../evil.xml", "/etc/evil.xml", "xl\\..\\evil.xml", "C:/evil.xml", "xl/../../evil.xml"]
)
def test_names_that_point_elsewhere(workbook, refused, part):
    assert "points out of the workbook" in refused(workbook({part: b"<x/>"}))


def test_parts_of_one_name(tmp_path, refused):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a.xml", b"<x/>")
        archive.writestr("a.xml", b"<y/>")
    (tmp_path / "twice.xlsx").write_bytes(out.getvalue())
    assert "must differ in name" in refused(tmp_path / "twice.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("q.xlsx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted, or of the old"),
        ("q.xlsx", b"type,name\n", "damaged"),
        ("q.xlsx", b"", "damaged"),
        ("q.xlsx", b"PK\x03\x04" + b"x" * 100, "damaged"),
        ("q.xls", b"x", "must be .json, .xlsx"),
        ("q.xlsm", b"x", "must be .json, .xlsx"),
        ("q.csv", b"PK\x03\x04", "name it .xlsx"),
        ("q.md", b"\xff\xfe\x00", "must be UTF-8"),
        ("q.csv", b"a,b\n" * 20_000, "at most 10,000 rows"),
        ("q.md", b"x" * 5_000_001, "at most 5,000,000 bytes"),
        ("q.md", b"no table", "its first column names no sheet"),
        ("q.md", b"| survey | |\n| | type |\n| | " + b"x" * 10_001 + b" |\n", "at most 10,000 characters"),
    ],
)
def test_files_that_are_none(tmp_path, refused, name, content, told):
    (tmp_path / name).write_bytes(content)
    assert told in refused(tmp_path / name)


def test_a_zip_that_is_no_workbook(tmp_path, refused):
    with zipfile.ZipFile(tmp_path / "q.xlsx", "w") as archive:
        archive.writestr("hello.xml", b"<x/>")
    assert "cannot read" in refused(tmp_path / "q.xlsx")


def test_an_encrypted_part(workbook, refused):
    path = workbook({})
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in refused(path)


def test_html_in_labels_stays_text(tmp_path):
    label = "<img src=x onerror=alert(1)> & <b>bold</b>"
    path = tmp_path / "html.md"
    path.write_text(
        f"| survey | | | |\n| | type | name | label::English (en) |\n| | text | a | {label} |\n", encoding="utf-8"
    )
    examined = examine(path)
    assert [(each.rule, each.severity) for each in examined.problems] == [("wording", "warning")]
    assert examined.questionnaire.items[0].label["en"] == label


def test_images_and_other_parts_are_not_read(workbook):
    assert load(workbook({"xl/media/image1.png": b"\x89PNG"})).form() == sample().form()
