"""``naysay estimate`` for randomized response: samples, groups side by side, kinds of errors, yes and no in a file."""

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate

WARNER = ("--response", "x", "--design", "warner(p=0.8)")
LIARS = ("--response", "x", "--design", "stochastic_lie_detector(p=(2/12, 10/12))")
ARMS = "samples(open=direct(('yes', 'no')), masked=crosswise(prevalence=1/4))"


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def minarets(write):
    return write("m.csv", "x,arm,n", "yes,1,373", "no,1,191", "yes,2,398", "no,2,294")


@pytest.fixture
def groups(write):
    lines = [
        f"{said},{group}"
        for group, yes in (("north", 30), ("south", 42))
        for said in ["yes"] * yes + ["no"] * (100 - yes)
    ]
    return write("g.csv", "x,g", *lines)


# samples


def test_samples_are_told_by_a_column(naysay, minarets):
    words = ("estimate", minarets, *LIARS, "--sample", "arm", "--count", "n")
    told = json.loads(naysay(*words, "--estimator", "moments", "--format", "json").out)
    assert told["proportions"][0] == pytest.approx(0.8706954864, abs=1e-6)
    assert told["standard_errors"][0] == pytest.approx(0.0411184, abs=1e-5)
    truthful = told["nuisance"]["truth-tellers"]
    assert truthful["estimate"] == pytest.approx(0.6358063928, abs=1e-6)
    assert truthful["standard_error"] == pytest.approx(0.0173437, abs=1e-5)
    low, high = truthful["interval"]
    assert low < truthful["estimate"] < high
    assert told["privacy"]["by_sample"].keys() == {"1", "2"}


def test_nuisance_parameters_follow_the_categories_in_table_and_csv(naysay, minarets):
    words = ("estimate", minarets, *LIARS, "--sample", "arm", "--count", "n")
    lines = naysay(*words).out.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("category"))
    assert [line.split()[0] for line in lines[first + 1 : first + 4]] == ["yes", "no", "truth-tellers"]
    table = rows(naysay(*words, "--format", "csv").out)
    assert [row["category"] for row in table] == ["yes", "no", "truth-tellers"]
    told = json.loads(naysay(*words, "--format", "json").out)["nuisance"]["truth-tellers"]
    assert float(table[2]["proportion"]) == told["estimate"]
    assert [float(table[2]["low"]), float(table[2]["high"])] == told["interval"]


def test_randomized_and_direct_arms_are_one_estimate(naysay, write):
    said = ["yes,open"] * 60 + ["no,open"] * 140 + ["same,masked"] * 240 + ["different,masked"] * 160
    name = write("arms.csv", "x,arm", *said)
    code, out, _ = naysay("estimate", name, "--response", "x", "--sample", "arm", "--design", ARMS)
    assert code == 0
    assert "“yes” by sample (s.e.): open 0.300" in out
    assert "fit: Pearson X² = 0.00" in out
    assert "assumes: " in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (LIARS, "needs --sample COLUMN: the sample that each respondent was in"),
        ((*LIARS, "--level", "arm"), "offers no levels; leave --level out"),
        ((*LIARS, "--sample", "a"), "there is no column 'a'; the columns are 'x', 'arm', 'n'"),
        ((*LIARS, "--sample", "x"), "column 'x' is named twice"),
        ((*LIARS, "--sample", "n"), "which is no sample of this design; the samples are '1', '2'"),
        ((*WARNER, "--sample", "arm"), "warner(p=0.8) has one sample only; leave --sample out"),
        ((*LIARS, "--sample", "arm", "--target", "file"), "leave target='file' out"),
        ((*LIARS, "--sample", "arm", "--interval", "bootstrap"), "several samples are not bootstrapped"),
        ((*LIARS, "--sample", "arm", "--estimator", "stratified"), "needs an offer of levels"),
    ],
)
def test_samples_that_do_not_fit(refused, minarets, words, told):
    assert told in refused("estimate", minarets, *words)


def test_a_sample_without_a_name_is_shown_with_its_row(refused, write):
    name = write("m.csv", "x,arm", "yes,1", "no,", "yes,2")
    assert "column 'arm', row 2, is empty; say which sample it is" in refused(
        "estimate", name, *LIARS, "--sample", "arm"
    )


def test_a_silent_sample_says_what_it_leaves_open(refused, write):
    name = write("m.csv", "x,arm", "yes,1", "no,1")
    assert "(rank 1 of 2); nobody answered in sample 2" in refused("estimate", name, *LIARS, "--sample", "arm")


def test_two_answers_of_one_person_are_two_columns(naysay, write):
    pairs = ["same,different"] * 20 + ["different,different"] * 15 + ["different,same"] * 65
    name = write("a.csv", "x,anchor", *pairs)
    words = ("--design", "anchored_crosswise(prevalence=0.15, anchor=0.25)", "--response", "x", "--response", "anchor")
    told = json.loads(naysay("estimate", name, *words, "--format", "json").out)
    assert "attentive" in told["nuisance"]


