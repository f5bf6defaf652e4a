"""Tallies are exact: whatever comes when, they count each reply once, and estimates are those of the replies."""

import datetime
import json
import random
import threading

import numpy as np
import polars as pl
import pytest
from sqlalchemy import text

from naysay import DataError
from naysay.collect import Published, results
from naysay.collect.questionnaire import sample
from naysay.collect.results import counting
from naysay.collect.results.answered import COUNT, of_database
from naysay.collect.results.fragments import of_store
from naysay.collect.storage import Store
from naysay.collect.writer import Writer
from tests.collect.replying import fill, replies


@pytest.fixture
def asked(client):
    return Published.of(sample(), client=client)


@pytest.fixture
def filled(store, asked):
    store.open(asked)
    fill(store, asked, 400, seed=3)
    return store


def rows(store, table):
    with store.engine.connect() as connection:
        return connection.execute(text(f"SELECT * FROM {table}")).all()


def test_in_any_steps_they_count_each_reply_once(store, asked):
    """Groups of random sizes, repeated replies among them, counted in transactions of random sizes."""
    store.open(asked)
    made, rng = list(replies(asked, 300, seed=5)), random.Random(5)
    fold = counting.folding(store)
    while made:
        size = rng.randint(1, 40)
        group, made = made[:size], made[size:]
        store.add(group)
        assert all(each.what == "repeated" for each in store.add(rng.sample(group, min(3, len(group)))))
        if rng.random() < 0.7:
            fold(rng.randint(1, 50))
        assert counting.differing(store, "sample") == {}
    while fold(50):
        pass
    assert rows(store, "untallied") == []
    assert counting.differing(store, "sample") == {}


def test_results_are_those_of_the_replies_to_the_last_digit(filled):
    """From new replies, from half of them in tallies, and from tallies alone, for all and for groups."""
    counting.folding(filled)(1_000)
    fill(filled, filled.published("sample"), 200, seed=4)
    said = of_database(filled.replies("sample"), names=True, language=None)
    for _ in range(2):
        for by in (None, "area"):
            found = of_store(filled, "sample", by=by, names=True)
            assert found.cells.replies == 600
            for column in said.private:
                one, other = said.estimates(column, by), found.estimates(column, by)
                assert list(one) == list(other)
                for group in one:
                    np.testing.assert_array_equal(one[group].proportions, other[group].proportions)
                    np.testing.assert_array_equal(one[group].covariance, other[group].covariance)
            for column in said.plain:
                if column != by:
                    one, other = said.plain_summaries(column, by, 0.95), found.plain_summaries(column, by, 0.95)
                    assert {key: each.to_dict() for key, each in one.items()} == {
                        key: each.to_dict() for key, each in other.items()
                    }
        counting.folding(filled)(1_000)


def test_replies_and_levels_are_counted_by_day(store, asked):
    store.open(asked)
    first, second = datetime.date(2026, 11, 20), datetime.date(2026, 11, 22)
    fill(store, asked, 30, seed=1, day=first)
    counting.folding(store)(1_000)
    fill(store, asked, 50, seed=2, day=second)
    told = results.aggregates(store, "sample")
    assert told["days"] == [{"day": "2026-11-20", "replies": 30}, {"day": "2026-11-22", "replies": 50}]
    frame = store.replies("sample").frame
    right = frame.drop_nulls("income_level").group_by("day", level="income_level").len("answers").sort("day", "level")
    [income] = [each for each in told["questions"] if each["column"] == "income"]
    assert income["levels"] == [{**row, "day": row["day"].isoformat()} for row in right.to_dicts()]


def test_closing_gives_new_replies_new_ids_and_counts_them_all_the_same(filled):
    counting.folding(filled)(1_000)
    fill(filled, filled.published("sample"), 50, seed=9)
    before = {row.id for row in rows(filled, "reply")}
    filled.close("sample")
    after = {row.id for row in rows(filled, "reply")}
    assert len(after) == 450
    assert not before & after
    assert {row.id for row in rows(filled, "untallied")} <= after
    assert counting.differing(filled, "sample") == {}
    while counting.folding(filled)(1_000):
        pass
    assert counting.differing(filled, "sample") == {}


def test_deleting_leaves_no_tally(filled):
    counting.folding(filled)(1_000)
    fill(filled, filled.published("sample"), 10, seed=9)
    filled.delete("sample")
    assert rows(filled, "tally") == rows(filled, "untallied") == []


def test_rewriting_keeps_tallies_and_what_is_to_be_counted(filled):
    counting.folding(filled)(1_000)
    fill(filled, filled.published("sample"), 40, seed=8)
    before = sorted(rows(filled, "tally")), sorted(rows(filled, "untallied"))
    filled.settle()
    assert (sorted(rows(filled, "tally")), sorted(rows(filled, "untallied"))) == before


