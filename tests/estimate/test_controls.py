"""Controls of known truth: what they tell, what they correct, and what they refuse."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import Design, designs, estimate, planning, privacy
from naysay.errors import AnswerError, DataError, DesignError, NotEstimable
from naysay.estimate.compliance import compliance, reservations
from naysay.sampling import Sampling

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "controls.json").read_text(encoding="utf-8"))
ABCD = tuple("abcd")
SAME = ("same", "different")
CROSSWISE = designs.controlled(
    designs.crosswise(prevalence=0.25), truth="no", control=designs.crosswise(prevalence=0.15)
)


def tallied(survey, counts, *responses, **beside):
    """The tally of a table of joint answers."""
    answers = list(itertools.product(*responses))
    return survey.tally(tuple(zip(*answers, strict=True)), count=np.ravel(counts), **beside)


def worked_crosswise():
    return tallied(CROSSWISE, REFERENCE["worked"]["crosswise .25 anchored .15"]["counts"], SAME, SAME)


def worked_negative():
    """Rows are what was ruled out; those who kept the truth of the control, d, ruled out one of the other three."""
    kept, ruled_out = np.transpose(REFERENCE["worked"]["negative 4,1 with control"]["counts"])
    survey = designs.controlled(designs.negative(ABCD), truth="d")
    return survey, tallied(survey, np.column_stack([kept - 120, kept * 0 + 60, kept * 0 + 60, ruled_out]), ABCD, ABCD)


def replace_design(tally, survey):
    """The same answers under another design of the same samples."""
    return replace(tally, parts=tuple(replace(part, design=survey.channel(part.level)) for part in tally.parts))


def drawn(survey, shares, n, rng):
    return survey.tally(
        survey.randomize([survey.cells[cell] for cell in rng.choice(len(shares), n, p=shares)], rng=rng)
    )


# numbers


def test_moments_with_a_masked_control_are_the_worked_example():
    published = REFERENCE["worked"]["crosswise .25 anchored .15"]
    fit = estimate.moments(CROSSWISE, worked_crosswise())
    people = compliance(CROSSWISE, fit.tally)
    np.testing.assert_allclose(fit.proportions, published["pi"], atol=1e-6)
    assert fit.standard_errors[0] == pytest.approx(published["se"], abs=1e-7)
    assert fit.nuisance["at random"] == pytest.approx((published["rho"], published["se_rho"]), abs=1e-7)
    np.testing.assert_allclose(people.naive, published["naive"], atol=1e-12)
    assert fit.intervals().method == "fieller"
    np.testing.assert_allclose(fit.interval()[0], [0, published["fieller"][1]], atol=1e-6)


def test_likelihood_with_a_masked_control_is_the_worked_example_and_tests_that_types_are_people():
    published = REFERENCE["worked"]["crosswise .25 anchored .15"]["ml"]
    fit = estimate.maximum_likelihood(CROSSWISE, worked_crosswise(), standard_errors="expected")
    assert fit.proportions[0] == pytest.approx(published["est"], abs=1e-7)
    assert fit.standard_errors[0] == pytest.approx(published["se"], abs=1e-7)
    assert fit.maximum.log_likelihood == pytest.approx(published["loglik"], abs=1e-3)
    assert (fit.goodness_of_fit.deviance, fit.goodness_of_fit.degrees_of_freedom) == (
        pytest.approx(published["G2"], abs=1e-5),
        1,
    )


def test_a_negative_survey_with_a_control_is_the_worked_example():
    published = REFERENCE["worked"]["negative 4,1 with control"]
    survey, tally = worked_negative()
    fit, people = estimate.moments(survey, tally), compliance(survey, tally)
    np.testing.assert_allclose(fit.proportions, published["pi"], atol=1e-6)
    assert fit.standard_errors[0] == pytest.approx(published["se"], abs=1e-6)
    assert fit.nuisance["at random"] == pytest.approx((published["rho"], published["se_rho"]), abs=1e-7)
    np.testing.assert_allclose(fit.interval()[0], published["fieller"], atol=1e-6)
    np.testing.assert_allclose(people.interval(), published["rho_exact"], atol=1e-7)
    np.testing.assert_allclose(people.naive, published["naive"], atol=1e-12)
    assert people.violations == (41, 1_000)
    likely = estimate.maximum_likelihood(survey, tally)
    assert likely.proportions[0] == pytest.approx(published["ml"]["est"], abs=1e-6)
    assert likely.standard_errors[0] == pytest.approx(published["ml"]["se"], abs=1e-6)
    assert likely.nuisance["at random"] == pytest.approx(
        (published["ml_rho"]["est"], published["ml_rho"]["se"]), abs=1e-6
    )
    assert likely.cells.proportions == pytest.approx(published["ml"]["cells"], abs=1e-6)


def test_the_anchored_crosswise_model_is_a_control_true_of_nobody():
    counts = REFERENCE["literature"]["cmdata joint ML"]["counts"]
    general = designs.controlled(designs.crosswise(prevalence=0.15), truth="no")
    anchored = designs.anchored_crosswise(prevalence=0.15, anchor=0.15)
    np.testing.assert_allclose(general.channel(None).matrix, anchored.channel(None).matrix, atol=1e-15)
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fits = [estimator(survey, tallied(survey, counts, SAME, SAME)) for survey in (general, anchored)]
        np.testing.assert_allclose(*(fit.proportions for fit in fits), atol=1e-9)
        np.testing.assert_allclose(*(fit.standard_errors for fit in fits), atol=1e-9)
    assert fits[0].proportions[0] == pytest.approx(REFERENCE["literature"]["cmdata joint ML"]["pi"], abs=1e-6)


@pytest.mark.parametrize("name", ["A", "B"])
def test_an_error_in_a_control_of_which_all_is_known_is_half_of_those_who_answer_at_random(name):
    published = REFERENCE["wada_controls"][name]
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no", control=designs.crosswise(prevalence=0))
    errors, n = published["errors"], published["n"]
    counts = np.array(
        [[n // 2 - 20, 20], [n - n // 2 - errors + 20, errors - 20]]
    )  # all known: who complies says “same”
    people = compliance(survey, tallied(survey, counts, SAME, SAME))
    assert people.violations == (errors, n)
    assert (people.share, *people.interval()) == pytest.approx(
        (published["rho"], published["low"], published["high"]), abs=1e-6
    )


FAMILIES = {
    "crosswise": designs.crosswise(prevalence=0.25),
    "forced": designs.forced_response(forced_yes="1/6", forced_no="1/12"),
    "k-ary": designs.k_ary(ABCD, epsilon=1.5),
    "negative": designs.negative(ABCD),
    "negative, sets": designs.negative(tuple("abcde"), discards=2),
}


def expected_tally(survey, cells, n=10**12):
    """The answers of very many people, as often as they are expected."""
    said, counts, samples = [], [], []
    for level, channel in survey.parts.items():
        chances = channel.matrix @ np.asarray(cells) / len(survey.parts)
        said += [text.split(" × ") for text in channel.responses.texts()]
        counts += np.round(n * chances).astype(int).tolist()
        samples += [level] * len(chances)
    named = {} if survey.levels == (None,) else {"sample": samples}
    return survey.tally(tuple(map(list, zip(*said, strict=True))), count=counts, **named)


def variances_per_person(survey, cells, estimator=estimate.moments):
    """n times the variance of the first share and of each type."""
    exact = {} if estimator is estimate.moments else {"standard_errors": "expected"}
    fit = estimator(survey, expected_tally(survey, cells), **exact)
    return [10**12 * error**2 for error in (fit.standard_errors[0], *(v.standard_error for v in fit.nuisance.values()))]


TABLE = {  # question, control, truth, shares among those who comply
    "crosswise .25": (designs.crosswise(prevalence=0.25), None, "no", (0.15, 0.85)),
    "crosswise .15": (designs.crosswise(prevalence=0.15), None, "no", (0.15, 0.85)),
    "k-ary t=5 eps 1.5": (designs.k_ary(tuple("abcde"), epsilon=1.5), None, "a", (0.4, 0.3, 0.15, 0.1, 0.05)),
    "forced 1/6 yes 1/12 no": (FAMILIES["forced"], None, "no", (0.15, 0.85)),
    "negative 5,1": (designs.negative(tuple("abcde")), None, "e", (0.4, 0.3, 0.15, 0.1, 0.05)),
    "negative 5,2": (designs.negative(tuple("abcde"), discards=2), None, "e", (0.4, 0.3, 0.15, 0.1, 0.05)),
    "negative 4,2": (designs.negative(ABCD, discards=2), None, "d", (0.1, 0.2, 0.3, 0.4)),
    "crosswise .25, control with known innocuous": (
        designs.crosswise(prevalence=0.25),
        designs.crosswise(prevalence=0),
        "no",
        (0.15, 0.85),
    ),
}


@pytest.mark.parametrize("case", REFERENCE["control_variances"])
def test_errors_with_a_control_are_those_of_the_table(case):
    """The simulated numbers of 1,200 surveys of 2,000 people agree with the exact ones within four of their errors."""
    published, (family, share) = REFERENCE["control_variances"][case], case.rsplit(", rho ", 1)
    (question, control, truth, shares), share = TABLE[family], float(share)
    survey = designs.controlled(question, truth=truth, control=control)
    cells = np.append((1 - share) * np.array(shares), share)
    people = compliance(survey, expected_tally(survey, cells))
    errors = np.sqrt(variances_per_person(survey, cells)) / 2000**0.5
    likely = np.sqrt(variances_per_person(survey, cells, estimate.maximum_likelihood)) / 2000**0.5
    assert people.naive[0] == pytest.approx(published["naive"], abs=5.1e-6)
    assert errors == pytest.approx([published["closed"], published["closed_rho"]], abs=5.1e-6)
    assert likely == pytest.approx([published["ml"], published["ml_rho"]], abs=5.1e-6)
    assert 0.92 < likely[0] / errors[0] < 1  # 0 to 8 % more precise
    assert published["bias"] == pytest.approx(0, abs=4 * errors[0] / 1200**0.5)
    simulated = [published["sd"], published["sd_rho"]]
    assert simulated == pytest.approx(errors, rel=4 / 2400**0.5)
    nobody, everybody = people.expected or (0, people.visible)
    law = stats.binom(2000, nobody + share * (everybody - nobody))
    counts = np.arange(*law.interval(1 - 1e-9))
    held = 0
    for count in counts:
        at_count = replace(
            people,
            n=2000,
            share=(count / 2000 - nobody) / (everybody - nobody),
            observed=count / 2000,
            violations=people.violations and (int(count), 2000),
        )
        low, high = at_count.interval()
        held += law.pmf(count) * (low <= share <= high)
    if share == 0.02 and people.violations is None:  # published without the rule that below 0 nobody stays possible
        assert held > 0.97
    else:
        assert 0.938 < held < 0.971
        assert published["cover_rho"] == pytest.approx(held, abs=4 * np.sqrt(held * (1 - held) / 1200))


def cell_samples(*matrices):
    """Samples over the same cells, given their chances; one that nothing tells apart is refused by the estimate."""
    return designs.samples(
        {
            place: designs.custom(np.asarray(matrix), categories=tuple("abcdef")[: np.shape(matrix)[1]])
            for place, matrix in enumerate(matrices)
        }
    )


def with_type(design, answers):
    return np.column_stack([design.matrix, answers])


def twice(matrix):
    return np.einsum("ac,bc->abc", matrix, matrix).reshape(-1, matrix.shape[1])


HALF, QUARTER = (0.5, 0.5), designs.crosswise(prevalence=0.25)
SETS_OF_FOUR = [designs.negative(ABCD, discards=discards) for discards in (1, 2)]
IDENTIFICATION = {
    "crosswise, one sample, random": [with_type(QUARTER, HALF)],
    "extended crosswise p,1-p: random": [with_type(designs.crosswise(prevalence=p), HALF) for p in (0.25, 0.75)],
    "crosswise .25 + triangular .25: random": [
        with_type(d, HALF) for d in (QUARTER, designs.triangular(prevalence=0.25))
    ],
    "forced two arms f=(1/6,1/12),(1/3,1/12): random": [
        with_type(designs.forced_response(forced_yes=yes, forced_no="1/12"), HALF) for yes in ("1/6", "1/3")
    ],
    "negative t=4 k=1 one sample, random uniform": [with_type(SETS_OF_FOUR[0], [1 / 4] * 4)],
    "negative t=4 k=2 one sample, random uniform": [with_type(SETS_OF_FOUR[1], [1 / 6] * 6)],
    "negative levels k=1,2: random uniform in both": [
        with_type(design, [1 / len(design.matrix)] * len(design.matrix)) for design in SETS_OF_FOUR
    ],
    "negative t=5 k=2 one sample, always the first 2": [
        with_type(designs.negative(tuple("abcde"), discards=2), [1, *[0] * 9])
    ],
    "negative t=4 k=1 asked twice, fresh: random": [twice(with_type(SETS_OF_FOUR[0], [1 / 4] * 4))],
    "crosswise + control truth no: random": [
        np.einsum("ac,bc->abc", with_type(QUARTER, HALF), with_type(QUARTER, HALF)[:, [1, 1, 2]]).reshape(-1, 3)
    ],
    "direct + crosswise, denial only when asked directly": [[[1, 0, 0], [0, 1, 1]], QUARTER.matrix[:, [0, 1, 0]]],
    "single sample count: random 0..5": [
        np.column_stack([np.append(0, law := stats.binom.pmf(range(5), 4, 0.5)), np.append(law, 0), [1 / 6] * 6])
    ],
}


@pytest.mark.parametrize("case", REFERENCE["identification"])
def test_what_tells_types_apart_is_as_published(case):
    survey, published = cell_samples(*IDENTIFICATION[case]), REFERENCE["identification"][case]
    assert published["rho"] == published["a"]
    if published["rho"]:
        survey.check_identified()
    else:
        with pytest.raises(NotEstimable):
            survey.check_identified()


@pytest.mark.parametrize(
    ("make", "cells", "estimator", "published"),
    [
        # n Var of the types: one masked control tells two, a control of which all is known tells them better
        ((QUARTER, "different"), (0.12, 0.68, 0.1, 0.1), estimate.maximum_likelihood, (7.47, 0.41222)),
        (
            (designs.crosswise(prevalence=0), "different"),
            (0.12, 0.68, 0.1, 0.1),
            estimate.maximum_likelihood,
            (0.39, 0.14),
        ),
        # asked twice, and by a control; by the likelihood, too
        ("twice", (0.135, 0.765, 0.1), estimate.moments, (15.19,)),
        ("control", (0.135, 0.765, 0.1), estimate.moments, (3.19,)),
        ("control", (0.135, 0.765, 0.1), estimate.maximum_likelihood, (2.91093,)),
    ],
)
def test_how_precisely_types_are_told(make, cells, estimator, published):
    if make == "twice":
        survey = designs.asked_twice(QUARTER)
    elif make == "control":
        survey = designs.controlled(QUARTER, truth="no")
    else:
        types = ("random", f"one answer: {make[1]}")
        survey = designs.controlled(QUARTER, truth="no", control=make[0], types=types)
    assert variances_per_person(survey, cells, estimator)[1:] == pytest.approx(published, rel=1e-4)


def test_two_crosswise_like_arms_tell_random_answers_hardly_and_a_right_answer_always_given_not_at_all():
    arms = cell_samples(*IDENTIFICATION["crosswise .25 + triangular .25: random"])
    each = planning.variance(arms, (0.135, 0.765, 0.1), estimator="moments").each
    assert each[2] == pytest.approx(94.8956, abs=1e-3)
    control = designs.crosswise(prevalence=0)
    with pytest.raises(DesignError, match="rank 2 of 3"):  # with Σ = 1, 3 of 4
        designs.controlled(QUARTER, truth="no", control=control, types=("random", "one answer: same"))


def test_a_right_answer_drawn_by_lot_tells_both_types_by_its_errors():
    """Twice the mean error is the share of both types, and the difference of the errors those of one answer."""
    survey = designs.controlled(
        QUARTER, truth="lot", control=designs.crosswise(prevalence=0), types=("random", "one answer: different")
    )
    tally = expected_tally(survey, (0.12, 0.71, 0.1, 0.07))
    fit = estimate.maximum_likelihood(survey, tally)
    assert [share.value for share in fit.nuisance.values()] == pytest.approx([0.1, 0.07], abs=1e-6)
    errors = []
    for part, right in zip(tally.parts, reversed(SAME), strict=True):  # whose truth is yes says “different”
        wrong = part.codes[:, 1] != SAME.index(right)
        errors.append(part.count[wrong].sum() / part.count.sum())
    assert (sum(errors), errors[1] - errors[0]) == pytest.approx((0.17, 0.07))


def test_the_posterior_of_not_complying_given_all_controls_is_as_published():
    published = REFERENCE["posterior"]
    sets, found = designs.negative(tuple("abcde"), discards=2), {}
    for controls in (1, 2, 3):
        channel = designs.controlled(sets, truth=["a"] * controls).channel(None)
        answers = tuple([["b;c"]] * (controls + 1))
        found[controls] = privacy.posterior(channel, answers, prior=[*[0.16] * 5, 0.2])[0, -1]
    assert found == pytest.approx(
        {1: published["neg 5,2 K=1 no violation"], 2: 0.0826, 3: published["neg 5,2 K=3 no violation"]}, abs=5e-5
    )
    channel = designs.controlled(QUARTER, truth=["no"] * 3).channel(None)
    for expected in (0, 2):  # yes and no alike, so that the answer to the question tells nothing
        answers = (["same"], *[["same"]] * expected, *[["different"]] * (3 - expected))
        of_random = privacy.posterior(channel, answers, prior=(0.4, 0.4, 0.2))[0, -1]
        assert of_random == pytest.approx(published[f"crosswise .25 K=3 expected answers {expected}"], abs=1e-7)


def test_dropping_people_who_failed_corrects_too_little():
    """ρ = .25, π = .15: naive .2375; without violations, which half of the random give, .200; by masked ones .214."""
    cells, random = np.array([0.75 * 0.15, 0.75 * 0.85, 0.25]), np.array([1, 0, 0.5])
    assert cells @ random == pytest.approx(0.2375)
    for control, published in ((designs.crosswise(prevalence=0), 0.2), (QUARTER, 0.2136)):
        channel = designs.controlled(QUARTER, truth="no", control=control).channel(None)
        texts, chances = channel.responses.texts(), channel.matrix @ cells
        same, different = (chances[texts.index(f"{said} × same")] for said in SAME)
        assert (0.75 - same / (same + different)) / 0.5 == pytest.approx(published, abs=5e-5)


def test_random_answers_by_answer_and_by_question_move_the_estimate_as_published():
    """Of answers each at random by itself moments stay right, and the likelihood is .162; the test finds it by .49."""
    survey, n = designs.controlled(QUARTER, truth="no"), 10**10

    def fits(of_question, of_control):
        question = (1 - of_question) * np.array([0.675, 0.325]) + of_question / 2
        control = (1 - of_control) * np.array([0.75, 0.25]) + of_control / 2
        tally = tallied(survey, np.round(n * np.outer(question, control)).astype(int), SAME, SAME)
        return estimate.moments(survey, tally), estimate.maximum_likelihood(survey, tally)

    moments, likely = fits(0.25, 0.25)
    assert (moments.proportions[0], likely.proportions[0]) == pytest.approx((0.15, 0.16252), abs=1e-5)
    beyond = likely.goodness_of_fit.deviance * 3000 / n
    assert stats.ncx2.sf(stats.chi2.isf(0.05, 1), 1, beyond) == pytest.approx(0.487, abs=5e-4)
    simulated = REFERENCE["misspecified"]["misspecified answer by answer, same share"]
    assert simulated == pytest.approx([0.15, 0.1625, 0.487], abs=4 * np.sqrt(0.487 * 0.513 / 400))
    assert simulated[:2] == pytest.approx([0.15, 0.1625], abs=4 * np.sqrt(2.32 / 3000 / 400))
    # fewer at random in the control than in the question: (ρ_m - ρ_c)(v - π) / (1 - ρ_c)
    bias = 0.1 * 0.35 / 0.8
    assert fits(0.3, 0.2)[0].proportions[0] == pytest.approx(0.15 + bias)
    assert bias == pytest.approx(0.04375)


def test_asking_the_same_people_helps():
    """n Var π̂ with a control of others is [Var u + (π - v)² Var D] / (1 - ρ)², without Cov(u, D)."""
    share, pi = 0.25, 0.15
    mixed = (1 - share) * pi + share / 2
    of_question = planning.variance(QUARTER, (mixed, 1 - mixed), estimator="moments").each[0]
    survey = designs.controlled(QUARTER, truth="no")
    same, of_share = variances_per_person(survey, (0.75 * pi, 0.75 * (1 - pi), share))
    assert same == pytest.approx(2.32, abs=0.005)
    assert (of_question + (pi - 0.5) ** 2 * of_share) / (1 - share) ** 2 == pytest.approx(2.4039, abs=5e-5)


@pytest.mark.parametrize(("share", "ends"), [(0.1, (0.067, 0.167)), (0.2, (0.017, 0.217)), (0.3, (0, 0.234))])
def test_the_band_of_random_answers_and_the_tipping_points_are_as_published(share, ends):
    fit = crosswise_at(0.117)
    assert estimate.answer_bounds(fit, share=share, answers="random")[0] == pytest.approx(ends, abs=1e-9)
    tipping = fit.to_dict()["unchecked"]["tipping"]
    assert (tipping["random"], tipping["any_answers"]) == pytest.approx((0.234, 0.078))
    assert tipping["random_at_end"] == pytest.approx(2 * fit.interval()[0, 0])


def test_a_negative_survey_tips_as_published():
    survey = designs.negative(tuple("abcde"))
    fit = estimate.moments(survey, survey.tally(count=[2_200, 1_900, 1_900, 2_000, 2_000]))
    tipping = fit.to_dict()["unchecked"]["tipping"]
    assert tipping["category"] == "a"
    assert (tipping["random"], tipping["any_answers"]) == pytest.approx((0.6, 0.12))


def test_who_denies_only_when_asked_directly_is_the_difference_of_the_arms():
    """62 of 500 say yes; masked, 655 of 1,000 say the same."""
    published, d = REFERENCE["denial cell"], estimate
    arms = designs.samples(direct=designs.direct(("yes", "no")), masked=QUARTER)
    counts = [62, 438, 655, 345]
    parts = [
        d.moments(arm, arm.tally(count=count))
        for arm, count in ((designs.direct(("yes", "no")), counts[:2]), (QUARTER, counts[2:]))
    ]
    openly, masked = (part.proportions[0] for part in parts)
    assert (masked, parts[1].standard_errors[0]) == pytest.approx((published["pi"], published["se"]), rel=6e-4)
    denies = 1 - openly / masked
    error = np.hypot(parts[0].standard_errors[0] / masked, openly / masked**2 * parts[1].standard_errors[0])
    assert (denies, error) == pytest.approx((published["deny"], published["se_deny"]), rel=1e-3)
    assert arms.levels == ("direct", "masked")


# theorems


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("truth", ["lot", "last", ["lot", "last"]])
def test_moments_recover_cells_from_the_chances_of_all_answers(family, truth):
    design = FAMILIES[family]
    truth = [
        design.categories[-1] if each == "last" else each for each in ([truth] if isinstance(truth, str) else truth)
    ]
    survey = designs.controlled(design, truth=truth)
    cells = np.random.default_rng(5).dirichlet(np.ones(len(survey.cells)))
    whole = 10**10
    tallies = []
    for level, channel in survey.parts.items():
        chances = channel.matrix @ cells
        said = tuple(map(list, zip(*[text.split(" × ") for text in channel.responses.texts()], strict=True)))
        tallies.append((said, np.round(chances * whole).astype(int), level))
    columns = tuple([text for said, _, _ in tallies for text in said[place]] for place in range(len(tallies[0][0])))
    counts = np.concatenate([count for _, count, _ in tallies])
    samples = {} if survey.levels == (None,) else {"sample": [level for said, _, level in tallies for _ in said[0]]}
    fit = estimate.moments(survey, survey.tally(columns, count=counts, **samples))
    np.testing.assert_allclose(fit.cells.proportions, cells, atol=1e-7)
    assert Design.from_json(survey.to_json()) == survey
    assert designs.parse(survey.name, categories=design.categories) == survey


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="a", types=("denial",)),
            "'complies, d' and 'denies'",
        ),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="a", types=("random", "careless")),
            "between 'at random' and 'careless' without",
        ),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="lot", types=("random", "positive")),
            "leave a type out, add a control",
        ),
        (
            lambda: designs.controlled(designs.crosswise(prevalence=0.25), truth={"yes": 0.5, "no": 0.5}),
            "cannot tell the share of 'yes'",
        ),
        (lambda: designs.controlled(designs.negative(ABCD), truth="e"), "the truth of a control is a category, shares"),
        (lambda: designs.controlled(designs.negative(ABCD), truth={"a": 0.5}), "sum to one"),
        (lambda: designs.controlled(designs.negative(ABCD), truth="a", types=()), "name at least one type"),
        (lambda: designs.controlled(designs.negative(ABCD), truth=[]), "a truth that is known for somebody"),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="a", types=("random", "random")),
            "'random' is named twice",
        ),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth={"a": 1.5, "b": -0.5}),
            r"a share of the truth must lie in \[0, 1\]",
        ),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="a", types={"random": (1.5, -0.5, 0, 0)}),
            r"a chance of random answers must lie in \[0, 1\]",
        ),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth="a", types=("liars",)),
            "a type of people who do not",
        ),
        (
            lambda: designs.controlled(designs.crosswise(prevalence=0.25), truth="no", types=("one answer: maybe",)),
            "people who always answer 'maybe' need that response",
        ),
        (lambda: designs.controlled(designs.crosswise(prevalence=0.25), truth="no", types=("positive",)), "name a cat"),
        (
            lambda: designs.controlled(designs.negative(ABCD), truth=["a", "b"], control=[designs.negative(ABCD)] * 3),
            "3 c",
        ),
    ],
)
def test_what_no_answer_tells_is_refused_by_name(made, told):
    with pytest.raises(DesignError, match=told):
        made()


def test_two_controls_tell_positive_from_random_answers_and_one_masked_control_two_types():
    rng = np.random.default_rng(26)
    both = designs.controlled(designs.negative(ABCD), truth=["lot", "a"], types=("random", "positive"))
    shares = np.array([0.3, 0.25, 0.1, 0.12, 0.15, *[0.02] * 4])
    fit = estimate.maximum_likelihood(both, drawn(both, shares, 20_000, rng))
    assert [fit.nuisance[name].value for name in ("at random", "positive")] == pytest.approx([0.15, 0.08], abs=0.02)
    masked = designs.controlled(FAMILIES["crosswise"], truth="no", types=("random", "one answer: same"))
    fit = estimate.maximum_likelihood(masked, drawn(masked, [0.12, 0.68, 0.1, 0.1], 40_000, rng))
    assert [share.value for share in fit.nuisance.values()] == pytest.approx([0.1, 0.1], abs=0.06)
    assert "always say “same”" in str(fit)


@pytest.mark.parametrize("habit", ["first box", "favorites", "random"])
def test_a_truth_by_lot_shows_any_habit_that_ignores_it(habit):
    rng, n = np.random.default_rng(9), 20_000
    survey = designs.controlled(designs.negative(ABCD), truth="lot")
    truth, away = rng.choice(ABCD, n), rng.random(n) < 0.2
    lot = {"first box": [1, 0, 0, 0], "favorites": [0.6, 0.2, 0.2, 0], "random": [0.25] * 4}[habit]
    honest = np.array([rng.choice([c for c in ABCD if c != own]) for own in truth])
    said = np.where(away, rng.choice(ABCD, n, p=lot), honest)
    other = np.where(away, "a", np.asarray(designs.negative(ABCD).randomize(rng.choice(ABCD, n), rng=rng)))
    people = compliance(survey, survey.tally((other, said), sample=truth))
    assert people.share == pytest.approx(0.2, abs=4 * people.standard_error)
    assert people.standard_error == pytest.approx(np.sqrt(0.2 * (4 - 0.2) / n), rel=0.1)


# words


def test_the_words_of_an_estimate_with_a_control():
    survey, tally = worked_negative()
    lines = str(estimate.maximum_likelihood(survey, tally))
    for line in (
        "41 of 1,000 ruled out what is known to be true; nobody who followed the instruction can",
        "about 16 of 100 answered the control as if at random (12 to 22)",
        "people who understand and deny pass every control; no number here sees them",
        "if half as many again answer it as if at random, the estimate is",
        "without the control it would be “a” 0.331",
        "one truth for all in the control",
    ):
        assert line in lines
    content = estimate.moments(survey, tally).to_dict()["compliance"]
    assert content["violations"] == 41
    assert content["uncorrected"] == pytest.approx([0.331, 0.244, 0.1, 0.325])


def test_below_zero_nothing_is_said_of_half_as_many_again():
    tally = tallied(CROSSWISE, [[700, 110], [330, 60]], SAME, SAME)
    fit = estimate.moments(CROSSWISE, tally)
    assert fit.nuisance["at random"].value < 0
    assert "half as many again" not in str(fit)
    assert "about 0 of 100 answered the control as if at random (0 to " in str(fit)
    assert "comes out below 0; maximum likelihood stops at 0" in str(fit)
    assert fit.to_dict()["compliance"]["half_as_many_again"] is None


@pytest.mark.parametrize("counts", [[[642, 171], [305, 82]], [[300, 90], [90, 20]]])
def test_far_below_zero_the_interval_is_that_of_nobody_in_words_and_table(counts):
    """A negative share of random answers is bad luck, and no proof that nobody answers at random."""
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    tally = tallied(survey, counts, SAME, SAME)
    people, n = compliance(survey, tally), np.sum(counts)
    assert people.share < -0.1
    z2 = stats.norm.ppf(0.975) ** 2 / n  # Wilson's upper end at an observed share of l₀ = ¼, in ρ = (λ - ¼) / ¼
    center, half = (0.25 + z2 / 2) / (1 + z2), np.sqrt(z2 * 0.25 * 0.75 + z2**2 / 4) / (1 + z2)
    assert people.interval() == pytest.approx((0, (center + half - 0.25) / 0.25))
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fit = estimator(survey, tally)
        low, high = (
            float(end) for end in next(line for line in str(fit).splitlines() if "at random " in line).split()[4:6]
        )
        said = next(line for line in str(fit).splitlines() if line.startswith("about "))
        assert said.startswith(f"about 0 of 100 answered the control as if at random ({low:.0f} to ")
        assert float(said.split(" to ")[1].split(")")[0]) == pytest.approx(100 * high, rel=0.06)


@pytest.mark.parametrize("estimator", [estimate.moments, estimate.maximum_likelihood])
def test_words_of_those_who_do_not_comply_are_the_numbers_of_the_table(estimator):
    fit = estimator(CROSSWISE, worked_crosswise())
    [(share, _)], numbers = fit.nuisance.values(), fit.to_dict()["compliance"]
    low, high = fit.to_dict()["nuisance"]["at random"]["interval"]
    assert f"about {100 * share:.0f} of 100 answered the control as if at random ({100 * low:.0f} to" in str(
        fit
    ).replace(f"({100 * low:.1f} to", f"({100 * low:.0f} to")
    assert high > share
    # ρ half as large again, with the same answers: u = (1 - ρ)π + ρ/2 stays
    answers = (1 - share) * fit.proportions[0] + share / 2
    assert numbers["half_as_many_again"][0] == pytest.approx((answers - 0.75 * share) / (1 - 1.5 * share))
    assert numbers["tipping"] == {"category": "yes", "share": pytest.approx(answers / 0.5)}
    assert f"“yes” would be 0 if {100 * answers / 0.5:.0f} of 100 had answered the question as if at random" in str(fit)


@pytest.mark.parametrize(("share", "people"), [("0.45", 100), ("0.5", 10_000)])
def test_a_control_that_looks_like_random_answers_within_its_own_error_is_refused(share, people):
    truth = {"yes": share, "no": str(1 - float(share))}
    with pytest.raises(DesignError, match=r"only .* standard errors from those of people who comply \(2 at least\)"):
        designs.controlled(designs.crosswise(prevalence=0.25), truth=truth, people=people)
    designs.controlled(designs.crosswise(prevalence=0.25), truth={"yes": "0.45", "no": "0.55"}, people=1_000)


@pytest.mark.parametrize("share", [0.001, 0.9])
def test_the_interval_of_counted_violations_holds_the_estimate(share):
    """Weights of samples can move the estimate away from the plain share of violations."""
    survey = designs.controlled(designs.negative(ABCD), truth="lot")
    said = [(one, other, truth) for truth in ABCD for one in ABCD for other in ABCD]
    one, other, truth = map(list, zip(*said, strict=True))
    people = compliance(survey, survey.tally((one, other), sample=truth))
    assert people.violations == (16, 64)
    low, high = replace(people, share=share).interval()
    assert low <= share <= high


def test_few_violations_and_nobody_left_are_said():
    survey = designs.controlled(designs.negative(ABCD), truth="lot")
    said = [[one, other, truth] for truth in ABCD for one in ABCD for other in ABCD if other != truth]
    said += [["a", "a", "a"]]
    one, other, truth = zip(*said, strict=True)
    assert "fewer than 5 violations" in str(estimate.moments(survey, survey.tally((one, other), sample=truth)))
    with pytest.raises(NotEstimable, match="hardly anybody may be left whose answers tell the shares"):
        estimate.moments(survey, survey.tally((ABCD * 9, ABCD * 9), sample=ABCD * 9))


def test_one_person_alone_under_a_truth_widens_no_interval_by_failing():
    """Their answer tells their cell; that of another under the same truth would not."""
    survey = designs.controlled(designs.negative(("a", "b", "c")), truth="lot")
    said = [(one, other) for one in "abc" for other in "bc"] * 50 + [("a", "c")]
    tally = survey.tally(tuple(zip(*said, strict=True)), sample=["a"] * 300 + ["c"])
    fit = estimate.maximum_likelihood(survey, tally)
    assert np.ptp(fit.intervals(method="profile").bounds, axis=1) == pytest.approx(0.215, abs=0.002)
    assert not [warning for warning in fit.warnings if "this sample alone allows" in str(warning)]


def test_an_interval_wider_than_the_people_left_is_said():
    tally = tallied(CROSSWISE, [[14, 6], [14, 6]], SAME, SAME)
    people = compliance(CROSSWISE, tally)
    low, high = people.interval()
    assert high - low > 1 - people.share
    assert "is wider than the share of those who do; ask more people" in " ".join(reservations(CROSSWISE, tally))


def test_random_answers_that_are_not_of_persons_are_said():
    """Of 4,000 answers three in ten are random, each by itself: few people have two random answers."""
    rng, masked = np.random.default_rng(5), designs.crosswise(prevalence=0.15)
    survey = designs.controlled(masked, truth="no")
    truths = (np.where(rng.random(4_000) < 0.4, "yes", "no"), np.full(4_000, "no"))
    said = [
        np.where(rng.random(4_000) < 0.3, rng.choice(SAME, 4_000), masked.randomize(true, rng=rng).texts()).tolist()
        for true in truths
    ]
    sentence = "the answers to question and control do not fit people who comply with both or with neither"
    assert sentence in str(estimate.maximum_likelihood(survey, survey.tally(tuple(said))))


def test_people_without_a_truth_or_with_a_negative_weight_are_named():
    survey = designs.controlled(designs.negative(ABCD), truth="lot")
    with pytest.raises(AnswerError, match="sample 2 of 2 is empty; say which sample it is"):
        survey.tally((["a", "b"], ["b", "c"]), sample=["a", None])
    with pytest.raises(DataError, match="weights must be finite and not negative; got -1 in place 1 of 2"):
        survey.tally((["a", "b"], ["b", "c"]), sample=["a", "b"], weights=[-1, 1])


def test_the_exact_test_of_nobody_is_the_binomial():
    people = compliance(CROSSWISE, worked_crosswise())
    assert people.p_value == pytest.approx(stats.binomtest(253, 1_200, 0.15, alternative="greater").pvalue)


def test_the_exact_test_of_several_controls_counts_all_their_answers():
    survey = designs.controlled(designs.crosswise(prevalence=0.15), truth=("no", "no"))
    said = [("different",) * 3, ("same", "different", "same"), ("same", "same", "different"), ("same",) * 3]
    tally = survey.tally(tuple(zip(*said, strict=True)), count=[6, 5, 7, 32])
    expected = stats.binomtest(24, 100, 0.15, alternative="greater").pvalue
    assert compliance(survey, tally).p_value == pytest.approx(expected)


@pytest.mark.parametrize(("family", "share"), [("crosswise", 0.0), ("negative", 0.25)])
def test_intervals_hold_the_truth(family, share):
    rng, design = np.random.default_rng(30), FAMILIES[family]
    survey = designs.controlled(design, truth="lot" if "negative" in family else "no")
    cells = np.append((1 - share) * rng.dirichlet(np.ones(len(design.categories))), share)
    hits = np.zeros(2)
    for _ in range(120):
        fit = estimate.moments(survey, drawn(survey, cells, 600, rng))
        low, high = fit.interval()[0]
        ends = compliance(survey, fit.tally).interval()
        hits += (low <= cells[0] / (1 - share) <= high, ends[0] <= share <= ends[1])
    assert (hits >= 120 * (0.935 - 2 * np.sqrt(0.935 * 0.065 / 120))).all()


def variance_of_truth(share, people):
    """By hand: Σ_j z_j (e_j - z)² / m of the first of two categories, with two more people of each."""
    weight = (share * people + 2) / (people + 4)
    return (weight * (1 - share) ** 2 + (1 - weight) * share**2) / people


def test_an_estimated_truth_widens_what_rests_on_it():
    design, counts = designs.crosswise(prevalence=0.25), [[290, 150], [230, 130]]
    sure, unsure = (
        designs.controlled(design, truth={"yes": "0.1", "no": "0.9"}, people=people) for people in (None, 400)
    )
    first, second = (compliance(survey, tallied(survey, counts, SAME, SAME)) for survey in (sure, unsure))
    # dρ/dz = (l₁ - λ)(P_yes - P_no) / (l₁ - l₀)², as ρ = (λ - l₀) / (l₁ - l₀) and l₀ = ¾ + z (¼ - ¾) of "same"
    expected, observed = 0.75 - 0.05, (290 + 230) / 800
    slope = 0.5 * (0.5 - observed) / (0.5 - expected) ** 2
    assert first.share == pytest.approx((observed - expected) / (0.5 - expected))
    extra = second.standard_error**2 - first.standard_error**2
    assert extra == pytest.approx(slope**2 * variance_of_truth(0.1, 400), rel=0.02)
    low, high = second.interval()
    assert (low, high) != first.interval()
    for end in (low, high):  # n (D - ρ)² / z² = (1 - ρ) V₀ + ρ V₁ + ρ (1 - ρ) + n (1 - ρ)² (∂l₀/∂z / (l₁ - l₀))² Var z
        within = (1 - end) * second.variances[0] + end * second.variances[1] + end * (1 - end)
        of_truth = (1 - end) ** 2 * (0.5 / (0.5 - expected)) ** 2 * variance_of_truth(0.1, 400)
        assert (second.share - end) ** 2 == pytest.approx(1.959964**2 * (within / 800 + of_truth), rel=1e-3)
    fits = [estimate.maximum_likelihood(survey, tallied(survey, counts, SAME, SAME)) for survey in (sure, unsure)]
    assert fits[1].standard_errors[0] > fits[0].standard_errors[0]
    assert fits[1].intervals().method == "fieller"
    assert Design.from_json(unsure.to_json()) == unsure
    with pytest.raises(DesignError, match="people= goes with known shares of the truth"):
        designs.controlled(design, truth="no", people=400)


# without a control


def crosswise_at(share, n=10**6):
    survey = designs.crosswise(prevalence=0.25)
    same = round(n * (0.75 - 0.5 * share))
    return estimate.moments(survey, survey.tally(count=[same, n - same]))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_sharp_bounds_are_the_published_programs(share):
    any_answers = estimate.answer_bounds(crosswise_at(0.117), share=share, answers="any")[0]
    assert any_answers == pytest.approx(
        REFERENCE["bounds"][f"crosswise .25, naive .117, up to {share}: any answers"], abs=1e-9
    )
    survey = designs.negative(tuple("abcde"))
    fit = estimate.moments(survey, survey.tally(count=[160, 180, 210, 220, 230]))
    for answers in ("random", "any"):
        published = REFERENCE["bounds"][
            f"negative t=5,k=1, naive .36,.28,.16,.12,.08, up to {share}: {answers}, category 1"
        ]
        assert estimate.answer_bounds(fit, share=share, answers=answers)[0] == pytest.approx(published, abs=1e-9)
        wide = estimate.answer_bounds(fit, share=share, answers=answers, sharp=False)[0]
        assert wide[0] <= published[0] + 1e-9
        assert wide[1] >= published[1] - 1e-9


def test_what_answers_alone_prove_and_what_tips_them():
    survey = designs.forced_response(forced_yes="1/6", forced_no="1/12")
    fit = estimate.moments(survey, survey.tally(count=[98, 631]))
    assert estimate.least_share(fit) == pytest.approx(
        REFERENCE["bounds"]["rho_min forced MTURK honest 98/729"], abs=1e-6
    )
    tipped = crosswise_at(0.117).to_dict()["unchecked"]["tipping"]
    assert tipped["random"] == pytest.approx(REFERENCE["tipping"]["crosswise .25: .117, is it over 0"])
    yes = round((0.05 * 0.75 + 1 / 6) * 12_000)
    fit = estimate.moments(survey, survey.tally(count=[yes, 12_000 - yes]))
    assert fit.to_dict()["unchecked"]["tipping"]["random"] == pytest.approx(
        REFERENCE["tipping"]["forced 1/6,1/12: .05 over 0 (v)"][1]
    )


def test_without_a_control_an_estimate_says_what_it_does_not_show():
    survey = designs.negative(tuple("abcde"))
    lines = str(estimate.moments(survey, survey.tally(count=[160, 180, 210, 220, 230])))
    assert "nothing in these answers shows whether people followed the instruction" in lines
    measured = "if up to 30 of 100 answered at random (surveys by hand measured 23 to 39)"
    assert f"{measured}, a share could be up to 0.060 lower or 0.240 higher" in lines
    assert f"{measured}: “yes” from " in str(crosswise_at(0.117))
    assert "“d” would be 0 if 60 of 100 had answered at random" in lines
    assert "nothing in these answers" not in str(estimate.moments(CROSSWISE, worked_crosswise()))
    badly = designs.forced_response(forced_yes="1/6", forced_no="1/12")
    assert "did not follow the instruction" in str(estimate.moments(badly, badly.tally(count=[200, 2_000])))


@pytest.mark.parametrize("sharp", [True, False])
def test_the_interval_of_open_shares_holds_the_truth_wherever_it_lies(sharp):
    """Exactly, over all counts: .1 yes and .7 no comply, .2 answer at random and may all be yes, or none."""
    survey, n = designs.crosswise(prevalence=0.25), 500
    chance = 0.25 * 0.1 + 0.75 * 0.7 + 0.2 / 2
    hits = np.zeros(3)
    for same in range(round(n * chance) - 45, round(n * chance) + 46):
        fit = estimate.moments(survey, survey.tally(count=[same, n - same]))
        low, high = estimate.bounds_interval(fit, share=0.2, sharp=sharp)[0]
        hits += stats.binom.pmf(same, n, chance) * np.array(
            [low <= truth + 1e-12 <= high + 2e-12 for truth in (0.1, 0.2, 0.3)]
        )
    assert (hits[[0, 2]] > 0.94).all()
    assert hits[1] > 0.997


def test_the_interval_of_open_shares_is_that_of_a_share_where_nothing_is_open():
    survey = designs.negative(ABCD)
    fit = estimate.moments(survey, survey.tally(count=[190, 240, 260, 310]))
    added = stats.norm.ppf(0.975) ** 2
    named = (np.array([190, 240, 260, 310]) + added / 2) / (1_000 + added)  # Agresti & Coull (1998)
    ends = 1 - 3 * named + np.outer((-1, 1), 3 * np.sqrt(added * named * (1 - named) / (1_000 + added)))
    for sharp in (True, False):
        np.testing.assert_allclose(
            estimate.bounds_interval(fit, share=0, sharp=sharp).T, np.maximum(ends, 0), atol=1e-6
        )
    # .05 in each tail where far apart: the true share cannot be beyond both ends
    low, high = estimate.bounds_interval(fit, share=0.3, answers="any", sharp=False)[1]
    band = estimate.answer_bounds(fit, share=0.3, answers="any", sharp=False)[1]
    assert band[0] - low == pytest.approx(min(band[0], 1.6449 * fit.standard_errors[1]), abs=5e-3)
    assert high - band[1] == pytest.approx(min(1 - band[1], 1.6449 * fit.standard_errors[1]), abs=5e-3)


def test_the_interval_of_open_shares_has_an_error_where_no_answer_tells():
    """Of 30 people, none said "a": with .01 of them and .1 at random this comes once in ten surveys."""
    survey = designs.k_ary(("a", "b", "c"), epsilon=2.83)
    assert stats.binom.pmf(0, 30, 0.9 * survey.matrix[0] @ (0.01, 0.99, 0) + 0.1 / 3) > 0.05
    fit = estimate.moments(survey, survey.tally(count=[0, 15, 15]))
    for sharp in (True, False):
        low, high = estimate.bounds_interval(fit, share=0.1, sharp=sharp)[0]
        assert low == 0
        assert high > 0.109


def test_the_interval_of_open_shares_counts_clusters_not_their_members():
    survey, said = designs.crosswise(prevalence=0.25), np.array(["same", "different", "different"])[np.arange(300) % 3]
    alone = estimate.moments(survey, survey.tally(said))
    sampling = Sampling(clusters=np.repeat(np.arange(300), 4))
    fourfold = estimate.moments(survey, survey.tally(np.repeat(said, 4), sampling=sampling))
    for sharp in (True, False):
        ends = [estimate.bounds_interval(fit, sharp=sharp) for fit in (fourfold, alone)]
        np.testing.assert_allclose(*ends, atol=0.002)


def test_a_negative_survey_without_a_control_shows_both_bands():
    survey = designs.negative(tuple("abcde"))
    fit = estimate.moments(survey, survey.tally(count=[160, 180, 210, 220, 230]))
    # random answers look like .2 each; always a moves a by 1 - 5 and all others by 1
    assert (
        "if up to 30 of 100 answered at random (surveys by hand measured 23 to 39), a share could be up to 0.06"
        in str(fit)
    )
    assert (
        "if up to 10 of 100 always gave one answer (surveys by hand measured 6.5 to 19), a share could be up to 0.10"
        in str(fit)
    )
    numbers = fit.to_dict()["unchecked"]
    np.testing.assert_allclose(numbers["one_answer"][0], [fit.proportions[0] - 0.1, fit.proportions[0] + 0.4])
    assert "Höglinger & Jann (2018)" in numbers["measured"]["sources"]


@pytest.mark.parametrize(("n", "is_said"), [(30, True), (300, False)])
def test_a_band_of_few_answers_says_that_it_can_be_too_short(n, is_said):
    survey = designs.crosswise(prevalence=0.25)
    fit = estimate.moments(survey, survey.tally(count=[n // 3, n - n // 3]))
    assert ("(of so few answers it held .87 to .93 at worst)" in str(fit)) == is_said


# slips, and truths that controls share


def test_slips_make_the_test_and_the_size_those_of_their_own_share():
    """METHODS_CONTROLS 2.6: negative(5, 2) with slips of .01 first finds .05, .1, .25 with 307, 112, 27 people."""
    survey = designs.controlled(designs.negative(tuple("abcde"), discards=2), truth="a", slips="0.01")
    for share, n in ((0.05, 307), (0.1, 112), (0.25, 27)):
        powers = [planning.detection_power(survey, share, n=people) for people in range(n - 20, n + 1)]
        assert max(powers[:-1]) < 0.8 <= powers[-1]
    single = designs.controlled(designs.negative(ABCD), truth="d", slips="0.02")
    tally = tallied(single, np.outer([1, 1, 1, 1], [30, 35, 33, 2]), ABCD, ABCD)
    people = compliance(single, tally)
    assert people.p_value == pytest.approx(stats.binomtest(8, 400, 0.02, alternative="greater").pvalue)
    assert people.share == pytest.approx(0, abs=1e-9)  # (.02 - .02) / (1/4 - .02)
    assert people.violations is None
    assert compliance(designs.controlled(designs.negative(ABCD), truth="d"), tally).p_value == 0
    assert "assumes that of 100 who comply 2 slip in a control" in str(estimate.moments(single, tally))
    assert Design.from_json(single.to_json()) == single
    assert designs.parse(single.name, categories=ABCD) == single


def test_the_interval_with_slips_holds_the_truth_and_that_without_them_does_not():
    rng, inside = np.random.default_rng(88), np.zeros((5, 2))
    plain, slipping = (designs.controlled(designs.negative(ABCD), truth="d", slips=slips) for slips in (0, "0.03"))
    for cell in range(5):
        share = rng.uniform(0, 0.3)
        cells = np.append((1 - share) * rng.dirichlet(np.ones(4)), share)
        for _ in range(40):
            answers = drawn(slipping, cells, 400, rng)
            for place, survey in enumerate((slipping, plain)):
                low, high = compliance(survey, replace_design(answers, survey)).interval()
                inside[cell, place] += low <= share <= high
    assert inside[:, 0].mean() / 40 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)
    assert inside[:, 1].mean() / 40 < 0.8


@pytest.mark.parametrize(
    ("design", "slips", "problem"),
    [
        (designs.crosswise(prevalence=0.25), 0.01, "people who comply can give any answer"),
        (designs.negative(ABCD), 0.25, "slips must stay below 0.25, as often as random answers slip; got 0.25"),
        (designs.negative(ABCD), -0.1, r"slips must lie in \[0, 1\]"),
    ],
)
def test_slips_that_cannot_be_are_refused(design, slips, problem):
    with pytest.raises(DesignError, match=problem):
        designs.controlled(design, truth=design.categories[-1], slips=slips)


def test_controls_of_one_estimated_truth_share_its_error():
    """With one error of the truth for all K controls, ρ̂ moves with it by Σ_k ∂ρ_k/∂z / K, not by its root of K."""
    design, truth = designs.crosswise(prevalence=0.25), {"yes": "0.1", "no": "0.9"}
    known, shared = (designs.controlled(design, truth=[truth, truth], people=people) for people in (None, 100))
    apart = designs.controlled(design, truth=[truth, truth], people=[100, 101])
    said = list(itertools.product(SAME, SAME, SAME))
    tally = known.tally(tuple(zip(*said, strict=True)), count=[210, 90, 80, 60, 150, 80, 70, 60])
    expected = 0.75 - 0.05
    observed = (210 * 2 + 90 + 80 + 150 * 2 + 80 + 70) / 1600  # "same" to a control
    slope = 0.5 * (0.5 - observed) / (0.5 - expected) ** 2  # as with one control
    extra = {
        name: compliance(survey, replace_design(tally, survey)).standard_error ** 2
        - compliance(known, tally).standard_error ** 2
        for name, survey in (("shared", shared), ("apart", apart))
    }
    assert extra["shared"] == pytest.approx(slope**2 * variance_of_truth(0.1, 100), rel=0.02)
    assert extra["apart"] == pytest.approx(
        slope**2 * (variance_of_truth(0.1, 100) + variance_of_truth(0.1, 101)) / 4, rel=0.03
    )
    assert designs.controlled(design, truth=truth, control=[design, design], people=100).uncertain == shared.uncertain
    assert Design.from_json(shared.to_json()) == shared


def test_a_control_of_which_the_truth_rests_on_few_people_has_an_interval_that_holds():
    """Of 79 people 0.018 are carriers, over all who may be found; everybody complies. It held in .82 of surveys."""
    design, people, of_truth, n = designs.crosswise(prevalence=0.063), 79, 0.018, 885
    held = rejected = 0.0
    for carriers in range(9):
        shares = {"yes": Fraction(carriers, people), "no": Fraction(people - carriers, people)}
        survey = designs.controlled(design, truth=shares, people=people)
        same = stats.binom.ppf(np.linspace(0.01, 0.99, 25), n, 0.937 - 0.874 * of_truth).astype(int)
        chance = stats.binom.pmf(carriers, people, of_truth) / len(same)
        for count in same.tolist():
            found = compliance(survey, tallied(survey, [[count, n - count], [0, 0]], SAME, SAME))
            held += chance * (found.interval()[0] <= 0)
            rejected += chance * (found.p_value < 0.05)
    assert held > 0.94
    assert rejected < 0.08


def test_a_truth_that_all_of_few_people_share_shows_no_violation_for_certain():
    shares, said = {"a": 1, "b": 0, "c": 0, "d": 0}, (["b"] * 200, ["a"] * 2 + ["b"] * 198)
    sure, unsure = (
        designs.controlled(designs.negative(tuple("abcd")), truth=shares, people=people) for people in (None, 20)
    )
    certain, doubtful = (compliance(survey, survey.tally(said)) for survey in (sure, unsure))
    assert certain.violations == (2, 200)
    assert certain.p_value == 0
    assert doubtful.violations is None  # some of those who comply may have another truth
    assert doubtful.p_value > 0.05
    assert doubtful.interval()[0] == 0


def test_no_sentence_says_that_more_than_all_fail():
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    people = compliance(survey, tallied(survey, [[10, 20], [10, 60]], SAME, SAME))
    assert people.share > 1
    assert people.sentence().startswith("about 100 of 100 ")
    said = tuple(
        [answer for answer, times in pair for _ in range(times)]
        for pair in ((("same", 30), ("different", 70)), (("same", 20), ("different", 80)))
    )
    with pytest.raises(NotEstimable, match="first wave: about 100 of 100 "):
        estimate.change(survey, survey.encode(said), survey.encode(said))


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_leaves_out_nobody_where_the_test_rejects_and_only_there(seed):
    """Over all counts. An estimate above 1 was taken as 1, and few people exclude no 0 there, whatever they say;
    and Wilson's interval excluded 0 where the exact test does not."""
    rng = np.random.default_rng(seed)
    n, nobody, everybody = int(rng.integers(8, 120)), *np.sort(rng.uniform(0.02, 0.98, 2)).round(3)
    chances = {"random": (str(round(1 - everybody, 3)), str(everybody))}
    control = designs.crosswise(prevalence=nobody)
    survey = designs.controlled(FAMILIES["crosswise"], truth="no", control=control, types=chances)
    base, held = compliance(survey, tallied(survey, [[n, 0], [0, 0]], SAME, SAME)), 0.0
    for count in range(n + 1):
        share = (count / n - nobody) / (everybody - nobody)
        people = replace(base, share=share, observed=count / n)
        assert people.p_value == pytest.approx(stats.binom.sf(count - 1, n, nobody))
        for confidence in (0.9, 0.95, 0.99):
            low, high = people.interval(confidence)
            assert (people.p_value < (1 - confidence) / 2) == (low > 0)
            assert low <= np.clip(share, 0, 1) <= high
        held += stats.binom.pmf(count, n, nobody) * (people.interval()[0] <= 0)
    assert held >= 0.975


