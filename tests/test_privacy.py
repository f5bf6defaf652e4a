"""What answers tell: formulas, and theorems that hold for every design."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from naysay import designs, privacy
from naysay.errors import DataError, DesignError
from naysay.responses import Subsets

ABC, ABCDE = tuple("abc"), tuple("abcde")
JUST = 1e-9
FEW = st.integers(2, 4)


def channels(t, responses=FEW):
    """Random designs over t categories, zeros included."""

    def design(weights):
        weights[0] += weights.sum(axis=0) == 0
        return designs.custom(
            [[f"{w}/{total}" for w, total in zip(row, weights.sum(axis=0), strict=True)] for row in weights]
        )

    return responses.flatmap(lambda m: arrays(int, (m, t), elements=st.integers(0, 9)).map(design))


def priors(t):
    return st.lists(st.integers(1, 20), min_size=t, max_size=t).map(lambda w: np.array(w) / sum(w))


@given(st.integers(3, 12).flatmap(lambda t: st.tuples(st.just(t), st.integers(1, t - 2))))
def test_k_discards_tell_log_t_over_t_minus_k(size):
    t, k = size
    design = designs.negative(range(t), discards=k)
    assert privacy.information(design) == pytest.approx(math.log2(t / (t - k)), rel=1e-12)
    assert privacy.still_possible(design) == (t - k, t - k)
    assert privacy.epsilon(design) == math.inf
    after, before = privacy.vulnerability(design)
    assert (after, before) == (pytest.approx(1 / (t - k)), pytest.approx(1 / t))


def test_a_single_answer_may_make_a_near_certain_reader_doubt():
    # Esponda (2006), equation 2, with one discard and the prior (.9, .05, .05)
    gains = privacy.gain(designs.negative(ABC), ["a", "b", "c"], (0.9, 0.05, 0.05))
    assert gains[0] == pytest.approx(-0.43, abs=0.005)
    assert (gains[1:] > 0).all()


def test_the_average_gain_is_the_information():
    prior = np.array([0.9, 0.05, 0.05])
    design = designs.negative(ABC)
    average = design.matrix @ prior @ privacy.gain(design, design.responses, prior)
    assert average == pytest.approx(privacy.information(design, prior))


@given(channels(3), priors(3))
def test_information_lies_between_zero_and_the_entropy(design, prior):
    bits = privacy.information(design, prior)
    assert -JUST <= bits <= entropy(prior, base=2) + JUST


@given(channels(3, st.just(3)), channels(3), priors(3))
def test_processing_an_answer_never_tells_more(first, second, prior):
    both = first.then(second)
    np.testing.assert_allclose(both.matrix, second.matrix @ first.matrix, atol=1e-12)
    assert privacy.epsilon(both) <= privacy.epsilon(first) + JUST
    assert privacy.information(both, prior) <= privacy.information(first, prior) + JUST
    assert privacy.vulnerability(both, prior)[0] <= privacy.vulnerability(first, prior)[0] + JUST


@given(channels(2), channels(3))
def test_two_questions_add_their_epsilons(one, two):
    both = one * two
    np.testing.assert_allclose(both.matrix, np.kron(one.matrix, two.matrix), atol=1e-15)
    assert privacy.epsilon(both) == pytest.approx(privacy.epsilon(one) + privacy.epsilon(two), abs=JUST)
    assert privacy.information(both) == pytest.approx(privacy.information(one) + privacy.information(two), abs=JUST)
    composed = privacy.compose([one, two])
    assert composed.epsilon == privacy.epsilon(one) + privacy.epsilon(two)


@given(channels(3, st.just(3)), channels(3, st.just(3)), st.integers(1, 9), st.integers(1, 9))
def test_a_lottery_has_the_mean_of_the_likelihoods(one, two, heavy, light):
    lottery = designs.mix((heavy, one), (light, two))
    expected = (heavy * one.matrix + light * two.matrix) / (heavy + light)
    np.testing.assert_allclose(lottery.matrix, expected, atol=1e-15)
    assert privacy.epsilon(lottery) <= max(privacy.epsilon(one), privacy.epsilon(two)) + JUST


@given(st.integers(3, 8), st.integers(1, 9), st.integers(1, 9))
def test_noise_makes_the_epsilon_of_a_negative_survey_finite(t, negative, noise):
    lottery = designs.mix((negative, designs.negative(range(t))), (noise, designs.uniform(range(t))))
    expected = math.log(1 + negative / (t - 1) / (noise / t))
    assert privacy.epsilon(lottery) == pytest.approx(expected, rel=1e-12)


@given(channels(3), priors(3))
def test_posteriors_sum_to_one(design, prior):
    possible = [row for row, likelihood in enumerate(design.matrix) if likelihood.any()]
    posterior = privacy.posterior(design, design.responses.take(possible), prior)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    expected = design.matrix[possible] * prior
    np.testing.assert_allclose(posterior, expected / expected.sum(axis=1, keepdims=True))


def test_a_missing_answer_leaves_the_prior():
    np.testing.assert_allclose(privacy.posterior(designs.negative(ABC), [None], (0.2, 0.3, 0.5)), [[0.2, 0.3, 0.5]])


def test_an_answer_that_the_prior_excludes_is_an_error():
    with pytest.raises(DesignError, match="answer 2 is impossible under this prior"):
        privacy.posterior(designs.direct(ABC), ["b", "a"], (0, 0.5, 0.5))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ((0.5, 0.5), "the prior must have 3 probabilities"),
        ((0.5, 0.6, -0.1), "must not be negative or NaN"),
        ((0.5, 0.5, math.nan), "must not be negative or NaN"),
        ((0.5, 0.5, 0.1), r"must sum to one; they sum to 1\.1"),
    ],
)
def test_a_prior_is_a_distribution(prior, message):
    with pytest.raises(DataError, match=message):
        privacy.information(designs.negative(ABC), prior)


@given(channels(3), priors(3))
def test_odds_are_posterior_odds_over_prior_odds(design, prior):
    possible = design.matrix.max(axis=1) > 0
    expected = []
    for row in design.matrix[possible]:
        others = [np.delete(row * prior, j).sum() / (1 - prior[j]) for j in range(3)]
        expected.append([0 if p == 0 else math.inf if o == 0 else p / o for p, o in zip(row, others, strict=True)])
    np.testing.assert_allclose(privacy.odds(design, prior), expected, rtol=1e-9)


def test_odds_of_a_negative_answer():
    np.testing.assert_allclose(privacy.odds(designs.negative(("a", "b", "c", "d")))[0], [0, 1.5, 1.5, 1.5])
    assert privacy.odds(designs.direct(ABC))[0].tolist() == [math.inf, 0, 0]


@pytest.mark.parametrize(("t", "waves"), [(3, 2), (5, 4), (8, 10)])
def test_what_fresh_answers_leave_unexcluded(t, waves):
    rng = np.random.default_rng(10)
    people = 20_000
    design = designs.negative(range(t))
    said = np.column_stack([np.asarray(design.randomize(np.zeros(people, int), rng=rng)) for _ in range(waves)])
    share = (said != 1).all(axis=1).mean()
    expected = privacy.unexcluded(t, waves)
    assert expected == ((t - 2) / (t - 1)) ** waves
    assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / people))


@pytest.mark.parametrize(("t", "waves"), [(2, 1), (4, -1)])
def test_unexcluded_needs_three_categories_and_some_waves(t, waves):
    with pytest.raises(DesignError, match="three categories"):
        privacy.unexcluded(t, waves)


def test_an_offer_is_answered_level_by_level():
    choice = designs.negative_levels(ABCDE)
    assert privacy.still_possible(choice) == {1: (4, 4), 2: (3, 3), 3: (2, 2), 4: (1, 1)}
    bits = privacy.information(choice)
    assert list(bits) == [1, 2, 3, 4]
    assert list(bits.values()) == sorted(bits.values())
    assert bits[4] == pytest.approx(math.log2(5))
    assert "can reveal the truth" in str(privacy.statement(choice)[4])
    assert "rules categories out for certain" in str(privacy.statement(choice)[1])


def test_composition_of_several_answers():
    composed = privacy.compose([designs.negative(ABC), designs.two_coins()])
    assert composed.epsilon == math.inf
    assert composed.still_possible == ((2, 2), (2, 2))
    assert composed.largest_odds == pytest.approx((2, 3))
    assert composed.bits == pytest.approx(math.log2(1.5) + privacy.information(designs.two_coins()))
    with pytest.raises(DesignError, match="at least one design"):
        privacy.compose([])


def test_the_reason_of_an_epsilon_is_told():
    assert "ε = 0 (an answer says nothing)" in str(privacy.statement(designs.uniform(ABC)))
    assert "ε = ∞ (an answer rules categories out for certain)" in str(privacy.statement(designs.negative(ABC)))
    assert "by 3 at most" in str(privacy.statement(designs.two_coins()))
    assert str(privacy.statement(designs.direct(ABC))).endswith("this reveals your answer")


LARGE = {
    "sets": designs.negative(range(60), discards=30),
    "noisy sets": designs.mix(
        (1, designs.negative(range(60), discards=30)), (1, designs.uniform(range(60), discards=30))
    ),
    "weighted sets": designs.negative(range(62), discards=5, weights=[1 + i % 3 for i in range(62)]),
    "a set beside a coin": designs.negative(range(30), discards=15) * designs.negative(range(20), discards=10),
}


@pytest.mark.parametrize("design", LARGE.values(), ids=LARGE.keys())
def test_privacy_is_stated_without_listing_the_responses(design):
    statement = privacy.statement(design)
    assert 0 < statement.bits < math.log2(len(design.categories))
    assert "categories stay possible" in str(statement)
    assert privacy.odds(design).max() > 1


@pytest.fixture
def unlistable(monkeypatch):
    """As if no set of responses were small enough to be written out."""

    def now():
        monkeypatch.setattr(Subsets, "listable", property(lambda space: False))

    return now


def test_of_too_many_weighted_sets_the_most_telling_is_looked_at(unlistable):
    design = designs.negative(range(7), discards=3, weights=(1, 5, 2, 2, 8, 1, 3))
    largest = privacy.odds(design).max()
    unlistable()
    assert len(privacy.odds(design)) == 1
    assert privacy.odds(design).max() == pytest.approx(largest)
    assert privacy.epsilon(design) == math.inf


def test_information_by_simulation_agrees_with_the_sum(unlistable):
    design = designs.negative(range(12), discards=6)
    prior = np.arange(1, 13) / 78
    exact = privacy.information(design, prior)
    unlistable()
    assert privacy.information(design, prior) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    "measure", [privacy.epsilon, privacy.information, privacy.statement, privacy.odds, privacy.lines]
)
def test_privacy_is_a_property_of_a_design(measure):
    with pytest.raises(DesignError, match="privacy is a property of a design; got str"):
        measure("negative()")


def test_a_level_is_chosen_from_an_offer():
    for what in ("negative_levels()", designs.warner(p=0.7)):
        with pytest.raises(DesignError, match=r"respondents choose only from an offer of levels; got (str|warner)"):
            privacy.choosing(what)


@given(st.integers(3, 7), st.integers(0, 1000))
def test_the_vulnerability_of_sets_is_the_sum_over_all_of_them(t, seed):
    pi = np.random.default_rng(seed).dirichlet(np.ones(t))
    for k in range(1, t - 1):
        design = designs.negative([str(i) for i in range(t)], discards=k)
        assert privacy.vulnerability(design, pi)[0] == pytest.approx((design.matrix * pi).max(axis=1).sum())


def test_choosing_a_level_tells_at_most_the_level_and_the_most_telling_answer():
    choice = designs.negative_levels(tuple("abcdefgh"), most=2)
    assert privacy.choosing(choice) == pytest.approx(1 + np.log2(8 / 6))
    assert privacy.choosing(designs.negative_levels(tuple("abcd"))) == pytest.approx(2)  # the last level tells all
    rng = np.random.default_rng(0)
    for _ in range(50):  # however the level goes with the category, and whatever the prior
        pi, chances = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(2), 8)
        rows = np.vstack([choice.channel(k).matrix * chances[:, i] for i, k in enumerate(choice.levels)]) * pi
        told = rows.sum(axis=1, keepdims=True)
        left = -np.sum(rows * np.log2(np.where(rows > 0, rows / told, 1)))
        assert -np.sum(pi * np.log2(pi)) - left <= privacy.choosing(choice) + 1e-9


@pytest.mark.parametrize("t", range(3, 40))
def test_the_printed_bound_of_bits_is_never_below_the_bound(t):
    choice = designs.negative_levels(range(t), most=min(3, t - 1))
    bits, of = re.findall(r"[\d.]+(?= of| bits)", privacy.lines(choice)[-1])
    assert privacy.choosing(choice) <= float(bits) + JUST
    assert float(bits) <= float(of)


def test_an_open_list_of_categories_has_no_equal_shares():
    with pytest.raises(DesignError, match="lists no categories"):
        privacy.odds(designs.heavy_hitters(length=2, epsilon=1))


def test_large_products_have_a_statement_from_their_parts():
    labels = [str(i) for i in range(30)]
    both = designs.negative(labels, discards=10) * designs.warner(p=0.7)
    told = privacy.statement(both)
    assert told.still_possible == (40, 40)
    assert told.bits == pytest.approx(np.log2(30 / 20) + privacy.information(designs.warner(p=0.7)))


def test_what_is_too_large_to_compute_is_said_and_not_raised():
    labels = [str(i) for i in range(30)]
    first = designs.k_ary(labels, epsilon=1)
    told = privacy.statement(first.then(designs.negative(labels, discards=10)))
    assert "not computed" in str(told)


def test_large_odds_keep_their_digits():
    design = designs.k_ary(tuple("abcd"), epsilon=28)
    largest = design.weights[0].max() / design.weights[0].min()
    assert largest > 1e12
    assert privacy.odds(design).max() == pytest.approx(largest, rel=1e-14)
