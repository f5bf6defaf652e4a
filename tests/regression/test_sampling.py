"""Complex samples: the sandwich takes its covariance and its degrees of freedom from how the sample was drawn."""

import json

import numpy as np
import pytest
import scipy
from people import asked, people

from naysay import designs, regression
from naysay.errors import DataError
from naysay.sampling import Sampling

WARNER = designs.warner(p=0.8)


@pytest.fixture(scope="module")
def table():
    """Twelve hundred people in sixty clusters and three strata, with weights."""
    rng = np.random.default_rng(11)
    found, truth = people(1_200, [[-0.4, 0.6, 0.5]], rng)
    school = np.repeat(np.arange(60), 20)
    columns = {"said": asked(WARNER, truth, rng)[0], "truth": truth, "school": school, "region": school // 20}
    return found | columns | {"w": rng.uniform(1, 4, 1_200), "all": np.ones(1_200)}


def fitted(table, design=WARNER, formula="said ~ x + g", **drawn):
    return regression.regress(design, formula, table, sampling=Sampling(**drawn))


def by_hand(fit, table, weight, groups):
    """The sandwich with totals of clusters, from first principles."""
    score = fit.model.scores(fit.optimum.theta) * weight[:, None]
    totals = np.array([score[table["school"] == each].sum(axis=0) for each in np.unique(table["school"])])
    strata = np.array([groups[table["school"] == each][0] for each in np.unique(table["school"])])
    meat = np.zeros((3, 3))
    for each in np.unique(strata):
        own = totals[strata == each]
        own = own - own.mean(axis=0)
        meat += own.T @ own * len(own) / (len(own) - 1)
    bread = np.linalg.inv(fit.model.evaluate(fit.optimum.theta).information) * fit.data.scale
    return bread @ meat @ bread


def test_strata_and_clusters_are_those_of_the_textbook(table):
    fit = fitted(table, weights="w", strata="region", clusters="school")
    assert fit.covariance == pytest.approx(by_hand(fit, table, table["w"], table["region"]), rel=1e-8)
    assert fit.degrees_of_freedom == 60 - 3 - 3 + 1
    assert fit.standard_error_kind == "sandwich, 60 clusters in 3 strata"
    clustered = fitted(table, clusters="school")
    assert clustered.covariance == pytest.approx(by_hand(clustered, table, table["all"], table["all"]), rel=1e-8)


def test_with_few_clusters_several_coefficients_are_tested_by_fewer_degrees_of_freedom(table):
    """The inverse of a covariance from few clusters is too large: by F(3, 11) .09 of right surveys were rejected."""
    cut = {"cut": np.digitize(table["x"], (-1, 0, 1)), "ten": table["school"] // 5, "three": table["school"] // 20}
    few = fitted(table | cut, formula="said ~ C(cut)", clusters="ten")
    test, beta = few.wald("C(cut)"), few.coefficients[1:]
    statistic = beta @ np.linalg.solve(few.covariance[1:, 1:], beta) * (11 - 3 + 1) / 11
    assert test.p_value == pytest.approx(scipy.stats.f.sf(statistic / 3, 3, 11 - 3))
    assert " on 3 and 8 df, p = " in str(test)
    one = fitted(table | cut, formula="said ~ x", clusters="ten")
    assert one.wald("x").p_value == pytest.approx(one.p_values[1])
    too_few = fitted(table | cut, formula="said ~ C(cut)", clusters="three")
    assert str(too_few.wald("C(cut)")) == "Wald on 3 df, more than the sample's degrees of freedom can test"
    assert json.loads(too_few.to_json())["tests"]["terms"]["C(cut)"]["p_value"] is None
    assert "C(cut)        –   3  –\n" in str(too_few)


def test_few_clusters_are_told(table):
    """Of a covariate that is alike within clusters 0.95 intervals covered .90 among 12 clusters, and .94 among 40."""
    few = fitted(table | {"ten": table["school"] // 5}, clusters="ten")
    assert few.reservations == [
        "only 9 degrees of freedom of the sample; intervals may be too short, most of all those of covariates that are "
        "alike within clusters"
    ]
    assert not fitted(table, clusters="school").reservations


def test_weights_change_estimates_and_clusters_only_their_errors(table):
    plain = regression.regress(WARNER, "said ~ x + g", table)
    clustered = fitted(table, clusters="school")
    weighted = regression.regress(WARNER, "said ~ x + g", table, weights="w")
    both = fitted(table, weights="w", clusters="school")
    assert clustered.coefficients == pytest.approx(plain.coefficients, abs=1e-7)
    assert both.coefficients == pytest.approx(weighted.coefficients, abs=1e-7)
    assert not np.allclose(weighted.coefficients, plain.coefficients)


def test_everybody_alone_is_the_plain_sandwich(table):
    fit = fitted(table | {"one": np.arange(1_200)}, clusters="one")
    plain = regression.regress(WARNER, "said ~ x + g", table, standard_errors="sandwich")
    assert fit.covariance == pytest.approx(plain.covariance, rel=1e-6)


def test_the_jackknife_agrees_with_linearization(table):
    linear = fitted(table, weights="w", strata="region", clusters="school")
    again = fitted(table, weights="w", strata="region", clusters="school", kind="jackknife")
    assert again.standard_errors == pytest.approx(linear.standard_errors, rel=0.05)


def test_a_census_keeps_the_variance_of_its_randomization(table):
    sampled = fitted(table, weights="all")
    census = fitted(table | {"share": np.ones(1_200)}, weights="all", fpc="share")
    assert (census.standard_errors < sampled.standard_errors).all()
    assert (census.standard_errors > 0.5 * sampled.standard_errors).all()
    direct = designs.direct(("yes", "no"))
    told = fitted(table | {"share": np.ones(1_200)}, direct, "truth ~ x + g", weights="all", fpc="share")
    assert told.standard_errors == pytest.approx(0, abs=1e-6)


def spread_over_errors(found, covariances):
    """Mean squared distance of estimates from their mean, in their own covariances: 1, told to 4 √(2/(p runs))."""
    away, (runs, p) = found - np.mean(found, axis=0), np.shape(found)
    return np.einsum("ri,rij,rj->", away, np.linalg.inv(covariances), away) / ((runs - 1) * p)


@pytest.mark.slow
def test_a_census_varies_as_its_standard_errors_say(table):
    """The same people are randomized again and again."""
    rng, found, covariances, runs = np.random.default_rng(12), [], [], 70
    table = table | {"share": np.ones(1_200)}
    for _ in range(runs):
        said, _ = asked(WARNER, table["truth"], rng)
        fit = fitted(table | {"said": said}, weights="all", fpc="share")
        found.append(fit.coefficients)
        covariances.append(fit.covariance)
    assert spread_over_errors(found, covariances) == pytest.approx(1, abs=4 * np.sqrt(2 / (3 * runs)))


def test_people_who_are_left_out_stay_in_the_sample(table):
    said = np.array(table["said"], dtype=object)
    said[table["region"] == 2] = None  # a whole stratum without answers
    fit = fitted(table | {"said": said}, weights="w", strata="region", clusters="school")
    assert fit.n == 800
    assert fit.degrees_of_freedom == 60 - 3 - 3 + 1


def test_a_stratum_with_a_single_cluster_is_named(table):
    alone = np.where(table["school"] == 7, 9, table["region"])
    with pytest.raises(DataError, match=r"stratum .9. has only one cluster, .*lonely=.collapse."):
        _ = fitted(table | {"region": alone}, strata="region", clusters="school").standard_errors
    fit = fitted(table | {"region": alone}, strata="region", clusters="school", lonely="center")
    assert np.isfinite(fit.standard_errors).all()


def test_replicate_weights_of_another_length(table):
    with pytest.raises(DataError, match="replicate weights must be an array with a row for each of the 1200"):
        fitted(table, weights="w", replicates=np.ones((5, 4)), kind="bootstrap")


@pytest.mark.slow
def test_clustered_samples_vary_as_their_standard_errors_say():
    """Schools share an effect, which plain standard errors do not see."""
    rng, found, covariances, plain, runs = np.random.default_rng(13), [], [], [], 100
    school = np.repeat(np.arange(80), 15)
    for run in range(runs):
        level, effect = np.repeat(rng.normal(size=80), 15), np.repeat(rng.normal(scale=0.9, size=80), 15)
        truth = np.where(rng.random(1_200) < 1 / (1 + np.exp(0.3 - 0.5 * level - effect)), "yes", "no")
        table = {"said": asked(designs.warner(p=0.9), truth, rng)[0], "x": level, "school": school}
        fit = fitted(table, designs.warner(p=0.9), "said ~ x", clusters="school")
        found.append(fit.coefficients)
        covariances.append(fit.covariance)
        if run < 10:
            plain.append(
                regression.regress(designs.warner(p=0.9), "said ~ x", table).standard_errors / fit.standard_errors
            )
    assert spread_over_errors(found, covariances) == pytest.approx(1, abs=4 * np.sqrt(2 / (2 * runs)))
    assert (np.mean(plain, axis=0) < 0.8).all()
