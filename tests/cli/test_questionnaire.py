import json

import pytest

from naysay.collect.questionnaire import load, sample

BAD = """| survey | | | |
| | type | name | label::English (en) |
| | image | a | A |
| | select_one none | b | B |
"""


def test_new_check_and_convert(naysay, tmp_path):
    assert naysay("questionnaire", "new", "sport.xlsx").code == 0
    code, out, err = naysay("questionnaire", "check", "sport.xlsx")
    assert (code, err) == (0, "")
    assert out.startswith("sport.xlsx: 0 errors, 0 warnings; 21 questions in en, de, es, ar\n")
    assert "all answers together: ε = ∞" in out
    assert naysay("questionnaire", "convert", "sport.xlsx", "form.json").out == "form.json: written\n"
    assert load(tmp_path / "form.json").form() == {**sample().form(), "name": "sport"}
    assert naysay("questionnaire", "convert", "form.json", "back.xlsx").code == 0
    assert load(tmp_path / "back.xlsx").fingerprint == load(tmp_path / "form.json").fingerprint


def test_the_name_is_an_option(naysay, tmp_path, refused):
    naysay("questionnaire", "new", "a.json", "--name", "doping-2026")
    assert load(tmp_path / "a.json").name == "doping-2026"
    assert "--name" in refused("questionnaire", "new", "b.json", "--name", "Doping 2026")
    assert not (tmp_path / "b.json").exists()


def test_a_good_questionnaire_as_json(naysay):
    naysay("questionnaire", "new", "a.json", "--name", "sample")
    told = json.loads(naysay("questionnaire", "check", "a.json", "--format", "json").out)
    assert (told["questionnaire"], told["fingerprint"], told["problems"]) == ("sample", sample().fingerprint, [])
    assert told["privacy"]["smoking"][0]["still_possible"] == [2, 2]
    assert told["together"]["epsilon"] is None


def test_every_error_is_listed_and_the_exit_code_is_2(naysay, write):
    write("bad.md", *BAD.splitlines())
    code, out, _ = naysay("questionnaire", "check", "bad.md")
    assert code == 2
    assert "error: survey, row 2, column 'type': type 'image' is not asked here" in out
    assert "error: survey, row 3, column 'type': " in out
    assert out.splitlines()[-1].startswith("bad.md: ")
    assert out.splitlines()[-1].endswith("it cannot be fielded")
    code, out, _ = naysay("questionnaire", "check", "bad.md", "--format", "json")
    problems = json.loads(out)["problems"]
    assert code == 2
    assert {"image", "none"} <= {word for each in problems for word in ("image", "none") if word in each["message"]}
    assert [each["row"] for each in problems if each["rule"] != "pyxform"] == [2, 3]


def test_converting_a_bad_one_says_one_problem_a_line(naysay, write):
    write("bad.md", *BAD.splitlines())
    code, out, err = naysay("questionnaire", "convert", "bad.md", "out.json")
    assert (code, out) == (2, "")
    headline, *problems = err.splitlines()
    assert headline == "naysay: bad.md cannot be fielded; 3 problems:"
    assert len(problems) == 3
    assert "'image'" in problems[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("new", "a.docx"), "as .xlsx or .json"),
        (("new", "nowhere/a.json"), "cannot write to"),
        (("new", "nowhere/a.xlsx"), "cannot write to"),
        (("check", "none.xlsx"), "there is no file"),
    ],
)
def test_files_that_cannot_be(refused, words, told):
    assert told in refused("questionnaire", *words)


def test_nothing_is_overwritten_unless_asked(naysay, refused, write):
    write("a.json", "mine")
    assert "--force" in refused("questionnaire", "new", "a.json")
    assert naysay("questionnaire", "new", "a.json", "--force").code == 0


def test_without_a_command_the_help_is_shown(naysay):
    assert "convert" in naysay("questionnaire").out
