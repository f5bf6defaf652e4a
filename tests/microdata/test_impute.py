"""Gaps that are filled with the value of somebody who is alike."""

import numpy as np
import polars as pl
import pytest

from naysay import microdata
from naysay.errors import DataError


def people(n=2_000, seed=1):
    rng = np.random.default_rng(seed)
    town = rng.choice(["a", "b"], n)
    job = np.where(rng.random(n) < 0.9, np.where(town == "a", "smith", "baker"), "judge")
    known = rng.random(n) < 0.8
    return pl.DataFrame(
        {"town": town, "job": [value if here else None for value, here in zip(job, known, strict=True)]}
    )


def counts(keys):
    tuples = keys.tuples
    labels = [[None, *variable.cells.values] for variable in keys.variables]
    rows = zip(*(codes.tolist() for codes in tuples.columns), tuples.count.tolist(), strict=True)
    return {tuple(labels[place][code] for place, code in enumerate(codes)): n for *codes, n in rows}


def test_no_gap_is_left_and_what_is_known_stays():
    table = people()
    filled = counts(microdata.Keys(table, ["town", "job"], missing="impute"))
    known = counts(microdata.Keys(table.drop_nulls(), ["town", "job"]))
    assert sum(filled.values()) == table.height
    assert all(None not in cell for cell in filled)
    assert all(filled[cell] >= n for cell, n in known.items())
    assert filled.keys() == known.keys()


def test_shares_among_those_who_are_alike_are_kept():
    table = people(20_000)
    filled = counts(microdata.Keys(table, ["town", "job"], missing="impute"))
    share = filled["a", "smith"] / (filled["a", "smith"] + filled["a", "judge"])
    assert abs(share - 0.9) < 4 * np.sqrt(0.09 / 8_000)
    assert ("a", "baker") not in filled


def test_the_same_table_gives_the_same_draw():
    one, two = (microdata.matches(microdata.Keys(people(), ["town", "job"], missing="impute")) for _ in range(2))
    assert (one == two).all()


def test_k_and_m_agree_and_nobody_is_left_out():
    [row] = microdata.risk_table(people(), [["town", "job"]], missing="impute").quasi_identifiers
    assert row.listwise.deleted == 0
    assert row.listwise.sizes == row.matches.sizes
    assert "(town: impute, job: impute)" in row.label


def test_few_who_are_alike_give_way_to_more():
    table = {"a": [1] * 8 + [2], "b": ["x"] * 8 + [None]}
    assert counts(microdata.Keys(table, ["a", "b"], missing="impute")) == {(1, "x"): 8, (2, "x"): 1}


def test_what_nobody_shows_is_not_imputed():
    with pytest.raises(DataError, match="nobody shows 'b'"):
        microdata.Keys({"a": [1, 2], "b": [None, None]}, ["a", "b"], missing="impute")
