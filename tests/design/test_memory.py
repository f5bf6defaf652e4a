"""Designs that remember: both steps together are the one-shot design, and w reports of one memo have the stated ε."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import Design, designs, estimate, planning, privacy
from naysay.design import Pattern, Redraw
from naysay.design.drawing import GeneratorSource
from naysay.designs.frequencies import cost
from naysay.errors import DesignError

FAMILIES = ("k_ary", "affine", "subset_selection", "unary", "symmetric")


def steps(design):
    """Both steps enumerated in fractions: P₁ (responses, t), and P₂ (responses, responses)."""
    codes = design.space.listing()
    first = design.first.matrix
    n, keep = len(codes), design.second.keep / design.second.whole
    second = np.empty((n, n))
    for place, memo in enumerate(codes):
        if design.first.kind == "unary":
            bits = design.space.statistic(codes) == design.space.statistic(memo[None])
            second[:, place] = np.where(bits, keep + (1 - keep) / 2, (1 - keep) / 2).prod(axis=1)
        else:
            alike = codes[:, 0] // getattr(design.first, "base", n) == memo[0] // getattr(design.first, "base", n)
            other = alike / alike.sum() if design.first.kind == "affine" else np.full(n, 1 / n)
            second[:, place] = (1 - keep) * other + keep * (np.arange(n) == place)
    return first, second


@pytest.mark.parametrize("family", FAMILIES)
def test_both_steps_together_are_the_published_chances_and_w_reports_have_the_stated_epsilon(family):
    survey = designs.remembered(4, epsilon=0.8, lifetime=2.5, design=family)
    first, second = steps(survey)
    np.testing.assert_allclose(second @ first, survey.matrix, atol=1e-15)
    for waves in (1, 2, 3):
        reports = np.array(list(itertools.product(range(len(second)), repeat=waves)))
        joint = np.prod([second[reports[:, wave]] for wave in range(waves)], axis=0) @ first
        joint = joint[joint.max(axis=1) > 0]  # the hash of a memo stays
        largest = np.log(joint.max(axis=1) / joint.min(axis=1)).max()
        assert survey.epsilon_after(waves) == pytest.approx(largest, abs=1e-12)


@given(
    t=st.integers(2, 2_000),
    epsilon=st.floats(0.05, 5),
    more=st.floats(0.02, 5),
    family=st.sampled_from(FAMILIES),
)
@settings(max_examples=60, deadline=None)
def test_a_wave_costs_what_the_design_without_memory_costs_and_no_promise_is_exceeded(t, epsilon, more, family):
    survey = designs.remembered(t, epsilon=epsilon, lifetime=epsilon + more, design=family)
    alone = {
        "k_ary": designs.k_ary,
        "affine": designs.affine,
        "subset_selection": designs.subset_selection,
        "unary": designs.unary,
        "symmetric": lambda *a, **b: designs.unary(*a, **b, p="symmetric"),
    }[family](t, epsilon=epsilon)
    assert cost(survey) == pytest.approx(cost(alone), rel=1e-6)
    assert privacy.epsilon(survey) <= epsilon * (1 + 1e-15)
    assert privacy.epsilon(survey.first) <= (epsilon + more) * (1 + 1e-15)
    assert privacy.epsilon(survey) == pytest.approx(epsilon, rel=1e-6)
    assert privacy.epsilon(survey.first) == pytest.approx(epsilon + more, rel=1e-6)
    assert survey.epsilon_after(1) == pytest.approx(privacy.epsilon(survey), rel=1e-12)
    assert Design.from_json(survey.to_json()) == survey


@pytest.mark.parametrize(("t", "p2", "literature", "exact"), [(16, 0.2141, 26.33, 5.662), (128, 0.03117, 6_181, 43.6)])
def test_the_second_step_of_the_literature_keeps_less_than_it_promises(t, p2, literature, exact):
    """L-GRR (Arcolezi et al. 2021) takes p₂ from a formula for two categories; METHODS_LDP 3.1, (ε∞, ε₁) = (2, 1)."""

    def rare(design):
        alpha, q = design.structure.even_mean
        return q * (1 - q) / alpha**2

    keep = (t * p2 - 1) / (t - 1)
    theirs = Pattern.of(range(t), own=7_389_056, other=1_000_000).then(Redraw(round(keep * 10**7), 10**7))
    assert rare(theirs) == pytest.approx(literature, rel=1e-3)
    assert privacy.epsilon(theirs) == pytest.approx(0.5732 if t == 16 else 0.1340, abs=1e-3)
    assert rare(designs.remembered(t, epsilon=1, lifetime=2, design="k_ary")) == pytest.approx(exact, rel=1e-3)


def test_the_literatures_unary_numbers_are_those_of_one_shot():
    """METHODS_LDP 3.1: n Var (π → 0) of L-SUE is 3.918, of L-OSUE 3.683, whatever the lifetime."""
    for family, expected in (("symmetric", 3.918), ("unary", 3.683)):
        for lifetime in (2, 6):
            alpha, q = designs.remembered(20, epsilon=1, lifetime=lifetime, design=family).structure.even_mean
            assert q * (1 - q) / alpha**2 == pytest.approx(expected, abs=5e-4)


def test_reports_of_one_memo_can_tell_more_than_as_many_independent_ones():
    """Sums of ε bound independent draws only: φ(s) = ln M(e^s) need not be concave for more than two categories."""
    survey = designs.remembered(100, epsilon=0.25, lifetime=4, design="k_ary")
    assert survey.epsilon_after(2) > 0.58 > 2 * 0.25
    assert survey.epsilon_after(10**9) == pytest.approx(4, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_estimates_from_remembered_answers_are_right(family):
    survey, pi = designs.remembered(70, epsilon=2, lifetime=4, design=family), np.r_[0.5, 0.3, np.full(68, 0.2 / 68)]
    rng, z = np.random.default_rng(7), []
    for _ in range(5):
        fit = estimate.moments(survey, survey.tally(survey.randomize(rng.choice(70, 20_000, p=pi), rng=rng)))
        z.append((fit.proportions - pi) / fit.standard_errors)
    assert 0.8 < np.square(z).mean() < 1.2
    planned = planning.variance(survey, pi).standard_errors(20_000)
    assert fit.standard_errors[2:] == pytest.approx(planned[2:], rel=0.1)


def test_a_thousand_categories_need_no_tables():
    survey = designs.remembered(1024, epsilon=1, lifetime=3)
    assert survey.first.kind == "affine"
    rng = np.random.default_rng(3)
    tally = survey.tally(survey.randomize(rng.integers(1024, size=20_000), rng=rng))
    assert tally.parts[0].distinct < survey.space.size  # counts
    assert privacy.still_possible(survey) == (1024, 1024)
    low, high = estimate.moments(survey, tally).interval(method="agresti_coull").T
    assert ((low <= 1 / 1024) & (high >= 1 / 1024)).mean() > 0.93


def test_a_memo_is_sent_again_with_new_noise():
    survey, rng = designs.remembered(6, epsilon=1, lifetime=5, design="k_ary"), np.random.default_rng(8)
    memo = survey.first.draw(np.zeros(20_000, dtype=np.int64), GeneratorSource(rng))
    one, two = (survey.again(memo, GeneratorSource(rng)) for _ in range(2))
    chances = survey.first.matrix[:, 0]
    keep = survey.second.keep / survey.second.whole
    second = keep * np.eye(6) + (1 - keep) / 6
    same = float((second**2).sum(axis=0) @ chances)
    assert (one == two).mean() == pytest.approx(same, abs=4 * math.sqrt(same * (1 - same) / 20_000))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: designs.remembered(4, epsilon=2, lifetime=1), "epsilon must be below lifetime; got 2 and 1"),
        (lambda: designs.remembered(4, epsilon=0, lifetime=1), "epsilon must be positive"),
        (lambda: designs.remembered(4, epsilon=math.nan, lifetime=1), "nan"),
        (lambda: designs.remembered(4, epsilon=1, lifetime=math.inf), "inf"),
        (lambda: designs.remembered(4, epsilon=1, lifetime=2, design="rappor"), "design must be one of frequency"),
        (lambda: designs.remembered(4, epsilon=1, lifetime=40, design="unary"), "up to about 15"),
        (lambda: Redraw(3, 2), "0 < keep < whole"),
        (lambda: designs.warner(p="1/5").then(Redraw(1, 2)), "the truth is the likeliest"),
        (lambda: designs.negative(tuple("abcd"), discards=2).then(Redraw(1, 2)), "only pure designs can be remembered"),
        (lambda: designs.unary(9, epsilon=1).then(Redraw(1, 7)), "multiples of 2"),
    ],
)
def test_steps_that_do_not_fit_are_refused(make, told):
    with pytest.raises(DesignError, match=told):
        make()


@pytest.mark.parametrize("make", [designs.k_ary, designs.affine, designs.subset_selection])
def test_any_noise_may_follow_and_its_epsilon_is_not_understated(make):
    first = make(300, epsilon=2)
    survey = first.then(Redraw(1, 3))
    ((p, q, n),) = first.pieces
    exact = math.log((p / 3 + Fraction(2, 3 * n)) / (q / 3 + Fraction(2, 3 * n)))
    assert exact <= privacy.epsilon(survey) <= exact + 1e-12
    assert survey.epsilon_after(1) == pytest.approx(exact, abs=1e-12)


def test_two_tables_after_each_other_have_an_exact_epsilon():
    twice = designs.k_ary(5, epsilon=3).then(designs.k_ary(5, epsilon=2))
    (a, b), (c, d) = (tuple(map(int, each.weights[0, :2])) for each in (twice.first, twice.second))
    exact = Fraction(c * a + 4 * d * b, c * b + d * a + 3 * d * b)
    assert privacy.epsilon(twice) == pytest.approx(math.log(exact), rel=1e-15)
    assert privacy.epsilon(twice) >= math.log(exact)


def test_the_note_of_an_affine_memo_says_that_values_can_share_it():
    """It said "the new one has a memo of its own", which holds only where the hash has a value for each category."""
    shared, separate = (designs.remembered(t, epsilon=1, lifetime=2, design="affine") for t in (128, 2))
    assert len(shared.categories) > shared.first.base
    assert "the same memo if both share the value of the hash" in shared.notes[1]
    assert "the new one has a memo of its own" in separate.notes[1]
    assert "the new one has a memo of its own" in designs.remembered(16, epsilon=1, lifetime=2, design="k_ary").notes[1]
