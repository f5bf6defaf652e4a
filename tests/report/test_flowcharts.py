"""Statements about flowcharts: whole, true, readable."""

import importlib
import importlib.util
import itertools
import xml.etree.ElementTree as ET
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import designs, report
from naysay.design import Branch, Chance, Do, Fork, Say, protocols
from naysay.design.flowchart import arranged, pixels
from naysay.design.protocol import fraction_text
from naysay.show import finish
from naysay.show.finish import INKS

SVG = "{http://www.w3.org/2000/svg}"
EXTENSION = Path(__file__).parents[2] / "docs" / "_extensions" / "flowcharts.py"
SPEC = importlib.util.spec_from_file_location("gallery", EXTENSION)
gallery = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gallery)
DIFFICULT = ("نادرًا (أقل من 25%)", "לעתים קרובות 50-74", "on and on, " * 18 + "the end", '<b>&"x"\'</b>', "x" * 90)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=70)
ends = st.one_of(texts.map(Say), texts.map(Do))


@st.composite
def chances(draw, below):
    weights = draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    return Chance(draw(texts), tuple(Branch(draw(texts), draw(below), chance=share) for share in shares))


@st.composite
def forks(draw, below):
    ways = draw(st.integers(1, 4))
    return Fork(draw(texts), tuple(Branch(draw(texts), draw(below), members=(place,)) for place in range(ways)))


trees = st.recursive(ends, lambda below: st.one_of(chances(below), forks(below)), max_leaves=14)


def disjoint(one, other):
    return (
        one.x + one.width <= other.x + 1e-9
        or other.x + other.width <= one.x + 1e-9
        or one.y + one.height <= other.y + 1e-9
        or other.y + other.height <= one.y + 1e-9
    )


def steps(first):
    yield first
    for branch in getattr(first, "branches", ()):
        yield from steps(branch.then)


@settings(max_examples=150)
@given(trees, st.sampled_from([10, 18, 26]), st.booleans())
def test_no_two_boxes_or_words_overlap(first, room, sideways):
    boxes = list(arranged(first, room=room, sideways=sideways).all())
    pieces = boxes + [box.way for box in boxes if box.way is not None]
    assert [box.step for box in boxes] == list(steps(first))
    assert all(disjoint(one, other) for one, other in itertools.combinations(pieces, 2))
    assert all(piece.x >= -1e-9 and piece.y >= -1e-9 for piece in pieces)


@settings(max_examples=100)
@given(trees, st.sampled_from([10, 26]), st.booleans())
def test_texts_fit_their_boxes(first, room, sideways):
    for box in arranged(first, room=room, sideways=sideways).all():
        assert max(map(pixels, box.lines)) <= box.width
        assert len(box.lines) * 15 <= box.height


@settings(max_examples=100)
@given(trees, st.booleans())
def test_arrows_lead_from_box_to_box(first, sideways):
    for box in arranged(first, room=18, sideways=sideways).all():
        for below in box.below:
            (x, y), (end_x, end_y) = below.arrow[0][0], below.arrow[-1][-1]
            assert (x, y) == pytest.approx(
                (box.x + box.width, box.y + box.height / 2) if sideways else (box.x + box.width / 2, box.y + box.height)
            )
            assert (end_x, end_y) == pytest.approx(
                (below.x, below.y + below.height / 2) if sideways else (below.x + below.width / 2, below.y)
            )


@settings(max_examples=50)
@given(st.lists(texts.filter(lambda text: text.strip()), min_size=2, max_size=5, unique=True), st.integers(200, 900))
def test_any_labels_give_a_picture(names, size):
    root = ET.fromstring(report.flowchart(designs.k_ary(names, epsilon=1), size=size))
    assert root.tag == f"{SVG}svg"


def probabilities(svg):
    """The probabilities that stand on the arrows of a picture."""
    return Counter(span.text for span in ET.fromstring(svg).iter(f"{SVG}tspan") if span.get("font-weight") == "600")


@pytest.mark.parametrize("family", designs.FAMILIES)
def test_every_family_is_drawn_with_the_probabilities_of_its_protocol(family):
    design = gallery.example(family)
    svg = report.flowchart(design)
    root = ET.fromstring(svg)
    told = [step for _, protocol in protocols(design) for step in steps(protocol.first)]
    expected = Counter(
        fraction_text(branch.chance) for step in told if isinstance(step, Chance) for branch in step.branches
    )
    assert probabilities(svg) == expected
    kinds = Counter({Chance: "chance", Fork: "fork", Say: "say", Do: "do"}[type(step)] for step in told)
    legend = len(kinds) > 1
    drawn = Counter(node.get("class") for node in root.iter() if node.get("class"))
    assert drawn == Counter({name: number + legend for name, number in kinds.items()})
    assert root.find(f"{SVG}title").text == finish.label_line(design.name)
    for title, protocol in protocols(design):
        assert f"{title}\n{protocol}".strip() in root.find(f"{SVG}desc").text
    assert float(root.get("width")) <= 700


