"""Shuffled reports: the published numbers, exact enumeration of small shuffles, and a second route for large ones."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from scipy import stats

from naysay import designs, privacy
from naysay.errors import DataError, DesignError
from naysay.privacy.shuffling import mean_positive_part

FAMILIES = {
    "binary": lambda epsilon: designs.warner(p=math.exp(epsilon) / (1 + math.exp(epsilon))),
    "k-ary 16": lambda epsilon: designs.k_ary(16, epsilon=epsilon),
    "k-ary 128": lambda epsilon: designs.k_ary(128, epsilon=epsilon),
    "affine": lambda epsilon: designs.affine(128, epsilon=epsilon, base=3),
}

# METHODS_LDP 2.3, by quadrature: binary, k-ary 16, k-ary 128, affine with g = 3 and m = 5; then clones, closed form
TABLE = [
    (10**5, 4, 1e-6, (0.1182, 0.1047, 0.0625, 0.0944), 0.1698, 0.5346),
    (10**5, 1, 1e-6, (0.0124, 0.0053, 0.0018, 0.0088), 0.0153, 0.0726),
    (10**6, 4, 1e-8, (0.0451, 0.0401, 0.0242, 0.0362), 0.0642, 0.2264),
]


@pytest.mark.parametrize(("n", "local", "delta", "blankets", "clones", "closed"), TABLE)
def test_the_published_bounds(n, local, delta, blankets, clones, closed):
    for number, (name, published) in enumerate(zip(FAMILIES, blankets, strict=True)):
        found = privacy.shuffled(FAMILIES[name](local), n=n, delta=delta)
        assert found.blanket == pytest.approx(published, rel=2e-3, abs=5.1e-5), name
        assert found.epsilon == found.blanket
        if number == 0:
            assert found.clones == pytest.approx(clones, rel=2e-3, abs=5.1e-5)
            assert found.closed_form == pytest.approx(closed, rel=0, abs=5.1e-5)
            if n == 10**5 and local == 4:
                assert 0.1675 <= found.clones <= 0.1728  # what the authors' own code brackets


def exactly(columns, truths):
    """The exact distribution of a shuffle: {sorted responses: chance}."""
    found = Counter()
    for said in product(range(len(columns[0])), repeat=len(truths)):
        found[tuple(sorted(said))] += math.prod(columns[x][y] for x, y in zip(truths, said, strict=True))
    return found


def true_delta(columns, n, epsilon):
    """The least δ for which n shuffled reports are (ε, δ)-private, over all neighbors."""
    worst = 0.0
    for others in combinations_with_replacement(range(len(columns)), n - 1):
        dealt = [exactly(columns, (x, *others)) for x in range(len(columns))]
        for one, two in permutations(dealt, 2):
            worst = max(worst, sum(max(0.0, one[key] - math.exp(epsilon) * two[key]) for key in one))
    return worst


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.02, 0.1, 0.3]))
def test_no_small_shuffle_exceeds_its_bound(seed, delta):
    rng = np.random.default_rng(seed)
    t, answers, n = rng.integers(2, 4), rng.integers(2, 4), int(rng.integers(2, 5))
    weights = rng.integers(20, 60, (t, answers))
    weights[:, -1] += 200 - weights.sum(axis=1)
    design = designs.custom([[Fraction(int(w), 200) for w in row] for row in weights.T])
    found = privacy.shuffled(design, n=n, delta=delta)
    assert found.blanket is None or found.blanket <= found.local
    event(f"bounds: {sum(each is not None for each in (found.blanket, found.clones))}")
    columns = (weights / 200).tolist()
    for bound in (found.blanket, found.clones, found.closed_form):
        if bound is not None:
            assert true_delta(columns, n, bound) <= delta * (1 + 1e-12)


SMALL = [
    designs.k_ary(tuple("abc"), epsilon=1),
    designs.subset_selection(tuple("abcd"), epsilon=1, size=2),
    designs.affine(tuple("abc"), epsilon=1.2, base=2),
    designs.unary(tuple("abc"), epsilon=1),
    designs.hadamard(tuple("abcd"), epsilon=2),
]


@pytest.mark.parametrize("design", SMALL, ids=lambda design: design.name)
def test_no_small_shuffle_of_a_pure_design_exceeds_its_blanket(design):
    for n, delta in ((2, 0.2), (3, 0.1)):
        found = privacy.shuffled(design, n=n, delta=delta)
        assert found.blanket is not None
        assert true_delta(design.matrix.T.tolist(), n, found.blanket) <= delta


def test_a_pattern_bound_is_that_of_its_table():
    """A second route: the closed form for supports, and the sum over all responses of a table."""
    design = designs.k_ary(tuple("abcde"), epsilon=1.5)
    again = designs.custom(
        np.array(design.weights, dtype=object) / Fraction(design.denominator), categories=tuple("abcde")
    )
    skewed = designs.custom([[0.5, 0.2, 0.3], [0.3, 0.6, 0.3], [0.2, 0.2, 0.4]])
    one, two = (privacy.shuffled(each, n=1000, delta=1e-4).blanket for each in (design, again))
    assert one == pytest.approx(two, rel=1e-3)
    assert privacy.shuffled(skewed, n=1000, delta=1e-4).blanket < privacy.shuffled(skewed, n=1000, delta=1e-4).clones


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_the_mean_positive_part_is_an_upper_bound_and_close(seed):
    rng = np.random.default_rng(seed)
    values = zip(rng.integers(-90, 60, 3).tolist(), (20, 30, 25), strict=True)
    atoms = [(Fraction(value, 37), Fraction(chance, 100)) for value, chance in values]
    n, sums = int(rng.integers(1, 9)), {Fraction(0): Fraction(1)}
    for _ in range(n):
        more = Counter()
        for total, chance in sums.items():
            for value, own in [*atoms, (Fraction(0), Fraction(1, 4))]:
                more[total + value] += chance * own
        sums = more
    exact = float(sum(max(total, Fraction(0)) * chance for total, chance in sums.items()))
    bound = mean_positive_part(atoms, n, cells=1024)
    assert exact <= bound <= exact * 1.001 + 1e-3


def test_clones_agree_with_the_sum_over_binomials():
    """The hockey-stick divergence of Feldman, McMillan & Talwar, summed directly in floating point."""
    local, n = 2.0, 5_000
    found = privacy.shuffled(designs.warner(p=0.8807970779778823), n=n, delta=1e-5).clones
    p, counts = math.exp(local) / (math.exp(local) + 1), np.arange(400, 1_000)
    total = 0.0
    for count, chance in zip(counts, stats.binom.pmf(counts, n - 1, math.exp(-local)), strict=True):
        ones = np.arange(count + 2)
        mass, before = stats.binom.pmf(ones, count, 0.5), stats.binom.pmf(ones - 1, count, 0.5)
        first, second = p * before + (1 - p) * mass, (1 - p) * before + p * mass
        total += chance * np.maximum(first - math.exp(found) * second, 0).sum()
    assert 0.98e-5 < total <= 1e-5


def test_fewer_honest_reports_promise_less():
    design = designs.k_ary(16, epsilon=2)
    every = [privacy.shuffled(design, n=n, delta=1e-6).epsilon for n in (2, 300, 3_000, 30_000)]
    assert every[0] == pytest.approx(privacy.epsilon(design), rel=1e-4)  # one other report hides next to nothing
    assert every == sorted(every, reverse=True)
    groups = privacy.shuffled(design, n={"few": 300, "many": 30_000}, delta=1e-6)
    assert [groups["few"].epsilon, groups["many"].epsilon] == [every[1], every[3]]
    assert privacy.shuffled(design, n=30_000, delta=1e-6, colluding=0.9).epsilon == every[2]
    assert [each.n for each in privacy.shuffled(design, n=[20, 10], delta=1e-6)] == [20, 10]


def test_what_holds_without_the_shuffler_is_told_first():
    told = str(privacy.shuffled(designs.k_ary(16, epsilon=4), n=100_000, delta=1e-6, colluding=0.5)).splitlines()
    assert told[0] == "ε = 4 for each report, whoever sees it"
    assert "if the shuffler is honest and 100,000 reports arrive, 50,000 of them from people who do not" in told[1]
    alone = privacy.shuffled(designs.k_ary(16, epsilon=4), n=1, delta=1e-6)
    assert alone.epsilon == alone.local
    assert "is not proven to add anything" in str(alone)
    assert alone.to_dict()["blanket"] is None


def test_levels_hide_among_their_own_reports():
    offer = designs.budgets(8, epsilon=(1, 3))
    found = privacy.shuffled(offer, n={1: 5_000, 3: 50_000}, delta=1e-6)
    assert found[3].epsilon == privacy.shuffled(offer.channel(3), n=50_000, delta=1e-6).epsilon
    with pytest.raises(DataError, match="give the reports of each level"):
        privacy.shuffled(offer, n=5_000, delta=1e-6)


def test_an_open_domain_and_a_design_without_a_known_blanket():
    assert privacy.shuffled(designs.affine(("x",), epsilon=2, names=True), n=10_000, delta=1e-6).blanket < 0.2
    product_ = designs.two_coins() * designs.k_ary(tuple("abc"), epsilon=0.5)
    found = privacy.shuffled(product_, n=100_000, delta=1e-6)
    assert found.blanket is None
    assert found.epsilon == found.clones < 0.1


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"n": 0, "delta": 0.1}, DesignError, "n must be a whole number"),
        ({"n": 10, "delta": 0}, DataError, "delta must lie between 0 and 1"),
        ({"n": 10, "delta": math.nan}, DataError, "delta must lie"),
        ({"n": 10, "delta": 0.1, "colluding": 1}, DataError, "colluding is a share"),
    ],
)
def test_bad_input_is_refused(given, error, told):
    with pytest.raises(error, match=told):
        privacy.shuffled(designs.warner(p=0.6), **given)


def test_what_an_answer_proves_is_not_hidden():
    with pytest.raises(DesignError, match="shuffling does not hide it"):
        privacy.shuffled(designs.negative(tuple("abc")), n=1000, delta=1e-6)
