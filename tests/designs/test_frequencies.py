"""Designs for frequencies: their published numbers, their exactness, and what the rule chooses."""

import hashlib
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from naysay import Design, designs, privacy
from naysay.design import ByteSource
from naysay.design.drawing import random_bytes
from naysay.designs.frequencies import cost
from naysay.errors import AnswerError, DesignError
from naysay.estimate.linear import products
from naysay.privacy.measures import guess_success
from naysay.responses import Affine, name_of

DESIGNS = (designs.k_ary, designs.subset_selection, designs.affine, designs.hadamard, designs.unary, designs.frequency)

# METHODS_LDP section 1.5, from the formulas of Ye & Barg (2018) and T. Wang et al. (2017), computed independently:
# the cost of the best subset size, that size, and the ratios of k-ary, symmetric unary, optimized unary and Hadamard.
COSTS = {
    (4, 1): (7.556, 1, 1, 2.07, 2.08, 1.30),
    (8, 1): (21.74, 2, 1.25, 1.44, 1.40, 1.28),
    (16, 1): (50.98, 4, 1.94, 1.23, 1.18, 1.27),
    (16, 2): (9.252, 2, 1.14, 1.59, 1.36, 2.52),
    (128, 0.5): (1974, 48, 19.8, 1.03, 1.02, 1.06),
    (128, 1): (463.1, 34, 12.2, 1.08, 1.02, 1.27),
    (128, 2): (90.25, 15, 4.85, 1.31, 1.04, 2.40),
    (128, 4): (8.636, 2, 1.20, 2.68, 1.24, 15.6),
    (1024, 2): (739.0, 122, 35.2, 1.28, 1.005, 2.38),
}
# Affine: the ratio, g, m and bits of the same table.
AFFINE = {
    (4, 1): (1.26, 5, 1, 2.3),
    (8, 1): (1.062, 3, 2, 3.6),
    (16, 1): (1.089, 3, 3, 5.3),
    (16, 2): (1.202, 17, 1, 4.1),
    (128, 0.5): (1.018, 3, 5, 8.5),
    (128, 1): (1.033, 3, 5, 8.5),
    (128, 2): (1.033, 7, 3, 8.6),
    (128, 4): (1.218, 47, 2, 11.1),
    (1024, 2): (1.013, 7, 4, 11.5),
}


@pytest.mark.parametrize("case", COSTS)
def test_costs_are_the_published_ones(case):
    t, epsilon = case
    value, size, *ratios = COSTS[case]
    best = designs.subset_selection(t, epsilon=epsilon)
    assert (best.size, cost(best)) == (size, pytest.approx(value, rel=3e-4))
    others = [
        designs.k_ary(t, epsilon=epsilon),
        designs.unary(t, epsilon=epsilon, p="symmetric"),
        designs.unary(t, epsilon=epsilon),
        designs.hadamard(t, epsilon=epsilon),
    ]
    assert [cost(each) / cost(best) for each in others] == pytest.approx(ratios, rel=5e-3)
    hashed, (ratio, base, digits, bits) = designs.affine(t, epsilon=epsilon), AFFINE[case]
    assert (hashed.base, hashed.space.digits) == (base, digits)
    assert cost(hashed) / cost(best) == pytest.approx(ratio, abs=5e-3)
    assert math.log2(hashed.space.size) == pytest.approx(bits, abs=0.05)


def test_no_other_size_or_base_is_better():
    for t, epsilon in ((7, 0.3), (20, 1.7), (50, 3), (128, 4)):
        best = cost(designs.subset_selection(t, epsilon=epsilon))
        sizes = [cost(designs.subset_selection(t, epsilon=epsilon, size=k)) for k in range(1, t)]
        assert best == min(sizes)
        bases = [
            cost(designs.affine(t, epsilon=epsilon, base=g)) for g in (2, 3, 5, 7, 11, 13, 17, 31, 47, 53, 61, 127)
        ]
        assert best <= cost(designs.affine(t, epsilon=epsilon)) <= min(bases)


