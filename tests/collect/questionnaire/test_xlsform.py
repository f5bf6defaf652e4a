"""XLSForm in and out: what is read, and where each thing that is wrong stands."""

import csv
import zipfile

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naysay.collect.questionnaire import (
    Constraint,
    Grid,
    Problem,
    QuestionnaireError,
    Rating,
    SelectOne,
    Value,
    examine,
    load,
    sample,
    write_xlsform,
)
from naysay.designs import FAMILIES
from naysay.errors import DataError, NaysayError

CHOICES = """
| choices | | | |
| | list_name | name | label::English (en) |
| | size | small | Small |
| | size | middling | Middling |
| | size | large | Large |
| | size | huge | Huge |
| | yn | yes | Yes |
| | yn | no | No |
"""

HEADER_LIKERT = "type | name | label::English (en) | appearance"


def survey(*rows, header="type | name | label::English (en)", choices=CHOICES):
    return f"| survey | |\n| | {header} |\n" + "".join(f"| | {row} |\n" for row in rows) + choices


def one(form, row, **named):
    """The only question of a form with this row."""
    examined = form(survey(row, **named))
    assert examined.errors == ()
    return examined.questionnaire.items[0]


def problems(form, *rows, severity="error", **named):
    return [each for each in form(survey(*rows, **named)).problems if each.severity == severity]


def test_a_questionnaire_survives_xlsform_and_json(tmp_path):
    write_xlsform(sample(), tmp_path / "sample.xlsx")
    from_sheets = load(tmp_path / "sample.xlsx")
    assert from_sheets.form() == sample().form()
    (tmp_path / "sample.json").write_bytes(from_sheets.to_json())
    assert load(tmp_path / "sample.json").to_json() == sample().to_json()
    assert examine(tmp_path / "sample.xlsx").problems == ()


def test_the_workbook_explains_itself(tmp_path):
    write_xlsform(sample(), tmp_path / "sample.xlsx")
    book = openpyxl.load_workbook(tmp_path / "sample.xlsx")
    assert book.sheetnames == ["survey", "choices", "settings", "help"]
    explained = {row[0].value.partition("::")[0] for row in book["help"].iter_rows(min_row=2)}
    explained |= {row[0].value.rpartition("::")[0] for row in book["help"].iter_rows(min_row=2)}
    headers = {cell.value for cell in book["survey"][1]}
    assert {header.removesuffix(f"::{header.split('::')[-1]}") for header in headers if "(" in header} <= explained


@pytest.mark.parametrize(
    ("row", "header", "expected"),
    [
        ("integer | a | A", None, {"kind": "integer", "required": False}),
        ("integer | a | A | yes", "required", {"required": True}),
        ("decimal | a | A | 0..1.5", "bind::naysay_range", {"low": 0.0, "high": 1.5}),
        ("integer | a | A | 3..", "naysay_range", {"low": 3, "high": None}),
        ("text | a | A | multiline", "appearance", {"lines": 4, "max_length": 500}),
        ("text | a | A | 80", "bind::naysay_max_length", {"max_length": 80}),
        ("date | a | A", None, {"kind": "date"}),
        ("note | a | A", None, {"kind": "note"}),
        ("range | a | A | start=0 end=10 step=1", "parameters", {"kind": "rating", "low": 0, "high": 10}),
        ("range | a | A", None, {"kind": "rating", "low": 1, "high": 5}),
        ("rank size | a | A", None, {"kind": "ranking"}),
        ("select_multiple size | a | A", None, {"kind": "select_multiple"}),
        ("select_one size | a | A | likert", "appearance", {"kind": "select_one"}),
    ],
)
def test_types_and_their_columns(form, row, header, expected):
    columns = "type | name | label::English (en)" + (f" | {header}" if header else "")
    read = one(form, row, header=columns).model_dump(mode="json")
    assert {name: read[name] for name in expected} == expected


def test_numbers_on_a_likert_scale_are_a_rating(form):
    choices = CHOICES + "| | five | 1 | Bad |\n| | five | 2 | So so |\n| | five | 3 | Good |\n"
    read = one(form, "select_one five | a | A | likert", header=HEADER_LIKERT, choices=choices)
    assert isinstance(read, Rating)
    assert (read.low, read.high, read.low_label, read.high_label) == (1, 3, {"en": "Bad"}, {"en": "Good"})


def test_numbers_with_gaps_on_a_likert_scale_stay_choices(form):
    choices = CHOICES + "| | five | 1 | Bad |\n| | five | 2 | Good |\n| | five | -99 | I do not know |\n"
    read = one(form, "select_one five | a | A | likert", header=HEADER_LIKERT, choices=choices)
    assert isinstance(read, SelectOne)
    assert [choice.name for choice in read.choices] == ["1", "2", "-99"]


@pytest.mark.parametrize("name", ["1", "-99", "2a", "_x", "so-so", "1_2"])
def test_names_of_choices_may_be_numbers(form, name):
    choices = CHOICES + f"| | coded | {name} | First |\n| | coded | z | Last |\n"
    read = one(form, "select_one coded | a | A", choices=choices)
    assert [choice.name for choice in read.choices] == [name, "z"]


