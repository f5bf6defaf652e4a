"""Change between waves: unbiased, and its standard error honest, however people answered again."""

import json
import math

import numpy as np
import polars as pl
import pytest

from naysay import cli, designs, estimate
from naysay.design.drawing import GeneratorSource
from naysay.errors import AnswerError, DataError
from naysay.estimate.linear import indicators
from naysay.sampling import Sampling

PI = np.array([0.4, 0.3, 0.2, 0.1])
MOVES = np.array([[1, 0, 1, 2], [1, 0, 3, 2]])
TRUTH = 0.1 * np.array([-0.1, 0.2, -0.1, 0.0])
KARY = designs.k_ary(4, epsilon=1)


def waves(design, n, rng, *, redrawn=1.0, changed=0.1, pi=PI):
    """True values and reports of two waves. Those who change go from 0 to 1 and back, from 2 to 1 or 3, from 3 to 2."""
    x1 = rng.choice(len(pi), n, p=pi)
    x2 = np.where(rng.random(n) < changed, MOVES[rng.integers(2, size=n), x1], x1)
    one, two = (design.draw(x, GeneratorSource(rng)) for x in (x1, x2))
    keep = (x1 == x2) & (rng.random(n) >= redrawn)
    return (x1, x2), (one, np.where(keep[:, None], one, two))


def exact(redrawn):
    """n Var(Δ̂) from the table of all pairs of values and answers."""
    p = KARY.matrix
    u = indicators(KARY.tally(count=[1, 1, 1, 1])).u
    moves = 0.9 * np.eye(4)
    for way in MOVES:
        moves[way, range(4)] += 0.05
    mean = square = 0
    for x1 in range(4):
        for x2 in range(4):
            fresh = np.outer(p[:, x1], p[:, x2])
            pair = redrawn * fresh + (1 - redrawn) * np.diag(p[:, x1]) if x1 == x2 else fresh
            d = u[None, :, :] - u[:, None, :]
            chance = moves[x2, x1] * PI[x1] * pair
            mean = mean + np.einsum("ab,abj->j", chance, d)
            square = square + np.einsum("ab,abj->j", chance, d**2)
    return square - mean**2


@pytest.mark.parametrize(
    ("redrawn", "rule", "published"),
    [
        (1, "fresh", [4.14, 4.02, 3.70, 3.45]),
        (0.5, "redraw", [2.30, 2.26, 2.04, 1.91]),
        (0.2, "redraw", [1.20, 1.20, 1.05, 0.98]),
        (0, "kept", [0.469, 0.491, 0.384, 0.363]),
    ],
)
def test_standard_errors_are_honest_under_every_rule(redrawn, rule, published):
    """METHODS_LDP 3.4: t = 4, k-ary, ε = 1, 10 % change (who changes into what is not told there)."""
    variance = exact(redrawn)
    assert variance == pytest.approx(published, rel=0.013)
    rng, n = np.random.default_rng(20), 1_500
    inside = np.zeros(4)
    for _ in range(100):
        _, (one, two) = waves(KARY, n, rng, redrawn=redrawn)
        found = estimate.change(KARY, one[:, 0], two[:, 0], rule=rule)
        low, high = found.interval().T
        inside += (low <= TRUTH) & (high >= TRUTH)
    assert found.standard_errors**2 * n == pytest.approx(variance, rel=0.25)
    assert inside.mean() / 100 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 400))


@pytest.mark.parametrize("family", ["k_ary", "affine", "unary"])
def test_memory_with_new_noise_tells_the_change_too(family):
    """A memo for each value: each wave's own chances are those of its design, and that suffices."""
    survey, rng, z = designs.remembered(6, epsilon=1.5, lifetime=4, design=family), np.random.default_rng(5), []
    pi, source = np.r_[PI / 2, 0.25, 0.25], GeneratorSource(rng)
    for _ in range(15):
        x1 = rng.choice(6, 4_000, p=pi)
        x2 = np.where(rng.random(4_000) < 0.2, (x1 + 1) % 6, x1)
        memo, other = survey.first.draw(x1, source), survey.first.draw(x2, source)
        later = np.where((x1 == x2)[:, None], memo, other)
        said = [survey.space.texts(survey.again(each, source)) for each in (memo, later)]
        found = estimate.change(survey, *said)
        truth = 0.2 * (np.roll(pi, 1) - pi)
        z.append((found.difference - truth) / found.standard_errors)
    assert found.rule == "memory"
    assert abs(np.mean(z)) < 4 / math.sqrt(90)
    assert 0.7 < np.square(z).mean() < 1.35


