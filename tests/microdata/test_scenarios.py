"""Scenarios read the table as their intruder would."""

import math

import numpy as np
import pytest

from naysay import microdata
from naysay.errors import DataError


@pytest.fixture
def row():
    """50 records alone, 50 pairs, 50 triples, of 30,000 people."""
    table = {"a": np.repeat(np.arange(150), np.repeat([1, 2, 3], 50))}
    return microdata.risk_table(table, [["a"]], population=30_000).quasi_identifiers[0]


def test_the_acquaintance_picks_among_the_matches(row):
    found = microdata.identification(row, "acquaintance", attempt=0.2)
    assert found.success == pytest.approx(150 / 300)  # one record of each set
    assert found.probability == pytest.approx(0.1)


def test_the_demonstration_succeeds_as_often_as_a_unique_match_is_right(row):
    assert microdata.identification(row, "demonstration", attempt=1).success == row.matches.theta.estimate


def test_the_register_names_the_unique_records_of_those_who_are_in_the_file(row):
    found = microdata.identification(row, "register", attempt=0.5)
    assert found.success == pytest.approx(50 / 30_000)
    assert found.probability == pytest.approx(25 / 30_000)


def test_what_the_file_does_not_determine_stays_undetermined():
    few = microdata.risk_table({"a": [1, 2, 2]}, [["a"]], population=90).quasi_identifiers[0]
    found = microdata.identification(few, "demonstration", attempt=0.5)
    assert math.isnan(found.success)
    assert math.isnan(found.probability)


@pytest.mark.parametrize("name", microdata.SCENARIOS)
def test_every_scenario_says_who_tries_and_what_success_is(name):
    told = microdata.SCENARIOS[name]
    assert told.name == name
    assert all((told.motivation, told.means, told.target, told.basis))


def test_a_scenario_of_your_own(row):
    own = microdata.Scenario("employer", "distrust", "personnel records", "one employee", "prosecutor")
    assert microdata.identification(row, own, attempt=1).success == pytest.approx(0.5)


def test_unknown_scenarios_and_readings_and_impossible_chances_are_refused(row):
    with pytest.raises(DataError, match="there is no scenario 'aquaintance'; did you mean 'acquaintance'"):
        microdata.identification(row, "aquaintance", attempt=0.1)
    with pytest.raises(DataError, match="reading must be one of"):
        microdata.Scenario("x", "", "", "", "judge")
    for attempt in (-0.1, 1.1, math.nan, True, "often"):
        with pytest.raises(DataError, match="attempt must be a probability"):
            microdata.identification(row, "register", attempt=attempt)


@pytest.mark.parametrize(("name", "meant"), [("journalist", "demonstration"), ("prosecutor", "acquaintance")])
def test_readings_name_the_scenario_that_is_theirs(row, name, meant):
    assert microdata.identification(row, name, attempt=1).scenario is microdata.SCENARIOS[meant]


def test_the_basis_says_what_stands_for_what():
    assert "in place of uniqueness in the population" in microdata.SCENARIOS["demonstration"].basis
    assert "recall over the list" in microdata.SCENARIOS["register"].basis