@pytest.mark.parametrize("second", [0.457, 0.45])
def test_an_estimate_above_all_people_excludes_nobody_if_the_test_does(second):
    """Of 60 people 75 of 120 answers tell, of which .457 are expected of those who comply, and half of the others."""
    masked = [designs.crosswise(prevalence=chance) for chance in (0.457, second)]
    survey = designs.controlled(masked[0], truth=("no", "no"), control=masked)
    said = [["same"] * 60, ["different"] * 37 + ["same"] * 23, ["same"] * 22 + ["different"] * 38]
    for weights in (None, [1.0] * 59 + [1.001]):
        people = compliance(survey, survey.tally(tuple(said), weights=weights))
        assert people.p_value < 0.001
        assert people.interval()[0] > 0.5


# several controls of different chances


def of_two_controls(first, second):
    return designs.controlled(
        designs.crosswise(prevalence=0.25),
        truth=("no", "no"),
        control=[designs.crosswise(prevalence=chance) for chance in (first, second)],
    )


@pytest.mark.parametrize(("first", "second"), [(0.25, 0.15), (0.05, 0.4), (0.0, 0.25), (0.2, 0.33)])
def test_the_law_of_controls_of_different_chances_is_that_of_all_patterns(first, second):
    """Second route: the chance of every way in which twelve people can give the four pairs of answers."""
    rng, n, survey = np.random.default_rng(3), 12, of_two_controls(first, second)
    said = [rng.choice(SAME, n, p=[0.7, 0.3]).tolist() for _ in range(3)]
    people = compliance(survey, survey.tally(tuple(said)))
    weights = [1 / (0.5 - first), 1 / (0.5 - second)]
    total = sum(weight * answers.count("different") for weight, answers in zip(weights, said[1:], strict=True))
    ways = np.array([way for way in itertools.product(range(n + 1), repeat=4) if sum(way) == n])
    scores = ways @ [0, weights[1], weights[0], sum(weights)]
    assert np.mean(total / n - np.dot(weights, (first, second))) / 2 == pytest.approx(people.share)
    for share in (0, 0.1, 0.35, 1):
        pairs = [
            (1 - share)
            * np.prod(
                [chance if is_telling else 1 - chance for chance, is_telling in zip((first, second), pair, strict=True)]
            )
            + share / 4
            for pair in itertools.product((False, True), repeat=2)
        ]
        law = stats.multinomial.pmf(ways, n, pairs)
        expected = law[scores <= total + 1e-9].sum(), law[scores >= total - 1e-9].sum()
        assert people.law.tails(share) == pytest.approx(expected, abs=1e-12)
    assert people.p_value == pytest.approx(people.law.tails(0)[1])
    low, high = people.interval()
    for side, end in ((1, low), (0, high)):
        if 0 < end < 1:
            assert people.law.tails(end)[side] == pytest.approx(0.025, abs=1e-6)


