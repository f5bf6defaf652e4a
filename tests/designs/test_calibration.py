"""Chances that are estimated: by the published formula, by the joint likelihood, and by coverage on random cases."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from naysay import crosstab, designs, estimate, planning, regression
from naysay.cli import main
from naysay.errors import DataError, DesignError
from naysay.estimate.intervals import nuisance_intervals

SEEN = np.array([[0, 30, 45], [60, 0, 55], [40, 70, 0]])
ANSWERS = np.array([270, 380, 350])
CATEGORIES = ("low", "middle", "high")


def negative():
    return designs.calibrated(SEEN, categories=CATEGORIES, negative=True)


def test_the_covariance_is_the_delta_method_of_both_errors():
    """A [Σ_λ/n + Σ_j π_j² Σ_{P_j}/m_j] Aᵀ; each response counts two people more, hence the tolerance."""
    survey, sizes = negative(), SEEN.sum(axis=0)
    fit = estimate.moments(survey, survey.tally(count=ANSWERS))
    chances, shares = SEEN / sizes, ANSWERS / ANSWERS.sum()
    inverse = np.linalg.inv(chances)
    spread = (np.diag(shares) - np.outer(shares, shares)) / (ANSWERS.sum() - 1)
    for share, column, size in zip(fit.proportions, chances.T, sizes, strict=True):
        spread += share**2 * (np.diag(column) - np.outer(column, column)) / size
    assert fit.proportions == pytest.approx(inverse @ shares, abs=1e-9)
    assert fit.covariance == pytest.approx(inverse @ spread @ inverse.T, rel=0.03, abs=1e-5)


def test_inside_the_simplex_the_estimate_maximizes_the_joint_likelihood():
    survey = negative()
    fit = estimate.maximum_likelihood(survey, survey.tally(count=ANSWERS))

    def loss(logits):
        shares = np.exp([0, *logits[:2]]) / np.exp([0, *logits[:2]]).sum()
        towards = 1 / (1 + np.exp(-logits[2:]))
        chances = np.zeros((3, 3))
        for j, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
            chances[first, j], chances[second, j] = towards[j], 1 - towards[j]
        seen = SEEN[chances > 0] @ np.log(chances[chances > 0])
        return -(ANSWERS @ np.log(chances @ shares) + seen)

    best = minimize(loss, np.zeros(5), method="BFGS").x
    assert fit.proportions == pytest.approx(np.exp([0, *best[:2]]) / np.exp([0, *best[:2]]).sum(), abs=1e-4)


def test_a_calibration_of_very_many_people_is_the_known_design():
    seen = 10**8 * designs.negative(CATEGORIES).matrix * 2
    survey, known = designs.calibrated(seen, categories=CATEGORIES, negative=True), designs.negative(CATEGORIES)
    fit, expected = (estimate.moments(each, each.tally(count=ANSWERS)) for each in (survey, known))
    assert fit.covariance == pytest.approx(expected.covariance, rel=1e-4)


def test_intervals_hold_the_truth_although_chances_are_estimated():
    rng, surveys = np.random.default_rng(4), 120
    for truth, sizes in (([0.5, 0.3, 0.2], [60, 60, 60]), ([0.9, 0.1, 0.0], [100, 40, 60])):
        chances = np.array([[0, 0.2, 0.5], [0.7, 0, 0.5], [0.3, 0.8, 0]])
        holds = np.zeros(3)
        for _ in range(surveys):
            seen = np.column_stack([rng.multinomial(m, column) for m, column in zip(sizes, chances.T, strict=True)])
            survey = designs.calibrated(seen, categories=CATEGORIES, negative=True)
            fit = estimate.moments(survey, survey.tally(count=rng.multinomial(1_000, chances @ truth)))
            holds += (fit.interval()[:, 0] <= truth) & (truth <= fit.interval()[:, 1])
        assert holds.min() / surveys > 0.95 - 4 * np.sqrt(0.95 * 0.05 / surveys)


def test_a_share_of_0_is_not_told_from_0_because_a_false_answer_is_rare():
    """1.4 of 50 calibrated say yes falsely; in every fourth calibration nobody does, which is no certainty."""
    rng, held, surveys = np.random.default_rng(3), 0, 100
    for _ in range(surveys):
        seen = np.column_stack([rng.multinomial(50, column) for column in ([0.9, 0.1], [0.028, 0.972])])
        survey = designs.calibrated(seen, categories=("yes", "no"))
        held += estimate.moments(survey, survey.tally(count=[560, 19_440])).interval()[0, 0] <= 0
    assert held / surveys > 0.95 - 2 * np.sqrt(0.95 * 0.05 / surveys)


def difference_by_the_delta_method(seen, counts):
    """Of two groups under one calibration: the chances of category j move both by what they have of it."""
    sizes, inverse = seen.sum(axis=0), np.linalg.inv(seen / seen.sum(axis=0))
    shares = [inverse @ (count / count.sum()) for count in counts]
    spread = sum(
        (np.diag(count) / count.sum() - np.outer(count, count) / count.sum() ** 2) / (count.sum() - 1)
        for count in counts
    )
    for difference, column, size in zip(shares[1] - shares[0], (seen / sizes).T, sizes, strict=True):
        spread = spread + difference**2 * (np.diag(column) - np.outer(column, column)) / size
    return shares[1] - shares[0], inverse @ spread @ inverse.T


def test_a_difference_counts_the_error_of_the_chances_once():
    """The errors of both groups were added: the interval was 1.7 times as long here."""
    survey, counts = negative(), np.array([[270, 380, 350], [300, 360, 340]])
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fits = {place: estimator(survey, survey.tally(count=count)) for place, count in enumerate(counts)}
        found = estimate.differences(fits)
        difference, covariance = difference_by_the_delta_method(SEEN, counts)
        assert found.difference[0] == pytest.approx(difference, abs=1e-6)
        assert found.standard_errors[0] == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.01)
        twice = np.sqrt(fits[0].covariance.diagonal() + fits[1].covariance.diagonal())
        assert (twice > 1.3 * found.standard_errors[0]).all()


def test_intervals_of_differences_hold_and_are_no_longer_twice_as_wide():
    rng, surveys, held = np.random.default_rng(6), 150, np.zeros(3)
    chances = np.array([[0.7, 0.1, 0.2], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7]])
    truth = np.array([[0.5, 0.3, 0.2], [0.4, 0.25, 0.35]])
    for _ in range(surveys):
        seen = np.column_stack([rng.multinomial(100, column) for column in chances.T])
        survey = designs.calibrated(seen, categories=CATEGORIES)
        counts = [rng.multinomial(900, chances @ shares) for shares in truth]
        fits = {place: estimate.moments(survey, survey.tally(count=count)) for place, count in enumerate(counts)}
        low, high = estimate.differences(fits).interval()[0].T
        held += (low <= truth[1] - truth[0]) & (truth[1] - truth[0] <= high)
    assert held.min() / surveys > 0.95 - 4 * np.sqrt(0.95 * 0.05 / surveys)
    assert held.mean() / surveys < 0.99  # .999 with the error counted twice


def test_walds_test_of_two_estimators_counts_the_error_of_the_chances_once():
    survey, counts = negative(), np.array([[270, 380, 350], [340, 380, 280]])
    fits = {
        "a": estimate.moments(survey, survey.tally(count=counts[0])),
        "b": estimate.maximum_likelihood(survey, survey.tally(count=counts[1])),
    }
    found = estimate.differences(fits)
    difference, covariance = difference_by_the_delta_method(SEEN, counts)
    assert found.test == "Wald"
    assert found.degrees_of_freedom == 2
    assert found.statistic == pytest.approx(
        difference[:2] @ np.linalg.inv(covariance[:2, :2]) @ difference[:2], rel=0.02
    )


def test_designs_that_may_rest_on_one_calibration_are_not_taken_as_independent():
    counts = [[100, 60, 40], [80, 70, 50]]
    seen = SEEN + 20 * np.eye(3, dtype=int)
    surveys = [designs.calibrated(seen, categories=CATEGORIES), designs.calibrated(seen[::-1], categories=CATEGORIES)]
    fits = {
        place: estimate.moments(survey, survey.tally(count=count))
        for place, (survey, count) in enumerate(zip(surveys, counts, strict=True))
    }
    with pytest.raises(DataError, match="say independent=True"):
        estimate.differences(fits)
    apart = estimate.differences(fits, independent=True).standard_errors[0]
    assert apart == pytest.approx(np.sqrt(fits[0].covariance.diagonal() + fits[1].covariance.diagonal()))


def test_double_sampling_is_tenenbeins_estimate():
    """Tenenbein (1970): Σ_answer P(answer), from all people, times P(yes | answer), from the validated ones."""
    survey = designs.double_sampling(("yes", "no"))
    counts = {"yes": 380, "no": 620, "yes says yes": 50, "yes says no": 10, "no says yes": 20, "no says no": 120}
    sample = ["survey"] * 2 + ["validated"] * 4
    fit = estimate.maximum_likelihood(survey, survey.tally(list(counts), sample=sample, count=list(counts.values())))
    said_yes, said_no = (380 + 70) / 1_200, (620 + 130) / 1_200
    assert fit.proportions[0] == pytest.approx(said_yes * 50 / 70 + said_no * 10 / 130, abs=1e-6)
    variance = said_yes * said_no * (50 / 70 - 10 / 130) ** 2 / 1_200
    for said, chance in ((said_yes, 50 / 70), (said_no, 10 / 130)):
        variance += said * chance * (1 - chance) / 200
    assert fit.standard_errors[0] == pytest.approx(np.sqrt(variance), rel=0.02)


def test_a_category_of_which_hardly_anybody_was_checked_is_named():
    survey = designs.double_sampling(("yes", "no"))
    answers, sample = ["yes", "no", *survey.cells], ["survey"] * 2 + ["validated"] * 4
    few, many = (
        str(estimate.maximum_likelihood(survey, survey.tally(answers, sample=sample, count=[380, 620, *checked])))
        for checked in ([8, 1, 0, 40], [9, 1, 0, 40])
    )
    assert "in sample validated, fewer than 10 people are of: yes;" in few
    assert "fewer than" not in many


def test_of_whom_nobody_was_checked_the_interval_is_as_wide_as_the_checked_people_alone_make_it():
    """2.5 in 100 samples of 40 hold nobody of a category of 8.8 % (Clopper & Pearson 1934)."""
    survey = designs.double_sampling(("yes", "no"))
    answers, sample = ["yes", "no", *survey.cells], ["survey"] * 2 + ["validated"] * 4
    fit = estimate.maximum_likelihood(survey, survey.tally(answers, sample=sample, count=[100, 900, 0, 0, 4, 36]))
    low, high = fit.interval()[0]
    assert low == 0
    assert high >= 1 - 0.025 ** (1 / 40)
    [(name, ends), _] = nuisance_intervals(fit).items()
    assert (name, ends) == ("yes if yes", (0.0, 1.0))


def test_a_small_direct_arm_does_not_widen_the_interval_of_an_arm_whose_chances_are_known():
    arms = designs.samples(masked=designs.warner(p=0.8), direct=designs.direct(("yes", "no")))
    answers, sample = ["yes", "no"] * 2, ["masked"] * 2 + ["direct"] * 2
    fit = estimate.maximum_likelihood(arms, arms.tally(answers, sample=sample, count=[520, 1480, 2, 18]))
    low, high = fit.interval()[0]
    assert high - low < 4.2 * fit.standard_errors[0]
    assert fit.warnings == ()


def test_intervals_hold_a_category_of_which_hardly_anybody_is_checked():
    """One in 500: the likelihood's interval began above the truth in half of the surveys."""
    survey, rng, surveys, held = designs.double_sampling(("yes", "no")), np.random.default_rng(4), 60, 0
    cells = np.array([0.002 * 0.87, 0.002 * 0.13, 0.998 * 0.03, 0.998 * 0.97])
    answers, sample = ["yes", "no", *survey.cells], ["survey"] * 2 + ["validated"] * 4
    for _ in range(surveys):
        counts = [*rng.multinomial(1_000, [cells[0] + cells[2], cells[1] + cells[3]]), *rng.multinomial(25, cells)]
        fit = estimate.maximum_likelihood(survey, survey.tally(answers, sample=sample, count=counts))
        low, high = fit.interval()[0]
        held += low <= 0.002 <= high
    assert held / surveys >= 0.95


