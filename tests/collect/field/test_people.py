"""A table of true answers, read as the page would take them; refusals name row and column, and never the value."""

import datetime

import pytest

from naysay.collect import respond
from naysay.collect.device.people import draw_replies
from naysay.errors import DataError

SECRET = "canary-4711"


def test_a_table_is_read_as_the_page_takes_answers(questionnaire, truth):
    people = respond.checked(questionnaire, truth)
    assert people.column("news") == [["a", "c"], None, ["b"]]
    assert people.column("views") == [{"x": "a", "y": None}, None, {"x": "b", "y": "c"}]
    assert people.column("order") == [["b", "a", "c"], None, ["c", "b", "a"]]
    assert people.column("drugs") == [["tea"], [], None]
    assert people.column("drinks") == ["few", "many", "few"]
    assert people.levels["party"] == ["3", "coin", "1"]


def test_cells_may_be_texts_or_values(questionnaire):
    texts = {"age": ["30"], "sleep": ["7.50"], "health": ["4"], "moved": ["2020-02-29"], "drugs": ["wine"]}
    values = {
        "age": [30.0],
        "sleep": [7.5],
        "health": [4],
        "moved": [datetime.date(2020, 2, 29)],
        "drugs": [["wine"]],
    }
    read = [respond.checked(questionnaire, columns) for columns in (texts, values)]
    for name in texts:
        assert read[0].column(name) == read[1].column(name)


@pytest.mark.parametrize(
    ("column", "cell", "told"),
    [
        ("age", SECRET, "row 2, column 'age' must be a whole number from 0 to 120; it is a text"),
        ("age", "12.5", "must be a whole number"),
        ("area", SECRET, "column 'area' must be the name of one of its choices; it is a text"),
        ("news", f"a;{SECRET}", "must be a list of its choices"),
        ("news", "a;a", "must be a list of its choices, each once"),
        ("sleep", "25", "must be a number from 0 to 24"),
        ("moved", "2020-02-30", "must be a day"),
        ("health", 9, "must be a whole number from 1 to 5; it is a number"),
        ("views/x", SECRET, "column 'views/…' must be an object of all its rows"),
        ("order", "a;b", "must be a list of all its choices"),
        ("party", SECRET, "row 2, column 'party' must be the name of one of its choices; it is a text"),
        ("party_level", "2", "row 2, column 'party_level' must be a level that is offered; known are '1', '3', 'coin'"),
        ("drugs", SECRET, "column 'drugs' must be a list of its choices"),
        ("drugs/tea", SECRET, "must be yes or no (1 or 0); it is a text"),
        ("drinks", SECRET, "must be a whole number"),
        ("other", "a\tb", "must be a text without control characters"),
    ],
)
def test_a_cell_that_is_no_answer_is_refused(questionnaire, column, cell, told):
    with pytest.raises(DataError) as refused:
        respond.checked(questionnaire, {column: [None, cell]})
    assert told in str(refused.value)
    assert SECRET not in str(refused.value)
    assert refused.value.value is None


@pytest.mark.parametrize(
    ("columns", "levels", "told"),
    [
        ({"agee": [1]}, {}, "column 'agee' belongs to no question (did you mean 'age'?)"),
        ({"views/z": ["a"]}, {}, "belongs to no question"),
        ({"rare_level": ["1"]}, {}, "'rare' offers no levels"),
        ({"rare": ["a"]}, {"rare": "1"}, "'rare' offers no levels"),
        ({"party": ["a"], "party_level": ["1"]}, {"party": "3"}, "given twice"),
        ({"party": ["a"]}, {"party": "2"}, "must be a level that is offered"),
        ({"party": ["a"]}, {"parti": "3"}, "there is no question 'parti'"),
        ({"drugs": ["tea"], "drugs/tea": ["yes"]}, {}, "a column of its own and columns of its parts"),
        ({"drugs/tea": ["yes"]}, {}, "must say yes or no (1 or 0) for every choice"),
        ({"age": [1, 2], "area": ["a"]}, {}, "equally long"),
        ({"age": []}, {}, "nobody"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(questionnaire, columns, levels, told):
    with pytest.raises(DataError) as refused:
        respond.checked(questionnaire, columns, levels=levels)
    assert told in str(refused.value)


def test_what_is_not_asked_is_not_sent(questionnaire, truth):
    sent = draw_replies(questionnaire, respond.checked(questionnaire, truth))
    assert [each["other"] for each in sent.answers] == [truth["other"][0], None, None]
    assert sent.unasked == 1
    assert [list(each) for each in sent.answers] == [[question.name for question in questionnaire.questions]] * 3


def test_responses_are_those_of_the_level(questionnaire, truth):
    for _ in range(20):
        first, second, third = draw_replies(questionnaire, respond.checked(questionnaire, truth)).answers
        assert len(first["party"]["response"].split(";")) == 3
        assert "a" not in first["party"]["response"].split(";")
        assert second["party"] == {"level": "coin", "response": second["party"]["response"]}
        assert second["party"]["response"] in "abcde"
        assert third["party"]["level"] == "1"
        assert first["rare"]["response"] in "bc"
        assert first["drugs"].keys() == {"tea", "wine"}
        assert third["drugs"] is None
        assert third["rare"] is None


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"age": [20, None]}, "row 2: question 'age' must be answered"),
        ({"age": [20, 17]}, "row 2: question 'age' must fulfill its constraint"),
        ({"age": [20, 20], "news": ["a", "c"]}, "row 2: question 'other' must be answered"),
    ],
)
def test_people_who_do_not_follow_the_survey_are_refused(questionnaire, columns, told):
    with pytest.raises(DataError) as refused:
        draw_replies(questionnaire, respond.checked(questionnaire, columns))
    assert told in str(refused.value)


def test_random_people_follow_the_survey(questionnaire):
    people = respond.anybody(questionnaire, 200, seed=5)
    assert people.column("age") == respond.anybody(questionnaire, 200, seed=5).column("age")
    sent = draw_replies(questionnaire, people).answers
    assert {each["party"]["level"] for each in sent} == {"1", "3", "coin"}
    assert min(each["age"] for each in sent) >= 18
    assert {name for name in ("a", "b", "c") for each in sent if name in each["news"]} == {"a", "b", "c"}
