"""Models of compliance of the literature give the numbers of their papers; peers' numbers come from counts."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from naysay import designs, estimate, planning
from naysay.data import validation_counts
from naysay.errors import DataError, DesignError

CASES = json.loads((Path(__file__).parents[1] / "reference" / "compliance_literature.json").read_text(encoding="utf-8"))
ATHLETES = validation_counts()["athletes"]["surveys"]


def athletes(survey, types, estimator=estimate.moments, **exact):
    counts = ATHLETES[survey]
    design = designs.one_saying(prevalence=counts["prevalence"], types=types)
    same, people = np.array(counts["same"]), np.array(counts["people"])
    answers, samples, sizes = ["same", "different"] * 2, [1, 1, 2, 2], np.column_stack([same, people - same]).ravel()
    if "random" in types:
        errors, people = counts["control_errors"], counts["control_people"]
        answers, samples = [*answers, "same", "different"], [*samples, "control", "control"]
        sizes = [*sizes, people - errors, errors]
    return estimator(design, design.tally(answers, sample=samples, count=sizes), **exact)


@pytest.mark.parametrize("survey", CASES["athletes"])
def test_one_saying_of_athletes_is_as_published(survey):
    case, fit = CASES["athletes"][survey], athletes(survey, ("one-sayers",))
    assert fit.nuisance["one-sayers"].value == pytest.approx(case["theta"], abs=1e-6)
    assert fit.proportions[0] == pytest.approx(case["pi"], abs=1e-6)
    likely = athletes(
        survey, ("one-sayers",), estimate.maximum_likelihood, standard_errors="expected"
    )  # moments: n - 1
    errors = likely.nuisance["one-sayers"].standard_error, likely.standard_errors[0]
    assert errors == pytest.approx((case["se_theta"], case["se_pi"]), abs=1e-6)
    both = athletes(survey, ("one-sayers", "random"))
    assert both.proportions[0] == pytest.approx(case["pi_both"], abs=1e-6)


def test_of_athletes_as_if_all_complied_the_shares_are_as_published_and_do_not_fit():
    naive = {}
    for survey, counts in ATHLETES.items():
        p = counts["prevalence"]
        arms = [designs.crosswise(prevalence=p), designs.crosswise(prevalence=1 - p)]
        sizes = [(same, people - same) for same, people in zip(counts["same"], counts["people"], strict=True)]
        alone = [
            estimate.moments(arm, arm.tally(["same", "different"], count=size)).proportions[0]
            for arm, size in zip(arms, sizes, strict=True)
        ]
        naive[survey] = np.mean(alone)
        if survey in CASES["athletes"]:
            both = designs.samples({1: arms[0], 2: arms[1]})
            tally = both.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=np.ravel(sizes))
            fit = estimate.maximum_likelihood(both, tally)
            found = fit.proportions[0], fit.goodness_of_fit.deviance
            assert found == pytest.approx({"A": (0.165725, 4.768995), "B": (0.374359, 4.428681)}[survey], abs=1e-6)
    assert naive == pytest.approx({"A": 0.1697319, "B": 0.3734725, "C": 0.2502939, "D": 0.1615312}, abs=1e-7)


def test_of_athletes_the_published_correction_weighs_samples_alike():
    """With θ̂ twice the errors: ½ + (mean of both samples - ½) / (1 - ρ̂); people who fail both are the same people."""
    corrected = {}
    for survey, counts in ATHLETES.items():
        p, people = counts["prevalence"], np.array(counts["people"])
        same = np.array(counts["same"]) / people
        naive = ((same[0] - 1 + p) / (2 * p - 1) + (same[1] - p) / (1 - 2 * p)) / 2
        n, error = counts["control_people"], counts["control_errors"] / counts["control_people"]
        share = 2 * error
        value = 0.5 + (naive - 0.5) / (1 - share)
        variance = (same * (1 - same) / people).sum() / 4 / (1 - 2 * p) ** 2
        variance += (value - 0.5) ** 2 * (4 * error * (1 - error) - 2 * share * (1 - share)) / n
        corrected[survey] = (value, np.sqrt(variance) / (1 - share))
        ours = athletes(survey, ("random",)).proportions[0]
        assert ours == pytest.approx(value, abs=0.006)
    published = {"A": (0.05714, 0.05493), "B": (0.32649, 0.06232), "C": (0.08832, 0.0438), "D": (0.03752, 0.03683)}
    assert {key: pytest.approx(each, abs=6e-6) for key, each in published.items()} == corrected


def test_fewer_who_fail_than_by_chance_are_taken_as_they_are_where_a_peer_clips_the_naive_share_first():
    """Of 1,000, 864 say "same" to the question and 885 to its control: γ̂ = 1.1, and .027 where the peer has .047."""
    survey = designs.controlled(designs.crosswise(prevalence=0.15), truth="no")
    answers = (["same", "same", "different", "different"], ["same", "different"] * 2)
    fit = estimate.moments(survey, survey.tally(answers, count=[765, 99, 120, 16]))
    assert fit.nuisance["at random"].value == pytest.approx(-0.1)
    assert fit.proportions[0] == pytest.approx(0.5 - 0.52 / 1.1)
    naive, bias = -0.02, -0.02 - (0.5 - 0.52 / 1.1)
    assert max(naive, 0) - bias == pytest.approx(0.04727, abs=5e-6)


def anchored_answers():
    """The example of the peer: the answers to question and control, and the weight of each person."""
    answers = (["same", "same", "different", "different"] * 2, ["same", "different"] * 4)
    counts = list(itertools.chain.from_iterable(CASES["cmdata"]["counts"].values()))
    return tuple(np.repeat(said, counts).tolist() for said in answers), np.repeat([1.25, 5], [1_577, 423])


def test_the_anchored_model_is_as_published_with_weights_and_by_the_likelihood():
    case = CASES["cmdata"]
    survey, (answers, weights) = designs.anchored_crosswise(prevalence=0.15, anchor=0.15), anchored_answers()
    tally = survey.tally(answers)
    fit = estimate.moments(survey, tally)
    assert (fit.proportions[0], fit.standard_errors[0]) == pytest.approx(
        (case["plain"]["pi"], case["plain"]["se"]), abs=1e-7
    )
    attentive = fit.nuisance["attentive"]
    expected = 1 - case["plain"]["rho"], case["plain"]["se_rho"]
    assert (attentive.value, attentive.standard_error) == pytest.approx(expected, abs=1e-7)
    weighted = estimate.moments(survey, survey.tally(answers, weights=weights))
    assert (weighted.proportions[0], weighted.standard_errors[0]) == pytest.approx(case["weighted"], abs=5.1e-7)
    likely = estimate.maximum_likelihood(survey, tally, standard_errors="expected")
    joint, fits = case["joint"], likely.goodness_of_fit
    assert (likely.proportions[0], likely.standard_errors[0]) == pytest.approx((joint["pi"], joint["se"]), abs=1e-6)
    assert likely.nuisance["attentive"] == pytest.approx((1 - joint["rho"], joint["se_rho"]), abs=1e-6)
    assert likely.maximum.log_likelihood == pytest.approx(joint["loglik"], abs=5e-4)
    assert (fits.deviance, fits.deviance_p_value) == pytest.approx((joint["G2"], joint["p"]), abs=1e-5)


def test_the_errors_of_a_peer_that_the_page_names_are_as_named():
    """cWise: 200 bootstraps have .0208 and .0649 to .1394; naive and bounded errors leave something out."""
    (said, _), weights = anchored_answers()
    rng = np.random.default_rng(30)
    draws = rng.multinomial(2_000, np.array([1_116, 311, 425, 148]) / 2_000, 20_000) / 2_000
    question, control = draws[:, :2].sum(axis=1), draws[:, [0, 2]].sum(axis=1)
    booted = 0.5 + (0.5 - question) / 0.7 / ((control - 0.5) / 0.35)
    assert booted.std() == pytest.approx(0.0228, abs=3e-4)
    assert np.quantile(booted, (0.025, 0.975)) == pytest.approx((0.059, 0.148), abs=0.0011)
    crosswise = designs.crosswise(prevalence=0.15)
    naive = [estimate.moments(crosswise, crosswise.tally(said, weights=each)) for each in (None, weights)]
    assert [fit.standard_errors[0] for fit in naive] == pytest.approx([0.0144, 0.0180], abs=5e-5)
    # 310 people, a share of .6385 that says "same", a prevalence of ¼: the bound of the peer where .8 are attentive
    share = (0.6385 - 0.75) / -0.5
    corrected, mask = 0.5 + (share - 0.5) / 0.8, 0.25 * 0.75 / 0.5**2
    theirs, right = (np.sqrt((value * (1 - value) + mask) / 309) / 0.8 for value in (corrected, share))
    assert (theirs, right) == pytest.approx((0.0667, 0.0683), abs=5e-5)


def test_random_answers_to_the_single_sample_count_leave_nobody_with_the_trait():
    case, survey = CASES["single sample count"], designs.single_sample_count(types=("random",))
    fit = estimate.maximum_likelihood(survey, survey.tally(range(6), count=case["counts"]))
    assert fit.proportions[0] == pytest.approx(0, abs=1e-6)
    assert fit.nuisance["at random"].value == pytest.approx(case["random"]["cells"][-1], abs=1e-5)


def test_in_three_of_four_surveys_of_athletes_nothing_is_left():
    both = {survey: athletes(survey, ("one-sayers", "random")).proportions[0] for survey in ATHLETES}
    assert both == pytest.approx({"A": -0.0165, "B": 0.2939, "C": -0.0249, "D": -0.0255}, abs=6e-5)
    random = {survey: athletes(survey, ("random",)).proportions[0] for survey in ATHLETES}
    # the published difference of the samples weighs them alike; naysay weighs answers alike
    assert random == pytest.approx({"A": 0.057, "B": 0.327, "C": 0.088, "D": 0.038}, abs=0.006)


def test_the_single_sample_count_agrees_with_and_without_people_who_always_say_none():
    case = CASES["single sample count"]
    plain, zero = designs.single_sample_count(), designs.single_sample_count(types=("zero",))
    mean = estimate.moments(plain, plain.tally(range(6), count=case["counts"]), solution="mean")
    assert (mean.proportions[0], mean.standard_errors[0]) == pytest.approx((case["moment"], case["se"]), abs=1e-6)
    fit = estimate.maximum_likelihood(plain, plain.tally(range(6), count=case["counts"]))
    assert fit.proportions[0] == pytest.approx(case["ml"]["est"], abs=1e-5)
    assert fit.goodness_of_fit.deviance == pytest.approx(case["ml"]["G2"], abs=1e-3)
    fit = estimate.maximum_likelihood(zero, zero.tally(range(6), count=case["counts"]))
    assert fit.proportions[0] == pytest.approx(case["zero"]["est"], abs=1e-5)
    assert fit.nuisance["always 0"].value == pytest.approx(case["zero_rho"]["est"], abs=1e-5)
    assert fit.goodness_of_fit.deviance == pytest.approx(case["zero"]["G2"], abs=1e-3)
    for types, name in (((), "ml"), (("zero",), "zero"), (("random",), "random")):
        survey = designs.single_sample_count(types=types) if types else plain
        tally = survey.tally(range(6), count=case["counts"])
        fit = estimate.maximum_likelihood(survey, tally, standard_errors="expected")
        assert fit.standard_errors[0] == pytest.approx(case[name]["se"], abs=1e-5)
        assert fit.goodness_of_fit.deviance == pytest.approx(case[name]["G2"], abs=1e-4)
        if types:
            assert next(iter(fit.nuisance.values())).standard_error == pytest.approx(
                case[f"{name}_rho"]["se"], abs=1e-5
            )
    errors = {
        estimator: planning.variance(plain, (0.15, 0.85), estimator=estimator).each[0]
        for estimator in ("moments", "maximum_likelihood")
    }
    assert errors == pytest.approx({"moments": 1.1275, "maximum_likelihood": 0.8783}, abs=5e-5)


def test_asking_twice_shows_who_answers_at_random_by_both_estimators():
    case, survey = CASES["asked twice"], designs.asked_twice(designs.crosswise(prevalence=0.25))
    answers = (["same", "same", "different", "different"], ["same", "different"] * 2)
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fit = estimator(survey, survey.tally(answers, count=case["counts"]))
        random = fit.nuisance["at random"]
        assert (random.value, random.standard_error) == pytest.approx(case["rho"], abs=5e-4)
        assert (fit.proportions[0], fit.standard_errors[0]) == pytest.approx(case["pi"], abs=5e-4)
        products = (530 - 215 - 205 + 110) / 1_060  # C
        assert random.value == pytest.approx(1 - products / 0.5**2)
        assert random.standard_error == pytest.approx(np.sqrt((1 - products**2) / 1_060) / 0.5**2, rel=6e-4)


@pytest.mark.parametrize("name", CASES["list"])
def test_lists_give_the_difference_of_means_and_the_likelihood(name):
    case, survey = CASES["list"][name], designs.item_count(items=3)
    samples = ["control"] * 4 + ["treatment"] * 5
    tally = survey.tally([*range(4), *range(5)], sample=samples, count=case["control"] + case["treatment"])
    fit = estimate.moments(survey, tally)
    assert (fit.proportions[0], fit.standard_errors[0]) == pytest.approx(case["moments"], abs=1e-6)
    assert estimate.maximum_likelihood(survey, tally).proportions[0] == pytest.approx(case["likelihood"][0], abs=1e-4)


RACE_LIARS = [(0, 0.1052), (0.1, 0.1113), (0.25, 0.1235), (0.5, 0.1601), (1, 0.4545)]


def list_fit(name):
    case, survey = CASES["list"][name], designs.item_count(items=3)
    counts, samples = case["control"] + case["treatment"], ["control"] * 4 + ["treatment"] * 5
    return estimate.maximum_likelihood(survey, survey.tally([*range(4), *range(5)], sample=samples, count=counts))


@pytest.mark.parametrize(("name", "share", "most"), [*(("race", *row) for row in RACE_LIARS), ("affirm", 1, 0.6598)])
def test_carriers_at_the_ends_of_a_list_who_hide_leave_a_share_open(name, share, most):
    fit = list_fit(name)
    bounds = estimate.answer_bounds(fit, share=share, answers="liars")
    assert bounds[0] == pytest.approx((fit.proportions[0], most), abs=6e-5)
    assert bounds[1] == pytest.approx(1 - bounds[0, ::-1])
    carriers, others = np.split(fit.cells.proportions, 2)  # by the cells alone: whoever lies looks like others there
    at_ends = [0, -1]
    hidden = others[at_ends] if share == 1 else np.minimum(others[at_ends], carriers[at_ends] * share / (1 - share))
    assert bounds[0, 1] == pytest.approx(carriers.sum() + hidden.sum(), abs=1e-7)


def lists_with_liars(rng, kind, lying):
    """A design, the chances of each count in each sample by a walk through all people, and the share of carriers."""
    lengths = tuple(rng.integers(2, 4, 2).tolist()) if kind == "double" else (int(rng.integers(2, 5)),)
    survey = designs.double_list(items=lengths) if kind == "double" else (
        designs.item_count(items=lengths[0], placebo=kind == "placebo"))  # fmt: skip
    share, kinds = float(rng.uniform(0.05, 0.5)), list(itertools.product(*(range(length + 1) for length in lengths)))
    weights = [dict(zip(kinds, rng.dirichlet(np.full(len(kinds), 2)), strict=True)) for _ in range(2)]
    chances = {}
    for place, name in enumerate(survey.levels):
        sensitive = place if kind == "double" else 0 if name == "treatment" else None
        for true, carries in itertools.product(kinds, (True, False)):
            chance = share * weights[0][true] if carries else (1 - share) * weights[1][true]
            at_end = carries and sensitive is not None and true[sensitive] in (0, lengths[sensitive])
            for hides, part in ((True, lying), (False, 1 - lying)) if at_end else ((False, 1.0),):
                adds = carries and not hides and sensitive is not None
                said = tuple(count + (adds and spot == sensitive) for spot, count in enumerate(true))
                chances[name, said] = chances.get((name, said), 0.0) + chance * part
    return survey, chances, share


def fitted_to(survey, counts):
    samples, said = zip(*counts, strict=True)
    answers = tuple(map(list, zip(*said, strict=True)))
    tally = survey.tally(answers[0] if len(answers) == 1 else answers, sample=samples, count=list(counts.values()))
    return estimate.maximum_likelihood(survey, tally)


@pytest.mark.parametrize("seed", range(15))
def test_the_share_of_carriers_lies_between_the_bounds_wherever_they_hide(seed):
    rng, kind = np.random.default_rng(seed), ("plain", "placebo", "double")[seed % 3]
    lying = float(rng.uniform(0, 1)) if seed % 2 else float(rng.choice([0.1, 0.25, 0.5, 1]))
    survey, chances, share = lists_with_liars(rng, kind, lying)
    fit = fitted_to(survey, {key: round(1e9 * chance) for key, chance in chances.items()})
    for most in (lying, (1 + lying) / 2, 1.0):
        low, high = estimate.answer_bounds(fit, share=most, answers="liars")[0]
        assert low - 1e-4 < share < high + 1e-4


@pytest.mark.parametrize(("kind", "lying", "seed"), [("plain", 0.5, 1), ("placebo", 0.0, 2), ("double", 1.0, 3)])
def test_the_interval_for_lists_with_liars_holds_with_its_confidence(kind, lying, seed):
    rng = np.random.default_rng(seed)
    survey, chances, share = lists_with_liars(rng, kind, lying)
    held, surveys = 0, 80
    for _ in range(surveys):
        counts = {}
        for name in survey.levels:
            keys = [key for key in chances if key[0] == name]
            counts |= dict(zip(keys, rng.multinomial(400, [chances[key] for key in keys]).tolist(), strict=True))
        low, high = estimate.bounds_interval(fitted_to(survey, counts), share=lying or 0.25, answers="liars")[0]
        held += low <= share <= high
    assert held >= 0.95 * surveys - 2 * (0.95 * 0.05 * surveys) ** 0.5


def test_an_estimate_of_a_list_says_how_much_hiding_leaves_open_and_other_designs_do_not():
    fit = list_fit("race")
    words = " ".join(str(fit).split())
    assert "nothing in these answers shows who hides" in words
    assert (
        "“yes” from 0.105 to 0.111, and from 0.019 to 0.209 with sampling error; if all of them did, up to 0.454"
        in words
    )
    some, everybody = fit.to_dict()["liars"]
    assert (some["share"], everybody["share"]) == (0.1, 1)
    assert everybody["bounds"][1] == pytest.approx(0.4545, abs=1e-4)
    survey = designs.samples(a=designs.direct(("yes", "no")), b=designs.direct(("yes", "no")))
    direct = estimate.moments(survey, survey.tally(["yes", "no"] * 2, sample=["a", "a", "b", "b"], count=[5, 6, 7, 8]))
    assert "liars" not in direct.to_dict()
    with pytest.raises(DataError, match="liars at the ends are of list experiments"):
        estimate.answer_bounds(direct, answers="liars")


def test_weights_that_are_alike_change_nothing_and_unequal_ones_widen_the_interval_of_a_list():
    survey, rng = designs.item_count(items=3), np.random.default_rng(5)
    counts, samples = rng.binomial(3, 0.5, 800), np.repeat(["control", "treatment"], 400)
    plain, alike, unequal = (
        estimate.bounds_interval(estimate.maximum_likelihood(survey, survey.tally(counts, sample=samples, **weights)),
                                 share=0.5, answers="liars")[0]
        for weights in ({}, {"weights": np.full(800, 3.0)}, {"weights": np.tile([1.0, 9.0], 400)})
    )  # fmt: skip
    assert alike == pytest.approx(plain, abs=1e-3)
    assert np.ptp(unequal) > np.ptp(plain)


def test_a_placebo_takes_random_answers_off_a_list():
    survey, rng = designs.item_count(items=4, placebo=True, types=("random",)), np.random.default_rng(7)
    others = rng.multinomial(1, [0.1, 0.2, 0.4, 0.2, 0.1], 30_000).argmax(axis=1)
    carries, random = rng.random(30_000) < 0.2, rng.random(30_000) < 0.2
    arms = np.repeat(["control", "treatment", "placebo"], 10_000)
    answers = others + (carries & (arms == "treatment"))
    numbers = np.where(random, rng.integers(0, np.where(arms == "control", 5, 6)), answers)
    fit = estimate.maximum_likelihood(survey, survey.tally(numbers, sample=arms))
    assert abs(fit.proportions[0] - 0.2) < 4 * fit.standard_errors[0]
    assert fit.nuisance["at random"].value == pytest.approx(0.2, abs=4 * fit.nuisance["at random"].standard_error)
    naive = numbers[arms == "treatment"].mean() - numbers[arms == "control"].mean()
    assert naive == pytest.approx(0.8 * 0.2 + 0.1, abs=0.06)  # half a random answer more, by the length of the list


def test_what_random_answers_do_to_a_list_is_as_published():
    """By chances: 4 or 5 items give (1 - ρ)π + ρ/2 = .26; with a placebo .16; three arms give ρ and π."""
    survey = designs.item_count(items=4, placebo=True, types=("random",))
    others, lengths, share, pi = (
        np.array([0.1, 0.2, 0.4, 0.2, 0.1]),
        {"control": 5, "treatment": 6, "placebo": 6},
        0.2,
        0.2,
    )
    chances = {}
    for arm, length in lengths.items():
        carried = np.zeros(length)
        carried[:5] += others * (1 - pi * (arm == "treatment"))
        carried[1:] += pi * others[: length - 1] * (arm == "treatment")
        chances[arm] = (1 - share) * carried + share / length
    means = {arm: chance @ np.arange(len(chance)) for arm, chance in chances.items()}
    assert means["treatment"] - means["control"] == pytest.approx(0.26)
    assert means["treatment"] - means["placebo"] == pytest.approx(0.16)
    assert 2 * (means["placebo"] - means["control"]) == pytest.approx(share)
    said, arms, counts = zip(
        *((number, arm, round(1e9 * chance)) for arm, each in chances.items() for number, chance in enumerate(each)),
        strict=True,
    )
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fit = estimator(survey, survey.tally(list(said), sample=list(arms), count=list(counts)))
        assert (fit.proportions[0], fit.nuisance["at random"].value) == pytest.approx((pi, share), abs=1e-5)


def test_a_double_list_finds_the_share_as_the_published_estimate_does():
    survey, rng = designs.double_list(items=(2, 3)), np.random.default_rng(3)
    n = 4_000
    a, b, carries = rng.integers(0, 3, n), rng.integers(0, 4, n), rng.random(n) < 0.3
    sample = np.repeat([1, 2], n // 2)
    first, second = a + (carries & (sample == 1)), b + (carries & (sample == 2))
    fit = estimate.moments(survey, survey.tally((first.tolist(), second.tolist()), sample=sample))
    assert abs(fit.proportions[0] - 0.3) < 4 * fit.standard_errors[0]
    difference = first - second
    published = (difference[sample == 1].mean() - difference[sample == 2].mean()) / 2
    assert abs(fit.proportions[0] - published) < 2 * fit.standard_errors[0]  # least squares weighs each count


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: designs.item_count(items=3, types=("random",)), "a longer list raises random counts"),
        (lambda: designs.single_sample_count(types=("deny",)), "types are of 'zero', 'random'"),
        (lambda: designs.one_saying(prevalence=0.5), "must not be 1/2"),
        (lambda: designs.one_saying(prevalence=0.2, types=()), "'one-sayers', 'random' or both"),
        (lambda: designs.double_list(items=(0, 3)), "items"),
    ],
)
def test_what_lists_and_one_saying_refuse(call, message):
    with pytest.raises(DesignError, match=message):
        call()


def test_the_anchored_model_with_weights_is_the_weighted_formula():
    """Second route: ψ = (u - Dv - (1 - D)π) / (1 - ρ) by person, V = n/(n - 1) Σ w²ψ² / (Σ w)²."""
    rng, n = np.random.default_rng(23), 700
    weights = rng.gamma(2, 1, n)
    question, control = (rng.random((2, n)) < [[0.66], [0.8]]).astype(float)  # the same
    survey = designs.anchored_crosswise(prevalence=0.15, anchor=0.15)
    answers = tuple(np.where(said == 1, "same", "different").tolist() for said in (question, control))
    fit = estimate.moments(survey, survey.tally(answers, weights=weights))
    yes, away = (1 - question - 0.15) / 0.7, (1 - control - 0.15) / 0.35
    share = np.average(away, weights=weights)
    corrected = (np.average(yes, weights=weights) - share / 2) / (1 - share)
    scores = (yes - away / 2 - (1 - away) * corrected) / (1 - share)
    variance = n / (n - 1) * (weights**2 @ scores**2) / weights.sum() ** 2
    assert fit.proportions[0] == pytest.approx(corrected, abs=1e-12)
    assert fit.standard_errors[0] == pytest.approx(np.sqrt(variance), abs=1e-12)
