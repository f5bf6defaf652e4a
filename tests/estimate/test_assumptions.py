"""What the estimate would be if an assumption failed."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, estimate
from naysay.errors import DataError
from naysay.estimate import PrintOptions
from naysay.estimate.assumptions import behaviors, noncompliance_band
from naysay.show import text
from naysay.tally import Part, Tally

WARNER = designs.warner(p=0.7)
EXTENDED = designs.extended_crosswise(prevalence=0.2)
counts = st.tuples(st.integers(1, 500), st.integers(1, 500))
fractions = st.floats(0, 0.6)
probabilities = st.sampled_from(["0.1", "0.2", "0.35", "0.65", "0.8", "0.95"])


def stacked(survey, first, second):
    texts = survey.channel(survey.levels[0]).responses.texts()
    sample = np.repeat(survey.levels, len(texts)).tolist()
    return survey.tally(texts * 2, sample=sample, count=[*first, *second])


def warner_estimate(yes_share, p):
    return (yes_share - (1 - p)) / (2 * p - 1)


# non-compliance


@given(probabilities, counts, fractions)
def test_the_band_of_warner_is_its_formula(p, said, share):
    survey = designs.warner(p=p)
    fit = estimate.moments(survey, survey.tally(count=said))
    yes, p = said[0] / sum(said), float(p)
    safest = 0 if p > 0.5 else 1  # the share of yes among those who say what speaks against the sensitive category
    ends = [warner_estimate((yes - share * q) / (1 - share), p) for q in (safest, 0.5)] + [warner_estimate(yes, p)]
    band = estimate.noncompliance_band(fit, share=share, noncompliers="alike")
    assert band[0] == pytest.approx(np.clip([min(ends), max(ends)], 0, 1), abs=1e-9)
    assert band[1] == pytest.approx(1 - band[0, ::-1], abs=1e-9)
    complied = [(1 - share) * end for end in ends[:2]]  # carriers who complied; none of the others is one, or all are
    widest = [*complied, *(end + share for end in complied), ends[2]]
    band = estimate.noncompliance_band(fit, share=share)
    assert band[0] == pytest.approx(np.clip([min(widest), max(widest)], 0, 1), abs=1e-9)


@given(probabilities, counts, fractions, st.floats(0, 1), st.booleans())
def test_fewer_who_do_not_comply_stay_inside_the_band(p, said, share, part, at_random):
    survey = designs.warner(p=p)
    fit = estimate.moments(survey, survey.tally(count=said))
    low, high = estimate.noncompliance_band(fit, share=share)[0]
    fewer, p = part * share, float(p)
    q = 0.5 if at_random else float(p < 0.5)
    moved = np.clip(warner_estimate((said[0] / sum(said) - fewer * q) / (1 - fewer), p), 0, 1)
    assert low - 1e-9 <= moved <= high + 1e-9


def test_carriers_who_deny_lie_in_the_band_by_default_and_outside_that_of_people_like_everyone_else():
    coins = designs.two_coins()  # 30 % are carriers, a third of whom deny whatever the coins show
    fit = estimate.moments(coins, coins.tally(count=[325, 675]))
    assert fit.proportions[0] == pytest.approx(0.15)
    assert estimate.noncompliance_band(fit, share=0.1)[0] == pytest.approx([0.1, 0.3])
    assert fit.noncompliance(0.1, "alike")[0] == pytest.approx([0.1111, 0.2222], abs=1e-4)


LETTERS = tuple("abcd")
DESIGNS = [
    designs.warner(p=0.7),
    designs.two_coins(),
    designs.crosswise(prevalence="1/5"),
    designs.triangular(prevalence="1/4"),
    designs.forced_response(forced_yes="1/6", forced_no="1/12"),
    designs.unrelated_question(p=0.7, prevalence=0.2),
    designs.kuk(p=(0.8, 0.3), draws=3),
    EXTENDED,
    designs.unrelated_question_unknown(p=(0.7, 0.3)),
    designs.samples(open=designs.direct(("yes", "no")), masked=designs.warner(p=0.8)),
    designs.k_ary(LETTERS, epsilon=1),
    designs.forced_response(LETTERS, forced=(0.1, 0.1, 0.2, 0.05)),
    designs.abul_ela(tuple("abc"), p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]),
    designs.cheating_detection(p=(0.25, 0.75)),
    designs.stochastic_lie_detector(p=("2/12", "10/12")),
]


@pytest.mark.parametrize("survey", DESIGNS, ids=lambda survey: survey.name)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 0.5), part=st.floats(0, 1))
def test_the_truth_lies_in_the_band_whoever_does_not_comply(survey, seed, share, part):
    rng, fewer = np.random.default_rng(seed), part * share
    cells = len(survey.cells)
    complying, others = (rng.dirichlet(np.full(cells, rng.choice([0.1, 1.0]))) for _ in range(2))
    others = np.eye(cells)[rng.integers(cells)] if rng.random() < 0.5 else others  # such as carriers only
    truth = (1 - fewer) * complying + fewer * others
    ways = list(behaviors(survey).values())
    mixed, tallies = rng.dirichlet(np.ones(len(ways))), []
    for level in survey.levels:
        channel = survey.channel(level)
        said = sum(
            m * rng.dirichlet(np.ones(len(way(channel)))) @ way(channel) for m, way in zip(mixed, ways, strict=True)
        )
        asked_openly = (channel.matrix.max(axis=0) == 1).all()
        shares = (
            channel.matrix @ (truth if asked_openly else (1 - fewer) * complying) + (not asked_openly) * fewer * said
        )
        named = {} if level is None else {"sample": [level] * len(shares)}
        tallies.append(survey.tally(channel.responses.texts(), weights=1_000 * shares, **named))
    band = estimate.noncompliance_band(estimate.moments(survey, sum(tallies)), share=share)
    true = survey.structure.proportions(truth)
    assert (band[:, 0] <= true + 1e-9).all()
    assert (true <= band[:, 1] + 1e-9).all()


def test_who_does_not_comply_is_anyone_or_like_everyone_else():
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    with pytest.raises(DataError, match="noncompliers must be 'anyone' or 'alike'; got 'carriers'"):
        estimate.noncompliance_band(fit, noncompliers="carriers")


@given(counts, st.lists(fractions, min_size=2, max_size=2).map(sorted))
def test_the_band_grows_with_the_share(said, shares):
    fit = estimate.moments(WARNER, WARNER.tally(count=said))
    narrow, wide = (estimate.noncompliance_band(fit, share=share) for share in shares)
    assert (wide[:, 0] <= narrow[:, 0] + 1e-12).all()
    assert (narrow[:, 1] <= wide[:, 1] + 1e-12).all()


@given(st.floats(0.05, 0.95), st.floats(0, 0.4))
def test_the_truth_lies_in_the_band_whichever_way_people_do_not_comply(pi, share):
    for q in (0.0, 0.5):
        said = (1 - share) * (0.7 * pi + 0.3 * (1 - pi)) + share * q
        fit = estimate.moments(WARNER, WARNER.tally(["yes", "no"], weights=[1_000 * said, 1_000 * (1 - said)]))
        low, high = estimate.noncompliance_band(fit, share=share)[0]
        assert low - 1e-9 <= pi <= high + 1e-9


def test_full_compliance_is_the_estimate_itself_within_the_unit_interval():
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    assert estimate.noncompliance_band(fit, share=0) == pytest.approx(np.array([[0.2, 0.2], [0.8, 0.8]]))
    outside = estimate.moments(WARNER, WARNER.tally(count=[250, 750]))
    assert estimate.noncompliance_band(outside, share=0) == pytest.approx(np.array([[0, 0], [1, 1]]))


def test_the_safest_answer_of_a_crosswise_question_depends_on_the_prevalence():
    for prevalence, safest in ((0.25, "same"), (0.75, "different")):
        survey = designs.crosswise(prevalence=prevalence)
        honest = survey.matrix @ (0.3, 0.7)
        said = 0.8 * honest + 0.2 * (np.array(survey.space.labels) == safest)
        fit = estimate.moments(survey, survey.tally(list(survey.space.labels), weights=1_000 * said))
        assert fit.proportions[0] < 0.3
        assert estimate.noncompliance_band(fit, share=0.2, noncompliers="alike")[0, 1] == pytest.approx(0.3, abs=1e-9)


def test_samples_are_moved_together():
    rates = [0.8 * survey.matrix @ (0.3, 0.7) + 0.2 * 0.5 for survey in map(EXTENDED.channel, (1, 2))]
    fit = estimate.moments(EXTENDED, stacked(EXTENDED, *(np.rint(5_000 * rate).astype(int) for rate in rates)))
    assert fit.proportions[0] > 0.3, "random answers pull towards one half"
    assert estimate.noncompliance_band(fit, share=0.2, noncompliers="alike")[0, 0] == pytest.approx(0.3, abs=1e-9)


def test_samples_whose_safest_answers_differ_are_moved_each_in_its_own_way():
    rates = [
        0.8 * survey.matrix @ (0.3, 0.7) + 0.2 * np.array(safest)
        for survey, safest in zip(map(EXTENDED.channel, (1, 2)), ((1, 0), (0, 1)), strict=True)
    ]
    fit = estimate.moments(EXTENDED, stacked(EXTENDED, *(np.rint(5_000 * rate).astype(int) for rate in rates)))
    assert estimate.noncompliance_band(fit, share=0.2, noncompliers="alike")[0, 1] == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize(
    "survey",
    [
        designs.cheating_detection(p=(0.25, 0.75)),
        designs.stochastic_lie_detector(p=("2/12", "10/12")),
    ],
    ids=lambda survey: survey.name,
)
def test_who_measures_denial_still_fears_random_answers(survey):
    fit = estimate.moments(survey, stacked(survey, (300, 200), (350, 150)))
    assert "did not comply (whatever is true of them, they answered at random): “yes” from" in str(fit)


@pytest.mark.parametrize(
    "fit",
    [
        estimate.moments(designs.direct(("yes", "no")), designs.direct(("yes", "no")).tally(count=[3, 7])),
        estimate.moments(designs.negative(tuple("abc")), designs.negative(tuple("abc")).tally(count=[30, 30, 40])),
    ],
    ids=["direct", "three categories"],
)
def test_the_band_is_shown_for_two_categories_and_chance_only(fit):
    assert fit.noncompliance() is None
    assert "noncompliance" not in fit.to_dict()


def test_more_categories_have_a_band_of_any_answers():
    survey = designs.forced_response(tuple("abc"), forced=(0.1, 0.1, 0.1))
    fit = estimate.moments(survey, survey.tally(count=[300, 300, 400]))
    band = estimate.noncompliance_band(fit, share=0.1)
    np.testing.assert_array_equal(fit.noncompliance(), band)
    complied = fit.proportions - 0.1 * (1 / 0.7 - 0.1 / 0.7)  # all of the others are elsewhere, but said so
    denied = fit.proportions + 0.1 + 0.1 * 0.1 / 0.7  # all of the others are here, and said something else
    np.testing.assert_allclose(band, np.column_stack([complied, denied]))
    assert "did not comply (whatever is true of them, they gave any answers): “a” from" in str(fit)


@pytest.mark.parametrize("share", [-0.1, 1, 2])
def test_a_share_of_people_lies_between_nobody_and_all(share):
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    with pytest.raises(DataError, match=r"must lie in \[0, 1\); got"):
        estimate.noncompliance_band(fit, share=share)


def test_sets_have_no_safest_answer():
    survey = designs.negative(tuple("abcd"), discards=2)
    fit = estimate.moments(survey, survey.tally([{"a", "b"}, {"c", "d"}, {"a", "d"}]))
    with pytest.raises(DataError, match="designs that report one label"):
        estimate.noncompliance_band(fit)


def test_the_band_is_printed_without_being_asked_for():
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    how = "whatever is true of them, they gave the safest answer always or answered at random"
    told = f"if up to 10 of 100 did not comply ({how}): “yes” from"
    assert f"{told} 0.150 to 0.375 (around the estimate, before sampling error)" in str(fit)
    told = fit.to_dict()["noncompliance"]
    assert (told["share"], told["noncompliers"]) == (0.1, "anyone")
    np.testing.assert_allclose(told["bounds"], [[0.15, 0.375], [0.625, 0.85]])
    assert estimate.maximum_likelihood(WARNER, fit.tally).noncompliance(0.2)[0] == pytest.approx([0.1, 0.55])


def test_people_like_everyone_else_are_named_in_the_line_and_in_json():
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    how = "like everyone else in what is true of them, they gave the safest answer always or answered at random"
    assert f"did not comply ({how}): “yes” from 0.167 to 0.306" in text(fit.parts(PrintOptions(noncompliers="alike")))
    told = fit.to_dict(options=PrintOptions(noncompliers="alike"))["noncompliance"]
    assert told["noncompliers"] == "alike"
    assert told["bounds"][0] == pytest.approx([1 / 6, 0.30556], abs=1e-5)


def test_what_a_design_assumes_is_printed_with_its_numbers():
    survey = designs.crosswise(prevalence=0.25)
    fit = estimate.moments(survey, survey.tally(count=[380, 620]))
    assert "assumes: the innocuous answer has nothing to do with the sensitive one; the innocuous prevalence" in str(
        fit
    )
    assert fit.to_dict()["assumptions"] == list(designs.ASSUMPTIONS["crosswise"])
    both = estimate.moments(EXTENDED, stacked(EXTENDED, (190, 310), (290, 210)))
    assert both.to_dict()["assumptions"].count("the innocuous prevalence is the one stated") == 1


# a probability that is not certain

RANGED = [
    (lambda p, **told: designs.crosswise(prevalence=p, **told), 0.25),
    (lambda p, **told: designs.triangular(prevalence=p, **told), 0.25),
    (lambda p, **told: designs.unrelated_question(p=0.7, prevalence=p, **told), 0.25),
]


@pytest.mark.parametrize(("make", "prevalence"), RANGED, ids=["crosswise", "triangular", "unrelated question"])
def test_the_band_is_of_first_order_what_the_derivative_says(make, prevalence):
    # dπ̂ = -P⁻¹ dP π̂
    step = 1e-4
    survey = make(prevalence, between=(prevalence - step, prevalence + step))
    fit = estimate.moments(survey, survey.tally(count=[560, 440]))
    change = (make(prevalence + step).matrix - make(prevalence - step).matrix) / 2
    slope = -np.linalg.solve(survey.matrix, change @ fit.proportions)
    band = estimate.probability_band(fit)
    np.testing.assert_allclose((band[:, 1] - band[:, 0]) / 2, np.abs(slope), rtol=1e-3)


@pytest.mark.parametrize(("make", "prevalence"), RANGED, ids=["crosswise", "triangular", "unrelated question"])
def test_the_ends_of_the_band_are_the_estimates_at_the_ends_of_the_range(make, prevalence):
    survey = make(prevalence, between=(0.2, 0.3))
    fit = estimate.moments(survey, survey.tally(count=[560, 440]))
    ends = []
    for end in (0.2, prevalence, 0.3):
        at = make(end)
        ends.append(estimate.moments(at, at.tally(count=[560, 440])).proportions[0])
    assert fit.probability_band[0] == pytest.approx(np.clip([min(ends), max(ends)], 0, 1))


def test_samples_have_a_band_of_their_own():
    survey = designs.extended_crosswise(prevalence=0.2, between=(0.15, 0.25))
    fit = estimate.moments(survey, stacked(survey, (310, 190), (190, 310)))
    ends = []
    for prevalence in (0.15, 0.2, 0.25):
        at = designs.extended_crosswise(prevalence=prevalence)
        ends.append(estimate.moments(at, stacked(at, (310, 190), (190, 310))).proportions[0])
    assert fit.probability_band[0] == pytest.approx([min(ends), max(ends)])


def test_one_arm_with_a_range_moves_the_estimate_of_both():
    ranged = designs.crosswise(prevalence=0.25, between=(0.2, 0.3))
    arms = designs.samples(open=designs.direct(("yes", "no")), masked=ranged)
    fit = estimate.moments(arms, stacked(arms, (60, 140), (600, 400)))
    ends = []
    for prevalence in (0.2, 0.3):
        at = designs.samples(open=arms.channel("open"), masked=designs.crosswise(prevalence=prevalence))
        ends.append(estimate.moments(at, stacked(at, (60, 140), (600, 400))).proportions[0])
    low, high = fit.probability_band[0]
    assert (low, high) == pytest.approx(sorted(ends))
    assert low < fit.proportions[0] < high


def test_a_range_is_printed_with_the_numbers():
    survey = designs.crosswise(prevalence=0.25, between=(0.23, 0.27))
    fit = estimate.moments(survey, survey.tally(count=[380, 620]))
    assert "over the stated range of the prevalence: “yes” from 0.722 to 0.761 (around the estimate" in str(fit)
    assert fit.to_dict()["probability_band"][0] == pytest.approx([0.7222, 0.7609], abs=1e-4)


def test_without_a_range_there_is_no_band():
    fit = estimate.moments(WARNER, WARNER.tally(count=[380, 620]))
    assert fit.probability_band is None
    assert "probability_band" not in fit.to_dict()


@pytest.mark.parametrize(
    "survey",
    [
        designs.warner(p=0.8),
        designs.kuk(p=(0.8, 0.3), draws=4),
        designs.extended_crosswise(prevalence=0.2),
        designs.cheating_detection(p=(0.25, 0.75)),
        designs.k_ary(tuple("abcd"), epsilon=1),
        designs.crosswise(prevalence=0.25, between=(0.23, 0.27)),
    ],
    ids=lambda survey: survey.name,
)
@pytest.mark.parametrize("noncompliers", ["anyone", "alike"])
def test_a_band_holds_the_estimate_that_it_is_printed_under(survey, noncompliers):
    rng, first = np.random.default_rng(1320), 0.05
    for _ in range(20):
        parts = []
        for level, channel in survey.parts.items():
            cells = np.full(channel.matrix.shape[1], (1 - first) / (channel.matrix.shape[1] - 1))
            cells[0] = first
            counts = rng.multinomial(60, channel.matrix @ cells)
            seen = counts > 0
            codes = channel.space.listing()[seen]
            parts.append(Part.of(channel, codes, level=level, count=counts[seen]))
        fit = estimate.maximum_likelihood(survey, Tally(tuple(parts)))
        bands = [noncompliance_band(fit, noncompliers=noncompliers), estimate.probability_band(fit)]
        for band in (band for band in bands if band is not None):
            assert (band[:, 0] <= fit.proportions + 1e-9).all()
            assert (band[:, 1] >= fit.proportions - 1e-9).all()


def test_a_band_beyond_the_unit_interval_is_called_so():
    survey = designs.warner(p=0.8)
    shown = str(estimate.moments(survey, survey.tally(count=[100, 900])))
    assert "“yes” from 0.000 to 0.000 (nearest to what lies outside [0, 1])" in shown
    assert "shown is that of an estimate at the nearest end" in shown


def test_a_share_that_only_rounding_puts_outside_is_at_the_end_and_not_beyond_it():
    """Of two samples all say no: moments were -1e-17, "from 0.00 to 0.00 (nearest to what lies outside)"."""
    for survey in (
        designs.stochastic_lie_detector(p=(0.43, 0.88)),
        designs.stochastic_lie_detector(p=(0.25, 0.75)),
        designs.cheating_detection(p=(0.7, 0.28)),
        designs.cheating_detection(p=(0.9, 0.3)),
        designs.extended_crosswise(prevalence=0.2),
        designs.unrelated_question_unknown(p=(0.88, 0.58)),
    ):
        for said in ((0, 50), (50, 0)):
            parts = [
                Part.of(channel, channel.space.listing(), level=level, count=np.array(said))
                for level, channel in survey.parts.items()
            ]
            fit = estimate.moments(survey, Tally(tuple(parts)))
            values = np.array([*fit.proportions, *(each.value for each in fit.nuisance.values())])
            assert not ((values != np.round(values)) & (np.abs(values - np.round(values)) < 1e-12)).any()
            assert re.search(r"= -?\d(\.\d+)?e-\d\d", str(fit)) is None
            if ((fit.proportions >= 0) & (fit.proportions <= 1)).all():
                assert "nearest to what lies outside" not in str(fit)
