import csv
import io
import json

import numpy as np
import pytest

from naysay import designs, planning, simulate
from naysay.errors import DataError
from naysay.simulate import Runs, Simulation, replicate
from naysay.simulate.result import MEASURES

COINS = designs.two_coins()


@pytest.fixture(scope="module")
def found():
    return replicate(COINS, (0.15, 0.85), n=200, replicates=400, seed=9)


def test_measures_are_what_their_names_say(found):
    run, truth = found.runs["moments"], np.array([0.15, 0.85])
    summary = found.summary("moments")
    misses = run.proportions - truth
    inside = (run.bounds[..., 0] <= truth) & (truth <= run.bounds[..., 1])
    expected = {
        "bias": misses.mean(axis=0),
        "standard_deviation": run.proportions.std(axis=0, ddof=1),
        "rmse": np.sqrt((misses**2).mean(axis=0)),
        "mean_standard_error": run.standard_errors.mean(axis=0),
        "coverage": inside.mean(axis=0),
        "width": (run.bounds[..., 1] - run.bounds[..., 0]).mean(axis=0),
    }
    assert tuple(expected) == MEASURES
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(summary, name).values, values, atol=1e-12)


def of_values(estimates, errors, truth=0.5):
    """A simulation that found these estimates of a share of one half."""
    made = replicate(COINS, (truth, 1 - truth), n=10, replicates=1, seed=0)
    both = np.column_stack([estimates, 1 - estimates])
    spread = np.column_stack([errors, errors])
    bounds = np.stack([both - 2 * spread, both + 2 * spread], axis=2)
    return Simulation(made.survey, {"moments": Runs(both, spread, bounds, ("wald",))}, len(both), 0.95, 0, 0.0)


def test_monte_carlo_errors_are_the_spread_over_simulations():
    rng = np.random.default_rng(4)
    summaries = []
    for _ in range(600):
        estimates = 0.52 + 0.1 * (rng.exponential(size=200) - 1)  # biased and skewed
        summaries.append(of_values(estimates, 0.05 + 0.01 * rng.random(200)).summary())
    for name in MEASURES:
        values = np.array([getattr(each, name).values[0] for each in summaries])
        errors = np.array([getattr(each, name).errors[0] for each in summaries])
        told = np.sqrt((errors**2).mean())
        assert told == pytest.approx(values.std(ddof=1), rel=0.15), name


def test_power_is_how_often_the_interval_of_the_simulation_leaves_the_null_out(found):
    bounds = found.runs["maximum_likelihood"].bounds[:, 0]
    out = (bounds[:, 0] > 0.05) | (bounds[:, 1] < 0.05)
    assert found.power(0.05) == (out.mean(), pytest.approx(np.sqrt(out.mean() * (1 - out.mean()) / 400)))
    assert found.power(0.95, category="no", estimator="moments")[0] == pytest.approx(
        found.power(0.05, category="yes", estimator="moments")[0]
    )


def test_power_with_the_printed_interval_is_the_planned_power():
    """By Wald's interval 39 people tell .02 from .1 in .45 of surveys; by the printed one they never do."""
    direct = designs.direct(("yes", "no"))
    found = replicate(direct, (0.02, 0.98), n=39, replicates=300, seed=1, interval=None)
    by_wald = replicate(direct, (0.02, 0.98), n=39, replicates=300, seed=1)
    assert found.power(0.1)[0] == pytest.approx(planning.power(direct, (0.02, 0.98), n=39, null=0.1), abs=0.01)
    assert by_wald.power(0.1)[0] > 0.3


def test_undefined_results_are_left_out():
    estimates = np.array([0.4, np.nan, 0.6, 0.5])
    summary = of_values(estimates, np.array([0.1, np.nan, np.nan, 0.1])).summary()
    assert summary.used == 3
    assert summary.bias.values[0] == pytest.approx(0)
    assert summary.mean_standard_error.values[0] == pytest.approx(0.1)
    assert summary.coverage.values[0] == 1


def test_a_single_survey_has_no_spread():
    made = replicate(COINS, (0.5, 0.5), n=10, replicates=1, seed=0)
    assert np.isnan(made.summary().bias.values).all()
    told = made.to_dict()
    assert told["estimators"][0]["bias"] == [None, None]
    assert "–" in str(made)
    assert made.to_csv().splitlines()[1].split(",")[3] == ""


def test_json_and_csv_say_the_same(found):
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == 4
    for row in rows:
        each = next(entry for entry in told["estimators"] if entry["estimator"] == row["estimator"])
        place = told["categories"].index(row["category"])
        for name in MEASURES:
            assert float(row[name]) == each[name][place]
            assert float(row[f"{name}_monte_carlo_error"]) == each[f"{name}_monte_carlo_error"][place]
    assert (told["seed"], told["n"], told["replicates"], told["interrupted"]) == (9, 200, 400, False)
    assert told["preferences"] is None


def test_the_table_can_be_read(found):
    lines = str(found).splitlines()
    assert lines[0] == "two_coins(): 400 surveys, 200 people each; target: the population"
    assert lines[1] == "Population: shares; all do as asked"
    assert lines[2].startswith("Seed 9; ")
    assert max(map(len, lines)) <= 120
    bias = found.summary("moments").bias
    shown = f"{bias.values[0]:.4f} ±{bias.errors[0]:.4f}".replace("±0", "±")
    assert any(shown in line for line in lines)
    assert "<table" in found._repr_html_()
    assert repr(found) == "<400 surveys of 200: maximum_likelihood, moments (seed 9)>"


def test_levels_and_a_file_are_told():
    choice = designs.negative_levels(tuple("abc"))
    tied = simulate.tied(choice, hiding=("c",))
    made = replicate(choice, (0.2, 0.3, 0.5), n=10, replicates=3, preferences=tied, target="file", seed=1)
    assert "Levels chosen: 1: 0.75, 2: 0.25, going with the category" in str(made)
    assert "the same 10 people each time; target: the file" in str(made)
    assert made.to_dict()["preferences"] == tied.tolist()


def test_an_estimator_that_was_not_simulated(found):
    with pytest.raises(DataError, match="was not simulated; did you mean 'moments'"):
        found.summary("moment")
