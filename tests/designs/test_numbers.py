"""Windows: numbers drawn in whole numbers alone, and the variance that the literature publishes."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, client, designs, privacy
from naysay.design import ByteSource
from naysay.errors import AnswerError, DesignError
from naysay.privacy.measures import guess_success

# Variance of one answer at x = 0 and at x = 1, on [-1, 1]; see N. Wang et al. (2019) for the piecewise mechanism.
PUBLISHED = {(1, 607): (3.682, 5.223), (2, 368): (0.6455, 1.2274), (4, 135): (0.0850, 0.2418)}


@pytest.mark.parametrize("case", PUBLISHED)
def test_a_fine_window_has_the_variance_of_the_piecewise_mechanism(case):
    epsilon, width = case
    design = designs.window(low=-1, high=1, epsilon=epsilon, steps=1000, width=width)
    np.testing.assert_allclose(design.variance([0, 1]), PUBLISHED[case], rtol=0, atol=6e-4)
    half = math.expm1(epsilon / 2)
    piecewise = [(half + 4) / (3 * half**2), 1 / half + (half + 4) / (3 * half**2)]
    np.testing.assert_allclose(design.variance([0, 1]), piecewise, rtol=3e-3)


@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
def test_one_step_is_the_mechanism_of_duchi_jordan_and_wainwright_and_warner(epsilon):
    design = designs.window(low=-1, high=1, epsilon=epsilon, steps=1, width=1)
    reach = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    np.testing.assert_allclose(design.variance([-1, 0, 0.5]), reach**2 - np.array([1, 0, 0.25]), rtol=1e-12)
    np.testing.assert_allclose(design.numbers(np.array([[0], [1]])), [-reach, reach], rtol=1e-12)
    warner = designs.k_ary((-1, 1), epsilon=epsilon)
    np.testing.assert_allclose(design.matrix, warner.matrix, rtol=1e-12)


def test_a_wide_window_lowers_the_worst_case():
    truths = np.linspace(-1, 1, 201)
    for epsilon, width, worst in ((4, 321, 0.162), (2, 588, 1.092)):
        design = designs.window(low=-1, high=1, epsilon=epsilon, steps=1000, width=width)
        assert design.variance(truths).max() == pytest.approx(worst, abs=1e-3)


def published(epsilon):
    """The least largest variance of Duchi's, the piecewise and the hybrid mechanism on [-1, 1] (Wang et al. 2019)."""
    duchi = 1 / math.tanh(epsilon / 2) ** 2
    x, half = np.linspace(0, 1, 201), math.expm1(epsilon / 2)
    piecewise = x**2 / half + (half + 4) / (3 * half**2)
    share = -math.expm1(-epsilon / 2) if epsilon > 0.61 else 0
    hybrid = share * piecewise + (1 - share) * (duchi - x**2)
    return min(duchi, piecewise.max(), hybrid.max())


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.61, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 12, 20])
def test_the_chosen_window_has_less_variance_than_every_published_mechanism(epsilon):
    chosen = designs.number(low=-1, high=1, epsilon=epsilon)
    worst = chosen.variance(np.linspace(-1, 1, 4 * 8 * chosen.steps + 1)).max()
    assert worst < published(epsilon) * 0.992
    printed = float(chosen.notes[0].split("at most ")[1].split()[0])
    assert worst <= printed <= worst * 1.0015  # "at most" is rounded up, to four digits


def test_the_published_hybrid_has_a_largest_variance_of_4_289_at_one_and_the_chosen_window_4_021():
    assert published(1) == pytest.approx(4.289, abs=5e-4)
    chosen = designs.number(low=-1, high=1, epsilon=1)
    assert (chosen.steps, chosen.width) == (12, 12)
    assert chosen.variance(np.linspace(-1, 1, 961)).max() == pytest.approx(4.0207, abs=5e-4)


@pytest.mark.parametrize("epsilon", ["0.25", "0.61", "1", "2", "5"])
def test_the_chosen_window_keeps_its_epsilon_when_all_its_integers_are_counted(epsilon):
    """Each row and each draw of the rule is counted, so that no closed form vouches for itself."""
    chosen = designs.number(low=0, high=1, epsilon=epsilon)
    node = json.loads(chosen.to_json())["design"]
    a, b, k, w = (node[name] for name in ("inside", "outside", "steps", "width"))
    counts = [[a if point <= place < point + w else b for place in range(k + w)] for point in range(k + 1)]
    assert {sum(row) for row in counts} == {chosen.whole}
    np.testing.assert_array_equal(np.array(counts).T, chosen.integers(np.arange(k + w).reshape(-1, 1)))
    ratio = max(Fraction(max(column), min(column)) for column in zip(*counts, strict=True))
    assert Decimal(ratio.numerator) / Decimal(ratio.denominator) <= Decimal(epsilon).exp()
    assert math.log(ratio) == pytest.approx(float(epsilon), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "truth"), [(1, -1), (1, 0.31), (0.5, 0), (2, 0.93), (4, 0.5)])
