"""Joint distributions: theorems, a peer's formula, levels, samples, answers in part."""

import numpy as np
import polars as pl
import pytest
import scipy

from naysay import designs, estimate
from naysay.crosstab import Variable, crosstab
from naysay.crosstab.intervals import correlation, cramers_v, row_share, yules_q
from naysay.errors import DataError
from naysay.sampling import Sampling

YN = ("yes", "no")
WARNER = designs.warner(p=0.8)
CHOICE = designs.negative_levels(("low", "middle", "high"))
RNG = np.random.default_rng(16)


def people(n=1500, seed=3):
    """Plain and randomized answers of the same people, with levels and samples."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    cheated = np.where(rng.random(n) < np.where(sex == "m", 0.4, 0.2), "yes", "no")
    income = rng.choice(["low", "middle", "high"], n, p=[0.5, 0.3, 0.2])
    level = rng.choice([1, 2], n)
    return {
        "sex": sex,
        "true": cheated,
        "cheated": np.asarray(WARNER.randomize(cheated, rng=rng)),
        "income": CHOICE.randomize(income, level=level, rng=rng).texts(),
        "level": level,
        "weight": rng.uniform(1, 3, n),
    }


PEOPLE = people()


def test_plain_variables_make_the_plain_table():
    found = crosstab(PEOPLE, row=Variable("true", "plain"), column="sex")
    counts = pl.DataFrame(PEOPLE).group_by("true", "sex").len().sort("true", "sex")["len"].to_numpy().reshape(2, 2)
    np.testing.assert_allclose(found.proportions, counts / counts.sum(), atol=1e-9)
    (a, b), (c, d) = counts
    ratio = found.associations()[0]
    assert ratio.value == pytest.approx(a * d / (b * c), rel=1e-6)
    known = scipy.stats.contingency.odds_ratio(counts, kind="sample").confidence_interval()
    np.testing.assert_allclose(np.log(ratio.interval), np.log([known.low, known.high]), atol=0.01)
    phi = found.associations()[1].value
    assert phi == pytest.approx(np.corrcoef(np.array(PEOPLE["true"]) == "no", np.array(PEOPLE["sex"]) == "f")[0, 1])
    assert abs(phi) == pytest.approx(scipy.stats.contingency.association(counts, method="cramer"))
    values, _ = found.conditional()
    np.testing.assert_allclose(values, counts / counts.sum(axis=1, keepdims=True), atol=1e-9)


def test_the_tests_of_a_plain_table_are_those_of_scipy():
    data = {"a": RNG.choice(list("abc"), 300), "b": RNG.choice(list("wxyz"), 300)}
    counts = pl.DataFrame(data).group_by("a", "b").len().sort("a", "b")["len"].to_numpy().reshape(3, 4)
    found = crosstab(data, row="a", column="b")
    test = found.independence()
    pearson = scipy.stats.chi2_contingency(counts)
    ratio = scipy.stats.chi2_contingency(counts, lambda_="log-likelihood")
    assert test.pearson == pytest.approx(pearson.statistic)
    assert test.likelihood_ratio == pytest.approx(ratio.statistic, abs=1e-5)
    assert (test.p_value, test.pearson_p_value) == pytest.approx((ratio.pvalue, pearson.pvalue), abs=1e-6)
    assert test.smallest == pytest.approx(pearson.expected_freq.min())
    known = scipy.stats.contingency.association(counts, method="cramer")
    assert found.associations()[-1].value == pytest.approx(known, abs=1e-6)


def test_three_plain_variables_are_tested_layer_by_layer():
    data = {name: RNG.choice(list("ab"), 600) for name in ("x", "y", "z")}
    test = crosstab(data, row="x", column="y", layer="z").independence()
    frame, pearson, ratio = pl.DataFrame(data), 0.0, 0.0
    for (_,), own in frame.group_by("z"):
        counts = own.group_by("x", "y").len().sort("x", "y")["len"].to_numpy().reshape(2, 2)
        pearson += scipy.stats.chi2_contingency(counts, correction=False).statistic
        ratio += scipy.stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
    assert test.degrees_of_freedom == 2
    assert (test.pearson, test.likelihood_ratio) == pytest.approx((pearson, ratio), abs=1e-4)


def test_margins_of_moments_are_the_estimates_of_each_variable():
    found = crosstab(
        PEOPLE,
        row=Variable("cheated", WARNER),
        column=Variable("income", CHOICE, "level"),
        layer="sex",
        estimator="moments",
    )
    alone = estimate.moments(WARNER, WARNER.tally(PEOPLE["cheated"]))
    np.testing.assert_allclose(found.margin(0), alone.proportions)
    choice = CHOICE.tally(PEOPLE["income"], level=PEOPLE["level"])
    np.testing.assert_allclose(found.margin(1), estimate.stratified(CHOICE, choice).proportions)
    np.testing.assert_allclose(found.margin(2), [np.mean(PEOPLE["sex"] == each) for each in ("f", "m")])
    two = np.kron(np.ones((1, 6)), np.eye(1))  # the variance of a margin: the sum of its cells' covariances
    of_yes = np.concatenate([two[0], np.zeros(6)])
    assert of_yes @ found.covariance @ of_yes == pytest.approx(alone.covariance[0, 0], rel=0.01)


def test_maximum_likelihood_is_moments_inside_the_simplex():
    one = crosstab(PEOPLE, row=Variable("cheated", WARNER), column="sex")
    other = crosstab(PEOPLE, row=Variable("cheated", WARNER), column="sex", estimator="moments")
    np.testing.assert_allclose(one.proportions, other.proportions, atol=1e-7)
    np.testing.assert_allclose(one.moments.proportions, other.fit.proportions)
    for mine, its in zip(one.associations(), other.associations(), strict=True):
        assert mine.value == pytest.approx(its.value, rel=1e-5)
        np.testing.assert_allclose(mine.interval, its.interval, rtol=0.15, atol=0.02)
        assert its.method == "delta"


def test_relabeling_and_turning_a_table_change_only_the_labels():
    found = crosstab(PEOPLE, row=Variable("cheated", WARNER), column="sex")
    turned = crosstab(PEOPLE, row=Variable("sex", categories=("m", "f")), column=Variable("cheated", WARNER))
    np.testing.assert_allclose(turned.proportions, found.proportions.T[::-1], atol=1e-7)
    ratio, other = found.associations()[0], turned.associations()[0]
    assert other.value == pytest.approx(1 / ratio.value, rel=1e-5)
    np.testing.assert_allclose(other.interval, (1 / ratio.interval[1], 1 / ratio.interval[0]), rtol=1e-3)
    assert turned.associations()[1].value == pytest.approx(-found.associations()[1].value, abs=1e-6)
    assert turned.independence().likelihood_ratio == pytest.approx(found.independence().likelihood_ratio, abs=1e-4)


def test_the_correlation_is_that_of_the_attenuation_formula():
    """Fox & Tracy (1984), as R's RRreg::RRcor computes it: noise of the design is taken off the variances."""
    x, y = PEOPLE["cheated"] == "yes", PEOPLE["sex"] == "f"
    p, n = 0.8, len(x)
    unbiased = (x - (1 - p)) / (2 * p - 1)  # a linear function of the answer, whose mean is the prevalence
    prevalence = unbiased.mean()
    covariance = (unbiased * y).mean() - prevalence * y.mean()
    known = covariance / np.sqrt(prevalence * (1 - prevalence) * y.mean() * (1 - y.mean()))
    found = crosstab(PEOPLE, row=Variable("cheated", WARNER), column="sex", estimator="moments")
    assert found.associations()[1].value == pytest.approx(known)
    assert n == found.n


