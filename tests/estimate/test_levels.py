"""Levels that respondents choose: the GVU counts, self-selection, and the test of independence."""

import itertools
import time

import numpy as np
import pytest
import scipy.linalg

from naysay import designs, estimate
from naysay.data import gvu_counts
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError
from naysay.estimate.estimators import compare, difference_errors
from naysay.estimate.likelihood import maximize
from naysay.tally import Part, Tally

GVU = gvu_counts()
QUESTIONS = tuple(GVU)

# Standard deviation of stratified over that of one discard, truth fixed: sqrt(mean_k((t-1-k)/k)/(t-2)), exact.
RATIO = dict(zip(QUESTIONS, (0.539, 0.515, 0.566, 0.495, 0.478), strict=True))
# The same for pooled maximum likelihood, ratios averaged over the categories: truth fixed, and truth redrawn.
POOLED_FIXED = dict(zip(QUESTIONS, (0.199, 0.118, 0.153, 0.209, 0.168), strict=True))
POOLED_REDRAWN = dict(zip(QUESTIONS, (0.244, 0.147, 0.200, 0.241, 0.195), strict=True))


def drawn(choice, truth, chosen, rng):
    """A tally of positions, without the detour over labels."""
    parts = []
    for place, level in enumerate(choice.levels):
        here = chosen == place
        codes = choice.channel(level).draw(truth[here], GeneratorSource(rng))
        count = np.ones(len(codes), dtype=np.int64)
        parts.append(Part.of(choice.channel(level), codes, level=level, count=count))
    return Tally(tuple(parts))


def spread(estimates):
    """Root mean variance over the categories."""
    return np.sqrt(np.var(estimates, axis=0, ddof=1).mean())


def mean_ratio(some, others):
    """Ratio of standard deviations, averaged over the categories."""
    return (np.std(some, axis=0, ddof=1) / np.std(others, axis=0, ddof=1)).mean()


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_chosen_levels_have_the_exact_ratio_of_errors_on_the_gvu_counts(question):
    """Esponda, Huerta & Guerrero (2016), figures 2-6: "above 40 % decrease"; their setting, truth fixed."""
    counts = GVU[question]
    t, runs = len(counts), 250
    choice, single = designs.negative_levels(list(counts)), designs.negative(list(counts))
    truth = np.repeat(np.arange(t), list(counts.values()))
    rng = np.random.default_rng(1997)
    stratified, pooled, one = [], [], []
    for _ in range(runs):
        tally = drawn(choice, truth, rng.integers(t - 1, size=len(truth)), rng)
        stratified.append(estimate.stratified(choice, tally).proportions)
        pooled.append(estimate.pooled(choice, tally).proportions)
        codes = single.draw(truth, GeneratorSource(rng))[:, 0]
        one.append(estimate.moments(single, single.tally(count=np.bincount(codes, minlength=t))).proportions)
    exact = np.sqrt(np.mean([(t - 1 - k) / k for k in range(1, t)]) / (t - 2))
    assert exact == pytest.approx(RATIO[question], abs=5e-4)
    noise = 4 / np.sqrt(runs * (t - 1))
    assert spread(stratified) / spread(one) == pytest.approx(exact, rel=noise)
    assert mean_ratio(stratified, one) == pytest.approx(exact, rel=noise)
    assert mean_ratio(pooled, one) == pytest.approx(POOLED_FIXED[question], rel=noise)
    share = np.array(list(counts.values())) / len(truth)
    assert np.abs(np.mean(stratified, axis=0) - share).max() < 5 * spread(stratified) / np.sqrt(runs)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_pooled_reaches_the_cramer_rao_bound_when_truth_is_redrawn(question):
    counts = np.array(list(GVU[question].values()), dtype=float)
    t, n = len(counts), int(counts.sum())
    pi = counts / n
    choice = designs.negative_levels(list(GVU[question]))
    matrices = [choice.channel(k).matrix for k in choice.levels]
    rows = np.vstack(matrices)
    chances = rows @ pi / len(matrices)
    basis = scipy.linalg.helmert(t).T
    information = sum(m.T @ (m / np.where(m @ pi > 0, m @ pi, 1)[:, None]) for m in matrices) / len(matrices)
    inverse = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
    bound = np.diag(inverse) / n
    u = pi + (rows / np.where(rows @ pi > 0, rows @ pi, 1)[:, None] - 1) @ inverse
    assert (chances @ u**2 - (chances @ u) ** 2) / n == pytest.approx(bound)  # the mean of u has it exactly
    drawn = np.random.default_rng(2016).multinomial(n, chances / chances.sum(), 40)
    fits = [maximize(rows[each > 0], each[each > 0].astype(float), tolerance=1e-4) for each in drawn]
    interior = pi > 5 * np.sqrt(bound)
    assert interior.sum() >= 3
    reached = np.var([fit.proportions for fit in fits], axis=0)[interior].sum()
    assert reached == pytest.approx(np.var(drawn @ u / n, axis=0)[interior].sum(), rel=0.05)
    one_discard = (1 - pi) * (t - 2 + pi) / n
    assert np.sqrt(bound / one_discard).mean() == pytest.approx(POOLED_REDRAWN[question], abs=0.0006)


