"""Maps: the order of cells, errors of rectangles by formula and by simulation, and what a heat map leaves blank."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate
from naysay.cli import main
from naysay.errors import DataError


def test_four_cells_in_a_row_are_a_square_on_every_level():
    grid = estimate.Grid(8, 8)
    for width in (4, 16):
        for start in range(0, 64, width):
            rows, columns = grid.places[start : start + width].T
            side = int(np.sqrt(width))
            assert np.ptp(rows) == np.ptp(columns) == side - 1
            assert (rows.min() % side, columns.min() % side) == (0, 0)
    assert len(set(estimate.Grid(3, 5).cells)) == 15


@pytest.mark.parametrize("discards", [1, 5])
def test_the_error_of_a_rectangle_is_that_of_its_formula(discards):
    """π̂_R = |R| - (t - 1)/k · mean(M), M how many cells of R a phone rules out: hypergeometric inside and outside."""
    grid, n = estimate.Grid(4, 4), 4_000
    survey = designs.negative(grid.cells, discards=discards)
    inside = grid.rectangle((1, 2), (2, 4))
    size, t, k = int(inside.sum()), 16, discards
    rng = np.random.default_rng(1)
    fit = estimate.moments(survey, survey.tally(survey.randomize(rng.choice(grid.cells, n), rng=rng)))
    share, error = grid.share(fit, (1, 2), (2, 4))
    mean, square = np.zeros(2), np.zeros(2)
    for place, marked in enumerate((size - 1, size)):  # a phone in the rectangle, and one outside
        mean[place] = k * marked / (t - 1)
        square[place] = mean[place] ** 2 + mean[place] * (1 - marked / (t - 1)) * (t - 1 - k) / (t - 2)
    weights = np.array([share, 1 - share])
    variance = ((t - 1) / k) ** 2 * (weights @ square - (weights @ mean) ** 2) / n
    assert error == pytest.approx(np.sqrt(variance), rel=0.03)


def test_errors_of_the_quad_tree_are_those_of_simulated_surveys():
    grid, surveys, rng = estimate.Grid(8, 8), 60, np.random.default_rng(2)
    tree = designs.hierarchy(grid.cells, epsilon=1, fanout=4)
    shares = rng.dirichlet(np.ones(64))
    squares = (((1, 4), (1, 4)), ((3, 4), (5, 6)), ((2, 7), (3, 5)))
    found = []
    for _ in range(surveys):
        fit = estimate.ranges(tree, tree.tally(tree.randomize(rng.choice(grid.cells, 3_000, p=shares), rng=rng)))
        found.append([grid.share(fit, *square) for square in squares])
    estimates, errors = np.moveaxis(found, 2, 0)
    truth = [shares @ grid.rectangle(*square) for square in squares]
    assert (np.abs(estimates.mean(axis=0) - truth) < 4 * estimates.std(axis=0) / np.sqrt(surveys)).all()
    assert estimates.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=0.35)


def test_a_quad_tree_tells_large_squares_and_a_flat_grid_tells_cells():
    grid, rng = estimate.Grid(16, 16), np.random.default_rng(3)
    flat, tree = designs.frequency(grid.cells, epsilon=1), designs.hierarchy(grid.cells, epsilon=1, fanout=4)
    where = rng.choice(grid.cells, 10_000)
    fits = (
        estimate.moments(flat, flat.tally(flat.randomize(where, rng=rng))),
        estimate.ranges(tree, tree.tally(tree.randomize(where, rng=rng))),
    )
    (flat_cell, tree_cell), (flat_quarter, tree_quarter) = (
        [grid.share(fit, square, square)[1] for fit in fits] for square in ((6, 6), (1, 8))
    )
    assert flat_cell < tree_cell
    assert tree_quarter < flat_quarter / 3


def test_a_map_leaves_blank_what_is_not_told_from_empty():
    grid = estimate.Grid(2, 2)
    survey = designs.negative(grid.cells)
    found = grid.heat_map(estimate.moments(survey, survey.tally(count=[100, 330, 280, 290])))
    assert found.shares[0, 0] == pytest.approx(0.7)
    assert found.told.tolist() == [[True, False], [True, True]]
    chart = found.to_html()
    assert "r" not in found.rows
    assert chart.count("1, 2:") < chart.count("1, 1:")  # blank in the map of shares, there in that of errors
    assert "1, 2:" in chart


@pytest.mark.parametrize(
    ("people", "survey"),
    [
        (15, designs.negative(("a", "b", "c", "d"))),
        (15, designs.k_ary(("a", "b", "c", "d"), epsilon=3.8)),
        (300, designs.negative(("a", "b", "c", "d"))),
    ],
)
def test_maps_that_mark_an_empty_cell_are_at_most_one_in_twenty(people, survey):
    """Cells one by one, at two standard errors: nearly every map marked one; standard errors of 15 answers: .44."""
    rng, maps, wrong, marked = np.random.default_rng(12), 60, 0, 0
    for _ in range(maps):
        shares = rng.dirichlet(np.ones(4) / 2, 12) * (rng.random((12, 4)) < 0.7)
        shares[shares.sum(axis=1) == 0, 0] = 1
        shares /= shares.sum(axis=1, keepdims=True)
        counts = [rng.multinomial(people, survey.matrix @ of_group) for of_group in shares]
        fits = {hour: estimate.moments(survey, survey.tally(count=count)) for hour, count in enumerate(counts)}
        told = estimate.heat_map(fits).told
        wrong += bool(told[shares == 0].any())
        marked += int(told.sum())
    assert wrong <= 0.05 * maps + 4 * np.sqrt(0.05 * 0.95 * maps)
    assert people < 100 or marked > 5 * maps


def test_the_marks_are_at_the_confidence_for_all_cells_together():
    survey = designs.k_ary(("a", "b", "c"), epsilon=2)
    fits = {hour: estimate.moments(survey, survey.tally(count=[500, 40 + hour, 60])) for hour in range(4)}
    found = estimate.heat_map(fits, confidence=0.9)
    ends = [
        np.fmin(*(fit.interval(1 - 2 * 0.1 / 12, method=method)[:, 0] for method in (None, "wald")))
        for fit in fits.values()
    ]
    assert found.lows == pytest.approx(np.array(ends))
    with pytest.raises(DataError, match="confidence must lie between 0 and 1"):
        estimate.heat_map(fits, confidence=2)


def test_a_file_becomes_a_map_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    grid = estimate.Grid(2, 3)
    survey, counts = designs.negative(grid.cells), [100, 200, 220, 180, 160, 140]
    pl.DataFrame({"cell": grid.cells, "n": counts}).write_csv("phones.csv")
    words = ["estimate", "phones.csv", "--response", "cell", "--count", "n", "--design", "negative()", "--grid", "2x3"]
    words += ["--estimator", "moments"]
    assert main([*words, "--format", "json", "--html", "map.html"]) == 0
    printed = json.loads(capsys.readouterr().out)["map"]
    expected = grid.heat_map(estimate.moments(survey, survey.tally(count=counts)))
    assert np.array(printed["shares"]) == pytest.approx(expected.shares)
    assert Path("map.html").read_text(encoding="utf-8").count("<svg") >= 4
    assert main([*words, "--format", "csv"]) == 2
    assert "--grid is a second table" in capsys.readouterr().err
    assert main([*words[:-4], "--grid", "2 by 3"]) == 2
    assert "such as 8x8" in capsys.readouterr().err


def test_hours_of_a_file_become_a_map_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts = {"6": [30, 45, 75], "12": [80, 20, 50], "18": [60, 60, 30]}
    rows = [(hour, level, n) for hour, of_hour in counts.items() for level, n in zip("abc", of_hour, strict=True)]
    pl.DataFrame(rows, schema=["hour", "level", "n"], orient="row").write_csv("noise.csv")
    words = ["estimate", "noise.csv", "--response", "level", "--count", "n", "--design", "negative()"]
    words += ["--categories", "a,b,c", "--heat-map"]
    assert main([*words, "--by", "hour", "--format", "json", "--html", "map.html"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["map"]["rows"] == ["6", "12", "18"]
    of_group = {each["group"]: each for each in printed["groups"]}
    for row, hour in enumerate(counts):
        assert printed["map"]["shares"][row] == pytest.approx(of_group[hour]["proportions"])
        assert printed["map"]["standard_errors"][row] == pytest.approx(of_group[hour]["standard_errors"])
    assert "Map of all groups" in Path("map.html").read_text(encoding="utf-8")
    assert main([*words, "--by", "hour"]) == 0
    assert "of 9 cells are told from empty ones, 0.95 for all" in capsys.readouterr().out
    assert main(words) == 2
    assert "--heat-map has a row for each group; add --by COLUMN" in capsys.readouterr().err
    mean = [
        "estimate",
        "noise.csv",
        "--response",
        "hour",
        "--by",
        "level",
        "--design",
        "number(low=6, high=18, epsilon=1)",
    ]
    assert main([*mean, "--heat-map"]) == 2
    assert "this design estimates none; leave it out" in capsys.readouterr().err
    assert main([*words, "--by", "hour", "--format", "csv"]) == 2
    assert "--heat-map is a second table" in capsys.readouterr().err


def test_what_is_no_map_is_refused():
    grid, survey = estimate.Grid(2, 2), designs.negative(("a", "b", "c", "d"))
    fit = estimate.moments(survey, survey.tally(count=[10, 20, 20, 20]))
    with pytest.raises(DataError, match="must be the 4 cells of this grid"):
        grid.heat_map(fit)
    with pytest.raises(DataError, match="within 2 × 2"):
        grid.rectangle((1, 3), (1, 1))
    with pytest.raises(DataError, match="at most 100,000 cells"):
        estimate.Grid(1_000, 1_000)
    with pytest.raises(DataError, match="one group at least"):
        estimate.heat_map({})