def test_the_test_rejects_where_the_interval_leaves_out_nobody():
    """By the variance alone it did not: of controls of .02 and .42 the law is far from normal."""
    rng, survey, n = np.random.default_rng(41), of_two_controls("0.02", "0.42"), 60
    hits = []
    for _ in range(150):
        away = rng.random(n) < 0.15
        said = [
            np.where(np.where(away, rng.random(n) < 0.5, rng.random(n) < chance), *SAME[::-1]).tolist()
            for chance in (0.3, 0.02, 0.42)
        ]
        people = compliance(survey, survey.tally(tuple(said)))
        low, high = people.interval()
        assert (people.p_value < 0.025) == (low > 0)
        hits.append(low <= 0.15 <= high)
    assert np.mean(hits) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_controls_drawn_by_lot_whose_truths_have_different_chances_have_an_exact_law():
    """Forced answers: whose truth is no says yes in 1/6, whose truth is yes says no in 1/12."""
    survey = designs.controlled(FAMILIES["forced"], truth="lot")
    said = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    answers = [[*said, *said][place] for place in range(8)]
    counts = [40, 5, 60, 4, 6, 40, 9, 50]
    tally = survey.tally(tuple(zip(*answers, strict=True)), count=counts, sample=["yes"] * 4 + ["no"] * 4)
    people = compliance(survey, tally)
    wrong = np.array([9, 15])  # said no with truth yes, yes with truth no
    weights = 1 / (0.5 - np.array([1 / 12, 1 / 6]))
    laws = [stats.binom.pmf(np.arange(size + 1), size, chance) for size, chance in ((109, 1 / 12), (105, 1 / 6))]
    scores = np.add.outer(np.arange(110) * weights[0], np.arange(106) * weights[1])
    expected = np.outer(*laws)[scores >= wrong @ weights - 1e-9].sum()
    assert people.p_value == pytest.approx(expected, rel=1e-9)