def test_simulated_reports_have_the_mean_and_the_variance_that_are_printed(epsilon, truth):
    chosen, n = designs.number(low=-1, high=1, epsilon=epsilon), 200_000
    rng = np.random.default_rng(int(100 * epsilon + 7))
    number = chosen.numbers(chosen.randomize(np.full(n, float(truth)), rng=rng).codes)
    exact = chosen.variance([truth])[0]
    assert number.mean() == pytest.approx(truth, abs=4 * math.sqrt(exact / n))
    assert number.var() == pytest.approx(exact, abs=4 * (number**2).std() / math.sqrt(n))


@given(st.integers(1, 30), st.integers(1, 34), st.floats(0.01, 9))
def test_a_place_is_never_read_with_a_larger_largest_variance_than_by_the_line(steps, width, epsilon):
    design = designs.window(low=0, high=steps, epsilon=epsilon, steps=steps, width=width)
    places, fine = np.arange(steps + width), np.linspace(0, steps, 8 * steps + 1)
    slope = (design.inside - design.outside) * width / design.whole
    line = (places - (steps + width - 1) / 2) / slope + steps / 2
    chances = np.maximum(0, 1 - np.abs(fine[:, None] - np.arange(steps + 1))) @ design.matrix.T
    assert design.variance(fine).max() <= (chances @ line**2 - fine**2).max() * (1 + 1e-9)


def test_a_design_made_before_keeps_its_hash():
    before = designs.window(low=0, high=2_000, epsilon=1, steps=1, width=1)  # what number() chose at ε = 1 until 2026
    assert before.hash == "93f94f9d77e4a691dd728a1a98e737a128d147b19e4bf9c405d9f408b8430752"
    wide = designs.window(low=-1, high=1, epsilon=4, steps=10, width=3)  # and at ε = 4
    assert wide.hash == "463aec34455e163720dec9f653c812ce2ed4d72fc061cc25340be21591a43f88"
    assert Design.from_json(wide.to_json()) == wide


def test_the_square_wave_has_the_published_width():
    for epsilon, beta in ((1e-3, 0.5), (1, 0.256)):  # Li et al. (2020): β tends to 1/2, and is 0.256 at ε = 1
        e = math.exp(epsilon)
        doubled = (epsilon * e - e + 1) / (e * (e - 1 - epsilon))
        design = designs.number(low=0, high=1, epsilon=epsilon, aim="distribution")
        assert design.width == round(255 * doubled)
        assert doubled / 2 == pytest.approx(beta, abs=5e-4)


@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.01, 8), st.fractions(0, 1))
def test_every_window_is_unbiased_for_the_number_and_for_the_square_of_its_point(steps, width, epsilon, share):
    design = designs.window(low=-3, high=5, epsilon=epsilon, steps=steps, width=width)
    places = np.arange(design.space.size).reshape(-1, 1)
    points = np.array(design.categories, dtype=float)
    scale = np.abs(design.numbers(places)).max()
    np.testing.assert_allclose(design.numbers(places) @ design.matrix, points, rtol=0, atol=1e-9 * scale)
    squares = design.numbers(places, 2)
    np.testing.assert_allclose(squares @ design.matrix, points**2, rtol=0, atol=1e-9 * np.abs(squares).max())
    truth = float(-3 + 8 * share)  # the closed form of the variance, rounding included
    above = np.clip((truth + 3) / design.step - np.arange(steps + 1), -1, 1)
    chances = design.matrix @ (1 - np.abs(above))
    spread = chances @ design.numbers(places) ** 2 - truth**2
    assert design.variance([truth])[0] == pytest.approx(spread, rel=1e-6, abs=1e-9 * scale**2)
    a, b = design.structure.odds
    assert privacy.epsilon(design) <= epsilon
    assert a * width + b * steps <= 2**53


def test_closed_forms_of_privacy_agree_with_the_matrix():
    rng = np.random.default_rng(8)
    for width in (1, 2, 3, 7):
        design = designs.window(low=0, high=1, epsilon=1.3, steps=5, width=width)
        pi = rng.dirichlet(np.full(6, 0.5))
        assert guess_success(design, pi) == pytest.approx((design.matrix * pi).max(axis=1).sum(), abs=1e-12)
        logs = np.log2(design.matrix / (design.matrix @ pi)[:, None])
        assert privacy.information(design, pi) == pytest.approx((design.matrix * pi * logs).sum(), abs=1e-12)


