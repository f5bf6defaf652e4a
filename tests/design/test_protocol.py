"""What respondents are told is what the design computes with."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, designs
from naysay.design import Branch, Chance, Do, Fork, Protocol, Say, draw_lots
from naysay.design.protocol import probabilities, read, words
from naysay.errors import DesignError

HALF = Fraction(1, 2)
YES, NO = Say("yes"), Say("no")
TRUTH = Fork("Is it true?", (Branch("yes", YES, members=("yes",)), Branch("no", NO, members=("no",))))
TWO = [designs.warner(p=0.7), designs.two_coins(), designs.mangat(p=0.7), designs.kuk(p=(0.6, 0.3), draws=2)]
CHEATING = designs.cheating_detection(p=(0.25, 0.75))
SYMMETRIC = designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1))
LIARS = designs.stochastic_lie_detector(p=("2/12", "10/12"))
ANCHORED = designs.anchored_crosswise(prevalence=0.15, anchor=0.25)


# probabilities


def told(*steps):
    """The probabilities that steps add up to, as fractions, (responses, t)."""
    numerators, denominator = probabilities(*steps)
    return [[Fraction(entry, denominator) for entry in row] for row in numerators.tolist()]


def test_a_fork_sends_every_category_its_own_way():
    assert told(TRUTH, ("yes", "no"), ("yes", "no")) == [[1, 0], [0, 1]]


def test_chances_multiply_along_a_path_and_add_over_paths():
    steps = Chance(
        "toss a coin",
        (
            Branch("heads", TRUTH, chance=HALF),
            Branch("tails", draw_lots(("1/3", YES), ("2/3", NO), again=True), chance=HALF),
        ),
    )
    assert told(steps, ("yes", "no"), ("yes", "no")) == [
        [Fraction(2, 3), Fraction(1, 6)],
        [Fraction(1, 3), Fraction(5, 6)],
    ]


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6).filter(sum))
def test_lots_have_the_chances_that_they_were_given(weights):
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    labels = [f"r{place}" for place in range(len(weights))]
    lots = draw_lots(*((share, Say(label)) for share, label in zip(shares, labels, strict=True)))
    assert [row[0] for row in told(lots, ("x",), labels)] == shares
    assert all(branch.chance for branch in lots.branches), "what cannot happen is not on the list"


@pytest.mark.parametrize("chances", [(), (HALF,), (HALF, HALF, HALF), (Fraction(3, 2), -HALF), (HALF, None)])
def test_the_chances_of_a_device_sum_to_one(chances):
    with pytest.raises(DesignError, match="the chances of one device must sum to one"):
        Chance("a coin", tuple(Branch("e", YES, chance=chance) for chance in chances))


@pytest.mark.parametrize("chances", [(), (0.5,), (0.5, 0.6), (1.5, -0.5)])
def test_lots_are_probabilities(chances):
    with pytest.raises(DesignError, match="must be in"):
        draw_lots(*((chance, YES) for chance in chances))


def test_a_fork_says_what_every_category_does():
    with pytest.raises(DesignError, match=r"'Is it true\?' must say what category 'perhaps' does"):
        probabilities(TRUTH, ("yes", "no", "perhaps"), ("yes", "no"))


def test_steps_end_in_a_response_of_the_design():
    with pytest.raises(DesignError, match="the steps end in 'no'; the responses are 'yes', 'never'"):
        probabilities(TRUTH, ("yes", "no"), ("yes", "never"))


def test_what_is_only_in_words_has_no_probabilities_to_read():
    with pytest.raises(DesignError, match="'think' is in words"):
        probabilities(Do("think"), ("yes",), ("yes",))
    assert not Protocol(draw_lots((HALF, YES), (HALF, Do("think")))).complete
    assert Protocol(TRUTH).complete


@pytest.mark.parametrize("design", TWO, ids=repr)
def test_a_table_whose_steps_tell_other_probabilities_is_refused(design):
    weights = np.array(design.weights)
    shifted = weights.copy()
    column = int(np.flatnonzero((weights > 0).sum(axis=0) > 1)[0])
    first, second = np.flatnonzero(weights[:, column])[:2]
    shifted[[first, second], column] += [1, -1]
    with pytest.raises(DesignError, match=r"the protocol does not give .* the probabilities of the table"):
        replace(design, weights=shifted)
    assert replace(design, weights=2 * weights) == replace(design, weights=weights * 2)


# devices


@pytest.mark.parametrize(
    ("shares", "device", "events"),
    [
        (["1"], "without any chance", ["always"]),
        (["1/2", "1/2"], "toss a coin", ["heads", "tails"]),
        (["0", "1/2", "1/2"], "toss a coin", ["heads", "tails"]),
        (["1/3", "2/3"], "throw a die", ["1 or 2", "3 to 6"]),
        (["1/6", "1/6", "2/3"], "throw a die", ["1", "2", "3 to 6"]),
        (["5/6", "1/6"], "throw a die", ["1 to 5", "6"]),
        (["1/12", "1/6", "3/4"], "draw one of 12 numbered cards", ["card 1", "card 2 or 3", "card 4 to 12"]),
        ([0.99, 0.01], "draw one of 100 numbered cards", ["card 1 to 99", "card 100"]),
        ([0.123, 0.877], "let the device draw lots", ["with chance 123/1000", "with chance 877/1000"]),
    ],
)
def test_the_device_suits_the_chances(shares, device, events):
    labels = [Say(place) for place in range(len(shares))]
    lots = draw_lots(*zip(shares, labels, strict=True))
    assert lots.device == device
    assert [branch.event for branch in lots.branches] == events
    assert [branch.chance for branch in lots.branches] == [Fraction(str(share)) for share in shares if share != "0"]


def test_a_coin_that_was_tossed_is_tossed_again():
    assert draw_lots((HALF, YES), (HALF, NO), again=True).device == "toss it again"
    assert "toss it again" in designs.two_coins().protocol.instruction


# words


def test_each_step_is_a_sentence():
    assert words(TRUTH) == "Is it true? Yes: say “yes”. No: say “no”."
    assert words(draw_lots(("1/3", YES), ("2/3", TRUTH))) == (
        "Throw a die; nobody else may see it. 1 or 2: say “yes”, whatever the truth. 3 to 6: Is it true? "
        "Yes: say “yes”. No: say “no”."
    )


def test_words_of_its_own_stand_for_a_step_and_all_below_it():
    told = replace(TRUTH, instruction="say whether it is true")
    assert words(draw_lots((HALF, told), (HALF, NO))) == (
        "Toss a coin; nobody else may see it. Heads: say whether it is true. Tails: say “no”, whatever the truth."
    )


def test_the_tree_shows_every_branch_with_its_chance():
    assert str(Protocol(draw_lots(("1/12", YES), ("11/12", TRUTH)))) == (
        "Draw one of 12 numbered cards\n"
        "├─ card 1 (1/12): say “yes”\n"
        "└─ card 2 to 12 (11/12): Is it true?\n"
        "   ├─ yes: say “yes”\n"
        "   └─ no: say “no”"
    )
    tiny = str(Protocol(draw_lots((Fraction(1, 12_345), YES), (Fraction(12_344, 12_345), NO))))
    assert "with chance 8.10045e-05: say “yes”" in tiny


HIDDEN = ["cheat", "liar", "lying", "lie", "honest", "attentive", "carrier", "member", "truthful "]


@pytest.mark.parametrize("survey", [CHEATING, SYMMETRIC, LIARS], ids=lambda survey: survey.name)
@pytest.mark.parametrize("sample", [1, 2])
def test_respondents_are_not_spoken_to_as_cheaters(survey, sample):
    told = survey.channel(sample).protocol
    assert not any(word in told.instruction.lower() for word in HIDDEN)
    assert any(word in str(told).lower() for word in HIDDEN), "the analyst's flowchart does show them"


def test_the_inattentive_are_not_told_to_toss_a_coin():
    for answer in (ANCHORED.channel().first, ANCHORED.channel().second):
        assert "coin" in str(answer.protocol)
        assert "coin" not in answer.protocol.instruction
        assert "inattentive" not in answer.protocol.instruction


@pytest.mark.parametrize("survey", [LIARS, CHEATING, SYMMETRIC], ids=lambda survey: survey.name)
def test_both_samples_carry_source_and_assumptions(survey):
    for sample in survey.levels:
        told = survey.channel(sample).protocol
        family = survey.name.partition("(")[0]
        assert told.source == designs.SOURCES[family]
        assert set(designs.ASSUMPTIONS[family]) <= set(told.assumes)


def test_a_design_says_what_it_assumes_and_who_proposed_it():
    told = designs.crosswise(prevalence=0.25).protocol
    assert told.source == "Yu, Tian & Tang (2008)"
    assert "the innocuous prevalence is the one stated" in told.assumes
    assert designs.warner(p=0.7).protocol.assumes == ()


def test_samples_keep_the_source_of_each_design():
    survey = designs.samples(open=designs.direct(("yes", "no")), masked=designs.crosswise(prevalence=0.25))
    assert survey.channel("masked").protocol.source == "Yu, Tian & Tang (2008)"
    assert survey.channel("open").protocol.source == "direct questioning"
    assert "the samples are drawn at random from one population" in survey.channel("open").protocol.assumes


# JSON

WITH_WORDS = Protocol(
    draw_lots(("1/3", replace(TRUTH, instruction="say it")), ("2/3", Do("name any"))), assumes=("a", "b"), source="me"
)


@pytest.mark.parametrize(
    "protocol",
    [WITH_WORDS, *(design.protocol for design in TWO), designs.triangular(prevalence=0.2).protocol],
    ids=lambda protocol: str(protocol).splitlines()[0],
)
def test_a_protocol_comes_back_from_json(protocol):
    again = read(protocol.form())
    assert again == protocol
    assert (str(again), again.instruction, again.complete) == (str(protocol), protocol.instruction, protocol.complete)


def test_nothing_is_no_protocol():
    assert read(None) is None
    assert designs.custom([[0.8, 0.1], [0.2, 0.9]]).protocol is None


def test_pairs_as_labels_come_back_from_json():
    both = [(1, "a"), (2, "b")]
    steps = Fork("which?", tuple(Branch("", Say(pair), members=(pair,)) for pair in both))
    assert read(Protocol(steps).form()) == Protocol(steps)


def test_steps_are_no_part_of_what_makes_designs_equal():
    matrix = designs.custom([[0.7, 0.3], [0.3, 0.7]], categories=("yes", "no"))
    warner = designs.warner(p=0.7)
    assert matrix.protocol != warner.protocol
    assert replace(warner, protocol=None) == warner
    assert Design.from_json(warner.to_json()).protocol == warner.protocol
