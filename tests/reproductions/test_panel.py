import datetime

import numpy as np
import polars as pl
import pytest

from naysay import DataError, microdata
from naysay.microdata import panel
from reproductions.panel import BACKGROUND, generate
from reproductions.panel.people import People

SIZES = {"respondents": 300, "background_only": 200, "population": 20_000, "waves": 36}


@pytest.fixture(scope="module")
def small():
    return generate(**SIZES, gaps=0.05, rng=5)


@pytest.fixture(scope="module")
def paper():
    return generate()


@pytest.fixture(scope="module")
def census():
    return generate(**SIZES | {"respondents": 1_200, "background_only": 800}, census=True, rng=3)


def test_the_same_number_gives_the_same_panel(small):
    again = generate(**SIZES, gaps=0.05, rng=np.random.default_rng(5))
    assert all(one.equals(two) for one, two in zip(small.waves, again.waves, strict=True))
    assert small.truth.equals(again.truth)
    assert not small.truth.equals(generate(**SIZES, rng=6).truth)


def test_sizes_are_as_asked(small):
    merged = panel.merge_waves(small.waves, background=BACKGROUND)
    assert (merged.respondents, merged.kept, merged.background_only) == (500, 300, 200)
    assert merged.without_background == merged.without_any == 0
    assert merged.attendance.height == 36
    assert merged.attendance["entered"][1:].sum() > 0
    assert merged.attendance["left"].sum() > 0
    assert merged.attendance["away"].sum() > 0
    took_part = small.truth.filter("participates")["respondent"]
    assert merged.table["respondent"].equals(took_part.cast(pl.Int64))


def test_households_are_whole_and_somebody_answers_in_each(census):
    members = census.census.filter(pl.col("household").is_in(census.truth["household"].implode()))
    assert members["respondent"].null_count() == 0
    assert census.census.height == census.population
    for column in ("year_of_birth", "gender", "occupation", "civil", "field_law"):
        joined = census.truth.join(census.census, on="respondent", suffix="_there")
        assert joined[column].equals(joined[f"{column}_there"], check_names=False)
    assert census.truth.group_by("household").agg(pl.col("participates").any())["participates"].all()


def test_ages_are_completed_years_within_the_month(small):
    rows = small.background.join(small.truth.select("respondent", "date_of_birth", "month_of_birth"), on="respondent")
    month = pl.col("wave").str.strptime(pl.Date, "%Y-%m")
    turned = rows.select(
        age=pl.col("age"),
        least=month.dt.year() - pl.col("year_of_birth") - (month.dt.month() <= pl.col("month_of_birth")),
        most=month.dt.year() - pl.col("year_of_birth") - (month.dt.month() < pl.col("month_of_birth")),
    )
    assert turned.select(pl.col("age").is_between("least", "most").all()).item()
    born = small.truth["date_of_birth"]
    assert (born.dt.year() == small.truth["year_of_birth"]).all()
    assert (born.dt.month() == small.truth["month_of_birth"]).all()


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("options", [{}, {"bounds": True, "year_of_birth": "year_of_birth"}], ids=["changes", "bounds"])
def test_the_true_month_of_birth_is_always_a_candidate(gaps, options):
    made = generate(**SIZES, gaps=gaps, rng=11)
    found = panel.month_of_birth(made.background, **options)
    listed = made.truth.select("respondent", true="month_of_birth").join(found.table, on="respondent")
    known = listed.drop_nulls()
    assert found.contradictions.height == 0
    assert known.height > 0
    assert known.select(pl.col("month_of_birth").list.contains(pl.col("true")).all()).item()


@pytest.mark.parametrize("variable", ["civil", "occupation", "children", "urban"])
def test_the_true_date_of_a_change_lies_between_its_waves(variable):
    made = generate(**SIZES, gaps=0.2, rng=12)
    found = panel.when_changed(made.background, variable)
    truth = made.truth.select("respondent", true=f"{variable}_changed").join(found.table, on="respondent")
    seen = truth.drop_nulls(f"{variable}_changed")
    assert seen.height > 5
    assert seen.select(pl.col(f"{variable}_changed").list.contains(pl.col("true")).all()).item()


def test_without_gaps_a_change_shows_in_the_month_in_which_it_happened():
    made = generate(**SIZES, gaps=0.0, rng=12)
    found = panel.when_changed(made.background, "occupation").table.drop_nulls()
    shown = made.truth.join(found.rename({"occupation_changed": "months"}), on="respondent")
    assert shown.height > 5
    assert (shown["months"].list.last() == shown["occupation_changed"]).all()
    assert (shown["months"].list.len() == 2).all()


def test_most_interviews_are_early_in_the_month(small):
    rows = small.background.join(small.truth.select("respondent", "month_of_birth"), on="respondent")
    birthday = rows.filter(pl.col("wave").str.tail(2).cast(pl.Int64) == pl.col("month_of_birth"))
    not_yet = birthday["wave"].str.head(4).cast(pl.Int64) - birthday["year_of_birth"] - birthday["age"]
    assert not_yet.mean() > 0.7


