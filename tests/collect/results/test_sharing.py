"""A shared page tells nothing of a few people, whenever it is looked at and whatever is subtracted from what."""

import itertools
import json
from collections import Counter
from pathlib import Path

import httpx2
import numpy as np
import pytest

from naysay import DataError
from naysay.collect import Published
from naysay.collect.app import create_app
from naysay.collect.questionnaire import sample
from naysay.collect.results import page, sharing
from naysay.collect.results.counting import Counting, current_counts, folding
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.estimate.plain import Numbers
from naysay.show.result import Records
from tests.collect.replying import fill, replies

LEAST = 20


@pytest.fixture
def asked(client):
    return Published.of(sample(), client=client)


def stream(asked, n, *, seed, missing):
    """Replies in the order in which they come; of the three areas one is rare, and comes late or never."""
    rng, rows = np.random.default_rng(seed), []
    rare = rng.choice([0.0, 0.05, 0.15])
    for reply in replies(asked, n, seed=seed, missing=missing):
        area = rng.choice(["city", "town", "country", None], p=[0.5 - rare, 0.4, rare, 0.1])
        rows.append((reply.day, json.dumps(json.loads(reply.answers) | {"area": area})))
    return rows


class Seen:
    """What somebody knows who looks after every reply: for each table of a question, whom it counts."""

    def __init__(self, people):
        self.people = people
        self.tables, self.last = {}, {}

    def look(self, shown, k, cells):
        """Note which people each table counts now. `cells` are everybody's cells, by table."""
        for (question, beside), counts in sharing._by_tally(sharing.public_counts(shown)).items():
            for part, own in self._parts(beside, counts).items():
                told = {cell: n for cell, n in own.items() if json.loads(cell)[0] is not None}
                inside = [
                    place
                    for place, cell in enumerate(cells[question, beside][:k])
                    if json.loads(cell)[0] is not None and (not beside or json.loads(cell)[-1] == part)
                ]
                if Counter(cells[question, beside][place] for place in inside) == told:
                    self.last[question, beside, part] = told
                    self.tables.setdefault(question, {}).setdefault((beside, part), set()).add(tuple(inside))
                assert self.last[question, beside, part] == told  # now, or as it was at an earlier view

    @staticmethod
    def _parts(beside, counts):
        parts = {}
        for cell, n in counts.items():
            parts.setdefault(json.loads(cell)[-1] if beside else "", {})[cell] = n
        return parts

    def fewest(self, question):
        """The fewest people about whom any sum or difference of the question's tables tells something."""
        sets = [each for versions in self.tables[question].values() for each in versions]
        indicators = np.zeros((len(sets), self.people))
        for row, inside in enumerate(sets):
            indicators[row, list(inside)] = 1
        patterns, sizes = np.unique(indicators.T, axis=0, return_counts=True)
        sizes = sizes[patterns.any(axis=1)]
        patterns = patterns[patterns.any(axis=1)]
        whole, small = np.linalg.matrix_rank(patterns), np.flatnonzero(sizes < LEAST)
        for many in range(1, min(len(small), 4) + 1):
            for chosen in itertools.combinations(small.tolist(), many):
                others = np.delete(patterns, chosen, axis=0)
                # a combination that vanishes on everybody else is about the chosen alone
                if sizes[list(chosen)].sum() < LEAST and (not len(others) or np.linalg.matrix_rank(others) < whole):
                    return int(sizes[list(chosen)].sum())
        return LEAST


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_added_or_subtracted_is_about_a_few(asked, seed):
    """Across all views, subgroups and the whole; by linear algebra, over replies in random order with gaps."""
    counting, by = Counting(asked), "area"
    rows = stream(asked, 340, seed=seed, missing=0.3)
    each = [counting.count([row]) for row in rows]
    cells, questions = {}, ("smoking", "income", "age", "health", "news/paper")
    for key in each[0]:
        if key.beside in ("", by):
            cells[key.question, key.beside] = []
    for counts in each:
        for key in counts:
            if (key.question, key.beside) in cells and not key.day:
                cells[key.question, key.beside].append(key.cell)
    seen, now, shown, moves = Seen(len(rows)), Counter(), Counter(), 0
    for k, counts in enumerate(each, start=1):
        now.update({key: n for key, n in counts.items() if key.beside in ("", by)})
        after = sharing.released_counts(counting, shown, now, by=by, least=LEAST)
        if after != shown:
            moves += 1
            seen.look({key: n for key, n in after.items() if key.question in questions}, k, cells)
        shown = after
    assert moves > 3
    assert any(beside for beside, _ in seen.tables["smoking"])
    for question in questions:
        assert seen.fewest(question) >= LEAST, question


