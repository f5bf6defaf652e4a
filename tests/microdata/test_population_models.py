"""Models of the population: published numbers, second routes, and populations drawn from the models themselves."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata.risk import individual, loglinear, uniques
from naysay.microdata.risk.uniques import Sample

from . import brute
from .tables import columns, names, tables

REFERENCE = Path(__file__).parents[1] / "reference"


def adult(fraction):
    """Class sizes of the complete rows of UCI Adult on nine keys (see the file), as a sample of a population."""
    told = json.loads((REFERENCE / "adult9_sizes.json").read_text("utf-8"))["classes_by_size"]
    sizes = np.repeat([*map(int, told)], [*told.values()])
    return Sample.of(sizes, sizes.sum() / fraction)


def partition(rng, theta, alpha, people, sizes=()):
    """Class sizes after `people` have come one after another; `sizes` are those who are there already."""
    sizes = list(sizes)
    owner = [each for each, size in enumerate(sizes) for _ in range(size)]
    for number in range(len(owner), people):
        if rng.random() * (theta + number) < theta + alpha * len(sizes):
            owner.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            near = owner[int(rng.random() * number)]
            if rng.random() * sizes[near] < sizes[near] - alpha:
                break
        owner.append(near)
        sizes[near] += 1
    return np.array(sizes)


def test_pitman_finds_the_parameters_and_the_share_that_arx_finds():
    found = uniques.pitman(adult(0.1))
    theta, alpha = found.parameters["theta"], found.parameters["alpha"]
    assert (theta, alpha) == pytest.approx((3176.23, 0.717949), rel=2e-6)
    assert found.share == pytest.approx(0.2760333, abs=5e-8)
    limit = scipy.special.gamma(1) * np.exp(scipy.special.gammaln(theta + 1) - scipy.special.gammaln(theta + alpha))
    assert limit * found.sample.population ** (alpha - 1) == pytest.approx(0.2768499388, rel=1e-8)


def test_zayatz_finds_the_share_that_arx_finds_and_draws_by_the_hypergeometric_law():
    found = uniques.zayatz(adult(0.1))
    assert found.share == pytest.approx(0.3207402393, abs=1e-10)
    sample = Sample.of([1, 1, 2, 5, 9], 60)
    assert uniques.one_drawn(sample) == pytest.approx(scipy.stats.hypergeom.pmf(1, 60, sample.sizes, sample.records))
    assert np.isfinite(uniques.zayatz(adult(1e-7)).people)


def test_the_number_of_classes_is_that_of_haas_and_stokes():
    assert uniques.classes(adult(0.1)) == pytest.approx(105_499, abs=0.5)


def test_the_mean_number_of_unique_people_is_exact():
    rng = np.random.default_rng(50)
    unique = [(partition(rng, 50, 0.3, 400) == 1).sum() for _ in range(500)]
    assert uniques.expected_uniques(50, 0.3, 400) == pytest.approx(86.2, abs=0.05)
    assert np.mean(unique) == pytest.approx(86.2, abs=4 * np.std(unique) / np.sqrt(500))


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_mean_and_variance_given_the_file_are_those_of_who_may_still_come(alpha):
    rng = np.random.default_rng(51)
    sizes = np.repeat([1, 2, 3, 6], [14, 5, 3, 3])
    after = np.array([(partition(rng, 20, alpha, 250, sizes) == 1).sum() for _ in range(800)])
    mean, variance = uniques._mean_and_variance(Sample.of(sizes, 250), 20, alpha)
    assert after.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 800))
    assert after.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / 800) + 0.05)


def test_the_interval_holds_for_populations_drawn_from_the_model():
    rng = np.random.default_rng(59)
    held = 0
    for theta, alpha in [(60, 0.3), (150, 0.6)] * 15:
        sizes = partition(rng, theta, alpha, 3_000)
        taken = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))[:450]
        count = np.bincount(taken)
        low, high = uniques.pitman(Sample.of(count[count > 0], 3_000)).interval
        held += low <= (sizes == 1).sum() <= high
    assert held >= 30 - 5  # of 30; if 0.95 hold, fewer than 25 come once in 300 times


def test_derivatives_are_those_of_the_likelihood():
    sample = adult(0.1)
    place, step = np.array([2000.0, 0.6]), np.array([0.5, 1e-5])
    for axis in range(2):
        high, low = (place + side * step * (np.arange(2) == axis) for side in (1, -1))
        rise = uniques._log_likelihood(*high, sample) - uniques._log_likelihood(*low, sample)
        assert uniques._score(*place, sample)[axis] == pytest.approx(rise / (2 * step[axis]), rel=1e-4)
        bend = uniques._score(*high, sample) - uniques._score(*low, sample)
        assert uniques._curvature(*place, sample)[axis] == pytest.approx(bend / (2 * step[axis]), rel=1e-4)


def test_a_file_of_ewens_model_has_an_alpha_near_zero_and_an_answer():
    rng = np.random.default_rng(52)
    found = uniques.pitman(Sample.of(partition(rng, 60, 0.0, 600), 2_000))
    assert 0 <= found.parameters["alpha"] < 0.2
    assert found.interval[0] < 60 < found.interval[1]
    flat = uniques.pitman(Sample.of(np.repeat([1, 2, 4, 30], [10, 11, 12, 20]), 5_000))
    assert flat.parameters["alpha"] == 0
    assert np.isfinite([flat.people, *flat.interval]).all()


def drawn(rng, sizes, fraction):
    held = rng.binomial(sizes, fraction)
    return Sample.of(held[held > 0], held.sum() / fraction)


def test_the_negative_binomial_model_finds_a_population_drawn_from_it():
    rng = np.random.default_rng(53)
    people = 1 + rng.negative_binomial(0.2, 0.15, 20_000)
    runs = [uniques.snb(drawn(rng, people, 0.05), among=20_000).people for _ in range(20)]
    spread = 4 * np.std(runs) / np.sqrt(20)
    assert np.mean(runs) == pytest.approx((people == 1).sum(), abs=spread + 0.02 * people.size)
    told = uniques.snb(drawn(rng, people, 0.05))
    assert "less than 0.1 of the population" in told.reason
    assert uniques.snb(drawn(rng, people, 0.3)).people == pytest.approx((people == 1).sum(), rel=0.1)


@pytest.mark.parametrize("model", [uniques.pitman, uniques.zayatz, uniques.snb])
def test_no_answer_is_told_with_its_reason(model):
    assert "all records are unique" in model(Sample.of([1] * 30, 900)).reason
    assert "all records are alike" in model(Sample.of([30], 900)).reason
    assert "fewer than 10" in model(Sample.of([1] * 30 + [2] * 4 + [3] * 9, 900)).reason
    whole = model(Sample.of([1, 1, 2], 4))
    assert (whole.people, whole.interval, whole.reason) == (2, (2, 2), "")


def test_wrong_sizes_and_populations_are_refused():
    with pytest.raises(DataError, match="whole numbers above zero"):
        Sample.of([0, 1], 10)
    with pytest.raises(DataError, match="at least as large as the sample"):
        Sample.of([1, 2], 2)


BENEDETTI = {
    (1, 0.1): 0.25584278811,
    (2, 0.1): 0.08268413465,
    (3, 0.1): 0.04636842948,
    (3, 0.01): 0.00495322078,
    (3, 0.5): np.log(2) - 0.5,
    (2000, 0.03): 1.50072784e-5,
}
FRANCDAT = {(2, 110): 0.01714426, (2, 84.5): 0.02204233, (1, 17): 0.17707583, (1, 541): 0.01165448}
FRANCDAT |= {(1, 8): 0.29706308, (1, 5): 0.40235948}


def test_individual_risks_are_the_published_ones():
    sizes, shares = np.array([*BENEDETTI]).T
    assert individual.individual_risk(sizes, sizes / shares) == pytest.approx([*BENEDETTI.values()], rel=1e-8)
    assert individual.individual_risk(*np.array([*FRANCDAT]).T) == pytest.approx([*FRANCDAT.values()], abs=5e-9)
    assert individual.individual_risk([4, 4], [4, 3]).tolist() == [0.25, 0.25]


@given(st.integers(1, 90), st.floats(0.004, 0.999))
def test_individual_risk_is_the_mean_of_one_over_the_people(size, share):
    more = np.arange(scipy.stats.nbinom.isf(1e-13, size, share) + 2)
    mean = (scipy.stats.nbinom.pmf(more, size, share) / (size + more)).sum()
    assert individual.individual_risk([size], [size / share])[0] == pytest.approx(mean, rel=1e-6)


def test_a_household_is_at_risk_if_one_of_it_is():
    found = individual.household_risk([0.5, 0.2, 0.1, 1.0, np.nan], ["a", "a", None, "b", "b"])
    assert found.tolist() == pytest.approx([0.6, 0.6, 0.1, 1, 1])
    with pytest.raises(DataError, match="one household for each respondent"):
        individual.household_risk([0.5], ["a", "b"])
    with pytest.raises(DataError, match="from 0 to 1"):
        individual.household_risk([1.5], ["a"])
    with pytest.raises(DataError, match="from 1"):
        individual.individual_risk([0], [3])
    with pytest.raises(DataError, match="above zero"):
        individual.individual_risk([1], [0])


def file_of(count):
    """A table with so many records in each combination of keys."""
    cells = np.repeat(np.stack(np.indices(count.shape), -1).reshape(-1, count.ndim), count.ravel(), axis=0)
    labels = [f"key {place}" for place in range(count.ndim)]
    return microdata.Keys(dict(zip(labels, cells.T, strict=True)), labels)


def independent(rng, shape, records):
    """Counts of a table of independent keys; every value of a key occurs."""
    chances = np.ones(1)
    for size in shape:
        chances = np.multiply.outer(chances, rng.dirichlet(np.full(size, 3.0)))
    return rng.multinomial(records, chances.ravel()).reshape(shape)


def test_proportional_fitting_finds_what_a_poisson_regression_finds():
    regression = pytest.importorskip("statsmodels.api")
    count = independent(np.random.default_rng(54), (4, 3, 2), 300)
    ours = loglinear.fitted_means(count.astype(float), ((0, 1), (1, 2)))
    axes = np.indices(count.shape).reshape(3, -1)
    dummies = [np.ones(count.size)]
    for terms in ((0,), (1,), (2,), (0, 1), (1, 2)):
        for values in np.ndindex(*(count.shape[axis] - 1 for axis in terms)):
            here = zip(terms, values, strict=True)
            dummies.append(np.logical_and.reduce([axes[axis] == value + 1 for axis, value in here]))
    model = regression.GLM(count.ravel(), np.column_stack(dummies).astype(float), regression.families.Poisson())
    assert ours.ravel() == pytest.approx(model.fit(tol=1e-12).mu, rel=1e-6)


def test_tau_is_the_mean_over_populations_drawn_from_the_model():
    rng = np.random.default_rng(55)
    count = independent(rng, (12, 8, 5), 500)
    found = loglinear.loglinear(file_of(count), population=2_500, terms=[])
    mean = loglinear.fitted_means(count.astype(float), ((0,), (1,), (2,)))
    more = rng.poisson(mean[count == 1] * 4, (4_000, (count == 1).sum()))
    unique, correct = (more == 0).sum(axis=1), (1 / (1 + more)).sum(axis=1)
    for runs, value, error in (
        (unique, found.fit.unique, found.fit.error), (correct, found.fit.correct, found.fit.correct_error),
    ):  # fmt: skip
        assert runs.mean() == pytest.approx(value, abs=4 * runs.std() / np.sqrt(4_000))
        assert runs.std() <= error * 1.05  # τ₂ is bounded from above by its values being 0 or 1


def test_the_check_of_fit_is_standard_where_the_model_holds_and_names_the_direction_where_not():
    rng = np.random.default_rng(56)
    mean = np.exp(rng.normal(0, 1, 3_000))
    checks = [loglinear._check_of_fit(rng.poisson(mean), mean, 0.1) for _ in range(400)]
    assert np.mean(checks) == pytest.approx(0, abs=4 / np.sqrt(400))
    assert np.std(checks) == pytest.approx(1, abs=0.15)
    same = rng.integers(0, 12, 3_000)
    table = {"a": same, "b": np.where(rng.random(3_000) < 0.8, same, rng.integers(0, 12, 3_000)), "c": same[::-1] % 7}
    found = loglinear.loglinear(microdata.Keys(table, ["a", "b", "c"]), population=30_000)
    assert found.path[0].check > 5
    assert abs(found.fit.check) < loglinear.FITS
    assert ("a", "b") in found.path[1].terms
    assert found.numbers()["model"] == [list(term) for term in found.fit.terms]


def test_the_log_linear_model_finds_the_uniques_of_an_independent_population():
    rng = np.random.default_rng(57)
    people = independent(rng, (20, 12, 6, 5), 40_000)
    gap, covered = [], 0
    for _ in range(12):
        count = rng.binomial(people, 0.1)
        true = ((count == 1) & (people == 1)).sum()
        found = loglinear.loglinear(file_of(count), population=40_000)
        gap.append(found.fit.unique - true)
        covered += found.interval[0] <= true <= found.interval[1]
    assert np.mean(gap) == pytest.approx(0, abs=4 * np.std(gap) / np.sqrt(12) + 2)
    assert covered >= 9


def test_impossible_combinations_are_left_out_and_wrong_ones_refused():
    count = independent(np.random.default_rng(58), (8, 12), 100)
    count[7, :3] = 0
    keys = file_of(count)
    banned = [{"key 0": 7, "key 1": value} for value in range(3)]
    free, told = (loglinear.loglinear(keys, population=400, terms=[], impossible=each).path[0] for each in ([], banned))
    assert free.unique != told.unique
    with pytest.raises(DataError, match="occur in the file"):
        loglinear.loglinear(keys, population=400, impossible=[{"key 0": 0}])
    with pytest.raises(DataError, match="no value of the key 'key 0'"):
        loglinear.loglinear(keys, population=400, impossible=[{"key 0": 99}])
    with pytest.raises(DataError, match="there is no key"):
        loglinear.loglinear(keys, population=400, terms=[["job"]])


def test_the_log_linear_model_says_why_it_has_no_answer():
    keys = microdata.Keys({"a": [1, 2, 2], "b": [1, 1, 2]}, ["a", "b"])
    assert "fewer than 10" in loglinear.loglinear(keys, population=10).reason
    assert "the file is the population" in loglinear.loglinear(keys, population=3).reason
    many = microdata.Keys({f"k{place}": np.arange(300) for place in range(3)}, ["k0", "k1", "k2"])
    found = loglinear.loglinear(many, population=9_000)
    assert "27,000,000 combinations" in found.reason
    assert np.isnan(found.people)
    assert np.isnan(found.interval).all()


def special(rows, most, measure):
    """Minimal sets by trying every set of every row (brute force)."""
    width = len(rows[0])
    found = []
    for number in range(len(rows)):
        own = []
        for size in range(1, most + 1):
            for places in combinations(range(width), size):
                part = [tuple(each[place] for place in places) for each in rows]
                if measure == "matches":
                    alone = brute.matches(part, "intersect")[number] == 1
                else:
                    alone = part.count(part[number]) == 1 and None not in part[number]
                if alone and not any(set(smaller) <= set(places) for smaller in own):
                    own.append(places)
        found.append(own)
    return found


@given(tables(cells=st.sampled_from([None, 0, 1, 2]), most=7), st.sampled_from(individual.READINGS))
def test_special_uniques_are_those_of_brute_force(rows, measure):
    width = len(rows[0])
    found = individual.suda(microdata.Keys(columns(rows), names(rows)), measure=measure)
    minimal = special(rows, width, measure)
    worth = {size: float(scipy.special.factorial(width - size)) for size in range(1, width + 1)}
    assert found.score.tolist() == [sum(worth[len(each)] for each in own) for own in minimal]
    assert found.sets.sum() == sum(map(len, minimal))
    total = found.score.sum()
    for place, share in enumerate(found.contributions.values()):
        held = sum(worth[len(each)] for own in minimal for each in own if place in each)
        assert np.isnan(share) if not total else share == pytest.approx(held / total)


def test_dis_shares_out_theta_as_sdcmicro_does():
    """sdcMicro 5.8.1 on testdata (urbrur, roof, walls, water, sex): seven sets of 3 keys, five of 4, six pairs."""
    found = individual.scores(np.array([2.0] * 7 + [1.0] * 5), unique=12, pairs=6, keys=5)
    assert found.max() == pytest.approx(0.015003531, abs=5e-10)
    assert found.sum() == pytest.approx(0.139110524, abs=5e-10)
    assert individual.scores(np.zeros(2), unique=2, pairs=1, keys=3).tolist() == [0, 0]


def test_wrong_questions_about_special_uniques_are_refused():
    keys = microdata.Keys({"a": [1, 2], "b": [1, 1]}, ["a", "b"])
    for given_, told in (
        ({"most": 3}, "from 1 to 2"),
        ({"fraction": 1.0}, "between 0 and 1"),
        ({"measure": "k"}, "measure must be one of"),
    ):
        with pytest.raises(DataError, match=told):
            individual.suda(keys, **given_)
    wide = microdata.Keys({f"k{place}": [1, 2] for place in range(40)}, [f"k{place}" for place in range(40)])
    with pytest.raises(DataError, match="too many"):
        individual.suda(wide)
    assert "only 0 pairs" in individual.suda(keys).reason
