import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, microdata
from naysay.microdata import panel

from .waves import START, text

STATES = ("single", "married", "widowed")


@st.composite
def lives(draw):
    """Waves of a few people: respondent, month, and what they were."""
    slots = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 23)), unique=True, min_size=1, max_size=40))
    return [(who, START + month, draw(st.sampled_from([*STATES, None]))) for who, month in slots]


def columns(rows):
    who, months, states = ([row[place] for row in rows] for place in range(3))
    return {"respondent": who, "wave": [text(month) for month in months], "civil": states}


def dated(rows, *, to, which):
    """The months of one change of each respondent, by looking at one wave after the other."""
    found, before = {row[0]: None for row in rows}, {}
    for who, month, state in sorted(rows, key=lambda row: row[1]):
        if state is None:
            continue
        old = before.get(who)
        if old and old[1] != state and state in (to or STATES) and (which == "last" or found[who] is None):
            found[who] = [text(each) for each in range(old[0], month + 1)]
        before[who] = (month, state)
    return found


@settings(max_examples=200)
@given(lives(), st.sampled_from([None, "married"]), st.sampled_from(["first", "last"]))
def test_changes_lie_between_the_last_old_and_the_first_new_value(rows, to, which):
    if to is not None and to not in {row[2] for row in rows}:
        return
    if all(row[2] is None for row in rows):
        return
    found = panel.when_changed(columns(rows), "civil", to=to, which=which)
    assert dict(found.table.iter_rows()) == dated(rows, to=None if to is None else [to], which=which)


WEDDINGS = {
    "respondent": [1, 1, 2, 2, 3, 3, 4],
    "wave": [200903, 200904, 200903, 200906, 200903, 200904, 200903],
    "civil": ["single", "married", "single", "married", "single", "single", "married"],
}


@pytest.mark.parametrize("unchanged", [None, "outside"])
def test_a_variable_of_which_nothing_is_known(unchanged):
    waves = {"respondent": [1, 1], "wave": [200903, 200904], "civil": [None, None]}
    assert panel.when_changed(waves, "civil", unchanged=unchanged).table.rows() == [(1, None)]


def test_counts_and_the_value_of_those_who_did_not_change():
    found = panel.when_changed(WEDDINGS, "civil", name="wedding", unchanged="outside")
    assert found.table["wedding"].to_list() == [
        ["2009-03", "2009-04"],
        ["2009-03", "2009-04", "2009-05", "2009-06"],
        ["2009-03", "2009-04", "2009-05", "2009-06", "outside"],
        None,
    ]
    assert (found.changes, found.dated) == (2, 2)


@settings(max_examples=150)
@given(lives(), st.sampled_from(["first", "last"]))
def test_who_was_seen_without_a_change_may_have_changed_while_nobody_looked(rows, which):
    seen = {}
    for who, month, state in rows:
        if state is not None:
            seen.setdefault(who, []).append(month)
    if not seen:
        return
    every = [month for months in seen.values() for month in months]
    expected = dated(rows, to=None, which=which)
    for who, months in seen.items():
        if expected[who] is None and len(months) > 1:
            unseen = [each for each in range(min(every), max(every) + 1) if not min(months) < each < max(months)]
            expected[who] = [*map(text, unseen), "outside"]
    found = panel.when_changed(columns(rows), "civil", which=which, unchanged="outside")
    assert dict(found.table.iter_rows()) == expected


def test_several_values_may_be_asked_for():
    waves = WEDDINGS | {"civil": ["single", "married", "married", "widowed", "single", "single", "married"]}
    assert panel.when_changed(waves, "civil", to=["married", "widowed"]).dated == 2
    assert panel.when_changed(waves, "civil", to="widowed").dated == 1


def test_dates_are_keys_and_tell_more_than_the_value():
    merged = panel.merge_waves(WEDDINGS).table
    table = panel.when_changed(WEDDINGS, "civil", name="wedding").beside(merged)
    table = table.with_columns(gender=pl.Series(["f", "f", "m", "m"]))
    found = panel.gain(table, ["gender"], variable="civil", date="wedding")
    assert (found.without, found.with_variable, found.with_date, found.with_both) == (0, 2, 1, 3)
    assert found.added == 1


@settings(max_examples=60)
@given(lives())
def test_gain_counts_who_matches_only_herself(rows):
    if not any(row[2] for row in rows):
        return
    table = panel.when_changed(columns(rows), "civil", name="when").beside(panel.merge_waves(columns(rows)).table)
    keys = microdata.Keys(table, ["civil", "when"])
    for rule in ("worst", "intersect"):
        found = panel.gain(table, ["civil"], variable="respondent", date="when", rule=rule)
        assert found.n == found.with_variable == found.with_both == table.height
        assert found.with_date == int((microdata.matches(keys, rule=rule) == 1).sum())
        assert found.without == int((microdata.matches(keys.only(["civil"]), rule=rule) == 1).sum())


def test_a_change_that_cannot_be_asked_for():
    with pytest.raises(DataError, match=r"'civil' never holds 'maried' \(did you mean 'married'"):
        panel.when_changed(WEDDINGS, "civil", to="maried")
    with pytest.raises(DataError, match="must be 'first' or 'last'; got 'next'"):
        panel.when_changed(WEDDINGS, "civil", which="next")
    with pytest.raises(DataError, match="of the type int, not str"):
        panel.when_changed(WEDDINGS | {"civil": [1, 2, 1, 2, 1, 2, 1]}, "civil", to="2")
    with pytest.raises(DataError, match="'respondent' holds the respondents"):
        panel.when_changed(WEDDINGS, "civil", name="respondent")
    with pytest.raises(DataError, match="no column 'move'"):
        panel.when_changed(WEDDINGS, "move")
