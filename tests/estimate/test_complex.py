"""Estimates from complex samples: as the simple ones where these are, else as theory, replicates and simulation say."""

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.groups import deviations
from naysay.responses import Responses
from naysay.sampling import Sampling

WARNER = designs.warner(p=0.8)
NEGATIVE = designs.negative(("a", "b", "c", "d"), discards=2)
LEVELS = designs.negative_levels(("a", "b", "c", "d"))
CHEATING = designs.cheating_detection(p=(0.25, 0.75))
EXTENDED = designs.extended_crosswise(prevalence=0.2)


def answers(design, n, seed=0):
    """Answers of n people, fewer of each later category."""
    rng = np.random.default_rng(seed)
    size = len(design.cells)
    truth = np.array(design.cells)[rng.choice(size, n, p=np.arange(size, 0, -1) / (size * (size + 1) / 2))]
    if design.offer.assigned_by == "nobody":
        return design.randomize(truth, rng=rng)
    picked = rng.choice(list(design.levels), n)
    role = "level" if design.offer.assigned_by == "respondent" else "sample"
    return design.randomize(truth, **{role: picked}, rng=rng)


CASES = [
    (WARNER, "moments"),
    (WARNER, "maximum_likelihood"),
    (NEGATIVE, "moments"),
    (NEGATIVE, "maximum_likelihood"),
    (LEVELS, "stratified"),
    (LEVELS, "pooled"),
]


@pytest.mark.parametrize(("design", "name"), CASES)
def test_everyone_a_cluster_of_weight_one_is_a_simple_sample(design, name):
    said = answers(design, 400)
    simple, complex_ = (
        estimate.ESTIMATORS[name](design, design.tally(said, **given))
        for given in ({"weights": np.ones(400)}, {"sampling": Sampling(weights=np.ones(400), clusters=np.arange(400))})
    )
    assert complex_.proportions == pytest.approx(simple.proportions, abs=1e-12)
    assert complex_.covariance == pytest.approx(simple.covariance, rel=1e-9, abs=1e-13)
    if design is not LEVELS:
        plain = estimate.ESTIMATORS["moments"](design, design.tally(said))
        again = estimate.moments(design, complex_.tally)
        assert again.covariance == pytest.approx(plain.covariance, rel=1e-9)
        ends = complex_.interval(method="wald"), simple.interval(method="wald")
        assert ends[0] == pytest.approx(ends[1], rel=0.01)


def test_units_do_not_matter_where_each_person_is_one():
    """People without clusters are their own units, whether tallied one by one or by sums of weights."""
    said = answers(NEGATIVE, 300)
    weights = np.random.default_rng(5).uniform(1, 4, 300)
    plain = estimate.moments(NEGATIVE, NEGATIVE.tally(said, weights=weights))
    units = estimate.moments(NEGATIVE, NEGATIVE.tally(said, sampling=Sampling(weights=weights)))
    assert units.covariance == pytest.approx(plain.covariance, rel=1e-9)


@pytest.mark.parametrize("design", [CHEATING, EXTENDED])
@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
def test_several_samples_that_are_strata_are_as_they_were(design, name):
    said = answers(design, 600)
    sample = list(said.level)
    fits = [
        estimate.ESTIMATORS[name](design, design.tally(said, **given))
        for given in ({}, {"sampling": Sampling(strata=sample)})
    ]
    assert fits[1].proportions == pytest.approx(fits[0].proportions, abs=1e-9)
    close = 1e-9 if name == "moments" else 0.15  # the sandwich instead of the information
    assert fits[1].covariance == pytest.approx(fits[0].covariance, rel=close, abs=1e-9)


