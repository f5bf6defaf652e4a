"""``naysay crosstab``: from a file to text, JSON, CSV and a page."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from naysay import collect, designs
from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.questionnaire import sample
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.crosstab import Variable, crosstab, joint

WARNER = designs.warner(p=0.8)
CHOICE = designs.negative_levels(("low", "middle", "high"))
ASKED = ("--row", "cheated", "--row-design", "warner(p=0.8)", "--column", "sex")
LEVELS = (
    *("--layer", "income", "--layer-design", "negative_levels()"),
    *("--layer-categories", "low,middle,high", "--layer-level", "level"),
)


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(5)
    n = 600
    sex = rng.choice(["f", "m"], n)
    cheated = np.where(rng.random(n) < np.where(sex == "m", 0.4, 0.2), "yes", "no")
    level = rng.choice([1, 2], n)
    income = CHOICE.randomize(rng.choice(["low", "middle", "high"], n), level=level, rng=rng).texts()
    table = {"cheated": np.asarray(WARNER.randomize(cheated, rng=rng)), "sex": sex, "income": income, "level": level}
    table |= {"w": rng.uniform(1, 3, n).round(2), "psu": rng.integers(0, 40, n), "age": rng.choice([1, 2, 3], n)}
    pl.DataFrame(table).write_csv(tmp_path / "answers.csv")
    return table


def test_the_numbers_are_those_of_the_library(naysay, people):
    code, out, err = naysay("crosstab", "answers.csv", *ASKED, "--format", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    found = crosstab(people, row=Variable("cheated", WARNER), column="sex")
    np.testing.assert_allclose(told["proportions"], found.proportions)
    np.testing.assert_allclose(told["intervals"], found.interval())
    np.testing.assert_allclose(told["covariance"], found.covariance)
    assert [each["name"] for each in told["associations"]] == ["odds ratio", "correlation"]
    assert told["independence"]["reference"].startswith("parametric bootstrap")
    assert told["variables"][1] == {"column": "sex", "design": None, "categories": ["f", "m"]}
    assert list(told)[:4] == ["variables", "n", "answered_in_part", "missing"]


def test_text_and_what_the_seed_settles(naysay, people):
    code, out, err = naysay("crosstab", "answers.csv", *ASKED, "--seed", "3", "--bootstrap", "99")
    assert (code, err) == (0, "")
    assert out.startswith("cheated × sex: warner(p=0.8) × plain\n600 people, each answered every question\n")
    for words in (
        "Shares of all",
        "Shares of sex within each cheated",
        "odds ratio",
        "independence of rows and columns",
    ):
        assert words in out
    assert naysay("crosstab", "answers.csv", *ASKED, "--seed", "3", "--bootstrap", "99").out == out
    assert "(χ²)" in naysay("crosstab", "answers.csv", *ASKED, "--bootstrap", "0").out


def test_csv_has_a_line_for_each_cell(naysay, people):
    code, out, err = naysay("crosstab", "answers.csv", *ASKED, *LEVELS, "--format", "csv", "--bootstrap", "0")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert len(rows) == 12
    assert {row["income"] for row in rows} == {"low", "middle", "high"}
    assert sum(float(row["proportion"]) for row in rows) == pytest.approx(1)
    of_row = [float(r["row_share"]) for r in rows if (r["cheated"], r["income"]) == ("yes", "low")]
    assert sum(of_row) == pytest.approx(1)
    assert err.startswith("naysay: note: independence of rows and columns in each income: LR")


def test_weights_and_clusters(naysay, people):
    plain = json.loads(naysay("crosstab", "answers.csv", *ASKED, "--weight", "w", "--format", "json").out)
    drawn = json.loads(
        naysay("crosstab", "answers.csv", *ASKED, "--weight", "w", "--cluster", "psu", "--format", "json").out
    )
    np.testing.assert_allclose(plain["proportions"], drawn["proportions"])
    assert plain["independence"]["design_effects"] != drawn["independence"]["design_effects"]
    assert drawn["independence"]["reference"].startswith("F, Rao & Scott")


def test_scores_order_categories(naysay, people):
    asked = ("--row", "age", "--column", "sex", "--bootstrap", "0", "--format", "json")
    one = json.loads(naysay("crosstab", "answers.csv", *asked).out)["associations"]
    other = json.loads(naysay("crosstab", "answers.csv", *asked, "--row-scores", "1,2,9").out)["associations"]
    assert [each["name"] for each in one] == ["correlation", "Cramér's V"]
    assert one[0]["value"] != other[0]["value"]
    assert one[1] == other[1]


def test_counts_stand_for_people(naysay, people):
    table = pl.DataFrame(people).group_by("cheated", "sex").len("n")
    table.write_csv("counts.csv")
    whole = naysay("crosstab", "answers.csv", *ASKED, "--format", "csv").out
    assert naysay("crosstab", "counts.csv", *ASKED, "--count", "n", "--format", "csv").out == whole


def test_a_page_with_heat_maps(naysay, people):
    assert naysay("crosstab", "answers.csv", *ASKED, *LEVELS, "--bootstrap", "0", "--html", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("income = low: percent of all") >= 1
    assert page.count('role="img"') == 6  # three layers, on a wide screen and on a phone
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*ASKED, "--layer-design", "warner(p=0.8)"), "--layer-design is given without --layer COLUMN"),
        (("--row", "cheated", "--column", "cheated"), "column 'cheated' is named twice"),
        (("--row", "cheated", "--column", "sexx"), "there is no column 'sexx'"),
        ((*ASKED, "--row-level", "level"), "warner(p=0.8) has no levels; leave the level of 'cheated' out"),
        ((*ASKED, "--row-scores", "a,b"), "--row-scores must be numbers, such as 1,2,3; got 'a,b'"),
        ((*ASKED, "--column-categories", "f,m,d"), "an empty margin: nobody answered 'd' in column 'sex'"),
        ((*ASKED, "--column-categories", "f,d"), "is 'm'"),
        ((*ASKED, "--count", "sex"), "column 'sex' is named twice; each column has one role"),
        ((*ASKED, "--bootstrap", "-1"), "replicates must not be negative"),
        ((*ASKED, "--confidence", "2"), "confidence"),
    ],
)
def test_what_cannot_be_crossed_is_one_line(refused, people, options, message):
    assert message in refused("crosstab", "answers.csv", *options)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with the sample survey, answered by 200 people."""
    folder = tmp_path_factory.mktemp("data")
    store = Store(folder / "naysay.db")
    with background(create_app([sample()], store, each=0)) as server:
        survey = respond.fetch(f"{server}/s/sample")
        respond.many(survey, respond.anybody(survey.questionnaire, 200, seed=1))
    store.dispose()
    return folder


