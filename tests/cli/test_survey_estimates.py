"""`naysay estimate --survey`: from the database, with the designs that were published."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

from naysay import collect, estimate, files
from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.questionnaire import Questionnaire, sample
from naysay.collect.serving import background
from naysay.collect.storage import Store

PRIVATE = ["income", "smoking", "taxes", "partners", "drugs/cannabis", "drugs/cocaine", "drugs/sedatives"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with the sample survey, answered by 150 people, one that nobody answered, and a plain one."""
    folder = tmp_path_factory.mktemp("data")
    plain = sample().model_copy(update={"name": "plain", "items": sample().items[:3]})
    silent = Questionnaire.model_validate({**sample().form(), "name": "silent"})
    store = Store(folder / "naysay.db")
    with background(create_app([sample(), silent, plain], store, each=0)) as server:
        survey = respond.fetch(f"{server}/s/sample")
        respond.many(survey, respond.anybody(survey.questionnaire, 150, seed=1))
    store.dispose()
    return folder


@pytest.fixture
def replies(data):
    return collect.replies(data / "naysay.db", "sample")


def told(naysay, data, *words):
    code, out, err = naysay("estimate", "--survey", "sample", "--data", data, *words)
    assert code == 0, err
    return out


@pytest.mark.parametrize("question", ["income", "smoking", "drugs/cocaine"])
def test_the_estimate_is_that_of_the_published_design(naysay, data, replies, question):
    found = json.loads(told(naysay, data, "--response", question, "--format", "json"))
    design, tally = replies.private[question], collect.tally(replies, question)
    levels = question == "income"
    fit = (estimate.stratified if levels else estimate.maximum_likelihood)(design, tally)
    assert found["question"] == question
    assert (found["n"], found["missing"]) == (tally.n, tally.missing)
    np.testing.assert_allclose(found["proportions"], fit.proportions)


def test_all_formats_and_estimators_work_as_for_files(naysay, data):
    assert told(naysay, data, "--response", "income", "--estimator", "pooled").startswith("income")
    assert told(naysay, data, "--response", "smoking", "--format", "csv").startswith("category,proportion")
    found = json.loads(told(naysay, data, "--response", "smoking", "--estimator", "moments", "--format", "json"))
    assert found["method"].startswith("moments")


def test_without_a_question_all_private_ones_come_in_turn(naysay, data, replies):
    found = json.loads(told(naysay, data, "--format", "json"))
    assert found["survey"] == "sample"
    names = [each["question"] for each in found["questions"]]
    assert names == list(replies.private)
    assert set(PRIVATE) <= set(names)
    out = told(naysay, data)
    assert all(name in out for name in names)


@pytest.mark.parametrize(
    ("question", "points"), [("income", 4), ("smoking", 1.75), ("drugs/cocaine", 1.5), ("partners", 5)]
)
def test_every_estimate_says_what_a_few_dishonest_answers_would_move(naysay, data, question, points):
    line = (
        "anyone who has the link can answer any number of times: of every 100 answers, a single one that is repeated "
        f"or dishonest moves a share by up to {points:g} percentage points (by moments)"
    )
    assert line in json.loads(told(naysay, data, "--response", question, "--format", "json"))["warnings"]
    assert line in " ".join(told(naysay, data, "--response", question).split())
    csv = naysay("estimate", "--survey", "sample", "--data", data, "--response", question, "--format", "csv")
    assert f"naysay: note: {line}" in csv.err
    grouped = json.loads(told(naysay, data, "--response", question, "--by", "area", "--format", "json"))
    assert all(line in each["warnings"] for each in grouped["groups"])


