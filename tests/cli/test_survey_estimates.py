"""`naysay estimate --survey`: from the database, with the designs that were published."""

import json

import numpy as np
import pytest

from naysay import collect, estimate
from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.questionnaire import Questionnaire, sample

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
        (["--survey", "sample", "--response", "age"], "is plain"),
        (["--survey", "sample", "--response", "drugs"], "name one of 'drugs/cannabis'"),
        (["--survey", "sample", "--response", "smoking", "--by", "taxes"], "'taxes' is private"),
        (["--survey", "sample", "--response", "smoking", "--by", "income_level"], "is private"),
        (["--survey", "sample", "--response", "smoking", "--by", "news"], "no plain question 'news'"),
        (["--survey", "sample", "--response", "smoking", "--response", "taxes"], "give one --response"),
        (["--survey", "sample", "--design", "warner(p=0.7)"], "leave --design out"),
        (["--survey", "sample", "--level", "x"], "leave --level out"),
        (["--survey", "sample", "--cluster", "x"], "leave --cluster out: a survey on the web has no such columns"),
        (["--survey", "sample", "--replicates", "rw*"], "leave --replicates out"),
        (["--survey", "sample", "--format", "csv"], "csv holds one question"),
        (["answers.csv", "--survey", "sample"], "got both"),
        (["--survey", "silent", "--response", "smoking"], "nobody has answered 'silent' yet"),
        (["--survey", "plain"], "has no private question"),
    ],
)
def test_what_cannot_be_estimated_is_refused(refused, data, words, problem):
    assert problem in refused("estimate", *words, "--data", data)


def test_no_database_is_made_where_there_is_none(refused, tmp_path):
    assert "there is no database in 'nowhere'" in refused("estimate", "--survey", "sample", "--data", "nowhere")
    assert list(tmp_path.iterdir()) == []
