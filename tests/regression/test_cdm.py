"""The published cheating-detection regression, RRreg's CDM: cheaters are a constant share of everybody."""

import numpy as np
import pytest
from people import people
from scipy import optimize

from naysay import designs, regression
from naysay.errors import DataError, DesignError
from naysay.regression.result import regression_html

DESIGN = designs.cheating_detection(p=(0.25, 0.75))
SYMMETRIC = designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1))
BETA = (-1.2, 0.6, 0.4)


def survey(seed, design=DESIGN, *, n=3_000, gamma=0.15):
    """People of whom a share γ of everybody cheats: cheaters lack among those without the sensitive category."""
    rng = np.random.default_rng(seed)
    table, truth = people(n, [BETA], rng)
    z = np.column_stack([np.ones(n), table["x"], table["g"] == "m"])
    share = 1 / (1 + np.exp(-z @ BETA))
    cheats = (truth == "no") & (rng.random(n) < gamma / (1 - share))
    cells = np.where(cheats, "cheater", np.where(truth == "yes", "honest yes", "honest no"))
    said = design.randomize(cells.tolist(), rng=rng)
    return table | {"said": said.texts(), "sample": said.level}, z


def published(theta, z, yes, forced):
    """The log-likelihood as published: P(yes) = π + p (1 - π - γ), with the forced yes p of each person's sample."""
    share = 1 / (1 + np.exp(-z @ theta[:-1]))
    chance = share + forced * (1 - share - theta[-1])
    return float(np.log(np.where(yes, chance, 1 - chance)).sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_cdm_is_the_maximum_of_the_published_likelihood(seed):
    table, z = survey(seed)
    fit = regression.regress(DESIGN, "said ~ x + g", table, sample="sample", cheaters="CDM")
    yes, forced = np.array(table["said"]) == "yes", np.where(np.array(table["sample"]) == 1, 0.25, 0.75)
    found = np.append(fit.coefficients, fit.nuisance["cheaters"].value)
    assert fit.log_likelihood == pytest.approx(published(found, z, yes, forced), abs=1e-8)
    peer = optimize.minimize(
        lambda theta: -published(theta, z, yes, forced), [-1, 0, 0, 0.1], bounds=[(-9, 9)] * 3 + [(0, 0.5)]
    )
    assert -peer.fun == pytest.approx(fit.log_likelihood, abs=1e-4)
    assert found == pytest.approx(peer.x, abs=2e-3)
    steps = 1e-4 * np.eye(4)
    hessian = [
        [
            sum(a * b * published(found + a * up + b * right, z, yes, forced) / 4e-8 for a in (1, -1) for b in (1, -1))
            for right in steps
        ]
        for up in steps
    ]
    errors = np.sqrt(np.diagonal(np.linalg.inv(-np.array(hessian))))
    assert fit.standard_errors == pytest.approx(errors[:3], rel=1e-3)
    assert fit.nuisance["cheaters"].standard_error == pytest.approx(errors[3], rel=1e-3)


def test_with_a_constant_alone_both_shares_of_cheaters_are_those_of_the_estimate():
    table, _ = survey(7)
    fits = [regression.regress(DESIGN, "said ~ 1", table, sample="sample", cheaters=name) for name in ("CDM", "within")]
    assert fits[0].coefficients == pytest.approx(fits[1].coefficients, abs=1e-5)
    assert fits[0].nuisance["cheaters"] == pytest.approx(fits[1].nuisance["cheaters"], abs=1e-5)


@pytest.mark.parametrize("design", [DESIGN, SYMMETRIC], ids=["one-sided", "symmetric"])
def test_the_cdm_is_unbiased_and_its_intervals_cover(design):
    errors, covered, runs, gamma = [], [], 30, 0.25
    true = np.append(BETA, gamma)
    for seed in range(runs):
        table, _ = survey(100 + seed, design, n=6_000, gamma=gamma)
        fit = regression.regress(design, "said ~ x + g", table, sample="sample", cheaters="CDM")
        cheaters = fit.nuisance["cheaters"]
        found = np.append(fit.coefficients, cheaters.value)
        error = np.append(fit.standard_errors, cheaters.standard_error)
        errors.append((found - true) / error)
        covered.append(np.abs(found - true) < 1.96 * error)
    assert np.mean(errors, axis=0) == pytest.approx(0, abs=4 / np.sqrt(runs) + 0.1)
    assert np.std(errors, axis=0) == pytest.approx(1, abs=4 / np.sqrt(2 * runs) + 0.05)
    assert np.mean(covered, axis=0) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs))