def test_groups_come_from_a_plain_question(naysay, data, replies):
    found = json.loads(told(naysay, data, "--response", "smoking", "--by", "area", "--format", "json"))
    assert {each["group"] for each in found["groups"]} == {"city", "town", "country"}
    assert sum(each["n"] for each in found["groups"]) == collect.tally(replies, "smoking").n


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--survey", "sampel"], "there is no survey 'sampel'"),
        (["--survey", "sample", "--response", "smokin"], "has no question 'smokin'; did you mean 'smoking'?"),
        (["--survey", "sample", "--response", "remarks"], "holds texts, of which nothing is estimated"),
        (["--survey", "sample", "--response", "income_level"], "has no question 'income_level'"),
        (["--survey", "sample", "--language", "fr"], "has no texts in 'fr'; it has en, de, es, ar"),
        (["--survey", "sample", "--response", "drugs"], "name one of 'drugs/cannabis'"),
        (["--survey", "sample", "--response", "smoking", "--by", "taxes"], "'taxes' is private"),
        (["--survey", "sample", "--response", "smoking", "--by", "income_level"], "is private"),
        (["--survey", "sample", "--response", "smoking", "--by", "news"], "no plain question 'news'"),
        (["--survey", "sample", "--response", "age", "--by", "taxes"], "'taxes' is private"),
        (["--survey", "sample", "--response", "smoking", "--response", "taxes"], "give one --response"),
        (["--survey", "sample", "--design", "warner(p=0.7)"], "leave --design out"),
        (["--survey", "sample", "--level", "x"], "leave --level out"),
        (["--survey", "sample", "--cluster", "x"], "leave --cluster out: a survey on the web has no such columns"),
        (["--survey", "sample", "--replicates", "rw*"], "leave --replicates out"),
        (["--survey", "sample", "--format", "csv"], "csv holds one question"),
        (["answers.csv", "--survey", "sample"], "got both"),
        (["--survey", "silent", "--response", "smoking"], "nobody has answered 'silent' yet"),
        (["--survey", "plain"], "nobody has answered 'plain' yet"),
        (["--survey", "plain", "--format", "json"], "has no private question"),
        (["--survey", "sample", "--html", "no/where.html"], "there is no folder 'no'"),
    ],
)
def test_what_cannot_be_estimated_is_refused(refused, data, words, problem):
    assert problem in refused("estimate", *words, "--data", data)


def test_people_read_labels_in_their_language(naysay, data):
    out = told(naysay, data, "--response", "smoking", "--language", "de")
    assert out.startswith("smoking: Rauchen Sie?: warner(p=0.7)")
    assert {line.split()[0] for line in out.splitlines() if line.startswith(("Ja", "Nein"))} == {"Ja", "Nein"}
    grouped = told(naysay, data, "--response", "smoking", "--by", "area", "--language", "de")
    assert "area = Auf dem Land" in grouped
    assert "In einer Stadt" in grouped


def test_programs_read_names_and_labels_beside_them(naysay, data):
    found = json.loads(told(naysay, data, "--response", "smoking", "--language", "de", "--format", "json"))
    assert (found["categories"], found["labels"]) == (["yes", "no"], ["Ja", "Nein"])
    bare = json.loads(told(naysay, data, "--response", "smoking", "--format", "json"))
    assert {name: value for name, value in found.items() if name != "labels"} == bare
    every = json.loads(told(naysay, data, "--format", "json", "--language", "en"))
    assert all(len(each["labels"]) == len(each["categories"]) for each in every["questions"])