@pytest.mark.parametrize("name", ["so so", "1.5", "a;b", "ä", "--x"])
def test_other_names_of_choices_are_refused_with_the_way_out(form, name):
    choices = CHOICES + f"| | coded | {name} | First |\n| | coded | z | Last |\n"
    (problem,) = form(survey("select_one coded | a | A", choices=choices)).errors
    assert f"must hold letters, digits, _ and - only; got '{name}'" in str(problem)
    assert "write it without spaces, such as so_so, c1 or 1" in str(problem)


@pytest.mark.parametrize("old", [False, True], ids=["table-list", "list-nolabel"])
def test_groups_of_rows_with_one_list_are_a_grid(form, old):
    header = "type | name | label::English (en) | appearance"
    head = (
        ["begin_group | g | G | field-list", "select_one size | h | H | label"]
        if old
        else ["begin_group | g | G | table-list"]
    )
    look = "list-nolabel" if old else ""
    rows = [*head, f"select_one size | a | A | {look}", f"select_one size | b | B | {look}", "end_group | | |"]
    examined = form(survey(*rows, header=header))
    assert examined.errors == ()
    [grid] = examined.questionnaire.items
    assert isinstance(grid, Grid)
    assert [row.name for row in grid.rows] == ["a", "b"]
    assert len(grid.choices) == 4


@pytest.mark.parametrize(
    ("cells", "levels", "by_hand", "name"),
    [
        ("negative | |", (None,), (), "negative()"),
        (
            "negative | 1..2, coin |",
            ("1", "2", "coin"),
            ("coin",),
            "levels(1=negative(discards=1), 2=negative(discards=2), coin=two_option())",
        ),
        ("negative_levels() | |", ("1", "2", "3"), (), "negative_levels()"),
        (" | coin |", ("coin",), ("coin",), "levels(coin=two_option())"),
        (" | 2 |", ("2",), (), "levels(2=negative(discards=2))"),
        (
            "k_ary(epsilon=1) | coin |",
            ("device", "coin"),
            ("coin",),
            "levels(device=k_ary(epsilon=1), coin=two_option())",
        ),
        ("levels(a=negative(), b=negative(discards=2)) | a..a |", ("a",), (), "levels(a=negative())"),
        ("negative | | small", (None,), (), "negative_sink(sinks={'small': 'sink'})"),
        (
            "negative | | small, large",
            (None,),
            (),
            "negative_sink(sinks={'small': 'sink_small', 'large': 'sink_large'})",
        ),
        (
            "negative | 1..2 | small",
            ("1", "2"),
            (),
            "levels(1=negative_sink(sinks={'small': 'sink'}, discards=1), "
            "2=negative_sink(sinks={'small': 'sink'}, discards=2))",
        ),
        (
            "negative | 2 | small, huge",
            ("2",),
            (),
            "levels(2=negative_sink(sinks={'small': 'sink_small', 'huge': 'sink_huge'}, discards=2))",
        ),
    ],
)
def test_privacy_in_columns(form, tmp_path, cells, levels, by_hand, name):
    header = "type | name | label::English (en) | bind::naysay_design | bind::naysay_levels | bind::naysay_sink"
    examined = form(survey(f"select_one size | a | A | {cells}", header=header))
    (private,) = (question.private for question in examined.questionnaire.questions)
    write_xlsform(examined.questionnaire, tmp_path / "again.xlsx")
    assert load(tmp_path / "again.xlsx") == examined.questionnaire
    assert (private.levels, private.by_hand, private.offer.name) == (levels, by_hand, name)
    assert all(response in private.offer.space.labels for response in private.responses)


def test_two_categories_toss_two_coins(form):
    header = "type | name | label::English (en) | bind::naysay_design | bind::naysay_levels"
    private = one(form, "select_one yn | a | A | warner(p=0.7) | coin", header=header).private
    assert [private.offer.channel(level).name for level in ("device", "coin")] == ["warner(p=0.7)", "two_coins()"]


def test_bins_make_categories_with_readable_labels(form):
    header = "type | name | label::English (en) | bind::naysay_design | bind::naysay_bins"
    read = one(form, "integer | a | A | negative | 20, 40,60", header=header)
    assert [each.label["en"] for each in read.bins] == ["under 20", "20 to 39", "40 to 59", "60 or more"]
    assert read.private.offer.categories == ("below_20", "from_20", "from_40", "from_60")
    read = one(form, "decimal | a | A | negative | -0.5,0.5", header=header)
    assert [each.label["en"] for each in read.bins] == ["under -0.5", "-0.5 to under 0.5", "0.5 or more"]


def test_bins_are_worded_by_a_list(form):
    header = "type | name | label::English (en) | bind::naysay_design | bind::naysay_bins"
    read = one(form, "integer | a | A | negative | size: 1, 2, 3", header=header)
    assert [(each.name, each.below) for each in read.bins] == [
        ("small", 1),
        ("middling", 2),
        ("large", 3),
        ("huge", None),
    ]


