"""The kind of design that docs/reference/adding.md adds in one file keeps what every design promises."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import Design, designs, estimate, planning, privacy
from naysay.design import RULES, ByteSource
from naysay.design.base import KINDS
from naysay.designs.catalog import ASSUMPTIONS, FAMILIES, SOURCES, family
from naysay.errors import AnswerError, DesignError
from naysay.responses import Numbers

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "adding.md"
LABELS = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def page():
    """The names that the page defines; what it registers is forgotten afterwards."""
    registries = (KINDS, RULES, FAMILIES, SOURCES, ASSUMPTIONS)
    before = [dict(registry) for registry in registries]
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    block = next(block for block in blocks if "class LocalHashing" in block)
    names = {"family": family, "__name__": __name__}
    exec("\n".join(line[4:] for line in block.splitlines() if line[:3] in (">>>", "...")), names)
    yield names
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.fixture
def large(page):
    return page["local_hashing"](LABELS, epsilon=1.5)


@pytest.fixture
def small(page):
    """With so few seeds that all responses can be listed; 2 to the third is the first power above five."""

    class Small(page["LocalHashing"]):
        seeds = 8

    return Small.of(LABELS, agree=9, differ=2)


def test_columns_sum_to_one(small):
    assert small.matrix.shape == (16, 5)
    np.testing.assert_allclose(small.matrix.sum(axis=0), 1, rtol=0, atol=1e-14)


def test_the_expected_statistic_is_the_statistic_averaged_over_a_column(small):
    statistic = small.space.statistic(small.space.listing())
    np.testing.assert_allclose(small.expected_statistic, statistic.T @ small.matrix, rtol=0, atol=1e-14)


@pytest.mark.parametrize("source", [np.random.default_rng(2016), ByteSource(np.random.default_rng(1965).bytes), None])
def test_the_sampler_draws_the_published_probabilities(small, source):
    for place, category in enumerate(LABELS):
        counts = small.tally(small.randomize([category] * 4_000, rng=source)).counts
        assert stats.chisquare(counts, 4_000 * small.matrix[:, place]).pvalue > 1e-5


def test_moments_recover_the_proportions_exactly(small):
    pi = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    mapping = estimate.linear.linear_map(small)
    u = mapping(small.space.statistic(small.space.listing()))
    np.testing.assert_allclose((small.matrix @ pi) @ u, pi, rtol=0, atol=1e-12)


def test_epsilon_is_as_asked_and_as_over_all_responses(small, large):
    assert 1.5 - 1e-9 < privacy.epsilon(large) <= 1.5
    some = small.matrix[small.matrix.min(axis=1) < small.matrix.max(axis=1)]
    assert privacy.epsilon(small) == pytest.approx(np.log(some.max() / some.min()))


def test_json_round_trip_and_the_rule_goes_with_it(large):
    again = Design.from_json(large.to_json())
    assert again == large
    assert again.to_json() == large.to_json()
    assert large.rule in large.to_json()
    bytes_ = [ByteSource(np.random.default_rng(7).bytes) for _ in range(2)]
    drawn = [each.randomize(LABELS, rng=source).texts() for each, source in zip((large, again), bytes_, strict=True)]
    assert drawn[0] == drawn[1]


def test_what_cannot_be_listed_is_estimated_and_planned(large):
    pi, n = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), 20_000
    rng = np.random.default_rng(5)
    tally = large.tally(large.randomize(rng.choice(LABELS, n, p=pi), rng=rng))
    with pytest.raises(DesignError, match="too many to list"):
        _ = large.matrix
    for method, estimator in ((estimate.moments, "moments"), (estimate.maximum_likelihood, "maximum_likelihood")):
        fit = method(large, tally)
        planned = planning.variance(large, pi, estimator=estimator).standard_errors(n)
        np.testing.assert_allclose(fit.standard_errors, planned, rtol=0.05)
        assert (abs(fit.proportions - pi) < 4.5 * planned).all()
        assert (fit.interval()[:, 0] < fit.proportions).all()


def test_it_goes_into_the_algebra(large):
    mixed = designs.mix((1, large), (1, large))
    codes = large.space.encode(["17;1", "4;0"])
    np.testing.assert_allclose(mixed.rows(codes), large.rows(codes), rtol=1e-15)
    both = designs.warner(p=0.8) * large
    said = both.randomize((["yes", "no"], ["a", "b"]), rng=np.random.default_rng(1))
    assert len(both.tally(said).parts) == 1


def test_reports_are_numbers_below_their_limits():
    class Seeds(Numbers):
        def statistic(self, codes):
            return codes.astype(float)

    space = Seeds(("a", "b"), (10, 2))
    codes = space.encode(["7;1", (3, 0), [9, 1], np.array([0, 0]), None, ""])
    assert space.texts(codes) == ["7;1", "3;0", "9;1", "0;0", None, None]
    assert space.decode(codes).tolist() == space.texts(codes)
    assert space.missing(codes).tolist() == [False] * 4 + [True] * 2
    assert (space.size, len(space.listing()), space.dimension) == (20, 20, 2)
    assert space.form() == {"space": "numbers", "labels": ["a", "b"], "limits": [10, 2]}
    for wrong in ("10;0", "1;2", "1", "1;1;1", "x;1", "-1;0", 4, object()):
        with pytest.raises(AnswerError, match="2 whole numbers joined by ';', below 10 and 2"):
            space.encode([wrong])
    for limits in ((), (0, 2), (2**63,)):
        with pytest.raises(DesignError, match="limits must be whole numbers"):
            Seeds(("a", "b"), limits)