def test_subset_selection_is_a_noisy_negative_survey():
    # METHODS_LDP 1.2: mix((w, negative(t - k)), (1, uniform(t - k))) with w = (e^ε - 1) k/t, as integers.
    labels, k = tuple("abcdefgh"), 2
    chosen = designs.subset_selection(labels, epsilon=1, size=k)
    a, b = chosen.odds
    weights = Fraction((a - b) * k, b * len(labels))
    noisy = designs.mix(
        (weights.numerator, designs.negative(labels, discards=6)),
        (weights.denominator, designs.uniform(labels, discards=6)),
    )
    discarded = np.asarray(noisy.responses)
    kept = {tuple(np.flatnonzero(~row)): place for place, row in enumerate(discarded)}
    order = [kept[tuple(np.flatnonzero(row))] for row in np.asarray(chosen.responses)]
    # The same matrix to the last integer: P(S | j) of the mixture as a fraction, with its own weights.
    whole, others, all_ = weights + 1, math.comb(7, 6), math.comb(8, 6)
    for said, row in zip(discarded[order], np.asarray(chosen.responses), strict=True):
        for j in range(8):
            mixed = (weights * Fraction(int(not said[j]), others) + Fraction(1, all_)) / whole
            assert mixed == Fraction(a if row[j] else b, chosen.whole) * Fraction(8, math.comb(8, k))
    np.testing.assert_allclose(noisy.matrix[order], chosen.matrix, rtol=0, atol=4e-14)


def test_the_affine_geometry_equals_subset_selection():
    found = designs.affine(9, epsilon=1, base=3)
    p, q = map(float, found.structure.named_chances)
    assert (p, q) == (pytest.approx(0.576116884766, abs=1e-12), pytest.approx(0.302985389404, abs=1e-12))
    assert [
        float(each) for each in designs.subset_selection(9, epsilon=1, size=3).structure.named_chances
    ] == pytest.approx([p, q])


def test_the_example_of_two_digits_in_base_two():
    said = Affine(tuple(range(4)), 2)
    supports = [set(np.flatnonzero(row).tolist()) for row in said.statistic(said.listing())]
    assert supports == [{0, 2}, {1, 3}, {0, 1}, {2, 3}, {0, 3}, {1, 2}]