def test_languages_groups_and_conditions(form):
    text = """
    | survey | |
    | | type | name | label::English (en) | label::de | relevant | constraint | {0}English (en) | {0}de |
    | | begin_group | g | Group | Gruppe | | | | |
    | | integer | a | A | A | | . > 3 | More | Mehr |
    | | end_group | | | | | | | |
    | | text | b | B | B | ${{a}} = 4 | | | |
    | settings | |
    | | form_id | form_title | default_language |
    | | two | Two | Deutsch (de) |
    """
    read = form(text.format("constraint_message::")).questionnaire
    assert (read.name, read.languages, read.title) == ("two", ("de", "en"), {"de": "Two", "en": "Two"})
    assert read.questions[0].constraint.message == {"en": "More", "de": "Mehr"}
    assert read.questions[1].relevant.op == "="


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("image | a | A", "files betray"),
        ("geopoint | a | A", "offer regions"),
        ("calculate | a | A", "compute it from the collected answers"),
        ("select_one size or_other | a | A", "add a choice other"),
        ("select_one_from_file x.csv | a | A", "no other file"),
        ("select_one | a | A", "name its list"),
        ("select_one siz | a | A", "did you mean 'size'"),
        ("begin_repeat | a | A", "repeats are not asked"),
        ("begin_group | a | A", "must be closed"),
        ("end_group | | ", "must close a group"),
        (" | a | A", "must have a type"),
        ("photo | a | A", "the types are"),
        ("datetime | a | A", "ask for the day"),
    ],
)
def test_types_that_are_not_asked_say_what_to_do(form, row, told):
    found = problems(form, "note | n | N", row)
    assert any(
        told in str(each) and each.place.sheet == "survey" and each.place.row == 3 and each.place.column == "type"
        for each in found
    )


@pytest.mark.parametrize("kind", ["start", "end", "deviceid", "audit", "username"])
def test_what_other_tools_record_of_respondents_is_left_out_with_a_warning(form, kind):
    read = form(f"| survey | | | |\n| | type | name | label |\n| | {kind} | {kind} | |\n| | text | a | A |\n")
    assert [question.name for question in read.questionnaire.questions] == ["a"]
    (told,) = (each for each in read.problems if "tell who answered" in str(each))
    assert (told.severity, told.place.row, told.place.column) == ("warning", 2, "type")


@pytest.mark.parametrize(
    ("header", "cell", "told"),
    [
        ("required", "maybe", "yes or no"),
        ("relevant", "pulldata('a') = 1", "no other file"),
        ("constraint", "regex(., 'a')", "browser"),
        ("bind::naysay_design", "warner(p=0.5)", "p must not be 1/2"),
        ("bind::naysay_design", "negativ", "did you mean negative"),
        ("bind::naysay_design", "warner(p=0.7) * two_coins()", "must be about the choices"),
        ("bind::naysay_design", "negative", "at least three categories"),
        ("bind::naysay_levels", "3..1", "at least three categories"),
        ("bind::naysay_sink", "yes", "at least three categories"),
    ],
)
def test_cells_that_cannot_be_read_are_named(form, header, cell, told):
    found = problems(form, f"select_one yn | a | A | {cell}", header=f"type | name | label::English (en) | {header}")
    assert any(told in str(each) and each.place.row == 2 and each.place.column == header for each in found), found


@pytest.mark.parametrize(
    ("row", "header", "column", "told"),
    [
        ("text | a | A | warner(p=0.7)", "bind::naysay_design", "bind::naysay_design", "a text cannot be private"),
        ("integer | a | A | negative", "bind::naysay_design", "bind::naysay_design", "needs bins"),
        ("integer | a | A | 1;2", "bind::naysay_bins", "bind::naysay_bins", "numbers between them"),
        ("integer | a | A | size: 1", "bind::naysay_bins", "bind::naysay_bins", "the list 'size' has 4 choices"),
        ("text | a | A | 1,2", "bind::naysay_bins", "bind::naysay_bins", "has no bins"),
        ("integer | a | A | 20", "bind::naysay_range", "bind::naysay_range", "0..20"),
        ("text | a | A | many", "bind::naysay_max_length", "bind::naysay_max_length", "whole number"),
        ("range | a | A | start=0 end=1 step=0.1", "parameters", "parameters", "step must be 1"),
        ("range | a | A | begin=0", "parameters", "parameters", "'begin'"),
        ("select_one size | a | A | 3..1", "bind::naysay_levels", "bind::naysay_levels", "write 1..3"),
        ("select_one size | a | A | 1..9", "bind::naysay_levels", "bind::naysay_levels", "no level '9'"),
        ("select_one size | a | A | tiny", "bind::naysay_sink", "bind::naysay_sink", "'tiny'"),
    ],
)
def test_extra_cells_are_checked(form, row, header, column, told):
    found = problems(form, row, header=f"type | name | label::English (en) | {header}")
    assert any(told in str(each) and (each.place.row, each.place.column) == (2, column) for each in found), found


def test_a_sink_and_the_coin_exclude_each_other(form):
    header = "type | name | label::English (en) | bind::naysay_levels | bind::naysay_sink"
    [found] = problems(form, "select_one size | a | A | 1..2, coin | small", header=header)
    assert "it may be the sink (leave 'coin' out of the levels)" in found.message


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("text | b | B |", "must be a select_one"),
        ("select_one yn | b | B |", "share one list"),
        ("select_one size | b | B | ${x} = 1", "no relevant of its own"),
    ],
)
def test_rows_of_a_grid_are_alike(form, row, told):
    header = "type | name | label::English (en) | relevant | appearance"
    rows = ["begin_group | g | G | | table-list", "select_one size | a | A | |", f"{row} |", "end_group | | | |"]
    assert any(told in str(each) for each in problems(form, *rows, header=header))


