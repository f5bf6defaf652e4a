import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from naysay import Design, designs
from naysay.cli.design import PURPOSES
from naysay.report import flowchart

EXTENSION = Path(__file__).parents[2] / "docs" / "_extensions" / "flowcharts.py"
SPEC = importlib.util.spec_from_file_location("gallery", EXTENSION)
gallery = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gallery)

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
    assert "multiplies the odds of a category against the rest by 2.334 at most" in out


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
    assert [line for line in out.splitlines() if line.startswith("level ")][:3] == [
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


def test_what_people_are_told_stands_below_the_numbers(naysay):
    out = naysay("design", "show", "two_coins()").out
    assert "instruction: Toss a coin; nobody else may see it. Heads: say truthfully" in out
    assert "assumes: people do what they are told\n" in out
    assert out.endswith("source: Greenberg, Abul-Ela, Simmons & Horvitz (1969), with coins\n")


@pytest.mark.parametrize("family", designs.FAMILIES)
def test_every_family_names_its_source_and_what_it_assumes(naysay, family, tmp_path):
    (tmp_path / "design.json").write_text(gallery.example(family).to_json(), encoding="utf-8")
    code, out, err = naysay("design", "show", "design.json")
    assert (code, err) == (0, "")
    known = designs.SOURCES[family].split("; ")
    told = next(line for line in out.splitlines() if line.startswith("source: "))
    assert set(known) <= set(told.removeprefix("source: ").split("; "))
    assert all(text in out for text in designs.ASSUMPTIONS[family])
    assert "instruction: " in out


def test_every_sample_is_shown_with_what_is_estimated(naysay):
    code, out, _ = naysay("design", "show", "stochastic_lie_detector(p=('2/12', '10/12'))")
    assert code == 0
    assert "2 samples, each asked in its own way" in out
    assert "3 kinds of respondents: truthful yes, no, lying yes" in out
    assert "estimated: “yes”, the share of “truthful yes”, “lying yes”\n" in out
    told = "estimated beside them: “truth-tellers”, the share of “truthful yes” among “truthful yes”, “lying yes”"
    assert told in out
    parts = ["sample 1", "sample 2", "sample 1:", "sample 2:"]
    assert [line for line in out.splitlines() if line.startswith("sample ")] == parts
    assert out.count("ε = ") == 2
    assert "people do what they are told" not in out  # the design measures whether they do


def test_a_single_sample_of_two_answers_is_shown(naysay):
    code, out, _ = naysay("design", "show", "anchored_crosswise(prevalence=0.15, anchor=0.15)")
    assert code == 0
    assert "a response is a pair of answers, one of 4" in out
    assert "among “attentive yes”, “attentive no”" in out
    assert "answer 2:\ninstruction: Think of your answers to the anchor" in out
    assert "source: Atsusaka & Stevenson (2023)" in out


def test_samples_of_named_designs_are_shown_by_name(naysay):
    out = naysay("design", "show", "samples(direct=direct(('yes', 'no')), masked=crosswise(prevalence=1/4))").out
    assert "sample masked: crosswise(prevalence=1/4)" in out
    assert "kinds of respondents" not in out


def test_the_chart_stands_instead_of_the_numbers(naysay):
    out = naysay("design", "show", "two_coins()", "--chart").out
    tree, _, words = out.partition("instruction: ")
    assert str(designs.two_coins().protocol) in tree
    assert designs.two_coins().protocol.instruction in words
    assert "P(response | category)" not in out
    assert "privacy" not in out


def test_the_chart_of_levels_has_a_part_for_each(naysay):
    out = naysay("design", "show", "negative_levels()", "--chart", *FOUR).out
    assert [line for line in out.splitlines() if line.startswith("level ")] == ["level 1:", "level 2:", "level 3:"]


def test_the_flowchart_is_written(naysay, tmp_path):
    code, out, err = naysay("design", "show", "warner(p=0.7)", "--svg", "chart.svg")
    assert (code, err) == (0, "naysay: note: the flowchart is in chart.svg\n")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8") == flowchart(designs.warner(p=0.7))
    assert "P(response | category)" in out


def test_json_and_a_flowchart_go_together_but_not_json_and_a_tree(naysay, refused, tmp_path):
    out = naysay("design", "show", "two_coins()", "--format", "json", "--svg", "chart.svg").out
    assert Design.from_json(out) == designs.two_coins()
    assert (tmp_path / "chart.svg").exists()
    assert "leave --chart out" in refused("design", "show", "two_coins()", "--format", "json", "--chart")


def test_a_flowchart_that_cannot_be_written_says_so(naysay):
    code, _, err = naysay("design", "show", "two_coins()", "--svg", "nowhere/chart.svg")
    assert code == 2
    assert err == "naysay: cannot write 'nowhere/chart.svg': No such file or directory\n"


def test_shuffling_is_told_below_what_holds_without_it(naysay, refused):
    out = naysay("design", "show", "k_ary(epsilon=4)", "--categories", "a,b", "--shuffled", "100000").out
    last = out.partition("source:")[2]
    assert last.index("ε = 4 for each report, whoever sees it") < last.index("(ε, δ) = (0.1183, 1e-06) if the shuffler")
    two = naysay(
        "design", "show", "budgets(epsilon=(1, 2))", "--categories", "a,b", "--shuffled", "9", "--delta", "0.2"
    ).out
    assert "level 1: ε = 1" in two
    assert "level 2: ε = 2" in two
    assert "δ is 1/n or more" in two
    assert "leave --shuffled out" in refused("design", "show", "warner(p=0.7)", "--format", "json", "--shuffled", "9")


def test_the_list_has_every_family_once_by_what_it_is_for(naysay):
    listed = [name for names in PURPOSES.values() for name in names.split()]
    assert sorted(listed) == sorted(designs.FAMILIES)
    _, out, _ = naysay("designs")
    assert all(purpose in out for purpose in PURPOSES)
    assert out.index("For comparison only") < out.index("hadamard(epsilon)")