@pytest.mark.parametrize(
    ("seen", "options", "says"),
    [
        ([[1, 30, 45], [60, 0, 55], [40, 70, 0]], {"negative": True}, "named their own category 'low'"),
        ([[0, 0, 45], [60, 0, 55], [40, 0, 0]], {}, "nobody of category 'middle'"),
        ([[0, 0, 0], [60, 30, 55], [40, 70, 45]], {}, "nobody gave the response 'low'"),
        ([[1, 1, 1]] * 3, {}, "does not tell the categories apart"),
        ([[1, 2], [3, 4]], {}, "a row for each of 3 responses"),
        ([[0.5, 30, 45], [60, 0, 55], [40, 70, 0]], {}, "whole numbers of people"),
    ],
)
def test_what_cannot_calibrate_is_refused_in_one_sentence(seen, options, says):
    with pytest.raises(DesignError, match=says):
        designs.calibrated(seen, categories=CATEGORIES, **options)


def test_who_takes_chances_as_known_refuses_estimated_ones():
    survey, people = negative(), pl.DataFrame({"x": ["low", "high"], "age": [1, 2]})
    with pytest.raises(DataError, match="takes the chances of a design as known"):
        planning.variance(survey, (0.3, 0.3, 0.4))
    with pytest.raises(DataError, match="takes the chances of a design as known"):
        regression.regress(survey, "x ~ age", people)
    with pytest.raises(DataError, match="takes the chances of a design as known"):
        crosstab.crosstab(people, row=crosstab.Variable("x", survey), column="age")


def test_a_file_calibrates_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pairs = [(CATEGORIES[j], CATEGORIES[i]) for i in range(3) for j in range(3) for _ in range(SEEN[i, j])]
    pl.DataFrame(pairs, schema=["truth", "income"], orient="row").write_csv("known.csv")
    pl.DataFrame({"income": CATEGORIES, "n": ANSWERS}).write_csv("answers.csv")
    words = ["estimate", "answers.csv", "--response", "income", "--count", "n", "--calibration", "known.csv"]
    assert main([*words, "--design", "negative()"]) == 0  # the categories are those of the calibration
    assert "from 300 people" in capsys.readouterr().out
    words += ["--categories", ",".join(CATEGORIES), "--design", "negative()", "--format", "json"]
    assert main(words) == 0
    survey = negative()
    fit = estimate.maximum_likelihood(survey, survey.tally(count=ANSWERS))
    printed = json.loads(capsys.readouterr().out)
    assert printed["standard_errors"] == pytest.approx(fit.standard_errors.tolist(), rel=1e-9)
    assert printed["interval_method"] == "fieller"
