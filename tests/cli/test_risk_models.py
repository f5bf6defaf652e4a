"""``naysay risk`` with models of the population, and the board's page with what was done, labels and provenance."""

import csv
import hashlib
import html
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from naysay import microdata
from naysay.microdata.report import Titles

from ..microdata.test_on_request import people

LOG = """
[[log.steps]]
rows = 602
deleted = 2
notes = ["stuck twice"]
step = {method = "suppress"}
columns = {town = {cells = 500, changed = 40, suppressed = 30}}
[log.guarantee_before]
k = 1
[log.guarantee_after]
k = 3
c = 3
m = 9
[log.intruder_before]
mean = 0.5
mean_at_risk = 0.779
[log.intruder_after]
mean = 0.25
mean_at_risk = 0.253
"""
ALSO = ("--also", "readings,pitman,zayatz", "--also", "snb,loglinear,individual,suda,closeness")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(people()).write_csv("people.csv")
    return "people.csv"


def asked(file, *words):
    return ("risk", file, "--keys", "town,age", "--population", "6000", *words)


def test_json_is_the_table_of_the_library_and_csv_has_its_fields(naysay, file):
    words = (*ALSO, "--sensitive", "ill", "--household", "home")
    code, out, err = naysay(*asked(file, *words, "--format", "json"))
    assert (code, err) == (0, "")
    also = ["readings", "pitman", "zayatz", "snb", "loglinear", "individual", "suda", "closeness", "household"]
    table = pl.read_csv(file, infer_schema=False)
    expected = microdata.risk_table(
        table, [["town", "age"]], population=6_000, sensitive="ill", also=also, households="home"
    )
    found = json.loads(out)
    assert found == json.loads(json.dumps(expected.to_dict()))
    (row,) = found["quasi_identifiers"]
    code, out, _ = naysay(*asked(file, *words, "--keys", "age", "--format", "csv"))
    both = list(csv.DictReader(io.StringIO(out)))
    assert (code, len(both)) == (0, 2)
    assert float(both[0]["pitman.people"]) == row["pitman"]["people"]
    assert float(both[0]["pitman.people_low"]) == row["pitman"]["people_interval"][0]
    assert both[1]["suda.contributions.town"] == ""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "risk_json.md").read_text("utf-8")
    for name in also:
        assert all(f"`{field}`" in page for field in row[name])


def test_each_persons_risks_are_written(naysay, file):
    code, _, _ = naysay(*asked(file, *ALSO, "--sensitive", "ill", "--household", "home", "--per-row", "rows.parquet"))
    assert code == 0
    rows = pl.read_parquet("rows.parquet")
    label = ": town + age"
    assert {f"{name}{label}" for name in ("individual risk", "household risk", "SUDA score", "DIS", "distance")} <= set(
        rows.columns
    )
    assert (rows[f"household risk{label}"] >= rows[f"individual risk{label}"] - 1e-12).all()
    assert rows[f"distance{label}"].null_count() == rows[f"k{label}"].null_count()


def test_the_page_says_what_was_done_who_is_unique_and_where_it_is_from(naysay, file):
    Path("safe.log.toml").write_text(LOG, encoding="utf-8")
    words = ("--html", "risk.html", "--by", "A. <Curator>", "--protection", "safe.log.toml", "--sensitive", "ill")
    assert naysay(*asked(file, *words)).code == 0
    page = Path("risk.html").read_text(encoding="utf-8")
    assert "A. &lt;Curator&gt;" in page
    text = html.unescape(re.sub(r"<[^>]+>", " ", page))
    assert hashlib.sha256(Path(file).read_bytes()).hexdigest() in text
    for told in (
        "1. suppress: town",
        "2 records were deleted",
        "suppress: stuck twice",
        "the same on the keys as at least 2",
    ):
        assert told in text
    assert "25.3 times in 100, instead of 77.9" in text
    assert "of the population" in text
    assert "rows alike, at least (k)" in text
    assert "farthest group (t)" in text
    assert "Where this report comes from" in text


def test_labels_of_variables_stand_wherever_a_key_is_named(naysay, tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(people()).select(pl.all().cast(pl.Float64)).to_pandas()
    pyreadstat.write_sav(frame, "people.sav", column_labels={"town": "Town of birth", "age": "Age"})
    Path("safe.log.toml").write_text(LOG, encoding="utf-8")
    words = ("--search", "2", "--html", "risk.html", "--protection", "safe.log.toml", "--also", "suda,loglinear")
    code, out, _ = naysay(*asked("people.sav", *words))
    assert code == 0
    assert "note: town: Town of birth" in out
    text = html.unescape(re.sub(r"<[^>]+>", " ", Path("risk.html").read_text(encoding="utf-8")))
    assert "Town of birth + Age" in text
    assert not re.findall(r"\btown\b", text)
    code, out, _ = naysay(*asked("people.sav", "--format", "json"))
    assert json.loads(out)["labels"] == {"town": "Town of birth", "age": "Age"}
    assert json.loads(out)["quasi_identifiers"][0]["keys"] == ["town", "age"]


def test_keys_with_the_same_label_keep_their_names():
    titles = Titles.of({"a": "Age", "b": " Age ", "c": "", "d": "Job"})
    assert [titles[name] for name in "abcde"] == ["Age (a)", "Age (b)", "c", "Job", "e"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--also", "pitman,zayats"), "must be one of 'readings'"),
        (("--also", "closeness"), "'closeness' needs sensitive= (--sensitive)"),
        (("--household", "nowhere"), "nowhere"),
        (("--household", "home", "--engine", "duckdb"), "rows on duckdb have no order"),
        (("--by", "me"), "--by is for a report"),
        (("--protection", "log.toml"), "--protection is for a report"),
        (("--html", "x.html", "--protection", "none.toml"), "cannot read 'none.toml'"),
        (("--html", "x.html", "--protection", "people.csv"), "is no log of naysay protect"),
        (("--html", "x.html", "--protection", "empty.json"), "a log of protection holds a list 'steps'"),
    ],
)
def test_wrong_questions_are_refused(naysay, file, words, told):
    Path("empty.json").write_text("{}", encoding="utf-8")
    code, _, err = naysay(*asked(file, *words))
    assert code == 2
    assert told in err
    assert not Path("x.html").exists()
