"""The risk tables of a real survey: those of the documentation come out again, and a naive count agrees."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from naysay import microdata

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "gvu8.csv"

SPEC = importlib.util.spec_from_file_location("risk_gvu_benchmark", ROOT / "benchmarks" / "risk_gvu.py")
benchmark = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = benchmark
SPEC.loader.exec_module(benchmark)

ELSEWHERE = not DATA.exists() and not os.environ.get("CI")  # in CI the rows must be there
pytestmark = pytest.mark.skipif(ELSEWHERE, reason="the rows of the survey are not shipped")


@pytest.fixture(scope="module")
def people():
    return benchmark.respondents(DATA)


def test_the_page_shows_what_the_file_says(people):
    assert (ROOT / "benchmarks" / "risk_gvu.md").read_text(encoding="utf-8") == benchmark.report(people)


@pytest.mark.parametrize(
    "names", [("age", "gender", "country"), ("age", "gender", "occupation", "education", "income")]
)
def test_comparing_everybody_with_everybody_gives_the_same(people, names):
    codes = np.column_stack([people[name].rank("dense").fill_null(0).to_numpy() for name in names])
    alike = np.ones((len(codes), len(codes)), bool)
    same = alike.copy()
    for column in codes.T:
        equal = column[:, None] == column[None, :]
        same &= equal
        alike &= equal | (column[:, None] == 0) | (column[None, :] == 0)
    keys = microdata.Keys(people, names)
    complete = (codes > 0).all(axis=1)
    assert microdata.anonymity(keys).compressed().tolist() == same.sum(axis=1)[complete].tolist()
    assert microdata.matches(keys).tolist() == alike.sum(axis=1).tolist()


def test_the_page_says_in_words_what_its_tables_say(people):
    """The numbers that the text of the page quotes."""
    asked = [("age", "gender", "occupation"), ("age", "gender", "country"), ("age", "gender", "income")]
    found = microdata.risk_table(
        people, [*asked, tuple(benchmark.KEYS)], population=benchmark.POPULATION, sensitive="preference"
    )
    occupation, country, income, every = found.quasi_identifiers
    assert (occupation.listwise.sizes.unique, occupation.listwise.deleted) == (65, 309)
    assert occupation.matches.sizes.unique == 0
    assert (country.listwise.sizes.unique, country.matches.sizes.unique) == (2_037, 819)
    assert round(country.matches.sizes.inverse, 3) == 0.228
    informed = country.matches.informed
    assert [round(each, 3) for each in (informed.exact, informed.weighed, informed.most)] == [0.402, 0.369, 0.411]
    informed = income.matches.informed
    assert round(income.matches.sizes.inverse, 4) == 0.0069
    assert [round(each, 4) for each in (informed.exact, informed.weighed, informed.most)] == [0.0911, 0.0403, 0.1065]
    assert country.diversity.sharing == 4_716
    assert (income.listwise.sizes.unique, income.matches.sizes.unique) == (129, 0)
    assert every.matches.sizes.unique == 7_750
    assert round(1 / every.matches.theta.estimate, -2) == 900
    told = (ROOT / "docs" / "reference" / "risk_gvu.md").read_text(encoding="utf-8")
    for quoted in (
        "65 people are alone",
        "2,037 people",
        "4,716 people",
        "7,750 of 10,108",
        "once in 900 times",
        "40 to 41 times in 100",
        "9 to 11 times in 100",
        ".0069",
    ):
        assert quoted in " ".join(told.split())