def test_a_survey_brings_its_designs(naysay, data):
    code, out, err = naysay(
        "crosstab", "--survey", "sample", "--data", data, "--row", "income", "--column", "smoking", "--format", "json"
    )
    assert (code, err) == (0, "")
    told = json.loads(out)
    replies = collect.replies(data / "naysay.db", "sample")
    row = Variable("income", replies.private["income"], replies.level_of("income"))
    found = crosstab(replies.frame, row=row, column=Variable("smoking", replies.private["smoking"]))
    np.testing.assert_allclose(told["proportions"], found.proportions)
    assert "anyone who has the link can answer any number of times" in " ".join(told["warnings"])


def test_choices_of_one_question_share_their_level(naysay, data):
    asked = ("--row", "drugs/cannabis", "--column", "drugs/cocaine", "--bootstrap", "0")
    code, out, err = naysay("crosstab", "--survey", "sample", "--data", data, *asked)
    assert (code, err) == (0, "")
    assert out.startswith("drugs/cannabis × drugs/cocaine: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", "income", "--column", "nothing"), "there is no column 'nothing'"),
        (("--row", "income", "--column", "smoking", "--count", "n"), "leave --count out"),
        (("--row", "income", "--column", "smoking", "--row-level", "x"), "leave --row-level out"),
        (("--row", "income", "--column", "smoking", "--strata", "x"), "leave --strata out"),
    ],
)
def test_what_a_survey_says_already_is_not_asked(refused, data, options, message):
    assert message in refused("crosstab", "--survey", "sample", "--data", data, *options)


def test_a_file_or_a_survey(refused):
    assert "give FILE or --survey NAME" in refused("crosstab", "--row", "a", "--column", "b")


