"""Facts that the page's scripts and the package both need are the same in both."""

import json
import re
from pathlib import Path

from naysay.collect.client import FOLDER
from naysay.collect.device import memory
from naysay.collect.questionnaire.privacy import MOST_ODDS
from naysay.design.base import unnamed

VECTORS = Path(__file__).parents[1] / "reference" / "drawing_vectors.json"


def constant(script, name):
    """What a script says that a constant is."""
    text = (FOLDER / script).read_text(encoding="utf-8")
    return re.search(rf"^const {name} = (.*?);", text, re.MULTILINE)[1]


def names(node):
    """The name of every field in a design's form."""
    if isinstance(node, list):
        return set().union(*map(names, node))
    return set(node).union(*map(names, node.values())) if isinstance(node, dict) else set()


def test_the_page_and_a_device_know_a_design_again_by_the_same_fields():
    told = set(json.loads(constant("memory.js", "TOLD")))
    recorded = json.loads(VECTORS.read_text(encoding="utf-8"))["designs"]
    form = dict.fromkeys(told | names([each["json"]["design"] for each in recorded]), 1)
    assert set(form) - set(memory._bare(unnamed(form))) == told


def test_authors_and_respondents_are_warned_at_the_same_odds():
    assert constant("measures.js", "LOUD") == f"{MOST_ODDS}n"
