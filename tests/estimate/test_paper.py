"""The paragraph for a paper: every number of the print, every assumption, and references that exist."""

import re

import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.paper import references
from naysay.sampling import Sampling

NO_PAPER = {
    "a lottery of designs",
    "direct questioning",
    "noise, for mixtures",
    "any matrix",
    "stacked samples",
    "test-retest questioning",
}
"""Sources that are no publications."""
TO_LOOK_UP = {
    "Cruyff et al. (2024)",
    "with random answers Sayed et al. (2024)",
    "with a placebo statement Riambau & Ostwald (2019)",
}
"""Publications whose journal and pages nobody has checked: an entry from memory would be worse than none."""


def fitted(design, counts, made_by=estimate.maximum_likelihood):
    return made_by(design, design.tally(count=counts))


@pytest.mark.parametrize("family", designs.FAMILIES)
def test_every_source_of_a_family_has_a_reference(family):
    for source in designs.SOURCES[family].split("; "):
        assert bool(references([source])) == (source not in NO_PAPER | TO_LOOK_UP)


def test_the_numbers_are_those_of_the_print():
    survey = designs.negative(("low", "middle", "high", "none"))
    fit = fitted(survey, [250, 240, 260, 250])
    text = estimate.methods_text(fit, confidence=0.9)
    bounds = fit.interval(0.9)
    for label, share, error, (low, high) in zip(
        survey.categories, fit.proportions, fit.standard_errors, bounds, strict=True
    ):
        interval = f"90 % interval {100 * low:.1f} to {100 * high:.1f}"
        assert f"{100 * share:.1f} % for “{label}” (s.e. {100 * error:.1f}, {interval})" in text
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


def two_samples(design, first_yes, second_yes):
    said = ["yes"] * first_yes + ["no"] * (100 - first_yes) + ["yes"] * second_yes + ["no"] * (100 - second_yes)
    return estimate.maximum_likelihood(design, design.tally(said, sample=[1] * 100 + [2] * 100))


def test_a_share_that_is_the_least_it_can_be_is_not_published_as_the_share():
    text = estimate.methods_text(two_samples(designs.cheating_detection(p=("1/4", "3/4")), 40, 70))
    assert "“cheaters” (s.e." in text
    assert "for “yes, at most”" in text
    assert "“yes” is the least it can be, honest answers only" in text


def test_privacy_is_told_at_the_estimated_parameters_as_in_the_print():
    fit = two_samples(designs.stochastic_lie_detector(p=(".3", ".7")), 40, 70)
    text = estimate.methods_text(fit)
    lines = [line for line in str(fit).splitlines() if line.startswith("privacy")]
    assert len(lines) == 2
    assert all(line[1:] in text for line in lines)
    assert "assumed; ε depends on it" not in text


@pytest.mark.parametrize(
    "fit",
    [
        two_samples(designs.extended_crosswise(prevalence=".2"), 70, 70),
        fitted(designs.crosswise(prevalence=".2", between=(".15", ".25")), [65, 135]),
        fitted(designs.warner(p=0.7), [50, 0]),
        fitted(designs.two_option(("a", "b", "c", "d")), [60, 60, 40, 50]),
    ],
    ids=["answers that do not fit", "an uncertain prevalence", "answers that are alike", "preferences"],
)
def test_no_line_below_the_table_of_the_print_is_left_out(fit):
    text = estimate.methods_text(fit)
    below = str(fit).split("\n\n")[-1].splitlines()
    lines = [line.removeprefix("note: ") for line in below if not line.startswith("assumes: ")]
    assert len(lines) >= 2
    assert [line for line in lines if line[1:] not in text] == []


def test_what_stands_beside_the_estimate_is_told_with_its_numbers():
    survey = designs.negative(("low", "middle", "high", "none"))
    assert "“none” moments -0.041, s.e. 0.045" in estimate.methods_text(fitted(survey, [205, 220, 228, 347]))
    preferences = fitted(designs.two_option(("a", "b", "c", "d")), [60, 60, 40, 50])
    assert "“a” band low 0.000, band high 0.429" in estimate.methods_text(preferences)


def test_the_sample_and_the_target_are_told():
    warner = designs.warner(p=0.7)
    frame = pl.DataFrame({"said": ["yes", "no"] * 40, "weight": [1.0, 2.0] * 40, "school": np.arange(80) // 8})
    tally = warner.tally(frame, "said", sampling=Sampling(clusters="school", weights="weight"))
    text = estimate.methods_text(estimate.maximum_likelihood(warner, tally))
    assert "80 people answered “said”" in text
    assert "Answers are weighted (sum of weights 120). Sample: 10 clusters; 9 df." in text
    assert "larger population" not in text
    census = estimate.maximum_likelihood(warner, warner.tally(count=[45, 55]), target="file")
    assert "They describe these people themselves, and no larger population" in estimate.methods_text(census)


def test_confidence_is_never_rounded_to_certainty():
    fit = fitted(designs.warner(p=0.7), [50, 50])
    assert "99.999 % interval" in estimate.methods_text(fit, confidence=0.99999)
    assert "99.999 % intervals" in fit.plot(confidence=0.99999).svg


def test_labels_stand_as_they_are_on_one_line():
    design = designs.negative(('say "q"', "50 % {b}", "two\n\nlines"))
    text = estimate.methods_text(fitted(design, [30, 20, 33]))
    for label in ('say "q"', "50 % {b}", "two lines"):
        assert f"% for “{label}” (" in text
    assert text.count("\n\n") == text.count("\n@")


def test_one_person_is_no_people():
    assert estimate.methods_text(fitted(designs.warner(p=0.7), [1, 0])).startswith("1 person answered under")


def test_the_share_of_people_who_may_not_comply_can_be_chosen():
    fit = fitted(designs.warner(p=0.7), [50, 50])
    text = estimate.methods_text(fit, options=estimate.PrintOptions(noncompliance=0.3))
    assert "If up to 30 of 100 did not comply" in text


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


def test_a_method_of_intervals_that_is_added_has_its_name_in_the_paper(monkeypatch):
    added = estimate.IntervalMethod(
        "halved", "half of the error", lambda ask: ask.fit.proportions[:, None] + [-0.1, 0.1]
    )
    monkeypatch.setitem(estimate.METHODS, "halved", added)
    text = estimate.methods_text(fitted(designs.warner(p=0.8), [60, 140]), method="halved")
    assert "with halved intervals" in text
