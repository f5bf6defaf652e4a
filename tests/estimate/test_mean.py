"""Means of numbers: unbiased, with intervals that cover, for people and for files."""

import re

import numpy as np
import pytest

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate.page import measured_section
from naysay.sampling import Sampling

RNG = np.random.default_rng(53)
PEOPLE = RNG.beta(2, 5, 2_000) * 1_000


def counted(design, people, rng):
    return design.tally(design.randomize(people, rng=rng))


@pytest.mark.parametrize("epsilon", [0.5, 2, 4])
def test_intervals_cover_for_a_population_and_for_a_file(epsilon):
    design, runs, hits, values = designs.number(low=0, high=1_000, epsilon=epsilon), 250, np.zeros(2), []
    rng = np.random.default_rng(int(10 * epsilon))
    for _ in range(runs):
        drawn = counted(design, rng.beta(2, 5, 2_000) * 1_000, rng)
        hits[0] += np.diff(np.sign(estimate.mean(design, drawn).interval() - 2_000 / 7))[0] != 0
        fit = estimate.mean(design, counted(design, PEOPLE, rng), target="file")
        hits[1] += np.diff(np.sign(fit.interval() - PEOPLE.mean()))[0] != 0
        values.append(fit.value)
    assert (np.abs(hits / runs - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / runs)).all()
    exact = np.sqrt(design.variance(PEOPLE).sum()) / len(PEOPLE)  # the formula of the design, at these people
    assert np.mean(values) == pytest.approx(PEOPLE.mean(), abs=4 * exact / np.sqrt(runs))
    assert np.std(values) == pytest.approx(exact, rel=4 / np.sqrt(2 * runs))
    assert exact * 0.99 < fit.standard_error < exact * 1.15  # what is not known of rounding counts in full


def test_counts_weights_and_levels_tell_the_same():
    design, rng = designs.number(low=0, high=10, epsilon=1), np.random.default_rng(1)
    people = rng.uniform(0, 10, 400)
    said = design.randomize(people, rng=rng)
    fit, codes = estimate.mean(design, design.tally(said)), said.codes[:, 0]
    for other in (
        design.tally(count=np.bincount(codes, minlength=design.space.size)),
        design.tally(said.texts()),
        design.tally(said, weights=np.full(400, 3.0)),
        design.tally(said.take(range(150))) + design.tally(said.take(range(150, 400))),
    ):
        again = estimate.mean(design, other)
        assert (again.value, again.standard_error) == pytest.approx((fit.value, fit.standard_error), rel=1e-12)
    number = design.numbers(said.codes)
    assert fit.standard_error == pytest.approx(number.std(ddof=1) / 20, rel=1e-12)
    weights = rng.uniform(1, 4, 400)
    heavy = estimate.mean(design, design.tally(said, weights=weights))
    assert heavy.value == pytest.approx(np.average(number, weights=weights), rel=1e-12)
    offer = designs.levels({e: designs.window(low=0, high=10, epsilon=e, steps=1, width=1) for e in (1, 2)})
    both = offer.randomize(people, level=np.resize([1, 2], 400), rng=rng)
    stacked = estimate.mean(offer, offer.tally(both))
    own = [
        estimate.mean(offer.channel(e), offer.channel(e).tally(both.codes[both.level == e, 0])).value for e in (1, 2)
    ]
    assert stacked.value == pytest.approx(np.mean(own), rel=1e-12)


def test_a_complex_sample_and_its_census():
    design, rng = designs.number(low=0, high=10, epsilon=2), np.random.default_rng(2)
    said = design.randomize(np.repeat(rng.uniform(0, 10, 40), 10), rng=rng)  # people of a cluster are alike
    alone = estimate.mean(design, design.tally(said))
    clustered = estimate.mean(design, design.tally(said, sampling=Sampling(clusters=np.repeat(np.arange(40), 10))))
    assert clustered.standard_error > alone.standard_error
    assert clustered.degrees_of_freedom == 39
    census = estimate.mean(design, design.tally(said, sampling=Sampling(fpc=np.full(400, 400))))
    file = estimate.mean(design, design.tally(said), target="file")
    assert census.standard_error == pytest.approx(file.standard_error, rel=1e-12)


def test_categories_that_are_numbers_have_a_mean_under_any_design():
    design, rng = designs.k_ary(range(6), epsilon=2), np.random.default_rng(3)
    people = rng.binomial(5, 0.3, 20_000)
    fit = estimate.mean(design, counted(design, people, rng))
    assert fit.value == pytest.approx(people.mean(), abs=4 * fit.standard_error)
    with pytest.raises(DataError, match="a mean needs categories that are numbers; 'yes' is none"):
        estimate.mean(designs.two_coins(), designs.two_coins().tally(count=[3, 4]))


def test_what_is_printed_and_written():
    design = designs.number(low=0, high=10, epsilon=1)
    fit = estimate.mean(design, design.tally({0: 90, 1: 10}))
    told = str(fit)
    assert fit.value < 0
    assert fit.interval()[0] == 0
    assert "outside [0, 10], as an unbiased estimate may be" in told
    assert "ε = 1" in told
    assert fit.to_dict()["estimates"][0]["estimate"] == fit.value
    single = estimate.mean(design, design.tally([1]))
    assert np.isnan(single.standard_error)
    assert "a single answer has no standard error" in str(single)
    with pytest.raises(DataError, match="not under"):
        estimate.mean(designs.number(low=0, high=11, epsilon=1), fit.tally)


def test_the_finding_of_a_page_of_numbers_is_true_in_random_cells():
    """70 cells of 1 to 3,000 answers: its ends hold the interval, its mean lies between them, and signs are alike."""
    rng, number = np.random.default_rng(29), re.compile(r"−?\d[\d,]*\.?\d*")
    sizes = np.unique(np.geomspace(1, 3_000, 70).astype(int)).tolist()
    for size in (sizes + sizes)[:70]:
        low, span = float(rng.choice([-1_000, -5, 0, 18])), float(rng.choice([1, 10, 200, 50_000]))
        survey = designs.number(low=low, high=low + span, epsilon=float(rng.choice([0.5, 2, 5])))
        fit = estimate.mean(survey, counted(survey, low + span * rng.beta(2, rng.uniform(0.5, 9), size), rng))
        finding = fit.finding()
        said = [float(text.replace(",", "").replace("−", "-")) for text in number.findall(finding)]
        least, most = fit.interval()
        assert "-" not in finding
        assert "−0" not in re.sub(r"−0\.0*[1-9]", "", finding)
        if size == 1:
            assert "of too few answers for an interval" in finding
        elif least == most:
            assert said == [pytest.approx(least, abs=0.51)]
        else:
            value, first, last = said
            assert first <= least + 1e-6
            assert last >= most - 1e-6
            assert first <= value <= last
            assert last - first <= 2 * (most - least)


def test_a_page_of_numbers_begins_with_its_finding():
    survey = designs.number(low=0, high=100, epsilon=2)
    fit = estimate.mean(survey, counted(survey, PEOPLE / 10, np.random.default_rng(3)))
    alone, headed = (
        measured_section(fit, heading=heading, options=estimate.PrintOptions()) for heading in (None, "Age · area = 1")
    )
    assert alone.heading == fit.finding()
    assert fit.finding() in headed.body
    assert "95 % intervals" in alone.body
    assert "0.95 interval" not in alone.body
    display = estimate.distribution(survey, counted(survey, PEOPLE / 10, np.random.default_rng(3)))
    assert display.finding().startswith("On average ")