def test_rounding_by_lot_keeps_the_mean():
    design = designs.number(low=0, high=1, epsilon=1)
    places = design._positions(np.full(40_000, 0.3), ByteSource(np.random.default_rng(2).bytes))
    assert places.mean() / design.steps == pytest.approx(0.3, abs=4 * 0.46 / 200)


def test_every_truth_takes_the_same_number_of_draws():
    design = designs.number(low=0, high=100, epsilon=1, clip=True)
    bounds = []

    class Asked:
        def below(self, bound, size):
            bounds.append((bound, size))
            return np.zeros(size, dtype=np.int64)

    for truth in (0, 0.001, 50, "99.999", 1e6, None):
        design.randomize([truth], rng=Asked())
    answered, missing = bounds[:10], bounds[10:]
    assert answered == [(design.high - design.low, 1), (design.whole, 1)] * 5
    assert missing[0] == (design.high - design.low, 1)


def test_numbers_are_read_alike_however_they_are_written():
    design = designs.number(low=-1, high=10, epsilon=1, decimals=4)
    ways = ["2.5", 2.5, Decimal("2.5"), Fraction(5, 2), np.float64(2.5), "2.50000", "0.25e1"]
    assert {design._units([each]).item() for each in ways} == {25_000}
    assert design._units(np.array([2.5, -0.00005, 0.00005, np.nan])).tolist()[:3] == [25_000, -1, 1]
    assert design._units(["-0.00005", "0.00005", None]).tolist()[:2] == [-1, 1]


@pytest.mark.parametrize("answer", [True, None, "", "many", [5]])
def test_the_device_says_what_is_no_number(answer):
    with pytest.raises(ValueError, match=r"is no number; write it with digits, such as '12\.5'"):
        client.draw(designs.number(low=0, high=10, epsilon=1).to_json(), answer)


def test_a_number_outside_the_bounds_is_an_error_on_the_device_unless_it_is_clipped():
    strict, kind = (designs.number(low=0, high=10, epsilon=1, clip=clip) for clip in (False, True))
    for outside in (10.1, -3, "11", "-1e30", np.float64(1e300)):
        with pytest.raises(AnswerError, match=r"answer 2 of 2 is .*; it must lie from 0 to 10 \(clip=True"):
            strict.randomize([5, outside])
        with pytest.raises(ValueError, match="does not lie between the bounds"):
            client.draw(strict.to_json(), outside)
        assert client.draw(kind.to_json(), outside).isdigit()
    with pytest.raises(AnswerError, match="must lie from 0 to 10"):
        strict.randomize(np.array([1.0, -1.0]))
    assert kind._positions(np.array([-5, 50])).tolist() == [0, kind.steps]
    assert "biases the mean" in kind.notes[-1]
    for odd in ("x", "nan", True, "inf"):
        with pytest.raises(AnswerError, match=r"it must be a number, such as 12\.5"):
            strict.randomize([odd])


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e9, 1e-20, "x", None, True])
def test_a_wrong_epsilon_is_one_clear_error(epsilon):
    with pytest.raises(DesignError, match="epsilon must"):
        designs.number(low=0, high=1, epsilon=epsilon)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"low": 1, "high": 1}, "low must be less than high"),
        ({"low": "x", "high": 1}, "low must be a number"),
        ({"low": 0, "high": "1/3"}, "few digits"),
        ({"low": 0, "high": 1e300}, "few digits"),
        ({"low": 0.125, "high": 1, "decimals": 2}, "at most 2 decimals"),
        ({"low": 0, "high": 1, "decimals": 31}, "decimals must be a whole number from 0 to 30"),
        ({"low": 0, "high": 1, "aim": "median"}, "aim must be 'mean' or 'distribution'; got 'median'"),
    ],
)
def test_wrong_bounds_are_one_clear_error(wrong, told):
    with pytest.raises(DesignError, match=told):
        designs.number(epsilon=1, **wrong)


@pytest.mark.parametrize(
    "field",
    [{"inside": 1}, {"outside": 0}, {"inside": 2**60}, {"steps": 0}, {"width": 10**9}, {"low": 10**9}, {"clip": 1}],
)
def test_a_forged_design_file_is_refused(field):
    form = json.loads(designs.number(low=0, high=9, epsilon=1).to_json())
    form["design"] |= field
    with pytest.raises(DesignError):
        Design.from_json(form)
