"""``naysay table``: what is published, and what is for the curator alone."""

import json

import pytest

CELLS = "region,job,n\na,x,1\na,y,9\na,z,5\nb,x,7\nb,y,6\nb,z,4\nc,x,8\nc,y,12\nc,z,9\n"
WORDS = ("table", "counts.csv", "--by", "region,job", "--count", "n")


@pytest.fixture
def counts(tmp_path):
    (tmp_path / "counts.csv").write_text(CELLS, encoding="utf-8")
    return tmp_path


def test_the_released_file_and_the_page_hold_no_suppressed_value(naysay, counts):
    told = naysay(*WORDS, "--out", "safe.csv", "--html", "safe.html")
    assert (told.code, told.err) == (0, "")
    rows = (counts / "safe.csv").read_text(encoding="utf-8").splitlines()
    assert [row for row in rows if row.endswith(",")] == ["a,x,", "a,z,", "b,x,", "b,z,"]
    page = (counts / "safe.html").read_text(encoding="utf-8")
    assert page.count("×</td>") == 4
    again = naysay(*WORDS, "--out", "safe.csv")
    assert again.code == 2
    assert "--force" in again.err


def test_text_json_and_csv_are_one_result(naysay, counts):
    told = json.loads(naysay(*WORDS, "--format", "json").out)
    assert (told["primary"], told["secondary"], told["open"]) == (1, 3, 0)
    assert told["cost"] == told["bound"] == 16
    assert told["cells"][0] == {
        "cell": {"region": "a", "job": "x"},
        "value": 1,
        "contributors": 1,
        "status": "primary",
        "interval": [1, 5],
    }
    assert "a,x,1,1,primary,1,5" in naysay(*WORDS, "--format", "csv").out.splitlines()
    assert "a × x         1        5" in naysay(*WORDS).out


def test_noise_is_drawn_afresh_and_its_json_holds_no_true_count(naysay, counts):
    first, second = (json.loads(naysay(*WORDS, "--epsilon", "0.1", "--format", "json").out) for _ in range(2))
    assert first["cells"] != second["cells"]  # 9 cells of noise with a standard deviation of 14
    assert set(first["cells"][0]) == {"cell", "count", "standard_error"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--dominance", "1"), "--dominance must be N,K"),
        (("--dominance", "1,75"), "dominance and the p % rule are for amounts"),
        (("--value", "n"), "different columns in different roles"),
        (("--epsilon", "none"), "epsilon must be a number"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_one_line(naysay, counts, words, sentence):
    told = naysay(*WORDS, *words)
    assert told.code == 2
    assert sentence in told.err