def test_moments_are_the_kronecker_product_of_the_inverses():
    other = designs.k_ary(("a", "b", "c"), epsilon=1)
    data = {"x": RNG.choice(YN, 400), "y": RNG.choice(list("abc"), 400)}
    found = crosstab(data, row=Variable("x", WARNER), column=Variable("y", other), estimator="moments")
    shares = np.array([np.mean((data["x"] == i) & (data["y"] == j)) for i in YN for j in "abc"])
    solved = np.kron(np.linalg.inv(WARNER.matrix), np.linalg.inv(other.matrix)) @ shares
    np.testing.assert_allclose(found.proportions.ravel(), solved)


def test_an_answer_to_one_question_only_is_used():
    """A question left out is a row of ones: with plain variables this is the known estimate for monotone missing."""
    data = {
        "x": ["a"] * 60 + ["b"] * 40 + ["a"] * 50,
        "y": ["u"] * 30 + ["v"] * 30 + ["u"] * 10 + ["v"] * 30 + [None] * 50,
    }
    found = crosstab(data, row="x", column="y")
    np.testing.assert_allclose(
        found.proportions, np.array([[110 * 0.5, 110 * 0.5], [40 * 0.25, 40 * 0.75]]) / 150, atol=1e-6
    )
    assert found.partly == 50
    assert found.moments is None
    assert "150 people, 50 of them left out some question" in str(found)
    assert found.independence(replicates=199).p_value < 0.05
    with pytest.raises(DataError, match="only one of two questions have no unbiased indicator"):
        crosstab(data, row="x", column="y", estimator="moments")


