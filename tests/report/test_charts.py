import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from naysay.show import charts, finish
from naysay.show.charts import Mark
from naysay.show.finish import INKS

SVG = "{http://www.w3.org/2000/svg}"
SHARES = np.array([0.5, 0.3, 0.15, 0.05])
NAMES = ("a", "b", "c", "d")


def drawn(**options):
    marks = [
        Mark("truth", "truth", SHARES),
        Mark("estimate", "stratified", SHARES + 0.01, np.column_stack([SHARES - 0.03, SHARES + 0.05])),
        Mark("pooled", "pooled", SHARES - 0.01),
    ]
    return charts.dots(NAMES, marks, title="A & B", **options)


def texts(svg):
    """What is written in the image, line by line."""
    written = [node for node in ET.fromstring(svg).iter() if node.tag in (f"{SVG}text", f"{SVG}tspan")]
    return [part.strip() for node in written for part in (node.text, *(child.tail for child in node)) if part]


def marks_of(svg):
    return [path for path in ET.fromstring(svg).iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]


def luminance(ink):
    parts = [int(ink[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return np.dot(linear, (0.2126, 0.7152, 0.0722))


def test_the_image_speaks_for_itself():
    root = ET.fromstring(drawn())
    assert (root.get("role"), root.get("aria-label"), root[0].text) == ("img", "A & B", "A & B")
    assert "b: truth 30.0\u00a0%, stratified 31.0\u00a0%, pooled 29.0\u00a0%" in root[1].text


def test_every_mark_and_interval_says_its_number():
    svg = drawn()
    for told in (
        "b: truth 30.00\u00a0%",
        "b: stratified 31.00\u00a0%, 27.00\u00a0% to 35.00\u00a0%",
        "d: pooled 4.00\u00a0%",
    ):
        assert told in svg


def test_marks_stand_where_their_values_are():
    places = {
        path.find(f"{SVG}title").text: float(re.search(r"translate\(([\d.-]+)", path.get("transform"))[1])
        for path in marks_of(drawn())
    }
    shown = {told: place for told, place in places.items() if "truth" in told}
    slope = (shown["a: truth 50.00\u00a0%"] - shown["d: truth 5.00\u00a0%"]) / 0.45
    assert shown["b: truth 30.00\u00a0%"] - shown["d: truth 5.00\u00a0%"] == pytest.approx(0.25 * slope, abs=0.1)


def test_no_mark_stands_on_the_edge_where_some_are_below_zero():
    svg = charts.dots(("a", "b"), [Mark("estimate", "estimate", (-0.06, 0.53))], title="A survey", size=640)
    left, right = sorted(float(re.search(r"translate\(([\d.-]+)", path.get("transform"))[1]) for path in marks_of(svg))
    plot = 640 - 18 - math.ceil(finish.width("a") * 6.3) - 16
    assert left > 8
    assert right < plot - 8


def test_kinds_differ_in_shape_and_color():
    paths = marks_of(drawn())
    assert len({path.get("d") for path in paths}) == len({path.get("fill") for path in paths}) == 3


def test_a_page_can_change_every_ink():
    plain = re.sub(r"var\([^)]*\)", "", drawn())
    inked = set(re.findall(r"#[0-9a-f]{3,6}\b", plain))
    assert inked <= {light for light, _ in INKS.values()}
    for role in ("text", "muted", "grid", "truth", "estimate", "pooled"):
        assert f"var(--chart-{role},{INKS[role][0]})" in drawn()


def test_the_paper_shows_through():
    assert "white" not in drawn()


@pytest.mark.parametrize("role", [role for role in INKS if role != "grid"])
def test_inks_are_told_from_the_paper(role):
    light, dark = map(luminance, INKS[role])
    least = 3 if role in ("estimate", "pooled") else 4.5
    assert 1.05 / (light + 0.05) > least
    assert (dark + 0.05) / (luminance("#15181b") + 0.05) > least


def test_an_undefined_value_is_not_drawn():
    svg = charts.dots(("a", "b"), [Mark("estimate", "e", (0.4, math.nan))], title="t")
    assert "a: e 40.00\u00a0%" in svg
    assert len(marks_of(svg)) == 1


def test_an_estimate_below_zero_is_drawn_inside():
    svg = charts.dots(("a", "b", "c"), [Mark("estimate", "e", (-0.02, 0.5, 0.52))], title="t")
    (below,) = (path for path in marks_of(svg) if "-2.00\u00a0%" in path.find(f"{SVG}title").text)
    assert float(re.search(r"translate\(([\d.-]+)", below.get("transform"))[1]) >= 0


@pytest.mark.parametrize("size", [640, 340])
def test_difficult_labels_stay_in_their_room(difficult, size):
    svg = charts.dots(difficult.categories, [Mark("estimate", "e", difficult.proportions)], title="t", size=size)
    wide, high = map(float, ET.fromstring(svg).get("viewBox").split()[2:])
    assert wide == size
    assert high < 800
    shown = ET.fromstring(svg).iter(f"{SVG}tspan")
    assert max(finish.width("".join(line.itertext())) for line in shown) <= 26


def test_right_to_left_labels_are_isolated(difficult):
    svg = charts.dots(difficult.categories, [Mark("estimate", "e", difficult.proportions)], title="t")
    assert "\u2067נ" not in svg
    assert "\u2067לעתים קרובות 50-74\u2069" in texts(svg)


def test_markup_in_labels_is_text(difficult):
    svg = charts.dots(difficult.categories, [Mark("estimate", "e", difficult.proportions)], title="<script>")
    assert "<script" not in svg
    assert "\u2066<script>alert(1)</script>\u2069" in texts(svg)


def test_differences_stand_level_with_the_shares(difficult):
    shares = difficult.proportions
    marks = [Mark("estimate", "e", shares, difficult.interval())]
    left = charts.dots(difficult.categories, marks, title="t", size=600)
    right = charts.differences(difficult.categories, marks, shares - 0.01, title="t", labeled=False)
    heights = [
        [re.search(r",([\d.]+)\)", path.get("transform"))[1] for path in marks_of(svg) if ": e " in path[0].text]
        for svg in (left, right)
    ]
    assert heights[0] == heights[1]
    assert len(heights[0]) == len(shares)
    assert "never: e +1.00 points" in right
    assert "<script" not in right


def test_no_interval_of_a_difference_is_cut():
    low, high = SHARES - 0.031, SHARES + 0.052
    marks = [Mark("estimate", "e", SHARES, np.column_stack([low, high]))]
    svg = charts.differences(NAMES, marks, SHARES, title="t", labeled=False, size=300)
    for line in ET.fromstring(svg).iter(f"{SVG}line"):
        start = float(re.search(r"translate\(([\d.-]+)", line.get("transform"))[1])
        assert -0.5 <= start <= start + max(0, float(line.get("x2"))) <= 300 - 36 + 1


def test_the_same_numbers_give_the_same_image():
    assert drawn() == drawn()


def test_convergence_ends_at_the_last_step():
    path = np.array([[25, 25, 25, 25], [40, 30, 20, 10], [50, 30, 15, 5]])
    svg = charts.convergence(path, NAMES, title="t")
    assert "2 steps" in svg
    assert "a: 50.00\u00a0%" in svg


def test_convergence_labels_do_not_touch():
    heights = finish.label_heights(np.array([0.3, 0.1, 0.1, 0.11]), 0.05)
    assert np.diff(np.sort(heights)).min() >= 0.05 - 1e-12
    assert (heights >= [0.3, 0.1, 0.1, 0.11]).all()