def test_if_people_with_something_to_hide_hide_more_only_stratified_holds():
    """One category always chooses the most private level."""
    labels, counts, runs = tuple("abcde"), np.array([1_000, 800, 700, 700, 800]), 250
    share = counts / counts.sum()
    choice = designs.negative_levels(labels)
    truth = np.repeat(np.arange(5), counts)
    rng = np.random.default_rng(8)
    apart, together, held, noticed = [], [], [], 0
    for run in range(runs):
        chosen = rng.integers(4, size=len(truth))
        chosen[truth == 4] = 0
        tally = drawn(choice, truth, chosen, rng)
        fit = estimate.stratified(choice, tally, target="file")
        apart.append(fit.proportions)
        together.append(estimate.pooled(choice, tally).proportions)
        bounds = fit.interval()
        held.append((bounds[:, 0] <= share) & (share <= bounds[:, 1]))
        if run < 20:
            noticed += estimate.independence_test(choice, tally).p_value < 0.05
    error = np.std(apart, axis=0) / np.sqrt(runs)
    assert (np.abs(np.mean(apart, axis=0) - share) < 4 * error).all()
    assert np.mean(held, axis=0).min() > 0.935 - 4 * np.sqrt(0.935 * 0.065 / runs)
    off = np.mean(together, axis=0)[4] - share[4]
    assert abs(off) > 10 * np.std(together, axis=0)[4] / np.sqrt(runs)
    assert noticed == 20


def test_the_independence_test_keeps_its_level():
    choice = designs.negative_levels(tuple("abcd"))
    truth = np.repeat(np.arange(4), [400, 300, 200, 100])
    rng = np.random.default_rng(4)
    values = np.array(
        [
            estimate.independence_test(choice, drawn(choice, truth, rng.integers(3, size=1000), rng)).p_value
            for _ in range(200)
        ]
    )
    for alpha in (0.05, 0.2, 0.5):
        assert (values <= alpha).mean() == pytest.approx(alpha, abs=4 * np.sqrt(alpha * (1 - alpha) / 200))


def test_the_difference_carries_the_error_that_repeated_surveys_show():
    choice = designs.negative_levels(tuple("abcd"))
    rng = np.random.default_rng(6)
    differences, errors = [], []
    for _ in range(300):
        truth = rng.choice(4, 1_500, p=[0.4, 0.3, 0.2, 0.1])
        found = compare(estimate.stratified(choice, drawn(choice, truth, rng.integers(3, size=1_500), rng)))
        differences.append(found.difference)
        errors.append(found.standard_errors)
    assert np.mean(errors, axis=0) == pytest.approx(np.std(differences, axis=0), rel=4 / np.sqrt(600))


