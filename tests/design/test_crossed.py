"""Questions to one person, with levels and samples of their own."""

import itertools

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.design import Design
from naysay.errors import DataError, DesignError

CHOICE = designs.negative_levels(("a", "b", "c"))
SEX = designs.direct(("f", "m"))
CHEATS = designs.cheating_detection(p=(0.25, 0.75))


def test_three_questions_take_three_columns():
    three = designs.warner(p=0.8) * designs.negative(("a", "b", "c")) * SEX
    assert three.categories[:3] == (("yes", "a", "f"), ("yes", "a", "m"), ("yes", "b", "f"))
    nested = designs.warner(p=0.8) * (designs.negative(("a", "b", "c")) * SEX)
    np.testing.assert_array_equal(three.matrix, nested.matrix)
    assert three.categories == nested.categories
    rows = three.likelihood((["yes", None], ["a", None], [None, "m"]))
    np.testing.assert_allclose(rows[0], np.kron(np.kron([0.8, 0.2], [0, 0.5, 0.5]), [1, 1]))
    np.testing.assert_allclose(rows[1], np.tile([0, 1], 6))
    assert three.encode((["yes", None], ["a", "b"], [None, "m"])).texts() == ["yes × a × ?", "? × b × m"]
    with pytest.raises(DataError, match="three questions to one person need three columns"):
        three.encode((["yes"], ["a"]))


def test_levels_of_two_questions_are_pairs():
    both = CHOICE * CHOICE
    assert both.levels == tuple(itertools.product((1, 2), (1, 2)))
    assert both.offer.assigned_by == "respondent"
    assert both.level_named(("1", 2)) == (1, 2)
    np.testing.assert_array_equal(
        both.channel((1, 2)).matrix, np.kron(CHOICE.channel(1).matrix, CHOICE.channel(2).matrix)
    )
    assert Design.from_json(both.to_json()) == both
    with pytest.raises(DataError, match="is not on offer"):
        both.level_named((1, 3))
    with pytest.raises(DataError, match="is not on offer"):
        both.level_named(1)
    with pytest.raises(DataError, match="2 columns of levels"):
        both.encode((["a"], ["b"]), (["1"], ["1"], ["1"]))


def test_answers_go_to_the_part_of_their_levels():
    both = CHOICE * SEX * CHOICE
    said = both.encode((["a", "a;b", None], ["f", "m", "m"], ["c", "a", "b;c"]), (["1", 2, None], ["1", 1, "2"]))
    tally = both.tally(said)
    assert {part.level: part.n for part in tally.parts} == {(1, 1): 1, (1, 2): 1, (2, 1): 1, (2, 2): 0}
    rows = both.likelihood(said)
    for row, (answer, sex, other) in enumerate([([0, 1, 1], [1, 0], [1, 1, 0]), ([0, 0, 1], [0, 1], [0, 1, 1])]):
        expected = np.kron(np.kron(answer, sex), other)
        np.testing.assert_allclose(rows[row] / rows[row].max(), expected)
    np.testing.assert_allclose(rows[2] / rows[2].max(), np.kron([1, 1, 1], np.kron([0, 1], [1, 0, 0])))


def test_levels_come_in_a_column_for_each_question_that_has_them():
    both = CHOICE * SEX * CHOICE
    table = {"x": ["a", "a;b"], "s": ["f", "m"], "y": ["c", "a"], "kx": [1, 2], "ky": [1, 1]}
    tally = both.tally(table, ["x", "s", "y"], level=["kx", "ky"])
    assert tally.n == 2
    assert tally.question == "x × s × y"
    with pytest.raises(DataError, match="there is no column 'kz'"):
        both.tally(table, ["x", "s", "y"], level=["kx", "kz"])
    with pytest.raises(DataError, match=r"columns 'kx', 'ky', row 2, is 3, which is not on offer|'3', which is not"):
        both.tally(table | {"ky": [1, 3]}, ["x", "s", "y"], level=["kx", "ky"])


def test_samples_share_out_the_cells_of_both_questions():
    both = CHEATS * SEX
    assert both.offer.assigned_by == "researcher"
    assert len(both.cells) == 6
    assert both.categories == (("yes", "f"), ("yes", "m"), ("no", "f"), ("no", "m"))
    assert both.offer.measures_compliance
    cells = np.arange(1, 7) / 21
    np.testing.assert_allclose(
        both.structure.proportions(cells)[:2],
        CHEATS.structure.proportions(cells.reshape(3, 2).sum(1))[:1] * [1 / 3, 2 / 3],
    )
    rng = np.random.default_rng(1)
    truth = rng.choice(CHEATS.cells, 4000, p=[0.2, 0.6, 0.2]), rng.choice(["f", "m"], 4000)
    tally = both.tally(both.randomize(truth, level=rng.choice([1, 2], 4000), rng=rng))
    fit = estimate.maximum_likelihood(both, tally)
    sexes = estimate.maximum_likelihood(SEX, SEX.tally(truth[1]))
    np.testing.assert_allclose(np.asarray(fit.cells.proportions).reshape(3, 2).sum(0), sexes.proportions, atol=1e-6)
    with pytest.raises(DesignError, match="cannot be crossed with one of several samples"):
        CHEATS * CHOICE