# groups


def test_differences_stand_below_the_groups(naysay, groups):
    out = naysay("estimate", groups, *WARNER, "--by", "g").out
    below = out[out.index("Differences from north; 0.95 normal intervals") :].splitlines()
    assert below[2].split() == ["group", "category", "less", "north", "s.e.", "low", "high"]
    assert below[3].split()[:3] == ["south", "yes", "0.20"]
    assert below[-1].startswith("equality of the groups: LR = 3.1")


def test_differences_in_json_agree_with_python(naysay, groups):
    told = json.loads(naysay("estimate", groups, *WARNER, "--by", "g", "--format", "json").out)["differences"]
    design = designs.warner(p=0.8)
    tallies = design.tally(pl.read_csv(groups), "x", by="g")
    fits = {group: estimate.maximum_likelihood(design, tally) for group, tally in tallies.items()}
    found = estimate.differences(fits)
    assert (told["reference"], told["groups"]) == ("north", ["south"])
    np.testing.assert_allclose(told["differences"], found.difference)
    np.testing.assert_allclose(told["standard_errors"], found.standard_errors)
    np.testing.assert_allclose(told["covariance"], found.covariance)
    np.testing.assert_allclose(told["intervals"], found.interval())
    assert told["equality"] == {
        "test": "LR",
        "statistic": pytest.approx(found.statistic),
        "degrees_of_freedom": 1,
        "p_value": pytest.approx(found.p_value),
        "law": "χ²",
    }


def test_csv_keeps_its_rows_and_tells_the_test_beside_them(naysay, groups):
    code, out, err = naysay("estimate", groups, *WARNER, "--by", "g", "--format", "csv")
    assert code == 0
    assert [row["group"] for row in rows(out)] == ["north", "north", "south", "south"]
    assert "naysay: note: equality of the groups: LR = 3.1" in err


def test_one_group_has_no_differences(naysay, write):
    name = write("g.csv", "x,g", *["yes,north", "no,north"] * 10)
    told = json.loads(naysay("estimate", name, *WARNER, "--by", "g", "--format", "json").out)
    assert told.keys() == {"groups"}
    assert "Differences" not in naysay("estimate", name, *WARNER, "--by", "g").out


def test_hundreds_of_groups_are_read_one_by_one(naysay, write):
    name = write("g.csv", "x,g", *(f"{said},{place}" for place in range(31) for said in ("yes", "no", "no")))
    told = json.loads(naysay("estimate", name, *WARNER, "--by", "g", "--format", "json").out)
    assert len(told["groups"]) == 31
    assert told["differences"]["covariance"] is None
    assert told["differences"]["equality"]["degrees_of_freedom"] == 30
    shown = naysay("estimate", name, *WARNER, "--by", "g").out
    assert "31 groups, too many to list their differences" in shown
    assert "equality of the groups: score" in shown


def test_a_group_whose_answers_are_all_alike_has_an_interval(naysay, write):
    name = write("g.csv", "x,g", *["yes,north", "no,north"] * 10, *["no,south"] * 10)
    told = json.loads(naysay("estimate", name, *WARNER, "--by", "g", "--format", "json").out)["groups"][1]
    assert told["proportions"] == [0, 1]
    low, high = told["intervals"][0]
    assert low == 0
    assert high > 0.05


def test_a_group_without_any_answer_is_named(refused, write):
    name = write("g.csv", "x,g", "yes,north", "no,north", ",south")
    told = refused("estimate", name, *WARNER, "--by", "g")
    assert "in group 'south' at least one answer is needed; the one answer is missing" in told


def test_weighted_groups_are_compared_by_the_score(naysay, write):
    lines = [f"{'yes' if place % 3 else 'no'},{'a' if place % 2 else 'b'},{1 + place % 5}" for place in range(200)]
    name = write("w.csv", "x,g,w", *lines)
    told = json.loads(naysay("estimate", name, *WARNER, "--by", "g", "--weight", "w", "--format", "json").out)
    assert told["differences"]["equality"]["test"] == "score"
    assert told["groups"][0]["standard_error_kind"] == "sandwich, linearized for the weights"


# options


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("observed", "observed information"),
        ("expected", "expected information"),
        ("outer_product", "outer product of the scores"),
        ("sandwich", "sandwich"),
    ],
)
def test_the_kind_of_standard_errors_is_chosen_and_named(naysay, groups, kind, words):
    told = json.loads(naysay("estimate", groups, *WARNER, "--standard-errors", kind, "--format", "json").out)
    assert told["standard_error_kind"] == words
    assert f"standard errors: {words}" in naysay("estimate", groups, *WARNER, "--standard-errors", kind).out