def test_proportional_equal_and_variance_weights_agree_when_levels_are_chosen_blindly():
    choice = designs.negative_levels(tuple("abcde"))
    rng = np.random.default_rng(3)
    pi = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    found = {weights: [] for weights in ("proportional", "equal", "variance")}
    claimed = {weights: [] for weights in found}
    for _, weights in itertools.product(range(200), found):
        truth = rng.choice(5, 1_000, p=pi)
        fit = estimate.stratified(choice, drawn(choice, truth, rng.integers(4, size=1_000), rng), weights=weights)
        found[weights].append(fit.proportions)
        claimed[weights].append(fit.standard_errors)
    for weights, estimates in found.items():
        assert np.mean(estimates, axis=0) == pytest.approx(pi, abs=5 * spread(estimates) / np.sqrt(200) + 0.002)
        assert np.mean(claimed[weights], axis=0) == pytest.approx(np.std(estimates, axis=0), rel=0.25)
    assert spread(found["variance"]) < 0.7 * spread(found["proportional"])


def test_stratified_is_the_mean_of_the_levels_own_estimates_weighted_by_their_size():
    choice = designs.negative_levels(tuple("abcd"))
    rng = np.random.default_rng(9)
    tally = drawn(choice, rng.choice(4, 500), rng.integers(3, size=500), rng)
    alone = [estimate.moments(part.design, Tally((part,))) for part in tally.parts]
    sizes = np.array([part.n for part in tally.parts])
    by_hand = np.average([fit.proportions for fit in alone], axis=0, weights=sizes)
    assert estimate.stratified(choice, tally).proportions == pytest.approx(by_hand, abs=1e-12)
    equal = estimate.stratified(choice, tally, weights="equal")
    assert equal.proportions == pytest.approx(np.mean([fit.proportions for fit in alone], axis=0), abs=1e-12)
    assert equal.covariance == pytest.approx(sum(fit.covariance for fit in alone) / 9, abs=1e-15)


def test_levels_that_nobody_or_one_person_chose_are_told():
    choice = designs.negative_levels(tuple("abcd"))
    tally = choice.tally(["a", "b", "c", "a;b"], level=[1, 1, 1, 2])
    told = " ".join(map(str, estimate.stratified(choice, tally).warnings))
    assert "nobody chose level 3" in told
    assert "a single answer at level 2" in told
    assert np.isfinite(estimate.stratified(choice, tally).standard_errors).all()


def test_answers_at_one_level_only_leave_nothing_to_test():
    choice = designs.negative_levels(tuple("abc"))
    found = estimate.independence_test(choice, choice.tally(["a", "b", "a"], level=[1, 1, 1]))
    assert np.isnan(found.p_value)
    assert "one level only" in str(found)


def test_every_print_shows_stratified_beside_pooled_with_difference_and_test():
    choice = designs.negative_levels(tuple("abc"))
    rng = np.random.default_rng(1)
    tally = drawn(choice, rng.choice(3, 300), rng.integers(2, size=300), rng)
    for method in (estimate.stratified, estimate.pooled, estimate.moments, estimate.maximum_likelihood):
        text = str(method(choice, tally))
        assert "stratified-pooled" in text
        assert "independence of level and category: score =" in text
        assert "privacy, level 1" in text
        assert "privacy, level 2" in text
        assert "this reveals your answer" in text


def test_level_methods_need_levels_and_known_weights():
    warner = designs.warner(p=0.7)
    with pytest.raises(ValueError, match="offer of levels"):
        estimate.stratified(warner, warner.tally(count=[1, 2]))
    choice = designs.negative_levels(tuple("abc"))
    with pytest.raises(ValueError, match="'proportional', 'equal', 'variance' or 'design'"):
        estimate.stratified(choice, choice.tally(["a"], level=[1]), weights="best")


@pytest.mark.parametrize("weights", ["proportional", "equal", "variance"])
def test_the_difference_has_the_error_of_the_weights_that_were_asked_for(weights):
    choice = designs.negative_levels(tuple("abcd"))
    rng = np.random.default_rng(12)
    differences, errors = [], []
    for _ in range(200):
        truth = rng.choice(4, 1_500, p=[0.4, 0.3, 0.2, 0.1])
        tally = drawn(choice, truth, np.minimum(rng.integers(4, size=1_500), 2), rng)  # uneven levels
        apart, together = estimate.stratified(choice, tally, weights=weights), estimate.pooled(choice, tally)
        differences.append(apart.proportions - together.proportions)
        errors.append(difference_errors(apart, together))
    assert np.mean(errors, axis=0) == pytest.approx(np.std(differences, axis=0), rel=5 / np.sqrt(400))


