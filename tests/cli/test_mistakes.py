"""Mistakes of people who come from other tools, which once passed in silence: each is refused or said in one line."""

import json

import pytest

from naysay import designs, files
from naysay.design import draw_lots
from naysay.errors import DesignError

WARNER = ("--design", "warner(p=0.7)")
CROSSWISE = ("--design", "crosswise(prevalence=1/4)")


@pytest.fixture
def people(write):
    rows = [f"{'yes' if place % 5 < 2 else 'no'},{'fm'[place % 2]},{place % 3}" for place in range(60)]
    write("answers.csv", "doping,sex,town", *rows)
    write("joined.csv", "doping,sex,town", *rows[:30], "doping,sex,town", *rows[30:])
    write("quoted.csv", '"doping","sex","town"', *rows[:30], "doping,sex,town", *rows[30:])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("risk", "joined.csv", "--keys", "sex,town"), "'joined.csv', line 32, repeats the header"),
        (("protect", "quoted.csv", "--keys", "sex,town"), "'quoted.csv', line 32, repeats the header"),
        (("estimate", "answers.csv", "--response", "doping", *WARNER, "--html", "answers.csv"),
         "--html would replace 'answers.csv', which is no page"),
        (("estimate", "answers.csv", "--response", "doping", *WARNER, "--by", "doping"), "--by doping would put"),
        (("estimate", ".", "--response", "doping", *WARNER), "the name of a file of answers must end in .csv"),
        (("estimate", "answers.csv", "--response", "doping", "--design", "answers.csv"),
         "'answers.csv' is no design's JSON"),
        (("plan", *WARNER, "--proportions", ".2,.8", "--power", "80"), "--power must lie between 0 and 1"),
        (("plan", *WARNER, "--proportions", ".2,.8", "--power", "0.9"), "--power is about a difference: add --null"),
        (("plan", *WARNER, "--proportions", ".2", "--n", "9"), "proportions must have 2 probabilities; got 1"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_place_and_the_way_out(refused, people, tmp_path, words, said):
    before = (tmp_path / "answers.csv").read_bytes()
    assert said in refused(*words)
    assert (tmp_path / "answers.csv").read_bytes() == before


def test_a_page_may_replace_a_page(naysay, people):
    for _ in range(2):
        assert naysay("estimate", "answers.csv", "--response", "doping", *WARNER, "--html", "page.html").code == 0


def test_a_design_beside_that_of_the_codebook_is_said(naysay, refused, people, tmp_path):
    assert naysay("randomize", "answers.csv", "--response", "doping", *WARNER, "--out", "rand.csv").code == 0
    other, same = ("--design", "warner(p=0.8)"), ("--design", "warner(p=7/10)")
    note = "the codebook beside 'rand.csv' says that 'doping' was drawn by warner(p=0.7), and warner(p=0.8) is used; "
    for words, design, way_out in (
        (("estimate", "rand.csv", "--response", "doping"), other, "leave --design out to take"),
        (("regress", "doping ~ sex", "rand.csv"), other, "leave --design out to take"),
        (("crosstab", "rand.csv", "--row", "doping", "--column", "sex", "--bootstrap", "0"),
         ("--row-design", "warner(p=0.8)"), "leave --row-design out to take"),
    ):  # fmt: skip
        assert note + way_out in naysay(*words, *design).err
    assert naysay("estimate", "rand.csv", "--response", "doping", *same).err == ""
    assert (
        "and not of 'town'; k_ary(epsilon=1) is used"
        in naysay(
            "estimate", "rand.csv", "--response", "town", "--design", "k_ary(epsilon=1)", "--categories", "0,1,2"
        ).err
    )
    book = json.loads((place := tmp_path / "rand.csv.designs.json").read_text(encoding="utf-8"))
    values = [{"code": 1, "name": "f", "label": "f"}, {"code": 2, "name": "m", "label": "m"}]
    sex = files.Codebook.of_form(book).entries[0].form() | {"column": "sex", "question": "sex", "values": values}
    sex.pop("design"), sex.pop("level")
    place.write_text(json.dumps(book | {"columns": [*book["columns"], sex]}), encoding="utf-8")
    words = ("estimate", "rand.csv", "--response", "sex", "--categories", "f,m", "--design")
    assert "column 'sex' holds people's own answers, by the codebook" in refused(*words, "warner(p=0.7)")
    assert naysay(*words, "direct()").code == 0


def test_yes_and_no_under_a_design_that_sends_other_answers_are_said(naysay, write, people):
    said = "column 'doping' is read with 'no' as 'different' and 'yes' as 'same'; if it holds people's own answers"
    for words in (
        ("estimate", "answers.csv", "--response", "doping", *CROSSWISE),
        ("crosstab", "answers.csv", "--row", "doping", "--column", "sex", "--bootstrap", "0", "--row-design",
         "crosswise(prevalence=1/4)"),
    ):  # fmt: skip
        assert said in naysay(*words).err
    write("same.csv", "doping", *["same", "different", "different"] * 20)
    assert naysay("estimate", "same.csv", "--response", "doping", *CROSSWISE).err == ""
    assert naysay("estimate", "answers.csv", "--response", "doping", *WARNER).err == ""


def test_shares_that_miss_one_by_the_last_binary_digit_are_read_as_meant():
    shares = {"yes": 0.07, "no": 1 - 0.07}
    survey = designs.controlled(designs.warner(p=0.8), truth=shares)
    assert survey == designs.controlled(designs.warner(p=0.8), truth={"yes": "7/100", "no": "93/100"})
    assert next(branch.chance for branch in draw_lots((0.07, None), (1 - 0.07, None)).branches).numerator == 7
    with pytest.raises(DesignError, match="sum to one"):
        designs.controlled(designs.warner(p=0.8), truth={"yes": 0.07, "no": 0.94})
