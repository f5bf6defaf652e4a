"""Surveys in which the truth was known, computed again from their counts."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import designs, estimate
from naysay.data import validation_counts

CASES, DEFAULTS = (
    json.loads((Path(__file__).parents[1] / "reference" / name).read_text(encoding="utf-8"))
    for name in ("compliance_literature.json", "controls.json")
)
DEFAULTS = DEFAULTS["defaults"]
FOUND = {(survey.study, survey.technique, survey.truth): survey for survey in estimate.validation().surveys}


def test_random_answers_of_athletes_are_twice_their_errors_with_exact_ends():
    found = {survey.study: survey for survey in estimate.validation().surveys if survey.truth == "control"}
    for name, case in CASES["wada"].items():
        survey = found[f"athletes {name}"]
        assert (survey.share, survey.low, survey.high) == pytest.approx(
            (case["rho"], case["low"], case["high"]), abs=1e-6
        )


@pytest.mark.parametrize(("truth", "name"), [("no", "direct honest"), ("carrier", "direct cheater")])
def test_wrong_direct_answers_have_intervals_by_likelihood(truth, name):
    case = CASES["mturk"][name]
    survey = next(s for s in estimate.validation().surveys if (s.technique, s.truth) == ("direct", truth) and s.counted)
    said_yes = (survey.share, survey.low, survey.high)
    if truth == "carrier":
        said_yes = (1 - survey.share, 1 - survey.high, 1 - survey.low)
    assert said_yes == pytest.approx((case["phi"], case["low"], case["high"]), abs=1e-5)


def test_every_number_has_a_source_and_a_place_in_the_print():
    surveys = estimate.validation()
    assert all(survey.source in str(surveys) for survey in surveys.surveys)
    assert str(surveys).count("\nathletes ") == 4


@pytest.mark.parametrize(("name", "shown"), [("C", (0.393, 0.343, 0.448)), ("D", (0.268, 0.223, 0.319))])
def test_the_other_surveys_of_athletes_are_as_published(name, shown):
    survey = FOUND[f"athletes {name}", "crosswise", "control"]
    assert (survey.share, survey.low, survey.high) == pytest.approx(shown, abs=5e-4)


def measured_shares():
    """Random answers in five surveys by hand, with their errors; in the dice game twice the false yes."""
    dice = FOUND["roll a six", "crosswise", "no"]
    by_control = [FOUND[f"athletes {name}", "crosswise", "control"] for name in "ABCD"]
    shares = [2 * dice.share, *(survey.share for survey in by_control)]
    errors = [2 * np.sqrt(survey.share / 2 * (1 - survey.share / 2) / survey.n) for survey in by_control]
    return np.array(shares), np.array([2 * (dice.high - dice.low) / 3.92, *errors])


def test_the_bands_of_what_was_measured_are_the_published_quantiles():
    shares, errors = measured_shares()
    other = FOUND["athletics championships", "single sample count", "control"].share
    quarters = (0, 0.25, 0.5, 0.75, 1)
    assert np.quantile([*shares, other], quarters) == pytest.approx(DEFAULTS["random quantiles"], abs=1e-6)
    assert np.median(shares) == pytest.approx(0.268, abs=5e-4)
    # one that always gives one answer: surveys A to D, and E and the dice game as published
    one = []
    for counts in validation_counts()["athletes"]["surveys"].values():
        design = designs.one_saying(prevalence=counts["prevalence"], types=("one-sayers",))
        sizes = np.column_stack([counts["same"], np.subtract(counts["people"], counts["same"])]).ravel()
        tally = design.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=sizes)
        one.append(estimate.moments(design, tally).nuisance["one-sayers"].value)
    assert one == pytest.approx(DEFAULTS["self-protective"][:4], abs=1e-6)
    one += DEFAULTS["self-protective"][4:]
    assert np.quantile(one, quarters) == pytest.approx(DEFAULTS["self quantiles"], abs=1e-6)
    # DerSimonian & Laird on the scale of log odds
    odds, errors = np.log(shares / (1 - shares)), errors / (shares * (1 - shares))
    weights = errors**-2
    spread = weights @ (odds - np.average(odds, weights=weights)) ** 2
    between = (spread - 4) / (weights.sum() - (weights**2).sum() / weights.sum())
    weights = 1 / (errors**2 + between)
    mean, error = np.average(odds, weights=weights), weights.sum() ** -0.5
    far = stats.t.ppf(0.975, 3) * np.hypot(error, np.sqrt(between))
    found = 1 / (1 + np.exp(-(mean + np.array([0, -1.959964 * error, 1.959964 * error, -far, far]))))
    assert found == pytest.approx([0.285, 0.226, 0.353, 0.115, 0.550], abs=5e-4)


def test_the_control_of_the_dice_game_takes_its_excess_away_and_uncovers_denial():
    false_yes, false_no = (FOUND["roll a six", "crosswise", truth].share for truth in ("no", "carrier"))
    random = 2 * false_yes
    assert random == pytest.approx(0.2276, abs=5e-5)
    assert 0.5 + (0.140 - 0.5) / (1 - random) == pytest.approx(0.034, abs=5e-4)
    assert 1 - ((1 - false_no) - random / 2) / (1 - random) == pytest.approx(0.45, abs=5e-3)
    people = {truth: FOUND["roll a six", "direct", truth].n for truth in ("no", "carrier")}
    said_yes = 3 + 12
    assert said_yes / sum(people.values()) == pytest.approx(0.039, abs=5e-4)
    of_all = [
        sum(survey.n for survey in FOUND.values() if (survey.study, survey.truth) == ("roll a six", truth))
        for truth in ("no", "carrier")
    ]
    assert of_all[1] / sum(of_all) == pytest.approx(0.054, abs=5e-4)


def test_the_interval_of_the_placebo_list_is_that_of_a_one_sided_p():
    survey = FOUND["Singapore", "list", "control"]
    share, half = 2 * (1.85 - 1.72), 1.959964 / stats.norm.isf(0.0096)
    assert (survey.share, survey.low, survey.high) == pytest.approx(
        (share, share * (1 - half), share * (1 + half)), abs=3e-3
    )
