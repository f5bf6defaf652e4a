"""Statements about the steps of designs: they come to the design's own probabilities, or say so in words."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.design import Branch, Chance, Do, Fork, Protocol, Say, Table, protocols
from naysay.design.base import Design
from naysay.design.flowchart import parts
from naysay.design.protocol import fraction_text, probabilities, way, words
from naysay.responses import Labels

ABC, ABCD = tuple("abc"), tuple("abcd")
COINS = designs.two_coins()
DRAWN = {
    "negative": designs.negative(ABCD),
    "negative, weighted": designs.negative(ABCD, weights=(1, 2, 3, 5)),
    "negative_sink": designs.negative_sink(ABCD, sinks="a"),
    "gaussian_negative": designs.gaussian_negative(ABCD, sigma=1.5),
    "k_ary": designs.k_ary(ABCD, epsilon=1),
    "mix": designs.mix((3, designs.negative(ABC)), (1, designs.uniform(ABC))),
    "mix of mixes": designs.mix(
        (1, designs.mix((0.5, designs.direct(ABC)), (0.5, designs.uniform(ABC)))), (2, designs.negative(ABC))
    ),
    "then": designs.warner(p=0.7).then(designs.two_coins()),
    "then, twice": designs.warner(p=0.7)
    .then(designs.crosswise(prevalence=0.25))
    .then(designs.custom([[0.8, 0.1], [0.2, 0.9]], categories=("same", "different"))),
    "then, of a mix": designs.mix((1, designs.direct(ABC)), (1, designs.uniform(ABC))).then(designs.direct(ABC)),
}
KNOWN = {
    "direct": designs.direct(("yes", "no")),
    "two_coins": designs.two_coins(),
    "crosswise": designs.crosswise(prevalence=0.25),
}


def only(design):
    """The protocol of a design that is one piece."""
    ((title, protocol),) = protocols(design)
    assert title == ""
    return protocol


def come_to(design):
    """P(response | category), (responses, t), that the steps add up to."""
    numerators, denominator = probabilities(only(design).first, design.categories, design.space.labels)
    return (numerators / denominator).astype(float)


@pytest.mark.parametrize("design", DRAWN.values(), ids=DRAWN)
def test_the_steps_come_to_the_design(design):
    assert only(design).complete
    assert come_to(design) == pytest.approx(design.matrix, abs=1e-14)


@pytest.mark.parametrize("design", KNOWN.values(), ids=KNOWN)
def test_a_design_that_has_steps_gives_its_own(design):
    assert only(design) == design.protocol


@st.composite
def tables(draw):
    """Any small table design."""
    t, m = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    total = draw(st.integers(1, 60))
    cuts = [sorted(draw(st.lists(st.integers(0, total), min_size=m - 1, max_size=m - 1))) for _ in range(t)]
    columns = [np.diff([0, *ends, total]) for ends in cuts]
    labels = tuple(f"c{place}" for place in range(t))
    return Table(categories=labels, space=Labels(tuple(range(m))), weights=np.array(columns).T)


@given(tables())
def test_any_table_is_told_exactly(design):
    numerators, denominator = probabilities(only(design).first, design.categories, design.space.labels)
    assert (numerators * design.denominator == design.weights * denominator).all()


@given(tables(), st.integers(1, 9), st.integers(1, 9))
def test_any_mixture_is_told_exactly(design, one, other):
    noise = Table(categories=design.categories, space=design.space, weights=np.ones_like(design.weights))
    mixed = designs.mix((one, design), (other, noise))
    assert come_to(mixed) == pytest.approx(mixed.matrix, abs=1e-14)


@given(tables())
def test_what_follows_a_table_is_told_exactly_or_step_by_step(design):
    m = len(design.space.labels)
    after = designs.custom(np.roll(np.eye(m), 1, axis=0), categories=design.space.labels, responses=design.space.labels)
    both = design.then(after)
    told = protocols(both)
    if len(told) == 1:
        assert come_to(both) == pytest.approx(both.matrix, abs=1e-14)
    else:
        assert [title.partition(",")[0] for title, _ in told] == ["step 1", "step 2"]


@pytest.mark.parametrize(
    ("design", "told"),
    [
        (designs.negative(ABCD, discards=2), "Draw by lot 2 of the 3 categories that are not yours, and name them."),
        (
            designs.negative_levels(ABCD).channel(1),
            "Draw by lot 1 of the 3 categories that are not yours, and name it.",
        ),
        (designs.negative_levels(ABCD).channel(3), "Name all 3 categories that are not yours."),
        (designs.uniform(ABCD, discards=2), "Draw 2 of the 4 categories by lot, and name them."),
        (designs.negative(ABCD, discards=2, weights=(1, 2, 3, 4)), "by their weights, and name them."),
        (designs.negative(range(20)), "Throw a die with 19 sides; at m, name the m-th category"),
        (designs.negative(ABC), "Toss a coin; at heads name the first category from the top that is not yours"),
        (designs.gaussian_negative(range(20), sigma=3), "Let the device draw one of 20 responses, with the chances"),
        (designs.two_option(ABCD), "Look at 2 of the categories, drawn by lot"),
        (designs.k_ary(range(50), epsilon=1), "the list of 50 outcomes says which to say."),
        (
            designs.mix(
                (1, designs.two_coins() * designs.two_coins()), (1, designs.warner(p=0.7) * designs.two_coins())
            ),
            "question 1: ",
        ),
    ],
)
def test_what_is_not_drawn_is_told_in_words(design, told):
    assert told in only(design).instruction


def test_negative_surveys_are_drawn_with_the_die_of_their_words():
    first = only(designs.negative(ABCD)).first
    assert {branch.then.device for branch in first.branches} == {"throw a die with 3 sides"}
    assert "throw a die with 3 sides" in first.instruction


@pytest.mark.parametrize(
    ("design", "titles"),
    [
        (designs.negative_levels(ABCD), ["level 1", "level 2", "level 3"]),
        (designs.cheating_detection(p=(0.25, 0.75)), ["sample 1", "sample 2"]),
        (designs.anchored_crosswise(prevalence=0.15, anchor=0.15), ["answer 1", "answer 2"]),
        (designs.two_coins() * designs.two_coins() * designs.direct(ABC), ["question 1", "question 2", "question 3"]),
        (
            designs.levels(one=COINS * COINS, two=designs.warner(p=0.7) * COINS),
            ["level one, question 1", "level one, question 2", "level two, question 1", "level two, question 2"],
        ),
        (
            designs.negative(ABCD).then(designs.negative(ABCD, discards=2)),
            ["step 1, to be said to nobody", "step 2, with the answer of step 1 for your category"],
        ),
    ],
)
def test_every_part_has_its_title(design, titles):
    assert [title for title, _ in protocols(design)] == titles


def test_parts_bring_their_assumptions_and_sources_each_once():
    crosswise = designs.crosswise(prevalence=0.25)
    mixed = designs.mix((1, crosswise), (1, crosswise.then(designs.warner(p=0.7, categories=("same", "different")))))
    protocol = only(mixed)
    assert protocol.assumes == crosswise.protocol.assumes
    assert protocol.source == "Yu, Tian & Tang (2008); Warner (1965)"


def test_the_anchor_has_a_source_and_an_instruction_of_its_own():
    (_, main), (_, control) = protocols(designs.anchored_crosswise(prevalence=0.15, anchor=0.15))
    assert "anchor" in control.instruction
    assert "anchor" not in main.instruction
    assert main.source == control.source == "Atsusaka & Stevenson (2023)"
    assert main.assumes


def test_parts_are_all_that_a_design_is_made_of():
    offer = designs.levels(a=designs.two_coins() * designs.two_coins())
    assert [part.kind for part in parts(offer)] == ["levels", "product", "table", "table"]


def test_a_design_of_another_kind_is_told_in_words():
    class Odd(Design):
        kind = "odd"

        def rows(self, codes):
            return np.full((len(codes), 2), 0.5)

        def draw(self, truth, source):
            return truth.reshape(-1, 1)

        def form(self):
            return {}

    design = Odd(categories=("a", "b"), space=Labels(("x", "y")))
    assert only(design).instruction.startswith("Let the device draw one of 2 responses")


def test_a_wide_question_without_words_is_summed_up():
    ways = tuple(Branch(str(place), Say("x"), members=(place,)) for place in range(13))
    labels = tuple(range(13))
    weights = np.array([[1] * 13, [0] * 13])
    asked = Table(
        categories=labels,
        space=Labels(("x", "y")),
        weights=weights,
        protocol=type(designs.two_coins().protocol)(Fork("Which?", ways)),
    )
    assert "The list of 13 answers says what to do next" in only(asked).instruction


def test_only_what_no_question_came_before_is_said_whatever_the_truth():
    told = words(designs.mangat(p=0.7).protocol.first)
    assert "whatever the truth" not in told
    assert words(designs.two_coins().protocol.first).count("whatever the truth") == 2


def test_a_chance_that_is_named_by_itself_is_not_told_twice():
    share = Fraction(2**52 + 1, 2**53)
    lots = designs.k_ary(ABC, epsilon=1).protocol.first
    assert [way(branch) for branch in lots.branches] == [branch.event for branch in lots.branches]
    assert way(Branch("card 1", Say("a"), chance=share)) == f"card 1 ({fraction_text(share)})"


def test_the_tree_of_words_is_one_line():
    assert str(Protocol(Do("go on"))) == "Go on"
    assert isinstance(designs.two_coins().protocol.first, Chance)
    assert len(list(itertools.chain(*(str(p).splitlines() for _, p in protocols(designs.negative_levels(ABC)))))) == 2