def test_a_grid_without_rows_and_a_group_in_a_grid(form):
    header = "type | name | label::English (en) | appearance"
    empty = problems(form, "begin_group | g | G | table-list", "end_group | | |", header=header)
    assert any("a grid must have rows" in str(each) for each in empty)
    rows = ["begin_group | g | G | table-list", "begin_group | h | H |", "end_group | | |", "end_group | | |"]
    assert any("must not hold groups" in str(each) for each in problems(form, *rows, header=header))


@pytest.mark.parametrize(
    ("column", "severity", "told"),
    [
        ("calculation", "error", "compute it from"),
        ("choice_filter", "error", "same for everyone"),
        ("default", "error", "not the respondent's"),
        ("media::image", "error", "which question is looked at"),
        ("image", "error", "which question is looked at"),
        ("label::Swahili", "error", "with its tag"),
        ("label::en", "error", "same language"),
        ("relevance", "error", "says it already"),
        ("remark", "warning", "is not used"),
        ("hnt", "warning", "did you mean 'hint'"),
        ("bind::naysay_desing", "error", "would be sent as they are"),
        ("naysay_colour", "error", "would be sent as they are"),
    ],
)
def test_columns_that_cannot_be_used_are_named(form, column, severity, told):
    found = problems(
        form, "note | n | N | |", header=f"type | name | label::English (en) | relevant | {column}", severity=severity
    )
    [named] = [each for each in found if each.place.column == column]
    assert (named.place.sheet, named.place.row) == ("survey", 1)
    assert told in str(named)


def test_all_problems_are_told_at_once(form):
    rows = [
        "image | a | A |",
        "select_one none | b | B |",
        "integer | 9c | C |",
        "note | d | | ${x} = 1",
        "select_one yn | e | E | ${a} = 1",
    ]
    header = "type | name | label::English (en) | relevant"
    found = problems(form, *rows, header=header)
    assert [each.place.row for each in found] == [2, 3, 4, 5, 5]
    assert not any("${a}" in str(each) for each in found)  # a is there, and could not be read: told once


def test_a_shared_choice_has_its_problem_once(form):
    choices = CHOICES + "| | yn | maybe | |\n"
    found = problems(form, "select_one yn | a | A", "select_one yn | b | B", choices=choices)
    assert [(each.place.sheet, each.place.column) for each in found] == [("choices", "label::English (en)")]


@pytest.mark.parametrize(
    ("rows", "header", "severity", "row", "told"),
    [
        (["note | a | A |", "note | A | B |"], "hint", "warning", 3, "case-insensitive match"),
        (["text | a | A | rows=x"], "parameters", "error", 2, "Parameter rows"),
        (["select_one yn | a | A | randomize=maybe"], "parameters", "error", None, "randomize must be"),
    ],
)
def test_what_pyxform_says_is_told(form, rows, header, severity, row, told):
    found = problems(form, *rows, header=f"type | name | label::English (en) | {header}", severity=severity)
    [said] = [each for each in found if each.rule == "pyxform" and told in each.message]
    assert said.place.row == row


def test_what_is_not_used_is_told(form):
    header = "type | name | label::English (en) | parameters"
    found = problems(form, "select_one yn | a | A | seed=3", header=header, severity="warning")
    assert [(each.place.row, each.place.column) for each in found if "not used" in each.message] == [(2, "parameters")]


def test_a_choice_names_its_list(form):
    choices = CHOICES + "| | | lost | Lost |\n"
    assert any("must name its list" in str(each) for each in problems(form, "note | a | A", choices=choices))


def test_an_empty_survey_says_how_to_begin(form):
    found = problems(form)
    assert any("must hold the questions" in str(each) for each in found)


def test_load_raises_one_error_with_all_problems(tmp_path):
    path = tmp_path / "bad.md"
    path.write_text(survey("image | a | A", "geopoint | b | B"), encoding="utf-8")
    with pytest.raises(QuestionnaireError, match=r"bad\.md cannot be fielded; 2 problems") as refused:
        load(path)
    assert [each.place.row for each in refused.value.problems] == [2, 3]
    assert "row 2" in str(refused.value)
    assert "row 3" in str(refused.value)


def test_a_problem_is_an_object_too():
    told = Problem("names", "names must differ", path="items[0].name").form()
    assert (told["rule"], told["path"], told["sheet"]) == ("names", "items[0].name", None)


@pytest.mark.parametrize(
    ("language", "severity", "told"),
    [("", "warning", "is read as English"), ("Deutsch", "error", "with its tag"), ("Deutsch (de)", "", "")],
)
def test_a_text_without_a_language_is_asked_for_it(form, language, severity, told):
    text = "| survey | | |\n| | type | name | label |\n| | note | a | Bitte |\n"
    settings_sheet = f"| settings | |\n| | default_language |\n| | {language} |\n" if language else ""
    problems = [each for each in form(text + settings_sheet).problems if each.rule == "columns"]
    assert [each.severity for each in problems] == [severity] * bool(severity)
    assert all(told in each.message for each in problems)


