"""The page on a release: three numbers before and after, from the file as it is written."""

import json
import re

import numpy as np
import polars as pl
import pytest

from naysay.cli import main
from naysay.microdata.protect.standings import losses_of


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(8)
    frame = pl.DataFrame({
        "age": rng.integers(18, 60, 300),
        "region": rng.choice(["n", "e", "s"], 300),
        "job": rng.choice(["smith", "nurse", None], 300),
    })  # fmt: skip
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


def page_of(tmp_path, capsys, *words):
    """The numbers at the head of the page, its text, and the same release as JSON."""
    place = tmp_path / "board.html"
    assert main(["protect", *map(str, words), "--html", str(place), "--format", "json"]) == 0
    whole = place.read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(style|script).*?</\1>", " ", whole)).split())
    return re.findall(r"[\d.,%–  ]+→[\d.,%–  ]+", text)[:3], text, json.loads(capsys.readouterr().out)


def brute_alike(frame, keys, least):
    rows = frame.select(keys).rows()
    return sum(rows.count(row) < least for row in rows), len(set(rows)) / len(rows)


def test_the_three_numbers_are_those_that_counting_row_by_row_gives(people, tmp_path, capsys):
    out = tmp_path / "safe.csv"
    (alike, intruder, lost), text, told = page_of(
        tmp_path, capsys, people, "--keys", "age,region", "--keep-order", "--out", out
    )
    before, after = (pl.read_csv(path, infer_schema=False) for path in (people, out))
    assert before.height == after.height
    stand, most = zip(*(brute_alike(frame, ["age", "region"], 3) for frame in (before, after)), strict=True)
    assert alike.split() == [str(stand[0]), "→", str(stand[1])] and stand[0] > 0 == stand[1]
    assert re.findall(r"[\d.]+", intruder) == [f"{100 * share:.2f}" for share in most]
    pairs = list(zip(np.ravel(before.rows()), np.ravel(after.rows()), strict=True))
    known = [(old, new) for old, new in pairs if old is not None]
    gone, others = sum(new is None for _, new in known), sum(new is not None and new != old for old, new in known)
    assert told["losses"] == {
        "answers": len(known), "emptied": gone, "changed": others, "left_out": [], "share": (gone + others) / len(known)
    }  # fmt: skip
    assert re.findall(r"[\d.]+", lost) == ["0.00", f"{100 * (gone + others) / len(known):.2f}"]
    assert f"of {len(known):,} answers, {gone:,} are empty now" in text and "naysay utility" in text


def test_a_board_reads_what_other_columns_and_earlier_releases_tell(people, tmp_path, capsys):
    frame = pl.read_csv(people).with_columns(born=2026 - pl.col("age"))
    frame.write_csv(people)
    first = tmp_path / "first.csv"
    _, text, told = page_of(
        tmp_path, capsys, people, "--keys", "age,region", "--accept", "born", "--importance", "region=must", "--bins",
        "age=40", "--out", first,
    )  # fmt: skip
    assert told["guarantee_read_back"]["below"] > 0 == told["guarantee_after"]["below"]["k"]
    assert re.search(rf"people who stand out \d+ → {told['guarantee_read_back']['below']} ", text)
    assert "what other columns of the release tell" in text and "accepted, and stands in the log" in text
    _, text, told = page_of(
        tmp_path, capsys, people, "--keys", "age,region", "--drop", "born", "--beside", first, "--accept",
        "born of first.csv",
    )  # fmt: skip
    assert told["guarantee_beside"] is not None and "together with the earlier releases" in text
    assert told["losses"]["left_out"] == ["born"] and "columns that were left out: born" in text


def test_a_number_that_was_not_measured_is_a_dash_and_the_page_says_why(people, tmp_path, capsys):
    frame = pl.read_csv(people).with_row_index("home").with_columns(pl.col("home") // 2)
    frame.write_csv(people)
    numbers, text, _ = page_of(tmp_path, capsys, people, "--keys", "region", "--unit", "home")
    assert numbers[1].split() == ["–", "→", "–"] and "This is not measured here" in text
    assert "households who stand out" in text


def test_deleted_records_and_columns_that_are_not_there_are_no_answers_kept():
    before = pl.DataFrame({"id": [1, 2, 3], "age": [36, 40, None], "job": ["a", "b", "c"]})
    after = pl.DataFrame({"id": [9, 8], "age": ["40 to 44", None]})
    found = losses_of(before, after, [1, 2], changed=["id", "age"], numbers=["id"])
    assert (found.answers, found.emptied, found.changed, found.left_out) == (2, 1, 1, ("job",))
    assert found.share == 1