def test_the_attack_finds_what_moves_too_finely(asked):
    """The same attack on a page that shows everything at once, and on one whose groups move by themselves."""
    counting, rows = Counting(asked), stream(asked, 60, seed=1, missing=0.0)
    each = [counting.count([row]) for row in rows]
    cells = {("smoking", ""): [key.cell for counts in each for key in counts if key[:3] == ("smoking", "", "")]}
    seen = Seen(60)
    for k in (40, 41):
        now = Counter({key: n for key, n in sum(each[:k], Counter()).items() if key[:2] == ("smoking", "")})
        seen.look(now, k, cells)
    assert seen.fewest("smoking") == 1


def test_below_the_floor_nothing_is_shown(store, asked):
    store.open(asked)
    sharing.share(store, "sample")
    fill(store, asked, LEAST - 1, seed=1, missing=0.0)
    below = sharing.shared_page(store, "sample")
    assert "<dd>0</dd>" in below
    assert "%" not in below
    assert below.count("Shown from 20 answers on.") == len(of_all(store, asked))
    fill(store, asked, 1, seed=2, missing=0.0)
    assert "<dd>20</dd>" in sharing.shared_page(store, "sample")


@pytest.mark.parametrize("by", [None, "area"])
def test_a_shared_page_shows_no_quartile_whatever_its_row_is_called(store, asked, monkeypatch, by):
    """An interval of a quartile ends at what some person said."""
    words = {"first quartile": "1. Quartil", "median": "Zentralwert", "third quartile": "3. Quartil"}
    records = Numbers.records

    def translated(self):
        columns, rows = records(self)
        return Records(columns, [[words.get(name, name), *row] for name, *row in rows])

    monkeypatch.setattr(Numbers, "records", translated)
    store.open(asked)
    sharing.share(store, "sample", by=by)
    fill(store, asked, 300, seed=1, missing=0.0)
    shared, own = sharing.shared_page(store, "sample"), page(store, "sample", by=by)
    assert "mean" in shared
    for word in words.values():
        assert word in own
        assert word not in shared


def of_all(store, asked):
    return [spec for spec in Counting(asked).specs if not spec.by_day and not spec.beside]


def test_two_views_with_a_few_replies_between_them_are_the_same_bytes(store, asked):
    store.open(asked)
    sharing.share(store, "sample", by="area")
    fill(store, asked, 100, seed=1)
    fold, first, before = folding(store), sharing.shared_page(store, "sample"), shown(store, asked)
    for seed in range(LEAST - 1):
        fill(store, asked, 1, seed=100 + seed)
        if seed % 3 == 0:
            fold(100)
        assert shown(store, asked) == before
    assert sharing.shared_page(store, "sample") == first
    fill(store, asked, 1, seed=7)
    assert sharing.shared_page(store, "sample") != first


def test_a_question_that_few_answered_stays_although_the_survey_moves(store, asked):
    store.open(asked)
    sharing.share(store, "sample")
    fill(store, asked, 60, seed=1, missing=0.0)
    first = shown(store, asked)
    some = list(replies(asked, 40, seed=2, missing=0.0))
    silent = [
        type(each)(*(*vars(each).values(),)[:3], json.dumps(json.loads(each.answers) | {"age": None}), each.day)
        for each in some[:30]
    ]
    store.add(silent + some[30:])
    after = shown(store, asked)
    assert sizes(after)["", ""] == 100
    assert sizes(after)["smoking", ""] == 100
    assert sizes(after)["age", ""] == sizes(first)["age", ""] == 60  # ten more answers are too few


def shown(store, asked):
    return sharing._latest(store, Counting(asked))[0]