def test_answers_that_are_never_drawn_again_tell_only_the_change_of_others():
    """E Δ̂ = (1 - f) Δ, and the result says so."""
    rng, n, f = np.random.default_rng(6), 40_000, 0.6
    (x1, x2), (one, two) = waves(KARY, n, rng, redrawn=0, changed=0.5)
    kept = np.where(((x1 != x2) & (rng.random(n) < f))[:, None], one, two)
    found = estimate.change(KARY, one[:, 0], kept[:, 0], rule="never")
    truth = np.bincount(x2, minlength=4) / n - np.bincount(x1, minlength=4) / n
    assert np.all(abs(found.difference - (1 - f) * truth) < 4.5 * found.standard_errors)
    assert "not the change of the population" in str(found)


def test_two_designs_and_people_in_one_wave_only():
    """Different designs in the two waves; the paired and the unpaired estimate weigh by inverse variance."""
    other, rng, z = designs.affine(4, epsilon=2), np.random.default_rng(9), []
    for _ in range(30):
        x1 = rng.choice(4, 3_000, p=PI)
        x2 = np.where(rng.random(3_000) < 0.1, MOVES[rng.integers(2, size=3_000), x1], x1)
        one, two = KARY.randomize(x1, rng=rng), other.randomize(x2, rng=rng)
        here = rng.random((2, 3_000)) < 0.6
        said = [
            [text if there else None for text, there in zip(wave.texts(), present, strict=True)]
            for wave, present in ((one, here[0]), (two, here[1]))
        ]
        found = estimate.change(KARY, said[0], said[1], after=other)
        z.append((found.difference - TRUTH) / found.standard_errors)
    assert 0.3 < found.share_paired < 0.8
    assert (found.both, found.only_first) == (int((here[0] & here[1]).sum()), int((here[0] & ~here[1]).sum()))
    assert 0.5 < np.square(z).mean() < 1.6
    paired = [(a, b) for a, b in zip(*said, strict=True) if a is not None and b is not None]
    alone = estimate.change(KARY, *map(list, zip(*paired, strict=True)), after=other)
    assert (found.standard_errors < alone.standard_errors).all()


def test_persons_of_a_household_are_no_independent_units():
    rng = np.random.default_rng(10)
    x1 = np.repeat(rng.choice(4, 400, p=PI), 3)
    x2 = np.where(np.repeat(rng.random(400) < 0.5, 3), abs(x1 - 1), x1)
    open_ = designs.direct(tuple(range(4)))
    one = estimate.change(open_, x1, x2, rule="kept")
    grouped = estimate.change(open_, x1, x2, rule="kept", sampling=Sampling(clusters=np.repeat(np.arange(400), 3)))
    assert grouped.difference == pytest.approx(one.difference)
    assert grouped.standard_errors == pytest.approx(math.sqrt(3) * one.standard_errors, rel=0.01)


def test_weights_are_those_of_an_ordinary_mean():
    rng, design = np.random.default_rng(11), designs.direct(("a", "b"))
    first, second, weight = (*rng.integers(2, size=(2, 60)).tolist(), rng.uniform(1, 3, 60))
    names = [["ab"[each] for each in wave] for wave in (first, second)]
    found = estimate.change(design, *names, weights=weight)
    d = np.array(second) - np.array(first)
    mean = weight @ d / weight.sum()
    assert found.difference[1] == pytest.approx(mean)
    assert found.standard_errors[1] ** 2 == pytest.approx(60 / 59 * (weight**2 @ (d - mean) ** 2) / weight.sum() ** 2)


def test_kept_answers_under_the_name_of_fresh_ones_are_noticed():
    _, (one, two) = waves(KARY, 2_000, np.random.default_rng(12), redrawn=0)
    assert "Answers were kept: name the rule" in str(estimate.change(KARY, one[:, 0], two[:, 0]))
    assert "nobody was asked again" in str(estimate.change(KARY, one[:, 0], one[:, 0]))
    _, (one, two) = waves(KARY, 2_000, np.random.default_rng(12))
    assert estimate.change(KARY, one[:, 0], two[:, 0]).warnings == ()


