import re
import xml.etree.ElementTree as ET

from naysay.design import flowchart
from naysay.show import charts
from naysay.show.finish import INKS

from .conftest import LABELS


def test_a_dark_image_has_no_light_ink():
    svg = charts.dots(("a", "b"), [charts.Mark("truth", "truth", (0.3, 0.7))], title="A survey")
    light = {f"var(--chart-{role},{inks[0]})" for role, inks in INKS.items()}
    assert any(each in svg for each in light)
    dark = charts.dark(svg)
    assert not any(each in dark for each in light)
    assert re.sub(r"#\w{6}", "", dark) == re.sub(r"#\w{6}", "", svg)
    assert charts.dark(dark) == dark


def test_a_section_has_images_for_both_widths_and_a_table():
    body = charts.section(
        "Spread", plots=[lambda size: f"<svg>{size}</svg>"], names=("a", "b"), rows=[("<x>", "1")], notes=("<n>",)
    ).body
    assert "<svg>760</svg>" in body
    assert "<svg>340</svg>" in body
    assert "&lt;x&gt;" in body
    assert "&lt;n&gt;" in body


def test_a_pair_of_questions_says_all_its_words_and_fits_a_phone():
    root = ET.fromstring(flowchart.question_pair("Which <applies>?", "Which does not & never did?", LABELS))
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    assert wide <= 360
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert sum("never" in text for text in texts) == 3
    assert sum("נ" in text or "ל" in text for text in texts) == 2
    assert max(float(each.attrib["y"]) for each in root.iter() if each.tag.endswith("text")) < high
    assert sum(each.tag.endswith("circle") for each in root.iter()) == 2 * len(LABELS)
    told = next(each.text for each in root.iter() if each.tag.endswith("desc"))
    assert "Which <applies>?" in told
    assert LABELS[5] in told


def test_an_image_is_plain_svg_after_another_library_took_the_empty_prefix():
    ET.register_namespace("", "http://schemas.openxmlformats.org/spreadsheetml/2006/main")
    drawn = charts.dots(("a", "b"), [charts.Mark("estimate", "estimate", (0.3, 0.7))], title="A survey")
    assert drawn.startswith("<svg ")
    assert "ns0:" not in drawn
