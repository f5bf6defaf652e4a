"""The joint distribution of many attributes: by the crosstab, by its own margins, by brute force and by simulation."""

import math
import time

import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate, planning
from naysay.crosstab import Variable, count, crosstab, joint
from naysay.errors import DataError

LABELS = {"x": ("a", "b", "c"), "y": ("u", "v", "w", "z"), "k": ("l", "m")}
DESIGNS = {
    "x": designs.negative(LABELS["x"]),
    "y": designs.negative(LABELS["y"], discards=2),
    "k": designs.warner(p=0.8, categories=LABELS["k"]),
}
VARIABLES = [Variable(name, design) for name, design in DESIGNS.items()]


def people(n, rng):
    """Made-up answers, and the true joint shares."""
    shares = rng.dirichlet(np.ones(24)).reshape(3, 4, 2)
    cells = np.unravel_index(rng.choice(24, n, p=shares.ravel()), shares.shape)
    said = {
        name: DESIGNS[name].randomize([LABELS[name][at] for at in places], rng=rng).texts()
        for name, places in zip(DESIGNS, cells, strict=True)
    }
    return pl.DataFrame(said), shares


def test_three_attributes_are_the_crosstab_by_moments():
    frame, _ = people(3_000, np.random.default_rng(1))
    found, table = (
        joint(frame, VARIABLES),
        crosstab(frame, row=VARIABLES[0], column=VARIABLES[1], layer=VARIABLES[2], estimator="moments"),
    )
    assert found.proportions.ravel() == pytest.approx(table.fit.proportions, abs=1e-12)
    assert found.standard_errors.ravel() == pytest.approx(table.fit.standard_errors, abs=1e-12)


def test_a_marginal_is_the_sum_of_its_cells_and_the_estimate_of_its_own_answers():
    frame, _ = people(2_000, np.random.default_rng(2))
    found = joint(frame, VARIABLES)
    assert found.marginal("k", "x").proportions == pytest.approx(found.proportions.sum(axis=1).T, abs=1e-12)
    alone = estimate.moments(DESIGNS["y"], DESIGNS["y"].tally(frame, "y"))
    assert found.marginal("y").proportions == pytest.approx(alone.proportions)
    assert found.marginal("y").standard_errors == pytest.approx(alone.standard_errors)


def test_cells_are_unbiased_and_their_intervals_hold():
    rng, surveys = np.random.default_rng(3), 150
    ratios = []
    for _ in range(surveys):
        frame, shares = people(400, rng)
        found = joint(frame, VARIABLES)
        ratios.append(((found.proportions - shares) / found.standard_errors).ravel())
    assert abs(np.mean(ratios)) < 4 / math.sqrt(surveys * 24)
    assert np.mean(np.abs(ratios) < 1.96) > 0.93


def test_a_share_of_two_has_the_score_interval_of_an_estimate():
    frame, _ = people(300, np.random.default_rng(6))
    alone = estimate.moments(DESIGNS["k"], DESIGNS["k"].tally(frame, "k"))
    assert joint(frame, [VARIABLES[2]]).intervals == pytest.approx(alone.interval(method="score"))


@pytest.mark.parametrize("epsilon", [1, 6])
def test_intervals_hold_rare_and_empty_cells(epsilon):
    """Wald's interval held a rare cell under a large ε in .03 of surveys; nobody seemed to be there."""
    rng, surveys = np.random.default_rng(7), 120
    variables = [Variable(name, designs.k_ary(LABELS[name], epsilon=epsilon)) for name in ("x", "y")]
    shares = np.array([0.6, 0.2, 0.1, 0.06, 0.02, 0.01, 0.004, 0.004, 0.002, 0, 0, 0]).reshape(3, 4)
    held = np.zeros(shares.shape)
    for _ in range(surveys):
        cells = np.unravel_index(rng.choice(12, 150, p=shares.ravel()), shares.shape)
        said = {
            variable.column: variable.design.randomize([variable.labels[at] for at in places], rng=rng).texts()
            for variable, places in zip(variables, cells, strict=True)
        }
        ends = joint(said, variables).intervals
        held += (ends[..., 0] <= shares) & (shares <= ends[..., 1])
    assert held.min() / surveys > 0.95 - 3 * math.sqrt(0.95 * 0.05 / surveys)


