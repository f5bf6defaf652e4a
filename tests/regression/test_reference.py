"""Regressions against peers, and against statsmodels where nothing was randomized."""

import json
import os
from pathlib import Path

import numpy as np
import pandas
import polars as pl
import pytest
from people import asked, people
from statsmodels import api

from naysay import designs, regression

CASES = json.loads((Path(__file__).parents[1] / "reference" / "regressions.json").read_text(encoding="utf-8"))["cases"]
LITERATURE = json.loads(
    (Path(__file__).parents[1] / "reference" / "compliance_literature.json").read_text(encoding="utf-8")
)
PEOPLE = Path(__file__).parents[3] / "shared" / "reference" / "rrfix600.csv"

ELSEWHERE = not PEOPLE.exists() and not os.environ.get("CI")  # in CI the rows must be there
shipped = pytest.mark.skipif(ELSEWHERE, reason="the rows of the reference are not shipped")

DESIGNS = {
    "Warner": lambda p: designs.warner(p=p),
    "UQTknown": lambda p: designs.unrelated_question(p=p[0], prevalence=p[1]),
    "FR": lambda p: designs.forced_response(forced_no=p[0], forced_yes=p[1]),
    "Crosswise": lambda p: designs.crosswise(prevalence=p),
    "SLD": lambda p: designs.stochastic_lie_detector(p=p),
}
NAMES = {"observed": "se_observed", "expected": "se_expected", "outer_product": "se_opg"}


@pytest.fixture(scope="module")
def frame():
    return pl.read_csv(PEOPLE)


def fitted(case, frame):
    sample = "group" if case["design"] == "SLD" else None
    return regression.regress(DESIGNS[case["design"]](case["p"]), case["formula"], frame, sample=sample)


@shipped
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["design"])
def test_what_peers_print(case, frame):
    fit = fitted(case, frame)
    assert fit.log_likelihood == pytest.approx(case["logLik"], abs=1e-6)
    assert fit.coefficients == pytest.approx(case["beta"], abs=1e-4)
    for kind, name in NAMES.items():
        if name in case:
            assert fit.with_standard_errors(kind).standard_errors == pytest.approx(case[name], abs=1e-4)


@shipped
def test_the_lie_detector_tells_its_nuisance_parameter(frame):
    case = CASES[-1]
    fit = fitted(case, frame)
    told = fit.nuisance["truth-tellers"]
    assert told.value == pytest.approx(case["t"], abs=1e-4)
    assert [*fit.standard_errors, told.standard_error] == pytest.approx(case["se"], abs=1e-4)


@pytest.fixture(scope="module")
def direct():
    """A thousand people who answer one of three without chance."""
    rng = np.random.default_rng(5)
    table, truth = people(1_000, [[-0.5, 0.8, 0.3], [0.2, -0.6, 0.5]], rng, categories=("a", "b", "c"))
    return table | {"y": truth, "w": rng.uniform(0.5, 3, 1_000), "o": rng.normal(size=1_000)}


def matrix(table):
    return np.column_stack([np.ones(1_000), table["x"], table["g"] == "m"])


@pytest.mark.parametrize("offset", [None, "o"])
def test_without_randomization_two_categories_are_statsmodels_logit(direct, offset):
    table = direct | {"y": np.where(direct["y"] == "a", "yes", "no")}
    fit = regression.regress(designs.direct(("yes", "no")), "y ~ x + g", table, offset=offset)
    peer = api.Logit(table["y"] == "yes", matrix(table), offset=None if offset is None else table["o"])
    peer = peer.fit(disp=0, tol=1e-12)
    assert fit.coefficients == pytest.approx(peer.params, abs=1e-8)
    assert fit.log_likelihood == pytest.approx(peer.llf, abs=1e-8)
    assert fit.standard_errors == pytest.approx(peer.bse, abs=1e-8)
    assert fit.p_values == pytest.approx(peer.pvalues, abs=1e-8)
    assert fit.interval() == pytest.approx(peer.conf_int(), abs=1e-7)
    assert fit.aic == pytest.approx(peer.aic)
    robust = api.Logit(table["y"] == "yes", matrix(table), offset=None if offset is None else table["o"])
    robust = robust.fit(disp=0, tol=1e-12, cov_type="HC0")
    sandwich = fit.with_standard_errors("sandwich")
    assert sandwich.standard_errors == pytest.approx(robust.bse * np.sqrt(1000 / 999), abs=1e-8)
    if offset is None:
        assert fit.against_constant.statistic == pytest.approx(peer.llr, abs=1e-7)
        assert fit.against_constant.p_value == pytest.approx(peer.llr_pvalue)


