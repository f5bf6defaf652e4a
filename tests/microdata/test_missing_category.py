"""To be missing as a category, among dates and numbers; nobody left under the policy "drop"."""

import datetime

import numpy as np
import pytest

from naysay import microdata
from naysay.microdata import Keys

BORN = [datetime.date(1970 + place % 9, 1 + place % 12, 3) for place in range(90)]


def recoded(cells, **others):
    """The recodings of one key with a gap that is a category: what was done, and how many values are left."""
    keys = Keys({"a": [*cells, None], "b": [*range(len(cells)), 0]}, ["a", "b"], missing={"a": "category"})
    found = microdata.recodings(keys, **others)
    return {each.told: each.values for each in found.recodings if each.key == "a"}


def test_gaps_in_dates_are_a_value_of_their_own_in_every_recoding():
    found = recoded(BORN)
    assert found["to the year"] == (len(set(BORN)) + 1, 9 + 1)
    assert set(found) == {"to the year", "left out"}


def test_gaps_in_numbers_leave_them_their_bins():
    without = {each.told for each in microdata.recodings(Keys({"a": list(range(50))}, ["a"])).recodings}
    found = recoded(range(50))
    assert set(found) == {*without, "left out"}
    assert found["bins 10 wide"] == (51, 6)


def test_a_text_that_reads_missing_is_no_gap():
    keys = Keys({"a": ["(missing)", None, "x", "None"]}, ["a"], missing="category")
    assert microdata.anonymity(keys).tolist() == [1, 1, 1, 1]
    assert keys.candidates("a") == (("(missing)",), (None,), ("x",), ("None",))


def test_an_order_need_not_name_the_gap():
    found = recoded(["low", "middle", "high"], orders={"a": ["low", "middle", "high"]})
    assert found["neighbors, 2 together"] == (4, 3)


def test_taking_values_together_never_moves_who_is_missing():
    keys = Keys({"a": [*BORN, None, None]}, ["a"], missing="category")
    assert microdata.recodings(keys).before.m.unique == 0
    assert all(each.after.m.smallest == 2 for each in microdata.recodings(keys).recodings)


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%Y-%m-%dT12:00:00", "%Y-%m"])
def test_dates_that_a_file_holds_as_text_are_cut_like_dates(written):
    dates = {each.told: each.values for each in microdata.recodings(Keys({"a": BORN}, ["a"])).recodings}
    texts = {
        each.told: each.values
        for each in microdata.recodings(Keys({"a": [day.strftime(written) for day in BORN]}, ["a"])).recodings
    }
    assert dates
    assert texts == dates


@pytest.mark.parametrize("cells", [["2009-02-30", "2009-03-01", "2009-04-01"], ["2009-02", "2009-03-01", "spring"]])
def test_texts_that_are_no_dates_are_values_like_others(cells):
    assert not {each.told for each in microdata.recodings(Keys({"a": cells * 3}, ["a"])).recodings}


def test_nobody_left_is_no_error():
    keys = Keys({"a": [None, None, 1], "b": [1, 2, None]}, ["a", "b"], missing="drop")
    for algorithm in (None, "cube", "join", "bitmap"):
        found = microdata.expected_matches(keys, algorithm=algorithm)
        assert np.ma.getmaskarray(found).all()
        assert len(found) == 3
    assert "0 respondents" in str(microdata.explain(keys))
    assert microdata.matches(keys).mask.all()
