"""A sink is told by its matrix, and costs what its odds cost."""

import pytest

from naysay import designs
from naysay.estimate.negative import sinks


@pytest.mark.parametrize(("members", "others"), [(None, None), ("1/10", "1/5"), (0, "1/4"), (0.3, 0.1)])
def test_a_sink_costs_what_a_binomial_share_of_its_odds_costs(members, others):
    """π = (λ - b)/(a - b), so the variance of an indicator is λ(1 - λ)/(a - b)², against (t-1)² μ(1 - μ)."""
    design = designs.negative_sink(tuple("abcde"), sinks={"b": "x", "e": "y"}, members=members, others=others)
    found = sinks(design)
    assert [(sink.category, sink.response) for sink in found] == [("b", "x"), ("e", "y")]
    a, b = design.matrix[1, 1], design.matrix[1, 0]
    share = a / 5 + b * 4 / 5
    for sink in found:
        assert sink.odds == pytest.approx(a / b)
        assert sink.variance_ratio == pytest.approx(share * (1 - share) / (a - b) ** 2 / (16 * 0.2 * 0.8))


@pytest.mark.parametrize("t", [4, 5, 7])
def test_a_sink_costs_the_same_reasoning_at_every_level(t):
    """At level k members name the sink with a = k/(2(t-1)), others with b = 2a: π = (λ - b)/(a - b)."""
    labels = tuple("abcdefg"[:t])
    offer = designs.negative_levels(labels, sinks={"c": "x"})
    found = sinks(offer)
    assert [(sink.level, sink.category, sink.response) for sink in found] == [(k, "c", "x") for k in range(1, t - 1)]
    for sink in found:
        b = sink.level / (t - 1)
        share = b / 2 / t + b * (t - 1) / t
        plain = b * (t - 1) / t  # how often a category is named in negative(discards=k)
        ratio = share * (1 - share) / (b / 2) ** 2 / (plain * (1 - plain) / b**2)
        assert (sink.odds, sink.variance_ratio) == (pytest.approx(0.5), pytest.approx(ratio))


def test_sinks_are_told_by_their_structure():
    labels = tuple("abcd")
    rows = [
        ["1/6", "1/3", "1/3", "1/3"],
        ["5/18", 0, "1/3", "1/3"],
        ["5/18", "1/3", 0, "1/3"],
        ["5/18", "1/3", "1/3", 0],
    ]
    written_out = designs.custom(rows, categories=labels, responses=("none", "b", "c", "d"))
    ((*names, odds, ratio, level),) = sinks(written_out)
    ((*same, half, cost, none),) = sinks(designs.negative_sink(labels, sinks={"a": "none"}))
    assert (names, level) == (same, none) == (["a", "none"], None)
    assert (odds, ratio) == (pytest.approx(half), pytest.approx(cost))
    others = [
        designs.negative(labels),
        designs.negative(labels, discards=2),
        designs.k_ary(labels, epsilon=1),
        designs.negative_levels(labels),
        designs.warner(p=0.7),
        designs.custom([[0.8, 0.1], [0.2, 0.9]], responses=("x", "y")),
        designs.custom(rows, categories=labels, responses=("x", "y", "z", "w")),
    ]
    assert [sinks(other) for other in others] == [()] * len(others)