@given(st.integers(2, 300), st.sampled_from([2, 3, 5, 7, 13]))
@settings(max_examples=25, deadline=None)
def test_any_two_categories_collide_equally_often(t, base):
    space = Affine(tuple(range(t)), base)
    named = space.statistic(space.listing())
    together = named.T @ named
    reach = base**space.digits
    apart = together[~np.eye(t, dtype=bool)]
    assert (apart == (reach // base - 1) / (base - 1)).all()
    assert (np.diagonal(together) == space.hashes).all()


@given(st.integers(2, 400), st.sampled_from([2, 3, 5, 7, 19]), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_sums_digit_by_digit_are_those_of_the_listing(t, base, seed):
    space, rng = Affine(tuple(range(t)), base), np.random.default_rng(seed)
    named, counts, values = space.statistic(space.listing()), rng.integers(0, 2**40, space.size), rng.random(t)
    assert (space.total(space.listing(), counts) == counts @ named.astype(np.int64)).all()
    np.testing.assert_allclose(space.over_supports(values, np.add, 0.0), named @ values, atol=1e-12)
    largest = np.where(named == 1, values, 0).max(axis=1)
    assert (space.over_supports(values, np.maximum, 0.0) == largest).all()


@given(st.sampled_from(DESIGNS), st.integers(2, 60), st.floats(0.01, 12))
@settings(max_examples=60, deadline=None)
def test_the_realized_epsilon_never_exceeds_the_requested_one(family, t, epsilon):
    design = family(t, epsilon=epsilon)
    told = privacy.epsilon(design)
    # 32-bit chances of unary encoding lose more than 2⁻⁵³; the others lose rounding alone.
    assert told <= epsilon + 1e-300
    assert told > epsilon - (1e-3 if design.kind == "unary" else 1e-6)


@pytest.mark.parametrize(("t", "epsilon"), [(128, 1), (16, 0.1), (1000, 8)])
def test_what_rounding_costs(t, epsilon):
    a, b = designs.subset_selection(t, epsilon=epsilon).odds
    assert -7.4e-15 < math.log(a / b) - epsilon <= 0
    lost = {(128, 1): -8.01e-10, (1000, 8): -1.1e-7}.get((t, epsilon), -2.9e-10)
    assert lost <= privacy.epsilon(designs.unary(t, epsilon=epsilon)) - epsilon < 0


def test_the_rule_of_choice():
    kinds = {(4, 1): "pattern", (300, 7): "pattern", (16, 1): "subset_selection", (32, 1): "subset_selection"}
    kinds |= {(33, 1): "affine", (128, 4): "pattern", (128, 3): "affine", (100_000, 0.5): "affine"}
    for (t, epsilon), kind in kinds.items():
        found = designs.frequency(t, epsilon=epsilon)
        assert found.kind == kind
        assert "was chosen" in found.notes[0]
    assert designs.frequency(4, epsilon=1) == designs.k_ary(4, epsilon=1)
    assert designs.frequency(128, epsilon=1) == designs.affine(128, epsilon=1)
    assert "was chosen" in str(privacy.statement(designs.frequency(128, epsilon=1)))


class Recorder:
    """Random bytes that are counted."""

    def __init__(self, seed):
        self.rng, self.read = np.random.default_rng(seed), []

    def __call__(self, n):
        self.read.append(n)
        return self.rng.bytes(n)


@pytest.mark.parametrize("family", [designs.subset_selection, designs.affine, designs.unary])
def test_all_truths_read_equally_many_bytes(family):
    design = family(13, epsilon=1)
    for seed in range(20):
        reads = []
        for truth in range(13):
            recorder = Recorder(seed)
            design.randomize([truth], rng=ByteSource(recorder))
            reads.append(recorder.read)
        assert all(each == reads[0] for each in reads)


def test_sets_are_drawn_as_published():
    # METHODS_LDP 1.6: the χ² of all sets, t = 6, k = 3
    design = designs.subset_selection(6, epsilon=1, size=3)
    for truth in (0, 3, 5):
        said = design.tally(design.randomize(np.full(60_000, truth), rng=np.random.default_rng(truth)))
        assert stats.chisquare(said.counts, design.matrix[:, truth] * 60_000).pvalue > 1e-4


class Constant:
    """A source that always draws the same integer."""

    def __init__(self, drawn):
        self.drawn = drawn

    def below(self, bound, size):
        assert self.drawn < bound == 2**32
        return np.full(size, self.drawn)


def test_the_bits_of_unary_designs_change_at_their_chances_exactly():
    design = designs.unary(("a", "b", "c"), epsilon=1)
    named = {design.other - 1: "a;b;c", design.other: "b", design.own - 1: "b", design.own: ";"}
    for drawn, said in named.items():
        assert design.randomize(["b"], rng=Constant(drawn)).texts() == [said]


def test_compiled_code_draws_the_same_sets(monkeypatch):
    pytest.importorskip("numba")
    design, truth, drawn = designs.subset_selection(128, epsilon=1), np.arange(3_000) % 128, []
    for least in (0, 10**9):
        monkeypatch.setattr("naysay.design.pure._WORTH_COMPILING", least)
        drawn.append(design.randomize(truth, rng=np.random.default_rng(3)).codes)
    np.testing.assert_array_equal(*drawn)
    assert (design.space.sizes(drawn[0]) == design.size).all()


def test_many_random_bytes_are_those_of_a_cipher():
    few, many = random_bytes(100), random_bytes(2**16)
    assert (len(few), len(many)) == (100, 2**16)
    assert random_bytes(2**16) != many
    assert stats.chisquare(np.bincount(np.frombuffer(many, dtype=np.uint8), minlength=256)).pvalue > 1e-6


def test_closed_forms_are_those_of_the_matrix():
    rng = np.random.default_rng(8)
    for design in (
        designs.subset_selection(7, epsilon=1, size=3),
        designs.subset_selection(3, epsilon=1, size=2),
        designs.unary(6, epsilon=1.3),
        designs.affine(7, epsilon=1),
        designs.affine(12, epsilon=2),
        designs.affine(40, epsilon=1),
        designs.hadamard(11, epsilon=0.7),
    ):
        matrix, named = design.matrix, design.space.statistic(design.space.listing())
        for concentration in (1, 0.1):
            pi = rng.dirichlet(np.full(len(design.categories), concentration))
            chances = matrix @ pi
            assert guess_success(design, pi) == pytest.approx((matrix * pi).max(axis=1).sum(), abs=1e-12)
            logs = np.log2(matrix / chances[:, None])
            assert privacy.information(design, pi) == pytest.approx((matrix * pi * logs).sum(), abs=1e-12)
            np.testing.assert_allclose(products(design, pi), named.T @ (named * chances[:, None]), atol=1e-14)


def test_privacy_of_sets_too_many_to_list():
    large = designs.subset_selection(128, epsilon=1)
    after, before = privacy.vulnerability(large)
    assert (after, before) == (pytest.approx(large.inside / large.whole), 1 / 128)
    even, drawn = np.full(128, 1 / 128), np.full(128, 1 / 128) + np.resize([1e-9, -1e-9], 128)
    assert privacy.information(large, drawn) == pytest.approx(privacy.information(large, even), abs=0.01)
    assert privacy.still_possible(large) == (128, 128)
    huge = designs.subset_selection(2_000, epsilon=1)  # a set has a chance below the least float
    assert privacy.information(huge) == pytest.approx(0.173, abs=0.002)
    assert privacy.posterior(huge, huge.randomize([5])).sum() == pytest.approx(1)


def test_many_categories_are_written_as_their_number():
    design = designs.affine(100_000, epsilon=1)
    text = design.to_json()
    assert json.loads(text)["design"]["categories"] == {"size": 100_000}
    assert len(text) < 3_000
    assert Design.from_json(text) == design
    assert json.loads(designs.affine(5, epsilon=1).to_json())["design"]["categories"] == [0, 1, 2, 3, 4]


def test_an_open_domain_is_known_by_names():
    assert name_of("naysay") == int(hashlib.sha256(b"naysay").hexdigest()[:12], 16)
    assert name_of("é") == name_of("e\u0301")  # the same text in two normal forms
    small = designs.affine(("a.org", "b.org"), epsilon=1, names=True)
    large = designs.affine([f"{place}.org" for place in range(50)], epsilon=1, names=True)
    assert small == large  # the candidates change no report
    assert Design.from_json(small.to_json()).about(("x", "y")) == small
    with pytest.raises(DesignError, match="only a design of an open domain takes candidates"):
        designs.affine(5, epsilon=1).about(("x",))
    with pytest.raises(AnswerError, match="a category of an open domain is a text"):
        small.randomize([3])
    with pytest.raises(AnswerError, match=r"answer 2 of 2 .* holds half a character"):
        small.randomize(["a", "\ud800"])


WRONG = [0, -1, math.nan, math.inf, 1e9, 1e-20, "x", None, True]


@pytest.mark.parametrize("family", DESIGNS)
def test_a_wrong_epsilon_is_one_clear_error(family):
    for epsilon in WRONG:
        with pytest.raises(DesignError, match="epsilon must"):
            family(20, epsilon=epsilon)


@pytest.mark.parametrize("categories", [1, 0, -3, True, 2.5, "abc", ["a", "a"], 10**9])
def test_a_wrong_domain_is_one_clear_error(categories):
    with pytest.raises(DesignError, match=r"categories|wrong kind"):
        designs.frequency(categories, epsilon=1)


def test_other_arguments_that_are_wrong():
    with pytest.raises(DesignError, match="size must be a whole number from 1 to 9; got 10"):
        designs.subset_selection(10, epsilon=1, size=10)
    with pytest.raises(DesignError, match="base must be a prime; got 4"):
        designs.affine(10, epsilon=1, base=4)
    with pytest.raises(DesignError, match="epsilon must suit chances of 32 bits"):
        designs.unary(10, epsilon=40)
    with pytest.raises(DesignError, match=r"p must lie strictly between 0 and 1"):
        designs.unary(10, epsilon=1, p=1)
    with pytest.raises(DesignError, match="design must be one of frequency"):
        designs.budgets(10, epsilon=(1, 2), design="oue")
    with pytest.raises(DesignError, match="are pure have one cost"):
        cost(designs.kuk(p=(0.6, 0.3), draws=3))


FORGED = [{"inside": 1}, {"outside": 0}, {"inside": 2**60}, {"base": 4}, {"base": 2.0}]
FORGED += [{"categories": {"size": size}} for size in (-4, 1, 10**12, "9")]


@pytest.mark.parametrize("field", FORGED)
def test_a_forged_design_file_is_refused(field):
    form = json.loads(designs.affine(9, epsilon=1).to_json())
    form["design"] |= field
    with pytest.raises(DesignError):
        Design.from_json(form)


@pytest.mark.parametrize("truth", [-1, 20, "20", 3.5])
def test_a_truth_outside_the_domain_is_an_error_on_the_device(truth):
    for design in (
        designs.affine(20, epsilon=1),
        designs.subset_selection(20, epsilon=1),
        designs.k_ary(20, epsilon=1),
    ):
        with pytest.raises(AnswerError, match="not a category"):
            design.randomize([truth])
        if isinstance(truth, int):
            with pytest.raises(AnswerError, match="not a category"):
                design.randomize(np.array([3, truth]))


@pytest.mark.parametrize("said", [363, -1, "x", 1.5, "1;2", "٣"])
def test_a_report_out_of_range_is_an_error(said):
    survey = designs.affine(128, epsilon=1)
    with pytest.raises(AnswerError, match="a report of this design is a whole number from 0 to 362"):
        survey.tally([0, said])
    if isinstance(said, int):
        with pytest.raises(AnswerError, match="a whole number from 0 to 362"):
            survey.tally(np.array([0, said]))