def test_a_million_cells_take_seconds():
    labels = tuple(range(100))
    design = designs.negative(labels)
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.choice(100, 20_000) for name in "abc"})
    before = time.process_time()
    found = joint(frame, [Variable(name, design) for name in "abc"])
    assert found.intervals.shape == (100, 100, 100, 2)
    assert found.proportions.sum() == pytest.approx(1)
    assert time.process_time() - before < 30


def person_by_person(frame, weight):
    """Shares and standard errors by the inverse of each design's matrix, one person after the other."""
    products = np.ones((len(weight), 1))
    for name, design in INVERTIBLE.items():
        answers = [design.space.labels.index(answer) for answer in frame[name]]
        products = np.einsum("na,nb->nab", products, np.linalg.inv(design.matrix)[:, answers].T)
        products = products.reshape(len(weight), -1)
    shares, n = weight @ products / weight.sum(), len(weight)
    return shares, np.sqrt(n / (n - 1) * weight**2 @ (products - shares) ** 2) / weight.sum()


INVERTIBLE = {"x": designs.negative(LABELS["x"]), "y": designs.k_ary(LABELS["y"], epsilon=2), "k": DESIGNS["k"]}
INVERTED = [Variable(name, design) for name, design in INVERTIBLE.items()]


def invertible_people(n, rng, shares):
    """Made-up answers of people in random cells."""
    cells = np.unravel_index(rng.choice(24, n, p=shares), (3, 4, 2))
    said = {
        name: INVERTIBLE[name].randomize([LABELS[name][at] for at in places], rng=rng).texts()
        for name, places in zip(INVERTIBLE, cells, strict=True)
    }
    return pl.DataFrame(said), np.ravel_multi_index(cells, (3, 4, 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_those_of_the_inverses_person_by_person(weighted):
    rng = np.random.default_rng(8)
    frame, _ = invertible_people(700, rng, rng.dirichlet(np.ones(24)))
    weight = rng.choice([0.5, 1.0, 4.0], 700) if weighted else np.ones(700)
    found = joint(frame.with_columns(w=weight), INVERTED, weights="w" if weighted else None)
    shares, errors = person_by_person(frame, weight)
    assert found.proportions.ravel() == pytest.approx(shares, abs=1e-12)
    assert found.standard_errors.ravel() == pytest.approx(errors, abs=1e-12)
    pair = joint(frame.with_columns(w=weight), INVERTED[:2], weights="w" if weighted else None)
    assert found.marginal("x", "y").standard_errors == pytest.approx(pair.standard_errors, abs=1e-12)
    assert found.marginal("x", "y").intervals == pytest.approx(pair.intervals, abs=1e-12)


def test_people_who_are_drawn_unequally_are_weighed_back():
    """Cells are drawn up to ten times as often as they are common; the weights say so."""
    rng, surveys = np.random.default_rng(9), 80
    shares, chance = rng.dirichlet(np.ones(24)), rng.uniform(0.3, 3, 24)
    drawn, held = shares * chance / (shares @ chance), np.zeros(24)
    for _ in range(surveys):
        frame, cells = invertible_people(800, rng, drawn)
        found = joint(frame.with_columns(w=1 / chance[cells]), INVERTED, weights="w")
        ends = found.intervals.reshape(-1, 2)
        held += (ends[:, 0] <= shares) & (shares <= ends[:, 1])
    assert held.mean() / surveys > 0.94
    assert held.min() / surveys > 0.95 - 4 * math.sqrt(0.95 * 0.05 / surveys)


def test_a_row_may_stand_for_several_people():
    rng = np.random.default_rng(10)
    frame, _ = people(300, rng)
    counts, weight = rng.integers(0, 4, 300), rng.uniform(1, 3, 300)
    found = joint(frame.with_columns(n=counts, w=weight), VARIABLES, weights="w", count="n")
    apart = joint(frame.with_columns(w=weight)[np.repeat(np.arange(300), counts)], VARIABLES, weights="w")
    assert found.n == counts.sum()
    assert found.standard_errors == pytest.approx(apart.standard_errors, abs=1e-12)


def test_an_attribute_that_was_not_randomized_is_its_own_categories():
    frame, _ = people(300, np.random.default_rng(11))
    frame = frame.with_columns(region=pl.Series(["north", "south", "south"] * 100))
    found = joint(frame, [VARIABLES[0], Variable("region")])
    assert found.labels[1] == ("north", "south")
    assert found.proportions.sum(axis=0) == pytest.approx([1 / 3, 2 / 3])


def test_estimated_chances_and_controls_are_refused():
    """A calibrated design was read as if its chances were known: errors of half the size."""
    survey = designs.calibrated([[0, 30, 45], [60, 0, 55], [40, 70, 0]], categories=LABELS["x"], negative=True)
    frame = pl.DataFrame({"x": ["a", "b"], "c": ["l", "m"]})
    with pytest.raises(DataError, match="those of calibrated"):
        joint(frame, [Variable("x", survey)])
    with pytest.raises(DataError, match="those of calibrated"):
        count(frame, lambda x: x == "a", randomized=[Variable("x", survey)])
    controlled = Variable("k", designs.controlled(DESIGNS["k"], truth="l"), controls=("c",))
    with pytest.raises(DataError, match="no indicator of each answer"):
        joint(frame.with_columns(k=pl.lit("m")), [controlled])


def test_levels_are_read_each_under_its_own_design():
    choice = designs.negative_levels(("a", "b", "c", "d"))
    rng = np.random.default_rng(5)
    said = choice.randomize(rng.choice(list("abcd"), 500), rng=rng)
    frame = pl.DataFrame({"x": said.texts(), "level": said.level})
    found = joint(frame, [Variable("x", choice, level="level")])
    fit = estimate.stratified(choice, choice.tally(frame, "x", level="level"))
    assert found.proportions == pytest.approx(fit.proportions)
    assert found.standard_errors == pytest.approx(fit.standard_errors)


def test_combinations_are_better_for_cells_and_single_attributes_for_their_shares():
    """Equal bits and equally many combinations left; exact variances of moments."""
    single = designs.negative(tuple("abcd")) * designs.negative(tuple("uvwx"))
    combined = designs.negative(tuple(range(16)), discards=7)
    sums = np.kron(np.eye(4), np.ones(4))
    (cell_single, share_single), (cell_combined, share_combined) = (
        [np.diag(each).mean() for each in (covariance, sums @ covariance @ sums.T)]
        for covariance in (
            planning.variance(d, np.full(16, 1 / 16), estimator="moments").covariance for d in (single, combined)
        )
    )
    assert cell_single == pytest.approx(1.75**2 - 1 / 256)
    assert cell_combined < 0.4 * cell_single
    assert share_single < 0.5 * share_combined


def test_what_cannot_be_joined_is_refused():
    frame = pl.DataFrame({"x": ["a", None], "y": ["u;v", "w;z"], "k": ["l", "m"]})
    assert joint(frame, VARIABLES).left_out == 1
    with pytest.raises(DataError, match="different attributes"):
        joint(frame, [VARIABLES[0], VARIABLES[0]])
    with pytest.raises(DataError, match="30,000,000"):
        joint(frame, [Variable(f"c{place}", designs.k_ary(100, epsilon=1)) for place in range(4)])
    with pytest.raises(DataError, match="no column"):
        joint(frame, VARIABLES).marginal("q")