def test_people_who_never_marry_again_stay_as_they_are():
    drawn = People.drawn(400, start=2008 * 12, months=60, rng=np.random.default_rng(1))
    civil = drawn.changing["civil"]
    married = civil.month < 2**31 - 1
    assert married.any()
    assert (civil.before[married] == 0).all()
    assert (np.diff(drawn.household) >= 0).all()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"respondents": 0}, "respondents must be a whole number from 1"),
        ({"background_only": -1}, "background_only must be"),
        ({"waves": 0}, "waves must be"),
        ({"population": 400}, "a population of 400 has no 500 people to sample"),
        ({"background_only": 0}, "do not fit households"),
        ({"gaps": 1.0}, "gaps must be a chance"),
        ({"gaps": "few"}, "gaps must be a chance"),
        ({"waves": 12.0}, "waves must be a whole number"),
        ({"start": "soon"}, "a month is written as"),
    ],
)
def test_panels_that_cannot_be(asked, told):
    with pytest.raises(DataError, match=told):
        generate(**SIZES | asked)


PARTS = {"field": "field_", "language": "language_"}
BORN = ["year_of_birth", "month_of_birth", "gender"]
WORK = ["occupation", "profession", "field", "income_class"]
SETS = [
    ["year_of_birth", "gender", "occupation"],
    [*BORN, "occupation"],
    ["year_of_birth", "gender", *WORK],
    *(["year_of_birth", "gender", key] for key in ("profession", "origin", "children", "income_class")),
    *([*BORN, key] for key in ("profession", "origin", "children", "income_class")),
]


@pytest.fixture(scope="module")
def risk(paper):
    merged = panel.merge_waves(paper.waves, background=BACKGROUND)
    table = panel.month_of_birth(paper.background).beside(merged.table)
    for name, start in PARTS.items():
        parts = [column for column in table.columns if column.startswith(start)]
        table = table.with_columns(panel.composite(table, parts).alias(name))
    found = microdata.risk_table(table, SETS, population=paper.population, rule="first")
    return merged, table, {row.keys: row for row in found.quasi_identifiers}


@pytest.mark.slow
def test_the_default_is_of_the_size_of_the_paper(risk):
    merged, _, _ = risk
    assert (merged.respondents, merged.kept, merged.background_only) == (17_924, 10_997, 6_927)
    missing = {row["variable"]: row["share"] for row in merged.missing.to_dicts()}
    for variable, share in {"urban": 0.001, "income": 0.162, "income_class": 0.037, "origin": 0.206}.items():
        assert missing[variable] == pytest.approx(share, abs=4 * (share * (1 - share) / 10_997) ** 0.5 + 0.001)
    complete = ("gender", "year_of_birth", "position", "children", "civil", "domestic", "occupation", "education")
    assert [missing[name] for name in complete] == [0] * 8


@pytest.mark.slow
def test_months_of_birth_are_as_sure_as_in_the_paper(risk):
    _, table, _ = risk
    lengths = table["month_of_birth"].list.len().fill_null(0).value_counts(normalize=True)
    share = dict(lengths.iter_rows())
    assert share[2] == pytest.approx(0.804, abs=0.03)
    assert share[1] == pytest.approx(0.180, abs=0.03)
    assert share[0] == pytest.approx(0.016, abs=0.008)


@pytest.mark.slow
def test_the_default_shows_what_the_paper_found(risk):
    _, _, rows = risk
    with_month = rows[(*BORN, "occupation")].matches.sizes.unique
    without = rows["year_of_birth", "gender", "occupation"].matches.sizes.unique
    assert without == pytest.approx(269, rel=0.25)
    assert with_month == pytest.approx(1_559, rel=0.25)
    best = rows["year_of_birth", "gender", *WORK].listwise
    assert best.pr_su_kept == pytest.approx(0.8025, abs=0.05)
    assert best.pr_su_all == pytest.approx(0.387, abs=0.05)


@pytest.mark.slow
def test_month_of_birth_adds_most_matches_are_fewer_and_theta_is_small(risk):
    _, _, rows = risk
    base = {keys[-1]: row for keys, row in rows.items() if keys[:2] == ("year_of_birth", "gender") and len(keys) == 3}
    month = rows[(*BORN, "occupation")].matches.sizes.unique - base["occupation"].matches.sizes.unique
    assert month > 3 * max(row.matches.sizes.unique for row in base.values())
    listwise = [row.listwise.sizes.unique for row in base.values()]
    matched = [row.matches.sizes.unique for row in base.values()]
    assert all(m <= k for m, k in zip(matched, listwise, strict=True))
    assert sum(matched) < 0.8 * sum(listwise)
    for row in rows.values():
        if not row.matches.theta.withheld:
            assert row.matches.theta.estimate < 0.003
    assert rows["year_of_birth", "gender", *WORK].listwise.theta.estimate < 0.003


@pytest.mark.slow
def test_theta_is_the_share_of_unique_matches_that_are_right(census):
    merged = panel.merge_waves(census.waves).table
    keys = ["year_of_birth", "gender", "occupation"]
    (row,) = microdata.risk_table(merged, [keys], population=census.population).quasi_identifiers
    people = census.census.with_columns(pl.col("gender", "occupation").cast(pl.String))
    alone = merged.group_by(keys).agg(pl.len(), pl.col("respondent").first()).filter(pl.col("len") == 1)
    met = people.join(alone, on=keys, suffix="_found")
    right = (met["respondent"] == met["respondent_found"]).sum()
    low, high = row.listwise.theta.interval
    assert low < right / met.height < high


def test_a_date_of_birth_is_a_date(small):
    assert small.truth.schema["date_of_birth"] == pl.Date
    assert small.truth["date_of_birth"].max() < datetime.date(2008, 1, 1)
