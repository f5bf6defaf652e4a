"""Surveys of SurveyJS: what is asked, under which conditions and how privately; and a problem for all the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.collect.questionnaire import evaluate, examine, load, of_form, truth, write_expression, write_xlsform
from naysay.collect.questionnaire.surveyjs import read_surveyjs
from naysay.collect.questionnaire.surveyjs_elements import Asked, condition
from naysay.errors import DataError

CHOICES = {"choices": ["a", "b", "c"]}
SHOWN = {"value": "b", "visibleIf": "{x}"}
LENGTH = {"type": "text", "minLength": 2, "text": "two at least"}


@pytest.fixture
def read(tmp_path):
    """A survey of SurveyJS with these elements, examined as a file."""

    def examined(*elements, **survey):
        path = tmp_path / "my survey.json"
        path.write_text(json.dumps({"title": "Survey", "elements": elements, **survey}), encoding="utf-8")
        return examine(path)

    return examined


def question(type_, name="q", **fields):
    return {"type": type_, "name": name, **fields}


@pytest.mark.parametrize(
    ("element", "kind", "fields"),
    [
        (question("text"), "text", {"max_length": 500}),
        (question("text", maxLength=80), "text", {"max_length": 80}),
        (question("text", inputType="number", min=0, max=9.5), "decimal", {"low": 0, "high": 9.5}),
        (question("text", inputType="number", min=1, step=1), "integer", {"low": 1, "high": None}),
        (question("text", validators=[{"type": "numeric", "minValue": 3}]), "decimal", {"low": 3}),
        (question("text", inputType="date"), "date", {}),
        (question("comment", rows=6), "text", {"lines": 6, "max_length": 2_000}),
        (question("radiogroup", **CHOICES), "select_one", {}),
        (question("dropdown", **CHOICES, isRequired=True), "select_one", {"required": True}),
        (question("checkbox", **CHOICES), "select_multiple", {}),
        (question("tagbox", **CHOICES), "select_multiple", {}),
        (question("ranking", **CHOICES), "ranking", {}),
        (question("boolean"), "select_one", {}),
        (question("rating"), "rating", {"low": 1, "high": 5}),
        (question("rating", rateMin=0, rateMax=10), "rating", {"low": 0, "high": 10}),
        (question("rating", rateCount=7), "rating", {"low": 1, "high": 7}),
        (question("rating", rateMin=0, rateMax=4, rateStep=2), "select_one", {}),
        (question("rating", rateValues=[{"value": 1, "text": "bad"}, 2, 3]), "select_one", {}),
        (question("matrix", columns=["x", "y"], rows=["r", "s"], eachRowRequired=True), "grid", {"required": True}),
        (question("slider", max=10), "decimal", {"low": 0, "high": 10}),
    ],
)
def test_each_type_becomes_a_kind(read, element, kind, fields):
    found = read(element)
    assert not found.problems
    [asked] = found.questionnaire.questions
    assert (asked.kind, asked.name) == (kind, "q")
    assert {name: getattr(asked, name) for name in fields} == fields


def test_choices_have_names_for_data_and_words_for_people(read):
    element = question("radiogroup", choices=["Very good", 2, {"value": -99, "text": "none"}, "да"], showNoneItem=True)
    [asked] = read(element).questionnaire.questions
    told = {each.name: each.label["en"] for each in asked.choices}
    assert told == {"Very_good": "Very good", "2": "2", "-99": "none", "c": "да", "none": "None"}


def test_what_other_is_becomes_a_question_of_its_own(read):
    asked = question("checkbox", **CHOICES, showOtherItem=True, otherText="What else?")
    last = question("text", "why", visibleIf="{q-Comment} notempty")
    [first, other, why] = read(asked, last).questionnaire.questions
    assert [first.choices[-1].name, first.choices[-1].label["en"]] == ["other", "What else?"]
    assert (other.kind, other.name, other.required) == ("text", "q_other", True)
    assert write_expression(other.relevant) == "selected(${q}, 'other')"
    assert write_expression(why.relevant) == "count-selected(${q_other}) > 0"


def test_pages_and_panels_with_a_title_are_groups_and_conditions_of_the_others_are_kept(read):
    inner = {
        "type": "panel",
        "name": "in",
        "visibleIf": "{a} > 1",
        "elements": [question("text", "b", visibleIf="{a} < 9")],
    }
    pages = [
        {"name": "p1", "title": "First", "elements": [question("text", "a", inputType="number")]},
        {"name": "p2", "visibleIf": "{a} notempty", "elements": [inner, question("text", "c")]},
    ]
    form = read(pages=pages, elements=[]).questionnaire
    assert [item.kind for item in form.items] == ["group", "text", "text"]
    b, c = form.items[1:]
    assert write_expression(b.relevant) == "count-selected(${a}) > 0 and (${a} > 1 and ${a} < 9)"
    assert write_expression(c.relevant) == "count-selected(${a}) > 0"


def test_texts_come_in_every_language_and_name_questions(read):
    element = question("radiogroup", choices=[{"value": "x", "text": {"de": "Eins", "fr": "Un"}}, "y"])
    element["title"] = {"default": "Bei {the age} Jahren?", "fr": "À {the age} ans ?"}
    age = question("text", "the age", title={"default": "Alter?", "fr": "Âge ?"}, inputType="number")
    found = read(age, element, locale="de", title={"default": "Umfrage", "fr": "Enquête"})
    assert [each.message for each in found.problems] == ["'the age' is called 'the_age' in data"]
    assert found.questionnaire.languages == ("de", "fr")
    assert found.questionnaire.questions[1].label == {"de": "Bei ${the_age} Jahren?", "fr": "À ${the_age} ans ?"}
    assert found.questionnaire.questions[1].choices[1].label == {"de": "y", "fr": "y"}
    [problem] = read(question("text", title={"default": "Only here"}), locale="de", title={"de": "X", "fr": "Y"}).errors
    assert (problem.where, problem.rule) == ("elements[0].title", "languages")


QUESTIONS = {
    "age": Asked("age"),
    "live in": Asked("live_in", "radiogroup", {"Big city": "Big_city", "2": "2"}),
    "news": Asked("news", "several", {"tv": "tv", "the net": "net"}),
    "smokes": Asked("smokes", "boolean", {"true": "yes", "false": "no"}),
    "born": Asked("born"),
}
ANSWERS = {"age": 30, "live_in": "Big_city", "news": ["net"], "smokes": "no", "born": "1990-05-01"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("{age} >= 18", True),
        ("{age} greaterorequal 31 or {age} LESS 40", True),
        ("{age} > 20 && !({age} = 30)", False),
        ("{age} * 2 - 10 = 50", True),
        ("{age} % 7 == 2 and {age} / 2 <> 14", True),
        ("-{age} < -29", True),
        ("{live in} = 'Big city'", True),
        ('{live in} = "Big city" and {live in} <> 2', True),
        ("{live in} notequal 2", True),
        ("{live in} anyof ['Big city', 2]", True),
        ("{live in} noneof [2]", True),
        ("{news} contains 'the net'", True),
        ("{news} contain 'tv' || {news} *= 'tv'", False),
        ("{news} notcontains 'tv'", True),
        ("{news} allof ['tv', 'the net']", False),
        ("{news} anyof ['tv', 'the net']", True),
        ("{news} = ['the net']", True),
        ("{news} != ['tv', 'the net']", True),
        ("{news} = 'the net'", True),
        ("{smokes} = true", False),
        ("{smokes}", False),
        ("!{smokes} and {smokes} = false", True),
        ("{age} notempty and {news} notempty", True),
        ("{age} empty or {news} empty", False),
        ("{born} < '2000-01-01' and {born} <= today()", True),
        ("{#age} = 30 and ({age} = 30 or {age} = 31) and {age} != 31", True),
    ],
)
def test_conditions_mean_what_they_mean_in_surveyjs(text, holds):
    assert truth(evaluate(condition(text, QUESTIONS), ANSWERS)) is holds


@pytest.mark.parametrize("text", ["{age} empty", "{news} empty", "{live in} empty", "{news} notcontains 'tv'"])
def test_nothing_is_chosen_where_nothing_was_answered(text):
    assert truth(evaluate(condition(text, QUESTIONS), {}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{agee} > 3", "{agee} must be a question; "),
        ("{panel.age} > 3", "{panel.age} must be a question"),
        ("iif({age} > 3, 1, 2)", r"iif\(\) is not understood here; write the cases with and, or and !"),
        ("{age} contains '3'", "contains must be of a question with choices"),
        ("{live in} = 'Bigcity'", "'Bigcity' is no choice of 'live_in'"),
        ("{age} ^ 2 > 3", "is not computed here"),
        ("{age} >", "something is missing at its end"),
        ("{age} > 3 ; drop", "'; drop' is not understood"),
        ("(" * 200 + "{age}" + ")" * 200, "nested"),
        ("{age} > 1" + " or {age} > 1" * 300, "at most 2,000 characters"),
        ("[1, 2]", "a list must stand behind anyof"),
        ("-[1, 2] = 1", "a list must stand behind anyof"),
        ("[1, 2] = [1, 2]", "a list must stand behind anyof"),
    ],
)
def test_conditions_without_a_meaning_here_are_named(text, told):
    with pytest.raises(DataError, match=told):
        condition(text, QUESTIONS)


def test_validators_become_one_constraint_with_its_words(read):
    expression = {"type": "expression", "expression": "{q} < {a}", "text": "less than a"}
    first = question("text", "a", inputType="number")
    number = question("text", inputType="number", validators=[expression])
    several = question("checkbox", "s", **CHOICES, maxSelectedChoices=2)
    day = question("text", "d", inputType="date", min="2020-01-01")
    found = read(first, number, question("text", "t", validators=[LENGTH]), several, day)
    assert not found.problems
    told = [
        (write_expression(each.constraint.expression), each.constraint.message["en"])
        for each in found.questionnaire.questions[1:]
    ]
    assert told == [
        (". < ${a}", "less than a"),
        ("string-length(.) >= 2", "two at least"),
        ("count-selected(.) <= 2", "At most 2."),
        (". >= '2020-01-01'", "From 2020-01-01 on."),
    ]


@pytest.mark.parametrize("bound", [0, 0.5, -2])
def test_a_number_of_choices_below_one_is_no_bound(read, bound):
    element = question("checkbox", **CHOICES, minSelectedChoices=bound, maxSelectedChoices=bound)
    [checkbox] = read(element).questionnaire.questions
    assert checkbox.constraint is None


def test_a_rating_of_two_values_far_apart_is_a_choice(read):
    [rating] = read(question("rating", rateValues=[1, 10**15])).questionnaire.questions
    assert rating.kind == "select_one"


PRIVATE = [
    ("radiogroup", {"choices": ["yes", "no"]}, "warner(p=0.7)", designs.warner(p=0.7)),
    ("boolean", {}, {"design": "two_coins"}, designs.two_coins()),
    ("dropdown", CHOICES, {"design": "negative"}, designs.negative(("a", "b", "c"))),
    ("checkbox", CHOICES, "warner(p=0.7)", designs.warner(p=0.7)),
    ("radiogroup", CHOICES, json.loads(designs.k_ary(("a", "b", "c"), epsilon=1).to_json()), None),
]


@pytest.mark.parametrize(("type_", "fields", "told", "design"), PRIVATE)
def test_a_design_stands_in_a_property_of_the_question(read, type_, fields, told, design):
    found = read(question(type_, **fields, naysay=told))
    assert not found.errors
    [asked] = found.questionnaire.questions
    assert asked.private.offer == (design or designs.k_ary(("a", "b", "c"), epsilon=1))


def test_levels_sinks_bins_and_modes_are_told_as_in_an_xlsform(read):
    offer = question("dropdown", "o", choices=["A 1", 2, 3, 4], naysay={"design": "negative", "levels": "1..2, coin"})
    sink = question("radiogroup", "s", **CHOICES, naysay={"sink": "c", "sinkLabel": "Nothing"})
    bins = question("text", "n", inputType="number", naysay={"design": "k_ary(epsilon=1)", "bins": [10, 20]})
    hand = question("boolean", "h", naysay={"design": "crosswise(prevalence=1/4)", "innocuous": "Born before April?"})
    found = read(offer, sink, bins, hand)
    assert not found.errors
    o, s, n, h = (each.private for each in found.questionnaire.questions)
    assert (o.levels, o.by_hand) == (("1", "2", "coin"), ("coin",))
    assert s.responses == {"sink": {"en": "Nothing"}}
    assert [each.below for each in found.questionnaire.questions[2].bins] == [10, 20, None]
    assert n.offer.categories == tuple(each.name for each in found.questionnaire.questions[2].bins)
    assert (h.modes[0], h.innocuous) == ("hand", {"en": "Born before April?"})


@pytest.mark.parametrize(
    ("element", "where", "told"),
    [
        (question("file"), "elements[0].type", "the type 'file' is not asked here"),
        (question("paneldynamic"), "elements[0].type", "each person answers each question once"),
        (question("text", inputType="time"), "elements[0].inputType", "'time' is not asked here"),
        (question("radiogroup", choicesByUrl={"url": "x"}), "elements[0].choicesByUrl", "no other website"),
        (question("radiogroup", **CHOICES, choicesVisibleIf="x"), "elements[0].choicesVisibleIf", "do not depend"),
        (question("radiogroup", choices=["a", "b", {"text": "b"}]), "elements[0].choices[2]", "must have a value"),
        (question("radiogroup", choices=["a", SHOWN]), "elements[0].choices[1].visibleIf", "no visibleIf"),
        (question("text", visibleIf="{nobody} = 1"), "elements[0].visibleIf", "{nobody} must be a question"),
        (question("text", enableIf="{q} = 1"), "elements[0].enableIf", "asked or not asked"),
        (question("text", min="a", inputType="number"), "elements[0].min", "min must be a number; got 'a'"),
        (question("text", naysay="warner(p=0.7)"), "elements[0].naysay", "a text cannot be private"),
        (question("boolean", naysay="warner(p=0.5)"), "elements[0].naysay", "p must not be 1/2"),
        (question("boolean", naysay={"desing": "x"}), "elements[0].naysay", "an object of design, levels"),
        (question("text", inputType="number", naysay="k_ary(epsilon=1)"), "elements[0].naysay", "needs bins"),
        (question("boolean", naysay="warner(p=0.7)", validators=[LENGTH]), "elements[0].validators", "no constraint"),
        (question("rating", rateMin=5, rateMax=1), "elements[0].rateMax", "must run upwards"),
        (question("text", title=["a"]), "elements[0].title", "a text must be written in quotes"),
        ({"type": "text"}, "elements[0].name", "a question must have a name"),
        ("text", "elements[0]", "an element must be an object"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_named_with_its_path(read, element, where, told):
    found = read(element).errors
    assert found
    assert (found[0].where, found[0].form()["path"]) == (where, where)
    assert told in str(found[0])


@pytest.mark.parametrize(
    ("fields", "where", "told"),
    [
        ({"requiredIf": "{a} = 1"}, "elements[1].requiredIf", "not by a condition"),
        ({"defaultValue": "x"}, "elements[1].defaultValue", "no answer is filled in beforehand"),
        ({"validators": [{"type": "regex", "regex": "."}]}, "elements[1].validators[0]", "has no place here"),
        ({"customThing": 3}, "elements[1]", "not taken over: customThing"),
        ({"visible": False}, "elements[1].visible", "nobody sees"),
    ],
)
def test_what_changes_no_answer_is_a_warning(read, fields, where, told):
    found = read(question("text", "a"), question("text", **fields))
    assert [(each.severity, each.where) for each in found.problems] == [("warning", where)]
    assert told in found.problems[0].message


def test_whom_a_question_is_not_asked_it_is_not_required_of(read):
    asked = question("text", visibleIf="{a} = 1", requiredIf="{a} = 1")
    found = read(question("text", "a"), asked)
    assert not found.problems
    assert found.questionnaire.questions[1].required


def test_the_whole_survey_has_nothing_that_acts_by_itself(read):
    survey = {"triggers": [{"type": "skip"}], "calculatedValues": [{}], "logo": "x.png", "cookieName": "c"}
    found = read(question("text"), **survey)
    assert [each.where for each in found.problems] == ["triggers", "calculatedValues", "cookieName", "logo"]
    assert len(found.errors) == 2


def test_it_can_be_kept_as_a_form_of_this_kind(read, tmp_path):
    asked = [question("text", "a"), question("radiogroup", **CHOICES, naysay="negative")]
    form = read(*asked, question("text", "why", visibleIf="{a} notempty")).questionnaire
    assert form.name == "my_survey"
    assert of_form(form.form()).questionnaire == form
    write_xlsform(form, tmp_path / "form.xlsx")
    assert load(tmp_path / "form.xlsx") == form


def test_hostile_files_end_in_problems(read, tmp_path):
    names = read(
        question("text", "__proto__"), question("text", "constructor"), question("text", "a"), question("text", "a")
    )
    assert [each.rule for each in names.errors] == ["names", "names"]
    assert any("'a' is called 'a_2'" in each.message for each in names.problems)
    nested = question("text")
    for _ in range(40):
        nested = {"type": "panel", "name": "p", "title": "P", "elements": [nested]}
    assert any("nested 12 deep" in each.message for each in read(nested).errors)
    assert any(
        "2,000 elements" in each.message for each in read(*[question("text", f"q{n}") for n in range(2_100)]).errors
    )
    deep = tmp_path / "deep.json"
    for text in (
        '{"pages": ' + "[" * 9_000 + "]" * 9_000 + "}",
        '{"pages": [' + '{"elements": [' * 300 + "]}" * 300 + "]}",
    ):
        deep.write_text(text, encoding="utf-8")
        try:
            assert examine(deep).errors
        except DataError as error:
            assert "JSON" in str(error)


PROPERTIES = (
    "type name title choices elements visibleIf validators naysay rows columns inputType rateMax min value text"
)
KEYS = st.sampled_from([*PROPERTIES.split(), "default"])
WORDS = "radiogroup checkbox boolean matrix text panel html rating a number warner(p=0.7) warner"
LEAVES = st.sampled_from([*WORDS.split(), "{a} = 1", "", None, True, 1, -2.5, 1e300])
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner), max_leaves=12)
ELEMENT = st.dictionaries(KEYS, JSON, max_size=6) | JSON
SURVEY = st.dictionaries(st.sampled_from(["title", "locale", "description", "triggers"]), JSON)


@given(st.lists(ELEMENT, max_size=4), SURVEY)
def test_any_json_is_a_questionnaire_or_problems(elements, survey):
    draft = read_surveyjs({**survey, "pages": [{"elements": elements}]}, name="any")
    found = of_form(draft.form)
    assert found.questionnaire is not None or found.errors or draft.problems


@pytest.mark.parametrize(
    ("of_question", "of_survey"),
    [
        ({"design": "warner(p=0.7)"}, {}),
        ({"private": True}, {}),
        ({"Naysay": "warner(p=0.7)"}, {}),
        ({"nasay": "warner(p=0.7)"}, {}),
        ({"method": "negative"}, {}),
        ({"custom": {"naysay": "design", "version": 1}}, {}),
        ({"customProperties": [{"privacy": "warner(p=0.7)"}]}, {}),
        ({"choices": [{"value": "yes", "naysay": "warner(p=0.7)"}, "no"]}, {}),
        ({"description": "warner(p=0.7)"}, {}),
        ({"remarkText": {"default": "krr(epsilon=1)"}}, {}),
        ({"validators": [{"type": "expression", "text": "design: warner(p=0.7)"}]}, {}),
        ({"choices": [{"value": "yes", "text": {"de": "warner(p=1/4)"}}, "no"]}, {}),
        *(
            ({key: "x"}, {})
            for key in ("isPrivate", "privacyLevel", "desing", "d\u0435sign", "randomizedBy", "epsilon")
        ),
        *(({key: 1}, {}) for key in ("Zufallsantwort", "vertraulich", "confidencial", "sensitive", "rrt")),
        ({}, {"naysayDesign": "warner(p=0.7)"}),
        ({}, {"options": {"q": "k_ary(epsilon=1)"}}),
    ],
)
def test_privacy_that_nobody_reads_is_an_error_that_names_its_place(tmp_path, of_question, of_survey):
    asked = {"type": "radiogroup", "name": "smokes", "title": "Do you smoke?", "choices": ["yes", "no"]} | of_question
    file = tmp_path / "smoking.json"
    file.write_text(json.dumps({"title": "Smoking", "elements": [asked], **of_survey}))
    told = [each for each in examine(file).errors if each.reason.startswith("answers that were to be private")]
    assert len(told) == 1
    assert told[0].place.path.startswith("elements[0]." if of_question else tuple(of_survey))


@pytest.mark.parametrize(
    "key",
    ["designer", "remark", "codebook", "level", "designEffect", "childProtection", "educationLevels", "zufallszahl"],
)
def test_properties_that_authors_keep_for_themselves_stay_warnings(tmp_path, key):
    asked = {"type": "radiogroup", "name": "smokes", "title": "Do you smoke?", "choices": ["yes", "no"], key: "x"}
    file = tmp_path / "smoking.json"
    file.write_text(json.dumps({"title": "Smoking", "elements": [asked]}))
    found = examine(file)
    assert found.errors == ()
    assert any(key in each.message for each in found.problems)


def test_words_of_an_ordinary_survey_are_not_taken_for_designs(tmp_path):
    asked = {"type": "radiogroup", "name": "test", "title": "negative(s)?", "choices": ["negative", {"value": "x"}]}
    asked["choices"][1]["text"] = {"default": "negative", "en": "negative"}
    file = tmp_path / "test.json"
    file.write_text(json.dumps({"title": "Test", "elements": [asked], "locale": "en"}))
    assert examine(file).errors == ()


def test_a_field_that_is_there_twice_undoes_nothing_in_silence(tmp_path):
    file = tmp_path / "twice.json"
    file.write_text('{"elements": [{"type": "boolean", "name": "a", "naysay": "warner(p=0.7)", "naysay": ""}]}')
    with pytest.raises(DataError, match="'naysay' is there twice"):
        examine(file)


HEAD = "type | name | label::English (en) | bind::naysay_design | bind::naysay_arms | bind::naysay_measures"
CLUB = f"""
| survey | | | | | | | |
| | {HEAD} | bind::naysay_control |
| | select_one party | vote | Whom do you vote for? | negative() | | | |
| | select_one party | vote_control | | | | | vote: lot |
| | select_one party | vote_again | Suppose ${{vote_again_truth}}. | | | | vote: lot |
| | note | long | A few questions more. | | masked, direct | | |
| | select_one yes_no | masked | Have you cheated? | warner(p=0.7) | masked | cheated | |
| | select_one yes_no | direct | Have you cheated? | | direct | cheated | |
| choices | | | |
| | list_name | name | label::English (en) |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| | party | red | The Reds |
| | party | green | The Greens |
| | party | blue | The Blues |
| settings | | | |
| | form_id | form_title | naysay_arms | naysay_strata |
| | q | Club | masked 2, direct 1, short 1 | |
"""


def test_arms_and_controls_are_those_of_a_sheet(read, tmp_path):
    parties = [{"value": name, "text": f"The {name.title()}s"} for name in ("red", "green", "blue")]
    answers = [{"value": "yes", "text": "Yes"}, {"value": "no", "text": "No"}]
    cheated = {"title": "Have you cheated?", "choices": answers}
    masked = {"design": "warner(p=0.7)", "arms": ["masked"], "measures": "cheated"}
    elements = [
        question("radiogroup", "vote", title="Whom do you vote for?", choices=parties, choicesOrder="random",
                 naysay="negative()"),
        question("radiogroup", "vote_control", choices=parties, naysay={"control": "vote: lot"}),
        question("radiogroup", "vote_again", title="Suppose {vote_again_truth}.", choices=parties,
                 naysay={"control": "vote: lot", "order": "shuffled"}),
        {"type": "html", "name": "long", "html": "A few questions more.", "naysay": {"arms": "masked, direct"}},
        question("radiogroup", "masked", **cheated, naysay=masked),
        {"type": "panel", "name": "p", "naysay": {"arms": "direct"}, "elements": [
            question("radiogroup", "direct", **cheated, naysay={"measures": "cheated"})]},
    ]  # fmt: skip
    survey = read(*elements, title="Club", naysayArms="masked 2, direct 1, short 1")
    assert [problem for problem in survey.problems if problem.severity == "error"] == []
    (tmp_path / "q.md").write_text(CLUB.lstrip(), encoding="utf-8")
    sheet = load(tmp_path / "q.md")
    assert survey.questionnaire.model_copy(update={"name": "q"}) == sheet
    (tmp_path / "again.json").write_bytes(sheet.to_json())
    assert load(tmp_path / "again.json") == sheet
    write_xlsform(sheet, tmp_path / "again.xlsx")
    assert load(tmp_path / "again.xlsx") == sheet


@pytest.mark.parametrize(
    ("stratum", "is_first", "told"),
    [
        ({"isRequired": True}, True, ""),
        ({}, True, "may be left empty"),
        ({"isRequired": True}, False, "is asked after 'masked', where they differ"),
        ({"isRequired": True, "visibleIf": "{age} > 20"}, True, "is asked under a condition"),
        ({"isRequired": True, "naysay": {"arms": "direct"}}, True, "is asked in some arms only"),
        ({"isRequired": True, "naysay": "warner(p=0.7)"}, True, "is private"),
        ({"isRequired": True, "type": "checkbox"}, True, "is of another kind"),
    ],
)
def test_a_stratum_is_a_question_that_all_answer_before_the_arms_differ(read, stratum, is_first, told):
    age = question("text", "age", inputType="number")
    area = question("radiogroup", "area", choices=["north", "south"]) | stratum
    masked = question(
        "radiogroup", "masked", choices=["yes", "no"], naysay={"design": "warner(p=0.7)", "arms": "masked"}
    )
    panel = {"type": "panel", "name": "p", "elements": [area]}
    survey = read(age, *((panel, masked) if is_first else (masked, panel)), naysayArms="masked 1, direct 1",
                  naysayStrata="area")  # fmt: skip
    problems = [problem.message for problem in survey.problems if problem.message.startswith("strata")]
    assert [told in message for message in problems] == ([True] if told else [])


@pytest.mark.parametrize(
    ("cells", "where", "told"),
    [
        ({"control": "vote is red"}, "elements[1].naysay", "a control is written as"),
        ({"controls": "vote: lot"}, "elements[1].naysay", "it must be a design, or an object of"),
        ({"control": "vote: lot", "arms": "gone"}, "elements[1]", "which is none"),
    ],
)
def test_controls_and_arms_that_cannot_be_read_are_named(read, cells, where, told):
    choices = ["red", "green", "blue"]
    vote = question("radiogroup", "vote", choices=choices, naysay="negative()")
    problems = read(vote, question("radiogroup", "check", choices=choices, naysay=cells)).problems
    assert any(told in problem.message and str(problem).startswith(f"error: {where}") for problem in problems)
