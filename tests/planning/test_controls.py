"""How many respondents a control needs to show that some do not comply."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

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


@pytest.mark.parametrize("controls", [2, 3])
def test_the_planned_power_of_several_controls_is_that_of_the_test_that_is_printed(controls):
    """Each of 400 people answers all controls; the test counts the telling answers of all, here exactly."""
    survey, n = designs.controlled(designs.crosswise(prevalence=0.25), truth=("no",) * controls), 400
    person = 0.9 * stats.binom.pmf(range(controls + 1), controls, 0.25)
    person += 0.1 * stats.binom.pmf(range(controls + 1), controls, 0.5)
    counts = np.fft.irfft(np.fft.rfft(person, 2 * controls * n) ** n, 2 * controls * n)
    least = int(stats.binom.isf(0.05, controls * n, 0.25)) + 1
    assert planning.detection_power(survey, 0.1, n=n) == pytest.approx(counts[least:].sum(), abs=0.01)
    assert planning.detection_power(survey, 0, n=n) <= 0.055


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(DataError, match="has no control"):
        planning.detection_size(designs.crosswise(prevalence=0.25), 0.1)
    with pytest.raises(DataError, match="name a larger one"):
        planning.detection_size(EXACT["negative(5 categories)"], 0)


PER_ANSWER = {  # METHODS_CONTROLS section 7: respondents for ± .05 at π = .1; the question alone, then ρ = 0, .1, .25
    "crosswise": (designs.crosswise(prevalence=0.25), None, "no", [1_291, 2_029, 2_565, 3_825]),
    "both truths known": (
        designs.crosswise(prevalence=0.25),
        designs.crosswise(prevalence=0),
        "no",
        [1_291, 1_291, 1_655, 2_514],
    ),
    "forced": (FORCED, None, "no", [501, 729, 945, 1_458]),
    "negative": (designs.negative(LETTERS[:5]), None, "lot", [4_288, 4_288, 5_257, 7_492]),
    "negative, two": (designs.negative(LETTERS[:5], discards=2), None, "lot", [1_522, 1_522, 1_876, 2_695]),
}


@pytest.mark.parametrize("name", PER_ANSWER)
def test_what_a_control_costs(name):
    """A control that nobody who complies fails costs nothing if all comply; a masked one up to 57 %."""
    question, control, truth, published = PER_ANSWER[name]
    t = len(question.categories)
    shares = np.array([0.1, *[0.9 / (t - 1)] * (t - 1)])
    alone = planning.variance(question, shares, estimator="moments").each[0]
    survey = designs.controlled(question, truth=truth, control=control)
    needed = [alone]
    for away in (0, 0.1, 0.25):
        each = planning.variance(survey, np.append((1 - away) * shares, away), estimator="moments").each[0]
        assert each / alone == pytest.approx(planning.control_costs(survey, shares, away)[0], rel=1e-9)
        needed.append(each)
    assert [1.959964**2 * each / 0.05**2 for each in needed] == pytest.approx(published, abs=1.1)
    likely = planning.variance(survey, np.append(shares, 0), estimator="maximum_likelihood").each[0]
    assert likely <= needed[1] * (1 + 1e-9)
    if "crosswise" not in name and name != "forced":
        assert likely == pytest.approx(alone)


def test_more_controls_of_the_same_people_cost_less():
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    alone = planning.variance(designs.crosswise(prevalence=0.25), (0.15, 0.85), estimator="moments").each[0]
    three = [alone * planning.control_costs(survey, (0.15, 0.85), share, controls=3)[0] for share in (0.1, 0.25)]
    assert three == pytest.approx([1.26, 1.85], abs=0.006)
    two = designs.controlled(designs.crosswise(prevalence=0.25), truth=["no", "no"])
    each = planning.variance(two, (0.9 * 0.15, 0.9 * 0.85, 0.1), estimator="moments").each[0]
    assert each / alone == pytest.approx(planning.control_costs(survey, (0.15, 0.85), 0.1, controls=2)[0], rel=1e-9)


def test_arms_that_differ_in_precision_are_of_different_size():
    arms = {"masked": designs.crosswise(prevalence=0.25), "direct": designs.direct(("yes", "no"))}
    shares = planning.arm_shares(arms, {"masked": (0.16, 0.84), "direct": (0.08, 0.92)})
    assert shares["masked"] == pytest.approx(0.78, abs=0.005)
    variances = [
        planning.variance(arms[name], pi, estimator="moments").each[0]
        for name, pi in (("masked", (0.16, 0.84)), ("direct", (0.08, 0.92)))
    ]
    best, equal = (
        sum(v / part for v, part in zip(variances, split, strict=True)) for split in (shares.values(), (0.5, 0.5))
    )
    assert 1 - best / equal == pytest.approx(0.23, abs=0.005)
    dear = planning.arm_shares(arms, (0.1, 0.9), costs={"masked": 4, "direct": 1})
    alike = planning.arm_shares(arms, (0.1, 0.9))
    assert dear["masked"] / dear["direct"] == pytest.approx(alike["masked"] / alike["direct"] / 2)
