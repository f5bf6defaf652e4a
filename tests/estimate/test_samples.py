"""Several samples together: what they tell exactly, how precisely, and what they cannot tell."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.design import Samples
from naysay.errors import DataError, NotEstimable

ABC = tuple("abc")
shares = st.fractions("1/20", "19/20", max_denominator=40)
apart = st.tuples(shares, shares).filter(lambda p: abs(p[0] - p[1]) > Fraction(1, 10))
off_half = shares.filter(lambda p: abs(2 * p - 1) > Fraction(1, 10))


@st.composite
def surveys(draw):
    """Any design of several samples, with any probabilities under which it can be estimated."""
    p = draw(apart)
    makers = {
        "unrelated": lambda: designs.unrelated_question_unknown(p=p),
        "cheating": lambda: designs.cheating_detection(p=p),
        "symmetric": lambda: designs.cheating_detection_symmetric(
            forced_yes=(p[0] / 2, p[1] / 2), forced_no=(p[1] / 2, p[0] / 2)
        ),
        "liars": lambda: designs.stochastic_lie_detector(p=p),
        "extended": lambda: designs.extended_crosswise(prevalence=draw(off_half)),
        "anchored": lambda: designs.anchored_crosswise(prevalence=draw(off_half), anchor=draw(off_half)),
        "arms": lambda: designs.samples(a=designs.warner(p=draw(off_half)), b=designs.kuk(p=p, draws=3)),
        "abul-ela": lambda: designs.abul_ela(ABC, p=[[p[0], 1 - p[0], 0], [0, p[1], 1 - p[1]]]),
    }
    return makers[draw(st.sampled_from(sorted(makers)))]()


def expected_tally(survey, cells):
    """Answers in exactly the shares that the cells lead to, 1,000 weighted people in each sample."""
    total = None
    for name in survey.levels:
        design = survey.channel(name)
        said = design.responses
        values = tuple(np.asarray(part).tolist() for part in said.parts) if survey.single else said.texts()
        which = {} if survey.single else {"sample": [name] * len(said)}
        one = survey.tally(values, weights=1_000 * (design.matrix @ cells), **which)
        total = one if total is None else total + one
    return total


def true_shares(survey, cells):
    told = [share.weights(survey.cells) for share in (*survey.shares, *survey.nuisance)]
    return np.array([above @ cells / (below @ cells) for above, below in told])


def estimated(fit):
    return np.array([*fit.proportions, *(each.value for each in fit.nuisance.values())])


def errors(fit):
    return np.array([*fit.standard_errors, *(each.standard_error for each in fit.nuisance.values())])


def nuisance_intervals(fit, method=None):
    """The interval of each nuisance parameter, as it is printed."""
    return [each["interval"] for each in fit.to_dict(interval_method=method).get("nuisance", {}).values()]


def counted(survey, *counts):
    """The tally of how many gave each response, sample by sample."""
    parts = [
        survey.tally(survey.channel(name).responses.texts(), sample=[name] * len(given), count=given)
        for name, given in zip(survey.levels, counts, strict=True)
        if sum(given)
    ]
    return sum(parts)


LIARS = designs.stochastic_lie_detector(p=("2/12", "10/12"))
CHEATING = designs.cheating_detection(p=(0.25, 0.75))
UNRELATED = designs.unrelated_question_unknown(p=(0.7, 0.3))
EXTENDED = designs.extended_crosswise(prevalence=0.2)
ANCHORED = designs.anchored_crosswise(prevalence=0.15, anchor=0.25)
ABUL = designs.abul_ela(ABC, p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]])


# moments


@given(surveys(), st.integers(0, 2**32 - 1))
def test_moments_recover_every_share_from_what_is_expected(survey, seed):
    cells = np.random.default_rng(seed).dirichlet(np.full(len(survey.cells), 2.0))
    fit = estimate.moments(survey, expected_tally(survey, cells))
    np.testing.assert_allclose(estimated(fit), true_shares(survey, cells), rtol=0, atol=1e-8)


@given(surveys(), st.integers(0, 2**32 - 1))
def test_maximum_likelihood_recovers_every_share_from_what_is_expected(survey, seed):
    cells = np.random.default_rng(seed).dirichlet(np.full(len(survey.cells), 4.0))
    fit = estimate.maximum_likelihood(survey, expected_tally(survey, cells))
    np.testing.assert_allclose(estimated(fit), true_shares(survey, cells), rtol=0, atol=2e-4)


@given(apart, st.lists(st.integers(5, 400), min_size=4, max_size=4))
def test_maximum_likelihood_is_moments_inside_the_simplex(p, counts):
    for survey in (designs.cheating_detection(p=p), designs.stochastic_lie_detector(p=p)):
        tally = counted(survey, counts[:2], counts[2:])
        moments, most = estimate.moments(survey, tally), estimate.maximum_likelihood(survey, tally)
        cells = moments.cells_of_samples.proportions
        if cells.min() > 1e-3:
            np.testing.assert_allclose(estimated(most), estimated(moments), rtol=0, atol=1e-6)
        assert most.proportions.min() >= 0
        assert most.proportions.max() <= 1


@given(apart, st.lists(st.integers(1, 400), min_size=4, max_size=4))
def test_closed_forms_of_the_literature_come_out(p, counts):
    yes = np.array([counts[0] / (counts[0] + counts[1]), counts[2] / (counts[2] + counts[3])])
    g = np.array(p, dtype=float)
    across = yes[0] * (1 - g[1]) - yes[1] * (1 - g[0])

    greenberg = designs.unrelated_question_unknown(p=p)
    found = estimate.moments(greenberg, counted(greenberg, counts[:2], counts[2:]))
    assert found.proportions[0] == pytest.approx(across / (g[0] - g[1]), abs=1e-9)

    cheating = designs.cheating_detection(p=p)
    found = estimate.moments(cheating, counted(cheating, counts[:2], counts[2:]))
    honest = (yes[1] - yes[0]) / (g[1] - g[0])  # Clark & Desharnais (1998): β, those who are honest and say no
    assert found.nuisance["honest no"].value == pytest.approx(honest, abs=1e-9)
    assert found.proportions[0] == pytest.approx(yes[0] - g[0] * honest, abs=1e-9)
    assert found.nuisance["cheaters"].value == pytest.approx(1 - honest - yes[0] + g[0] * honest, abs=1e-9)

    liars = designs.stochastic_lie_detector(p=p)
    found = estimate.moments(liars, counted(liars, counts[:2], counts[2:]))
    others = (yes[0] - yes[1]) / (g[1] - g[0])
    assert found.proportions[0] == pytest.approx(1 - others, abs=1e-9)


@given(st.lists(st.integers(10, 400), min_size=4, max_size=4))
def test_the_anchored_model_corrects_for_the_inattentive_as_its_formula_says(counts):
    # (λ - (1 - γ)/2) / γ with γ = (λ' - ½) / (½ - p'), from the shares of "same" to either pair.
    same, anchor_same = (counts[0] + counts[1]) / sum(counts), (counts[0] + counts[2]) / sum(counts)
    attentive = (anchor_same - 0.5) / (0.5 - 0.25)
    assume(abs(attentive) > 0.05)
    corrected = (same - (1 - attentive) / 2) / attentive
    expected = (corrected - (1 - 0.15)) / (0.15 - (1 - 0.15))
    answers = (["same", "same", "different", "different"], ["same", "different", "same", "different"])
    fit = estimate.moments(ANCHORED, ANCHORED.tally(answers, count=counts))
    assert fit.nuisance["attentive"].value == pytest.approx(attentive, abs=1e-9)
    assert fit.proportions[0] == pytest.approx(expected, abs=1e-7)


def test_a_category_is_the_rest_of_the_others():
    fit = estimate.moments(ABUL, counted(ABUL, [150, 350], [205, 295]))
    assert fit.proportions.sum() == pytest.approx(1)
    assert fit.covariance.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


# standard errors


SATURATED = [
    (UNRELATED, ([150, 350], [250, 250])),
    (CHEATING, ([200, 300], [350, 150])),
    (LIARS, ([373, 191], [398, 294])),
    (ABUL, ([150, 350], [205, 295])),
]


@pytest.mark.parametrize(("survey", "counts"), SATURATED, ids=lambda value: getattr(value, "name", ""))
def test_delta_method_errors_agree_with_a_numerical_derivative(survey, counts):
    fit = estimate.moments(survey, counted(survey, *counts))
    yes = np.array([given[0] / sum(given) for given in counts])
    sizes = np.array([sum(given) for given in counts])

    def at(rates):
        counts = [[rate * 1e7, (1 - rate) * 1e7] for rate in rates]
        texts = survey.channel(survey.levels[0]).responses.texts()
        tally = survey.tally(texts * 2, sample=np.repeat(survey.levels, 2).tolist(), weights=np.ravel(counts))
        return estimated(estimate.moments(survey, tally))

    step = 1e-5
    slopes = np.array([(at(yes + step * unit) - at(yes - step * unit)) / (2 * step) for unit in np.eye(2)])
    variances = slopes.T**2 @ (yes * (1 - yes) / (sizes - 1))
    np.testing.assert_allclose(errors(fit), np.sqrt(variances), rtol=1e-5)


@pytest.mark.parametrize(
    ("survey", "cells"),
    [
        (UNRELATED, (0.1, 0.2, 0.2, 0.5)),
        (CHEATING, (0.3, 0.5, 0.2)),
        (LIARS, (0.3, 0.5, 0.2)),
        (EXTENDED, (0.3, 0.7)),
        (ANCHORED, (0.2, 0.5, 0.3)),
        (ABUL, (0.2, 0.5, 0.3)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("method", [estimate.moments, estimate.maximum_likelihood], ids=lambda method: method.__name__)
def test_standard_errors_are_those_of_a_simulation(survey, cells, method):
    """Beside the mean that they are in many answers, whose exact error is known; so few surveys tell the rest."""
    rng, n = np.random.default_rng(1969), 1_500
    chances = [survey.channel(name).matrix @ cells for name in survey.levels]

    def fit(*counts):
        return method(survey, sum(one_sample(survey, *each) for each in zip(survey.levels, counts, strict=True)))

    many = [np.rint(10**9 * each).astype(int) for each in chances]
    middle = estimated(fit(*many))
    np.testing.assert_allclose(middle, true_shares(survey, np.array(cells)), atol=1e-6)
    drawn = [rng.multinomial(n, each, 30) for each in chances]
    means, variance = middle[None], np.zeros(len(middle))
    for place, each in enumerate(chances):
        steps = 10**6 * np.eye(len(each), dtype=int)
        more = [fit(*many[:place], many[place] + step, *many[place + 1 :]) for step in steps]
        u = np.array([(estimated(one) - middle) * 1_000 for one in more])
        means = means + (drawn[place] / n - each) @ u
        variance += (each @ u**2 - (each @ u) ** 2) / n
    fits = [fit(*counts) for counts in zip(*drawn, strict=True)]
    values, claimed = np.array([estimated(one) for one in fits]), np.mean([errors(one) ** 2 for one in fits], axis=0)
    assert (np.abs((values - means).mean(axis=0)) < 0.1 * np.sqrt(variance)).all()
    np.testing.assert_allclose(values.var(axis=0), means.var(axis=0), rtol=0.1)
    np.testing.assert_allclose(claimed, variance, rtol=0.1)


def one_sample(survey, name, counts):
    if survey.single:
        first, second = (np.asarray(part).tolist() for part in survey.channel().responses.parts)
        return survey.tally((first, second), count=counts)
    return survey.tally(survey.channel(name).responses.texts(), sample=[name] * len(counts), count=counts)


def test_samples_of_other_sizes_have_other_errors():
    small = estimate.moments(CHEATING, counted(CHEATING, [20, 30], [350, 150]))
    large = estimate.moments(CHEATING, counted(CHEATING, [200, 300], [350, 150]))
    np.testing.assert_allclose(estimated(small), estimated(large), atol=1e-9)
    assert (errors(small) > errors(large)).all()


def test_more_answers_in_one_arm_count_for_more():
    arms = designs.samples(direct=designs.direct(("yes", "no")), masked=designs.crosswise(prevalence=0.25))
    tally = counted(arms, [80, 320], [380, 220])
    fit = estimate.maximum_likelihood(arms, tally)
    each = fit.by_sample
    assert each.keys() == {"direct", "masked"}
    assert each["direct"].proportions[0] == pytest.approx(0.2)
    lowest, highest = sorted(one.proportions[0] for one in each.values())
    assert lowest < fit.proportions[0] < highest
    assert fit.standard_errors[0] < min(one.standard_errors[0] for one in each.values())
    assert "“yes” by sample (s.e.): direct 0.200 (0.020), masked" in str(fit)


# what cannot be told


@pytest.mark.parametrize("method", [estimate.moments, estimate.maximum_likelihood], ids=lambda method: method.__name__)
@pytest.mark.parametrize(
    ("survey", "counts", "told"),
    [
        (CHEATING, ([200, 300], [0, 0]), r"the share of 'yes': .*\(rank 1 of 2\); nobody answered in sample 2"),
        (LIARS, ([0, 0], [200, 300]), r"'truthful yes'.*\(rank 1 of 2\); nobody answered in sample 1"),
        (UNRELATED, ([200, 300], [0, 0]), r"without changing any response probability \(rank 1 of 3\)"),
        (ABUL, ([220, 280], [0, 0]), r"\(rank 1 of 2\); nobody answered in sample 2"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_silent_sample_leaves_a_contrast_open(method, survey, counts, told):
    with pytest.raises(NotEstimable, match=told) as raised:
        method(survey, counted(survey, *counts))
    contrast = np.array(raised.value.contrast)
    silent = [survey.channel(name) for name, given in zip(survey.levels, counts, strict=True) if sum(given)]
    np.testing.assert_allclose(silent[0].matrix @ contrast, 0, atol=1e-9)
    assert abs(contrast).max() == pytest.approx(1)
    assert raised.value.rank == 1


@pytest.mark.parametrize("method", [estimate.moments, estimate.maximum_likelihood], ids=lambda method: method.__name__)
def test_samples_that_carry_the_same_design_tell_no_more_than_one(method):
    once = CHEATING.channel(1)
    survey = Samples.of({1: once, 2: once}, shares=CHEATING.shares, nuisance=CHEATING.nuisance)
    with pytest.raises(NotEstimable, match=r"\(rank 1 of 2\); the samples must differ in their designs") as raised:
        method(survey, counted(survey, [150, 350], [250, 250]))
    assert raised.value.rank == 1
    assert sum(raised.value.contrast) == pytest.approx(0, abs=1e-9)


def test_a_file_is_no_target_of_samples():
    tally = counted(CHEATING, [200, 300], [350, 150])
    for method in (estimate.moments, estimate.maximum_likelihood):
        with pytest.raises(
            DataError, match="estimate the population that they were drawn from; leave target='file' out"
        ):
            method(CHEATING, tally, target="file")


def test_an_arm_in_which_nobody_answered_is_noted_where_the_other_suffices():
    fit = estimate.maximum_likelihood(EXTENDED, counted(EXTENDED, [200, 300], [0, 0]))
    alone = designs.crosswise(prevalence=0.2)
    assert fit.proportions == pytest.approx(
        estimate.maximum_likelihood(alone, alone.tally(count=[200, 300])).proportions, abs=1e-8
    )
    assert any("nobody answered in sample 2" in str(note) for note in fit.warnings)
    assert fit.goodness_of_fit is None
    assert fit.by_sample is None


def test_shares_outside_the_unit_interval_are_reported_and_flagged():
    tally = counted(CHEATING, [100, 400], [450, 50])
    moments, most = (method(CHEATING, tally) for method in (estimate.moments, estimate.maximum_likelihood))
    assert moments.proportions[0] == pytest.approx(-0.15)
    assert any("outside [0, 1]" in str(note) and "yes" in str(note) for note in moments.warnings)
    assert (estimated(most) >= 0).all()
    assert (estimated(most) <= 1).all()
    assert any("at the boundary: yes" in str(note) for note in most.warnings)
    assert most.unbounded.proportions == pytest.approx(moments.proportions)
    for low, high in (*most.interval(), *nuisance_intervals(most)):
        assert 0 <= low <= high <= 1
    assert (most.interval()[:, 0] <= most.proportions).all()
    assert (most.proportions <= most.interval()[:, 1]).all()


# intervals


@pytest.mark.parametrize("survey", [LIARS, CHEATING, ABUL, UNRELATED], ids=lambda survey: survey.name)
def test_profiles_of_many_answers_are_normal_intervals(survey):
    counts = next(given for each, given in SATURATED if each is survey)
    fit = estimate.maximum_likelihood(survey, counted(survey, *(np.array(given) * 400 for given in counts)))
    profiled, wald = fit.intervals(method="profile"), fit.intervals(method="wald")
    np.testing.assert_allclose(profiled.bounds, wald.bounds, atol=0.05 * fit.standard_errors[0])
    ends = [nuisance_intervals(fit, method) for method in ("profile", "wald")]
    for profile_ends, wald_ends, each in zip(*ends, fit.nuisance.values(), strict=True):
        assert profile_ends == pytest.approx(wald_ends, abs=0.05 * each.standard_error)


def test_wider_confidence_is_a_wider_profile():
    fit = estimate.maximum_likelihood(LIARS, counted(LIARS, [373, 191], [398, 294]))
    widths = [np.ptp(fit.interval(confidence), axis=1) for confidence in (0.5, 0.9, 0.99)]
    assert (np.diff(widths, axis=0) > 0).all()


@pytest.mark.parametrize("method", ["bootstrap", "agresti_coull"])
def test_intervals_that_samples_do_not_have_are_refused(method):
    fit = estimate.moments(LIARS, counted(LIARS, [373, 191], [398, 294]))
    with pytest.raises(DataError, match="use method="):
        fit.interval(method=method)


def test_an_answer_that_never_came_still_gives_an_interval():
    fit = estimate.maximum_likelihood(CHEATING, counted(CHEATING, [0, 40], [3, 37]))
    assert fit.proportions[0] == pytest.approx(0, abs=1e-6)
    low, high = fit.interval()[0]
    assert low == pytest.approx(0, abs=1e-6)
    assert 0 < high < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "cells"),
    [(CHEATING, (0.1, 0.8, 0.1)), (EXTENDED, (0.1, 0.9))],
    ids=lambda value: getattr(value, "name", ""),
)
def test_intervals_cover(survey, cells):
    rng, repeats, n, covered = np.random.default_rng(95), 400, 500, []
    truth = true_shares(survey, np.array(cells))[0]
    for _ in range(repeats):
        tally = sum(
            one_sample(survey, name, rng.multinomial(n, survey.channel(name).matrix @ cells)) for name in survey.levels
        )
        low, high = estimate.maximum_likelihood(survey, tally).interval()[0]
        covered.append(low <= truth <= high)
    assert np.mean(covered) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / repeats))


# weights


def test_equal_weights_change_nothing_but_the_kind():
    rng = np.random.default_rng(12)
    said = CHEATING.randomize(rng.choice(CHEATING.cells, 900, p=(0.3, 0.5, 0.2)), rng=rng)
    plain, heavy = CHEATING.tally(said), CHEATING.tally(said, weights=np.full(900, 2.5))
    one, other = estimate.moments(CHEATING, plain), estimate.moments(CHEATING, heavy)
    np.testing.assert_allclose(estimated(other), estimated(one), atol=1e-9)
    np.testing.assert_allclose(errors(other), errors(one), rtol=1e-9)
    assert other.standard_error_kind == "moments, linearized for the weights"
    np.testing.assert_allclose(
        estimate.maximum_likelihood(CHEATING, heavy).interval(),
        estimate.maximum_likelihood(CHEATING, plain).interval(),
        atol=2e-3,
    )


def test_errors_of_weighted_samples_are_those_of_a_simulation():
    rng, cells, fits = np.random.default_rng(77), np.array([0.3, 0.5, 0.2]), {"moments": [], "likelihood": []}
    for _ in range(250):
        sample = np.repeat([1, 2], 600)
        said = CHEATING.randomize(rng.choice(CHEATING.cells, 1_200, p=cells), sample=sample, rng=rng)
        tally = CHEATING.tally(said, weights=rng.gamma(2.0, 1.0, 1_200))
        fits["moments"].append(estimate.moments(CHEATING, tally))
        fits["likelihood"].append(estimate.maximum_likelihood(CHEATING, tally))
    for each in fits.values():
        values = np.array([estimated(fit) for fit in each])
        claimed = np.mean([errors(fit) ** 2 for fit in each], axis=0)
        np.testing.assert_allclose(values.var(axis=0, ddof=1), claimed, rtol=4 * np.sqrt(2 / 250))
    assert fits["likelihood"][0].standard_error_kind == "sandwich, linearized for the weights"


@pytest.mark.parametrize("method", [estimate.moments, estimate.maximum_likelihood])
def test_who_tells_the_truth_among_nobody_is_not_told(method):
    """As many say yes as if nobody carried the trait: the share of truth-tellers is 0/0, and no number of 16 digits."""
    survey = designs.stochastic_lie_detector(p=(0.3, 0.7))
    fit = method(survey, survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[70, 30, 30, 70]))
    value = fit.nuisance["truth-tellers"]
    assert np.isnan(value.value)
    assert np.isnan(value.standard_error)
    (row,) = (line for line in str(fit).splitlines() if line.startswith("truth-tellers"))
    assert row.split()[:3] == ["truth-tellers", "–", "–"]
    assert "note: not determined by these answers: truth-tellers" in str(fit)
