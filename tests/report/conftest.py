from dataclasses import replace

import numpy as np
import pytest

from naysay import designs, estimate

LABELS = (
    "never",
    "نادرًا (أقل من 25%)",
    "לעתים קרובות 50-74",
    "不想回答這個問題",
    "on and on, " * 18 + "the end",
    "x" * 200,
    "<script>alert(1)</script>",
    "[/red] & \"quoted\" 'so' {{ this }} <b",
)


@pytest.fixture(scope="session")
def difficult():
    """An estimate over levels whose labels are as difficult as they come."""
    choice = designs.negative_levels(LABELS)
    rng = np.random.default_rng(7)
    shares = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
    truth = rng.choice(np.array(LABELS, dtype=object), p=shares, size=2_000)
    tally = replace(choice.tally(choice.randomize(truth, rng=rng)), question="<i>كم مرة</i>")
    return estimate.stratified(choice, tally)