@pytest.fixture
def release(naysay, tmp_path):
    """A file that ``naysay randomize`` wrote, with weights beside it, and its designs."""
    rng = np.random.default_rng(6)
    columns = {"place": ["north", "south", "west"], "mode": ["car", "bus", "foot"], "asked": ["yes", "no"]}
    table = pl.DataFrame({name: rng.choice(labels, 500) for name, labels in columns.items()})
    amounts = {"w": rng.uniform(1, 3, 500).round(2), "n": rng.integers(1, 4, 500), "zero": np.zeros(500, int)}
    table.with_columns(**amounts, age=rng.integers(18, 90, 500)).write_csv(tmp_path / "people.csv")
    words = ("--response", "place", "--categories", "north,south,west", "--response", "mode")
    more = ("--categories", "car,bus,foot", "--design", "negative()", "--seed", 1, "--out", "release.csv")
    assert naysay("randomize", "people.csv", *words, *more).code == 0
    return pl.read_csv(tmp_path / "release.csv")


JOINED = ("--joint", "place", "--joint", "mode")


@pytest.mark.parametrize("amounts", [(), ("--weight", "w"), ("--count", "n"), ("--weight", "w", "--count", "n")])
def test_attributes_of_a_release_are_joined_as_in_python(naysay, release, amounts):
    told = json.loads(naysay("crosstab", "release.csv", *JOINED, "--joint", "asked", *amounts, "--format", "json").out)
    designs_of = {"place": ("north", "south", "west"), "mode": ("car", "bus", "foot")}
    variables = [*(Variable(name, designs.negative(labels)) for name, labels in designs_of.items())]
    names = {"--weight": "weights", "--count": "count"}
    keywords = {names[name]: column for name, column in zip(amounts[::2], amounts[1::2], strict=True)}
    found = joint(release, [*variables, Variable("asked", "plain")], **keywords)
    assert told["labels"][2] == ["no", "yes"]
    np.testing.assert_allclose(told["proportions"], found.proportions)
    np.testing.assert_allclose(told["intervals"], found.intervals)
    rows = list(
        csv.DictReader(io.StringIO(naysay("crosstab", "release.csv", *JOINED, *amounts, "--format", "csv").out))
    )
    marginal = found.marginal("place", "mode")
    assert [float(row["standard_error"]) for row in rows] == pytest.approx(marginal.standard_errors.ravel())
    printed = naysay("crosstab", "release.csv", *JOINED, *amounts).out
    assert printed.startswith("place × mode: 9 cells, ")
    assert ("shares of the sum of the survey weights" in printed) == ("w" in amounts)


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("release.csv", ("--joint", "place", "--joint", "place"), "name different attributes, one at least"),
        ("release.csv", ("--joint", "plac"), "did you mean 'place'?"),
        ("release.csv", ("--joint", "asked", "--joint", "age"), "no design of 'asked', 'age' lies beside"),
        ("people.csv", JOINED, "no design of 'place', 'mode' lies beside 'people.csv'"),
        ("release.csv", (*JOINED, "--row", "place"), "leave --row out"),
        ("release.csv", (*JOINED, "--strata", "age"), "leave --strata out"),
        ("release.csv", (*JOINED, "--html", "x.html"), "leave --html out"),
        ("release.csv", (*JOINED, "--estimator", "moments"), "leave --estimator out"),
        ("release.csv", (*JOINED, "--weight", "mode"), "column 'mode' is named twice"),
        ("release.csv", (*JOINED, "--weight", "n", "--count", "n"), "column 'n' is named twice"),
        ("release.csv", (*JOINED, "--weight", "zero"), "weights must not all be 0, as in 'zero'"),
        ("release.csv", (*JOINED, "--count", "w"), "counts must be whole numbers"),
        ("release.csv", (*JOINED, "--confidence", "95"), "confidence must lie between 0 and 1"),
        ("release.csv", ("--row", "place"), "name two variables, --row COLUMN and --column COLUMN, or any number by"),
    ],
)
def test_what_cannot_be_joined_is_one_line(refused, release, file, options, message):
    assert message in refused("crosstab", file, *options)


def test_attributes_are_joined_from_a_file(refused):
    assert "--joint reads FILE" in refused("crosstab", *JOINED)
