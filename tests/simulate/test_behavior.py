import json
from pathlib import Path

import numpy as np
import pytest

from naysay import designs, estimate, simulate
from naysay.design.several import choice
from naysay.errors import DataError
from naysay.simulate import Behavior, Population
from naysay.simulate.survey import Survey

CHOICE = designs.negative_levels(tuple("abcde"))


def test_everybody_does_as_asked_by_default():
    assert str(Behavior()) == "all do as asked"
    np.testing.assert_array_equal(Behavior().stated("abc"), np.eye(3))
    np.testing.assert_array_equal(Behavior().silent("abc"), np.zeros(3))


def test_liars_name_any_other_category():
    stated = Behavior(liars=0.3).stated(("a", "b", "c"))
    np.testing.assert_allclose(stated, 0.15 + 0.55 * np.eye(3))


def test_who_denies_stays_in_the_category_that_is_claimed():
    stated = Behavior(liars=0.4, says="c").stated(("a", "b", "c"))
    np.testing.assert_allclose(stated, [[0.6, 0, 0], [0, 0.6, 0], [0.4, 0.4, 1]])


def test_nonresponse_by_category():
    assert Behavior(nonresponse={"b": 0.5}).silent(("a", "b")).tolist() == [0, 0.5]
    assert Behavior(nonresponse=0.25).silent(("a", "b")).tolist() == [0.25, 0.25]


def test_behavior_in_words():
    told = str(Behavior(liars=0.2, among=("a",), says="b", at_random=0.1, nonresponse={"a": 0.5}))
    assert told == "0.2 of 'a' say 'b'; 0.1 answer at random; no answer from 0.5 of 'a'"
    assert str(Behavior(always={"a": 0.1}, positive=0.05)) == "0.1 always say 'a'; 0.05 name what is true"
    assert str(Behavior(liars=0.2, nonresponse=0.1)) == "0.2 say another category; no answer from 0.1"


def test_skewed_preferences_halve_from_level_to_level():
    np.testing.assert_allclose(simulate.skewed(CHOICE), np.array([8, 4, 2, 1]) / 15)
    np.testing.assert_allclose(simulate.skewed(CHOICE, toward="open", ratio=3), np.array([1, 3, 9, 27]) / 40)
    np.testing.assert_allclose(simulate.skewed(CHOICE, ratio=1), np.full(4, 0.25))


def test_tied_preferences_hide_a_category():
    tied = simulate.tied(CHOICE, hiding=("b",), share_of=0.6)
    np.testing.assert_allclose(tied[:, 0], np.full(4, 0.25))
    np.testing.assert_allclose(tied[:, 1], [0.7, 0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Behavior(always={"a": 0.6}, at_random=0.5), "the share of people without such a habit"),
        (lambda: estimated(BY_LOT, [*TRUTH, 0], Behavior(always={"f": 0.1})), "f"),
        (
            lambda: estimated(
                designs.asked_twice(designs.crosswise(prevalence=0.25)), (0.3, 0.7, 0), Behavior(positive=0.1)
            ),
            "nobody can name what is true",
        ),
        (lambda: Behavior(liars=1.1), r"share of liars must lie in \[0, 1\]; got 1.1"),
        (lambda: Behavior(at_random=-0.1), "answers at random must lie"),
        (lambda: Behavior(nonresponse=2), "does not answer must lie"),
        (lambda: Behavior(nonresponse={"a": float("nan")}), "does not answer must lie"),
        (lambda: Behavior(liars=True), "must lie in"),
        (lambda: Behavior(liars=0.1, among=("q",)).stated(("a", "b")), "'q' is no category"),
        (lambda: Behavior(liars=0.1, says="q").stated(("a", "b")), "'q' is no category"),
        (lambda: Behavior(nonresponse={"q": 0.1}).silent(("a", "b")), "'q' is no category"),
        (lambda: simulate.skewed(CHOICE, toward="closed"), "'private' or 'open'"),
        (lambda: simulate.skewed(CHOICE, ratio=0.5), "at least 1"),
        (lambda: simulate.tied(CHOICE, hiding=("q",)), "'q' is no category"),
        (lambda: simulate.tied(CHOICE, hiding=("a",), share_of=1.5), "must lie in"),
    ],
)
def test_behavior_that_cannot_be(made, told):
    with pytest.raises(DataError, match=told):
        made()


