"""Bias and coverage of coefficients, with parameters drawn at random for each design and mix of levels."""

import numpy as np
import pytest
from people import asked, people

from naysay import designs, regression
from naysay.errors import NotEstimable
from naysay.regression.likelihood import within

MIX = designs.levels(
    {"low": designs.warner(p=0.75), "high": designs.warner(p=0.9), "open": designs.direct(("yes", "no"))}
)
ARMS = designs.samples(direct=designs.direct(("yes", "no")), crosswise=designs.crosswise(prevalence=0.2))

SURVEYS = {
    "warner": (designs.warner(p=0.85), 3_000),
    "forced response": (designs.forced_response(forced_yes=0.1, forced_no=0.1), 2_000),
    "levels": (MIX, 2_400),
    "arms": (ARMS, 3_000),
    "negative": (designs.negative(("a", "b", "c")), 6_000),
    "negative levels": (designs.negative_levels(("a", "b", "c", "d")), 6_000),
    "lie detector": (designs.stochastic_lie_detector(p=(0.1, 0.9)), 6_000),
    "cheating": (designs.cheating_detection(p=(0.2, 0.8)), 6_000),
}
RUNS = 75
"""Of so many people, a bias of 0.36 of the standard error of half of them is told; 150 surveys of half as many people
told 0.43. All coefficients together tell standard errors that are a fifth too small, as 150 surveys did of each."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVEYS)
def test_coefficients_are_unbiased_and_covered(name):
    design, n = SURVEYS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    t, inside = len(design.categories), within(design)
    role = {"respondent": "level", "researcher": "sample", "nobody": None}[design.offer.assigned_by]
    errors, squares, covered = [], [], []
    for _ in range(RUNS):
        beta, nu = rng.uniform(-0.8, 0.8, (t - 1, 3)), rng.uniform(0.5, 0.9, len(inside.parameters))
        table, truth = people(n, beta, rng, categories=design.categories)
        chances = inside.chances(nu).cumsum(axis=0)
        places = np.array([design.categories.index(each) for each in truth.tolist()])
        cells = (rng.random(n) > chances[:, places]).sum(axis=0)
        said, part = asked(design, np.array(design.cells, dtype=object)[cells].tolist(), rng)
        table |= {"said": said} | ({} if role is None else {role: part})
        try:
            fit = regression.regress(design, "said ~ x + g", table, **({} if role is None else {role: role}))
        except NotEstimable:  # a share of 0 in the sample: told, not estimated
            continue
        away = fit.coefficients - beta.ravel()
        errors.append(away / fit.standard_errors)
        squares.append(away @ np.linalg.solve(fit.covariance, away) / len(away))
        ends = fit.interval()
        covered.append((ends[:, 0] < beta.ravel()) & (beta.ravel() < ends[:, 1]))
    runs = len(errors)
    assert runs >= 0.97 * RUNS
    assert np.mean(covered, axis=0) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs))
    assert np.mean(covered) == pytest.approx(0.95, abs=4 * np.std(np.mean(covered, axis=1)) / np.sqrt(runs))
    assert np.mean(errors, axis=0) == pytest.approx(0, abs=4 / np.sqrt(runs) + 0.05)  # 0.05: bias of order 1/n
    assert np.std(errors, axis=0) == pytest.approx(1, abs=4 / np.sqrt(2 * runs) + 0.025)
    assert np.mean(squares) == pytest.approx(1, abs=4 * np.sqrt(2 / (beta.size * runs)) + 0.05)


@pytest.mark.slow
def test_who_complies_is_unbiased_and_covered_and_its_test_keeps_its_size():
    design, rng, n = (
        designs.controlled(designs.crosswise(prevalence=0.15), truth="no"),
        np.random.default_rng(30),
        4_000,
    )
    runs, errors, squares, covered, equal = 60, [], [], [], []
    for run in range(runs):
        gamma = np.array([rng.uniform(-1.6, -0.6), rng.uniform(-0.6, 0.6) * (run % 3 == 0)])  # mostly the same ρ
        theta = np.concatenate([rng.uniform(-0.8, 0.8, 3), gamma])
        table, truth = people(n, theta[:3], rng)
        away = rng.random(n) < 1 / (1 + np.exp(-gamma[0] - gamma[1] * table["x"]))
        said, _ = asked(design, np.where(away, "at random", np.char.add("complies, ", truth)), rng)
        table |= dict(zip(("said", "check"), said, strict=True))
        fit = regression.regress(design, "said + check ~ x + g", table, compliance="x")
        ends = fit.interval()
        away = fit.coefficients - theta
        errors.append(away / fit.standard_errors)
        squares.append(away @ np.linalg.solve(fit.covariance, away) / len(away))
        covered.append((ends[:, 0] < theta) & (theta < ends[:, 1]))
        equal += [fit.equal_compliance] if run % 3 else []
    assert np.mean(covered, axis=0) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs))
    assert np.mean(errors, axis=0) == pytest.approx(0, abs=4 / np.sqrt(runs) + 0.05)
    assert np.mean(squares) == pytest.approx(1, abs=4 * np.sqrt(2 / (len(theta) * runs)) + 0.05)
    assert np.mean([test.statistic for test in equal]) == pytest.approx(1, abs=4 * np.sqrt(2 / len(equal)))  # χ², 1 df
    assert np.mean([test.p_value < 0.1 for test in equal]) == pytest.approx(
        0.1, abs=4 * np.sqrt(0.1 * 0.9 / len(equal))
    )


@pytest.mark.slow
def test_a_transposed_design_would_be_noticed():
    rng, away = np.random.default_rng(1), []
    right, wrong = (
        designs.forced_response(forced_yes=0.3, forced_no=0),
        designs.forced_response(forced_yes=0, forced_no=0.3),
    )
    for _ in range(20):
        table, truth = people(2_000, [[0.2, 0.5, 0.3]], rng)
        table["said"] = asked(right, truth, rng)[0]
        fit = regression.regress(wrong, "said ~ x + g", table, penalty=1)
        away.append((fit.coefficients[0] - 0.2) / fit.standard_errors[0])
    assert abs(np.mean(away)) > 3


@pytest.mark.slow
def test_tests_have_their_size():
    """Of a variable without effect: Wald and likelihood ratio reject one in twenty times."""
    rng, design = np.random.default_rng(2), designs.warner(p=0.8)
    wald, ratio, runs = [], [], 120
    for _ in range(runs):
        table, truth = people(800, [[0.2, 0.6, 0]], rng)
        table["said"] = asked(design, truth, rng)[0]
        fit, smaller = (regression.regress(design, f"said ~ {right}", table) for right in ("x + g", "x"))
        wald.append(fit.wald("g"))
        ratio.append(fit.likelihood_ratio(smaller))
    for tests in (wald, ratio):
        rejected = np.mean([test.p_value < 0.05 for test in tests])
        assert rejected == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / runs))
        # χ² on 1 df; a statistic that is twice too large fails in 97 of 100 times
        assert np.mean([test.statistic for test in tests]) == pytest.approx(1, abs=4 * np.sqrt(2 / runs))
