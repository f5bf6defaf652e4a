"""Several samples are planned as they come out."""

import numpy as np
import pytest

from naysay import designs, planning, simulate

# Each with the shares of its cells.
SURVEYS = {
    "unrelated question": (designs.unrelated_question_unknown(p=(0.7, 0.3)), (0.06, 0.14, 0.24, 0.56)),
    "cheating detection": (designs.cheating_detection(p=(0.25, 0.75)), (0.2, 0.7, 0.1)),
    "lie detector": (designs.stochastic_lie_detector(p=(0.2, 0.8)), (0.2, 0.7, 0.1)),
    "extended crosswise": (designs.extended_crosswise(prevalence=0.25), (0.2, 0.8)),
    "anchored crosswise": (designs.anchored_crosswise(prevalence=0.15, anchor=0.15), (0.17, 0.68, 0.15)),
    "arms": (
        designs.samples(direct=designs.direct(("yes", "no")), masked=designs.crosswise(prevalence=0.25)),
        (0.2, 0.8),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVEYS)
def test_planned_standard_errors_are_those_of_simulated_surveys(name):
    survey, cells = SURVEYS[name]
    replicates = 400
    found = simulate.replicate(survey, cells, n=4_000, replicates=replicates, seed=1)
    for estimator, runs in found.runs.items():
        planned = planning.variance(survey, cells, estimator=estimator).standard_errors(4_000)[:2]
        spread = runs.proportions.std(axis=0, ddof=1)
        np.testing.assert_allclose(spread, planned, rtol=0.03 + 4 / np.sqrt(2 * replicates))
        bias = runs.proportions.mean(axis=0) - survey.structure.proportions(np.array(cells))
        assert (np.abs(bias) < 4 * spread / np.sqrt(replicates) + 0.001).all()


def test_nuisance_parameters_are_planned_too_and_do_not_set_the_sample_size():
    survey, cells = SURVEYS["cheating detection"]
    found = planning.variance(survey, cells)
    assert found.names == ("yes", "no", "cheaters", "honest no", "yes, at most")
    n = planning.sample_size(survey, cells, standard_error=0.02)
    assert found.standard_errors(n)[0] <= 0.02 < found.standard_errors(n - 1)[0]
    assert found.standard_errors(n).max() > 0.02
