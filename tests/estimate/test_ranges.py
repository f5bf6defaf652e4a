"""Hierarchies: least squares on trees, and ranges, bands and quantiles that cover."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, designs, estimate, privacy
from naysay.design import Grouped, Hierarchy
from naysay.errors import DataError, DesignError
from naysay.estimate.ranges import Tree


def tree_of(fanout, t, rng):
    depth = next(depth for depth in range(1, 30) if fanout**depth >= t)
    widths = [fanout ** (depth - level) for level in range(1, depth + 1)]
    sizes = tuple(-(-t // width) for width in widths)
    above = [
        (np.arange(t) // width == np.arange(size)[:, None]).astype(float)
        for width, size in zip(widths, sizes, strict=True)
    ]
    return Tree(fanout, sizes, tuple(rng.uniform(0.2, 3, depth).tolist())), np.vstack(above)


@given(st.integers(2, 7), st.integers(2, 60), st.integers(0, 2**32))
def test_the_tree_is_least_squares_on_all_levels_under_a_sum_of_one(fanout, t, seed):
    rng = np.random.default_rng(seed)
    tree, design = tree_of(fanout, t, rng)
    measured = [rng.normal(size=size) for size in tree.sizes]
    precision = np.repeat(1 / np.array(tree.variances), tree.sizes)
    normal = design.T @ (precision[:, None] * design)
    bordered = np.block([[normal, np.ones((t, 1))], [np.ones((1, t)), np.zeros((1, 1))]])
    right = np.append(design.T @ (precision * np.concatenate(measured)), 1)
    found = tree.consistent(measured)
    np.testing.assert_allclose(found, np.linalg.solve(bordered, right)[:t], atol=1e-9)
    sums = rng.normal(size=(t, 3))
    slope = np.vstack(tree.weights(sums)).T @ np.concatenate(measured)
    nothing = tree.consistent([np.zeros(size) for size in tree.sizes])
    np.testing.assert_allclose(slope, sums.T @ (found - nothing), atol=1e-9)


def cut_up(fanout, first, end):
    """How many groups a range is cut up into, without least squares."""
    number = 0
    while first < end:
        while first % fanout and first < end:
            first, number = first + 1, number + 1
        while end % fanout and first < end:
            end, number = end - 1, number + 1
        first, end = first // fanout, end // fanout
    return number


def test_the_variance_of_ranges_goes_with_the_fanout():
    """Raw it follows (B - 1)/ln²B; least squares brings it far below, and then small fanouts are alike."""
    raw, fitted = {}, {}
    for fanout, depth in ((2, 10), (5, 4), (8, 3), (16, 3)):
        rng, t = np.random.default_rng(fanout), fanout**depth
        tree = Tree(fanout, tuple(fanout**level for level in range(1, depth + 1)), (float(depth),) * depth)
        ends = np.sort(rng.integers(0, t + 1, (2, 300)), axis=0)
        inside = (np.arange(t)[:, None] >= ends[0]) & (np.arange(t)[:, None] < ends[1])
        squares = sum((weights**2).sum(axis=0) for weights in tree.weights(inside.astype(float)))
        fitted[fanout] = depth * squares.mean() / math.log(t) ** 2
        raw[fanout] = depth * np.mean([cut_up(fanout, *pair) for pair in ends.T.tolist()]) / math.log(t) ** 2
        assert 0.65 < raw[fanout] / ((fanout - 1) / math.log(fanout) ** 2) < 0.95
        assert fitted[fanout] < raw[fanout] / 2.5
    assert fitted[5] == pytest.approx(fitted[2], rel=0.05)
    assert fitted[16] > 1.25 * fitted[5]


def surveyed(survey, people, rng, **told):
    said = survey.randomize(people, rng=rng)
    return survey.tally(said, level=said.level, **told)


def test_random_ranges_are_unbiased_and_covered():
    rng, survey, runs = np.random.default_rng(7), designs.hierarchy(30, epsilon=1.5, fanout=3), 60
    pi = rng.dirichlet(np.full(30, 0.3))  # a few categories hold most people
    people = np.repeat(np.arange(30), rng.multinomial(4_000, pi))
    below = np.concatenate([[0], np.cumsum(pi)])
    hits, deviations, files, band = 0, [], 0, 0
    for _ in range(runs):
        first, last = np.sort(rng.integers(0, 30, 2)).tolist()
        fit = estimate.ranges(survey, surveyed(survey, rng.choice(30, 4_000, p=pi), rng))
        row, true = fit.range(first, last), below[last + 1] - below[first]
        hits += row.low <= true <= row.high
        deviations.append((row.estimate - true) / max(row.standard_error, 1e-9))
        found = fit.band()
        band += bool(((found.low <= below[found.cuts]) & (below[found.cuts] <= found.high)).all())
        own = estimate.ranges(survey, surveyed(survey, people, rng), target="file").range(first, last)
        files += own.low - 1e-9 <= np.mean((people >= first) & (people <= last)) <= own.high + 1e-9
    tolerance = 4.5 * math.sqrt(0.95 * 0.05 / runs)
    assert [hits / runs, files / runs, band / runs] == pytest.approx([0.95] * 3, abs=tolerance)
    assert np.mean(deviations) == pytest.approx(0, abs=4.5 / math.sqrt(runs))
    assert np.std(deviations) == pytest.approx(1, abs=4.5 / math.sqrt(2 * runs))


def test_quantiles_invert_the_band():
    rng, survey = np.random.default_rng(3), designs.hierarchy(300, epsilon=2)
    people = np.minimum(rng.gamma(2, 20, 30_000).astype(int), 299)
    fit = estimate.ranges(survey, surveyed(survey, people, rng))
    band = fit.band()
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    for p in (0.05, 0.5, 0.95):
        row = fit.quantile(p)
        assert row.low <= np.quantile(people, p, method="inverted_cdf") <= row.high
        assert row.low <= row.estimate <= row.high
        cuts = dict(zip(band.cuts.tolist(), zip(band.low, band.high, strict=True), strict=True))
        assert cuts.get(row.low, (0, 0))[1] < p  # below the interval the whole band is under p
        assert cuts.get(row.high + 1, (1, 1))[0] >= p
    assert fit.quantile(0.5, 0.5).high - fit.quantile(0.5, 0.5).low <= row.high - row.low + 300
    wide = fit.quantile(0.95, 0.999)
    assert wide.low <= row.low
    assert wide.high >= row.high


def test_weights_sums_of_tallies_and_complex_samples():
    rng, survey = np.random.default_rng(4), designs.hierarchy(40, epsilon=2, fanout=6)
    said = survey.randomize(rng.binomial(39, 0.4, 3_000), rng=rng)
    whole = estimate.ranges(survey, survey.tally(said, level=said.level))
    halves = [said.take(range(part, 3_000, 2)) for part in (0, 1)]
    added = sum(survey.tally(half, level=half.level) for half in halves)
    heavy = survey.tally(said, level=said.level, weights=np.full(3_000, 2.5))
    for tally in (added, heavy):
        np.testing.assert_allclose(estimate.ranges(survey, tally).range(10, 20)[1:], whole.range(10, 20)[1:], rtol=1e-9)
    from naysay.sampling import Sampling

    clusters = survey.tally(said, level=said.level, sampling=Sampling(clusters=np.arange(3_000)))
    single = estimate.ranges(survey, clusters).range(10, 20)
    assert single.standard_error == pytest.approx(whole.range(10, 20).standard_error, rel=2e-3)


def test_the_design_is_one_file_and_its_privacy_that_of_its_levels():
    survey = designs.hierarchy(1024, epsilon=1)
    text = survey.to_json()
    assert Design.from_json(text) == survey
    assert len(text) < 8_000
    assert {"hierarchy", "grouped"} <= json.loads(text)["drawing"].keys()
    assert max(privacy.epsilon(survey).values()) <= 1
    [line] = privacy.lines(survey)
    assert line.startswith("privacy, at any level: 1024 of 1024 categories stay possible")
    for part in survey.parts.values():
        shares = np.bincount(part.places) / 1024
        assert privacy.information(part) == pytest.approx(privacy.information(part.design, shares), abs=1e-3)
    assert not any(
        part.design.structure.keeps_sums for part in designs.hierarchy(625, epsilon=1, fanout=5).parts.values()
    )


def test_what_is_wrong_is_one_clear_error():
    survey = designs.hierarchy(30, epsilon=1, fanout=3)
    fit = estimate.ranges(survey, surveyed(survey, np.arange(900) % 30, np.random.default_rng(1)))
    for p in (0, 1, -0.5, "x", math.nan):
        with pytest.raises(DataError, match="p must lie strictly between 0 and 1"):
            fit.quantile(p)
    with pytest.raises(DataError, match="a range goes from a category to a later one"):
        fit.range(7, 3)
    with pytest.raises(DataError, match="not a category"):
        fit.range(7, 30)
    lonely = survey.randomize([3, 4], level=[1, 2])
    with pytest.raises(DataError, match=r"every level of a hierarchy needs answers; level .* has none"):
        estimate.ranges(survey, survey.tally(lonely, level=lonely.level))
    other = designs.frequency(30, epsilon=1)
    with pytest.raises(DataError, match="ranges need a hierarchy"):
        estimate.ranges(other, other.tally(other.randomize([1, 2, 3])))
    with pytest.raises(DataError, match=r"use estimate\.ranges"):
        estimate.ESTIMATORS["moments"].fit(survey, fit.tally)
    with pytest.raises(DesignError, match="fanout must be a whole number from 2"):
        designs.hierarchy(30, epsilon=1, fanout=1)
    with pytest.raises(DesignError, match="need a design over the numbers"):
        Grouped.of(range(10), designs.k_ary(3, epsilon=1), 2)
    with pytest.raises(DesignError, match="each with groups 3 times as wide"):
        Hierarchy.of({1: survey.channel(2), 2: survey.channel(1)}, 3)


@pytest.mark.parametrize("estimator", ["maximum_likelihood", "moments"])
def test_what_is_not_for_a_hierarchy_names_the_estimate_that_works(estimator):
    survey = designs.hierarchy(16, epsilon=2)
    answers = survey.tally(survey.randomize(np.resize([3, 7], 400), rng=np.random.default_rng(1)))
    with pytest.raises(DataError, match=rf"{estimator} is not for hierarchy.*; use estimate\.ranges$"):
        getattr(estimate, estimator)(survey, answers)
    assert estimate.ranges(survey, answers) is not None
