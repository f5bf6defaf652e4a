"""A body, held against the survey: what is taken, and that every refusal says what must hold and nothing else."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.collect import Published, Reader, Refusal
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne, Text
from naysay.collect.survey import submission
from naysay.collect.survey.published import body_length

TODAY = datetime.date(2026, 11, 20)


@pytest.fixture(scope="session")
def reader(published):
    return Reader(published)


@pytest.fixture
def refusal(reader):
    """Why a body is refused."""

    def told(content):
        with pytest.raises(Refusal) as refused:
            reader.read(content, today=TODAY)
        return refused.value

    return told


def test_answers_of_every_kind_are_taken(reader, published, answers, write_body):
    found = reader.read(write_body(published, answers, id="ab" * 16), today=TODAY)
    assert (found.id, found.answers) == ("ab" * 16, answers)
    assert json.loads(found.text) == answers


def test_what_is_not_required_may_be_left_out(reader, published, answers, write_body):
    nothing = dict.fromkeys(answers) | {"age": 18}
    assert reader.read(write_body(published, nothing), today=TODAY).answers == nothing


@pytest.mark.parametrize(
    ("question", "values", "told"),
    [
        ("age", ["30", 30.0, True, -1, 121, [], {}], "'age' must be a whole number from 0 to 120"),
        ("age", [17], "'age' must fulfill its constraint"),
        ("age", [None], "'age' must be answered"),
        ("area", ["d", 1, ["a"], "A", ""], "'area' must be the name of one of its choices"),
        ("news", ["a", ["c", "a"], ["a", "a", "c"], ["c", "d"], [["c"]]], "'news' must be a list of its choices"),
        ("news", [["a"], None], "'other' is not asked after these answers: it must be null"),
        ("other", [None, ""], "'other' must be answered"),
        ("other", ["x" * 21, 5], "'other' must be a text of 20 characters at most"),
        ("other", ["a\x00", "a\r", "a\x1b[0m", "a\x85"], "without control characters"),
        ("sleep", ["7", -0.1, 24.5, False], "'sleep' must be a number"),
        ("moved", ["2020-02-30", "2020-2-1", 2020, "２０２０-01-01"], "'moved' must be a day"),
        ("moved", ["2026-11-22"], "'moved' must fulfill its constraint"),
        ("health", [0, 6, 2.5], "'health' must be a whole number from 1 to 5"),
        (
            "views",
            [{"x": "a"}, dict.fromkeys("xyz", "a"), {"x": "a", "y": "d"}, []],
            "'views' must be an object of all",
        ),
        ("order", [["a", "b"], ["a", "b", "b"], [1, 2, 3], "abc"], "'order' must be a list of all its choices"),
        (
            "party",
            ["a", {"response": "a"}, {"response": "a", "level": "1"}],
            "'party' is private: it must be an object",
        ),
        ("party", [{"level": each, "response": "a"} for each in (None, 1, "2", [])], "'party' must name a level"),
        ("party", [{"level": "1", "response": each} for each in ("a;b", "f", "", None, " a")], "that its design can"),
        ("party", [{"level": "3", "response": each} for each in ("a", "b;a;c", "a;a;b")], "that its design can give"),
        ("rare", [{"level": "1", "response": "a"}], "'rare' must name a level that is offered (null)"),
        ("drugs", [{"tea": {"level": None, "response": "yes"}}], "'drugs' is private: it must be an object of all"),
        ("drinks", [3, {"level": None, "response": "5"}], "'drinks'"),
    ],
)
def test_what_an_answer_must_be(question, values, told, refusal, published, answers, write_body):
    for value in values:
        found = refusal(write_body(published, answers | {question: value}))
        assert (found.code, found.status) == ("malformed", 422)
        assert f"question '{question}'" in found.message or "news" in question
        assert told in found.message


def test_rows_may_come_in_any_order(reader, published, answers, write_body):
    """JavaScript moves names that are whole numbers to the front; what is stored is the same."""
    texts = {
        reader.read(write_body(published, answers | {"views": dict(views)}), today=TODAY).text
        for views in ((("x", "a"), ("y", "b")), (("y", "b"), ("x", "a")))
    }
    assert len(texts) == 1


def test_words_for_yes_are_no_responses(refusal, published, answers, write_body):
    """The core reads 1, true and YES as yes; the page sends the label as it is, and nothing else is taken."""
    for word in ("YES", "1", "true"):
        drugs = {name: {"level": None, "response": word} for name in ("tea", "wine")}
        assert "design can give" in refusal(write_body(published, answers | {"drugs": drugs})).message


def test_today_is_the_day_of_any_clock(reader, published, answers, write_body):
    for day in ("2026-11-19", "2026-11-20", "2026-11-21"):
        reader.read(write_body(published, answers | {"moved": day}), today=TODAY)


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"survey": "0" * 64}, "wrong_survey", "another hash"),
        ({"survey": None}, "wrong_survey", "another hash"),
        ({"survey": []}, "wrong_survey", "another hash"),
        ({"survey": {}}, "wrong_survey", "another hash"),
        ({"version": 2}, "malformed", "version 1"),
        ({"version": True}, "malformed", "version 1"),
        ({"naysay": "survey"}, "malformed", "holds answers"),
        ({"id": "A" * 32}, "malformed", "32 hexadecimal digits"),
        ({"id": "a" * 31}, "malformed", "32 hexadecimal digits"),
        ({"id": 7}, "malformed", "32 hexadecimal digits"),
        ({"padding": "x"}, "malformed", "spaces"),
        ({"padding": "\t"}, "malformed", "spaces"),
        ({"padding": 3}, "malformed", "spaces"),
        ({"padding": ""}, "malformed", "exactly"),
        ({"answers": []}, "malformed", "every question"),
        ({"answers": {}}, "malformed", "every question"),
        ({"more": 1}, "malformed", "the body must be an object of naysay"),
    ],
)
def test_what_a_body_must_be(changes, code, told, refusal, published, answers, write_body):
    found = refusal(write_body(published, answers, **changes))
    assert (found.code, told in found.message) == (code, True), found.message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (b"\xff\xfe", "UTF-8"),
        (b"\xef\xbb\xbf{}", "JSON"),
        (b'{"naysay":1,"naysay":2}', "twice"),
        (b"[NaN]", "finite"),
        (b"[-Infinity]", "finite"),
        (b"[1e999]", "finite"),
        (b"[" + b"9" * 2000 + b"]", "40 characters"),
        (b"[1." + b"9" * 2000 + b"]", "40 characters"),
    ],
)
def test_what_is_no_json_that_could_be_meant(content, told):
    with pytest.raises(Refusal) as refused:
        submission.read(content)
    assert (refused.value.code, told in refused.value.message) == ("malformed", True)


@pytest.mark.parametrize("content", [b"null", b"[]", b"{}", b'"text"', b"1"])
def test_what_is_no_body(content, refusal):
    assert "an object of" in refusal(content).message


def test_half_characters_are_refused(refusal, published, answers, write_body):
    content = write_body(published, answers | {"other": "HALF"})
    assert refusal(content.replace(b"HALF", b"\\ud800").replace(b'  "}', b'"}')).code == "malformed"


def test_a_body_may_be_neither_longer_nor_shorter(refusal, published, answers, write_body):
    content = write_body(published, answers)
    assert refusal(content + b" ").code == "too_large"
    assert "exactly" in refusal(content.replace(b'  "}', b' "}')).message


def test_refusals_never_repeat_what_was_sent(refusal, published, answers, write_body):
    marker = "marker7319"
    for question in answers:
        for value in (marker, {marker: marker}, [marker], {"level": marker, "response": marker}):
            if question == "other" and value == marker:
                continue
            assert marker not in refusal(write_body(published, answers | {question: value})).message
    for key in ("naysay", "version", "survey", "id", "answers", "padding", marker):
        assert marker not in refusal(write_body(published, answers, **{key: marker})).message


def test_bodies_are_of_one_length(published, answers, write_body):
    nothing = dict.fromkeys(answers)
    full = answers | {"other": "\U0001f600" * 20, "sleep": -1.2345678901234567e-300}
    assert len({len(write_body(published, each)) for each in (answers, nothing, full)}) == 1


@given(st.data())
def test_the_longest_body_fits(data):
    """Whatever is answered to texts and sets, there is room for it."""
    size = data.draw(st.integers(3, 9))
    names = [f"{'n' * data.draw(st.integers(1, 60))}{number}" for number in range(size)]
    design = designs.negative(tuple(names)) if size < 4 else designs.negative_levels(tuple(names))
    shown = [Choice(name=name, label={"en": name}) for name in names]
    private = Private(design=json.loads(design.to_json()))
    length = data.draw(st.integers(1, 900))
    asked = Questionnaire(
        name="q",
        title={"en": "q"},
        languages=("en",),
        items=(
            SelectOne(name="one", label={"en": "1"}, choices=tuple(shown), private=private),
            Text(name="text", label={"en": "2"}, max_length=length),
        ),
    )
    level = max(private.levels, key=lambda name: len(name or "null"))
    longest = {"one": {"level": level, "response": ";".join(names)}, "text": "\U0001f600" * length}
    form = {"naysay": "answers", "version": 1, "survey": "0" * 64, "id": "0" * 32, "answers": longest, "padding": ""}
    assert len(json.dumps(form, separators=(",", ":"), ensure_ascii=False).encode()) <= body_length(asked)


def test_levels_in_other_letters_have_room():
    names, level = ("a", "b", "c"), 'höchste "Stufe" 😀' * 60
    offer = designs.levels({level: designs.negative(names)})
    items = (
        SelectOne(name="one", label={"en": "1"}, choices=tuple(Choice(name=name, label={"en": name}) for name in names),
                  private=Private(design=json.loads(offer.to_json()))),
    )  # fmt: skip
    asked = Questionnaire(name="levels", title={"en": "Levels"}, languages=("en",), items=items)
    answer = {"one": {"level": level, "response": "a"}}
    assert len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()) <= body_length(asked)


MUTATIONS = st.one_of(
    st.tuples(st.just("byte"), st.integers(0, 2**20), st.integers(0, 255)),
    st.tuples(st.just("cut"), st.integers(0, 2**20), st.integers(1, 50)),
    st.tuples(st.just("insert"), st.integers(0, 2**20), st.binary(min_size=1, max_size=8)),
)


@given(mutations=st.lists(MUTATIONS, min_size=1, max_size=4))
def test_mutated_bodies_are_refused_or_are_valid(mutations, reader, published, write_body, questionnaire):
    content = bytearray(write_body(published, plain(questionnaire), id="0" * 32))
    for kind, place, what in mutations:
        at = place % max(1, len(content))
        if kind == "byte":
            content[at] = what
        elif kind == "cut":
            del content[at : at + what]
        else:
            content[at:at] = what
    try:
        found = reader.read(bytes(content), today=TODAY)
    except Refusal as refused:
        assert 400 <= refused.status < 500
        assert refused.message
    else:
        assert set(found.answers) == {question.name for question in questionnaire.questions}


def plain(questionnaire):
    nothing = dict.fromkeys(question.name for question in questionnaire.questions)
    return nothing | {"age": 30, "news": ["a", "c"], "other": "x"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
def test_any_answer_is_taken_or_refused(data, reader, published, write_body, questionnaire):
    answers = plain(questionnaire)
    question = data.draw(st.sampled_from(sorted(answers)))
    answers[question] = data.draw(JSON_VALUES)
    try:
        content = write_body(published, answers)
    except UnicodeEncodeError:
        return
    try:
        assert reader.read(content, today=TODAY).answers == answers
    except Refusal as refused:
        assert refused.code in ("malformed", "too_large")


def test_the_sample_has_room_for_long_answers(client):
    from naysay.collect.questionnaire import sample

    assert Published.of(sample(), client=client).body_length == 4096
