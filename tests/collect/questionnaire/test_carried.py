"""Who carries a design out, the practice question and the check of understanding, in XLSForm and JSON."""

import pytest

from naysay.collect.device.people import offers
from naysay.collect.questionnaire import Questionnaire, check, load, sample, write_xlsform

LANGUAGES = ("en", "de", "es", "ar")
NAMES = {"en": "English", "de": "Deutsch", "es": "Español", "ar": "العربية"}
BETWEEN = "between=(0.2, 0.3)"


def sheet(question, columns="", choices=("yes", "no"), settings=""):
    """A survey of one question, in four languages; `question` is type, name and the cells of `columns`."""
    tags = [f"label::{NAMES[each]} ({each})" for each in LANGUAGES]
    kind, name, *cells = [cell.strip() for cell in question.split("|")]
    survey = f"| survey |\n| | type | name | {' | '.join(tags)} | {columns} |\n"
    survey += f"| | {kind} | {name} | {' | '.join(['Asked?'] * 4)} | {' | '.join(cells)} |\n"
    listed = "".join(f"| | yn | {each} | {' | '.join([each] * 4)} |\n" for each in choices)
    return f"{survey}| choices |\n| | list_name | name | {' | '.join(tags)} |\n{listed}{settings}"


@pytest.fixture
def asked(form, tmp_path):
    """The only question of a sheet, which is the same after it was written and read again."""

    def read(*text, **fields):
        examined = form(sheet(*text, **fields))
        assert not examined.errors, examined.errors
        path = tmp_path / "again.xlsx"
        write_xlsform(examined.questionnaire, path)
        assert load(path) == examined.questionnaire
        return examined.questionnaire.questions[0]

    return read


def complaints(form, *text, **fields):
    return [(each.place.column, each.message) for each in form(sheet(*text, **fields)).errors]


DESIGN = "bind::naysay_design"


@pytest.mark.parametrize("design", ["crosswise", "triangular"])
def test_a_design_for_people_is_carried_out_by_people_in_words_of_four_languages(asked, design):
    private = asked(f"select_one yn | q | {design}(prevalence=1/4, {BETWEEN})", DESIGN).private
    assert private.modes == ("hand", "device")
    assert all(private.innocuous[tag].strip() for tag in LANGUAGES)
    assert "January to March" in private.innocuous["en"] and "Januar bis März" in private.innocuous["de"]
    assert [set(words) for words in private.responses.values()] == [set(LANGUAGES)] * 2


def test_an_unrelated_question_has_no_words_but_its_innocuous_question(asked):
    private = asked(
        f"select_one yn | q | unrelated_question(p=2/3, prevalence=1/3, {'between=(0.3, 0.4)'})", DESIGN
    ).private
    assert (private.modes, private.responses) == (("hand", "device"), {})
    assert "January to April" in private.innocuous["en"]


def test_a_prevalence_that_is_no_twelfth_has_no_question_and_is_told_of(form):
    examined = form(sheet("select_one yn | q | crosswise(prevalence=0.27)", DESIGN))
    assert examined.questionnaire.questions[0].private.modes == ("device",)
    assert [each.rule for each in examined.problems] == ["modes"]


def test_the_author_says_who_and_in_which_words(asked):
    columns = [
        f"bind::naysay_{each}::{NAMES[tag]} ({tag})" for each in ("innocuous", "first_label") for tag in LANGUAGES
    ]
    cells = [*(f"Born in May, {tag}?" for tag in LANGUAGES), *(f"Both, {tag}" for tag in LANGUAGES)]
    question = (
        f"select_one yn | q | crosswise(prevalence=1/12, between=(0.08, 0.09)) | device, hand | {' | '.join(cells)}"
    )
    private = asked(question, f"{DESIGN} | bind::naysay_mode | {' | '.join(columns)}").private
    assert private.modes == ("device", "hand")
    assert (private.innocuous["es"], private.responses["same"]["ar"]) == ("Born in May, es?", "Both, ar")
    assert private.responses["different"]["en"] == "Different"