def sizes(counts):
    return {tally: sum(cells.values()) for tally, cells in sharing._by_tally(counts).items()}


def test_what_was_shown_is_remembered_over_links(store, asked):
    store.open(asked)
    first = sharing.share(store, "sample", by="area")
    fill(store, asked, 80, seed=1)
    page = sharing.shared_page(store, "sample")
    sharing.revoke(store, "sample")
    fill(store, asked, LEAST - 1, seed=2)
    second = sharing.share(store, "sample", by="area")
    assert sharing.shared_page(store, "sample") == page
    assert first != second
    assert sharing.survey_of(store, first.removeprefix(sharing.PATH)) is None
    assert sharing.survey_of(store, second.removeprefix(sharing.PATH)) == "sample"
    for other in ({"by": None}, {"by": "area", "least": 30}):
        with pytest.raises(DataError, match="were shared by area in steps of 20; leave it so"):
            sharing.share(store, "sample", **other)


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        ({"least": 4}, "steps of 5 people or more; got 4"),
        ({"by": "smoking"}, "no plain question .* groups are made by: area"),
    ],
)
def test_what_cannot_be_shared_is_told(store, asked, asks, told):
    store.open(asked)
    with pytest.raises(DataError, match=told):
        sharing.share(store, "sample", **asks)
    with pytest.raises(DataError, match="no link to the results of 'sample'; naysay survey share sample makes one"):
        sharing.revoke(store, "sample")


def test_two_servers_that_step_at_once_show_the_same(url, asked, monkeypatch):
    """One looks at the tallies, then others reply and the other server takes a step; the first shows that step."""
    one, other = Store(url), Store(url)
    one.open(asked)
    sharing.share(one, "sample")
    fill(one, asked, 30, seed=1)
    pages = []

    def late(store, published, **beside):
        found = current_counts(store, published, **beside)
        if store is one and not pages:
            pages.append("")
            fill(other, asked, 5, seed=2)
            pages[0] = sharing.shared_page(other, "sample")
        return found

    monkeypatch.setattr(sharing, "current_counts", late)
    assert sharing.shared_page(one, "sample") == pages[0]
    assert "<dd>35</dd>" in pages[0]
    one.dispose()
    other.dispose()


def test_the_link_opens_the_page_and_nothing_else(naysay, client, tmp_path):
    store = Store(tmp_path / "naysay.db")
    asked, other = sample(), sample().model_copy(update={"name": "other"})
    with background(create_app([asked, other], store, client=client)) as server:
        code, out, err = naysay("survey", "share", "sample", "--by", "area", "--data", tmp_path)
        path = out.strip()
        secret = path.removeprefix("/results/")
        assert (code, len(secret)) == (0, 32)
        assert "it is not shown again" in err
        fill(store, Published.of(asked, client=client), 50, seed=1)
        found = httpx2.get(f"{server}{path}?lang=de")
        assert found.status_code == 200
        assert 'lang="de"' in found.text
        assert "Wo wohnen Sie?" in found.text
        assert "default-src 'none'" in found.headers["content-security-policy"]
        assert found.headers["cache-control"] == "no-store"
        assert 'style="' not in found.text
        assert "<script" not in found.text
        assert "<form" not in found.text
        assert httpx2.post(f"{server}{path}").status_code == 405
        for wrong in (secret[:-1], secret.swapcase(), "sample", "x" * 32):
            assert httpx2.get(f"{server}/results/{wrong}").status_code == 404
        assert httpx2.get(f"{server}/results.css").headers["content-type"] == "text/css; charset=utf-8"
        assert "ended" in naysay("survey", "share", "sample", "--revoke", "--data", tmp_path).out
        assert httpx2.get(f"{server}{path}").status_code == 404
        kept = b"".join(each.read_bytes() for each in Path(tmp_path).glob("naysay.db*"))
        assert secret.encode() not in kept
    code, _, err = naysay("survey", "share", "sample", "--revoke", "--by", "area", "--data", tmp_path)
    assert (code, "leave --by and --least out" in err) == (2, True)
    store.delete("sample")
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM shared").scalar() == 0
    store.dispose()
