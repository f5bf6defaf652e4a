"""Misprints of the sources: the formula as printed, as corrected, and as simulated.

Formulas are as the texts of the papers carry them; where glyphs of a formula are lost, the note says so.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from naysay import designs, estimate, microdata, planning, simulate
from naysay.design import Answerable, Design, Levels
from naysay.simulate import Simulation
from reproductions.result import Cell, Check, Measured, Reproduction, Table
from reproductions.setting import Setting

__all__ = ["run"]

Floats = NDArray[np.float64]

SOURCE = (
    "Esponda, Huerta & Guerrero (2016), propositions 1 to 3; Esponda (2006), equations 11 and 12; "
    "Bao, Luo & Zhang (2013), equations 2 and 9; Mulder, the example of k and m."
)
SHARES, PEOPLE, DISCARDS = (0.4, 0.25, 0.2, 0.1, 0.05), 2_000, 2
NAMED = (23, 22, 20, 18, 17)
RIGHT = (8, 12, 20, 28, 32)
_STEPS = 300
_AGES, _GENDERS = (40, 36, None, 40, 23, 23), ("Male", "Female", "Male", None, "Male", "Male")
_PRINTED, _CORRECTED = (3, 1, 4, 2, 3, 3), (3, 1, 5, 3, 3, 3)
_WRONG = 0.05  # ours: what is printed lies further than this from the truth


def run(setting: Setting) -> Reproduction:
    """The reproduction."""
    labels = tuple(range(1, len(SHARES) + 1))
    pairs, choice = designs.negative(labels, discards=DISCARDS), designs.negative_levels(labels)
    people = simulate.shares(SHARES, labels)
    simulated = setting.surveys(pairs, people, place=0, n=PEOPLE, estimators=["moments", "maximum_likelihood"])
    equal = setting.surveys(choice, people, place=1, n=PEOPLE, estimators=["stratified_equal"])
    hiding = simulate.tied(choice, hiding=(1,))
    tied = setting.surveys(
        choice, people, place=2, n=PEOPLE, preferences=hiding, estimators=["stratified", "stratified_equal"]
    )
    parts = (
        _matrix(pairs),
        _likelihood(simulated),
        _covariance(simulated),
        _levels(choice, equal),
        _any_weights(tied),
        _bounds(setting),
        _iteration(),
        _matches(),
    )
    return Reproduction(
        name="errata",
        title="Misprints of the sources, shown by simulation",
        source=SOURCE,
        runs=setting.runs,
        seed=setting.seed,
        tables=tuple(table for table, _ in parts),
        checks=tuple(check for _, checks in parts for check in checks),
        notes=(
            f"1 to 3: five categories of {', '.join(f'{share:g}' for share in SHARES)}, {PEOPLE:,} people, "
            f"{DISCARDS} discards where it is fixed",
            "2: in the text of the paper glyphs of the covariance are lost; shown is what is left of it",
            "3: P_k[…]P_kᵀ as printed cannot be multiplied unless P_k is square; shown with P_k† and the printed 1/n",
            "5: glyphs are lost here, too; the denominator N - t_j is what is left of it",
        ),
    )


Part = tuple[Table, list[Check]]


def _matrix(pairs: Design) -> Part:
    """1: the shape of P, and where it is zero."""
    t, rows = len(SHARES), pairs.matrix.shape[0]
    each = 1 / math.comb(t - 1, DISCARDS)
    printed = (rows - 1) * each  # zero in one row of each column, where i = j
    table = Table(
        "matrix",
        "1. PLoS 2016: P is C(t, k) × t, and zero where j is among the discarded, not where i = j",
        ("", "printed", "corrected", "naysay"),
        (
            ("rows of P", t, math.comb(t, DISCARDS), rows),
            ("sum of a column", printed, 1.0, float(pairs.matrix.sum(axis=0).max())),
        ),
    )
    return table, [
        Check("1: rows of P", math.comb(t, DISCARDS), rows),
        Check("1: sum of a column", 1.0, float(pairs.matrix.sum(axis=0).max())),
        Check("1: sum of a column as printed", 1 + _WRONG, printed, relation="at least"),
    ]


def _likelihood(found: Simulation) -> Part:
    """1: P†λ̂ is unbiased, but not the maximum of the likelihood, which is more precise."""
    rows: list[tuple[Cell, ...]] = []
    checks: list[Check] = []
    for name in ("moments", "maximum_likelihood"):
        summary = found.summary(name)
        for place, share in enumerate(SHARES):
            bias = Measured(float(summary.bias.values[place]), float(summary.bias.errors[place]))
            spread = summary.standard_deviation
            told = Measured(float(spread.values[place]), float(spread.errors[place]))
            rows.append((f"{'P†λ̂' if name == 'moments' else 'maximum'}, π = {share:g}", bias, told))
    moments, likelihood = (found.summary(name) for name in ("moments", "maximum_likelihood"))
    worst = np.abs(moments.bias.values / moments.bias.errors).max()
    checks.append(Check("1: P†λ̂, largest bias in Monte Carlo errors", 4.0, float(worst), relation="at most"))
    planned = _gain(found.survey.design)
    spreads = likelihood.standard_deviation.values / moments.standard_deviation.values
    error = float((likelihood.standard_deviation.errors / moments.standard_deviation.values).mean())
    checks.append(Check("1: s.d. of the maximum over that of P†λ̂", planned, float(spreads.mean()), error))
    checks.append(Check("1: the same by formula", 0.99, planned, relation="at most"))
    apart = np.abs(found.runs["moments"].proportions - found.runs["maximum_likelihood"].proportions).max()
    checks.append(Check("1: P†λ̂ less the maximum, largest", 0.001, float(apart), relation="at least"))
    title = "1. PLoS 2016, propositions 1 and 3: “unbiased ML”, bias and standard deviation"
    return Table("likelihood", title, ("estimate", "bias", "s.d."), tuple(rows), digits=4), checks


def _gain(design: Answerable) -> float:
    """The standard error of the maximum over that of P†λ̂, averaged over the categories."""
    errors = [
        planning.variance(design, SHARES, estimator=name).standard_errors(PEOPLE)
        for name in ("maximum_likelihood", "moments")
    ]
    return float((errors[0] / errors[1]).mean())


def _covariance(found: Simulation) -> Part:
    """2: the covariance of two proportions with and without the joint inclusion."""
    t, k, pi = len(SHARES), DISCARDS, np.array(SHARES)
    scale, inclusion = ((t - 1) / k) ** 2, k * (1 - pi) / (t - 1)
    joint = k * (k - 1) / ((t - 1) * (t - 2)) * (1 - pi[:, None] - pi[None])
    printed = -scale * np.outer(inclusion, inclusion) / PEOPLE
    corrected = scale * (joint - np.outer(inclusion, inclusion)) / PEOPLE
    estimates = found.runs["moments"].proportions
    centred = estimates - estimates.mean(axis=0)
    rows: list[tuple[Cell, ...]] = []
    checks: list[Check] = []
    for i, j in ((0, 1), (0, 4), (3, 4)):
        products = PEOPLE * centred[:, i] * centred[:, j]
        simulated = Measured(
            float(products.sum() / (len(products) - 1)), float(products.std() / np.sqrt(len(products)))
        )
        numbers = (PEOPLE * float(printed[i, j]), PEOPLE * float(corrected[i, j]))
        rows.append((f"categories {i + 1} and {j + 1}", *numbers, simulated))
        checks.append(Check(f"2: n · covariance of {i + 1} and {j + 1}", numbers[1], *simulated))
    gap = float(np.abs(printed - corrected)[~np.eye(t, dtype=bool)].min()) * PEOPLE
    checks.append(Check("2: n · covariance, printed less corrected", _WRONG, gap, relation="at least"))
    title = "2. PLoS 2016, proposition 2: n times the covariance of two proportions"
    return Table("covariance", title, ("", "printed", "corrected", "simulated"), tuple(rows)), checks


def _levels(choice: Levels, found: Simulation) -> Part:
    """3: the variance of Σ z_k π̂_k has 1/n_k, not 1/n."""
    pi, t = np.array(SHARES), len(SHARES)
    levels, spread = len(choice.levels), found.summary("stratified_equal").standard_deviation
    k = np.arange(1, t)[:, None]
    each = pi * (1 - pi) * (1 + (t - k - 1) / (k * pi))  # one respondent at level k: (levels, t)
    printed = np.sqrt(each.sum(axis=0) / levels**2 / PEOPLE)
    corrected = np.sqrt(each.sum(axis=0) / levels**2 / (PEOPLE / levels))
    rows: list[tuple[Cell, ...]] = []
    checks: list[Check] = []
    for place, share in enumerate(SHARES):
        simulated = Measured(float(spread.values[place]), float(spread.errors[place]))
        rows.append((f"π = {share:g}", float(printed[place]), float(corrected[place]), simulated))
        slack = (
            float(corrected[place]) * levels / PEOPLE
        )  # n_k is random, so 1/n_k is on average a little above 1/E n_k
        checks.append(Check(f"3: s.d., π = {share:g}", float(corrected[place]), *simulated, rounding=slack))
    checks.append(Check("3: s.d., corrected over printed", math.sqrt(levels), float((corrected / printed).mean())))
    title = "3. PLoS 2016, proposition 3: standard deviation under equal weights"
    return Table("levels", title, ("", "printed, 1/n", "corrected, 1/n_k", "simulated"), tuple(rows), digits=4), checks


def _any_weights(found: Simulation) -> Part:
    """3: weights other than proportional are biased where the choice of a level goes with the category."""
    rows: list[tuple[Cell, ...]] = []
    checks: list[Check] = []
    for name, told in (("stratified", "proportional"), ("stratified_equal", "equal")):
        bias = found.summary(name).bias
        shown = [Measured(float(value), float(error)) for value, error in zip(bias.values, bias.errors, strict=True)]
        rows.append((f"{told} weights", 0.0, *shown))
        if name == "stratified":
            checks.append(Check("3: bias of category 1, proportional weights", 0.0, *shown[0]))
        else:
            levels = len(found.survey.design.levels)
            expected = SHARES[0] / (SHARES[0] + (1 - SHARES[0]) / levels) / levels - SHARES[0]
            checks.append(Check("3: bias of category 1, equal weights, by formula", expected, *shown[0]))
            checks.append(
                Check("3: bias of category 1, equal weights, printed 0", -_WRONG, *shown[0], relation="at most")
            )
    title = "3. PLoS 2016, proposition 3: bias where members of category 1 always rule out one"
    columns = ("", "printed", *(f"category {place}" for place in range(1, len(SHARES) + 1)))
    return Table("any_weights", title, columns, tuple(rows), digits=4), checks


def _bounds(setting: Setting) -> Part:
    """4: how likely a category can be named at most, printed, corrected, and by people who always prefer it."""
    rows: list[tuple[Cell, ...]] = []
    checks: list[Check] = []
    for t in range(3, 7):
        printed, corrected = 2 * (t - 2) / (t * (t - 1)), 2 / t
        preferring = [[0.0 if i == k else 1.0 if i < k else 0.0 for k in range(t)] for i in range(t)]
        survey = designs.two_option(tuple(range(t)), preferences=preferring)
        answers = setting.runs * 100
        said = np.asarray(survey.randomize(np.full(answers, t - 1), rng=setting.rng(30 + t)))
        share = float((said == 0).mean())
        found = Measured(share, math.sqrt(share * (1 - share) / answers))
        column = (t - 1) * 2 / (t * (t - 1)) * (1 + (t - 1) / 2)  # the sum of equation 11 over k ≠ j, θ = 1/2
        rows.append((f"t = {t}", printed, 1 / (t - 1), corrected, found, column))
        checks.append(Check(f"4: largest entry, t = {t}", corrected, *found))
        checks.append(Check(f"4: beyond the printed bound by, t = {t}", _WRONG, share - printed, relation="at least"))
    columns = ("", "printed bound", "entry at θ = ½", "corrected bound", "simulated", "column of eq. 11 as printed")
    title = "4. Esponda 2006, equations 11 and 12: the largest chance of a category, always preferred"
    return Table("bounds", title, columns, tuple(rows)), checks


def _iteration() -> Part:
    """5: NStoPS-I with the printed denominator, and without bringing the sum back to N."""
    named, total = np.array(NAMED, dtype=float), float(sum(NAMED))
    printed = corrected = drifting = np.full(len(named), total / len(named))
    for _ in range(_STEPS):
        if printed.max() < total * (1 - 1e-9):  # then one category holds everybody, and the next step divides by zero
            printed = _step(named, printed, total - printed[None, :])
            printed = printed * (total / printed.sum())
        corrected = _step(named, corrected, total - corrected[:, None])
        corrected = corrected * (total / corrected.sum())
        drifting = _step(named, drifting, total - drifting[:, None])
    five = designs.negative(tuple(range(1, 6)))
    second = estimate.nstops_ii(five, five.tally(count=[2, 8, 16, 29, 45])).counts
    rows: tuple[tuple[Cell, ...], ...] = (
        ("printed: N - t_j", *printed.tolist(), float(printed.sum())),
        ("corrected: N - t_i", *corrected.tolist(), float(corrected.sum())),
        ("corrected, not renormalized", *[None] * len(named), float(drifting.sum())),
        ("the answer", *map(float, RIGHT), total),
        ("NStoPS-II of (2, 8, 16, 29, 45)", *second.tolist(), float(second.sum())),
    )
    off = abs(float(drifting.sum()) - total)
    checks = [
        *(
            Check(f"5: t{place + 1}, corrected", float(right), float(corrected[place]), rounding=0.01)
            for place, right in enumerate(RIGHT)
        ),
        Check("5: printed denominator misses by", 1.0, float(np.abs(printed - RIGHT).max()), relation="at least"),
        Check(f"5: sum after {_STEPS} steps, not renormalized, off by", 1.0, off, relation="at least"),
        Check("5: equation 2 asks for more than 0; least count", 0.0, float(second.min())),
    ]
    title = f"5. Bao 2013, equation 9: (23, 22, 20, 18, 17) after {_STEPS} steps"
    return Table("iteration", title, ("", *(f"t{place}" for place in range(1, 6)), "sum"), rows, digits=2), checks


def _matches() -> Part:
    """6: Mulder's example of k and m, her share of 1,979 respondents, and respondent A's month of birth."""
    keys = microdata.Keys({"age": _AGES, "gender": _GENDERS}, ["age", "gender"])
    k, m = microdata.anonymity(keys).filled(0), microdata.matches(keys)
    rows: list[tuple[Cell, ...]] = []
    checks = []
    for place, (age, gender) in enumerate(zip(_AGES, _GENDERS, strict=True)):
        name = f"({'·' if age is None else age}, {'·' if gender is None else gender[0]})"
        rows.append((name, float(k[place]) if k[place] else None, float(_PRINTED[place]), float(m[place])))
        checks.append(Check(f"6: m of {name}, row {place + 1}", float(_CORRECTED[place]), float(m[place])))
    seen = {"respondent": ["A"] * 4, "wave": ["2009-02", "2009-03", "2010-02", "2010-03"], "age": [30, 31, 31, 32]}
    (months,) = microdata.panel.month_of_birth(seen).table["month_of_birth"].to_list()
    rows.append(("percent with one month of birth, 1,979 of 10,997", None, 19.5, 100 * 1_979 / 10_997))
    checks += [
        Check("6: percent with one month of birth", 18.0, 100 * 1_979 / 10_997, rounding=0.05),
        Check("6: A's first candidate month, printed April", 2.0, float(months[0])),
        Check("6: A's last candidate month", 3.0, float(months[-1])),
    ]
    title = "6. Mulder, number of matches by the algorithm as it is printed"
    return Table("matches", title, ("", "k", "printed", "by the rule"), tuple(rows), digits=1), checks


def _step(named: Floats, counts: Floats, denominator: Floats) -> Floats:
    """One step of t_j ← Σ_{i≠j} r_i t_j / d_ij.

    Where d takes N as given, what rounding adds to the sum grows by about c/(c-1) a step.
    """
    share = counts[None, :] / denominator * np.ones((len(named), 1))
    np.fill_diagonal(share, 0.0)
    return np.asarray(named @ share)
