import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import DataError, microdata
from naysay.microdata import panel

from .waves import candidates, columns, lives, text


def months(people, **options):
    """Candidates by respondent, for those who have a row."""
    found = panel.month_of_birth(columns(people), **options)
    return dict(found.table.iter_rows())


def monthly(first, ages):
    """One wave a month from a month on, such as 200901."""
    start = first // 100 * 12 + first % 100 - 1
    return [(start + step, age) for step, age in enumerate(ages)]


# Respondents of the paper; A's March/April there contradicts its own rule.
A = [*monthly(200809, [40] * 6 + [41] * 12 + [42])]
B = [*monthly(200804, [40, 40, *[41] * 13, *[42] * 11, 43])]
C = [*monthly(200901, [30] * 7)]


def test_the_respondents_of_the_paper():
    assert text(A[6][0]) == "2009-03"
    assert [text(B[place][0]) for place in (2, 15, 26)] == ["2008-06", "2009-07", "2010-06"]
    assert months([A, B, C]) == {0: [2, 3], 1: [6], 2: None}


def test_the_year_is_a_circle_and_begins_with_the_old_age():
    assert months([monthly(200812, [40, 41])]) == {0: [12, 1]}


def test_a_gap_makes_the_interval_longer_until_it_tells_nothing():
    def gap(length):
        return [(24_107, 40), (24_107 + length, 41)]  # from December 2008 on

    assert months([gap(3)]) == {0: [12, 1, 2, 3]}
    assert len(months([gap(10)])[0]) == 11
    assert months([gap(11), gap(12), gap(20)]) == {0: None, 1: None, 2: None}


def test_with_bounds_a_year_with_one_age_tells_the_month():
    same = [(2009 * 12 + 2, 40), (2010 * 12 + 2, 40)]
    assert months([same]) == {0: None}
    assert months([same], bounds=True) == {0: [3]}


def test_with_bounds_the_year_of_birth_tells_on_which_side_of_a_wave_the_birthday_lies():
    waves = {"respondent": [1, 2, 3], "wave": [200903] * 3, "age": [40, 41, None], "born": [1968, 1968, 1968]}
    found = panel.month_of_birth(waves, bounds=True, year_of_birth="born")
    assert dict(found.table.iter_rows()) == {1: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 2: [1, 2, 3], 3: None}


several = st.lists(lives(), min_size=1, max_size=6)


@settings(max_examples=150)
@given(several)
def test_candidates_are_those_of_the_rule(people):
    waves = [rows for _, rows in people]
    assert months(waves) == {who: candidates(rows) for who, rows in enumerate(waves)}


@settings(max_examples=150)
@given(several)
def test_the_true_month_is_always_a_candidate(people):
    waves = columns([rows for _, rows in people])
    waves["born"] = [people[who][0].year for who in waves["respondent"]]
    for options in ({}, {"bounds": True}, {"bounds": True, "year_of_birth": "born"}):
        found = panel.month_of_birth(waves, **options)
        assert not found.contradictions.height
        for (born, _), listed in zip(people, found.table["month_of_birth"].to_list(), strict=True):
            assert listed is None or born.month in listed


def within(one, other):
    """Whether the candidates of each respondent are among her others; None are all."""
    return all(set(one[who] or range(1, 13)) <= set(other[who] or range(1, 13)) for who in one)


@settings(max_examples=150)
@given(several, st.randoms())
def test_more_waves_never_widen_the_candidates(people, random):
    waves = [rows for _, rows in people]
    fewer = [[row for row in rows if random.random() < 0.5] or rows[:1] for rows in waves]
    for options in ({}, {"bounds": True}):
        assert within(months(waves, **options), months(fewer, **options))


@settings(max_examples=150)
@given(several)
def test_bounds_never_widen_the_candidates(people):
    waves = [rows for _, rows in people]
    assert within(months(waves, bounds=True), months(waves))


@settings(max_examples=60)
@given(several, st.randoms())
def test_the_order_of_rows_is_of_no_matter(people, random):
    table = columns([rows for _, rows in people])
    order = list(range(len(table["age"])))
    random.shuffle(order)
    shuffled = {name: [cells[place] for place in order] for name, cells in table.items()}
    assert panel.month_of_birth(shuffled).table.equals(panel.month_of_birth(table).table)


