"""How many respondents a control needs to show that some do not comply."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from naysay import designs, planning
from naysay.errors import DataError

CASES, REFERENCE = (
    json.loads((Path(__file__).parents[1] / "reference" / name).read_text(encoding="utf-8"))
    for name in ("compliance_literature.json", "controls.json")
)
NEEDED = CASES["respondents"]
LETTERS = tuple("abcdefghijkl")
EXACT = {
    "negative(5 categories)": designs.controlled(designs.negative(LETTERS[:5]), truth="lot"),
    "negative(5 categories, discards=2)": designs.controlled(designs.negative(LETTERS[:5], discards=2), truth="lot"),
    "negative(4 categories)": designs.controlled(designs.negative(LETTERS[:4]), truth="lot"),
    "negative(4 categories, discards=2)": designs.controlled(designs.negative(LETTERS[:4], discards=2), truth="a"),
    "negative(12 categories, discards=3)": designs.controlled(designs.negative(LETTERS, discards=3), truth="a"),
}
FORCED = designs.forced_response(forced_yes="1/6", forced_no="1/12")
MASKED = {
    "crosswise .25": designs.controlled(designs.crosswise(prevalence=0.25), truth="no"),
    "crosswise .15": designs.controlled(designs.crosswise(prevalence=0.15), truth="no"),
    "forced": designs.controlled(FORCED, truth="no"),
    "k_ary": designs.controlled(designs.k_ary(LETTERS[:5], epsilon=1.5), truth="a"),
}
NEEDED |= {"warner .1": REFERENCE["power_n"]["crosswise/warner p=.1"]}
NEEDED |= {"triangular": REFERENCE["power_n"]["triangular .25, truth no"]}
MASKED |= {"warner .1": designs.controlled(designs.warner(p=0.1), truth="no")}
MASKED |= {"triangular": designs.controlled(designs.triangular(prevalence=0.25), truth="no")}
NEEDED |= {"negative(12 categories)": REFERENCE["power_n"]["negative 12,1"], "both truths known": [64, 32, 13]}
EXACT |= {
    "negative(12 categories)": designs.controlled(designs.negative(LETTERS), truth="a"),
    "both truths known": designs.controlled(
        designs.crosswise(prevalence=0.25), truth="no", control=designs.crosswise(prevalence=0)
    ),
}


def reaches(survey, share, n, **slips):
    """Whether n respondents have a power of .8 and one fewer have not; where counts are whole, many n may."""
    fewer, power = (planning.detection_power(survey, share, n=people, **slips) for people in (n - 1, n))
    return fewer < 0.8 <= power


@pytest.mark.parametrize("name", EXACT)
def test_a_control_that_nobody_who_complies_fails_needs_few(name):
    assert [planning.detection_size(EXACT[name], share) for share in NEEDED["shares"]] == NEEDED[name]


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_control_needs_many(name):
    # counts are whole, so power falls again beyond the first number that reaches it; naysay's stays reached
    for share, needed in zip(NEEDED["shares"], NEEDED[name], strict=True):
        assert needed <= planning.detection_size(MASKED[name], share) <= 1.08 * needed
        assert reaches(MASKED[name], share, needed)


def test_slips_cost_respondents():
    survey = EXACT["negative(5 categories, discards=2)"]
    assert planning.detection_size(survey, 0.1, slips=0.01) == NEEDED["slips .01"][1]
    assert all(reaches(survey, 0.1, n, slips=slips) for n, slips in ((112, 0.01), (155, 0.02)))


def test_a_test_of_everybody_complying_keeps_its_size():
    assert planning.detection_power(MASKED["crosswise .25"], 0, n=500) <= 0.05
    assert planning.detection_power(EXACT["negative(5 categories)"], 0, n=500) == 0


@pytest.mark.parametrize("controls", [2, 3])
def test_the_planned_power_of_several_controls_is_that_of_the_test_that_is_printed(controls):
    """Each of 400 people answers all controls; the test counts the telling answers of all, here exactly."""
    survey, n = designs.controlled(designs.crosswise(prevalence=0.25), truth=("no",) * controls), 400
    person = 0.9 * stats.binom.pmf(range(controls + 1), controls, 0.25)
    person += 0.1 * stats.binom.pmf(range(controls + 1), controls, 0.5)
    counts = np.fft.irfft(np.fft.rfft(person, 2 * controls * n) ** n, 2 * controls * n)
    least = int(stats.binom.isf(0.05, controls * n, 0.25)) + 1
    assert planning.detection_power(survey, 0.1, n=n) == pytest.approx(counts[least:].sum(), abs=0.01)
    assert planning.detection_power(survey, 0, n=n) <= 0.055


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(DataError, match="has no control"):
        planning.detection_size(designs.crosswise(prevalence=0.25), 0.1)
    with pytest.raises(DataError, match="name a larger one"):
        planning.detection_size(EXACT["negative(5 categories)"], 0)


PER_ANSWER = {  # METHODS_CONTROLS section 7: respondents for ± .05 at π = .1; the question alone, then ρ = 0, .1, .25
    "crosswise": (designs.crosswise(prevalence=0.25), None, "no", [1_291, 2_029, 2_565, 3_825]),
    "both truths known": (
        designs.crosswise(prevalence=0.25),
        designs.crosswise(prevalence=0),
        "no",
        [1_291, 1_291, 1_655, 2_514],
    ),
    "forced": (FORCED, None, "no", [501, 729, 945, 1_458]),
    "negative": (designs.negative(LETTERS[:5]), None, "lot", [4_288, 4_288, 5_257, 7_492]),
    "negative, two": (designs.negative(LETTERS[:5], discards=2), None, "lot", [1_522, 1_522, 1_876, 2_695]),
}


@pytest.mark.parametrize("name", PER_ANSWER)
def test_what_a_control_costs(name):
    """A control that nobody who complies fails costs nothing if all comply; a masked one up to 57 %."""
    question, control, truth, published = PER_ANSWER[name]
    t = len(question.categories)
    shares = np.array([0.1, *[0.9 / (t - 1)] * (t - 1)])
    alone = planning.variance(question, shares, estimator="moments").each[0]
    survey = designs.controlled(question, truth=truth, control=control)
    needed = [alone]
    for away in (0, 0.1, 0.25):
        each = planning.variance(survey, np.append((1 - away) * shares, away), estimator="moments").each[0]
        assert each / alone == pytest.approx(planning.control_costs(survey, shares, away)[0], rel=1e-9)
        needed.append(each)
    assert [math.ceil(1.959964**2 * each / 0.05**2) for each in needed] == published
    likely = planning.variance(survey, np.append(shares, 0), estimator="maximum_likelihood").each[0]
    assert likely <= needed[1] * (1 + 1e-9)
    if "crosswise" not in name and name != "forced":
        assert likely == pytest.approx(alone)


def test_more_controls_of_the_same_people_cost_less():
    survey = designs.controlled(designs.crosswise(prevalence=0.25), truth="no")
    alone = planning.variance(designs.crosswise(prevalence=0.25), (0.15, 0.85), estimator="moments").each[0]
    three = [alone * planning.control_costs(survey, (0.15, 0.85), share, controls=3)[0] for share in (0.1, 0.25)]
    assert three == pytest.approx([1.26, 1.85], abs=0.006)
    two = designs.controlled(designs.crosswise(prevalence=0.25), truth=["no", "no"])
    each = planning.variance(two, (0.9 * 0.15, 0.9 * 0.85, 0.1), estimator="moments").each[0]
    assert each / alone == pytest.approx(planning.control_costs(survey, (0.15, 0.85), 0.1, controls=2)[0], rel=1e-9)


@pytest.mark.parametrize("name", ["crosswise .25", "negative 5,1"])
def test_how_many_controls_pay_is_as_published(name):
    """One in ten does not comply; a control costs .1, .3 or 1 of what the question costs."""
    published = REFERENCE["arms"][f"length {name} 0.1"]
    question, shares = (
        (designs.crosswise(prevalence=0.25), np.array([0.15, 0.85]))
        if name == "crosswise .25"
        else (designs.negative(LETTERS[:5]), np.array([0.4, 0.3, 0.15, 0.1, 0.05]))
    )
    survey = designs.controlled(question, truth="no" if len(shares) == 2 else "a")
    alone = planning.variance(question, shares, estimator="moments").each[0]
    costs = {
        controls: alone * planning.control_costs(survey, shares, 0.1, controls=controls)[0]
        for controls in (*range(1, 6), 1_000)
    }
    assert alone == pytest.approx(published["comply"])
    assert [costs[controls] for controls in (1, 2, 3, 5)] == pytest.approx(published["V"], rel=1e-6)
    look, mixed = 1 / len(shares), 0.9 * shares + 0.1 / len(shares)
    of_question = planning.variance(question, mixed, estimator="moments").each[0]
    certain = (of_question - 0.09 * (shares[0] - look) ** 2) / 0.9**2  # the controls tell of each person
    assert certain == pytest.approx(published["inf"], rel=1e-6)
    assert costs[1_000] == pytest.approx(certain, rel=1e-3)
    assert costs[1_000] < of_question / 0.9**2  # known ρ is no floor: the answers of the same people go together
    for price, best in published["best"].items():
        assert min(range(1, 6), key=lambda controls: costs[controls] * (1 + float(price) * controls)) == best


def share_variance(survey, share):
    """n Var ρ̂ of one two-valued control: λ(1 - λ) / (l₁ - l₀)², with λ and l as planning takes them."""
    nobody, some, everybody = (
        planning.controls._telling_chances(survey, each, 0.0).mixed for each in (0.0, share, 1.0)
    )
    return some * (1 - some) / (everybody - nobody) ** 2


@pytest.mark.parametrize(
    "row", REFERENCE["negative_control_ratios"], ids=lambda row: f"{row['t']},{row['k']} {row['rho']}"
)
def test_a_negative_control_against_others_of_equal_bits_is_as_published(row):
    t, k, share = row["t"], row["k"], row["rho"]
    bits = math.log2(t / (t - k))

    def told(chances):
        """Bits of an answer about a uniform category."""
        of_answer = chances.mean(axis=1)
        return float(-(of_answer @ np.log2(of_answer))) + float((chances * np.log2(chances)).sum() / chances.shape[1])

    def k_ary(chance):
        return np.full((t, t), (1 - chance) / (t - 1)) + np.eye(t) * (chance - (1 - chance) / (t - 1))

    chance = optimize.brentq(lambda chance: told(k_ary(chance)) - bits, 1 / t + 1e-9, 1 - 1e-12)
    prevalence = (
        optimize.brentq(lambda p: told(np.array([[1 - p, p], [p, 1 - p]])) - bits, 1e-12, 0.5 - 1e-9) if bits < 1 else 0
    )
    assert (bits, prevalence, chance) == pytest.approx((row["bits"], row["p_cross"], row["p_kary"]), rel=1e-6)
    matrices = (k_ary(chance), k_ary(1 / (t - k)) if k < t - 1 else None)
    negative = designs.controlled(designs.negative(LETTERS[:t], discards=k), truth="a")
    crosswise = designs.controlled(
        designs.crosswise(prevalence=0.25), truth="no", control=designs.crosswise(prevalence=prevalence)
    )
    by_chance, as_exposed = (
        designs.controlled(designs.custom(matrix, categories=LETTERS[:t]), truth="a") for matrix in matrices
    )
    surveys = {"neg": negative, "cross": crosswise, "kary": by_chance, "kary_vuln": as_exposed}
    variances = {name: share_variance(survey, share) for name, survey in surveys.items()}
    assert variances == pytest.approx({name: row[f"V_{name}"] for name in surveys}, rel=1e-6)
    assert variances["neg"] == pytest.approx(share * (t / k - share))
    both_known = share_variance(EXACT["both truths known"], share)
    others = {
        "cross": variances["cross"],
        "kary": variances["kary"],
        "vuln": variances["kary_vuln"],
        "trip": both_known,
    }
    for name, of_other in others.items():
        assert of_other / variances["neg"] == pytest.approx(row[f"ratio_{name}"], rel=1e-6)
    sizes = {"neg": negative, "kary": by_chance, "trip": EXACT["both truths known"]}
    if row["n_cross"] is not None:
        sizes["cross"] = crosswise
    for name, survey in sizes.items():
        assert reaches(survey, share, row[f"n_{name}"])


def test_the_variance_of_the_share_and_the_times_fewer_are_as_published():
    """METHODS_CONTROLS 2.6, at ρ = .1; "for k = 1" there means up to five categories."""
    published = {
        "negative(5 categories)": 0.49,
        "negative(5 categories, discards=2)": 0.24,
        "negative(4 categories)": 0.39,
        "negative(4 categories, discards=2)": 0.19,
        "negative(12 categories, discards=3)": 0.39,
        "both truths known": 0.19,
        "crosswise .25": 3.19,
        "crosswise .15": 1.23,
        "forced": 1.44,
        "k_ary": 2.32,
    }
    surveys = EXACT | MASKED
    assert {name: share_variance(surveys[name], 0.1) for name in published} == pytest.approx(published, abs=0.005001)
    usual = NEEDED["crosswise .25"][1]
    fewer = [usual / NEEDED[f"negative(5 categories{more})"][1] for more in ("", ", discards=2")]
    assert fewer == pytest.approx([25, 49], abs=0.5)


@pytest.mark.parametrize(("n", "size"), [(200, 0.0454), (1_000, 0.0441), (2_000, 0.0474), (3_000, 0.0485)])
def test_the_size_of_the_exact_test_is_as_published(n, size):
    assert planning.detection_power(MASKED["crosswise .25"], 0, n=n) == pytest.approx(size, abs=5e-5)


def test_arms_that_differ_in_precision_are_of_different_size():
    arms = {"masked": designs.crosswise(prevalence=0.25), "direct": designs.direct(("yes", "no"))}
    shares = planning.arm_shares(arms, {"masked": (0.16, 0.84), "direct": (0.08, 0.92)})
    published = REFERENCE["arms"]["split"]
    assert shares["masked"] == pytest.approx(published["share"], abs=1e-6)
    variances = [
        planning.variance(arms[name], pi, estimator="moments").each[0]
        for name, pi in (("masked", (0.16, 0.84)), ("direct", (0.08, 0.92)))
    ]
    best, equal = (
        sum(v / part for v, part in zip(variances, split, strict=True)) for split in (shares.values(), (0.5, 0.5))
    )
    assert variances == pytest.approx([published["sI"] ** 2, published["sD"] ** 2], rel=1e-6)
    assert (best, equal) == pytest.approx((published["V"], published["V_half"]), rel=1e-6)
    # sizes by a lot that gives two of three to the masked arm: E 1 / n of 300 people, and of 100 by halves
    sizes, (of_masked, of_direct) = np.arange(1, 300), variances
    law = stats.binom.pmf(sizes, 300, 2 / 3)
    error = np.sqrt(law @ (of_masked / sizes + of_direct / (300 - sizes)))
    assert error == pytest.approx(REFERENCE["arms"]["difference 300"][2], abs=1e-8)
    sizes = np.arange(1, 101)
    law = stats.binom.pmf(sizes, 100, 0.5)
    assert law @ (1 / sizes) / law.sum() == pytest.approx(0.020206, abs=5e-7)
    dear = planning.arm_shares(arms, (0.1, 0.9), costs={"masked": 4, "direct": 1})
    alike = planning.arm_shares(arms, (0.1, 0.9))
    assert dear["masked"] / dear["direct"] == pytest.approx(alike["masked"] / alike["direct"] / 2)