@pytest.mark.parametrize("mode", ["hand", "device", "hand, device", "Device , Hand"])
def test_coins_are_tossed_by_whom_the_author_says(asked, mode):
    private = asked(f"select_one yn | q | two_coins | {mode}", f"{DESIGN} | bind::naysay_mode").private
    assert private.modes == tuple(each.strip().lower() for each in mode.split(","))


def test_a_crosswise_question_may_be_left_to_the_device(asked):
    private = asked("select_one yn | q | crosswise(prevalence=1/4) | device", f"{DESIGN} | bind::naysay_mode").private
    assert (private.modes, private.innocuous) == (("device",), {})


def test_packs_of_cards_with_the_same_chances_are_no_crosswise_question(form):
    private = form(sheet("select_one yn | q | kuk(p=(1/4, 3/4))", DESIGN)).questionnaire.questions[0].private
    assert (private.modes, private.innocuous, private.responses) == (("device",), {}, {})


@pytest.mark.parametrize(
    ("question", "column", "told"),
    [
        ("select_one yn | q | two_coins | interviewer", "bind::naysay_mode", "a mode must be hand or device"),
        ("select_one yn | q | warner(p=0.7) | hand", "bind::naysay_mode", "cannot tell people how"),
        ("select_one yn | q | | hand", "bind::naysay_mode", "this one has no design"),
        ("text | q | warner(p=0.7) |", DESIGN, "a text cannot be private"),
        ("select_multiple yn | q | crosswise(prevalence=1/4) | hand", "bind::naysay_mode", "cannot tell people how"),
    ],
)
def test_what_cannot_be_is_told_where_it_stands(form, question, column, told):
    [(where, message)] = complaints(form, question, f"{DESIGN} | bind::naysay_mode")
    assert (where, told in message) == (column, True), message


def test_one_innocuous_question_is_not_taken_for_several_answers(form):
    private = (
        form(sheet("select_multiple yn | q | crosswise(prevalence=1/4)", DESIGN)).questionnaire.questions[0].private
    )
    assert (private.modes, private.innocuous) == (("device",), {})


def test_an_innocuous_question_without_a_design_is_an_error(form):
    columns = f"{DESIGN} | bind::naysay_innocuous::English (en)"
    [(where, message)] = complaints(form, "select_one yn | q | | Born in May?", columns)
    assert (where, "this one has no design" in message) == ("bind::naysay_innocuous::English (en)", True)


@pytest.mark.parametrize(
    ("question", "header", "told"),
    [
        ("select_one yn | q | 2", "bind::naysay_begins_at", "this one has no design"),
        ("select_one yn | q | Same", "bind::naysay_first_label::English (en)", "this one has no design"),
        ("text | q | yes", "bind::naysay_right", "a text has no right choice"),
        ("naysay_check | q | two_coins", DESIGN, "has its own answer"),
        ("select_one yn | q | no", "naysay_practice", "there is no column"),
    ],
)
def test_a_cell_that_would_pass_unread_is_an_error(form, question, header, told):
    [(where, message)] = complaints(form, question, header)
    assert (where, told in message) == (header, True), message


def test_a_setting_in_the_wrong_sheet_is_sent_to_its_own(form):
    [problem] = form(sheet("select_one yn | q | no", "naysay_practice")).errors
    assert problem.way_out == "write it into the sheet settings"


def test_an_innocuous_question_beside_a_design_without_one_is_no_assumption(form):
    columns = f"{DESIGN} | bind::naysay_mode | " + " | ".join(
        f"bind::naysay_innocuous::{NAMES[tag]} ({tag})" for tag in LANGUAGES
    )
    examined = form(sheet("select_one yn | q | two_coins | hand | Born? | Geboren? | ¿Nacido? | وُلدت؟", columns))
    assert [each.rule for each in examined.problems if each.rule == "innocuous"] == ["innocuous"]
    assert any("this design has none" in each.message for each in examined.errors)


def test_a_question_without_levels_has_none_to_begin_at(form):
    [problem] = form(sheet("select_one yn | q | two_coins | 2", f"{DESIGN} | bind::naysay_begins_at")).errors
    assert problem.way_out == "leave it out, or offer levels, such as 1..3"


