import json

import numpy as np
import pytest

from naysay import Design, designs

FOUR = ("--categories", "a,b,c,d")
SHOWN = {
    "direct()": FOUR,
    "negative(discards=2)": FOUR,
    "negative(weights=(1, 2, 3, 4))": FOUR,
    "gaussian_negative(sigma=1.5)": FOUR,
    "two_option()": FOUR,
    "negative_sink(sinks={'a': 'none of these'})": FOUR,
    "negative_levels()": FOUR,
    "levels({'masked': warner(p=0.7), 'open': direct(('yes', 'no'))})": (),
    "warner(p=0.7)": (),
    "two_coins()": (),
    "k_ary(epsilon=1)": FOUR,
    "custom([[0.8, 0.1], [0.2, 0.9]])": ("--categories", "ill,well"),
    "mix((3, negative()), (1, uniform()))": FOUR,
}


@pytest.mark.parametrize("text", SHOWN)
def test_every_design_is_shown(naysay, text):
    code, out, err = naysay("design", "show", text, *SHOWN[text])
    assert (code, err) == (0, "")
    asked = designs.parse(text, categories=SHOWN[text][1].split(",") if SHOWN[text] else None)
    assert f"{len(asked.categories)} categories: {', '.join(asked.categories)}" in out
    assert out.count("ε = ") == len(asked.levels)
    assert out.count("largest odds: ") == len(asked.levels)


def test_the_matrix_is_printed(naysay):
    out = naysay("design", "show", "warner(p=0.7)").out
    assert [line.split() for line in out.splitlines() if line.startswith(("yes", "no"))] == [
        ["yes", "0.7000", "0.3000"],
        ["no", "0.3000", "0.7000"],
    ]
    assert "multiplies the odds of a category against the rest by 2.333 at most" in out


@pytest.mark.parametrize(
    ("text", "t", "told"),
    [
        ("negative(discards=30)", 60, "responses cannot be listed, it is not shown"),
        ("negative()", 20, "20 rows and 20 columns; the matrix is too large for a terminal, it is not shown"),
        ("negative(discards=5)", 10, "252 rows"),
    ],
)
def test_a_large_matrix_is_not_printed(naysay, text, t, told):
    code, out, _ = naysay("design", "show", text, "--categories", ",".join(f"c{i}" for i in range(t)))
    assert code == 0
    assert told in out
    assert "privacy: " in out


def test_levels_are_shown_one_by_one(naysay):
    out = naysay("design", "show", "negative_levels()", *FOUR).out
    assert [line for line in out.splitlines() if line.startswith("level ")] == [
        "level 1: negative(discards=1)",
        "level 2: negative(discards=2)",
        "level 3: negative(discards=3)",
    ]
    assert "an answer can prove a category" in out


def test_json_is_the_design(naysay):
    for text, options in SHOWN.items():
        out = naysay("design", "show", text, *options, "--format", "json").out
        asked = designs.parse(text, categories=options[1].split(",") if options else None)
        assert out == asked.to_json(indent=1) + "\n"
        assert Design.from_json(json.loads(out)) == asked


def test_a_sink_shows_its_odds_and_its_cost(naysay):
    out = naysay("design", "show", "negative_sink(sinks={'a': 'none'})", *FOUR).out
    sink = designs.negative_sink(("a", "b", "c", "d"), sinks={"a": "none"})
    rng = np.random.default_rng(2)
    n = 200_000
    truth = rng.choice(list("abcd"), n)
    from naysay import estimate

    errors = [
        estimate.moments(design, design.tally(design.randomize(truth, rng=rng))).standard_errors[0]
        for design in (sink, designs.negative(("a", "b", "c", "d")))
    ]
    line = next(line for line in out.splitlines() if line.startswith("sink "))
    assert "odds a/b = 0.5" in line
    told = float(line.split("estimate is ")[1].split()[0])
    assert told == pytest.approx((errors[0] / errors[1]) ** 2, rel=0.03)


def test_a_sink_that_leaves_the_others_unknown_is_shown_without_variance(naysay):
    out = naysay("design", "show", "negative_sink(sinks={'a': 'none'}, members=0.5, others=1)", *FOUR).out
    assert "variance: not computed; the answers cannot tell" in out


def test_brackets_in_labels_are_labels(naysay):
    out = naysay("design", "show", "direct()", "--categories", "[bold]x,[/],[18-30)").out
    assert all(out.count(label) >= 3 for label in ("[bold]x", "[/]", "[18-30)"))


def test_a_design_that_is_none(refused):
    assert "no design is called" in refused("design", "show", "nothing()")
    assert "--categories" in refused("design", "show", "negative()")


def test_privacy_that_cannot_be_computed_is_said(naysay):
    labels = ",".join(map(str, range(30)))
    text = "k_ary(epsilon=1).then(negative(discards=10))"
    code, out, _ = naysay("design", "show", text, "--categories", labels)
    assert code == 0
    assert "privacy: not computed: there are" in out
    assert "largest odds: not computed" in out