def test_a_census_keeps_the_variance_of_the_randomization():
    """METHODS, complex samples: with f = 1 what is left is that of a file, whose people are not sampled."""
    said = answers(NEGATIVE, 500)
    census = NEGATIVE.tally(said, sampling=Sampling(fpc=np.full(500, 500)))
    file = estimate.moments(NEGATIVE, NEGATIVE.tally(said), target="file")
    assert estimate.moments(NEGATIVE, census).covariance == pytest.approx(file.covariance, rel=1e-9)
    likely = estimate.maximum_likelihood(NEGATIVE, census)
    file = estimate.maximum_likelihood(NEGATIVE, NEGATIVE.tally(said), target="file")
    assert likely.standard_errors == pytest.approx(file.standard_errors, rel=0.1)
    direct = designs.direct(("yes", "no"))
    known = direct.tally(["yes", "no"] * 50, sampling=Sampling(fpc=np.full(100, 100)))
    assert estimate.moments(direct, known).standard_errors == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
def test_a_census_of_several_samples_keeps_it_too(name):
    said = answers(EXTENDED, 800, seed=3)
    strata = list(said.level)
    infinite, census = (
        estimate.ESTIMATORS[name](EXTENDED, EXTENDED.tally(said, sampling=Sampling(strata=strata, **given)))
        for given in ({}, {"fpc": np.ones(800)})
    )
    share = infinite.proportions[0]
    expected = infinite.standard_errors[0] ** 2 - share * (1 - share) / 800
    assert census.standard_errors[0] ** 2 == pytest.approx(expected, rel=0.02)


