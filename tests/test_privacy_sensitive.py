"""The privacy of the sensitive category alone, where samples tell finer cells apart."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate, privacy
from naysay.errors import DesignError

UNRELATED = designs.unrelated_question_unknown(p=(0.7, 0.3))
LIARS = designs.stochastic_lie_detector(p=(0.2, 0.8))


@given(st.floats(0.01, 0.99))
def test_the_unrelated_question_is_that_of_a_known_prevalence(prevalence):
    told = privacy.about_categories(UNRELATED, {"innocuous yes": prevalence})
    for sample, p in ((1, 0.7), (2, 0.3)):
        known = privacy.statement(designs.unrelated_question(p=p, prevalence=prevalence))
        assert told[sample].epsilon == pytest.approx(known.epsilon, rel=1e-9)
        assert told[sample].bits == pytest.approx(known.bits, rel=1e-9)
        assert told[sample].still_possible == known.still_possible == (2, 2)


def test_the_unrelated_question_at_three_in_ten():
    assert privacy.about_categories(UNRELATED, {"innocuous yes": 0.3})[1].epsilon == pytest.approx(2.172, abs=5e-4)
    assert math.isinf(privacy.about_categories(UNRELATED, {"innocuous yes": 0})[1].epsilon)


def test_an_estimate_prints_it_at_the_estimated_prevalence():
    cells = np.outer((0.2, 0.8), (0.3, 0.7)).ravel()
    yes = [round(10_000 * (UNRELATED.channel(sample).matrix[0] @ cells)) for sample in (1, 2)]
    tally = UNRELATED.tally(
        ["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[yes[0], 10_000 - yes[0], yes[1], 10_000 - yes[1]]
    )
    fit = estimate.moments(UNRELATED, tally)
    assert fit.nuisance["innocuous yes"].value == pytest.approx(0.3)
    line = next(line for line in str(fit).splitlines() if line.startswith("privacy, sample 1"))
    assert "ε = 2.172 (" in line
    assert line.endswith("about the sensitive category alone, if innocuous yes = 0.3")
    assert fit.to_dict()["privacy"]["epsilon"] == pytest.approx(2.172, abs=5e-4)


def test_carriers_who_lie_sometimes_are_one_category():
    told = privacy.about_categories(LIARS, {"truth-tellers": 0.6})[1]  # yes: .6 say yes; no: .8 say yes
    assert told.epsilon == pytest.approx(math.log(0.4 / 0.2))


def test_without_an_estimate_the_line_says_what_is_assumed():
    assert "if innocuous yes = 0.5 (assumed; ε depends on it)" in privacy.lines(UNRELATED)[0]


@pytest.mark.parametrize(
    "design",
    [
        designs.warner(p=0.7),
        designs.extended_crosswise(prevalence=0.2),
        designs.cheating_detection(p=(0.25, 0.75)),
    ],
    ids=lambda design: design.name,
)
def test_other_cells_are_no_finer_categories(design):
    assert privacy.about_categories(design) is None


def test_cheaters_are_no_category():
    [line] = privacy.lines(designs.cheating_detection(p=(0.25, 0.75)))
    assert "2 of 3 kinds of people stay possible" in line
    assert "categories" not in line


@pytest.mark.parametrize(
    "question",
    [
        designs.crosswise(prevalence=0.25),
        designs.negative(tuple("abcd")),
        designs.negative(tuple("abcde"), discards=2),
        designs.k_ary(tuple("abc"), epsilon=1),
    ],
    ids=lambda design: design.name or design.kind,
)
@pytest.mark.parametrize("more", [{"truth": "lot"}, {"truth": ["lot", "lot"]}])
def test_a_control_tells_nothing_of_those_who_comply(question, more):
    """People who answer at random are no category, and all truths by lot are as private as the question alone."""
    [line] = privacy.lines(designs.controlled(question, **more))
    alone = privacy.statement(question)
    assert line.startswith(f"privacy: {str(alone).split('; ε')[0]}; ε = ")
    assert line.endswith("about the category alone, of those who comply")
    for told in privacy.about_categories(designs.controlled(question, **more)).values():
        assert told.epsilon == pytest.approx(alone.epsilon, rel=1e-9)
        assert told.bits == pytest.approx(alone.bits, abs=1e-9)


def test_what_an_anchored_answer_tells_is_what_the_question_tells():
    told = privacy.about_categories(designs.anchored_crosswise(prevalence=0.15, anchor=0.1))[None]
    assert told.epsilon == pytest.approx(math.log(0.85 / 0.15))
    assert told.categories == 2


@pytest.mark.parametrize("given_", [{"innocuous": 0.3}, {"innocuous yes": 1.2}])
def test_nuisance_shares_are_those_of_the_design(given_):
    with pytest.raises(DesignError, match="nuisance shares of this design"):
        privacy.about_categories(UNRELATED, given_)