def test_a_name_that_does_not_fit_into_a_link(form):
    text = "| survey | | |\n| | type | name | label::English (en) |\n| | note | a | A |\n"
    found = form(text + "| settings | |\n| | form_id |\n| | My Survey |\n").errors
    assert [(each.place.sheet, each.place.column) for each in found if "links" in str(each)] == [
        ("settings", "form_id")
    ]


def test_a_private_question_has_a_bounded_number_of_categories(form):
    many = CHOICES + "".join(f"| | many | c{place} | C |\n" for place in range(201))
    header = "type | name | label::English (en) | bind::naysay_design"
    found = problems(form, "select_one many | a | A | negative", header=header, choices=many)
    assert any("at most 200 categories; got 201" in each.message for each in found)


def test_labels_that_look_like_formulas_stay_texts(tmp_path):
    form = sample().model_copy(update={"title": dict.fromkeys(sample().languages, "=1+1")})
    write_xlsform(form, tmp_path / "formula.xlsx")
    assert load(tmp_path / "formula.xlsx").title["en"] == "=1+1"


def test_what_xlsform_cannot_hold_is_refused(tmp_path):
    always = Constraint(expression=Value(value=True))
    items = [each.model_copy(update={"constraint": always}) for each in sample().items if each.kind == "grid"]
    with pytest.raises(DataError, match="no constraint on a grid"):
        write_xlsform(sample().model_copy(update={"items": tuple(items)}), tmp_path / "grid.xlsx")
    with pytest.raises(DataError, match="control characters"):
        write_xlsform(sample().model_copy(update={"title": {"en": "a\x01"}}), tmp_path / "control.xlsx")
    with pytest.raises(DataError, match="cannot write to"):
        write_xlsform(sample(), tmp_path / "nowhere" / "sample.xlsx")


@pytest.mark.parametrize("module", ["pyxform.xls2json_backends", "lark", "openpyxl"])
def test_without_the_extra_it_is_named(module, monkeypatch, tmp_path):
    from naysay.collect.questionnaire import expressions

    expressions.grammar_of.cache_clear()
    write_xlsform(sample(), tmp_path / "sample.xlsx")
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(NaysayError, match=r"naysay\[collect\]"):
        write_xlsform(sample(), tmp_path / "again.xlsx") if module == "openpyxl" else load(tmp_path / "sample.xlsx")


WORDS = st.sampled_from(
    [
        "select_one yn",
        "select_multiple size",
        "integer",
        "begin_group",
        "end_group",
        "note",
        "range",
        "rank size",
        "text",
        "a",
        "b",
        "Label ${a}",
        "yes",
        "${a} = 1",
        "sent(${a}) = 'yes'",
        "negative",
        "warner(p=0.7)",
        "1..2, coin",
        "coin",
        "1,2",
        "table-list",
        "start=1 end=3",
        "<b>x</b>",
        "نعم",
        "\u202e",
        "",
        "x" * 70,
        "likert",
        "list-nolabel",
    ]
)
HEADERS = [
    "type",
    "name",
    "label::English (en)",
    "relevant",
    "constraint",
    "appearance",
    "parameters",
    "required",
    "bind::naysay_design",
    "bind::naysay_levels",
    "bind::naysay_sink",
    "bind::naysay_bins",
    "hint::Deutsch (de)",
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORDS | st.text(max_size=8), min_size=13, max_size=13), max_size=6))
def test_any_cells_are_a_questionnaire_or_problems(tmp_path, rows):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "survey"
    sheet.append(HEADERS)
    for row in rows:
        sheet.append(["".join(letter for letter in cell if letter.isprintable()) for cell in row])
    choices = book.create_sheet("choices")
    for row in (
        ["list_name", "name", "label"],
        ["yn", "yes", "Yes"],
        ["yn", "no", "No"],
        ["size", "a", "A"],
        ["size", "b", "B"],
        ["size", "c", "C"],
    ):
        choices.append(row)
    book.save(tmp_path / "any.xlsx")
    try:
        examined = examine(tmp_path / "any.xlsx")
    except DataError:
        return
    assert (examined.questionnaire is None) == bool(examined.errors)
    assert all(each.message for each in examined.problems)