def test_every_box_says_its_whole_text():
    root = ET.fromstring(report.flowchart(designs.k_ary(DIFFICULT, epsilon=1)))
    tips = [group.find(f"{SVG}title").text for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]
    for label in DIFFICULT:
        assert f"say “{label}”" in tips


def test_markup_in_labels_is_text():
    svg = report.flowchart(designs.direct(("<script>alert(1)</script>", "a & b")), title='"<i>" & more')
    assert "<script" not in svg
    assert "<i>" not in svg
    assert ET.fromstring(svg).get("aria-label") == '"<i>" & more'


def test_right_to_left_labels_are_isolated():
    svg = report.flowchart(designs.direct(("לעתים קרובות", "never")), size=900)
    lines = ["".join(span.itertext()) for span in ET.fromstring(svg).iter(f"{SVG}tspan")]
    assert "\u2066say “\u2067לעתים קרובות\u2069”\u2069" in lines
    assert any(line.startswith("\u2067") and "לעתים" in line for line in lines)
    narrow = report.flowchart(designs.direct(("לעתים קרובות מאוד מאוד מאוד מאוד", "never")))
    assert "\u2067“לעתים" in narrow


def test_no_word_is_broken_that_fits():
    svg = report.flowchart(designs.unrelated_question_unknown(p=(0.7, 0.3)))
    lines = ["".join(span.itertext()).strip("\u2066\u2069") for span in ET.fromstring(svg).iter(f"{SVG}tspan")]
    assert any("innocuous" in line for line in lines)
    assert not any("innoc" in line and "innocuous" not in line for line in lines)


def test_long_words_in_a_box_end_in_an_ellipsis_and_stay_in_the_picture():
    design = designs.direct(("a " * 400, "b" * 400))
    root = ET.fromstring(report.flowchart(design))
    shown = ["".join(span.itertext()) for span in root.iter(f"{SVG}tspan")]
    assert any("…" in line for line in shown)
    assert float(root.get("width")) < 700


def test_a_narrow_picture_is_asked_for():
    wide = ET.fromstring(report.flowchart(designs.kuk(p=(0.8, 0.2), draws=4), size=1200))
    slim = ET.fromstring(report.flowchart(designs.kuk(p=(0.8, 0.2), draws=4), size=500))
    assert float(slim.get("width")) <= 510 < float(wide.get("width"))


def test_the_picture_asks_nobody_and_needs_no_extra(monkeypatch):
    found = importlib.import_module

    def missing(name, package=None):
        if name in ("altair", "jinja2", "vl_convert"):
            raise ModuleNotFoundError(name, name=name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    svg = report.flowchart(designs.two_coins())
    assert not any(word in svg for word in ("url(", "@import", "href", "<script"))
    assert svg.count("http://www.w3.org/2000/svg") == svg.count("http")


def test_a_page_can_change_every_ink_and_only_a_file_chooses_by_itself():
    svg = report.flowchart(designs.two_coins())
    for role in ("text", "muted", "grid", "estimate", "pooled"):
        assert f"var(--chart-{role},{INKS[role][0]})" in svg
    style = ET.fromstring(svg).find(f"{SVG}style").text
    assert style.startswith("@media screen and (prefers-color-scheme:dark){svg:root{")
    assert all(f"--chart-{role}:{dark}" in style for role, (_, dark) in INKS.items())


def test_parts_stand_below_one_another_under_their_titles():
    root = ET.fromstring(report.flowchart(designs.cheating_detection(p=(0.25, 0.75))))
    places = [
        (group.find(f"{SVG}text").text, float(group.get("transform").partition(",")[2].rstrip(")")))
        for group in root.findall(f"{SVG}g")
        if group.find(f"{SVG}text") is not None
    ]
    assert [title for title, _ in places] == ["sample 1", "sample 2"]
    assert places[0][1] == 0 < places[1][1]


def test_of_words_alone_no_shape_is_explained():
    svg = report.flowchart(designs.negative(tuple("abcd"), discards=2))
    assert "in words" not in svg
    assert "look at yourself" in report.flowchart(designs.two_coins())


def test_the_same_design_gives_the_same_picture():
    assert report.flowchart(designs.two_coins()) == report.flowchart(designs.two_coins())


def test_a_gallery_needs_an_example_that_makes_the_design(monkeypatch):
    def family():
        """Nothing.

        >>> 1 + 1
        2
        """

    monkeypatch.setitem(designs.FAMILIES, "nothing", family)
    with pytest.raises(ValueError, match="the examples of nothing make no design"):
        gallery.example("nothing")