def test_levels_of_each_variable_are_used():
    found = crosstab(PEOPLE, row=Variable("income", CHOICE, "level"), column=Variable("cheated", WARNER))
    assert found.fit.method == "pooled maximum likelihood"
    assert len(found.fit.tally.parts) == 2
    np.testing.assert_allclose(found.proportions.sum(), 1)
    said = str(found)
    assert "independence of level and category: score" in said
    assert "takes the chosen levels to be independent" in said


def test_samples_that_tell_cheaters_apart_are_crossed():
    design = designs.cheating_detection(p=(0.25, 0.75))
    rng = np.random.default_rng(4)
    truth, group = rng.choice(design.cells, 3000, p=[0.3, 0.5, 0.2]), rng.choice([1, 2], 3000)
    data = {
        "y": np.asarray(design.randomize(truth, sample=group, rng=rng)),
        "g": group,
        "sex": rng.choice(["f", "m"], 3000),
    }
    found = crosstab(data, row=Variable("y", design, "g"), column="sex")
    alone = estimate.maximum_likelihood(design, design.tally(data["y"], sample=group))
    np.testing.assert_allclose(found.margin(0), alone.proportions, atol=0.01)
    assert found.independence() is None
    assert "no test, because the samples tell finer cells apart" in str(found)
    ratio = found.associations()[0]
    assert ratio.interval[0] < 1 < ratio.interval[1]


def test_layers_are_told_one_by_one():
    found = crosstab(PEOPLE, row=Variable("cheated", WARNER), column=Variable("true", "plain"), layer="sex")
    assert found.layers == (None, "f", "m")
    whole, f, m = (found.sliced(layer) for layer in found.layers)
    np.testing.assert_allclose(whole, f + m)
    assert [each.layer for each in found.associations()] == [None, None, "f", "f", "m", "m"]
    with pytest.raises(DataError, match="there is no layer 'x'"):
        found.conditional("x")


@pytest.mark.parametrize(
    ("measured", "shape"),
    [
        (yules_q, (2, 2)),
        (correlation(np.array([1.0, 2, 4]), np.array([0.0, 1])), (3, 2)),
        (cramers_v, (3, 4)),
        (row_share(1, 1), (3, 3)),
    ],
)
def test_gradients_are_differences(measured, shape):
    table = RNG.dirichlet(np.ones(shape[0] * shape[1])).reshape(shape) * 0.7
    value, gradient = measured(table)
    assert measured(table * 3)[0] == pytest.approx(value, rel=1e-6)
    for place in np.ndindex(shape):
        step = np.zeros(shape)
        step[place] = 1e-6
        slope = (measured(table + step)[0] - measured(table - step)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-4)


