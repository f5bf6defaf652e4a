"""Several samples are planned as they come out."""

import numpy as np
import pytest

from naysay import designs, estimate, planning, simulate
from naysay.tally import Tally

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
    """Beside the mean that they are in many answers, whose exact error is known; so few surveys tell the rest."""
    survey, cells = SURVEYS[name]
    drawn = simulate.replicate(survey, cells, n=4_000, replicates=1, seed=1).survey
    chances = np.vstack([each.response_chances for each in drawn.cells]) @ cells
    sizes = [len(each.codes) for each in drawn.cells]

    def estimated(counts, estimator):
        parts = zip(drawn.cells, np.split(counts, np.cumsum(sizes)[:-1]), strict=True)
        tally = Tally(tuple(each.part(count, 0) for each, count in parts))
        return estimate.ESTIMATORS[estimator].fit(survey, tally).proportions

    expected = np.rint(10**9 * chances).astype(int)
    surveys = np.random.default_rng(1).multinomial(4_000, chances, 30)
    for estimator in ("moments", "maximum_likelihood"):
        middle = estimated(expected, estimator)
        np.testing.assert_allclose(middle, survey.structure.proportions(np.array(cells)), atol=1e-6)
        step = 10**6 * np.eye(len(chances), dtype=int)
        u = np.array([(estimated(expected + each, estimator) - middle) * 1_000 for each in step])
        planned = planning.variance(survey, cells, estimator=estimator).standard_errors(4_000)[:2]
        exact = np.sqrt((chances @ u**2 - (chances @ u) ** 2) / 4_000)
        np.testing.assert_allclose(exact, planned, rtol=0.005)  # the step is a thousandth
        found = np.array([estimated(counts, estimator) for counts in surveys])
        mean = middle + (surveys / 4_000 - chances) @ u
        ratio = np.sqrt(found.var(axis=0).sum() / mean.var(axis=0).sum())
        assert ratio == pytest.approx(1, abs=0.03)
        assert (np.abs((found - mean).mean(axis=0)) < 0.1 * planned).all()


def test_nuisance_parameters_are_planned_too_and_do_not_set_the_sample_size():
    survey, cells = SURVEYS["cheating detection"]
    found = planning.variance(survey, cells)
    assert found.names == ("yes", "no", "cheaters", "honest no", "yes, at most")
    n = planning.sample_size(survey, cells, standard_error=0.02)
    assert found.standard_errors(n)[0] <= 0.02 < found.standard_errors(n - 1)[0]
    assert found.standard_errors(n).max() > 0.02
