"""The paragraph for a paper: every number of the print, every assumption, and references that exist."""

import re

import pytest

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.paper import references

NO_PAPER = {"a lottery of designs", "direct questioning", "noise, for mixtures", "any matrix", "stacked samples"}
"""Sources that are no publications."""


def fitted(design, counts, made_by=estimate.maximum_likelihood):
    return made_by(design, design.tally(count=counts))


@pytest.mark.parametrize("family", designs.FAMILIES)
def test_every_source_of_a_family_has_a_reference(family):
    for source in designs.SOURCES[family].split("; "):
        assert bool(references([source])) == (source not in NO_PAPER)


def test_the_numbers_are_those_of_the_print():
    survey = designs.negative(("low", "middle", "high", "none"))
    fit = fitted(survey, [250, 240, 260, 250])
    text = estimate.methods_text(fit, confidence=0.9)
    bounds = fit.interval(0.9)
    for label, share, (low, high) in zip(survey.categories, fit.proportions, bounds, strict=True):
        assert f"{100 * share:.1f} % for “{label}” (90 % interval {100 * low:.1f} to {100 * high:.1f})" in text
    assert "1,000 people answered" in text
    assert "people do what they are told" in text
    assert "ε = ∞" in text


def test_what_the_print_reserves_is_said_in_the_paper_too():
    survey = designs.negative(("low", "middle", "high", "none"))
    text = estimate.methods_text(fitted(survey, [205, 220, 228, 347], estimate.moments))
    assert "-4.1 % for “none”" in text
    assert "Note: outside [0, 1], as an unbiased estimate may be: none" in text


def test_estimators_and_intervals_that_have_a_source_are_cited():
    survey = designs.negative(("a", "b", "c"))
    text = estimate.methods_text(fitted(survey, [30, 40, 50], estimate.nstops_i))
    keys = re.findall(r"@\w+\{(\w+),", text)
    assert "bao2013" in keys
    assert "esponda2006" in keys
    assert len(keys) == len(set(keys))


def test_a_design_that_measures_compliance_does_not_assume_it():
    design = designs.cheating_detection(p=("1/4", "3/4"))
    said = ["yes"] * 40 + ["no"] * 60 + ["yes"] * 70 + ["no"] * 30
    fit = estimate.maximum_likelihood(design, design.tally(said, sample=[1] * 100 + [2] * 100))
    assert "people do what they are told" not in estimate.methods_text(fit)


def test_a_quantity_is_refused():
    with pytest.raises(DataError, match="shares of categories"):
        estimate.methods_text(3)


def test_an_estimate_draws_itself(tmp_path):
    picture = fitted(designs.warner(p=0.8), [60, 140]).plot(confidence=0.9)
    assert picture._repr_svg_().startswith("<svg")
    assert "90 % intervals" in picture.svg
    picture.save(tmp_path / "fit.svg")
    picture.save(tmp_path / "fit.png")
    assert (tmp_path / "fit.svg").read_text(encoding="utf-8") == picture.svg
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(DataError, match=r"saved as \.svg or \.png"):
        picture.save("fit.pdf")


def test_a_png_has_the_colors_and_lines_of_the_svg(tmp_path, monkeypatch):
    """Its converter draws nothing in a color that is a variable of CSS."""
    converted = []
    monkeypatch.setattr("vl_convert.svg_to_png", lambda svg, scale: converted.append(svg) or b"")
    fitted(designs.warner(p=0.8), [60, 140]).plot().save(tmp_path / "fit.png")
    assert "var(" not in converted[0]
    assert "stroke:#0072b2" in converted[0]
