"""A design whose categories are called otherwise draws the same answers with the same chances."""

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.design import read, relabeled
from naysay.errors import DesignError
from tests.designs.test_contract import BATTERY

WHOLE = {
    **{
        name: case.design
        for name, case in BATTERY.items()
        if not any(isinstance(c, tuple) for c in case.design.categories)
    },
    "negative_levels, whole": designs.negative_levels(("a", "b", "c")),
    "cheating_detection, whole": designs.cheating_detection(p=(0.25, 0.75)),
    "stochastic_lie_detector, whole": designs.stochastic_lie_detector(p=("2/12", "10/12")),
    "abul_ela, whole": designs.abul_ela(("a", "b", "c"), p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]),
}


@pytest.mark.parametrize("design", WHOLE.values(), ids=WHOLE.keys())
def test_labels_change_and_chances_stay(design):
    labels = {str(category): f"call {category}!" for category in design.categories if isinstance(category, str)}
    found = relabeled(design, labels)
    assert found.categories == tuple(labels.get(each, each) for each in design.categories)
    again = read(design.to_json())  # some designs put together from others are read back under another name
    assert (found.kind, found.name, found.levels) == (again.kind, again.name, again.levels)
    assert (found.protocol and found.protocol.assumes) == (design.protocol and design.protocol.assumes)
    for level in design.levels:
        np.testing.assert_array_equal(found.channel(level).matrix, design.channel(level).matrix)
    assert relabeled(found, {new: old for old, new in labels.items()}) == design


def test_estimates_commute_with_names():
    survey = designs.negative(("a", "b", "c", "d"), discards=2)
    said = survey.randomize(list("abcd") * 50, rng=np.random.default_rng(3))
    other = relabeled(survey, {"a": "Äpfel; Birnen", "b": "Brot"})
    again = other.tally(
        [[{"a": "Äpfel; Birnen", "b": "Brot"}.get(x, x) for x in text.split(";")] for text in said.texts()]
    )
    one, two = estimate.maximum_likelihood(survey, survey.tally(said)), estimate.maximum_likelihood(other, again)
    np.testing.assert_allclose(one.proportions, two.proportions, atol=1e-12)


def test_two_labels_cannot_become_one():
    with pytest.raises(DesignError, match="must differ; 'b' is number 1"):
        relabeled(designs.negative(("a", "b", "c")), {"a": "b"})
