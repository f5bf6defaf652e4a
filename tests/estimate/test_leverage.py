"""What a share of dishonest answers can move at most, held against estimates in which all of them are tried."""

import numpy as np
import pytest

from naysay import NotEstimable, designs, estimate
from naysay.tally import Part, Tally

FIVE = ("a", "b", "c", "d", "e")
OFFERED = [
    designs.direct(FIVE),
    designs.warner(p=0.7),
    designs.two_coins(),
    designs.negative(FIVE),
    designs.negative(FIVE, discards=3),
    designs.negative_sink(FIVE, sinks={"e": "none"}),
    designs.two_option(FIVE),
    designs.k_ary(FIVE, epsilon=1),
    designs.negative_levels(FIVE, most=3),
]


def moved(design, level, honest, code, bad=10):
    """By how much estimates move when the last of honest answers are replaced by one chosen response."""
    channel = design.channel(level)
    listing = channel.space.listing()
    expected = channel.matrix @ honest
    mixed = (1 - bad / 100) * expected
    mixed[code] += bad / 100
    u = estimate.linear.linear_map(channel)(channel.space.statistic(listing))
    return np.abs(mixed @ u - honest).max()


@pytest.mark.parametrize("design", OFFERED, ids=lambda each: each.name)
def test_no_dishonest_answers_move_more_and_some_move_as_much(design):
    t = len(design.categories)
    populations = [*np.eye(t), np.full(t, 1 / t)]
    found = [
        moved(design, level, honest, code)
        for level in design.levels
        for honest in populations
        for code in np.flatnonzero(design.channel(level).matrix.max(axis=1) > 0)
    ]
    assert max(found) == pytest.approx(estimate.leverage(design, share=0.1))


def test_the_formula_of_the_docs_holds():
    """Naming a category of a uniform negative survey lowers its count by t - 2; replaced, a whole t - 1 is moved."""
    for t in range(3, 12):
        assert estimate.leverage(designs.negative(tuple(range(t)))) == pytest.approx(0.01 * (t - 1))


def test_responses_that_are_too_many_to_list_are_bounded():
    design = designs.negative(tuple(range(40)), discards=20)
    assert not design.space.listable
    assert estimate.leverage(design) == pytest.approx(0.01 * 39 / 20)


def test_a_design_that_tells_nothing_has_no_leverage():
    with pytest.raises(NotEstimable):
        estimate.leverage(designs.custom(np.full((2, 2), 0.5), categories=("yes", "no")))


def test_it_is_of_moments_and_maximum_likelihood_may_move_more():
    design = designs.negative(FIVE, discards=2)
    moved = []
    honest = design.matrix @ np.array([0.6, 0.4, 0.0, 0.0, 0.0])
    for bad in np.eye(len(honest)):
        counts = [np.round(100_000 * shares).astype(int) for shares in (honest, 0.99 * honest + 0.01 * bad)]
        tallies = [Tally((Part.of(design, design.space.listing(), count=count),)) for count in counts]
        before, after = (estimate.maximum_likelihood(design, tally).proportions for tally in tallies)
        moved.append(np.abs(after - before).max())
    assert max(moved) == pytest.approx(0.0295, abs=5e-4)  # as the page on threats says, not 0.02
    assert estimate.leverage(design) == pytest.approx(0.02)