def test_the_share_of_those_who_do_not_comply_is_chosen(naysay, groups):
    words = ("estimate", groups, *WARNER)
    assert "if up to 10 of 100 did not comply" in naysay(*words).out
    assert "if up to 25 of 100 did not comply" in naysay(*words, "--noncompliance", "0.25").out
    narrow, wide = (
        json.loads(naysay(*words, "--noncompliance", share, "--format", "json").out)["noncompliance"]
        for share in ("0.05", "0.25")
    )
    assert (narrow["share"], wide["share"]) == (0.05, 0.25)
    assert wide["bounds"][0][1] > narrow["bounds"][0][1]
    assert "did not comply" in naysay(*words, "--format", "csv").err


def test_who_does_not_comply_is_chosen(naysay, groups):
    words = ("estimate", groups, *WARNER)
    assert "did not comply (whatever is true of them, they gave" in naysay(*words).out
    assert "did not comply (like everyone else in" in naysay(*words, "--noncompliers", "alike").out
    told = json.loads(naysay(*words, "--noncompliers", "alike", "--format", "json").out)["noncompliance"]
    assert told["noncompliers"] == "alike"


def test_a_range_of_the_prevalence_gives_a_band(naysay, write):
    name = write("c.csv", "x", *["same"] * 38, *["different"] * 62)
    words = ("estimate", name, "--response", "x", "--design", "crosswise(prevalence=0.25, between=(0.23, 0.27))")
    assert "over the stated range of the prevalence: “yes” from 0.722 to 0.761" in naysay(*words).out
    assert "probability_band" in json.loads(naysay(*words, "--format", "json").out)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--standard-errors", "robust"), "'robust' is not one of"),
        (("--standard-errors", "expected", "--estimator", "moments"), "moments has standard errors of one kind"),
        (("--noncompliance", "1"), "the share of those who do not comply must lie in [0, 1); got 1"),
        (("--noncompliance", "-0.1"), "must lie in [0, 1); got -0.1"),
        (("--noncompliance", "few"), "--noncompliance"),
        (("--design", "warner(p=0.5)"), "p must not be 1/2"),
        (("--design", "unrelated_question(p=0.7, prevalence=1.2)"), "prevalence must lie in [0, 1]; got 1.2"),
        (("--design", "forced_response(forced_yes=0.6, forced_no=0.5)"), "must sum to less than one"),
        (("--design", "cheating_detection(p=(0.3, 0.3))"), "the two samples must carry different p"),
    ],
)
def test_options_that_do_not_fit(refused, groups, options, told):
    design = () if "--design" in options else ("--design", "warner(p=0.8)")
    assert told in refused("estimate", groups, "--response", "x", *design, *options)


def test_with_weights_only_the_sandwich_is_valid(refused, write):
    name = write("w.csv", "x,w", "yes,1", "no,2", "no,1.5")
    told = refused("estimate", name, *WARNER, "--weight", "w", "--standard-errors", "observed")
    assert "with survey weights only the sandwich is valid" in told


def test_weights_where_counts_were_meant(refused, write):
    name = write("w.csv", "x,w", "yes,1", "no,2", "no,1.5")
    told = refused("estimate", name, *WARNER, "--count", "w")
    assert "counts must be whole numbers; column 'w' holds 1.5 in row 3 (a survey weight goes into weights=)" in told


# yes and no


@pytest.mark.parametrize("said", [("yes", "no"), ("Yes", "NO"), ("1", "0"), ("true", "FALSE"), ("True", "False")])
@pytest.mark.parametrize("design", ["warner(p=0.8)", "crosswise(prevalence=0.8)", "kuk(p=(0.8, 0.2))"])
def test_yes_and_no_are_written_in_many_ways(naysay, write, said, design):
    name = write("x.csv", "x", *[said[0]] * 38, *[said[1]] * 62)
    told = json.loads(naysay("estimate", name, "--response", "x", "--design", design, "--format", "json").out)
    assert told["proportions"][0] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("column", [[1, 0], [1.0, 0.0], [True, False]])
def test_numbers_and_booleans_of_a_parquet_file_are_answers(naysay, tmp_path, column):
    pl.DataFrame({"x": [column[0]] * 38 + [column[1]] * 62 + [None]}).write_parquet(tmp_path / "x.parquet")
    told = json.loads(naysay("estimate", "x.parquet", *WARNER, "--format", "json").out)
    assert (told["proportions"][0], told["missing"]) == (pytest.approx(0.3, abs=1e-6), 1)


def test_anything_else_is_shown_with_the_values_found(refused, write):
    answers = ["yes", "no", "maybe", "yes", "never", "9"]
    told = refused("estimate", write("x.csv", "x", *answers), *WARNER)
    row, first = re.search(r"column 'x', row (\d), is '(\w+)', which is not a response here", told).groups()
    assert answers[int(row) - 1] == first
    beside = told.partition("also found: ")[2]
    assert {first, *re.findall(r"'(\w+)'", beside)} == {"maybe", "never", "9"}