def test_plain_questions_are_tables_with_intervals(naysay, data, replies):
    found = json.loads(told(naysay, data, "--response", "area", "--format", "json"))
    said = replies.frame["area"].drop_nulls()
    counts = [int((said == name).sum()) for name in ("city", "town", "country")]
    assert (found["counts"], found["n"]) == (counts, len(said))
    np.testing.assert_allclose(found["proportions"], np.array(counts) / len(said))
    assert all(low < share < high for share, (low, high) in zip(found["proportions"], found["intervals"], strict=True))
    ages = json.loads(told(naysay, data, "--response", "age", "--format", "json"))
    assert ages["mean"]["value"] == pytest.approx(replies.frame["age"].mean())
    assert ages["median"]["value"] == replies.frame["age"].median()
    assert "In the countryside" in told(naysay, data, "--response", "area")
    assert "mean" in told(naysay, data, "--response", "age", "--by", "area")
    assert told(naysay, data, "--response", "age", "--format", "csv").startswith("measure,value,s.e.,low,high")
    grouped = told(naysay, data, "--response", "age", "--by", "area", "--format", "csv").splitlines()
    assert grouped[0] == "group,measure,value,s.e.,low,high"
    assert len(grouped) == 1 + 3 * 4
    shared = told(naysay, data, "--response", "news/paper", "--format", "csv").splitlines()
    assert [line.split(",")[0] for line in shared] == ["answer", "1", "0"]


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ([], ["Do you smoke", "median"]),
        (["--response", "income", "--by", "area"], ["Differences", "area = In a city"]),
        (["--response", "age"], ["On average ", "first quartile"]),
        (["--response", "area"], ["No clear first: ", "In the countryside"]),
    ],
)
def test_a_page_holds_what_is_printed(naysay, data, words, held):
    told(naysay, data, *words, "--html", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert all(text in page for text in ["A sample survey", *held])


@pytest.mark.parametrize("suffix", ["sav", "dta", "csv", "parquet", "xlsx"])
def test_an_export_is_estimated_as_its_database(naysay, data, suffix):
    out = f"data.{suffix}"
    assert naysay("survey", "export", "sample", "--data", data, "--to", out).code == 0
    found = json.loads(naysay("estimate", out, "--format", "json").out)
    expected = json.loads(told(naysay, data, "--format", "json", "--language", "en"))
    assert len(found["questions"]) == len(expected["questions"])
    for one, other in zip(found["questions"], expected["questions"], strict=True):
        np.testing.assert_allclose(one["proportions"], other["proportions"], atol=1e-6)
        assert one["labels"] == other["labels"]
    assert [each["n"] for each in found["plain"]] == [each["n"] for each in expected["plain"]]
    income = naysay("estimate", out, "--response", "income", "--by", "area")
    assert "area = In a city" in income.out
    by_code = naysay("estimate", out, "--response", "income", "--codes").out
    assert len(re.findall("^below_1000 ", by_code, re.MULTILINE)) == 1  # a sentence may name it, too
    assert naysay("risk", out, "--keys", "area,smoking,income").code == 0


def test_a_researcher_adds_weights_to_an_export(naysay, refused, data):
    assert naysay("survey", "export", "sample", "--data", data, "--to", "data.sav").code == 0
    frame, told_ = pyreadstat.read_sav("data.sav", output_format="polars")
    pyreadstat.write_sav(
        frame.with_columns(w=pl.lit(2.0)), "data.sav", variable_value_labels=told_.variable_value_labels
    )
    weighted = json.loads(
        naysay("estimate", "data.sav", "--response", "income", "--weight", "w", "--format", "json").out
    )
    bare = json.loads(naysay("estimate", "data.sav", "--response", "income", "--format", "json").out)
    np.testing.assert_allclose(weighted["proportions"], bare["proportions"])
    assert weighted["categories"] == bare["labels"]
    assert "--design DESIGN is missing" in refused("estimate", "data.sav", "--response", "age", "--weight", "w")


def test_an_export_is_regressed_with_the_designs_that_it_carries(naysay, refused, data):
    assert naysay("survey", "export", "sample", "--data", data, "--to", "data.csv").code == 0
    # The phones draw at random: without the penalty, a survey now and then separates the answers by area.
    words = ("regress", "smoking ~ C(area)", "data.csv", "--format", "json", "--missing", "drop", "--penalty", "1")
    design = files.designs_of(Path("data.csv"))["smoking"].design.to_json()
    assert naysay(*words).out == naysay(*words, "--design", design).out != ""
    assert "--design DESIGN is missing: how the answers in 'area' were" in refused("regress", "area ~ 1", "data.csv")


def test_an_export_is_not_written_over(naysay, refused, data):
    words = ("survey", "export", "sample", "--data", data, "--to", "data.csv")
    assert naysay(*words).code == 0
    assert "'data.csv' exists; add --force" in refused(*words)
    Path("data.csv").unlink()
    assert "'data.csv.codebook.md' exists; add --force" in refused(*words)
    assert naysay(*words, "--force").code == 0
    assert "there is no folder 'no'" in refused(*words[:-1], "no/data.csv")


def test_a_file_without_a_survey_has_its_page(naysay, survey):
    words = ("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)", "--by", "sport")
    assert naysay(*words, "--html", "page.html").code == 0
    assert "sport = judo" in Path("page.html").read_text(encoding="utf-8")


def test_no_database_is_made_where_there_is_none(refused, tmp_path):
    assert "there is no database in 'nowhere'" in refused("estimate", "--survey", "sample", "--data", "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_the_methods_of_a_survey_name_each_question_and_cite_each_paper_once(naysay, data, replies):
    code, out, err = naysay("estimate", "--survey", "sample", "--data", data, "--methods-text")
    assert code == 0, err
    keys = [line.partition("{")[2] for line in out.splitlines() if line.startswith("@")]
    assert len(keys) == len(set(keys)) > 1
    paragraphs = out.partition("\n\n@")[0].split("\n\n")
    assert len(paragraphs) == len(replies.private)
    assert all(" people answered “" in paragraph for paragraph in paragraphs)
