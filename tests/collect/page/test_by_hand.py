"""How people carry a design out themselves: page and checker read the same from its integers."""

import itertools
import json

import pytest

from naysay import designs
from naysay.collect.questionnaire.privacy import way_by_hand

ABC = ("a", "b", "c")
DEVICES = {
    "crosswise": designs.crosswise(prevalence="1/4"),
    "triangular": designs.triangular(prevalence="1/3"),
    "by coin": designs.unrelated_question(p="1/2", prevalence="1/4"),
    "by die": designs.unrelated_question(p="5/6", prevalence="1/4"),
    "cards": designs.unrelated_question(p="0.7", prevalence="1/4"),
    "everybody": designs.unrelated_question(p=1, prevalence="1/4"),
    "two coins": designs.two_coins(),
    "others": designs.two_coins(categories=("ja", "nein")),
    "warner": designs.warner(p="3/4"),
    "warner turned": designs.warner(p="1/4"),
    "mangat": designs.mangat(p="1/2"),
    "kuk": designs.kuk(p=("1/4", "3/4")),
    "kuk with draws": designs.kuk(p=("1/4", "3/4"), draws=2),
    "direct": designs.direct(("yes", "no")),
    "two options": designs.two_option(ABC),
    "three options": designs.two_option(("a", "b", "c", "d"), shown=3),
    "negative": designs.negative(ABC),
    "sets": designs.negative(("a", "b", "c", "d"), discards=2),
    "sink": designs.negative_sink(ABC, sinks={"a": "sink"}),
    "mixture": designs.mix((1, designs.two_coins()), (1, designs.direct(("yes", "no")))),
    "then": designs.two_coins().then(designs.warner(p="0.9")),
}
KNOWN = {
    ("crosswise", True): "crosswise",
    ("triangular", True): "triangular",
    ("by coin", True): "unrelated",
    ("by die", True): "unrelated",
    ("two coins", True): "unrelated",
    ("others", True): "unrelated",
    ("warner", True): "unrelated",
    ("mangat", True): None,
    ("kuk", True): "crosswise",
    ("two coins", False): "coins",
    ("others", False): "coins",
    ("warner", False): "coins",
    ("two options", False): "options",
}
"""What is not here cannot be carried out by hand: cards, sides that no die has, packs that are drawn from twice."""


@pytest.mark.parametrize("innocuous", [True, False])
@pytest.mark.parametrize("name", DEVICES)
def test_what_people_can_do_is_read_from_the_chances(name, innocuous):
    assert way_by_hand(DEVICES[name], innocuous=innocuous) == KNOWN.get((name, innocuous))


def test_the_page_reads_the_same(page_node):
    cases = list(itertools.product(DEVICES.values(), (True, False)))
    forms = [{"design": json.loads(each.to_json())["design"], "innocuous": beside} for each, beside in cases]
    found = page_node("trust.mjs", "ways", "by_hand.js", forms)
    assert [each and each["name"] for each in found] == [way_by_hand(one, innocuous=beside) for one, beside in cases]


@pytest.mark.parametrize(
    ("p", "sensitive", "sides"), [("1/2", 1, 2), ("1/6", 1, 6), ("1/3", 2, 6), ("2/3", 4, 6), ("5/6", 5, 6)]
)
def test_a_coin_or_a_die_leads_to_the_sensitive_question_as_often_as_the_design_says(page_node, p, sensitive, sides):
    form = json.loads(designs.unrelated_question(p=p, prevalence="0.25").to_json())["design"]
    [found] = page_node("trust.mjs", "ways", "by_hand.js", [{"design": form, "innocuous": True}])
    assert found == {"name": "unrelated", "sensitive": sensitive, "sides": sides}