LINES = st.lists(st.lists(WORDS | st.text(max_size=5), max_size=6).map(" | ".join), max_size=8).map("\n".join)
TEMPLATES = st.sampled_from(
    ["{}", "| survey | |\n| | type | name | label::en |\n{}", "survey,type,name\n{}", CHOICES + "{}"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEMPLATES, LINES, st.sampled_from(["any.md", "any.csv"]))
def test_any_text_is_a_questionnaire_or_problems(tmp_path, template, lines, name):
    (tmp_path / name).write_text(template.replace("{}", lines), encoding="utf-8", errors="replace")
    try:
        examined = examine(tmp_path / name)
    except DataError:
        return
    assert (examined.questionnaire is None) == bool(examined.errors)


SINKS = "type | name | label::English (en) | bind::naysay_design | bind::naysay_sink | bind::naysay_sink_label"


def test_empty_sink_labels_stay_within_the_languages_of_the_questionnaire(form):
    row = "select_one size | size | Size? | negative | huge |"
    for header in (f"{SINKS}::English (en)", f"{SINKS}::Deutsch (de)"):
        examined = form(survey(row, header=header))
        assert examined.problems == ()
        assert examined.questionnaire.languages == ("en",)
        [response] = examined.questionnaire.items[0].private.responses.values()
        assert response == {"en": "Nothing is ruled out"}


def test_a_sink_without_words_in_the_language_is_told_of_at_its_column(form):
    header = SINKS.replace("English (en)", "Français (fr)") + "::Français (fr)"
    text = survey("select_one size | size | Taille ? | negative | huge |", header=header)
    [problem] = form(text.replace("English (en)", "Français (fr)")).errors
    assert "words must be there in every language; 'fr' is missing" in problem.message
    assert problem.place.column == "bind::naysay_sink"


def test_a_design_beside_sinks_is_told_of_at_its_own_column(form):
    rows = [
        "select_one size | size | Size? | negative | huge | None",
        "select_one yn | x | Cheated? | kuk(p=(1/4, 3/4)) | |",
    ]
    found = problems(form, *rows, header=f"{SINKS}::English (en)", severity="warning")
    assert [(each.place.row, each.place.column) for each in found] == [(3, "bind::naysay_design")] * 2
    assert ["red" in found[0].message, "black" in found[1].message] == [True, True]


def merged(path, *ranges):
    write_xlsform(sample(), path)
    book = openpyxl.load_workbook(path)
    for each in ranges:
        book["survey"].merge_cells(each)
    book.save(path)
    return examine(path)


def test_merged_cells_are_named_in_place_of_what_seems_to_be_missing(tmp_path):
    found = merged(tmp_path / "a.xlsx", "A2:A4")
    told = [str(each) for each in found.errors]
    assert told[0].startswith("error: survey, row 2: the cells A2:A4 are merged (the text stands in the first cell")
    assert not any("a row must have a type" in each or "pyxform" in each for each in told)


def test_cells_that_are_merged_within_a_row_are_a_warning(tmp_path):
    [told] = [each for each in merged(tmp_path / "a.xlsx", "G2:H2").problems if "merged" in each.message]
    assert (told.severity, told.message) == ("warning", "the cells G2:H2 are merged")


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "survey\na,b\n1,2\n", ""])
def test_a_file_of_answers_is_no_questionnaire_in_one_clear_line(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError) as refused:
        examine(tmp_path / "a.csv")
    told = str(refused.value)
    assert told.startswith("'a.csv' is no questionnaire: its first column names no sheet (name the sheets survey,")
    assert "Argument" not in told


DESIGN = "warner(p=0.7)"
UNREAD = "answers that were to be private would be sent as they are"


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        *(
            (column, DESIGN)
            for column in ("design", "private", "remarks", "appearance", "parameters", "version", "x::y")
        ),
        ("private", "yes"),
        ("is_private", "1"),
        ("Naysay Design", DESIGN),
        ("method", "negative"),
        ("method", "two coins"),
        ("method", '{"naysay": "design", "version": 1}'),
        ("method", "waner( p = .7 )"),
        ("levels", "1..3, coin"),
        ("randomised", "k_ary"),
        ("x", "warner p=0.7"),
        ("x", "Warner: p = 0.7"),
        ("x", "crosswise 1/4"),
        ("x", "warner[0.7]"),
        ("x", "=warner(p=0.7)"),
        ("x", "designs.warner(p=0.7)"),
        ("x", '"warner(p=0.7)"'),
        ("x", "warner（p=0.7）"),
        ("confidential", "yes"),
        ("Datenschutz", "ja"),
        *((column, "x") for column in ("desing", "desgn", "dessign", "privte", "pirvate", "sensetive")),
        *(("x", cell) for cell in ("krr(epsilon=1)", "krr (eps = 1)", "laplace noise (epsilon=1)")),
        *(("x", cell) for cell in ("randomized response", "Randomised answers!", "RR", "RRT", "LDP", "use k-RR here")),
        *(
            ("x", cell)
            for cell in ("crosswize", "locally differentially private", "mix((1, direct()), (2, uniform()))")
        ),
        ("label::Deutsch (de)", "warner(p=0.7)"),
        ("label::Deutsch (de)", "Waner (p = 0.7)"),
        *(
            ("x", cell)
            for cell in ("RR 0.7", "rr p=.7", "RR (p=.7)", "olh eps=1", "eps = 1", "ε: ln 3", "{'kind':'table'}")
        ),
        *(("x", cell) for cell in ("w\u00e1rner(p=0.7)", "war\u200bner(p=0.7)")),
        *((column, "ja") for column in ("randomisiert", "geschützt", "Vertraulichkeit", "privacidad", "rr", "eps")),
        *(
            (column, "x")
            for column in ("d\u0435sign", "\u0440rivate", "n\u0430ys\u0430y_design", "des\u0131gn", "diseno")
        ),
        *((column, "ja") for column in ("Zufallsantwort", "Zufallsantwort-Verfahren", "anonymisiert", "sensibel")),
        *((column, "1") for column in ("respuesta aleatoria", "réponse aléatoire", "vie privée", "خصوصية", "سري")),
        *(("x", cell) for cell in ("w\u0430rner(p=0.7)", "Zufallsantwort", "respuesta aleatoria")),
        *(("appearance", word) for word in ("private", "w2 sensitive", "privat")),
        ("appearance", "warner"),
        ("appearance", "w1 warner(p=0.7)"),
        ("hint::English (en)", "Design: warner(p=0.7)"),
    ],
)
def test_a_design_in_a_column_that_nobody_reads_is_an_error_that_names_it(form, column, cell):
    found = problems(form, f"select_one yn | a | A | {cell}", header=f"type | name | label::English (en) | {column}")
    named = [each for each in found if each.reason == UNREAD]
    assert [each.place.column for each in named] == [column]
    assert "bind::naysay_design" in named[0].way_out or "did you mean" in named[0].way_out


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("remarks", "negative wording, see above"),
        ("designer", "Ada"),
        ("design", ""),
        ("unit", "number (of people)"),
        ("remarks", "direct mail, 3 letters"),
        ("wave", "mix 2"),
        ("source", "Warner (1965)"),
        *((column, "x") for column in ("project", "level", "primate", "resign", "guidance_hint", "$given_name", "hxl")),
        *((column, "x") for column in ("education_levels", "design effect", "child protection", "kitchen_sink")),
        *(
            (column, "x")
            for column in ("Zufallszahl", "Zufallsgruppe", "orden aleatorio", "примечание", "ملاحظات", "notas")
        ),
        *(("appearance", word) for word in ("minimal", "likert w2", "no-buttons", "quick")),
        ("parameters", "randomize=true"),
        *(("remarks", cell) for cell in ("randomize choices", "household number", "p = 0.05", "skip if (n < 5)")),
        ("remarks", "asked crosswise to the other question, as in the wave of last year, which had no design"),
    ],
)
def test_columns_that_authors_keep_for_themselves_stay_warnings(form, column, cell):
    asked = survey(f"select_one yn | a | A | {cell}", header=f"type | name | label::English (en) | {column}")
    assert form(asked).errors == ()