def test_the_bootstrap_is_refused_where_it_would_be_that_of_another_estimate():
    choice = designs.negative_levels(tuple("abc"))
    tally = choice.tally(["a", "b", "c", "a;b", "b;c"], level=[1, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="proportional weights"):
        estimate.stratified(choice, tally, weights="equal").interval(method="bootstrap")


def test_a_level_of_pure_noise_leaves_pooled_to_be_printed_alone():
    labels = tuple("abc")
    choice = designs.levels({"noise": designs.uniform(labels), "negative": designs.negative(labels)})
    tally = choice.tally(["a", "b", "c", "c", "b"], level=["noise", "noise", "negative", "negative", "negative"])
    fit = estimate.pooled(choice, tally)
    assert fit.comparison is None
    assert "not available" in str(fit)
    assert estimate.independence_test(choice, tally).degrees_of_freedom == 0


def test_large_surveys_with_levels_are_printed_in_seconds():
    labels = [str(i) for i in range(40)]
    choice = designs.negative_levels(labels)
    rng = np.random.default_rng(1)
    tally = drawn(choice, rng.integers(40, size=50_000), rng.integers(39, size=50_000), rng)
    began = time.process_time()  # of this process: other work on the machine does not count
    text = str(estimate.stratified(choice, tally))
    assert time.process_time() - began < 15
    assert "score" in text
    assert "(χ²)" in text


def test_a_share_outside_the_unit_interval_names_pooled_and_its_price():
    choice = designs.negative_levels(tuple("abc"))
    tally = choice.tally(["a", "b", "a", "a", "a;b", "a;b"], level=[1, 1, 1, 1, 2, 2])
    told = [str(warning) for warning in estimate.stratified(choice, tally).warnings]
    assert any(
        text.endswith("pooled stays inside, but is biased if the choice goes with the category") for text in told
    )


@pytest.mark.parametrize(("replicates", "told"), [(199, "stopped early after 20 replicates"), (20, ", 20 replicates")])
def test_a_bootstrap_that_is_settled_says_that_it_stopped(replicates, told):
    choice = designs.negative_levels(tuple("abc"))
    tally = choice.tally(["a", "b", "a", "a", "a;b", "a;b"], level=[1, 1, 1, 1, 2, 2])  # LR = 0: all replicates exceed
    found = estimate.independence_test(choice, tally, reference="bootstrap", replicates=replicates)
    assert found.reference.endswith(told)


def hiding(n, rng):
    """A tally in which members of d, 5 % of all, choose the most private level."""
    choice = designs.negative_levels(tuple("abcd"))
    truth = rng.choice(4, size=n, p=(0.6, 0.3, 0.05, 0.05))
    return choice, drawn(choice, truth, np.where(truth == 3, 0, rng.integers(3, size=n)), rng)


def test_a_bootstrap_at_its_floor_says_so_and_the_default_goes_below():
    choice, tally = hiding(20_000, np.random.default_rng(5))
    floored = estimate.independence_test(choice, tally, reference="bootstrap", replicates=99)
    assert "p ≤ 0.01 (parametric bootstrap, 99 replicates)" in str(floored)
    found = estimate.independence_test(choice, tally)
    assert found.p_value < 1e-6
    assert found.reference == "χ²"
    assert "p < 0.001 (χ²)" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("n", [150, 3_000])
def test_the_independence_test_keeps_its_level_where_shares_are_zero(n):
    choice = designs.negative_levels(tuple("abcde"))
    rng, runs, rejected = np.random.default_rng(21), 600, 0
    for _ in range(runs):
        truth = rng.choice(5, size=n, p=(0.9, 0.06, 0.04, 0, 0))
        found = estimate.independence_test(
            choice, drawn(choice, truth, rng.choice(4, size=n, p=(0.8, 0.1, 0.07, 0.03)), rng)
        )
        rejected += found.p_value < 0.05
    assert found.test == "score"
    assert 0.05 - 0.036 < rejected / runs < 0.05 + 0.036  # four standard errors


def rare_at_the_private_level(seed, n=500, variation=0.0, *, weighted=True, by_category=False):
    """Right surveys in which three of four categories are rare, and eight in ten choose the most private level."""
    choice, rng = designs.negative_levels(tuple("abcd")), np.random.default_rng(seed)
    truth = rng.choice(4, size=n, p=(0.9, 0.06, 0.03, 0.01))
    chosen = np.array(choice.levels)[rng.choice(3, size=n, p=(0.8, 0.1, 0.1))]
    said = choice.randomize(np.array(choice.categories)[truth], level=chosen, rng=rng)
    weights = np.exp(rng.normal(0, np.sqrt(np.log1p(variation**2)), n)) * (np.exp(truth / 2) if by_category else 1)
    return choice, choice.tally(said, weights=weights if weighted else None)


@pytest.mark.parametrize("seed", range(8))
def test_weights_of_one_change_no_test_of_independence(seed):
    weighted, plain = (
        estimate.independence_test(*rare_at_the_private_level(seed, weighted=each)) for each in (True, False)
    )
    assert weighted.degrees_of_freedom == plain.degrees_of_freedom
    assert weighted.statistic == pytest.approx(plain.statistic, rel=1e-9)
    assert weighted.p_value == pytest.approx(plain.p_value, abs=0.01)


@pytest.mark.parametrize(("variation", "by_category"), [(0.0, False), (1.0, False), (1.0, True)])
def test_the_weighted_independence_test_keeps_its_level_where_categories_are_rare(variation, by_category):
    runs = 150  # it rejected .42 to 1.00 of such surveys
    surveys = (rare_at_the_private_level(900 + i, variation=variation, by_category=by_category) for i in range(runs))
    rejected = sum(estimate.independence_test(*each).p_value < 0.05 for each in surveys)
    assert rejected / runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


def test_the_weighted_independence_test_still_finds_hiding():
    choice, rng = designs.negative_levels(tuple("abcd")), np.random.default_rng(12)
    truth = rng.choice(4, size=4_000, p=(0.5, 0.2, 0.1, 0.2))
    chosen = np.where(truth == 3, 1, rng.integers(1, 4, size=4_000))  # members of d all choose the most private level
    said = choice.randomize(np.array(choice.categories)[truth], level=chosen, rng=rng)
    weighted, plain = (
        estimate.independence_test(choice, choice.tally(said, weights=w)) for w in (rng.lognormal(0, 0.5, 4_000), None)
    )
    assert plain.p_value < 1e-6
    assert weighted.p_value < 1e-4


def test_variance_weights_say_which_level_they_leave_out():
    choice = designs.negative_levels(tuple("abc"))
    tally = choice.tally(["a", "b", "c", "a;b", "a;b"], level=[1, 1, 1, 2, 2])
    fit = estimate.stratified(choice, tally, weights="variance")
    assert fit.level_weights == {1: 1.0, 2: 0.0}
    assert any("alike at level 2" in str(warning) for warning in fit.warnings)


@pytest.mark.parametrize("function", [estimate.stratified, estimate.pooled, estimate.independence_test])
def test_levels_need_an_offer_of_them(function):
    warner = designs.warner(p=0.7)
    for what, came in (("warner(p=0.7)", "str"), (warner, "warner")):
        with pytest.raises(DataError, match=f"this needs an offer of levels, such as .*; got {came}"):
            function(what, warner.tally(count=[3, 7]))


@pytest.mark.parametrize("function", [estimate.nstops, estimate.nstops_i, estimate.nstops_ii, estimate.preference_band])
def test_a_design_comes_first(function):
    survey = designs.two_option(tuple("abc"))
    tally = survey.tally(count=[3, 4, 5])
    with pytest.raises(DataError, match="a design is needed first; got Tally"):
        function(tally, survey)
