"""Designs made of designs, and what cannot be combined."""

import numpy as np
import pytest

from naysay import designs
from naysay.design import Levels
from naysay.errors import DataError, DesignError

ABC, ABCD = tuple("abc"), tuple("abcd")
OFFER = designs.negative_levels(ABC)
WARNER = designs.warner(p=0.8)


def test_weights_of_a_mix_are_a_proportion():
    parts = designs.direct(ABC), designs.uniform(ABC)
    one_third = designs.mix((1, parts[0]), (2, parts[1]))
    for weights in [(0.5, 1), ("1/3", "2/3"), (10, 20), (np.int64(4), np.float64(8))]:
        other = designs.mix(*zip(weights, parts, strict=True))
        assert other.weights == (1, 2)
        np.testing.assert_array_equal(other.matrix, one_third.matrix)
    as_floats = designs.mix((1 / 3, parts[0]), (1 - 1 / 3, parts[1]))
    np.testing.assert_allclose(as_floats.matrix, one_third.matrix, atol=1e-15)
    assert sum(as_floats.weights) == 2**53, "floats whose digits do not end are rounded"


def test_an_answer_to_a_mix_is_an_error_only_if_it_is_impossible_under_all():
    lottery = designs.mix((1, designs.direct(ABC)), (1, designs.negative(ABC)))
    np.testing.assert_allclose(lottery.likelihood(["a"]), [[0.5, 0.25, 0.25]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "two or more pairs"),
        ([(1, WARNER)], "two or more pairs"),
        ([WARNER, WARNER], r"pairs \(weight, design\)"),
        ([(1, WARNER), (2,)], "pairs"),
        ([(1, WARNER), (0, WARNER)], "must be positive; got '1', '0'"),
        ([(1, WARNER), (-1, WARNER)], "must be positive"),
        ([(1, WARNER), ("x", WARNER)], "a weight of the mix must be a number"),
        ([(1, WARNER), (1, "direct")], "a component of a mix must be a single design; got str"),
        ([(1, designs.direct(ABC)), (1, OFFER)], "got an offer of levels, not one design"),
        ([(1, WARNER), (1, designs.direct(ABC))], "must have the same categories; got 'yes', 'no' and 'a', 'b', 'c'"),
        (
            [(1, designs.negative(ABCD)), (1, designs.negative(ABCD, discards=2))],
            "one response space, or the answer would tell which one was used",
        ),
    ],
)
def test_a_mix_says_what_does_not_fit(parts, message):
    with pytest.raises(DesignError, match=message):
        designs.mix(*parts)


@pytest.mark.parametrize(
    ("combine", "message"),
    [
        (lambda: OFFER.then(designs.uniform(ABC)), "what is followed must be a single design; got an offer of levels"),
        (lambda: designs.uniform(ABC).then(OFFER), "what follows a design must be a single design; got an offer"),
        (lambda: OFFER * designs.cheating_detection(p=(0.25, 0.75)), "cannot be crossed with one of several samples"),
        (lambda: WARNER.then("direct"), "got str"),
        (lambda: designs.levels({"a": OFFER}), "level 'a' must be a single design; got an offer"),
        (lambda: WARNER.then(designs.direct(ABC)), "responses are 'yes', 'no', categories are 'a', 'b', 'c'"),
        (lambda: designs.negative(ABCD, discards=2).then(designs.direct(ABCD)), "reports sets"),
        (lambda: (WARNER * WARNER).then(WARNER), "only a design that reports one label"),
    ],
)
def test_what_cannot_be_combined_is_said(combine, message):
    with pytest.raises(DesignError, match=message):
        combine()


def test_a_design_times_a_number_is_nothing():
    with pytest.raises(TypeError):
        WARNER * 2


def test_one_design_after_another_takes_responses_for_categories():
    first = designs.custom([[0.5, 0.1, 0.2], [0.5, 0.9, 0.8]], categories=ABC, responses=("yes", "no"))
    both = first.then(WARNER)
    np.testing.assert_allclose(both.matrix, WARNER.matrix @ first.matrix)
    assert both.categories == ABC
    assert np.asarray(both.responses).tolist() == ["yes", "no"]


