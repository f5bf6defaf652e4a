"""Counts drawn at once against answers drawn person by person, and both against λ."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import designs, simulate
from naysay.design.several import choice
from naysay.errors import DesignError
from naysay.responses import Subsets
from naysay.simulate import Behavior, Survey, survey

_spec = importlib.util.spec_from_file_location("contract", Path(__file__).parents[1] / "designs" / "test_contract.py")
contract = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(contract)

CASES = {name: case.design for name, case in contract.BATTERY.items()}
MISFITS = {
    "honest": Behavior(),
    "lying": Behavior(liars=0.4),
    "at random": Behavior(at_random=0.3),
    "silent": Behavior(nonresponse=0.2),
}


def made(design, behavior=MISFITS["honest"], *, n=20_000, target="population", preferences=None):
    t = len(design.categories)
    pi = np.arange(1, t + 1) / np.arange(1, t + 1).sum()
    population = simulate.shares(pi, design.categories)
    return Survey(design, population, n, choice(design, preferences), behavior, target)


def counts(tally):
    """How often each response came, level by level, in the order of the listing, and how many gave none."""
    found = []
    for part in tally.parts:
        listed = {tuple(code): place for place, code in enumerate(part.design.space.listing().tolist())}
        own = np.zeros(len(listed) + 1)
        for code, people in zip(part.codes.tolist(), part.count.tolist(), strict=True):
            own[listed[tuple(code)]] = people
        own[-1] = part.missing
        found.append(own)
    return np.concatenate(found)


def chances(asked):
    """λ of everything that can happen, written out."""
    design, pi, behavior = asked.design, asked.population.proportions, asked.behavior
    found = []
    for place, level in enumerate(design.levels):
        matrix = design.channel(level).matrix
        possible = matrix.max(axis=1) > 0
        random = possible / possible.sum()
        here = asked.preferences[place] * pi
        silent = behavior.silent(design.categories)
        honest = matrix @ behavior.stated(design.categories)
        said = (1 - behavior.at_random) * honest + behavior.at_random * random[:, None]
        found += [said @ (here * (1 - silent)), [here @ silent]]
    return np.concatenate(found)


def fits(observed, expected):
    possible = expected > 1e-12
    assert observed[~possible].sum() == 0
    if possible.sum() == 1:
        return 1.0
    return stats.chisquare(observed[possible], expected[possible] / expected[possible].sum() * observed.sum()).pvalue


@pytest.mark.parametrize("misfit", MISFITS)
@pytest.mark.parametrize("name", CASES)
def test_counts_come_as_often_as_they_should(name, misfit):
    asked = made(CASES[name], MISFITS[misfit])
    tally = asked.draw(np.random.default_rng(11))
    assert tally.n + tally.missing == asked.n
    assert fits(counts(tally), chances(asked)) > 1e-5


RANDOM_SETS = [(name, "at random") for name, design in CASES.items() if isinstance(design.space, Subsets)]


@pytest.mark.parametrize(("name", "misfit"), [*itertools.product(CASES, ("honest", "lying", "silent")), *RANDOM_SETS])
def test_people_answer_as_often_as_they_should(name, misfit, monkeypatch):
    monkeypatch.setattr(survey, "_LISTED", 0)
    asked = made(CASES[name], MISFITS[misfit])
    tally = asked.draw(np.random.default_rng(11))
    assert tally.n + tally.missing == asked.n
    assert fits(counts(tally), chances(asked)) > 1e-5


@pytest.mark.parametrize("listed", [True, False], ids=["counts", "people"])
@pytest.mark.parametrize("tied", [True, False])
def test_levels_are_chosen_as_they_should(tied, listed, monkeypatch):
    if not listed:
        monkeypatch.setattr(survey, "_LISTED", 0)
    offer = designs.negative_levels(tuple("abcd"))
    preferences = simulate.tied(offer, hiding=("d",)) if tied else (0.5, 0.3, 0.2)
    asked = made(offer, Behavior(liars=0.1, at_random=0.1, nonresponse={"d": 0.4}), preferences=preferences)
    assert fits(counts(asked.draw(np.random.default_rng(5))), chances(asked)) > 1e-5


@pytest.mark.parametrize("listed", [True, False], ids=["counts", "people"])
def test_a_file_holds_the_same_people_each_time(listed, monkeypatch):
    if not listed:
        monkeypatch.setattr(survey, "_LISTED", 0)
    asked = made(designs.direct(tuple("abc")), n=101, target="file")
    tallies = [counts(asked.draw(np.random.default_rng(seed))) for seed in range(3)]
    for each in tallies:
        np.testing.assert_array_equal(each[:-1], asked.truth * 101)
    again = made(designs.warner(p=0.7), n=101, target="file")
    assert len({tuple(counts(again.draw(np.random.default_rng(seed)))) for seed in range(9)}) > 1


def test_too_many_responses_are_drawn_person_by_person():
    asked = made(designs.negative(tuple(range(60)), discards=30), Behavior(at_random=0.5), n=300)
    assert asked.cells is None
    assert asked.draw(np.random.default_rng(0)).n == 300


def test_who_answers_at_random_needs_a_list_or_sets():
    big = designs.two_coins() * designs.negative(tuple(range(60)), discards=30)
    with pytest.raises(DesignError, match="leave out people who answer at random"):
        made(big, Behavior(at_random=0.5), n=100).draw(np.random.default_rng(0))
