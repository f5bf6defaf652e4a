import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import DataError, microdata
from naysay.microdata import panel

part = st.one_of(st.none(), st.text("|?\\ab1", min_size=1, max_size=3))
rows = st.lists(st.tuples(part, part, part), min_size=1, max_size=12)
NAMES = ("a", "b", "c")


def columns(cells):
    return {name: [row[place] for row in cells] for place, name in enumerate(NAMES)}


@given(rows)
def test_it_tells_apart_whom_its_parts_tell_apart(cells):
    found = panel.composite(columns(cells), NAMES).to_list()
    for one, mine in zip(cells, found, strict=True):
        assert (mine is None) == (None in one)
        for other, theirs in zip(cells, found, strict=True):
            if mine is not None and theirs is not None:
                assert (mine == theirs) == (one == other)


@given(rows)
def test_missing_where_all_parts_are(cells):
    found = panel.composite(columns(cells), NAMES, missing="all").to_list()
    for one, mine in zip(cells, found, strict=True):
        assert (mine is None) == (one == (None, None, None))
        for other, theirs in zip(cells, found, strict=True):
            assert (mine == theirs) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a|b", "c", "d"), ("a", "b|c", "d")),
        (("a\\", "b", "c|d"), ("a|b", "c\\", "d")),
        (("?", "a", "b"), (None, "a", "b")),
    ],
)
def test_parts_that_hold_the_joining_marks_stay_apart(one, other):
    assert panel.composite(columns([one, other]), NAMES, missing="all").n_unique() == 2


def test_seventeen_fields_are_one_key():
    fields = {f"field {place}": [place == 1, place == 2, None if place == 9 else False] for place in range(17)}
    table = fields | {"field": panel.composite(fields, list(fields))}
    assert microdata.Keys(table, ["field"]).sizes == (3,)
    assert microdata.matches(microdata.Keys(table, ["field"])).tolist() == [2, 2, 3]


def test_numbers_are_the_same_whether_whole_or_float():
    one, two = {"a": [1, 0], "b": [1, 0]}, {"a": [1.0, 0.0], "b": [1, 0]}
    assert panel.composite(one, ["a", "b"]).equals(panel.composite(two, ["a", "b"]))


@pytest.mark.parametrize(
    ("names", "missing", "told"),
    [
        (["a"], "any", "two or more"),
        ("ab", "any", "two or more"),
        (["a", "x"], "any", "no column 'x'"),
        (NAMES, "some", "'some'"),
    ],
)
def test_what_no_composite_is(names, missing, told):
    with pytest.raises(DataError, match=told):
        panel.composite(columns([("1", "2", "3")]), names, missing=missing)
