"""Files of SPSS and Stata on the command line."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

from naysay import designs, estimate, files

WARNER = ("--response", "q", "--design", "warner(p=0.7)", "--format", "json")
LABELS = {"q": {1: "yes", 2: "no", 9: "refused"}, "land": {1: "Österreich", 2: "日本"}, "w": {1: "unweighted"}}


@pytest.fixture
def answers(naysay, tmp_path):
    """A survey as x.sav and x.dta, and its answers as they should be read."""
    rng = np.random.default_rng(3)
    columns = {"q": rng.choice([1, 2, 9], 500, p=(0.4, 0.5, 0.1)), "land": rng.choice([1, 2], 500)}
    frame = pl.DataFrame(columns | {"w": rng.choice([1, 2, 3], 500), "n": rng.choice([1, 2], 500)})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_value_labels=LABELS, missing_ranges={"q": [9]})
    marked = pl.Series("q", ["r" if code == 9 else code for code in frame["q"].to_list()], dtype=pl.Object)
    labels = LABELS | {"q": {1: "yes", 2: "no", "r": "refused"}}
    stata = frame.with_columns(marked)
    pyreadstat.write_dta(stata, tmp_path / "x.dta", variable_value_labels=labels, missing_user_values={"q": ["r"]})
    words = pl.col("q").replace_strict({1: "yes", 2: "no", 9: None}, return_dtype=pl.String)
    return frame.with_columns(words, pl.col("land").replace_strict(LABELS["land"], return_dtype=pl.String))


@pytest.mark.parametrize("file", ["x.sav", "x.dta"])
def test_an_estimate_from_spss_and_stata(naysay, answers, file):
    ran = naysay("estimate", file, *WARNER)
    assert ran.code == 0, ran.err
    design = designs.warner(p=0.7)
    fit = estimate.maximum_likelihood(design, design.tally(answers, "q"))
    assert json.loads(ran.out) == json.loads(json.dumps(fit.to_dict()))
    assert fit.tally.missing == answers["q"].null_count() > 0


@pytest.mark.parametrize("file", ["x.sav", "x.dta"])
def test_groups_are_labels_and_weights_and_counts_are_numbers(naysay, answers, file):
    ran = naysay("estimate", file, *WARNER, "--by", "land", "--weight", "w", "--count", "n")
    assert ran.code == 0, ran.err
    design = designs.warner(p=0.7)
    tallies = design.tally(answers, "q", by="land", weights="w", count="n")
    told = {each["group"]: each["proportions"] for each in json.loads(ran.out)["groups"]}
    assert told == {
        land: pytest.approx(estimate.maximum_likelihood(design, tally).proportions.tolist())
        for land, tally in tallies.items()
    }
    assert set(told) == {"Österreich", "日本"}


def test_codes_on_request(naysay, answers):
    words = ("estimate", "x.sav", "--response", "q", "--design", "direct()", "--by", "land", "--format", "json")
    told = json.loads(naysay(*words, "--categories", "1,2", "--codes").out)["groups"]
    assert [each["group"] for each in told] == ["1", "2"]
    named = json.loads(naysay(*words, "--categories", "yes,no").out)["groups"]
    assert sorted(each["proportions"] for each in told) == sorted(each["proportions"] for each in named)


def test_labels_that_collide_are_refused_with_the_way_out(naysay, refused, tmp_path):
    frame = pl.DataFrame({"q": [1, 2, 2, 3], "other": [1, 1, 2, 2]})
    labels = {"q": {1: "yes", 2: "no", 3: "no"}, "other": {1: "a", 2: "a"}}
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_value_labels=labels)
    told = refused("estimate", "x.sav", "--response", "q", "--design", "direct()", "--categories", "yes,no")
    assert "column 'q' the codes 2 and 3 are both labelled 'no'; read the codes instead (--codes)" in told
    words = ("--design", "direct()", "--categories", "1,2,3", "--codes", "--format", "json")
    ran = naysay("estimate", "x.sav", "--response", "q", *words)
    assert json.loads(ran.out)["proportions"] == pytest.approx([0.25, 0.5, 0.25])


def test_columns_that_are_not_asked_for_may_collide(naysay, tmp_path):
    frame = pl.DataFrame({"q": [1, 2, 2, 1], "other": [1, 1, 2, 2]})
    labels = {"q": {1: "yes", 2: "no"}, "other": {1: "a", 2: "a"}}
    pyreadstat.write_dta(frame, tmp_path / "x.dta", variable_value_labels=labels)
    words = ("--response", "q", "--design", "direct()", "--categories", "yes,no", "--format", "json")
    assert json.loads(naysay("estimate", "x.dta", *words).out)["proportions"] == pytest.approx([0.5, 0.5])


def test_sets_in_columns_of_yes_and_no(naysay, tmp_path):
    rows = np.tile([[1, 0, 0], [0, 1, 0], [0, 0, 1]], (20, 1))
    labels = {name: {0: "No", 1: "Yes"} for name in "abc"}
    pyreadstat.write_sav(pl.DataFrame(rows, schema=list("abc")), tmp_path / "x.sav", variable_value_labels=labels)
    words = [word for name in "abc" for word in ("--response", name)]
    words += ["--design", "negative()", "--categories", "a,b,c", "--format", "json"]
    told = [json.loads(naysay("estimate", "x.sav", *words, *codes).out) for codes in ((), ("--codes",))]
    assert told[0]["n"] == told[1]["n"] == 60


def test_an_unknown_answer_shows_its_label_and_row(refused, answers):
    told = refused(
        "estimate", "x.sav", "--response", "land", "--design", "direct()", "--categories", "Österreich,Japan"
    )
    row = answers["land"].to_list().index("日本")
    assert f"column 'land', row {row + 1}, is '日本', which is not a response here" in told


def test_a_date_beyond_all_calendars_is_one_line(refused, tmp_path):
    frame = pl.DataFrame({"q": ["yes", "no"], "d": [1.0, 1e20]})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_format={"d": "DATE11"})
    assert "cannot read 'x.sav'" in refused("estimate", "x.sav", *WARNER, "--by", "d")


def test_a_file_that_is_cut_short_is_one_line(refused, answers, tmp_path):
    whole = (tmp_path / "x.sav").read_bytes()
    (tmp_path / "x.sav").write_bytes(whole[:-400])
    assert "it is cut short, damaged or no file of SPSS" in refused("estimate", "x.sav", *WARNER)


def test_randomized_answers_keep_labels(naysay, answers):
    words = ("--response", "q", "--design", "k_ary(epsilon=2)", "--categories", "yes,no")
    ran = naysay("randomize", "x.sav", *words, "--out", "p.csv", "--seed", 1)
    assert ran.code == 0, ran.err
    private = pl.read_csv("p.csv", infer_schema=False)
    assert private["land"].to_list() == answers["land"].to_list()
    assert private["q"].is_null().to_list() == answers["q"].is_null().to_list()
    assert private["n"].to_list() == [str(number) for number in answers["n"].to_list()]
    codes = naysay("randomize", "x.sav", *words[:-1], "1,2", "--codes", "--out", "c.csv", "--seed", 1)
    assert codes.code == 0, codes.err
    coded = pl.read_csv("c.csv", infer_schema=False)
    assert coded["q"].replace({"1": "yes", "2": "no"}).to_list() == private["q"].to_list()
    assert set(coded["land"].to_list()) == {"1", "2"}


@pytest.mark.parametrize("out", ["p.sav", "p.zsav", "p.dta", "p.xlsx"])
def test_randomized_answers_are_written_to_spss_stata_and_excel(naysay, answers, out):
    words = ("--response", "q", "--design", "k_ary(epsilon=2)", "--categories", "yes,no", "--seed", 1)
    for path in (out, "p.csv"):
        assert naysay("randomize", "x.sav", *words, "--out", path).code == 0
    found, expected = (files.scan(Path(path)).collect() for path in (out, "p.csv"))
    assert found.columns == expected.columns
    texts = files.as_text(found.lazy(), found.columns).collect()
    assert texts.equals(files.as_text(expected.lazy(), found.columns).collect())
    estimate = naysay("estimate", out, *words[:-2], "--target", "file")
    assert estimate.code == 0, estimate.err


def labelled(folder, codes, labels, **more):
    pyreadstat.write_sav(pl.DataFrame({"q": codes}), folder / "x.sav", variable_value_labels={"q": labels}, **more)
    return "estimate", "x.sav", "--response", "q"


@pytest.mark.parametrize(
    ("labels", "design", "way_out"),
    [
        (
            {1: "Ja", 2: "Nein"},
            "warner(p=0.7)",
            "the sensitive one first, --categories Ja,Nein or --categories Nein,Ja",
        ),
        ({0: "Nein", 1: "Ja"}, "warner(p=0.7)", "take 1 as yes and 0 as no with --codes, or with --categories Ja,Nein"),
        (
            {1: "Ja", 2: "Nein", 3: "Weiß nicht"},
            "warner(p=0.7)",
            "or two for a yes-or-no design, the sensitive one first",
        ),
        ({1: "Ja", 2: "Nein"}, "crosswise(prevalence=1/4)", "recode them as 'same', 'different'"),
        ({0: "Nein", 1: "Ja"}, "crosswise(prevalence=1/4)", "add --codes"),
        (
            {1: "low", 2: "mid-dle", 3: "high, or more"},
            "negative(('low', 'middle', 'high'))",
            "--categories 'low,mid-dle,",
        ),
    ],
)
def test_labels_that_a_design_does_not_know_are_named_with_the_way_out(refused, tmp_path, labels, design, way_out):
    told = refused(*labelled(tmp_path, [*labels] * 20, labels), "--design", design)
    shown = ", ".join(repr(f"{code} = {label}") for code, label in labels.items())
    assert "which is not a response here; " in told
    assert f"; the file labels its codes {shown}: " in told
    assert way_out in told


def test_both_ways_out_of_yes_and_no_in_other_words_lead_to_the_same(naysay, tmp_path):
    words = (*labelled(tmp_path, [0, 0, 1] * 50, {0: "Nein", 1: "Ja"}), "--design", "warner(p=0.7)", "--format", "json")
    codes = json.loads(naysay(*words, "--codes").out)
    named = json.loads(naysay(*words, "--categories", "Ja,Nein").out)
    assert codes["proportions"] == named["proportions"] == pytest.approx([(1 / 3 - 0.3) / 0.4, (0.7 - 1 / 3) / 0.4])


@pytest.mark.parametrize("command", ["estimate", "randomize"])
def test_a_column_that_a_labelled_file_lacks_is_named_with_those_it_has(refused, tmp_path, command):
    labelled(tmp_path, [1, 2], {1: "Ja", 2: "Nein"})
    words = ("--response", "Q", "--design", "warner(p=0.7)", *(("--out", "p.csv") if command == "randomize" else ()))
    assert "there is no column 'Q'; the columns are 'q'" in refused(command, "x.sav", *words)


def test_labels_are_named_where_truth_is_randomized(refused, tmp_path):
    labelled(tmp_path, [1, 2], {1: "Ja", 2: "Nein"})
    words = ("--response", "q", "--design", "warner(p=0.7)", "--out", "p.csv")
    told = refused("randomize", "x.sav", *words)
    assert "--categories Ja,Nein or --categories Nein,Ja" in told


def test_columns_of_labels_in_other_words_are_read_by_their_codes(refused, naysay, tmp_path):
    rows = np.tile([[1, 0, 0], [0, 1, 0], [0, 0, 1]], (20, 1))
    labels = {name: {0: "Nein", 1: "Ja"} for name in "abc"}
    pyreadstat.write_sav(pl.DataFrame(rows, schema=list("abc")), tmp_path / "x.sav", variable_value_labels=labels)
    words = [word for name in "abc" for word in ("--response", name)]
    words += ["--design", "negative()", "--categories", "a,b,c"]
    assert refused("estimate", "x.sav", *words).endswith("the file labels its codes '0 = Nein', '1 = Ja': add --codes")
    assert naysay("estimate", "x.sav", *words, "--codes").code == 0