FIVE = tuple("abcde")
BY_LOT = designs.controlled(designs.negative(FIVE), truth="lot")
TRUTH = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def estimated(design, population, behavior, n=20_000_000):
    """What moments estimate from very many people: the categories, then the share that does not comply."""
    people = Population(design.cells, np.asarray(population, dtype=float), "")
    survey = Survey(design, people, n, choice(design), behavior, "population")
    fit = estimate.moments(design, survey.draw(np.random.default_rng(30)))
    return [*fit.proportions, *(each.value for each in fit.nuisance.values())]


@pytest.mark.parametrize(
    ("behavior", "wanted"),
    [
        # a fifth of the people: boxes that are shuffled, boxes in fixed order, three favorites
        (Behavior(at_random=0.2), [0.4, 0.3, 0.15, 0.1, 0.05]),
        (Behavior(always={"a": 0.2}), [-0.4, 0.5, 0.35, 0.3, 0.25]),
        (Behavior(always={"a": 0.1, "c": 0.06, "d": 0.04}), [0.1, 0.5, 0.05, 0.1, 0.25]),
    ],
)
def test_a_truth_by_lot_finds_any_habit_and_only_shuffled_boxes_are_corrected(behavior, wanted):
    """One answer to a moves its estimate by 1 - t, and that of each other category by 1."""
    found = estimated(BY_LOT, [*TRUTH, 0], behavior)
    assert found[:5] == pytest.approx(wanted, abs=0.008)
    assert found[5] == pytest.approx(0.2, abs=0.002)


def test_with_one_fixed_truth_a_habit_hides():
    fixed = designs.controlled(designs.negative(FIVE), truth="e")
    assert estimated(fixed, [*TRUTH, 0], Behavior(always={"a": 0.2}))[5] == pytest.approx(0, abs=1e-9)


def test_people_who_name_what_is_true_look_t_times_as_many():
    assert estimated(BY_LOT, [*TRUTH, 0], Behavior(positive=0.08))[5] == pytest.approx(5 * 0.08, abs=0.002)


def test_deniers_pass_every_control_and_one_sayers_do_not():
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    deny = Behavior(liars=0.5, among=("complies, yes",), says="complies, no")
    assert estimated(survey, (0.3, 0.7, 0), deny) == pytest.approx([0.15, 0.85, 0], abs=0.004)
    # one in ten always says “different”, which ¼ of those who comply say to the control: .1 · ¾ / ¼ of .1 · ¾ / (½ - ¼)
    assert estimated(survey, (0.3, 0.7, 0), Behavior(always={"different": 0.1}))[2] == pytest.approx(0.3, abs=0.004)


def test_sets_have_habits_too():
    survey = designs.controlled(designs.negative(FIVE, discards=2), truth="lot")
    found = estimated(survey, [*TRUTH, 0], Behavior(always={"a;b": 0.2}))
    assert found[5] == pytest.approx(0.2, abs=0.002)
    assert found[0] < TRUTH[0] - 0.1


CONTROLS = json.loads((Path(__file__).parents[1] / "reference" / "controls.json").read_text(encoding="utf-8"))
HABITS = CONTROLS["negative_control_behaviors"]


@pytest.mark.parametrize("case", HABITS)
def test_the_published_simulations_of_habits_agree_with_their_expectation(case):
    """400 surveys of 1,000 people, of whom a fifth does not comply: mean and s.d. of ρ̂, and the s.d. by formula."""
    (sizes, habit), (mean, deviation, formula) = case.removesuffix(" balanced").split(" ", 1), HABITS[case]
    t, k = map(int, sizes.split(","))
    shows = 1 if habit == "positive" else k / t  # how likely a violation is
    expected, law = 0.2 * shows * t / k, np.sqrt(0.2 * shows * (1 - 0.2 * shows) / 1000) * t / k
    assert formula == pytest.approx(np.sqrt(0.2 * (t / k - 0.2) / 1000), abs=5.1e-5)
    assert mean == pytest.approx(expected, abs=4 * law / 400**0.5)
    assert deviation == pytest.approx(law, rel=4 / 800**0.5)
    if habit == "random" and t < 12:  # of twelve all 220 × 220 answers take long
        names = tuple("abcdefghijkl"[:t])
        survey = designs.controlled(designs.negative(names, discards=k), truth="lot")
        found = estimated(survey, [*np.full(t, 1 / t), 0], Behavior(at_random=0.2), n=2_000_000)
        assert found[-1] == pytest.approx(expected, abs=4 * law / 2000**0.5)
