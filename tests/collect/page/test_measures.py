"""What respondents read of privacy is computed from the integers, as Python computes it, and rounded up."""

import json
import math
import runpy
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from naysay import Design, designs, privacy
from naysay.collect.questionnaire import sample, together
from naysay.design import Table
from naysay.design.several import Several
from naysay.responses import Pair

TESTS = Path(__file__).parents[2]
SHARP = designs.custom([[999, 1], [1, 999]] / np.array(1000), categories=("yes", "no"))


def catalog():
    """A design of every family, those of the drawing vectors, and tables at random; each asks for one response."""
    battery = [case.design for case in runpy.run_path(str(TESTS / "designs" / "test_contract.py"))["BATTERY"].values()]
    vectors = json.loads((TESTS / "reference" / "drawing_vectors.json").read_text(encoding="utf-8"))["designs"]
    recorded = [Design.from_json(each["json"]) for each in vectors]
    channels = [each.channel(level) for each in recorded for level in each.levels if isinstance(each, Several)]
    singles = [each for each in recorded if not isinstance(each, Several)]
    sharp = [SHARP, designs.warner(p=0.9999), designs.warner(p="999999999999/1000000000000")]
    found = (*battery, *channels, *singles, *sharp, *at_random(60))
    asked = [each for each in found if on_page(each)]
    return [each for each in asked if not isinstance(each.space, Pair) and each.categories]  # no open domains


def on_page(design):
    """Whether a survey may ask under the design: a questionnaire refuses numbers, hierarchies and memory."""
    return design.kind not in ("window", "grouped", "hierarchy", "remembered") and all(
        map(on_page, design.structure.made_of)
    )


def at_random(size):
    rng = np.random.default_rng(2016)
    for _ in range(size):
        t, responses = rng.integers(2, 7), rng.integers(2, 8)
        weights = rng.integers(0, 10 ** rng.integers(1, 12), (responses, t)) * rng.integers(0, 2, (responses, t))
        whole = int(weights.sum(axis=0).max()) + int(rng.integers(1, 9))
        weights[0] += whole - weights.sum(axis=0)
        yield designs.custom([[Fraction(int(each), whole) for each in row] for row in weights])


@pytest.fixture(scope="module")
def all_designs():
    return catalog()


@pytest.fixture
def told(node, all_designs):
    forms = [json.loads(design.to_json())["design"] for design in all_designs]
    return node("trust.mjs", "measures", "measures.js", forms)


def fraction(pair):
    above, below = map(int, pair)
    return math.inf if below == 0 else Fraction(above, below)


def logarithm(ratio):
    """ln of a fraction, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


def test_the_page_computes_what_python_computes(all_designs, told):
    assert len(told) > 100
    for design, page in zip(all_designs, told, strict=True):
        possible = privacy.still_possible(design)
        assert tuple(page["still_possible"]) == possible, design
        assert (page["categories"], page["reveals"]) == (len(design.categories), possible[0] == 1)
        assert float(fraction(page["epsilon"])) == pytest.approx(privacy.epsilon(design), rel=1e-9, abs=1e-9), design
        odds = float(fraction(page["odds"]))
        assert odds == pytest.approx(privacy.odds(design).max(), rel=1e-9 + 1e-15 * odds), design
        if not page.get("rough"):
            assert page["bits"] == pytest.approx(privacy.information(design), rel=1e-9, abs=1e-9), design


def test_no_number_is_less_than_what_holds(all_designs, told):
    """ε to thirty digits, what is read to two, and what Python states: never below what the integers give."""
    for design, page in zip(all_designs, told, strict=True):
        ratio, odds, epsilon = (fraction(page[key]) for key in ("ratio", "odds", "epsilon"))
        if isinstance(design, Table):
            rows = [row for row in design.weights.tolist() if any(row)]
            assert ratio == max(math.inf if min(row) == 0 else Fraction(max(row), min(row)) for row in rows)
        if ratio != math.inf:
            exact = logarithm(ratio)
            assert exact <= epsilon < exact + Fraction(1, 10**26), design
            stated = Fraction(privacy.epsilon(design))
            assert exact <= stated <= exact * (1 + Fraction(1, 10**12)), design
        for value, read in zip((ratio, odds, epsilon), page["read"], strict=True):
            hundredths = None if value == math.inf else math.ceil(100 * value) / 100
            assert read == hundredths, design


def test_bits_of_designs_too_large_to_list_are_bounded(node):
    design = designs.negative(tuple(f"c{place}" for place in range(60)), discards=4, weights=(1, 2, 3) * 20)
    (page,) = node("trust.mjs", "measures", "measures.js", [json.loads(design.to_json())["design"]])
    assert page["rough"]
    assert privacy.information(design) < page["bits"] < math.log2(60)
    assert float(fraction(page["odds"])) == pytest.approx(privacy.odds(design).max(), rel=1e-9)


def test_what_tells_a_lot_is_told_apart(told, all_designs):
    loud = {design.name for design, page in zip(all_designs, told, strict=True) if page["loud"]}
    assert {"warner(p=0.9999)", "warner(p='999999999999/1000000000000')", SHARP.name} <= loud
    assert not {"warner(p=0.7)", "two_coins()", "k_ary(epsilon=1.25)", "negative(discards=3)", "direct()"} & loud
    for design, page in zip(all_designs, told, strict=True):
        epsilon = privacy.epsilon(design)
        most = math.exp(epsilon) if epsilon != math.inf else privacy.odds(design).max()
        assert page["loud"] == (most > 20 and not page["reveals"]), design


def test_all_answers_together_are_summed_as_python_sums_them(node):
    items = sample().form()["items"]
    asked = [item for group in items for item in group.get("items", [group]) if item.get("private")]
    (page,) = node("trust.mjs", "together", "measures.js", [asked])
    expected = together(sample())
    assert page["bits"] == pytest.approx(expected["bits"])
    assert page["odds"] == pytest.approx(expected["odds"])
    assert (page["epsilon"], expected["epsilon"]) == (None, None)
    finite = [item for item in asked if item["name"] in ("smoking", "drugs")]
    (page,) = node("trust.mjs", "together", "measures.js", [finite])
    stated = [privacy.epsilon(question.private.offer) for question in sample().questions if question.name == "smoking"]
    assert page["epsilon"] > stated[0]