def test_gross_flows_are_the_product_of_both_designs():
    """The pair table: Δ̂ of its margins is that of the pairs."""
    _, (one, two) = waves(KARY, 3_000, np.random.default_rng(13))
    both = KARY * KARY
    fit = estimate.moments(both, both.tally((one[:, 0], two[:, 0])))
    flows = fit.proportions.reshape(4, 4)
    found = estimate.change(KARY, one[:, 0], two[:, 0])
    assert flows.sum(axis=0) - flows.sum(axis=1) == pytest.approx(found.difference, abs=1e-12)


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Two files of a panel, in any order, and the same people in one file."""
    folder, rng = tmp_path_factory.mktemp("panel"), np.random.default_rng(14)
    _, (one, two) = waves(KARY, 500, rng)
    frame = pl.DataFrame(
        {"id": [f"p{i}" for i in range(500)], "a": one[:, 0], "b": two[:, 0], "w": rng.uniform(1, 2, 500)}
    )
    frame.write_csv(folder / "wide.csv")
    frame.select("id", "w", said="a").sample(fraction=1, shuffle=True, seed=1).write_csv(folder / "one.csv")
    frame.select("id", "w", said="b").sample(fraction=1, shuffle=True, seed=2).write_csv(folder / "two.csv")
    return folder, frame


def test_a_frame_by_person_is_a_row_by_row_and_the_command_says_the_same(panel, capsys):
    folder, frame = panel
    rows = estimate.change(KARY, frame["a"].to_list(), frame["b"].to_list(), weights=frame["w"].to_numpy())
    one, two = (frame.select("id", "w", said=name).sample(fraction=1, shuffle=True, seed=3) for name in "ab")
    joined = estimate.change(KARY, one, two, column="said", person="id", weights="w")
    assert joined.difference == pytest.approx(rows.difference, abs=1e-12)
    assert joined.standard_errors == pytest.approx(rows.standard_errors, abs=1e-12)
    design = ["--design", "k_ary(epsilon=1)", "--categories", "0,1,2,3", "--weight", "w", "--format", "json"]
    files = [str(folder / f"{name}.csv") for name in ("one", "two", "wide")]
    assert cli.main(["change", *files[:2], "--person", "id", "--response", "said", *design]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["change"] == pytest.approx(rows.difference, abs=1e-12)
    assert cli.main(["change", files[2], "--response", "a", "--response", "b", *design]) == 0
    assert json.loads(capsys.readouterr().out)["low"] == pytest.approx(told["low"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["one.csv", "two.csv", "--response", "said"], "--person COLUMN goes with two files"),
        (["wide.csv", "--response", "a"], "with one file twice"),
        (["one.csv", "two.csv", "--response", "sad", "--person", "id"], "there is no column 'sad'"),
    ],
)
def test_the_command_says_what_is_missing(panel, capsys, words, told):
    words = [str(panel[0] / word) if word.endswith(".csv") else word for word in words]
    assert cli.main(["change", *words, "--design", "k_ary(epsilon=1)", "--categories", "0,1,2,3"]) == 2
    assert told in capsys.readouterr().err


def test_bad_waves_are_refused():
    a, b = [0, 1, 2], [0, 1, 2]
    with pytest.raises(DataError, match="a row for each person; got 3 and 2"):
        estimate.change(KARY, a, b[:2])
    with pytest.raises(DataError, match="at least two people"):
        estimate.change(KARY, [0, None, 1], [None, 2, 3])
    with pytest.raises(DataError, match="rule must be one of fresh, kept"):
        estimate.change(KARY, a, b, rule="again")
    with pytest.raises(DataError, match="same categories"):
        estimate.change(KARY, a, b, after=designs.k_ary(5, epsilon=1))
    with pytest.raises(AnswerError):
        estimate.change(KARY, a, [0, 1, 9])
    one = pl.DataFrame({"id": [1, 2, 2], "said": a})
    with pytest.raises(DataError, match="2 comes twice in wave 1, in rows 2 and 3"):
        estimate.change(KARY, one, one, column="said", person="id")
    with pytest.raises(DataError, match="row 2 of wave 1 has no 'id'"):
        estimate.change(KARY, one.with_columns(id=pl.Series([1, None, 3])), one, column="said", person="id")
    with pytest.raises(DataError, match="both waves must be dataframes"):
        estimate.change(KARY, a, b, column="said", person="id")
    with pytest.raises(DataError, match="no column 'x'"):
        estimate.change(KARY, one, one, column="x", person="id")