def test_two_questions_may_be_answered_in_part():
    both = WARNER * designs.negative(ABC)
    rows = both.likelihood((["yes", None, "no", None], [None, "b", "c", None]))
    np.testing.assert_allclose(rows[0], np.repeat([0.8, 0.2], 3))
    np.testing.assert_allclose(rows[1], np.tile([0.5, 0, 0.5], 2))
    np.testing.assert_allclose(rows[2], np.kron([0.2, 0.8], [0.5, 0.5, 0]))
    np.testing.assert_allclose(rows[3], 1)


def test_two_questions_have_two_columns():
    both = WARNER * designs.negative(ABC)
    said = both.randomize((["yes", "no"], ["a", "c"]), rng=np.random.default_rng(1))
    one, two = said.parts
    assert set(np.asarray(one)) <= {"yes", "no"}
    assert np.asarray(two)[0] != "a"
    assert np.asarray(said).shape == (2, 2)
    assert both.tally(said).n == both.tally((np.asarray(one), np.asarray(two))).n == 2
    with pytest.raises(DataError, match="two columns"):
        both.randomize(["yes", "no", "yes"])
    with pytest.raises(DesignError, match="have parts"):
        _ = WARNER.randomize(["yes"]).parts


def test_a_pair_that_holds_sets_has_parts_but_no_array():
    both = WARNER * designs.negative(ABCD, discards=2)
    said = both.randomize((["yes"], ["a"]), rng=np.random.default_rng(1))
    with pytest.raises(DesignError, match=r"use `\.parts`"):
        np.asarray(said)
    assert np.asarray(said.parts[1]).sum() == 2


def test_the_matrix_of_a_large_design_is_refused_and_nothing_else():
    design = designs.negative(range(60), discards=30)
    for listing in ("matrix", "responses"):
        with pytest.raises(DesignError, match=r"1\.18e\+17 possible responses, too many to list; `likelihood`"):
            getattr(design, listing)
    said = design.randomize([3, 59], rng=np.random.default_rng(1))
    assert (design.likelihood(said) > 0).sum(axis=1).tolist() == [30, 30]
    assert design.expected_statistic.shape == (60, 60)
    with pytest.raises(DesignError, match="too many to list"):
        _ = design.tally(said).counts


