"""The search: every combination against the oracle, its theorems, stopping and going on."""

import json
import math
import sys
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata.combinations import lattice as lattices
from naysay.microdata.risk.theta import Sizes

from . import brute
from .tables import POLICIES, RULES, columns, names, tables

PLAIN = st.one_of(st.none(), st.integers(0, 2))


def encoded(rows, **options):
    return microdata.Keys(columns(rows), names(rows), **options)


def by_trying(rows, places, rule, policies):
    """Sizes k and m on some keys, by the oracle."""
    part = [tuple(row[place] for place in places) for row in rows]
    own = [policies[place] for place in places]
    k = [size for size in brute.anonymity(part, own) if size is not None]
    m = [size for size in brute.matches(part, rule, own) if size is not None]
    return Sizes.of(np.array(k, np.int64)), Sizes.of(np.array(m, np.int64))


def same(one, other):
    return all(a == b or (a != a and b != b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True))


def agrees(rows, rule, policies):
    keys = encoded(rows, missing=dict(zip(names(rows), policies, strict=True)))
    found = microdata.search(keys, size=len(names(rows)), rule=rule)
    assert found.asked == len(found.combinations) == 2 ** len(names(rows)) - 1
    for each in found.combinations:
        places = [keys.columns.index(name) for name in each.keys]
        k, m = by_trying(rows, places, rule, policies)
        assert same(each.k, k), each.keys
        assert same(each.m, m), each.keys


@given(tables(), st.sampled_from(RULES), st.lists(st.sampled_from(POLICIES), min_size=4, max_size=4))
def test_every_combination_has_the_sizes_that_trying_finds(rows, rule, policies):
    agrees(rows, rule, policies[: len(rows[0])])