def test_direct_answers_equal_a_peer():
    """Mean, standard error, interval, finite population, domains and raking: samplics 0.6.1, run on these 60 people."""
    i = np.arange(60)
    stratum, sex = i // 20, np.where(i * 5 % 3 == 0, "f", "m")
    said = np.where((i * i + 3 * i) % 7 < 3, "yes", "no")
    drawn = {"weights": 10.0 + i * 7 % 11, "strata": stratum, "clusters": i // 5}
    direct = designs.direct(("yes", "no"))

    def fit(**more):
        return estimate.moments(direct, direct.tally(said, sampling=Sampling(**drawn, **more)))

    assert fit().proportions[0] == pytest.approx(0.29189789123196447, rel=1e-12)
    assert fit().standard_errors[0] == pytest.approx(0.030650196216212414, rel=1e-12)
    assert fit().interval(method="wald")[0] == pytest.approx([0.2225623303202891, 0.36123345214363983], rel=1e-9)
    finite = fit(fpc=np.array([0.4, 0.25, 0.1])[stratum])
    assert finite.standard_errors[0] == pytest.approx(0.025893716655926092, rel=1e-12)
    domains = direct.tally(said, sampling=Sampling(**drawn), by=sex)
    shares = {"f": (0.247557003257329, 0.09390591467656809), "m": (0.3148148148148148, 0.06718235265685184)}
    for name, (share, error) in shares.items():
        found = estimate.moments(direct, domains[name])
        assert (found.proportions[0], found.standard_errors[0]) == pytest.approx((share, error), rel=1e-12)
    region = np.where(i % 4 < 2, "e", "w")
    totals = [(sex, {"f": 300, "m": 600}), (region, {"e": 500, "w": 400})]
    raked = Sampling(weights=drawn["weights"], totals=totals).rows(60).weight
    assert raked[:3] == pytest.approx([11.04428319, 19.32857551, 11.49302042], rel=1e-8)


@pytest.mark.parametrize("design", [CHEATING, EXTENDED], ids=["cheating", "extended"])
@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
def test_clusters_may_cross_samples(design, name):
    """Linearized and jackknife agree, also for nuisance parameters; both estimators keep the same randomization."""
    rng = np.random.default_rng(5)
    shares = np.cumsum(rng.dirichlet(np.full(len(design.cells), 3.0), 60), axis=1)[:, None, :-1]
    truth = np.array(design.cells)[(rng.random((60, 20, 1)) > shares).sum(axis=2).ravel()]
    said = design.randomize(truth, sample=rng.choice(list(design.levels), 1_200), rng=rng)
    drawn = {"strata": np.repeat([0, 1, 2], 400), "clusters": np.repeat(np.arange(60), 20)}

    def errors(estimator, **more):
        fit = estimate.ESTIMATORS[estimator](design, design.tally(said, sampling=Sampling(**drawn, **more)))
        return [fit.standard_errors[0], *(value.standard_error for value in fit.nuisance.values())]

    assert errors(name, kind="jackknife") == pytest.approx(errors(name), rel=0.02)
    census = {"fpc": np.ones(1_200)}
    assert errors(name, **census) == pytest.approx(errors("moments", **census), rel=0.02)
    assert max(errors(name, **census)) < max(errors(name))


def clustered(rng, design, *, strata=4, clusters=15, size=12, spread=0.5):
    """A stratified sample of clusters whose shares differ: answers, and the columns of the sample."""
    t, rows = len(design.categories), strata * clusters
    base = rng.dirichlet(np.full(t, 2.0), strata)
    shares = np.array([rng.dirichlet(base[h] * t / spread + 0.2) for h in range(strata) for _ in range(clusters)])
    truth = np.concatenate([rng.choice(t, size, p=own) for own in shares])
    stratum, cluster = np.repeat(np.arange(strata), clusters * size), np.repeat(np.arange(rows), size)
    weights = rng.uniform(1, 3, strata)[stratum] * rng.uniform(0.8, 1.25, rows)[cluster]
    said = design.randomize(np.array(design.categories)[truth], rng=rng)
    return said, {"weights": weights, "strata": stratum, "clusters": cluster}


@pytest.mark.parametrize("design", [WARNER, NEGATIVE])
@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
def test_linearization_the_jackknife_and_the_bootstrap_agree(design, name):
    said, columns = clustered(np.random.default_rng(8), design, clusters=25)
    errors = [
        estimate.ESTIMATORS[name](design, design.tally(said, sampling=Sampling(**columns, **made))).standard_errors
        for made in ({}, {"kind": "jackknife"}, {"kind": "bootstrap", "number": 4_000})
    ]
    assert errors[1] == pytest.approx(errors[0], rel=0.03)
    assert errors[2] == pytest.approx(errors[0], rel=0.05)


def test_clusters_count_and_strata_help():
    said, columns = clustered(np.random.default_rng(2), WARNER, spread=3.0)
    alone = WARNER.tally(said, weights=columns["weights"])
    together = WARNER.tally(said, sampling=Sampling(**columns))
    fits = [estimate.maximum_likelihood(WARNER, tally) for tally in (alone, together)]
    assert fits[1].standard_errors[0] > 1.2 * fits[0].standard_errors[0]
    for method in ("score", "wald", "profile", "agresti_coull"):
        widths = [np.diff(fit.interval(method=method))[0, 0] for fit in fits]
        assert widths[1] > 1.2 * widths[0]


def test_groups_of_one_sample_vary_together():
    """The difference of two groups is that of a single linear estimate over the whole sample."""
    rng = np.random.default_rng(4)
    said, columns = clustered(rng, WARNER, spread=4.0)
    group = rng.choice(["x", "y"], len(columns["weights"]))
    tallies = WARNER.tally(said, sampling=Sampling(**columns), by=group)
    fits = {name: estimate.moments(WARNER, tally) for name, tally in tallies.items()}
    found = estimate.differences(fits)
    moved = deviations(fits["y"]) - deviations(fits["x"])
    assert found.standard_errors[0] == pytest.approx(np.sqrt((moved**2).sum(axis=0)))
    apart = np.sqrt(sum(fit.standard_errors**2 for fit in fits.values()))
    assert (found.standard_errors[0] < apart).all()  # clusters move both groups alike
    assert found.denominator == 56
    assert "on 1 df" in str(found) and found.law == "Rao–Scott F(1, 56)"


def test_results_tell_their_sample():
    said, columns = clustered(np.random.default_rng(6), WARNER)
    fit = estimate.maximum_likelihood(WARNER, WARNER.tally(said, sampling=Sampling(**columns)))
    assert "sample: 60 clusters in 4 strata; 56 df" in str(fit)
    assert "sandwich, linearized for the sample" in str(fit)
    assert fit.to_dict()["sampling"] == "60 clusters in 4 strata"
    assert fit.to_dict()["degrees_of_freedom"] == 56


def levelled(rng, *, tied):
    """Answers of clusters at levels; with `tied` who belongs to "a" chooses the most private one."""
    shares = rng.dirichlet(np.full(4, 2.5), 40)
    truth = np.array(LEVELS.categories)[(rng.random((40, 10, 1)) > np.cumsum(shares, axis=1)[:, None, :-1]).sum(axis=2)]
    level = np.where((truth == "a") & tied, 1, rng.integers(1, 3, 40)[:, None]).ravel()  # a cluster agrees on a level
    said = LEVELS.randomize(truth.ravel(), level=level, rng=rng)
    return said, {"weights": np.repeat(rng.uniform(1, 2, 40), 10), "clusters": np.repeat(np.arange(40), 10)}


def test_the_level_is_tested_under_weights_and_clusters():
    said = answers(LEVELS, 900, seed=7)
    simple = estimate.independence_test(LEVELS, LEVELS.tally(said))
    people = Sampling(weights=np.ones(900), clusters=np.arange(900))
    for same in (LEVELS.tally(said, weights=np.ones(900)), LEVELS.tally(said, sampling=people)):
        found = estimate.independence_test(LEVELS, same)
        assert found.degrees_of_freedom == simple.degrees_of_freedom
        assert found.p_value == pytest.approx(simple.p_value, abs=0.03)
    said, columns = levelled(np.random.default_rng(3), tied=True)
    told = estimate.independence_test(LEVELS, LEVELS.tally(said, sampling=Sampling(**columns)))
    assert told.p_value < 0.01
    assert "Rao–Scott F(" in str(told)
    with pytest.raises(DataError, match="score test only"):
        estimate.independence_test(LEVELS, LEVELS.tally(said, weights=columns["weights"]), reference="bootstrap")


@pytest.mark.slow
def test_the_test_of_levels_keeps_its_size_in_clusters():
    rng = np.random.default_rng(1607)
    rejected = {"clusters": 0, "people": 0}
    for _ in range(400):
        said, columns = levelled(rng, tied=False)
        tallies = LEVELS.tally(said, sampling=Sampling(**columns)), LEVELS.tally(said, weights=columns["weights"])
        for name, tally in zip(rejected, tallies, strict=True):
            rejected[name] += estimate.independence_test(LEVELS, tally).p_value < 0.05
    assert rejected["clusters"] < 400 * (0.05 + 4 * np.sqrt(0.05 * 0.95 / 400))
    assert rejected["people"] > rejected["clusters"]


def drawn_again(rng, design, cell):
    """Another sample from the same population of clusters, of which `cell` holds the shares of strata and weights."""
    base, alike, weight, clusters, size = cell
    t, strata = len(design.categories), len(base)
    shares = np.vstack([rng.dirichlet(own * alike, clusters) for own in base])
    picked = rng.random((len(shares), size, 1)) > np.cumsum(shares, axis=1)[:, None, :-1]
    truth = picked.sum(axis=2).ravel()
    stratum = np.repeat(np.arange(strata), clusters * size)
    cluster = np.repeat(np.arange(strata * clusters), size)
    noise = rng.uniform(0.7, 1.3, strata * clusters)  # clusters that came with another chance, whatever their people
    columns = {"weights": weight[stratum] * noise[cluster], "strata": stratum, "clusters": cluster}
    return design.randomize(np.array(design.categories)[np.minimum(truth, t - 1)], rng=rng), columns


def random_cell(rng, design, *, clusters, size):
    """Shares in three strata, how alike the people of a cluster are, and weights; then the population's shares."""
    base, weight = rng.dirichlet(np.full(len(design.categories), 3.0), 3), rng.uniform(1, 4, 3)
    return (base, rng.uniform(4, 20), weight, clusters, size), weight @ base / weight.sum()


@pytest.mark.slow
@pytest.mark.parametrize("design", [WARNER, NEGATIVE], ids=["warner", "negative"])
def test_linearized_jackknife_and_simulated_variances_agree(design):
    rng = np.random.default_rng(1605)
    cell, population = random_cell(rng, design, clusters=30, size=15)
    listing = design.space.listing()
    alone = (design.tally(Responses(listing[[place]], design.space)) for place in range(len(listing)))
    u = np.array([estimate.moments(design, tally).proportions for tally in alone])
    estimates, linear, jack = [], [], []
    for repeat in range(2_000):
        said, columns = drawn_again(rng, design, cell)
        places = (said.codes[:, None] == listing).all(axis=2).argmax(axis=1)
        estimates.append(np.average(u[places], axis=0, weights=columns["weights"]))
        if repeat >= 300:  # the mean of variances is told to 1 %; the spread of estimates needs them all
            continue
        fit = estimate.moments(design, design.tally(said, sampling=Sampling(**columns)))
        assert fit.proportions == pytest.approx(estimates[-1], abs=1e-9)
        linear.append(np.diagonal(fit.covariance))
        if repeat < 100:
            made = design.tally(said, sampling=Sampling(**columns, kind="jackknife"))
            jack.append(np.diagonal(estimate.moments(design, made).covariance) / linear[-1])
    errors = np.sqrt(np.mean(linear, axis=0))
    assert errors == pytest.approx(np.std(estimates, axis=0), rel=0.05)
    assert np.sqrt(np.mean(jack, axis=0)) == pytest.approx(1, abs=0.05)
    assert np.mean(estimates, axis=0) == pytest.approx(population, abs=4 * errors.max() / 44)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
@pytest.mark.parametrize("design", [WARNER, NEGATIVE], ids=["warner", "negative"])
def test_intervals_of_weighted_stratified_clusters_cover(design, name):
    """On cells drawn at random; without the clusters the same intervals cover far less."""
    rng = np.random.default_rng(1606)
    held = {"score": [], "wald": [], "profile": [], "without clusters": []}
    for _ in range(12):
        cell, population = random_cell(rng, design, clusters=12, size=15)
        for _ in range(25):
            said, columns = drawn_again(rng, design, cell)
            tallies = design.tally(said, sampling=Sampling(**columns)), design.tally(said, weights=columns["weights"])
            fit, naive = (estimate.ESTIMATORS[name](design, tally) for tally in tallies)
            for method, cover in held.items():
                ends = naive.interval() if method == "without clusters" else fit.interval(method=method)
                cover.append(((ends[:, 0] <= population) & (population <= ends[:, 1])).mean())
    covered = {method: float(np.mean(cover)) for method, cover in held.items()}
    for method in ("score", "wald", "profile"):
        assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 300) - 0.01 < covered[method] <= 1, covered
    assert covered["without clusters"] < covered["score"]


