"""Every family whose categories are free, at sizes from a small country to a large catalog."""

import json
import warnings

import numpy as np
import pytest

from naysay import Design, designs, estimate
from naysay.designs import FAMILIES
from naysay.errors import StatisticalWarning

SIZES = (20, 33, 50, 62, 200)
FREE = {
    "direct": designs.direct,
    "negative": designs.negative,
    "negative, 2": lambda names: designs.negative(names, discards=2),
    "negative, 4": lambda names: designs.negative(names, discards=4),
    "negative, half": lambda names: designs.negative(names, discards=len(names) // 2),
    "negative, weighted": lambda names: designs.negative(names, weights=range(1, len(names) + 1)),
    "negative_levels": lambda names: designs.negative_levels(names, most=3),
    "negative_sink": lambda names: designs.negative_sink(names, sinks=names[0]),
    "negative_matrix": lambda names: designs.negative_matrix(ruled_out(len(names)), categories=names),
    "gaussian_negative": lambda names: designs.gaussian_negative(names, sigma=1.5),
    "two_option": designs.two_option,
    "forced_response": lambda names: designs.forced_response(names, forced=["1/400"] * len(names)),
    "k_ary": lambda names: designs.k_ary(names, epsilon=3),
    "subset_selection": lambda names: designs.subset_selection(names, epsilon=1),
    "affine": lambda names: designs.affine(names, epsilon=2),
    "hadamard": lambda names: designs.hadamard(names, epsilon=2),
    "unary": lambda names: designs.unary(names, epsilon=2),
    "frequency": lambda names: designs.frequency(names, epsilon=2),
    "budgets": lambda names: designs.budgets(names, epsilon=(1, 3)),
    "remembered": lambda names: designs.remembered(names, epsilon=1, lifetime=2),
    "custom": lambda names: designs.custom(0.5 * np.eye(len(names)) + 0.5 / len(names), categories=names),
}
SPECIAL = {  # of yes and no, of numbers, ranges or texts, or made of other designs
    *("warner", "two_coins", "mangat", "kuk", "crosswise", "triangular", "unrelated_question", "singh_joarder"),
    *("unrelated_question_unknown", "extended_crosswise", "anchored_crosswise", "cheating_detection", "christofides"),
    *("cheating_detection_symmetric", "stochastic_lie_detector", "mangat_singh_singh", "heavy_hitters", "window"),
    *("hierarchy", "number", "mix", "samples", "levels", "abul_ela", "uniform", "controlled"),
    *("one_saying", "single_sample_count", "item_count", "double_list", "asked_twice"),
    *("calibrated", "double_sampling"),
}


def ruled_out(t):
    """A negative survey in which the first of the others is ruled out twice as often."""
    weights = np.ones((t, t)) - np.eye(t)
    weights[np.roll(np.eye(t, dtype=bool), 1, axis=0)] = 2
    return weights / weights.sum(axis=0)


def principle(design):
    """The estimator that the assignment of the responses asks for."""
    return estimate.stratified if design.offer.assigned_by == "respondent" else estimate.moments


def test_every_family_is_tried_or_of_a_special_kind():
    assert {name.partition(",")[0] for name in FREE} | SPECIAL == FAMILIES.keys()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", FREE.values(), ids=FREE)
def test_a_family_counts_estimates_and_prints_many_categories(make, size):
    names = tuple(f"c{number}" for number in range(size))
    rng = np.random.default_rng(size)
    design = make(names)
    answers = design.randomize(rng.choice(names, 400), rng=rng)
    tally = design.tally(answers)
    assert tally.n == 400
    assert sum(part.count.sum() for part in tally.parts) == 400
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticalWarning)
        fit = principle(design)(design, tally)
        written = json.loads(json.dumps(fit.to_dict()))
        printed = str(fit)
    assert fit.proportions.shape == fit.standard_errors.shape == (size,)
    assert np.isfinite(fit.proportions).all()
    assert written["categories"] == list(names)
    assert all(name in printed for name in names)
    assert Design.from_json(design.to_json()) == design
