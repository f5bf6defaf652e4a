"""Surveys in which the truth was known, computed again from their counts."""

import json
from pathlib import Path

import pytest

from naysay import estimate

CASES = json.loads((Path(__file__).parents[1] / "reference" / "compliance_literature.json").read_text(encoding="utf-8"))


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
