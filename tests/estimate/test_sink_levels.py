"""A sink and levels together: the estimate holds on cells drawn at random, whoever chooses which level."""

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.design.drawing import GeneratorSource
from naysay.errors import StatisticalWarning
from naysay.tally import Part, Tally

RUNS, N = 400, 1_500


def drawn(choice, truth, chosen, rng):
    """A tally of positions, without the detour over labels."""
    parts = []
    for place, level in enumerate(choice.levels):
        codes = choice.channel(level).draw(truth[chosen == place], GeneratorSource(rng))
        parts.append(Part.of(choice.channel(level), codes, level=level, count=np.ones(len(codes), dtype=np.int64)))
    return Tally(tuple(parts))


def cells(rng):
    """An offer, shares of which some are rare, and for each category which levels its members choose."""
    t = int(rng.integers(4, 8))
    labels = tuple("abcdefg"[:t])
    sinks = {label: f"not {label}" for label in rng.choice(labels, rng.integers(1, min(3, t - 2)), replace=False)}
    choice = designs.negative_levels(labels, sinks=sinks, most=min(t - 2, 3))
    return choice, rng.dirichlet(np.full(t, 0.7)), rng.dirichlet(np.ones(len(choice.levels)), t)


@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore::{StatisticalWarning.__module__}.{StatisticalWarning.__name__}")
@pytest.mark.parametrize("seed", range(4))
def test_stratified_is_unbiased_and_covers_even_if_the_sink_is_a_reason_to_choose_a_level(seed):
    rng = np.random.default_rng([2026, seed])
    choice, pi, preferences = cells(rng)
    found, held = [], []
    for _ in range(RUNS):
        truth = rng.choice(len(pi), N, p=pi)
        chosen = (
            (rng.random(N)[:, None] > preferences.cumsum(axis=1)[truth]).sum(axis=1).clip(max=len(choice.levels) - 1)
        )
        fit = estimate.stratified(choice, drawn(choice, truth, chosen, rng))
        found.append(fit.proportions)
        held.append((fit.interval()[:, 0] <= pi) & (pi <= fit.interval()[:, 1]))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(RUNS)
    assert (np.abs(np.mean(found, axis=0) - pi) < 4.5 * error).all()
    assert (np.mean(held, axis=0) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / RUNS)).all(), np.mean(held, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_pooled_is_unbiased_where_levels_are_chosen_blindly_and_more_precise(seed):
    rng = np.random.default_rng([1997, seed])
    choice, pi, _ = cells(rng)
    pooled, stratified = [], []
    for _ in range(RUNS):
        truth, chosen = rng.choice(len(pi), N, p=pi), rng.integers(len(choice.levels), size=N)
        tally = drawn(choice, truth, chosen, rng)
        pooled.append(estimate.moments(choice, tally).proportions)
        stratified.append(estimate.stratified(choice, tally).proportions)
    error = np.std(pooled, axis=0, ddof=1) / np.sqrt(RUNS)
    assert (np.abs(np.mean(pooled, axis=0) - pi) < 4.5 * error).all()
    assert np.var(pooled, axis=0).sum() <= np.var(stratified, axis=0).sum() * 1.02


def test_who_takes_the_sink_for_an_ordinary_category_is_wrong():
    """The same answers read as those of an offer without a sink: the sink's category is far off."""
    rng, labels, pi = np.random.default_rng(5), tuple("abcd"), np.array([0.4, 0.3, 0.2, 0.1])
    choice, plain = designs.negative_levels(labels, sinks={"a": "none"}), designs.negative_levels(labels, most=2)
    truth, chosen = rng.choice(4, 40_000, p=pi), rng.integers(2, size=40_000)
    tally = drawn(choice, truth, chosen, rng)
    read = Tally(
        tuple(
            Part.of(plain.channel(part.level), part.codes, level=part.level, count=part.count) for part in tally.parts
        )
    )
    right, wrong = estimate.stratified(choice, tally), estimate.stratified(plain, read)
    assert (np.abs(right.proportions - pi) < 4 * right.standard_errors).all()
    assert abs(wrong.proportions[0] - pi[0]) > 10 * wrong.standard_errors[0]


def test_a_table_of_replies_is_read_with_its_sinks():
    """From texts as they are stored, with the level of each."""
    choice = designs.negative_levels(("never", "once", "often", "daily"), sinks={"never": "sink"})
    said = choice.randomize(["never", "once", "often", "daily"] * 500, rng=np.random.default_rng(1))
    frame = {"said": said.texts(), "level": [str(each) for each in said.level]}
    assert {text for text in frame["said"] if "sink" in text} == {"sink", "sink;once", "sink;often", "sink;daily"}
    fit = estimate.stratified(choice, choice.tally(frame, "said", level="level"))
    again = estimate.stratified(choice, choice.tally(said))
    assert fit.proportions == pytest.approx(again.proportions)
    assert (np.abs(fit.proportions - 0.25) < 4 * fit.standard_errors).all()