def test_a_check_of_understanding_needs_no_words(asked):
    check = asked("naysay_check | understood")
    assert (check.name, check.right, check.required) == ("understood", "nobody", False)
    assert all(set(text) == set(LANGUAGES) for text in (check.explanation, *(each.label for each in check.choices)))
    assert check.label["en"] == "Asked?"


def test_a_check_in_other_words_is_a_question_with_a_right_choice(asked):
    columns = "bind::naysay_right | " + " | ".join(
        f"bind::naysay_explanation::{NAMES[tag]} ({tag})" for tag in LANGUAGES
    )
    check = asked("select_one yn | q | no | Chance changes it. | de | es | ar", columns)
    assert (check.right, check.explanation["en"]) == ("no", "Chance changes it.")
    assert check.complaint("yes") is None, "a wrong answer is an answer"


def test_a_right_choice_that_there_is_not(form):
    [(where, message)] = complaints(form, "select_one yn | q | maybe", "bind::naysay_right")
    assert (where, "'yes', 'no'" in message) == ("bind::naysay_right", True)


@pytest.mark.parametrize(("cell", "practice"), [("no", False), ("yes", True), ("", True)])
def test_the_practice_question_can_be_left_out(form, cell, practice):
    settings = f"| settings |\n| | form_title | naysay_practice |\n| | Short | {cell} |\n"
    assert form(sheet("text | q", settings=settings)).questionnaire.practice is practice


def test_the_practice_question_can_be_asked_in_other_words(form, tmp_path):
    labels = [f"naysay_practice_label::{NAMES[tag]} ({tag})" for tag in LANGUAGES]
    settings = (
        f"| settings |\n| | form_title | naysay_practice | {' | '.join(labels)} |\n| | Short | yn | a | b | c | d |\n"
    )
    examined = form(sheet("text | q", choices=("tea", "milk", "water"), settings=settings))
    practice = examined.questionnaire.practice
    assert (practice.label["de"], [each.name for each in practice.choices]) == ("b", ["tea", "milk", "water"])
    assert "practice" not in [question.name for question in examined.questionnaire.questions]
    write_xlsform(examined.questionnaire, tmp_path / "again.xlsx")
    assert load(tmp_path / "again.xlsx") == examined.questionnaire


@pytest.mark.parametrize(
    ("cells", "column"),
    [("meals | A", "naysay_practice"), ("yn | A", "naysay_practice"), ("yn | ", "naysay_practice_label::English (en)")],
)
def test_a_practice_question_that_cannot_be_asked_is_told_where_it_stands(form, cells, column):
    settings = (
        f"| settings |\n| | form_title | naysay_practice | naysay_practice_label::English (en) |\n| | X | {cells} |\n"
    )
    assert column in [where for where, _ in complaints(form, "text | q", settings=settings)]


def test_what_is_not_asked_for_leaves_no_trace_in_the_form():
    """A survey that is open is written as it was, so that it can be renewed, and keeps its fingerprint."""
    form = sample().form()
    assert "practice" not in form
    assert not {"modes", "innocuous", "right", "explanation"} & set(str(form).replace("'", " ").split())


def test_the_researcher_says_at_which_level_the_page_begins(tmp_path):
    questionnaire = sample().form()
    (income,) = (
        item for group in questionnaire["items"] for item in group.get("items", ()) if item["name"] == "income"
    )
    income["private"]["begins_at"] = "2"
    begun = Questionnaire.model_validate(questionnaire)
    assert check(begun) == ()
    write_xlsform(begun, tmp_path / "begun.xlsx")
    assert load(tmp_path / "begun.xlsx") == begun
    assert offers(begun.questions)["income"] == ("2", "1", "3", "coin")
    for wrong in ("4", "coin"):
        income["private"]["begins_at"] = wrong
        (problem,) = check(Questionnaire.model_validate(questionnaire))
        assert str(problem).find(f"the page must begin at a level that the device draws; got {wrong!r}") > 0