def test_an_empty_cell_makes_an_interval_to_one_side():
    data = {"a": ["yes", "yes", "no", "no"], "b": ["yes", "no"] * 2, "n": [70, 50, 100, 190]}
    found = crosstab(data, row=Variable("a", WARNER), column=Variable("b", WARNER), count="n")
    assert found.proportions[0, 1] == 0
    ratio = found.associations()[0]
    assert ratio.value == np.inf == ratio.interval[1]
    assert 4 < ratio.interval[0] < 20
    assert found.to_dict()["associations"][0]["value"] is None


@pytest.mark.parametrize("weights", [{"weights": "one"}, {"sampling": Sampling(weights="one", clusters="own")}])
def test_weights_of_one_change_no_interval_beside_an_empty_cell(weights):
    n = 300
    table = {"r": ["a"] * 180 + ["b"] * 120, "c": ["y"] * 60 + ["n"] * 240, "one": np.ones(n), "own": np.arange(n)}
    simple, weighted = crosstab(table, row="r", column="c"), crosstab(table, row="r", column="c", **weights)
    ends = [[each.interval for each in found.associations()] for found in (simple, weighted)]
    assert ends[1] == pytest.approx(np.array(ends[0]), rel=0.1, abs=0.002)
    assert weighted.conditional()[1] == pytest.approx(simple.conditional()[1], abs=0.003)
    table["c"][3::10] = [None] * 30
    simple, weighted = crosstab(table, row="r", column="c"), crosstab(table, row="r", column="c", **weights)
    assert weighted.conditional()[1] == pytest.approx(simple.conditional()[1], abs=0.006)


def test_numbers_order_categories():
    data = {"a": RNG.choice([1, 2, 10], 200), "b": RNG.choice(list("xyz"), 200)}
    plain = crosstab(data, row="a", column="b")
    assert plain.variables[0].labels == (1, 2, 10)
    assert [each.name for each in plain.associations()] == ["Cramér's V"]
    scored = crosstab(data, row="a", column=Variable("b", scores=(1, 2, 3)))
    known = np.corrcoef(data["a"], [dict(zip("xyz", (1, 2, 3), strict=True))[each] for each in data["b"]])[0, 1]
    assert scored.associations()[0].value == pytest.approx(known, abs=1e-6)


def test_weights_and_clusters_are_rao_scott():
    even = PEOPLE | {"w": np.full(1500, 3.0), "psu": np.repeat(np.arange(150), 10)}
    found = crosstab(even, row=Variable("cheated", WARNER), column="sex", weights="w")
    plain = crosstab(even, row=Variable("cheated", WARNER), column="sex")
    np.testing.assert_allclose(found.proportions, plain.proportions, atol=1e-7)
    test, other = found.independence(), plain.independence()
    assert test.pearson == pytest.approx(other.pearson, rel=1e-6)
    assert test.reference.startswith("F, Rao & Scott")
    assert np.mean(test.design_effects) == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(found.associations()[1].interval, plain.associations()[1].interval, atol=0.01)
    twice = {name: np.repeat(values, 2) for name, values in even.items() if name != "psu"}
    twice |= {"psu": np.repeat(np.arange(1500), 2), "w": np.ones(3000)}
    clustered = crosstab(
        twice, row=Variable("cheated", WARNER), column="sex", sampling=Sampling(weights="w", clusters="psu")
    )
    effects = clustered.independence().design_effects
    assert np.mean(effects) == pytest.approx(2 * np.mean(test.design_effects), rel=0.02)  # everybody counted twice
    assert clustered.independence().p_value == pytest.approx(test.p_value, rel=0.05)