def test_named_results_are_those_of_a_formula_of_statsmodels(direct):
    """Every name and its number, so that code written for statsmodels reads this fit; patsy orders terms otherwise."""
    table = pandas.DataFrame(direct | {"y": np.where(direct["y"] == "a", "yes", "no")})
    fit = regression.regress(designs.direct(("yes", "no")), "y ~ x + g", table)
    peer = api.Logit.from_formula("said ~ x + g", table.assign(said=(table["y"] == "yes") * 1)).fit(disp=0, tol=1e-12)
    for name in ("params", "bse", "pvalues"):
        pandas.testing.assert_series_equal(
            getattr(fit, name), getattr(peer, name), rtol=1e-6, check_index_type=False, check_like=True
        )
    pandas.testing.assert_frame_equal(
        fit.conf_int(0.1), peer.conf_int(0.1), rtol=1e-6, check_index_type=False, check_like=True
    )
    assert (fit.aic, fit.bic) == (pytest.approx(peer.aic), pytest.approx(peer.bic))


def test_average_marginal_effects_are_statsmodels(direct):
    table = direct | {"y": np.where(direct["y"] == "a", "yes", "no")}
    fit = regression.regress(designs.direct(("yes", "no")), "y ~ x + g", table)
    peer = api.Logit(table["y"] == "yes", matrix(table)).fit(disp=0, tol=1e-12).get_margeff(dummy=True)
    found = fit.effects()
    assert found.names == ("x", "g: m - f")
    assert found.values[:, 0] == pytest.approx(peer.margeff, abs=1e-7)
    assert found.standard_errors[:, 0] == pytest.approx(peer.margeff_se, abs=1e-7)


def test_without_randomization_more_categories_are_statsmodels_mnlogit(direct):
    fit = regression.regress(designs.direct(("a", "b", "c")), "y ~ x + g", direct, reference="a")
    codes = np.searchsorted(["a", "b", "c"], direct["y"])
    peer = api.MNLogit(codes, matrix(direct)).fit(disp=0, tol=1e-12)
    assert fit.coefficients == pytest.approx(np.asarray(peer.params).T.ravel(), abs=1e-7)
    assert fit.log_likelihood == pytest.approx(peer.llf, abs=1e-8)
    assert fit.standard_errors == pytest.approx(np.asarray(peer.bse).T.ravel(), abs=1e-7)
    shares = fit.predict(direct).probabilities
    assert shares == pytest.approx(peer.predict()[:, [0, 1, 2]], abs=1e-8)
    for kind in ("expected", "observed"):  # alike without randomization, by theory
        assert fit.with_standard_errors(kind).covariance == pytest.approx(fit.covariance, abs=1e-12)


def test_survey_weights_are_those_of_a_weighted_glm(direct):
    table = direct | {"y": np.where(direct["y"] == "a", "yes", "no")}
    fit = regression.regress(designs.direct(("yes", "no")), "y ~ x + g", table, weights="w")
    family = api.families.Binomial()
    peer = api.GLM(table["y"] == "yes", matrix(table), family, freq_weights=table["w"]).fit(tol=1e-12)
    assert fit.coefficients == pytest.approx(peer.params, abs=1e-8)
    score = matrix(table) * (((table["y"] == "yes") - peer.fittedvalues) * table["w"])[:, None]
    bread = np.linalg.inv(
        matrix(table).T @ (matrix(table) * (table["w"] * peer.fittedvalues * (1 - peer.fittedvalues))[:, None])
    )
    n = table["w"].sum() ** 2 / (table["w"] ** 2).sum()
    assert fit.covariance == pytest.approx(bread @ score.T @ score @ bread * n / (n - 1), rel=1e-7)


