"""The reproductions themselves, against numbers that were published or derived elsewhere; all seeds are fixed."""

import numpy as np
import pytest

from reproductions import Measured, reproduce
from reproductions.esponda2006 import partial
from reproductions.esponda2016 import QUESTIONS

pytestmark = pytest.mark.slow

# Fewer surveys than the command takes; the tolerances follow, as they are made of the Monte Carlo errors.
RUNS = {"esponda2016": 40, "bao2013": 100, "esponda2006": 300, "two_coins": 500, "errata": 200, "file": 30, "mulder": 2}


@pytest.fixture(scope="module")
def reproduced():
    """Each reproduction, once."""
    kept = {}

    def run(name):
        if name not in kept:
            kept[name] = reproduce(name, runs=RUNS[name])
        return kept[name]

    return run


def column(table, name):
    """The numbers of a column, and their Monte Carlo errors."""
    place = table.columns.index(name)
    cells = [row[place] for row in table.rows]
    pairs = [cell if isinstance(cell, Measured) else (cell, 0.0) for cell in cells]
    return tuple(np.array(each, dtype=float) for each in zip(*pairs, strict=True))


def check(found, what):
    return next(each for each in found.checks if each.what == what)


@pytest.mark.parametrize("name", RUNS)
def test_all_of_it_agrees(reproduced, name):
    found = reproduced(name)
    assert [each.what for each in found.checks if not each.agrees] == []
    assert len(found.checks) > 5


@pytest.mark.parametrize("name", RUNS)
def test_all_pictures_are_drawn_for_wide_and_narrow_pages(reproduced, name):
    for picture in reproduced(name).pictures:
        for size in (340, 760):
            svg = picture.draw(size)
            assert svg.startswith("<svg")
            assert "nan" not in svg.lower().replace("nance", "")


def test_the_ratios_of_the_paper_are_those_of_the_formula():
    ratios = [question.exact_ratio for question in QUESTIONS]
    np.testing.assert_allclose(ratios, (0.539, 0.515, 0.566, 0.495, 0.478), atol=5e-4)
    np.testing.assert_allclose([each.planned("stratified", "file") for each in QUESTIONS], ratios, rtol=1e-9)


@pytest.mark.parametrize(
    ("target", "bounds"),
    [("file", (0.199, 0.118, 0.153, 0.209, 0.168)), ("population", (0.244, 0.147, 0.200, 0.241, 0.195))],
)
def test_pooled_is_at_the_bound(reproduced, target, bounds):
    np.testing.assert_allclose([each.planned("pooled", target) for each in QUESTIONS], bounds, atol=6e-4)
    values, errors = column(reproduced("esponda2016").table(f"ratios_{target}"), "pooled")
    assert (np.abs(values - bounds) < 4 * errors + 6e-4).all()
    assert (errors < 0.2 * values).all()


def test_weights_lie_between_proportional_and_pooled(reproduced):
    for target in ("file", "population"):
        table = reproduced("esponda2016").table(f"ratios_{target}")
        proportional, variance, pooled = (column(table, name)[0] for name in ("proportional", "variance", "pooled"))
        assert (variance < proportional).all()
        assert pooled.mean() < variance.mean()


def test_only_proportional_weights_find_those_who_hide(reproduced):
    table = reproduced("esponda2016").table("self_selected")
    truth = column(table, "truth, %")[0]
    bias, errors = column(table, "proportional")
    assert (np.abs(bias) < 4 * errors).all()
    for name in ("variance", "pooled"):
        bias, errors = column(table, name)
        assert (bias < -4 * errors).all()
        assert (bias < -0.8 * truth).all()


def test_figure_7_is_one_survey(reproduced):
    table = reproduced("esponda2016").table("figure7")
    for name in ("truth", "one discard", "chosen", "pooled"):
        assert column(table, name)[0].sum() == pytest.approx(100, abs=1e-3)


def test_nstops_on_the_surveys_of_figure_2(reproduced):
    rows = {row[0] + str(place): row[1:6] for place, row in enumerate(reproduced("bao2013").table("figure2").rows)}
    np.testing.assert_allclose(rows["NStoPS-I2"], (8, 12, 20, 28, 32), atol=0.005)
    np.testing.assert_allclose(rows["NStoPS5"], (92, 68, 36, -16, -80))
    np.testing.assert_allclose(rows["NStoPS-II7"], (80, 20, 0, 0, 0), atol=1e-9)
    np.testing.assert_allclose(rows["NStoPS-I6"], (80, 20, 0, 0, 0), atol=0.005)