@given(tables(cells=PLAIN, most=25), st.lists(st.sampled_from(POLICIES), min_size=4, max_size=4), st.data())
def test_whatever_way_a_combination_is_counted(rows, policies, data):
    """Tables of all combinations, bisection, parents on the shelf or not: the same numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattices, "cube_cells", lambda file: math.inf if shelved else 1e15)
        patch.setattr(lattices, "_DENSE", data.draw(st.sampled_from([0, 1 << 20])))
        patch.setattr(lattices, "_LARGEST", math.inf)
        patch.setattr(lattices, "_ROOM", data.draw(st.sampled_from([0, 60, 2**30])))
        shelved = data.draw(st.booleans())
        agrees(rows, "worst", policies[: len(rows[0])])


@given(tables(most=20), st.sampled_from(RULES))
def test_a_key_more_never_raises_m_nor_k_nor_lowers_who_stands_out(rows, rule):
    found = microdata.search(encoded(rows), size=len(names(rows)), rule=rule)
    sizes = {frozenset(each.keys): each for each in found.combinations}
    for keys, each in sizes.items():
        for key in keys if len(keys) > 1 else ():
            fewer = sizes[keys - {key}]
            assert each.m.unique >= fewer.m.unique
            assert each.m.below_5 >= fewer.m.below_5
            assert each.m.smallest <= fewer.m.smallest
            assert each.deleted >= fewer.deleted


@given(tables(cells=st.integers(0, 2), most=20))
def test_without_gaps_k_is_m_and_grows_no_larger(rows):
    found = microdata.search(encoded(rows), size=len(names(rows)))
    assert all(same(each.k, each.m) and each.deleted == 0 for each in found.combinations)


def many(n=400, keys=6, seed=3, gone=0.15):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, keys)
    return {
        f"key {place}": [None if rng.random() < gone else int(rng.integers(size)) for _ in range(n)]
        for place, size in enumerate(sizes)
    }


@pytest.fixture(scope="module")
def keys():
    table = many()
    return microdata.Keys(table, list(table))


@pytest.fixture(scope="module")
def whole(keys):
    return microdata.search(keys, size=3)


def test_it_ranks_by_who_stands_out(keys, whole):
    numbers = [(each.m.unique, each.m.below_5) for each in whole.combinations]
    assert numbers == sorted(numbers, reverse=True)
    other = microdata.search(keys, size=3, measure="anonymity")
    unique = [each.k.unique for each in other.combinations]
    assert unique == sorted(unique, reverse=True)
    assert {each.keys for each in other.combinations} == {each.keys for each in whole.combinations}
    assert [each.unique("anonymity") for each in other.combinations] == unique
    assert [len(each.keys) for each in whole.of(2)] == [2] * 15
    assert (whole.complete, whole.left, whole.reason) == (3, 0, "")


def test_theta_of_each_combination_is_that_of_the_table(keys, whole):
    found = microdata.search(keys, size=3, population=20_000, confidence=0.9)
    asked = [each.keys for each in found.combinations]
    table = microdata.risk_table(keys, asked, population=20_000, confidence=0.9).to_dict()["quasi_identifiers"]
    names = ("theta", "theta_interval", "theta_withheld")
    assert any(each["listwise"]["theta"] for each in table)
    for each, row in zip(found.to_dict()["combinations"], table, strict=True):
        for part in ("listwise", "matches"):
            assert {name: each[part][name] for name in names} == {name: row[part][name] for name in names}
    assert "θ on m" in str(found)
    assert "θ" not in str(whole)
    assert "theta" not in whole.to_dict()["combinations"][0]["matches"]


@pytest.mark.parametrize("options", [{"population": 3}, {"population": "many"}, {"confidence": 1.5}])
def test_theta_needs_a_population_and_a_confidence(keys, options):
    with pytest.raises(DataError, match=r"population|confidence"):
        microdata.search(keys, size=1, **options)


def test_two_searches_are_alike_and_the_order_of_rows_does_not_matter(keys, whole):
    assert microdata.search(keys, size=3).to_dict() == whole.to_dict()
    rng = np.random.default_rng(1)
    order = rng.permutation(400)
    table = {name: [cells[row] for row in order] for name, cells in many().items()}
    assert microdata.search(microdata.Keys(table, list(table)), size=3).to_dict() == whole.to_dict()


def test_it_says_how_far_it_is(keys):
    told = []
    microdata.search(keys, size=2, progress=lambda name, share: told.append((name, share)))
    assert len(told) == 21
    assert told[0][1] == 0
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert sum(" + " in name for name, _ in told) == 15


def interrupting(after):
    left = iter(range(after))

    def progress(*_):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return progress


def test_one_interrupt_that_is_raised_twice_loses_nothing(keys, whole, monkeypatch):
    """As by polars, which watches for Ctrl-C itself, and then by Python."""

    counted = lattices.Lattice.combination_on
    left = iter(range(12))

    def interrupt(self, places):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return counted(self, places)

    def again(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lattices.Lattice, "combination_on", interrupt)
    monkeypatch.setattr(sys.modules["naysay.microdata.combinations.search"].time, "sleep", again)
    part = microdata.search(keys, size=3, most=40)
    assert part.stopped == "interrupted"
    assert 0 < len(part.combinations) <= 12
    assert all(each in whole.combinations for each in part.combinations)


def test_an_interrupted_search_keeps_what_is_finished_and_goes_on(keys, whole, tmp_path):
    path = tmp_path / "search.jsonl"
    part = microdata.search(keys, size=3, file=path, progress=interrupting(18))
    assert (len(part.combinations), part.left, part.stopped, part.complete) == (18, 23, "interrupted", 1)
    assert "23 of 41 combinations were not counted (interrupted)" in str(part)
    assert all(each in whole.combinations for each in part.combinations)
    more = microdata.search(keys, size=3, file=path, most=5)
    assert (len(more.combinations), more.stopped) == (23, "most")
    done = microdata.search(keys, size=3, file=path)
    assert done.to_dict() == whole.to_dict()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 42
    assert {tuple(json.loads(line)["keys"]) for line in lines[1:]} == {each.keys for each in whole.combinations}

    def refuse(*_):
        raise AssertionError("nothing is left to count")

    assert microdata.search(keys, size=3, file=path, progress=refuse).to_dict() == whole.to_dict()
    smaller = microdata.search(keys, size=2, file=path, progress=refuse)
    assert smaller.to_dict() == microdata.search(keys, size=2).to_dict()


def test_half_a_line_of_a_search_that_was_killed_is_done_again(keys, whole, tmp_path):
    path = tmp_path / "search.jsonl"
    microdata.search(keys, size=3, file=path, most=9)
    with path.open("ab") as stream:
        stream.write(b'{"keys": ["key 1", "ke')
    assert microdata.search(keys, size=3, file=path).to_dict() == whole.to_dict()
    for line in path.read_bytes().splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"missing": "category"}, "other policies for missing cells"),
        ({"columns": ["key 0", "key 1"]}, "other keys"),
        ({"gone": 0.2}, "other data"),
        ({"n": 399}, "other data"),
    ],
)
def test_the_file_of_another_search_is_refused(keys, tmp_path, change, told):
    path = tmp_path / "search.jsonl"
    microdata.search(keys, size=1, file=path)
    before = path.read_bytes()
    table = many(**{name: value for name, value in change.items() if name in ("gone", "n")})
    other = microdata.Keys(table, change.get("columns", list(table)), missing=change.get("missing", "wildcard"))
    with pytest.raises(DataError, match=f"belongs to a search with {told}; name another file"):
        microdata.search(other, size=1, file=path)
    with pytest.raises(DataError, match="another rule"):
        microdata.search(keys, size=1, rule="first", file=path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_search_is_refused(keys, tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text("age,gender\n40,f\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'.*panel.csv' is not the file of a search"):
        microdata.search(keys, size=1, file=path)
    assert path.read_text(encoding="utf-8") == "age,gender\n40,f\n"
    good = tmp_path / "search.jsonl"
    microdata.search(keys, size=1, file=good)
    good.write_text(good.read_text(encoding="utf-8").replace('"m"', '"w"', 1), encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2 of .* is damaged"):
        microdata.search(keys, size=1, file=good)
    with pytest.raises(DataError, match="cannot write to"):
        microdata.search(keys, size=1, file=tmp_path / "nowhere" / "search.jsonl")


def test_the_file_holds_no_value(tmp_path):
    people = {"town": ["Zwolle", "Assen", "Zwolle", None], "born": [19_713, 19_684, 19_713, 19_684]}
    path = tmp_path / "search.jsonl"
    microdata.search(microdata.Keys(people, ["town", "born"]), size=2, file=path)
    text = path.read_text(encoding="utf-8").partition("\n")
    assert "Zwolle" not in text[0] + text[2]
    assert "19713" not in text[2]


def test_its_time_can_be_up(keys):
    found = microdata.search(keys, size=6, minutes=1e-9)
    assert (found.stopped, found.complete) == ("minutes", 0)
    assert "its time was up" in str(found)
    assert "not even all single keys" in str(found)


def test_a_search_of_days_asks_for_a_limit_and_says_how_much_there_is():
    table = {f"key {place}": [1, 2, 2, 1] for place in range(60)}
    keys = microdata.Keys(table, list(table))
    plan = microdata.search_plan(keys, size=20)
    assert plan.number == sum(math.comb(60, size) for size in range(1, 21))
    assert plan.time > microdata.search_plan(keys, size=2).time
    with pytest.raises(DataError, match=r"7,?\d{3},\d{3},\d{3},\d{3},\d{3} combinations of up to 20 of 60 keys, about"):
        microdata.search(keys, size=20)
    with pytest.raises(DataError, match=r"up to 17: .*; up to 18: .*; up to 19"):
        microdata.search(keys, size=20)
    assert len(microdata.search(keys, size=20, most=70).combinations) == 70


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"size": 0}, "size must be a number of keys, from 1 to 6; got 0"),
        ({"size": 7}, "from 1 to 6; got 7"),
        ({"size": True}, "got True"),
        ({"size": 2.0}, "got 2.0"),
        ({"rule": "best"}, "rule must be one of"),
        ({"measure": "l"}, "measure must be one of"),
        ({"most": 0}, "most must be a number of combinations"),
        ({"minutes": 0}, "minutes must be positive"),
        ({"minutes": math.nan}, "minutes must be positive"),
    ],
)
def test_bad_questions_are_refused(keys, options, told):
    with pytest.raises(DataError, match=told):
        microdata.search(keys, **options)


def test_sets_that_combine_in_too_many_ways_say_so():
    people = {f"key {place}": [list(range(100)), 1] for place in range(5)}
    keys = microdata.Keys(people, list(people))
    assert len(microdata.search(keys, size=3, rule="intersect").combinations) == 25
    with pytest.raises(DataError, match="too many to take each as known"):
        microdata.search(keys, size=5)


def test_text_html_and_json_tell_the_same(whole):
    text = str(whole)
    first = whole.combinations[0]
    assert f"{' + '.join(first.keys)}" in text
    assert whole._repr_html_().startswith("<h3>Search for dangerous combinations")
    told = whole.to_dict()
    json.dumps(told, allow_nan=False)
    assert told["combinations"][0]["matches"]["m1"] == first.m.unique
    assert told["combinations"][0]["listwise"]["pr_su_all"] == first.pr_su_all
    assert [told[name] for name in ("asked", "finished", "complete", "stopped")] == [41, 41, 3, None]


def test_the_numbers_are_those_of_the_table_of_risk(keys, whole):
    best = whole.combinations[:4]
    table = microdata.risk_table(many(), [each.keys for each in best], population=1e5)
    for each, row in zip(best, table.quasi_identifiers, strict=True):
        assert (each.k, each.m) == (row.listwise.sizes, row.matches.sizes)
        assert (each.pr_su, each.pr_su_kept, each.pr_su_all, each.deleted) == (
            row.matches.pr_su,
            row.listwise.pr_su_kept,
            row.listwise.pr_su_all,
            row.listwise.deleted,
        )


def test_contributions_add_up(keys, whole):
    told = microdata.contributions(whole)
    assert sum(each.averaged for each in told.keys) == pytest.approx(len(told.keys) / 3 * told.mean)
    assert told.mean == pytest.approx(np.mean([each.pr_su for each in whole.of(3)]))
    full = microdata.search(keys, size=6)
    shapley = microdata.contributions(full)
    assert shapley.every == full.combinations[0].pr_su == shapley.mean
    assert sum(each.averaged for each in shapley.keys) == pytest.approx(shapley.every)
    shares = {frozenset(each.keys): each.pr_su for each in full.combinations} | {frozenset(): 0.0}
    for each in shapley.keys:
        assert each.alone == shares[frozenset([each.key])]
        assert each.last == shapley.every - shares[frozenset(keys.columns) - {each.key}]


@given(tables(most=9), st.sampled_from(["matches", "anonymity"]))
def test_contributions_are_the_average_over_all_orders(rows, measure):
    keys = encoded(rows)
    found = microdata.search(keys, size=len(keys.columns), measure=measure)
    shares = {frozenset(each.keys): each.unique(measure) / keys.n for each in found.combinations}
    shares[frozenset()] = float(keys.n == 1)
    orders = list(permutations(keys.columns))
    for each in microdata.contributions(found).keys:
        added = [
            shares[frozenset(order[: order.index(each.key) + 1])] - shares[frozenset(order[: order.index(each.key)])]
            for order in orders
        ]
        assert each.averaged == pytest.approx(np.mean(added))


def test_contributions_of_an_unfinished_search_are_those_of_what_is_complete(keys):
    part = microdata.search(keys, size=3, most=10)
    told = microdata.contributions(part)
    assert told.size == 1
    assert [each.averaged for each in told.keys] == [each.alone for each in told.keys]
    with pytest.raises(DataError, match="contributions need a search that finished at least each key alone"):
        microdata.contributions(microdata.search(keys, size=3, most=5))
    asked = []
    microdata.contributions(part, progress=lambda name, share: asked.append((name, share)))
    assert asked[:2] == [("without key 0", 0.0), ("without key 1", 1 / 6)]


def test_all_combinations_are_there_once(whole):
    every = {each for size in (1, 2, 3) for each in combinations(whole.keys.columns, size)}
    assert {each.keys for each in whole.combinations} == every
    assert len(whole.combinations) == len(every)


def test_keys_whose_values_combine_in_more_ways_than_a_number_holds_are_counted_right():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 2_000, 4_000)
    table = {f"key {place}": rng.permutation(2_000)[person] for place in range(6)}
    table["job"] = [
        None if missing else int(job) for missing, job in zip(rng.random(4_000) < 0.3, person % 60, strict=True)
    ]
    keys = microdata.Keys(table, list(table))
    assert np.prod([float(size) for size in keys.sizes]) > 2**64
    (whole,) = microdata.search(keys, size=7, minutes=5).of(7)
    assert whole.m.unique == (microdata.matches(keys) == 1).sum()
