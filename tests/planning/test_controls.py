"""How many respondents a control needs to show that some do not comply."""

import json
from pathlib import Path

import pytest

from naysay import designs, planning
from naysay.errors import DataError

CASES = json.loads((Path(__file__).parents[1] / "reference" / "compliance_literature.json").read_text(encoding="utf-8"))
NEEDED = CASES["respondents"]
LETTERS = tuple("abcdefghijkl")
EXACT = {
    "negative(5 categories)": designs.controlled(designs.negative(LETTERS[:5]), truth="lot"),
    "negative(5 categories, discards=2)": designs.controlled(designs.negative(LETTERS[:5], discards=2), truth="lot"),
    "negative(4 categories)": designs.controlled(designs.negative(LETTERS[:4]), truth="lot"),
    "negative(4 categories, discards=2)": designs.controlled(designs.negative(LETTERS[:4], discards=2), truth="a"),
    "negative(12 categories, discards=3)": designs.controlled(designs.negative(LETTERS, discards=3), truth="a"),
}
FORCED = designs.forced_response(forced_yes="1/6", forced_no="1/12")
MASKED = {
    "crosswise .25": designs.controlled(designs.crosswise(prevalence=0.25), truth="no"),
    "crosswise .15": designs.controlled(designs.crosswise(prevalence=0.15), truth="no"),
    "forced": designs.controlled(FORCED, truth="no"),
    "k_ary": designs.controlled(designs.k_ary(LETTERS[:5], epsilon=1.5), truth="a"),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_control_that_nobody_who_complies_fails_needs_few(name):
    assert [planning.detection_size(EXACT[name], share) for share in NEEDED["shares"]] == NEEDED[name]


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_control_needs_many(name):
    # counts are whole, so power falls again beyond the first number that reaches it; naysay's stays reached
    for share, needed in zip(NEEDED["shares"], NEEDED[name], strict=True):
        assert needed <= planning.detection_size(MASKED[name], share) <= 1.06 * needed
        assert planning.detection_power(MASKED[name], share, n=needed) == pytest.approx(0.8, abs=0.03)


def test_slips_cost_respondents():
    survey = EXACT["negative(5 categories, discards=2)"]
    assert planning.detection_size(survey, 0.1, slips=0.01) == NEEDED["slips .01"][1]
    assert planning.detection_size(survey, 0.1, slips=0.02) > NEEDED["slips .01"][1]


def test_a_test_of_everybody_complying_keeps_its_size():
    assert planning.detection_power(MASKED["crosswise .25"], 0, n=500) <= 0.05
    assert planning.detection_power(EXACT["negative(5 categories)"], 0, n=500) == 0


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(DataError, match="has no control"):
        planning.detection_size(designs.crosswise(prevalence=0.25), 0.1)
    with pytest.raises(DataError, match="name a larger one"):
        planning.detection_size(EXACT["negative(5 categories)"], 0)