def test_reconstructions_keep_the_number_of_people(reproduced):
    found = reproduced("bao2013")
    for name, people in {"uniform": 500, "normal": 500, "exponential": 500, "log_normal": 500, "figure5": 100}.items():
        for row in found.table(name).rows:
            assert sum(row[1:]) == pytest.approx(people, abs=1e-4)
            assert row[0] == "NStoPS" or min(row[1:]) > -1e-9


def test_counts_below_zero_cost_precision(reproduced):
    table = reproduced("bao2013").table("errors")
    (plain, _), (ours, errors) = column(table, "NStoPS, people"), column(table, "I and II, people")
    often = column(table, "NStoPS below zero")[0] > 0.5
    assert often.sum() == 4
    assert (ours[often] + 4 * errors[often] < plain[often]).all()


def test_information_in_bits(reproduced):
    table = reproduced("esponda2006").table("information")
    t = np.arange(3, 11)
    np.testing.assert_allclose(column(table, "positive, bits")[0], np.log2(t))
    np.testing.assert_allclose(column(table, "negative")[0], np.log2(t / (t - 1)))
    assert check(reproduced("esponda2006"), "bits of one answer under (.9, .05, .05)").found == pytest.approx(
        -0.431, abs=5e-4
    )


def test_preferences_leave_a_band_that_holds_the_truth(reproduced):
    table = reproduced("esponda2006").table("two_option")
    truth, taken, low, high = (column(table, name)[0] for name in table.columns[1:])
    assert ((low <= truth + 1e-5) & (truth - 1e-5 <= high)).all()
    np.testing.assert_allclose(taken[:4], truth[:4], atol=1e-6)
    assert np.abs(taken[8:] - truth[8:]).max() > 0.4


def test_preferences_add_to_one():
    theta = np.array(partial(4, 0.5))
    np.testing.assert_allclose((theta + theta.T)[~np.eye(4, dtype=bool)], 1)


def test_two_coins(reproduced):
    rows = {row[0]: row[1:] for row in reproduced("two_coins").table("numbers").rows}
    formula, (spread, error) = rows["standard error"]
    assert formula == pytest.approx(2 * np.sqrt(0.325 * 0.675 / 200))
    assert abs(spread - 0.066) < 4 * error + 0.0005
    assert rows["ε"] == pytest.approx((np.log(3), np.log(3)))
    assert rows["answers that are true"][0] == 0.75


@pytest.mark.parametrize(
    ("table", "printed", "corrected"),
    [("covariance", "printed", "corrected"), ("levels", "printed, 1/n", "corrected, 1/n_k")],
)
def test_what_is_printed_fails_where_what_is_corrected_holds(reproduced, table, printed, corrected):
    found = reproduced("errata").table(table)
    wrong, right = column(found, printed)[0], column(found, corrected)[0]
    simulated, errors = column(found, "simulated")
    assert (np.abs(simulated - right) < 4 * errors + 0.01 * np.abs(right)).all()
    assert np.abs((simulated - wrong) / errors).max() > 4


def test_the_printed_bound_is_exceeded_and_the_corrected_is_reached(reproduced):
    table = reproduced("errata").table("bounds")
    simulated, errors = column(table, "simulated")
    assert (simulated > column(table, "printed bound")[0] + 4 * errors).all()
    assert (np.abs(simulated - column(table, "corrected bound")[0]) < 4 * errors).all()
    assert column(table, "entry at θ = ½")[0][0] > column(table, "printed bound")[0][0]
    assert (column(table, "column of eq. 11 as printed")[0] > 1.1).all()


def test_the_printed_iteration_ends_elsewhere(reproduced):
    rows = {row[0]: row[1:] for row in reproduced("errata").table("iteration").rows}
    np.testing.assert_allclose(rows["corrected: N - t_i"], (8, 12, 20, 28, 32, 100), atol=0.01)
    assert max(rows["printed: N - t_j"][:5]) == pytest.approx(100)
    assert abs(rows["corrected, not renormalized"][-1] - 100) > 1


def test_a_file_has_smaller_standard_errors_than_a_population(reproduced):
    table = reproduced("file").table("errors")
    file, population = column(table, "file: s.e.")[0], column(table, "population: s.e.")[0]
    assert (file < population).all()
    for question in QUESTIONS:
        one = reproduced("file").table(question.name)
        shares, file, population = (column(one, name)[0] for name in ("estimate", "s.e., file", "s.e., population"))
        sampling = shares * (100 - shares) / question.n  # below zero where an estimate is
        np.testing.assert_allclose(population**2 - file**2, sampling, atol=5e-4)