@pytest.mark.parametrize("name", ["moments", "maximum_likelihood"])
def test_the_interval_of_a_category_that_nobody_named_does_not_rest_on_rounding(name):
    """A negative survey in which no answer excludes a: its indicator is the same for everyone."""
    design = designs.negative(("a", "b", "c"))
    rng = np.random.default_rng(7)
    for _ in range(5):
        said, weights = rng.choice(["b", "c"], 30), rng.uniform(0.2, 5, 30)
        ends = []
        for unit in (1, 37.5, 1 / 3):
            drawn = Sampling(weights=weights * unit, clusters=np.arange(30) // 3)
            ends.append(estimate.ESTIMATORS[name](design, design.tally(said, sampling=drawn)).interval()[0])
        assert ends[1:] == [pytest.approx(ends[0], abs=1e-9)] * 2
        assert ends[0][0] > 0.1


def test_clusters_in_which_all_answers_are_alike_are_as_many_people_as_clusters():
    design = designs.direct(("yes", "no"))
    ends = []
    for size in (1, 50):
        drawn = Sampling(clusters=np.arange(20 * size) // size)
        ends.append(estimate.moments(design, design.tally(["no"] * 20 * size, sampling=drawn)).interval()[0, 1])
    assert ends[1] == pytest.approx(ends[0])