def test_after_rewriting_a_postgresql_table_tells_nothing_of_earlier_tallies(asked, postgresql):
    """Each version of a tally is a row: old ones would tell which answers came last."""
    store = Store(postgresql.url(postgresql.new_database()))
    store.open(asked)
    for seed in range(5):
        fill(store, asked, 20, seed=seed)
        counting.folding(store)(1_000)
    store.settle()
    with store.engine.connect() as connection:
        for table in ("reply", "tally", "untallied"):
            assert connection.execute(text(f"SELECT count(DISTINCT xmin::text) FROM {table}")).scalar() <= 1
        size = connection.execute(text("SELECT pg_relation_size('untallied')")).scalar()
    store.dispose()
    assert size == 0


def test_several_servers_count_each_reply_once(url, asked):
    """Three of them, each of which stores and counts at the same time."""
    stores = [Store(url) for _ in range(3)]
    stores[0].open(asked)

    def run(store, seed):
        fold = counting.folding(store)
        for part in range(4):
            fill(store, asked, 25, seed=10 * seed + part)
            fold(30)

    threads = [threading.Thread(target=run, args=(store, seed)) for seed, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while counting.folding(stores[0])(100):
        pass
    assert counting.differing(stores[0], "sample") == {}
    assert of_store(stores[0], "sample").cells.replies == 300
    for store in stores:
        store.dispose()


def test_a_wrong_tally_is_found_and_mended(filled, naysay):
    counting.folding(filled)(1_000)
    with filled.engine.begin() as connection:
        connection.execute(text("UPDATE tally SET people = people + 1 WHERE question = 'smoking' AND beside = ''"))
    wrong = counting.differing(filled, "sample")
    assert wrong
    assert {(key.question, key.beside) for key in wrong} == {("smoking", "")}
    url = filled.engine.url.render_as_string(hide_password=False)
    code, out, err = naysay("survey", "recount", "sample", "--db", url)
    assert (code, "smoking" in err) == (0, True)
    assert f"{len(wrong)} tallies of sample differed; 400 replies are counted anew" in out
    assert counting.differing(filled, "sample") == {}
    assert "hold its 400 replies" in naysay("survey", "recount", "sample", "--db", url)[1]


def test_the_writer_counts_what_it_stores(store, asked):
    """Also what a server that was killed had stored and not counted."""
    store.open(asked)
    fill(store, asked, 20, seed=1)
    writer = Writer(store, look=lambda: None, fold=counting.folding(store))
    writer.start()
    for reply in replies(asked, 30, seed=2):
        writer.submit(reply)
    writer.stop()
    assert rows(store, "untallied") == []
    assert of_store(store, "sample").cells.replies == 50
    assert counting.differing(store, "sample") == {}


def test_counting_that_fails_loses_no_answer(store, asked):
    store.open(asked)

    def broken(_):
        raise RuntimeError

    writer = Writer(store, look=lambda: None, fold=broken)
    writer.start()
    outcomes = [writer.submit(reply) for reply in replies(asked, 5, seed=2)]
    assert [each.result(10).what for each in outcomes] == ["stored"] * 5
    writer.stop()
    assert writer.healthy
    assert of_store(store, "sample").cells.replies == 5  # readers count what no tally counts


def test_groups_that_are_not_kept_are_told(filled):
    with pytest.raises(DataError, match="groups are not kept for 'age'; naysay estimate --survey makes them"):
        results.page(filled, "sample", by="age")
    with pytest.raises(DataError, match="'smoking' is private"):
        results.aggregates(filled, "sample", by="smoking")
    with pytest.raises(DataError, match="has no texts in 'xx'"):
        results.page(filled, "sample", language="xx")
    with pytest.raises(DataError, match="there is no survey 'other'"):
        results.page(filled, "other")


def test_subgroups_are_shown_above_a_least_number_of_answers(store, asked):
    store.open(asked)
    answers = {question.name: None for question in asked.questionnaire.questions}
    areas = ["city"] * 12 + ["country"] * 9
    some = list(replies(asked, 21, seed=1))
    group = []
    for area, reply in zip(areas, some, strict=True):
        told = answers | {"area": area, "smoking": {"level": None, "response": "yes"}}
        group.append(type(reply)(reply.survey, reply.hash, reply.id, json.dumps(told), reply.day))
    store.add(group)
    told = results.aggregates(store, "sample", by="area")
    [smoking] = [each for each in told["questions"] if each["column"] == "smoking"]
    assert [each["group"] for each in smoking["groups"]] == ["city"]
    assert "Where do you live? In a city" in results.page(store, "sample", by="area")


def test_distinct_answers_add_up(filled):
    counting.folding(filled)(1_000)
    cells = of_store(filled, "sample").cells
    for column in ("smoking", "income", "area", "age"):
        assert cells.of(column)[COUNT].sum() == 400
    assert cells.of("area").select(pl.col("area").n_unique()).item() == cells.of("area").height
