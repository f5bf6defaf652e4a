"""Small panels: drawn at random, and as the definition reads them."""

import datetime
from itertools import pairwise

from hypothesis import strategies as st

START = 2007 * 12


def text(month):
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def age(born, day, *, leap):
    """Completed years; who was born on 29 February has her birthday on 1 March, or on 28 February, of other years."""
    birthday = (born.month, born.day)
    if birthday == (2, 29) and day.year % 4:
        birthday = (3, 1) if leap == "march" else (2, 28)
    return day.year - born.year - ((day.month, day.day) < birthday)


@st.composite
def lives(draw):
    """A date of birth, and interviews in some months of ten years with the age on that day."""
    born = draw(
        st.one_of(st.just(datetime.date(1968, 2, 29)), st.dates(datetime.date(1930, 1, 1), datetime.date(1999, 12, 31)))
    )
    leap = draw(st.sampled_from(["march", "february"]))
    often = draw(st.sampled_from([1, 2, 5, 13]))  # some panels are monthly, others have long gaps
    months = draw(st.lists(st.integers(0, 119), unique=True, min_size=1, max_size=60))
    rows = []
    for month in sorted({month // often * often for month in months}):
        year, place = divmod(START + month, 12)
        day = datetime.date(year, place + 1, draw(st.integers(1, 28)))
        rows.append((START + month, age(born, day, leap=leap)))
    return born, rows


def columns(people):
    """People's waves as a mapping of columns; respondents are numbered from 0."""
    rows = [(who, text(month), value) for who, waves in enumerate(people) for month, value in waves]
    return {
        "respondent": [row[0] for row in rows],
        "wave": [row[1] for row in rows],
        "age": [row[2] for row in rows],
    }


def candidates(waves):
    """Months of birth by the rule of METHODS, one change after the other; all twelve are no knowledge."""
    left, start = set(range(12)), 0
    for (old, before), (new, after) in pairwise(waves):
        if before != after and len(set(range(old, new + 1))) < 12:
            left &= {month % 12 for month in range(old, new + 1)}
            start = old % 12
    in_order = [month + 1 for month in [*range(start, 12), *range(start)] if month in left]
    return None if len(in_order) == 12 else in_order
