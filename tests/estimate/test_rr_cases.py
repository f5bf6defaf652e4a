"""What other programs print for randomized-response data comes out; where they break down, something usable does."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate

CASES = json.loads((Path(__file__).parents[1] / "reference" / "rr_cases.json").read_text(encoding="utf-8"))


def name(case):
    return f"{case['design']} {case['counts']}"


def one_sample(case):
    design = designs.parse(case["design"])
    return design, design.tally(count=case["counts"])


def several_samples(case):
    survey = designs.parse(case["design"])
    counts = np.ravel(case["counts"])
    return survey, survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=counts)


@pytest.mark.parametrize("case", CASES["one sample"], ids=name)
def test_moments_of_one_sample_agree(case):
    fit = estimate.moments(*one_sample(case))
    shown = len(case["proportions"])
    assert fit.proportions[:shown] == pytest.approx(case["proportions"], rel=0, abs=1e-6)
    assert fit.standard_errors[:shown] == pytest.approx(case["standard_errors"], rel=0, abs=1e-5)
    assert fit.standard_error_kind == "moments, n - 1"


@pytest.mark.parametrize("case", CASES["one sample"], ids=name)
def test_maximum_likelihood_of_one_sample_agrees_inside_the_simplex_and_stays_inside(case):
    fit = estimate.maximum_likelihood(*one_sample(case))
    shown = len(case["proportions"])
    if min(case["proportions"]) < 0:
        assert fit.proportions[0] == 0
        return
    assert fit.proportions[:shown] == pytest.approx(case["proportions"], rel=0, abs=1e-6)
    n = sum(case["counts"])
    assert fit.standard_errors[:shown] == pytest.approx(
        np.array(case["standard_errors"]) * np.sqrt((n - 1) / n), abs=1e-8
    )


@pytest.mark.parametrize("case", CASES["several samples"], ids=name)
def test_two_samples_agree_with_their_nuisance_parameters(case):
    fit = estimate.moments(*several_samples(case))
    assert fit.proportions[0] == pytest.approx(case["proportion"], rel=0, abs=1e-6)
    assert fit.standard_errors[0] == pytest.approx(case["standard_error"], rel=0, abs=1e-5)
    assert fit.standard_error_kind == "moments, n - 1 in each sample"
    for parameter, told in case["nuisance"].items():
        assert fit.nuisance[parameter].value == pytest.approx(told[0], rel=0, abs=1e-6)
        assert fit.nuisance[parameter].standard_error == pytest.approx(told[1], rel=0, abs=1e-5)


@pytest.mark.parametrize("case", CASES["several samples"], ids=name)
def test_the_likelihood_of_two_samples_agrees(case):
    fit = estimate.maximum_likelihood(*several_samples(case))
    assert fit.proportions[0] == pytest.approx(case["proportion"], rel=0, abs=1e-6)
    for parameter, told in case["nuisance"].items():
        assert fit.nuisance[parameter].value == pytest.approx(told[0], rel=0, abs=1e-6)
    moments = estimate.moments(*several_samples(case))
    ratios = fit.standard_errors[0] / moments.standard_errors[0]
    n = np.sum(case["counts"], axis=1)
    assert np.sqrt((n - 1) / n).min() - 1e-9 <= ratios <= np.sqrt((n - 1) / n).max() + 1e-9


def test_the_cheating_detection_model_prints_a_lower_and_an_upper_bound():
    case = next(case for case in CASES["several samples"] if "cheating" in case["design"])
    fit = estimate.moments(*several_samples(case))
    most = fit.nuisance["yes, at most"]
    assert most.value == pytest.approx(case["proportion"] + case["nuisance"]["cheaters"][0], abs=1e-9)
    assert most.standard_error == pytest.approx(case["nuisance"]["honest no"][1], abs=1e-5)


# where maximum likelihood ends at the boundary


def test_warner_out_of_range_has_a_bounded_estimate_two_flags_and_the_moments_beside_it():
    design = designs.warner(p=0.7)
    fit = estimate.maximum_likelihood(design, design.tally(count=[250, 750]))
    assert fit.proportions.tolist() == [0, 1]
    found = fit.intervals()
    at_end = estimate.maximum_likelihood(design, design.tally(count=[300, 700])).interval()
    assert found.bounds == pytest.approx(at_end, abs=1e-12)
    assert found.flagged.all(), "3.6 standard errors below zero these answers hardly fit the design"
    assert "interval outside [0, 1], shown is that of an estimate at the nearest end: yes, no" in str(fit)
    assert any("at the boundary, 0: yes" in str(note) for note in fit.warnings)
    assert fit.unbounded.proportions[0] == pytest.approx(-0.125)
    assert fit.unbounded.standard_errors[0] == pytest.approx(0.0342497890219, abs=1e-9)


class TestDiceGame:
    """Dice game of the MTURK survey (data of the R package GLMMRR): 248 of 1,526 said yes."""

    design = designs.forced_response(forced_no="1/12", forced_yes="1/6")
    tally = design.tally({"yes": 248, "no": 1_278})

    def test_the_moment_estimate_is_just_below_zero(self):
        fit = estimate.moments(self.design, self.tally)
        assert fit.proportions[0] == pytest.approx(-0.005534, abs=1e-6)
        assert fit.standard_errors[0] == pytest.approx(0.012596, abs=1e-6)
        assert any("outside [0, 1], as an unbiased estimate may be: yes, no" in str(note) for note in fit.warnings)

    def test_the_likelihood_is_largest_at_zero_and_says_so(self):
        fit = estimate.maximum_likelihood(self.design, self.tally)
        assert fit.proportions.tolist() == [0, 1]
        assert any("at the boundary, 0: yes; standard errors are unreliable" in str(note) for note in fit.warnings)

    @pytest.mark.parametrize("method", [None, "agresti_coull", "profile"])
    def test_the_interval_lies_inside_and_holds_zero(self, method):
        for fit in (estimate.moments(self.design, self.tally), estimate.maximum_likelihood(self.design, self.tally)):
            low, high = fit.interval(method=method)[0]
            assert low == 0
            assert 0.01 < high < 0.03

    def test_the_upper_end_is_where_a_score_test_would_put_it_at_zero(self):
        # λ = 1/6 + 3/4 π, and 248/1526 is below 1/6: Wilson's interval of a share of 1/6, mapped by that line
        n, z, share = 1_526, stats.norm.ppf(0.975), 1 / 6
        spread = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        upper = (share + z**2 / (2 * n) + spread) / (1 + z**2 / n)
        ends = estimate.maximum_likelihood(self.design, self.tally).interval()[0]
        assert ends[1] == pytest.approx((upper - 1 / 6) / 0.75, abs=1e-4)

    def test_the_moments_stand_beside_it_in_text_and_json(self):
        fit = estimate.maximum_likelihood(self.design, self.tally)
        head, first = (line for line in str(fit).splitlines() if line.startswith(("category", "yes")))
        assert head.split()[-2:] == ["moments", "s.e."]
        assert first.split()[-2:] == ["-0.006", "0.013"]
        told = fit.to_dict()["moments"]
        assert told["proportions"][0] == pytest.approx(-0.005534, abs=1e-6)
        assert told["standard_errors"][0] == pytest.approx(0.012596, abs=1e-6)

    def test_inside_the_interval_of_estimates_nothing_stands_beside_it(self):
        inside = estimate.maximum_likelihood(self.design, self.design.tally({"yes": 400, "no": 1_126}))
        assert inside.unbounded is None
        assert "moments" not in inside.to_dict()