def test_a_control_of_which_one_answer_is_rare_has_an_exact_law():
    """Of 209 people two ruled out what is true of .995. By the variance alone p was .0003, and the interval above 0."""
    survey = designs.controlled(designs.negative(tuple("abcde")), truth={"a": "0.995", "b": "0.005"})
    tally = survey.tally((["b"] * 5, list("abcde")), count=[2, 51, 52, 52, 52])
    people = compliance(survey, tally)
    assert people.p_value == pytest.approx(stats.binom.sf(1, 209, 0.005 / 4), rel=1e-6)
    low, high = people.interval()
    assert (low, high) == (0.0, pytest.approx(0.1655, abs=1e-4))
    assert people.law.tails(high)[0] == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize("amounts", [(1465, 150, 160), (1410, 150, 182), (1440, 190, 200)])
def test_many_people_with_controls_without_a_common_measure_have_an_exact_law(amounts):
    """Second route: three binomials, of which the weighted sum is as large as this, of 3,000 people who comply."""
    n, prevalences = 3000, (0.47, 0.05, 0.0607)
    masked = [designs.crosswise(prevalence=str(prevalence)) for prevalence in prevalences]
    survey = designs.controlled(masked[0], truth=("no",) * 3, control=masked)
    said = [["same"] * n, *(["different"] * amount + ["same"] * (n - amount) for amount in amounts)]
    weights, (first, second) = 1 / (0.5 - np.array(prevalences)), np.ogrid[1250:1600, : n // 3]
    least = (weights @ amounts - weights[0] * first - weights[1] * second) / weights[2]
    expected = (
        stats.binom.pmf(first, n, prevalences[0])
        * stats.binom.pmf(second, n, prevalences[1])
        * stats.binom.sf(np.ceil(least - 1e-9) - 1, n, prevalences[2])
    ).sum()
    people = compliance(survey, survey.tally(tuple(said)))
    assert people.law is not None
    assert people.p_value == pytest.approx(expected, rel=0.01, abs=1e-9)
    assert (people.p_value < 0.025) == (people.interval()[0] > 0)


def test_where_no_answer_tells_the_interval_holds_nobody():
    """Of eight people .024 telling answers were expected; none was taken for one, which left out 0."""
    survey = of_two_controls("0.001", "0.002")
    people = compliance(survey, survey.tally((["same"] * 8,) * 3))
    assert people.p_value == 1
    assert people.interval()[0] == 0


def test_the_law_of_a_billion_people_is_normal():
    survey = of_two_controls("0.137", "0.33")
    people = compliance(survey, survey.tally((["same"], ["same"], ["different"]), count=[10**9]))
    assert people.law is None
    assert np.ptp(people.interval()) < 1e-3


# change between waves


def wave_of(rng, carries, share, prevalence, n):
    """Answers to a crosswise question and its control, of people of whom a share answers both at random."""
    away, masked = rng.random(n) < share, designs.crosswise(prevalence=0.25)
    truths = (carries, rng.random(n) < prevalence)
    return tuple(
        np.where(away, rng.choice(SAME, n), masked.randomize(np.where(truth, "yes", "no"), rng=rng).texts()).tolist()
        for truth in truths
    )


def moved_by_truth(said, prevalence):
    """By hand: by how much the share of carriers who comply moves with the truth of the control."""
    question, control = (answers.count("different") / len(answers) for answers in said)
    telling = 0.25 + 0.5 * prevalence
    share = (control - telling) / (0.5 - telling)
    naive = (question - 0.25) / 0.5
    return (naive - 0.5) / (1 - share) ** 2 * (control - 0.5) / (0.5 - telling) ** 2 * 0.5


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_change_carries_the_error_of_the_truth_of_its_controls(is_shared):
    rng, design, truth = np.random.default_rng(60), designs.crosswise(prevalence=0.25), {"yes": "0.1", "no": "0.9"}
    other = truth if is_shared else {"yes": "0.2", "no": "0.8"}
    began = rng.random(2_000) < 0.2
    first = wave_of(rng, began, 0.3, 0.1, 2_000)
    second = wave_of(rng, began | (rng.random(2_000) < 0.1), 0.1, 0.1 if is_shared else 0.2, 2_000)
    changes = []
    for people in (None, 60):
        surveys = [designs.controlled(design, truth=shares, people=people) for shares in (truth, other)]
        answers = [survey.encode(said) for survey, said in zip(surveys, (first, second), strict=True)]
        changes.append(estimate.change(surveys[0], *answers, after=surveys[1]))
    extra = changes[1].covariance[0, 0] - changes[0].covariance[0, 0]
    slopes = moved_by_truth(first, 0.1), moved_by_truth(second, 0.1 if is_shared else 0.2)
    if is_shared:  # one error moves both waves
        assert extra == pytest.approx((slopes[1] - slopes[0]) ** 2 * variance_of_truth(0.1, 60), rel=0.05)
    else:
        expected = slopes[0] ** 2 * variance_of_truth(0.1, 60) + slopes[1] ** 2 * variance_of_truth(0.2, 60)
        assert extra == pytest.approx(expected, rel=0.05)
    assert changes[0].difference == pytest.approx(changes[1].difference)


def test_a_change_prints_who_does_not_comply_as_each_wave_does_by_itself():
    rng, n = np.random.default_rng(31), 900
    began, weights = rng.random(n) < 0.2, rng.uniform(0.5, 2, n)
    waves = [wave_of(rng, began, share, 0, n) for share in (0.3, 0.1)]
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    plain = estimate.change(survey, *map(survey.encode, waves))
    weighted = estimate.change(survey, *map(survey.encode, waves), weights=weights)
    for said, (wave, people), (_, of_weighted) in zip(waves, plain.people, weighted.people, strict=True):
        alone = compliance(survey, survey.tally(said))
        assert people.interval(0.9) == alone.interval(0.9)
        by_weight = compliance(survey, survey.tally(said, weights=weights))
        assert of_weighted.interval() == pytest.approx(by_weight.interval())
        assert f"{wave} wave: {alone.sentence(0.9)}" in " ".join(plain.to_dict(0.9)["compliance"])
        assert plain.to_dict()["noncompliance"][wave == "second"]["p_value"] == alone.p_value
    # households of four that say the same are no more people
    fourfold = [tuple(list(np.repeat(answers, 4)) for answers in said) for said in waves]
    clustered = estimate.change(
        survey, *map(survey.encode, fourfold), sampling=Sampling(clusters=np.repeat(np.arange(n), 4))
    )
    assert clustered.people[0][1].interval() == pytest.approx(plain.people[0][1].interval(), abs=2e-3)


def test_where_few_answered_a_control_no_share_below_nought_is_told():
    """One of five says yes to a control whose truth is no, less often than chance alone gives."""
    survey = designs.controlled(designs.warner(p=0.7), truth="no")
    tally = survey.tally((["yes", "no", "yes", "no", "yes"], ["yes", "no", "no", "no", "no"]))
    with pytest.raises(NotEstimable, match=r"^about 0\S* of 100, and perhaps all, answered the control"):
        estimate.moments(survey, tally)