def test_a_direct_arm_beside_a_randomized_one_is_the_sum_of_both_likelihoods():
    rng = np.random.default_rng(6)
    table, truth = people(3_000, [[-0.5, 0.8, 0.3]], rng)
    survey = designs.samples(direct=designs.direct(("yes", "no")), coins=designs.two_coins())
    said, arm = asked(survey, truth, rng)
    fit = regression.regress(survey, "said ~ x + g", table | {"said": said, "arm": arm}, sample="arm")
    parts = [
        regression.regress(
            design, "said ~ x + g", {k: np.array(v)[arm == name] for k, v in (table | {"said": said}).items()}
        )
        for name, design in survey.parts.items()
    ]
    value, gradient = 0.0, 0.0
    for part in parts:
        found = part.model.evaluate(fit.optimum.theta)
        value, gradient = value + found.value, gradient + found.gradient
    assert fit.log_likelihood == pytest.approx(value)
    assert gradient == pytest.approx(0, abs=1e-4)


ANCHORED = designs.anchored_crosswise(prevalence=0.1, anchor=0.15)


@pytest.fixture(scope="module")
def anchored():
    """The respondents of cmdata2, counted."""
    kinds = [(female, said, anchor) for female in (0, 1) for said in ANSWERS for anchor in ANSWERS]
    by_age = LITERATURE["cmdata2"]["by_age"].items()
    rows = [(int(age), *kind, count) for age, counts in by_age for kind, count in zip(kinds, counts, strict=True)]
    return dict(zip(("age", "female", "said", "anchor", "count"), map(list, zip(*rows, strict=True)), strict=True))


ANSWERS = ("same", "different")


def likelihood(table, theta):
    """Written out: both answers of a person who complies by the crosswise model, two fair coins of any other."""
    age, female, count = (np.array(table[name], dtype=float) for name in ("age", "female", "count"))
    pi, attentive = (1 / (1 + np.exp(-(a + b * female + c * age))) for a, b, c in np.reshape(theta, (2, 3)))
    same = 0.9 * (1 - pi) + 0.1 * pi
    question = np.where(np.array(table["said"]) == "same", same, 1 - same)
    anchor = np.where(np.array(table["anchor"]) == "same", 0.85, 0.15)
    return count @ np.log(attentive * question * anchor + (1 - attentive) / 4)


def test_who_complies_depends_on_covariates_as_in_the_anchored_model(anchored):
    case = LITERATURE["cmdata2"]
    options = {"count": "count", "compliance": "female + age"}
    fit = regression.regress(ANCHORED, "said + anchor ~ female + age", anchored, **options)
    assert fit.coefficients[:3] == pytest.approx(case["beta"], abs=5e-5)
    assert fit.standard_errors[:3] == pytest.approx(case["se"], abs=5e-5)
    assert fit.log_likelihood == pytest.approx(case["logLik"], abs=5e-5)
    assert fit.log_likelihood == pytest.approx(likelihood(anchored, fit.coefficients))
    steps = np.diag([1e-3, 1e-3, 1e-4] * 2)
    second = np.array(
        [
            [
                sum(s * r * likelihood(anchored, fit.coefficients + s * a + r * b) for s in (1, -1) for r in (1, -1))
                / (4 * a.sum() * b.sum())
                for b in steps
            ]
            for a in steps
        ]
    )
    assert fit.covariance == pytest.approx(np.linalg.inv(-second), rel=1e-3)
    same = regression.regress(ANCHORED, "said + anchor ~ female + age", anchored, count="count")
    assert fit.equal_compliance == fit.likelihood_ratio(same)
    assert str(fit.equal_compliance) == "likelihood ratio χ² = 2.94 on 2 df, p = 0.23"


def test_controls_of_a_design_and_an_anchor_are_one_model(anchored):
    """Whoever complies is attentive: the same coefficients, those of who does not with the other sign."""
    question, control = (designs.crosswise(prevalence=p) for p in (0.1, 0.15))
    survey = designs.controlled(question, control=control, truth="no")
    options = {"count": "count", "compliance": "female + age"}
    fits = [regression.regress(each, "said + anchor ~ female", anchored, **options) for each in (ANCHORED, survey)]
    assert fits[1].log_likelihood == pytest.approx(fits[0].log_likelihood)
    assert fits[1].coefficients == pytest.approx(fits[0].coefficients * [1, 1, -1, -1, -1], abs=1e-5)
    assert [label for label, _ in fits[1].names] == ["yes"] * 2 + ["at random"] * 3