EVERYDAY = [
    "Number(s) of guests", "Number (1 to 10)", "Negative (2)", "Negative 2", "Negative(s) found", "Warner (2019)",
    "Direct (1)", "Two coins (2)", "Number (of children: boys)", "Frequency (n=5)", "Windows (type: sash)", "RR", "LDP",
    "Levels (1-5)", "Negative (-1)", "Baseline (prevalence=0.1)", "Is your answer private?", "Crosswise", "Mix (1)",
]  # fmt: skip


@pytest.mark.parametrize("text", EVERYDAY)
@pytest.mark.parametrize("column", ["label::English (en)", "hint::English (en)"])
def test_words_of_a_question_that_some_design_has_too_are_no_design(form, column, text):
    label = "" if column.startswith("label") else "| Asked? "
    header = f"type | name {'| label::English (en) ' if label else ''}| {column}"
    assert form(survey(f"select_one yn | a {label}| {text}", header=header)).errors == ()


def test_each_family_is_known_where_nobody_reads_it(form):
    header = "type | name | label::English (en) | x"
    for family in FAMILIES:
        found = problems(form, f"select_one yn | a | A | {family}()", header=header)
        assert [each.place.column for each in found if each.reason == UNREAD] == ["x"], family


SHEETS = {
    "designs": "| question | design |\n| | a | krr(epsilon=1) |",
    "notes": "| variable | how |\n| | a | randomized response |",
    "codebook": "| variable | sensitive |\n| | a | yes |",
    "private": "| which |\n| | a |",
    "survey2": "| type | name | bind::naysay_design |\n| | text | b | negative |",
}


@pytest.mark.parametrize("suffix", [".md", ".csv", ".xlsx"])
@pytest.mark.parametrize("name", SHEETS)
def test_a_design_in_a_sheet_that_nobody_reads_is_an_error_that_names_it(tmp_path, name, suffix):
    found = [each for each in with_sheet(tmp_path, name, SHEETS[name], suffix).errors if each.reason == UNREAD]
    assert [each.place.sheet for each in found] == [name]


@pytest.mark.parametrize("suffix", [".md", ".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("notes", "| what |\n| | translated by Ada |"),
        ("protection", "| cluster | lead |\n| | child protection | UNICEF |"),
        ("codebook", "| variable | unit |\n| | a | kg |"),
        ("levels", "| code | name |\n| | 1 | primary |"),
    ],
)
def test_sheets_that_authors_keep_for_themselves_are_their_own(tmp_path, name, rows, suffix):
    assert with_sheet(tmp_path, name, rows, suffix).errors == ()


def with_sheet(folder, name, rows, suffix):
    """An XLSForm with one plain question `a` and another sheet, in any of the formats."""
    text = survey("select_one yn | a | A") + f"| {name} |\n| {rows}\n"
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line]
    path = folder / f"form{suffix}"
    if suffix == ".md":
        path.write_text(text, encoding="utf-8")
    elif suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([*line, *[""] * (5 - len(line))] for line in lines)
    else:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for first, *cells in lines:
            if first:
                sheet = book.create_sheet(first)
            if any(cells):
                sheet.append(cells)
        book.save(path)
    return examine(path)


def test_a_sheet_that_is_not_read_is_said(tmp_path):
    assert "the sheet 'todo' is not read" in [
        each.message for each in with_sheet(tmp_path, "todo", "| what |\n| | b |", ".csv").problems
    ]


