"""What was said, counted: from any form, in any order, added, saved."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.errors import DataError
from naysay.tally import Tally

ABC, ABCD = tuple("abc"), tuple("abcd")
ONE = designs.negative(ABC)
SETS = designs.negative(ABCD, discards=2)
CHOICE = designs.negative_levels(ABCD)

answers_of_one = st.lists(st.sampled_from([*ABC, None]), min_size=1, max_size=40).filter(any)


def same(one, other):
    """Whether two tallies say the same, part by part."""
    assert (one.n, one.missing, one.weighted, one.categories) == (
        other.n,
        other.missing,
        other.weighted,
        other.categories,
    )
    order = lambda tally: sorted(tally.parts, key=lambda part: str(part.level))  # noqa: E731
    for mine, theirs in zip(order(one), order(other), strict=True):
        assert (str(mine.level), mine.missing) == (str(theirs.level), theirs.missing)
        assert mine.design == theirs.design
        np.testing.assert_array_equal(mine.codes, theirs.codes)
        np.testing.assert_array_equal(mine.count, theirs.count)
        np.testing.assert_allclose(mine.weight, theirs.weight, rtol=1e-12)
        np.testing.assert_allclose(mine.weight_squared, theirs.weight_squared, rtol=1e-12)
        assert mine.missing_weight == pytest.approx(theirs.missing_weight)
    return True


@given(answers_of_one)
def test_a_tally_counts_every_answer_once(answers):
    tally = ONE.tally(answers)
    assert tally.counts.tolist() == [answers.count(label) for label in ABC]
    assert tally.n + tally.missing == len(answers)
    assert tally.missing == answers.count(None)
    counted = {label: answers.count(label) for label in dict.fromkeys(answers)}
    assert same(tally, ONE.tally(counted))
    assert same(tally, ONE.tally(list(counted), count=list(counted.values())))
    assert same(tally, ONE.tally(answers[::-1]))
    assert same(tally, ONE.tally(ONE.encode(answers)))
    if tally.missing == 0:
        assert same(tally, ONE.tally(count=tally.counts))


@given(answers_of_one, answers_of_one, answers_of_one)
def test_tallies_add_in_any_order(one, two, three):
    a, b, c = map(ONE.tally, (one, two, three))
    whole = ONE.tally(one + two + three)
    assert same(a + b, b + a)
    assert same((a + b) + c, a + (b + c))
    assert same(sum([a, b, c]), whole)


@given(st.lists(st.tuples(st.sampled_from([*ABC, None]), st.floats(0.1, 9), st.integers(0, 5)), min_size=1))
def test_weights_and_counts_are_sums_and_sums_of_squares(rows):
    said, weights, count = zip(*rows, strict=True)
    if not any(answer and people for answer, _, people in rows):
        return
    tally = ONE.tally(said, weights=weights, count=count)
    spelled = [(answer, weight) for answer, weight, people in rows for _ in range(people)]
    assert same(tally, ONE.tally(*[[row[0] for row in spelled]], weights=[row[1] for row in spelled]))
    part = tally.parts[0]
    for code, n, total, squared in zip(part.codes[:, 0], part.count, part.weight, part.weight_squared, strict=True):
        own = [weight for answer, weight in spelled if answer == ABC[code]]
        assert n == len(own)
        assert total == pytest.approx(sum(own))
        assert squared == pytest.approx(sum(weight**2 for weight in own))
    assert part.missing_weight == pytest.approx(sum(weight for answer, weight in spelled if answer is None))


def test_tallies_of_different_designs_do_not_add():
    for other in (designs.direct(ABC).tally(["a"]), designs.warner(p=0.7).tally(["yes"])):
        with pytest.raises(DataError, match=r"of different designs, \w{12}… and \w{12}…; estimate each by itself"):
            ONE.tally(["a", "b"]) + other


def test_counts_belong_to_one_design():
    with pytest.raises(DataError, match="counts belong to one design; this tally has 3 parts"):
        _ = CHOICE.tally(["a", "a;b"], level=[1, 2]).counts


def test_a_tally_adds_to_tallies_only():
    with pytest.raises(TypeError):
        ONE.tally(["a"]) + 3


SAVED = {
    "labels": ONE.tally(["a", "b", None]),
    "weighted": ONE.tally(["a", "b", None], weights=[0.5, 2, 3]),
    "sets": SETS.tally(["a;b", "c;d", "a;b"]),
    "two words": designs.negative(range(70), discards=1 + 30).tally([set(range(31)), set(range(39, 70)), None]),
    "levels": CHOICE.tally(["a", "a;b", "", "a;b;c"], level=[1, 2, 1, 3]),
    "named levels": designs.levels(masked=designs.warner(p=0.7), open=designs.direct(("yes", "no"))).tally(
        ["yes", "no"], level=["open", "masked"]
    ),
    "two questions": (designs.two_coins() * ONE).tally((["yes", None], ["a", "b"])),
    "a question": ONE.tally({"Frage: «wo?»": ["a", "b"]}, "Frage: «wo?»"),
}


@pytest.mark.parametrize("tally", SAVED.values(), ids=SAVED.keys())
def test_a_tally_is_the_same_after_saving(tally, tmp_path):
    tally.save(tmp_path / "said.tally")
    again = Tally.load(tmp_path / "said.tally")
    assert same(again, tally)
    assert again.question == tally.question
    assert [part.level for part in again.parts] == [part.level for part in tally.parts]
    assert len((again + tally).parts) == len(tally.parts)


def test_a_saved_tally_holds_no_rows(tmp_path):
    SETS.tally([{"a", "b"}] * 1_000).save(tmp_path / "said.npz")
    with np.load(tmp_path / "said.npz") as stored:
        assert max(stored[name].size for name in stored.files if name != "head") == 1


def test_a_tally_of_a_later_version_asks_for_an_update(tmp_path):
    path = tmp_path / "said.npz"
    head = {"naysay": "tally", "version": 5, "question": None}
    with path.open("wb") as file:
        np.savez(file, head=np.array(json.dumps(head)))
    with pytest.raises(DataError, match=r"saved by a later naysay \(format 5\); please update"):
        Tally.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04 broken", b"\x93NUMPY", json.dumps({"naysay": "tally"}).encode()]
)
def test_a_file_that_is_no_tally_is_named(content, tmp_path):
    (tmp_path / "said.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"said\.npz' is not a tally that naysay saved"):
        Tally.load(tmp_path / "said.npz")
    with pytest.raises(DataError, match=r"there is no file '.*nowhere\.npz'"):
        Tally.load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize("head", [{}, {"version": "x"}, {"version": 1}, [], 3, {"version": 1, "parts": [{}]}])
def test_a_tally_with_a_foreign_head_is_refused(head, tmp_path):
    with (tmp_path / "said.npz").open("wb") as file:
        np.savez(file, head=np.array(json.dumps(head)))
    with pytest.raises(DataError, match="is not a tally that naysay saved"):
        Tally.load(tmp_path / "said.npz")


BAD = {
    "no answers": (lambda: ONE.tally([]), "at least one answer is needed; there are none"),
    "all missing": (lambda: ONE.tally([None, "", math.nan]), "at least one answer is needed; all 3 are missing"),
    "one missing": (lambda: ONE.tally([None]), "at least one answer is needed; the one answer is missing"),
    "no counts": (lambda: ONE.tally(count=[0, 0, 0]), "at least one answer is needed; all counts are 0"),
    "no counted": (lambda: ONE.tally({}), "at least one answer is needed; there are none"),
    "nothing": (ONE.tally, "answers must be a sequence"),
    "negative count": (
        lambda: ONE.tally(count=[1, -2, 3]),
        "counts must be finite and not negative; got -2 in place 2",
    ),
    "NaN count": (lambda: ONE.tally(count=[1, 2, math.nan]), "counts must be finite .* got nan in place 3 of 3"),
    "fractional count": (
        lambda: ONE.tally(count=[1, 2.5, 3]),
        r"whole numbers; got 2\.5 .*survey weights go into weights=",
    ),
    "text counts": (lambda: ONE.tally(count=["x", 1, 2]), "counts must be numbers"),
    "too few counts": (lambda: ONE.tally(count=[1, 2]), "one number for each of the 3 responses; got 2"),
    "square counts": (
        lambda: ONE.tally(count=[[1, 2, 3]]),
        r"for each answer; got an array of shape \(1, 3\)",
    ),
    "unknown counted": (lambda: ONE.tally({"a": 3, "x": 4}), "is 'x', which is not a response here"),
    "negative counted": (lambda: ONE.tally({"a": -3}), "not negative"),
    "negative weight": (lambda: ONE.tally(["a", "b"], weights=[1, -1]), "weights must be finite .* -1 in place 2 of 2"),
    "NaN weight": (lambda: ONE.tally(["a", "b"], weights=[1, math.nan]), "weights must be finite"),
    "infinite weight": (lambda: ONE.tally(["a", "b"], weights=[1, math.inf]), "got inf"),
    "zero weights": (lambda: ONE.tally(["a", "b"], weights=[0, 0]), "must not all be zero"),
    "missing weight": (lambda: ONE.tally(["a", "b"], weights=[1]), "one number for each of the 2 answers; got 1"),
    "a label in place of a set": (lambda: SETS.tally(["a"]), "must be a set of 2 of the 4 categories"),
    "answers of another design": (
        lambda: SETS.tally(ONE.randomize(["a"], rng=np.random.default_rng(1))),
        "given to another design",
    ),
    "levels of another offer": (
        lambda: designs.negative_levels(ABC).tally(CHOICE.randomize(["a"], rng=np.random.default_rng(1))),
        "given to another design",
    ),
    "too few groups": (lambda: ONE.tally(["a", "b"], by=["x"]), "one group to each of the 2 answers; got 1"),
    "a group without answer": (
        lambda: ONE.tally(["a", None], by=["x", "y"]),
        "in group 'y' at least one answer is needed",
    ),
    "weights short of groups": (
        lambda: ONE.tally(["a", "b"], by=["x", "y"], weights=[1]),
        "for each of the 2 answers; got 1",
    ),
    "a frame without column": (lambda: ONE.tally(__import__("polars").DataFrame({"a": ["b"]})), "name the column"),
}


@pytest.mark.parametrize(("count", "message"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_counted_is_said(count, message):
    with pytest.raises(DataError, match=message):
        count()


def test_groups_are_tallied_apart():
    said, group = ["a", "b", "b", None, "c"], ["x", "y", "x", "x", None]
    tallies = ONE.tally(said, by=group)
    assert list(tallies) == [None, "x", "y"]
    assert same(tallies["x"], ONE.tally(["a", "b", None]))
    assert same(sum(tallies.values()), ONE.tally(said))
    weighted = ONE.tally(said, by=[1.0, math.nan, 1.0, math.nan, 1.0], weights=[1, 2, 3, 4, 5], count=[1, 1, 2, 1, 1])
    assert list(weighted) == [None, 1.0]
    assert weighted[1.0].weight == 1 + 2 * 3 + 5
    by_level = CHOICE.tally(["a", "a;b", "b"], level=[1, 2, 1], by=["x", "x", "y"])
    assert by_level["x"].by_level[2].n == 1


def test_counts_may_be_given_by_response():
    assert same(SETS.tally({"a;b": 3, frozenset("cd"): 2, None: 1}), SETS.tally(["a;b"] * 3 + ["d;c"] * 2 + [None]))
    both = designs.two_coins() * ONE
    assert same(both.tally({("yes", "a"): 2, ("no", "c"): 1}), both.tally((["yes", "yes", "no"], ["a", "a", "c"])))
    levels = CHOICE.tally({"a": 2, "a;b": 3}, level=[1, 2])
    assert {level: part.n for level, part in levels.by_level.items()} == {1: 2, 2: 3, 3: 0}


def test_a_level_that_nobody_chose_has_an_empty_part():
    tally = CHOICE.tally(["a", "b"], level=[1, 1])
    assert [(part.level, part.n) for part in tally.parts] == [(1, 2), (2, 0), (3, 0)]


def test_a_tally_shows_itself():
    assert repr(ONE.tally(["a", "b", None])) == "<Tally: 2 answers, 1 missing, 2 distinct>"
    assert repr(ONE.tally({"q": ["a"]}, "q")) == "<Tally: 1 answers to 'q', 1 distinct>"


def test_an_answer_that_no_category_gives_is_refused():
    design = designs.custom([[1, 0], [0, 1], [0, 0]], categories=("a", "b"), responses=("x", "y", "z"))
    with pytest.raises(DataError, match="nobody can have answered 'z'"):
        design.tally(["x", "y", "z"])


def test_more_people_than_floating_point_can_count_are_refused():
    with pytest.raises(DataError, match=r"at most 2\*\*53"):
        designs.two_coins().tally(count=[9e18, 1])


def test_labels_that_are_tuples_survive_saving(tmp_path):
    choice = designs.negative_levels(((1, 2), (3, 4), (5, 6)))
    tally = choice.tally(choice.randomize([(1, 2), (3, 4)], level=[1, 1], rng=np.random.default_rng(0)))
    tally.save(tmp_path / "said.tally")
    assert Tally.load(tmp_path / "said.tally").categories == ((1, 2), (3, 4), (5, 6))
    assert not list(tmp_path.glob("*.part"))


def test_a_tally_that_cannot_be_written_says_where(tmp_path):
    with pytest.raises(DataError, match="cannot write"):
        designs.two_coins().tally(["yes"]).save(tmp_path / "nowhere" / "said.tally")


@given(answers_of_one, answers_of_one)
def test_what_is_taken_off_was_never_counted(kept, deleted):
    assert same(ONE.tally(kept + deleted) - ONE.tally(deleted), ONE.tally(kept))


def test_sums_and_levels_are_taken_off_exactly():
    many, rng = designs.subset_selection(40, epsilon=1), np.random.default_rng(1)
    one, two = (many.randomize(rng.integers(0, 40, 50), rng=rng) for _ in range(2))
    whole = many.tally(one) + many.tally(two)
    for name in (left := (whole - many.tally(two)).parts[0]).arrays:
        np.testing.assert_array_equal(getattr(left, name), getattr(many.tally(one).parts[0], name))
    with pytest.raises(DataError, match="a sum would fall below zero"):
        many.tally(one) - many.tally(two)
    both = CHOICE.tally(["a", "a;b", "b"], level=[1, 2, 1])
    assert same(both - CHOICE.tally(["b"], level=[1]), CHOICE.tally(["a", "a;b"], level=[1, 2]))


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (ONE.tally(["a"]), ONE.tally(["a", "a"]), "answer 'a' was given 1 time; 2 cannot be taken off"),
        (ONE.tally(["a"]), ONE.tally(["b"]), "answer 'b' was given 0 times; 1 cannot be taken off"),
        (ONE.tally(["a"]), ONE.tally(["a", None]), "0 answers are missing; 1 cannot be taken off"),
        (ONE.tally(["a"]), designs.direct(ABC).tally(["a"]), "are of different designs"),
        (ONE.tally(["a"], weights=[1]), ONE.tally(["a", "b"], weights=[2, 1]), "answer 'b' was given 0 times"),
        (ONE.tally(["a", "a"], weights=[1, 1]), ONE.tally(["a"], weights=[3]), "weigh more than those that are held"),
    ],
)
def test_nothing_is_taken_off_that_is_not_held(one, other, told):
    with pytest.raises(DataError, match=told):
        one - other


def test_questions_and_waves_do_not_mix():
    for what in ("question", "wave"):
        first, second = (replace(ONE.tally(["a"]), **{what: name}) for name in ("x", "y"))
        for mixed in (lambda a, b: a + b, lambda a, b: a - b):
            with pytest.raises(DataError, match=f"tallies of two {what}s do not add; got 'x' and 'y'"):
                mixed(first, second)
        assert getattr(first + ONE.tally(["b"]), what) == "x"


@pytest.mark.parametrize("count", [[2**62, 2**62, 2**62], [2**53, 0, 1], [-1, 2, 3]])
def test_counters_that_overflow_or_lie_are_refused(count):
    with pytest.raises(DataError, match=r"at most 2\*\*53|must not be negative"):
        replace(ONE.tally(["a", "b", "c"]).parts[0], count=np.array(count))
    largest = replace(ONE.tally(["a"]).parts[0], count=np.array([2**53]))
    with pytest.raises(DataError, match=r"at most 2\*\*53 answers"):
        Tally((largest,)) + ONE.tally(["a"])