def test_the_print_says_which_share_of_cheaters_is_meant():
    table, _ = survey(3)
    told = str(regression.regress(DESIGN, "said ~ x", table, sample="sample", cheaters="CDM"))
    assert "assumes: the share of “cheaters” among everybody (CDM) is the same for everyone" in told
    told = str(regression.regress(DESIGN, "said ~ x", table, sample="sample"))
    assert "assumes: “cheaters” within “no” is the same for everyone" in told


def test_people_of_whom_the_cdm_cannot_hold_are_counted():
    rng = np.random.default_rng(2)
    x = rng.normal(0, 2, 6_000)
    truth = np.where(rng.random(6_000) < 1 / (1 + np.exp(-1.5 * x)), "honest yes", "other")
    cells = np.where(truth == "honest yes", truth, np.where(rng.random(6_000) < 0.6, "cheater", "honest no"))
    said = DESIGN.randomize(cells.tolist(), rng=rng)
    table = {"said": said.texts(), "sample": said.level, "x": x}
    fit = regression.regress(DESIGN, "said ~ x", table, sample="sample", cheaters="CDM")
    share, gamma = fit.predict({"x": x}).probabilities[:, 0], fit.nuisance["cheaters"].value
    beyond = (share + gamma > 1).mean()
    assert beyond > 0.1
    assert any(each.startswith(f"for {100 * beyond:.1f}\u00a0% of these people") for each in fit.reservations)


def test_other_designs_and_names_are_refused():
    table, _ = survey(4, n=400)
    with pytest.raises(DesignError, match=r"cheaters='CDM' needs cheating_detection"):
        regression.regress(designs.direct(("yes", "no")), "said ~ x", table, cheaters="CDM")
    with pytest.raises(DataError, match="cheaters must be one of within, CDM; got 'cdm'"):
        regression.regress(DESIGN, "said ~ x", table, sample="sample", cheaters="cdm")
    fit = regression.regress(DESIGN, "said ~ x", table, sample="sample")
    with pytest.raises(DataError, match="with the same cheaters"):
        fit.likelihood_ratio(regression.regress(DESIGN, "said ~ 1", table, sample="sample", cheaters="CDM"))


def test_a_prediction_that_the_cdm_cannot_make_is_told(tmp_path):
    """At x = 4 nearly everybody has the category, and 15 % of everybody cheat: more than all people."""
    fit = regression.regress(DESIGN, "said ~ x + g", survey(2)[0], sample="sample", cheaters="CDM")
    beyond = "at x = 8 the predicted share and that of cheaters sum to more than 1; the CDM cannot hold there"
    told = fit.to_dict(at=[{"x": 8}, {"x": -1}])["warnings"]
    assert beyond in told
    assert beyond in regression_html(fit, at=[{"x": 8}, {"x": -1}])
    assert beyond not in fit.to_dict(at=[{"x": -1}])["warnings"]


def test_the_page_of_a_cdm_tells_where_its_line_cannot_be():
    table, _ = survey(2)
    table["x"][:40] += 6  # these people are far to the right, where the sensitive category is everybody's
    fit = regression.regress(DESIGN, "said ~ x + g", table, sample="sample", cheaters="CDM")
    assert "sum to more than 1; the CDM cannot hold there" in regression_html(fit)