def test_more_cells_than_people_are_told():
    rng = np.random.default_rng(5)
    few = {"a": rng.integers(0, 9, 60).astype(str), "b": rng.integers(0, 9, 60).astype(str)}
    found = crosstab(few, row="a", column="b")
    assert any("81 cells for 60 people" in each for each in found.remarks())


@pytest.mark.parametrize("weights", [None, "weight"])
def test_fifty_people_who_all_say_no_are_no_proof_that_nobody_did_it(weights):
    data = {"sex": ["f", "m"] * 25, "a": ["no"] * 50, "weight": [1.0, 1.0] * 25}
    found = crosstab(data, row="sex", column=Variable("a", WARNER), weights=weights)
    whole = found.to_dict()
    said, warnings = str(found), " ".join(whole["warnings"])
    assert found.proportions[:, 0] == pytest.approx([0, 0], abs=1e-9)
    for _, high in found.interval()[:, 0]:
        assert 0.15 < high < 0.2
    assert whole["intervals"][0][0][1] == found.interval()[0, 0, 1]
    assert "interval outside [0, 1], shown is that of an estimate at the nearest end: f × yes, m × yes" in warnings
    assert "all answers to a are alike" in warnings
    (cell,) = (line.split() for line in said.splitlines() if line.split()[:2] == ["f", "yes"])
    assert cell[3] == "–"  # no standard error at the boundary
    assert float(cell[5]) >= 0.04
    women = estimate.maximum_likelihood(WARNER, WARNER.tally(count=[0, 25])).interval()[0]
    assert found.conditional()[1][:, 0] == pytest.approx(np.array([women] * 2), abs=0.03)


def test_moments_of_answers_that_are_all_alike_show_no_certainty():
    data = {"sex": ["f", "m"] * 25, "a": ["no"] * 50}
    found = crosstab(data, row="sex", column=Variable("a", WARNER), estimator="moments")
    ratio, phi = found.associations()
    assert ratio.interval == (0.0, np.inf)
    assert np.isnan([phi.value, *phi.interval]).all()  # the estimated variance is below zero
    said = str(found)
    assert "nan" not in said
    assert "shown is that of an estimate at the nearest end: f × yes, m × yes" in said
    assert (found.interval()[:, 0, 1] > 0.15).all()


@pytest.mark.parametrize("yes", [0, 1, 5, 10, 25])
def test_a_crosstab_and_an_estimate_of_a_group_have_about_the_same_interval(yes):
    """They were [0, .10] and [0, 0] where all 50 women say no."""
    data = {"sex": ["f", "f", "m", "m"], "a": ["yes", "no"] * 2, "n": [yes, 50 - yes, 30, 20]}
    found = crosstab(data, row="sex", column=Variable("a", WARNER), count="n")
    women = estimate.maximum_likelihood(WARNER, WARNER.tally(count=[yes, 50 - yes])).interval()
    assert found.conditional()[1][0] == pytest.approx(women, abs=0.02)


def test_answers_beyond_the_design_make_no_row_more_certain_than_answers_at_its_end():
    """Of 50 women 1 to 9 say yes, where 10 are expected of women none of whom did it; the profile is searched for."""
    highs = []
    for yes in (1, 5, 9, 10):
        data = {"sex": ["f", "f", "m", "m"], "a": ["yes", "no"] * 2, "n": [yes, 50 - yes, 30, 20]}
        found = crosstab(data, row="sex", column=Variable("a", WARNER), count="n")
        highs.append(found.conditional()[1][0, 0, 1])
    assert highs == pytest.approx([highs[-1]] * 4, abs=2e-3)

    def loss(share):
        return -10 * np.log(0.2 + 0.6 * share) - 40 * np.log(0.8 - 0.6 * share)

    high = scipy.optimize.brentq(lambda share: 2 * (loss(share) - loss(0)) - scipy.stats.chi2.ppf(0.95, 1), 1e-6, 0.9)
    assert highs[-1] == pytest.approx(high, abs=2e-3)
