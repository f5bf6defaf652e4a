"""Groups side by side: differences, their covariance, and whether all could be alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate import fitting, groups
from naysay.estimate.groups import _wald
from naysay.sampling import Sampling

WARNER = designs.warner(p=0.8)
DIRECT = designs.direct(tuple("abc"))
LIARS = designs.stochastic_lie_detector(p=("2/12", "10/12"))


def warner(method=estimate.moments, **said):
    return {group: method(WARNER, WARNER.tally(count=count)) for group, count in said.items()}


THREE = warner(north=[300, 700], south=[420, 580], west=[380, 620])


def test_differences_are_less_the_reference():
    found = estimate.differences(THREE)
    assert (found.reference, found.groups, found.categories) == ("north", ("south", "west"), ("yes", "no"))
    expected = [THREE[group].proportions - THREE["north"].proportions for group in ("south", "west")]
    np.testing.assert_allclose(found.difference, expected)
    assert found.difference[0, 0] == pytest.approx(0.12 / 0.6)


def test_any_group_can_be_the_reference():
    one, other = estimate.differences(THREE), estimate.differences(THREE, reference="south")
    assert other.groups == ("north", "west")
    np.testing.assert_allclose(other.difference[0], -one.difference[0])
    np.testing.assert_allclose(other.standard_errors[0], one.standard_errors[0])
    assert other.statistic == pytest.approx(one.statistic)


def test_variances_of_independent_groups_add_and_the_reference_is_shared():
    found = estimate.differences(THREE)
    own = {group: fit.covariance for group, fit in THREE.items()}
    np.testing.assert_allclose(found.covariance[:2, :2], own["south"] + own["north"])
    np.testing.assert_allclose(found.covariance[2:, 2:], own["west"] + own["north"])
    np.testing.assert_allclose(found.covariance[:2, 2:], own["north"])
    assert (np.linalg.eigvalsh(found.covariance) > -1e-15).all()


def test_a_contrast_of_two_differences_forgets_the_reference():
    found = estimate.differences(THREE)
    contrast = np.array([1.0, 0, -1, 0])  # south less west
    own = {group: fit.covariance[0, 0] for group, fit in THREE.items()}
    assert contrast @ found.covariance @ contrast == pytest.approx(own["south"] + own["west"])


def test_intervals_are_normal():
    found = estimate.differences(THREE)
    ends = found.interval(0.9)
    assert ends.shape == (2, 2, 2)
    np.testing.assert_allclose(ends.mean(axis=-1), found.difference)
    np.testing.assert_allclose(np.diff(ends)[..., 0], 2 * stats.norm.ppf(0.95) * found.standard_errors)


tables = st.lists(st.lists(st.integers(1, 200), min_size=3, max_size=3), min_size=2, max_size=4)


@given(tables)
def test_the_likelihood_ratio_of_direct_answers_is_that_of_the_table(table):
    fits = {g: estimate.maximum_likelihood(DIRECT, DIRECT.tally(count=row)) for g, row in enumerate(table)}
    found = estimate.differences(fits)
    plenty = np.sum(table, axis=1).min() >= 15
    peer = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood" if plenty else "pearson")
    assert found.test == ("LR" if plenty else "score")
    if not plenty and peer.expected_freq.min() < 0.5:  # rare answers are pooled
        assert found.degrees_of_freedom <= peer.dof
        return
    assert found.statistic == pytest.approx(peer.statistic, abs=1e-5)
    assert found.degrees_of_freedom == peer.dof
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-5)


@given(st.integers(210, 780), st.integers(210, 780))
def test_two_masked_groups_inside_the_simplex_are_as_alike_as_their_answers(first, second):
    found = estimate.differences(
        warner(estimate.maximum_likelihood, a=[first, 1_000 - first], b=[second, 1_000 - second])
    )
    answers = [[first, 1_000 - first], [second, 1_000 - second]]
    peer = stats.chi2_contingency(answers, correction=False, lambda_="log-likelihood")
    assert found.statistic == pytest.approx(peer.statistic, abs=1e-5)
    assert found.degrees_of_freedom == 1


def test_moments_are_compared_by_their_differences_with_the_variance_of_all_groups_together():
    said = {"a": [100, 900], "b": [150, 850]}  # both below what chance alone gives
    found = estimate.differences(warner(**said))
    peer = stats.chi2_contingency([*said.values()], correction=False)
    assert found.test == "score"
    assert found.statistic == pytest.approx(peer.statistic * (2_000 - 1) / 2_000)
    assert found.p_value < 0.01


def test_groups_of_samples_that_differ_in_cheaters_only_are_alike():
    survey = designs.cheating_detection(p=(0.25, 0.75))
    fits = {}
    for group, cheaters in (("a", 0.1), ("b", 0.4)):
        cells = np.array([0.2, 0.8 - cheaters, cheaters])
        yes = np.rint([1_000 * (survey.channel(sample).matrix[0] @ cells) for sample in (1, 2)]).astype(int)
        tally = survey.tally(
            ["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[yes[0], 1_000 - yes[0], yes[1], 1_000 - yes[1]]
        )
        fits[group] = estimate.maximum_likelihood(survey, tally)
    found = estimate.differences(fits)
    assert (found.test, found.degrees_of_freedom) == ("score", 1)
    assert found.p_value > 0.9


def test_groups_at_the_boundary_are_compared_by_the_score():
    found = estimate.differences(warner(estimate.maximum_likelihood, a=[190, 810], b=[150, 850]))
    assert found.difference == pytest.approx(np.zeros((1, 2)), abs=1e-9)
    assert found.test == "score"
    assert found.statistic == pytest.approx((190 - 150) ** 2 / (2_000 * 0.2 * 0.8))  # 0.2 say yes where nobody is
    line = next(line for line in groups.differences_text(found).splitlines() if line.startswith("b"))
    assert line.split() == ["b", "yes", "0.0000", "–", "–", "–"], "standard errors at the boundary are unreliable"
    assert found.standard_errors.all(), "the numbers are there"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "pi", "sizes"),
    [(WARNER, (0, 1), (400, 100)), (designs.negative(tuple("abcd"), discards=2), (0.9, 0.1, 0, 0), (200, 50, 20))],
    ids=["warner", "negative"],
)
def test_the_test_of_alike_groups_keeps_its_level_at_the_boundary(survey, pi, sizes):
    rng, runs = np.random.default_rng(12), 1_000
    chances = survey.matrix @ pi
    rejected = 0
    for _ in range(runs):
        tallies = [survey.tally(survey.responses, count=rng.multinomial(n, chances)) for n in sizes]
        fits = {place: estimate.maximum_likelihood(survey, tally) for place, tally in enumerate(tallies)}
        rejected += estimate.differences(fits).p_value < 0.05
    assert 0.05 - 0.028 < rejected / runs < 0.05 + 0.028  # four standard errors


def test_the_covariance_of_very_many_differences_is_refused_by_its_size():
    fit = estimate.moments(DIRECT, DIRECT.tally(count=[20, 30, 50]))
    found = estimate.differences(dict.fromkeys(range(4_001), fit))
    assert found.standard_errors.shape == (4_000, 3)
    assert found.statistic == pytest.approx(0, abs=1e-6)
    assert found.degrees_of_freedom == 8_000
    with pytest.raises(DataError, match=r"12,000 rows and columns \(1\.2 GB\); use \.covariances"):
        _ = found.covariance


@given(st.integers(0, 2**32 - 1))
def test_wald_by_group_is_the_quadratic_form_of_all_differences(seed):
    rng = np.random.default_rng(seed)
    choice = designs.k_ary(tuple("abcd"), epsilon=2)
    fits = {place: estimate.moments(choice, choice.tally(count=rng.integers(5, 200, 4))) for place in range(4)}
    found = estimate.differences(fits)
    statistic, df = _wald(np.array([fit.proportions for fit in fits.values()]), found.covariances)
    wanted = found.difference.ravel() @ np.linalg.pinv(found.covariance, rcond=1e-10) @ found.difference.ravel()
    assert statistic == pytest.approx(wanted, rel=1e-6)
    assert df == found.degrees_of_freedom == np.linalg.matrix_rank(found.covariance, tol=1e-12)


def test_equal_groups_are_alike():
    found = estimate.differences(warner(estimate.maximum_likelihood, a=[300, 700], b=[300, 700]))
    assert found.statistic == pytest.approx(0, abs=1e-6)
    assert str(found) == "equality of the groups: LR = 0.00 on 1 df, p = 1.000"


def test_groups_of_several_samples_are_compared():
    def fit(first, second):
        counts = [*first, *second]
        return estimate.maximum_likelihood(LIARS, LIARS.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=counts))

    found = estimate.differences({"m": fit((373, 191), (398, 294)), "f": fit((350, 214), (398, 294))})
    assert (found.test, found.degrees_of_freedom, found.law) == ("score", 1, "F(1, 2508)")
    assert found.statistic == pytest.approx((found.difference[0, 0] / found.standard_errors[0, 0]) ** 2, rel=0.01)


# weights, other designs


def weighted(seed, share, survey=WARNER):
    rng = np.random.default_rng(seed)
    said = survey.randomize(rng.choice(["yes", "no"], 400, p=(share, 1 - share)), rng=rng)
    return estimate.maximum_likelihood(survey, survey.tally(said, weights=rng.gamma(2.0, 1.0, 400)))


@given(st.lists(st.integers(1, 99), min_size=2, max_size=4), st.floats(0.1, 10))
def test_equal_weights_change_nothing_in_the_test_of_groups(yes, weight):
    said = {g: ["yes"] * count + ["no"] * (100 - count) for g, count in enumerate(yes)}
    weighted, plain = (
        {g: estimate.maximum_likelihood(WARNER, WARNER.tally(each, weights=w)) for g, each in said.items()}
        for w in (np.full(100, weight), None)
    )
    found = estimate.differences(weighted)
    pooled = estimate.maximum_likelihood(
        WARNER, WARNER.tally([answer for each in said.values() for answer in each])
    ).proportions
    parts = [fit.tally.parts[0] for fit in plain.values()]
    statistic, df = fitting.agreement(fitting.scores(parts, pooled))
    assert (found.test, found.degrees_of_freedom) == ("score", df)
    assert found.statistic == pytest.approx(statistic, rel=1e-3, abs=1e-3)
    assert found.law.startswith("Rao–Scott F(")


def test_weighted_groups_that_differ_are_told_apart():
    found = estimate.differences({"a": weighted(1, 0.2), "b": weighted(2, 0.5)})
    z = (found.difference / found.standard_errors)[0, 0]
    assert (found.test, found.degrees_of_freedom) == ("score", 1)
    assert found.p_value < 1e-4
    assert found.statistic == pytest.approx(z**2, rel=0.1)


def rejections(design, estimator, shares, people, groups, runs, *, weights=False, file=False):
    """How often groups that are alike are called different at .05; with `file`, each group is the same people."""
    rng, rejected = np.random.default_rng(720), 0
    labels, chances = np.array(design.categories), np.array(shares)
    for _ in range(runs):
        fits = {}
        for group in range(groups):
            truth = (
                np.repeat(labels, np.rint(chances * people).astype(int))
                if file
                else rng.choice(labels, people, p=chances)
            )
            options = {"target": "file"} if file else {}
            drawn = rng.lognormal(0, np.sqrt(np.log(2)), len(truth)) if weights else None
            fits[group] = estimator(design, design.tally(design.randomize(truth, rng=rng), weights=drawn), **options)
        rejected += estimate.differences(fits).p_value < 0.05
    return rejected / runs


@pytest.mark.parametrize(
    ("design", "estimator", "shares", "people", "groups", "options"),
    [
        (designs.negative_levels(tuple("abcdefgh")), estimate.stratified, [1 / 8] * 8, 55, 10, {}),
        (designs.negative_levels(tuple("abcd")), estimate.stratified, [0.9, 0.06, 0.03, 0.01], 40, 10, {}),
        (designs.negative(tuple("abcd")), estimate.moments, [0.9, 0.06, 0.03, 0.01], 40, 10, {}),
        (designs.negative(tuple("abcd")), estimate.moments, [0.9, 0.05, 0.025, 0.025], 40, 10, {"file": True}),
        (designs.negative(tuple("abcd")), estimate.maximum_likelihood, [0.4, 0.3, 0.2, 0.1], 60, 5, {"weights": True}),
    ],
)
def test_small_groups_that_are_alike_are_called_different_in_one_survey_of_twenty(
    design, estimator, shares, people, groups, options
):
    runs = 100  # Wald's test, which stood here, rejected .36, .46, .30 and .54 of the first four
    found = rejections(design, estimator, shares, people, groups, runs, **options)
    assert 0.0 <= found < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


def test_weighted_groups_of_several_samples_say_where_their_test_fails():
    rng = np.random.default_rng(1)
    fits = {}
    for group in "ab":
        said, sample = rng.choice(["yes", "no"], 60), np.arange(60) % 2 + 1
        fits[group] = estimate.moments(LIARS, LIARS.tally(said, sample=sample, weights=rng.uniform(1, 3, 60)))
    assert estimate.differences(fits).law.endswith("; rejects too often if weights go with the answers")


def test_groups_under_different_designs_are_compared_by_wald():
    other = designs.crosswise(prevalence=0.25)
    fits = {
        "masked": estimate.moments(WARNER, WARNER.tally(count=[420, 580])),
        "crosswise": estimate.moments(other, other.tally(count=[600, 400])),
    }
    found = estimate.differences(fits)
    assert found.test == "Wald"
    z = found.difference[0, 0] / found.standard_errors[0, 0]
    assert found.statistic == pytest.approx(z**2)
    assert str(found).endswith("; Wald's test finds differences too often in small groups")


SAMPLES = {
    "clusters": {"clusters": np.arange(300) // 10},
    "strata": {"strata": np.arange(300) % 3},
    "a finite population": {"fpc": np.full(300, 3_000)},
    "replicate weights": {"clusters": np.arange(300) // 10, "kind": "jackknife"},
}


@pytest.mark.parametrize("sampling", SAMPLES.values(), ids=[*SAMPLES])
def test_groups_of_complex_samples_that_were_tallied_one_by_one_are_compared_only_if_they_are_independent(sampling):
    rng = np.random.default_rng(5)
    said, group = WARNER.randomize(rng.choice(["yes", "no"], 300), rng=rng), np.arange(300) // 5 % 2
    texts, columns = np.array(said.texts()), {name: value for name, value in sampling.items() if name != "kind"}
    fits = {}
    for place in range(2):
        here = group == place
        own = {name: value[here] for name, value in columns.items()} | {
            name: value for name, value in sampling.items() if name == "kind"
        }
        fits[place] = estimate.moments(WARNER, WARNER.tally(texts[here], sampling=Sampling(**own)))
    with pytest.raises(DataError, match=r"tally groups of one sample together, by design\.tally\(…, by=…\)"):
        estimate.differences(fits)
    apart = estimate.differences(fits, independent=True)
    assert apart.standard_errors[0] == pytest.approx(np.sqrt(sum(fit.standard_errors**2 for fit in fits.values())))
    assert apart.law.startswith("Rao–Scott F(")
    together = WARNER.tally(said, sampling=Sampling(**sampling), by=group)
    assert estimate.differences({name: estimate.moments(WARNER, tally) for name, tally in together.items()}).p_value > 0


def test_likelihood_groups_of_one_clustered_sample_have_p_values_from_0_to_1():
    survey, rng = designs.negative(tuple("abcde")), np.random.default_rng(25)
    found = []
    for _ in range(30):
        cluster = np.repeat(np.arange(12), 6)
        shares = rng.dirichlet(np.full(5, 2.0), 12)
        truth = np.array(list("abcde"))[(rng.random((72, 1)) > shares.cumsum(axis=1)[cluster, :-1]).sum(axis=1)]
        tallies = survey.tally(
            survey.randomize(truth, rng=rng), sampling=Sampling(clusters=cluster), by=rng.integers(0, 2, 72)
        )
        fits = {group: estimate.maximum_likelihood(survey, tally) for group, tally in tallies.items()}
        found.append(estimate.differences(fits).p_value)
    assert stats.kstest(found, "uniform").pvalue > 1e-3, "by differences of estimates that stop at 0, most were near 1"


@pytest.mark.parametrize(
    ("design", "estimator", "shares", "weights", "people", "groups", "before"),
    [
        (
            designs.gaussian_negative(tuple("abcdefg"), sigma=2.2),
            estimate.moments,
            [0.95, *[1 / 120] * 6],
            1.0,
            6,
            5,
            0.3,
        ),
        (designs.k_ary(tuple("abcdefg"), epsilon=1.5), estimate.moments, [0.95, *[1 / 120] * 6], 1.0, 12, 5, 0.32),
    ],
)
def test_about_six_weighted_people_a_group_are_called_different_in_one_survey_of_twenty(
    design, estimator, shares, weights, people, groups, before
):
    runs = 100
    found = rejections(design, estimator, shares, people, groups, runs, weights=weights)
    assert found < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / runs) < before


@pytest.mark.slow
@pytest.mark.parametrize("weights", [False, True])
def test_p_values_are_uniform_where_the_groups_are_alike(weights):
    rng, found = np.random.default_rng(8), []
    for _ in range(400):
        fits = {}
        for group in "abc":
            said = WARNER.randomize(rng.choice(["yes", "no"], 500, p=(0.3, 0.7)), rng=rng)
            drawn = rng.gamma(4.0, 1.0, 500) if weights else None
            fits[group] = estimate.maximum_likelihood(WARNER, WARNER.tally(said, weights=drawn))
        found.append(estimate.differences(fits).p_value)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


# what cannot be compared


def test_a_group_of_one_answer_has_no_test():
    fits = {
        "a": estimate.moments(WARNER, WARNER.tally(["yes"], weights=[1.0])),
        "b": estimate.moments(WARNER, WARNER.tally(["yes", "no"], weights=[1.0, 2.0])),
    }
    found = estimate.differences(fits)
    assert np.isnan(found.standard_errors).all()
    assert np.isnan(found.p_value)
    assert str(found).endswith("no test (the answers are too few to compare, or all alike)")
    equality = groups.differences_dict(found)["equality"]
    assert (equality["p_value"], equality["law"]) == (None, None)


SINGLE = designs.direct(("yes", "no"))
SURE = "no test (the answers are too few to compare, or all alike)"


@pytest.mark.parametrize("weights", [None, [1.0, 2.0] * 20], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("fitted", [estimate.moments, estimate.maximum_likelihood])
def test_groups_whose_answers_are_all_alike_have_no_test_and_it_says_why(fitted, weights):
    found = estimate.differences({g: fitted(SINGLE, SINGLE.tally(["yes"] * 40, weights=weights)) for g in "ab"})
    assert np.isnan(found.p_value)
    assert str(found).endswith(SURE)


@pytest.mark.parametrize("fitted", [estimate.moments, estimate.maximum_likelihood])
def test_groups_of_clusters_whose_answers_are_all_alike_have_no_test_and_it_says_why(fitted):
    survey, place = designs.negative(tuple("abcd")), np.arange(200)
    tallies = survey.tally(["a"] * 200, sampling=Sampling(clusters=place % 8), by=place % 5)
    found = estimate.differences({g: fitted(survey, tally) for g, tally in tallies.items()})
    assert np.isnan(found.p_value)
    assert str(found).endswith(SURE)


def test_groups_of_different_designs_have_no_test_where_one_answer_shows_no_variance():
    fits = {
        "a": estimate.moments(SINGLE, SINGLE.tally(["yes"])),
        "b": estimate.moments(WARNER, WARNER.tally(["no"])),
    }
    assert str(estimate.differences(fits)).endswith("no test (the covariance of some group is not defined)")


@pytest.mark.parametrize(
    ("fits", "options", "message"),
    [
        ({}, {}, "differences need two groups or more; got 0"),
        (warner(a=[3, 7]), {}, "differences need two groups or more; got 1"),
        (warner(a=[3, 7], b=[4, 6]), {"reference": "c"}, "the reference must be one of the groups; got 'c'"),
        (
            warner(a=[3, 7]) | {"b": estimate.moments(DIRECT, DIRECT.tally(count=[1, 2, 3]))},
            {},
            "the groups must be about the same categories",
        ),
    ],
)
def test_groups_that_cannot_be_compared(fits, options, message):
    with pytest.raises(DataError, match=message):
        estimate.differences(fits, **options)


# telling


def test_differences_are_told_as_text():
    text = groups.differences_text(estimate.differences(THREE))
    lines = text.splitlines()
    assert lines[0] == "Differences from north; 0.95 normal intervals"
    assert lines[2].split() == ["group", "category", "less", "north", "s.e.", "low", "high"]
    assert lines[3].split()[:3] == ["south", "yes", "0.200"]
    assert lines[-1] == str(estimate.differences(THREE))
    assert len(lines) == 3 + 4 + 2


def test_the_missing_group_has_a_name_in_text_and_none_in_json():
    said = {None: [300, 700], "south": [420, 580]}
    fits = {group: estimate.moments(WARNER, WARNER.tally(count=count)) for group, count in said.items()}
    assert estimate.differences(fits).reference == "south", "a group with a name comes first"
    found = estimate.differences(fits, reference=None)
    assert "less (missing)" in groups.differences_text(found)
    assert groups.differences_dict(found)["reference"] is None


@pytest.mark.parametrize(("mean", "square", "worth"), [(0.0, 0.0, 10.0), (-1e-17, 1e-34, 10.0), (1.0, 1.0, 0.0)])
def test_a_form_that_does_not_vary_has_no_law(mean, square, worth):
    p_value, law = fitting.second_order(0.0, mean, square, worth)
    assert np.isnan(p_value)
    assert law == "the answers are too few to compare, or all alike"