def test_an_end_of_a_group_has_no_design(form):
    rows = "begin_group | g | G | \n| | select_one yn | a | A | \n| | end_group | | | " + DESIGN
    header = "type | name | label::English (en) | bind::naysay_design"
    assert UNREAD in [each.reason for each in problems(form, rows, header=header)]


@pytest.mark.parametrize("row", ["todo,select_one yn,b,B", "x,select_one yn,b,B"])
def test_a_remark_in_the_first_column_of_a_text_hides_no_question(tmp_path, row):
    path = tmp_path / "form.csv"
    path.write_text(f"{TEXT}{row}\n,select_one yn,c,C\n{TEXT_CHOICES}")
    with pytest.raises(DataError, match="which would not be read"):
        examine(path)


def test_a_design_to_the_right_of_the_header_of_a_text_is_an_error(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text(TEXT.strip() + f",{DESIGN}\n{TEXT_CHOICES}")
    assert UNREAD in [each.reason for each in examine(path).errors]


TEXT = "survey,,,\n,type,name,label::English (en)\n,select_one yn,a,A\n"
TEXT_CHOICES = "choices,,,\n,list_name,name,label::English (en)\n,yn,yes,Yes\n,yn,no,No\n"


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"AZ1": "bind::naysay_design", "AZ2": "warner(p=0.7)"}, "column 52 .* behind 48 empty columns"),
        ({"A70": "select_one yn", "B70": "b", "C70": "B"}, "row 70 .* behind 67 empty rows"),
        ({"D1": "bind::naysay_design", "D2": '="warner"&"(p=0.7)"'}, "cell D2 .* formula whose value"),
    ],
)
def test_cells_of_a_workbook_that_would_be_lost_are_refused(tmp_path, cells, told):
    book = openpyxl.Workbook()
    sheet, choices = book.active, book.create_sheet("choices")
    sheet.title = "survey"
    for row in (("type", "name", "label::English (en)"), ("select_one yn", "a", "A")):
        sheet.append(row)
    for row in (("list_name", "name", "label::English (en)"), ("yn", "yes", "Yes"), ("yn", "no", "No")):
        choices.append(row)
    path = tmp_path / "form.xlsx"
    book.save(path)
    assert examine(path).errors == ()
    for place, text in cells.items():
        sheet[place] = text
    book.save(path)
    with pytest.raises(DataError, match=told):
        examine(path)


def pinned(folder, text, *, in_box):
    """The sample as a workbook, with a note of Excel or a text box in its sheet."""
    path = folder / "pinned.xlsx"
    write_xlsform(sample(), path)
    book = openpyxl.load_workbook(path)
    book["survey"]["B3"].comment = openpyxl.comments.Comment("" if in_box else f"Ada:\n{text}", "Ada")
    book.save(path)
    if in_box:
        with zipfile.ZipFile(path, "a") as archive:
            drawn = "http://schemas.openxmlformats.org/drawingml/2006/main"
            archive.writestr("xl/drawings/drawing9.xml", f'<a:p xmlns:a="{drawn}"><a:r><a:t>{text}</a:t></a:r></a:p>')
    return [each for each in examine(path).problems if "notes and text boxes" in each.message]


@pytest.mark.parametrize(("text", "in_box"), [(DESIGN, False), ("private", False), ("Ada: two coins", True)])
def test_a_design_in_a_note_or_a_text_box_is_an_error(tmp_path, text, in_box):
    [told] = pinned(tmp_path, text, in_box=in_box)
    assert (told.severity, told.reason, told.place.row) == ("error", UNREAD, None if in_box else 3)


@pytest.mark.parametrize(
    "text", ["ask Bob whether the number of choices is right", "negative wording?", "private school"]
)
def test_a_note_of_an_author_is_a_warning_that_says_it_is_not_read(tmp_path, text):
    assert [each.severity for each in pinned(tmp_path, text, in_box=False)] == ["warning"]


def test_a_design_in_a_column_without_a_name_is_an_error(form, tmp_path):
    header = "type | name | label::English (en) | "
    assert UNREAD in [each.reason for each in problems(form, f"select_one yn | a | A | {DESIGN}", header=header)]
    write_xlsform(sample(), tmp_path / "sample.xlsx")
    book = openpyxl.load_workbook(tmp_path / "sample.xlsx")
    wide = book["survey"].max_column + 1
    book["survey"].cell(3, wide).value = DESIGN
    book.save(tmp_path / "sample.xlsx")
    found = [each for each in examine(tmp_path / "sample.xlsx").errors if each.reason == UNREAD]
    assert [(each.place.sheet, each.place.row) for each in found] == [("survey", 3)]


@pytest.mark.parametrize("kind", ["begin_group", "note"])
@pytest.mark.parametrize("column", ["naysay_design", "naysay_levels", "naysay_mode", "naysay_innocuous"])
def test_a_design_on_a_group_or_a_note_is_not_lost_in_silence(form, kind, column):
    rows = [f"{kind} | g | G | {DESIGN}", "select_one yn | a | A | "] + ["end_group | | |"] * (kind == "begin_group")
    found = problems(form, *rows, header=f"type | name | label::English (en) | {column}")
    assert [(each.place.row, each.reason) for each in found if each.reason] == [(2, UNREAD)]
