"""Statements about the picture of a posterior."""

import importlib
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from naysay import designs, privacy, report
from naysay.errors import AnswerError, DataError, DesignError

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("נדיר", "on and on, " * 12, '<b> & "x"', "d")


def tips(svg):
    """What the marks of an image say."""
    return [node.text for node in ET.fromstring(svg).iter(f"{SVG}title")]


@pytest.mark.parametrize(
    ("design", "response", "encoded"),
    [
        (designs.negative(NAMES), NAMES[2], [NAMES[2]]),
        (designs.negative(NAMES, discards=2), {NAMES[0], "d"}, [{NAMES[0], "d"}]),
        (designs.k_ary(NAMES, epsilon=1), "d", ["d"]),
    ],
)
def test_every_category_has_its_prior_and_its_posterior(design, response, encoded):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    svg = report.posterior(design, response, prior=prior)
    after = privacy.posterior(design, encoded, prior)[0]
    for name, before, then in zip(NAMES, prior, after, strict=True):
        shown = " ".join(name.split())
        assert f"{shown}: before {100 * before:.2f}\u00a0%" in tips(svg)
        assert f"{shown}: after {100 * then:.2f}\u00a0%" in tips(svg)


def test_the_answer_is_named_and_what_users_wrote_is_text():
    svg = report.posterior(designs.negative(NAMES), NAMES[2])
    assert ET.fromstring(svg).get("aria-label") == 'negative(): what the answer “<b> & "x"” tells'
    assert "<b>" not in svg
    assert ET.fromstring(report.posterior(designs.two_coins(), "yes", title="A & B")).get("aria-label") == "A & B"


def test_without_a_prior_all_categories_are_alike():
    assert "yes: before 50.00\u00a0%" in tips(report.posterior(designs.two_coins(), "yes"))


def test_two_answers_of_one_person():
    both = designs.two_coins() * designs.warner(p=0.75)
    assert "yes × yes: after 56.25\u00a0%" in tips(report.posterior(both, ("yes", "yes")))


def test_a_level_and_a_sample_are_named():
    choice = designs.negative_levels(("a", "b", "c"))
    assert "c: after 100.00\u00a0%" in tips(report.posterior(choice, {"a", "b"}, level=2))
    survey = designs.stochastic_lie_detector(p=("2/12", "10/12"))
    assert "lying yes: after 0.00\u00a0%" in tips(report.posterior(survey, "yes", level=1))
    with pytest.raises(DataError, match="the levels are '1', '2'"):
        report.posterior(choice, {"a", "b"})


def test_answers_that_cannot_be_are_refused():
    with pytest.raises(AnswerError):
        report.posterior(designs.two_coins(), "perhaps")
    with pytest.raises(DesignError, match="impossible under this prior"):
        report.posterior(designs.negative(("a", "b", "c")), "a", prior=(1, 0, 0))
    with pytest.raises(DataError, match="the prior must"):
        report.posterior(designs.two_coins(), "yes", prior=(0.5, 0.6))


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    def missing(name, package=None):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(report.ExtraMissing, match=r"naysay\[plots\]"):
        report.posterior(designs.two_coins(), "yes")
