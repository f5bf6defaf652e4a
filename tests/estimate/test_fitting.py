"""Whether the answers look as the design says that they must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naysay import designs, estimate
from naysay.errors import DataError

EXTENDED = designs.extended_crosswise(prevalence=0.2)
ARMS = designs.samples(a=designs.direct(("yes", "no")), b=designs.direct(("yes", "no")))
KUK = designs.kuk(p=(0.8, 0.3), draws=3)
PAIRS = designs.negative(tuple("abcd"), discards=2)


def stacked(survey, first, second):
    texts = survey.channel(survey.levels[0]).responses.texts()
    sample = np.repeat(survey.levels, len(texts)).tolist()
    return survey.tally(texts * 2, sample=sample, count=[*first, *second])


counts = st.tuples(st.integers(1, 300), st.integers(1, 300))


@given(counts, counts)
def test_two_direct_arms_are_a_two_by_two_table(first, second):
    found = estimate.goodness_of_fit(ARMS, stacked(ARMS, first, second))
    if stats.contingency.expected_freq([first, second]).min() < 0.5:  # too few to be tested by χ²
        assert found is None
        return
    for mine, p_value, power in (
        (found.pearson, found.p_value, "pearson"),
        (found.deviance, found.deviance_p_value, "log-likelihood"),
    ):
        peer = stats.chi2_contingency([first, second], correction=False, lambda_=power)
        assert mine == pytest.approx(peer.statistic, abs=1e-6)
        assert p_value == pytest.approx(peer.pvalue, abs=1e-6)
    assert found.degrees_of_freedom == 1


@pytest.mark.parametrize(
    ("design", "observed", "df"),
    [(KUK, [90, 200, 150, 60], 2), (PAIRS, [20, 35, 10, 25, 30, 5], 2)],
    ids=["kuk", "negative sets"],
)
def test_a_design_with_more_answers_than_categories_is_tested_answer_by_answer(design, observed, df):
    tally = design.tally(design.responses, count=observed)
    found = estimate.goodness_of_fit(design, tally)
    expected = sum(observed) * (design.matrix @ estimate.maximum_likelihood(design, tally).proportions)
    estimated = len(design.categories) - 1
    for mine, p_value, power in (
        (found.pearson, found.p_value, "pearson"),
        (found.deviance, found.deviance_p_value, "log-likelihood"),
    ):
        peer = stats.power_divergence(observed, expected, ddof=estimated, lambda_=power)
        assert mine == pytest.approx(peer.statistic, rel=1e-5)
        assert p_value == pytest.approx(peer.pvalue, rel=1e-4)
    assert found.degrees_of_freedom == df


@given(st.integers(120, 380), st.integers(120, 380))
def test_the_one_degree_test_of_extended_crosswise_asks_whether_the_shares_add_to_one(first, second):
    # With equal samples and a maximum inside the simplex X² is the squared z of λ₁ + λ₂ - 1 under λ₂ = 1 - λ₁.
    n = 500
    found = estimate.goodness_of_fit(EXTENDED, stacked(EXTENDED, (first, n - first), (second, n - second)))
    shared = (first + n - second) / (2 * n)
    z = ((first + second) / n - 1) / np.sqrt(2 * shared * (1 - shared) / n)
    assert found.degrees_of_freedom == 1
    if 0.2 < shared < 0.8:
        assert found.pearson == pytest.approx(z**2, abs=1e-4)
        assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=1e-4)


def test_the_one_degree_test_is_blind_to_random_answers():
    rng, n = np.random.default_rng(3), 50_000
    rates = [0.6 * survey.matrix[0] @ (0.2, 0.8) + 0.4 * 0.5 for survey in map(EXTENDED.channel, (1, 2))]
    said = [(yes := rng.binomial(n, rate), n - yes) for rate in rates]
    assert estimate.goodness_of_fit(EXTENDED, stacked(EXTENDED, *said)).p_value > 1e-3
    refusers = [
        (yes := rng.binomial(n, 0.9 * survey.matrix[0] @ (0.2, 0.8)), n - yes)
        for survey in map(EXTENDED.channel, (1, 2))
    ]
    assert estimate.goodness_of_fit(EXTENDED, stacked(EXTENDED, *refusers)).p_value < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "pi"),
    [(EXTENDED, (0.3, 0.7)), (KUK, (0.4, 0.6)), (PAIRS, (0.4, 0.3, 0.2, 0.1))],
    ids=["extended", "kuk", "sets"],
)
def test_p_values_are_uniform_where_the_protocol_is_followed(design, pi):
    rng, found = np.random.default_rng(1922), []
    for _ in range(500):
        drawn = [rng.multinomial(2_000, design.channel(name).matrix @ pi) for name in design.levels]
        tally = stacked(design, *drawn) if len(drawn) > 1 else design.tally(design.responses, count=drawn[0])
        test = estimate.goodness_of_fit(design, tally)
        found.append((test.p_value, test.deviance_p_value))
    for values in np.transpose(found):
        assert stats.kstest(values, "uniform").pvalue > 1e-3


SPARSE = [  # shares at zero, responses that hardly come
    (designs.negative(tuple("abcdef"), discards=2), 100, (0.9, 0.05, 0.02, 0.015, 0.01, 0.005)),
    (designs.negative(tuple("abcdefgh"), discards=3), 300, (0.95, 0.05, 0, 0, 0, 0, 0, 0)),
    (designs.negative(tuple("abcde"), discards=2), 60, (0.5, 0.5, 0, 0, 0)),
    (designs.kuk(p=(0.9, 0.05), draws=6), 50, (0.02, 0.98)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("design", "n", "pi"), SPARSE, ids=["issue", "many sets", "even", "kuk"])
def test_the_test_of_fit_keeps_its_level_in_sparse_surveys(design, n, pi):
    rng, runs = np.random.default_rng(17), 800
    chances = design.matrix @ pi
    found = [
        estimate.goodness_of_fit(design, design.tally(design.responses, count=rng.multinomial(n, chances)))
        for _ in range(runs)
    ]
    rejected = np.mean([test is not None and test.p_value < 0.05 for test in found])
    assert rejected < 0.05 + 0.031  # four standard errors
    assert rejected > 0.005


def test_rare_responses_are_pooled_and_said_to_be():
    design, n, pi = SPARSE[0]
    counts = np.rint(n * design.matrix @ pi).astype(int)
    found = estimate.goodness_of_fit(design, design.tally(design.responses, count=counts))
    assert "rare responses pooled" in found.reference
    assert str(found).endswith(f"({found.reference})")
    assert found.degrees_of_freedom < 15 - 6
    assert found.to_dict()["deviance_p_value"] is None or found.deviance_p_value >= 0


@pytest.mark.parametrize(
    ("design", "tally"),
    [
        (designs.warner(p=0.7), designs.warner(p=0.7).tally(count=[380, 620])),
        (designs.direct(tuple("abc")), designs.direct(tuple("abc")).tally(count=[3, 4, 5])),
        (EXTENDED, stacked(EXTENDED, (190, 310), (0, 0))),
        (EXTENDED, EXTENDED.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], weights=[19, 31, 29, 21])),
        (
            designs.stochastic_lie_detector(p=("2/12", "10/12")),
            stacked(designs.stochastic_lie_detector(p=("2/12", "10/12")), (373, 191), (398, 294)),
        ),
    ],
    ids=["warner", "direct", "one sample silent", "weighted", "saturated samples"],
)
def test_nothing_can_be_tested_where_nothing_is_left_over(design, tally):
    assert estimate.goodness_of_fit(design, tally) is None
    fit = estimate.moments(design, tally)
    assert fit.goodness_of_fit is None
    assert "fit: Pearson" not in str(fit)
    assert ("fit: not tested, the answers are weighted" in str(fit)) == tally.weighted
    assert "goodness_of_fit" not in fit.to_dict()


def test_too_many_responses_to_list_are_not_tested():
    large = designs.negative(range(60), discards=30)
    tally = large.tally(large.randomize([3, 59] * 100, rng=np.random.default_rng(1)))
    assert estimate.goodness_of_fit(large, tally) is None


def test_arms_of_different_designs_are_tested_together():
    survey = designs.samples(open=designs.direct(("yes", "no")), masked=designs.warner(p=0.8))
    agreeing, apart = (stacked(survey, (60, 140), masked) for masked in ((380, 620), (560, 440)))
    assert estimate.goodness_of_fit(survey, agreeing).p_value == pytest.approx(1, abs=1e-6)  # .3 and .8 × .3 + .2 × .7
    assert estimate.goodness_of_fit(survey, apart).p_value < 1e-3


def test_the_test_is_printed_with_the_numbers_and_told_in_json():
    fit = estimate.moments(EXTENDED, stacked(EXTENDED, (190, 310), (290, 210)))
    assert "fit: Pearson X² = 1.67, deviance G² = 1.67 on 1 df, p of X² = 0.197" in str(fit)
    assert "the test of fit is blind to people who answer at random" in str(fit)
    assert fit.to_dict()["goodness_of_fit"]["degrees_of_freedom"] == 1
    bad = estimate.moments(EXTENDED, stacked(EXTENDED, (400, 100), (400, 100)))
    assert str(bad.goodness_of_fit).endswith("p of X² < 0.001")


def test_answers_of_another_design_are_refused():
    with pytest.raises(DataError, match="the answers were given under"):
        estimate.goodness_of_fit(KUK, stacked(EXTENDED, (190, 310), (290, 210)))


def test_pearson_is_that_of_the_printed_estimate_and_says_what_its_p_value_belongs_to():
    """Everybody is estimated to do it; the X² of a share above 1 was printed as if it were that of 1."""
    tally = stacked(EXTENDED, (60, 440), (380, 120))
    found = estimate.goodness_of_fit(EXTENDED, tally)
    counts = np.array([60.0, 440, 380, 120])
    at_printed = estimate.maximum_likelihood(EXTENDED, tally).proportions
    expected = 500 * np.concatenate([channel.matrix @ at_printed for channel in EXTENDED.parts.values()])
    assert found.pearson == pytest.approx(((counts - expected) ** 2 / expected).sum())
    assert found.deviance == pytest.approx(2 * (counts @ np.log(counts / expected)))
    assert found.p_value == pytest.approx(stats.chi2.sf(found.least, 1))
    assert f"p < 0.001 of the least X² ({found.least:.2f}, at shares outside [0, 1])" in str(found)
    inside = estimate.goodness_of_fit(EXTENDED, stacked(EXTENDED, (190, 310), (290, 210)))
    assert inside.pearson == inside.least
    assert "p of X² = " in str(inside)


def test_levels_are_compared_by_all_answers_where_people_left_a_question_out():
    rng, n = np.random.default_rng(1), 600
    offer, other = designs.negative_levels(("a", "b", "c")), designs.warner(p=0.7)
    said = offer.randomize(rng.choice(["a", "b", "c"], n), rng=rng)
    beside = other.randomize(rng.choice(["yes", "no"], n), rng=rng).texts()
    beside = [None if gone else text for gone, text in zip(rng.random(n) < 0.2, beside, strict=True)]
    rows = {"q": said.texts(), "w": beside, "level": [str(level) for level in said.level]}
    tally = (offer * other).tally(rows, ["q", "w"], level=["level"])
    likely, weights, _ = estimate.likelihood.evidence(tally)
    pi = estimate.likelihood.maximize(likely, weights).proportions
    basis = np.linalg.svd(np.ones((1, len(pi))))[2][1:].T

    def explained(rows, weights):
        ratios = rows @ basis / (rows @ pi)[:, None]
        score, information = weights @ ratios, ratios.T @ (ratios * weights[:, None])
        return score @ np.linalg.pinv(information, rcond=1e-11) @ score

    apart = sum(explained(part.design.rows(part.codes), part.weight) for part in tally.parts)
    found = estimate.independence_test(offer * other, tally)
    assert found.statistic == pytest.approx(apart - explained(likely, weights), rel=0.02)
    assert found.degrees_of_freedom > 0