class TestLevels:
    choice = designs.negative_levels(ABCD)

    def test_a_level_is_named_by_its_number_or_its_text(self):
        for name in (2, "2", 2.0, np.int64(2), np.float64(2)):
            assert self.choice.channel(name) == designs.negative(ABCD, discards=2)

    @pytest.mark.parametrize("name", [0, 4, "two", 2.5, None])
    def test_a_level_outside_the_offer_is_named(self, name):
        with pytest.raises(DataError, match="is not on offer; the levels are '1', '2', '3'"):
            self.choice.channel(name)

    def test_everybody_may_choose_for_herself_or_all_alike(self):
        rng = np.random.default_rng(1)
        each = self.choice.randomize(list("abcd"), level=[1, "2", 3.0, 1], rng=rng)
        assert np.asarray(each).sum(axis=1).tolist() == each.level.tolist() == [1, 2, 3, 1]
        for alike in (2, "2", np.int64(2)):
            assert self.choice.randomize(list("abcd"), level=alike, rng=rng).level.tolist() == [2] * 4

    def test_levels_are_drawn_by_preference(self):
        said = self.choice.randomize(["a"] * 6_000, preferences=(0.5, 0, 0.5), rng=np.random.default_rng(4))
        chosen = np.bincount(said.level, minlength=4)[1:]
        assert chosen[1] == 0
        assert chosen[0] == pytest.approx(3_000, abs=4 * 39)
        evenly = self.choice.randomize(["a"] * 6_000, rng=np.random.default_rng(4))
        assert np.bincount(evenly.level)[1:] == pytest.approx(2_000, abs=4 * 37)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"level": [1]}, "each of the 2 respondents needs a level; got 1"),
            ({"level": [1, 7]}, "level 2 of 2 is '7', which is not on offer; the levels are '1', '2', '3'"),
            ({"level": [1, None]}, "level 2 of 2 is empty; say which level it is"),
            ({"level": 1, "preferences": (1, 0, 0)}, "not both"),
            ({"preferences": (0.5, 0.5)}, "preferences must have 3"),
            ({"preferences": (0.5, 0.5, 0.5)}, "sum to one"),
        ],
    )
    def test_levels_say_what_does_not_fit(self, options, message):
        with pytest.raises(DataError, match=message):
            self.choice.randomize(["a", "b"], **options)

    def test_answers_need_their_levels(self):
        for said in (["a"], [{"a"}], [None]):
            with pytest.raises(DataError, match="need `level`"):
                self.choice.tally(said)
        with pytest.raises(DataError, match="need `level`"):
            self.choice.tally(designs.negative(ABCD, discards=2).randomize(["a"]))

    def test_a_set_must_be_of_the_size_of_its_level(self):
        with pytest.raises(DataError, match=r"answer 2 of 2 at level 2 names 1 category; it must be a set of 2 of"):
            self.choice.tally(["a", "b"], level=[1, 2])

    def test_a_missing_answer_may_be_without_level(self):
        tally = self.choice.tally(["a", None, ""], level=[1, None, 2])
        assert (tally.n, tally.missing) == (1, 2)
        assert {level: part.missing for level, part in tally.by_level.items()} == {1: 1, 2: 1, 3: 0}

    def test_the_likelihood_is_that_of_the_level(self):
        said = self.choice.encode(["a", "a;b"], level=[1, 2])
        np.testing.assert_allclose(self.choice.likelihood(said), [[0, 1 / 3, 1 / 3, 1 / 3], [0, 0, 1 / 3, 1 / 3]])
        with pytest.raises(DataError, match="carry their level"):
            self.choice.likelihood(["a"])

    def test_a_single_design_offers_no_levels(self):
        with pytest.raises(DataError, match=r"warner\(p=0\.8\) offers no levels"):
            WARNER.tally(["yes"], level=[1])
        with pytest.raises(DataError, match="offers no levels"):
            WARNER.tally({"said": ["yes"], "how": [1]}, "said", level="how")

    @pytest.mark.parametrize("names", [(0.5, 1.5), ("a", "b"), (1, "b"), (1, 2)])
    def test_levels_may_have_any_names(self, names):
        offer = designs.levels(dict(zip(names, (WARNER, designs.direct(("yes", "no"))), strict=True)))
        said = offer.randomize(["yes", "no", "no"], level=[names[1]] * 3, rng=np.random.default_rng(1))
        assert said.texts() == ["yes", "no", "no"]
        assert said.level.tolist() == [names[1]] * 3
        assert offer.tally(said).by_level[names[1]].n == 3

    def test_levels_may_report_in_different_ways(self):
        mixed = designs.levels({"some": designs.negative(ABCD, discards=2), "open": designs.direct(ABCD)})
        said = mixed.randomize(["a", "b", None], level=["open", "some", "some"], rng=np.random.default_rng(1))
        assert said.texts()[0] == "a"
        assert said.texts()[1].count(";") == 1
        assert said.missing.tolist() == [False, False, True]
        again = mixed.encode(said.texts(), level=said.level)
        np.testing.assert_array_equal(again.codes, said.codes)
        assert mixed.tally(said).n == 2
        np.testing.assert_array_equal(mixed.likelihood(said)[0], [1, 0, 0, 0])

    def test_an_offer_needs_different_levels_over_the_same_categories(self):
        with pytest.raises(DesignError, match="all levels must have the same categories"):
            designs.levels({"a": WARNER, "b": designs.direct(ABC)})
        with pytest.raises(DesignError, match="at least 1 levels"):
            designs.levels({})
        assert isinstance(designs.levels(masked=WARNER), Levels)