@pytest.mark.parametrize(
    ("ages", "problem"),
    [
        ([(0, 40), (1, 39)], "age falls"),
        ([(0, 40), (1, 43)], "age rises by more than the months between allow"),
        ([(0, 40), (11, 42)], "age rises by more than the months between allow"),
        ([(0, 40), (13, 40)], "age rises by less than the months between allow"),
        ([(0, 40), (1, 41), (4, 41), (5, 42)], "no month fits all ages"),
        ([(0, 40), (1, 41), (2, 42)], "no month fits all ages"),
        ([(0, 40), (7, 40), (14, 40)], "no month fits all ages"),
        ([(0, 40), (7, 40), (14, 40), (15, 41)], "no month fits all ages"),
    ],
)
@pytest.mark.parametrize("bounds", [False, True])
def test_contradictions_are_reported_and_never_guessed(ages, problem, bounds):
    wrong = [(24_000 + month, age) for month, age in ages]
    found = panel.month_of_birth(columns([A, wrong]), bounds=bounds)
    assert found.table["month_of_birth"].to_list() == [[2, 3], None]
    assert found.contradictions.rows() == [(1, problem, [text(month) for month, _ in wrong], [age for _, age in wrong])]
    assert found.to_dict()["contradictions"] == {problem: 1}
    assert "1 respondent" in str(found)


@settings(max_examples=150)
@given(several, st.randoms())
def test_ages_that_nobody_can_have_leave_no_month(people, random):
    """Against every date of birth that a wave in the middle of a month, or at its ends, would allow."""
    waves = [[(month, age + random.choice([0, 0, 0, 1])) for month, age in rows] for _, rows in people]
    found = panel.month_of_birth(columns(waves))
    assert found.contradictions["respondent"].to_list() == [who for who, rows in enumerate(waves) if not births(rows)]


def births(rows):
    """Months of birth, since the year 0, that all of these ages allow."""
    (month, age), *_ = rows
    around = range(month - 12 * age - 13, month - 12 * age + 2)
    return [
        born for born in around if all((each - born - 1) // 12 <= years <= (each - born) // 12 for each, years in rows)
    ]


def test_years_of_birth_that_differ_are_a_contradiction_also_where_no_age_is_known():
    waves = {
        "respondent": [1, 1, 2],
        "wave": [200901, 200902, 200901],
        "age": [None, None, 40],
        "born": [1970, 1971, 1968],
    }
    found = panel.month_of_birth(waves, bounds=True, year_of_birth="born")
    assert found.contradictions.rows() == [(1, "no month fits all ages", [], [])]


def test_a_jump_that_the_gap_explains_is_none():
    found = panel.month_of_birth(columns([[(24_000, 40), (24_030, 42)]]))
    assert found.contradictions.height == 0


def test_keys_take_the_candidates_as_they_are():
    found = panel.month_of_birth(columns([A, B, C]))
    keys = microdata.Keys(found.table, ["month_of_birth"])
    assert keys.candidates("month_of_birth") == ((2, 3), (6,), ())
    assert found.candidates == {0: 1, 1: 1, 2: 1}


def test_months_stand_beside_a_table_in_its_own_order():
    found = panel.month_of_birth(columns([A, B, C]))
    table = pl.DataFrame({"respondent": pl.Series([2, 0, 9], dtype=pl.Int32)})
    assert found.beside(table)["month_of_birth"].to_list() == [None, [2, 3], None]
    texts = pl.DataFrame({"respondent": ["2", "00", "9.0", None]})
    assert found.beside(texts)["month_of_birth"].to_list() == [None, [2, 3], None, None]
    for other in (["B2"], ["2", "02"]):
        with pytest.raises(DataError, match="named alike"):
            found.beside(pl.DataFrame({"respondent": other}))
    with pytest.raises(DataError, match="already"):
        found.beside(found.table)


@pytest.mark.parametrize(
    ("ages", "told"),
    [([40.5], "'40.5'"), ([-1], "'-1'"), (["forty"], "'forty'"), ([151], "'151'"), ([np.inf], "'inf'")],
)
def test_ages_that_are_none(ages, told):
    with pytest.raises(DataError, match=f"'age' must hold whole numbers from 0 to 150; it holds {told}"):
        panel.month_of_birth({"respondent": [1], "wave": ["2009-01"], "age": ages})


def test_ages_as_text_are_numbers():
    waves = {"respondent": ["x", "x"], "wave": ["2009-01", "2009-02"], "age": ["40", "41"]}
    assert panel.month_of_birth(waves).table.rows() == [("x", [1, 2])]


def test_the_year_of_birth_needs_bounds():
    with pytest.raises(DataError, match="bounds=True only"):
        panel.month_of_birth(columns([A]), year_of_birth="age")


def test_a_column_that_is_not_there():
    with pytest.raises(DataError, match="did you mean 'age'"):
        panel.month_of_birth(columns([A]), age="aged")
