"""Sizes of every test that a print shows, in right surveys drawn at random.

    python benchmarks/sizes.py [--cells 6] [--runs 60] [--only WORD …] [--out benchmarks/sizes.md]

A cell is a survey: a design, a population, a size, and how people were drawn, from the date of the commit as the seed.
In each run the null hypothesis is true. The size is how often the test rejects at .05. Where only an interval is
printed, it rejects if the interval excludes the null value. A cell whose size is above .05 by more than two standard
errors is measured again with four times as many new surveys, and the second size is the one that counts: of many right
cells the worst would look wrong by chance.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks._cells import _FAMILIES, Cell, _preferences, _shares, commit_date, survey
from naysay import designs, estimate
from naysay.crosstab import Variable, crosstab
from naysay.design import Answerable, Levels, Samples
from naysay.errors import NaysayError
from naysay.estimate.likelihood import client_test
from naysay.regression import regress
from naysay.sampling import Sampling

LEVEL = 0.05
AGAIN = 4
DOUBTS = ("too often", "too short", "doubtful", "rough", "contradict", "boundary", "several maxima", "say nothing")
"""Words of a print that tell a reader not to rely on its test."""

PLANS = ("unweighted", "weighted", "clusters", "replicate weights")
Floats = np.ndarray


class Outcome(NamedTuple):
    """The p-values of one survey by test, and the sentences that were printed beside them."""

    p_values: dict[str, float]
    sentences: str = ""


class Null(NamedTuple):
    """A survey in which the null hypothesis is true, to be repeated."""

    plan: str
    n: int
    label: str
    run: Callable[[np.random.Generator], Outcome]


class Size(NamedTuple):
    """How often a test rejected in so many runs of a cell, and in which share of the runs the print doubted it."""

    test: str
    null: Null
    rejected: float
    runs: int
    doubted: float

    @property
    def holds(self) -> bool:
        """Whether the size is at most .05, within two standard errors of the simulation."""
        return self.rejected <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / self.runs)


def excludes(low: float, high: float, value: float) -> float:
    """0 where an interval excludes a value, as the p-value of a test that rejects; else 1; NaN without an interval."""
    return np.nan if np.isnan(low) or np.isnan(high) else float(low <= value <= high)


# levels, groups, fit: as estimate prints them


def random_cell(rng: np.random.Generator, families: Iterable[str]) -> Cell:
    """A cell in which all categories choose levels alike."""
    family = str(rng.choice([*families]))
    design = _FAMILIES[family](rng)
    n = round(float(np.exp(rng.uniform(np.log(30), np.log(2_000)))))
    t = len(design.cells) if isinstance(design, Samples) else len(design.categories)
    preferences, estimator = None, str(rng.choice(["moments", "maximum_likelihood"]))
    if isinstance(design, Levels):
        estimator = str(rng.choice(["stratified", "stratified", "pooled"]))
        preferences = np.tile(_preferences(rng, len(design.levels)), (t, 1))
    weights = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    informative = bool(weights and rng.random() < 0.5)
    return Cell(family, design, estimator, "population", n, _shares(rng, t), preferences, weights, informative)


def _of_cell(cell: Cell, run: Callable[[np.random.Generator], Outcome], more: str = "") -> Null:
    return Null("weighted" if cell.weights else "unweighted", cell.n, f"{cell.estimator}, {cell.label}{more}", run)


def independence_of_level(rng: np.random.Generator) -> Null:
    cell = random_cell(rng, ("negative levels", "levels"))

    def run(rng: np.random.Generator) -> Outcome:
        test = estimate.independence_test(cell.design, survey(cell, rng)[0])
        return Outcome({"level and category": test.p_value}, str(test))

    return _of_cell(cell, run)


def fit_of_design(rng: np.random.Generator) -> Null:
    """The line about the fit, in half of the cells of several samples, whose nuisance shares it knows."""
    cell = random_cell(rng, ["several samples"] if rng.random() < 0.5 else _FAMILIES)
    name = "fit, several samples" if isinstance(cell.design, Samples) else "fit, one design"

    def run(rng: np.random.Generator) -> Outcome:
        test = estimate.goodness_of_fit(cell.design, survey(cell, rng)[0])
        if test is None:
            return Outcome({name: np.nan})
        return Outcome({f"{name}: X²": test.p_value, f"{name}: G², in JSON": test.deviance_p_value}, str(test))

    return _of_cell(cell, run)


def equality(rng: np.random.Generator) -> Null:
    """Groups that were tallied one by one, in a third of the cells of several samples; and one printed difference."""
    cell = random_cell(rng, ["several samples"] if rng.random() < 1 / 3 else _FAMILIES)
    groups, fitted = int(rng.integers(2, 11)), getattr(estimate, cell.estimator)
    small = dataclasses.replace(cell, n=max(cell.n // groups, 5))
    name = "groups of several samples" if isinstance(cell.design, Samples) else "groups"
    place = int(rng.integers(len(cell.design.categories)))

    def run(rng: np.random.Generator) -> Outcome:
        found = estimate.differences({g: fitted(cell.design, survey(small, rng)[0]) for g in range(groups)})
        low, high = found.interval()[0, place] if found.reliable[0, place] else (np.nan, np.nan)
        return Outcome({name: found.p_value, f"{name}: a difference's interval": excludes(low, high, 0)}, str(found))

    return _of_cell(cell, run, f"; {groups} groups")


# people who are drawn one by one, weighted, in clusters, or with replicate weights


class People(NamedTuple):
    """People of one sample: their cluster, a column that has nothing to do with the truth, and how they were drawn."""

    columns: dict[str, Any]
    truth: Floats
    sampling: Sampling | None


class Drawing(NamedTuple):
    """How people are drawn: their plan, their number, clusters, and how alike people of a cluster are.

    `between` says that everybody in a cluster is in the same group, as in a region.
    """

    plan: str
    n: int
    clusters: int
    alike: float
    between: bool

    @classmethod
    def random(cls, rng: np.random.Generator) -> Drawing:
        plan, n = str(rng.choice(PLANS)), round(float(np.exp(rng.uniform(np.log(60), np.log(2_000)))))
        clusters = int(rng.integers(12, 61))
        return cls(plan, max(n, 3 * clusters), clusters, float(rng.choice([0.0, 0.05, 0.2])), bool(rng.random() < 0.5))

    @property
    def label(self) -> str:
        if self.plan == "unweighted":
            return ""
        drawn = f"; {self.clusters} clusters, correlation {self.alike:g}" if self.plan != "weighted" else ""
        return drawn + (", a group is whole clusters" if drawn and self.between else "")

    def people(self, shares: Floats, groups: Floats, rng: np.random.Generator) -> People:
        """People whose cells have these shares in every group, (cells,), and groups of these shares."""
        clustered = self.plan in PLANS[2:]
        cluster = rng.integers(self.clusters, size=self.n) if clustered else np.arange(self.n)
        own = np.tile(shares, (self.clusters if clustered else 1, 1))
        if clustered and self.alike:
            own = rng.dirichlet(shares * (1 / self.alike - 1) + 1e-12, size=self.clusters)
        chances = own[cluster] if clustered else own
        truth = np.minimum((rng.random(self.n)[:, None] > chances.cumsum(axis=1)).sum(axis=1), len(shares) - 1)
        unit = np.arange(self.clusters)[cluster] if clustered and self.between else np.arange(self.n)
        group = rng.choice(len(groups), size=unit.max() + 1, p=groups)[unit]
        weights = np.ones(self.n) if self.plan == "unweighted" else rng.lognormal(0, 0.5, self.n)
        columns = {"group": np.array([f"g{g}" for g in group]), "weight": weights, "cluster": cluster}
        sampling = None
        if clustered:
            made = {"kind": "bootstrap", "number": 80} if self.plan == "replicate weights" else {}
            sampling = Sampling(weights="weight", clusters="cluster", **made)
        return People(columns, truth, sampling)

    def options(self, people: People) -> dict[str, Any]:
        """What tells the sample to crosstab and regress, whose columns have names."""
        if people.sampling is not None:
            return {"sampling": people.sampling}
        return {"weights": "weight"} if self.plan == "weighted" else {}


def _said(design: Answerable, truth: Floats, rng: np.random.Generator) -> tuple[list[str | None], Any]:
    """What people say, as texts, and the sample that each is in; truth are places of cells."""
    labels = np.array(design.cells if isinstance(design, Samples) else design.categories)[truth]
    if not isinstance(design, Samples):
        return design.randomize(labels, rng=rng).texts(), None
    sample = np.array(design.levels)[rng.permutation(len(truth)) % len(design.levels)]
    answers = design.randomize(labels, sample=sample, rng=rng)
    return answers.texts(), sample


_PLAIN = ("negative", "k-ary", "any matrix", "forced", "yes or no")
"""Families of one design, in which answers are short texts."""


def groups_of_one_sample(rng: np.random.Generator) -> Null:
    """Groups that share the units of a complex sample."""
    drawing = Drawing.random(rng)._replace(plan=str(rng.choice(PLANS[2:])))
    design = _FAMILIES[str(rng.choice([*_PLAIN, "negative"]))](rng)
    shares, groups = _shares(rng, len(design.categories)), rng.dirichlet(np.full(int(rng.integers(2, 6)), 5.0))
    fitted = getattr(estimate, str(rng.choice(["moments", "maximum_likelihood"])))

    def run(rng: np.random.Generator) -> Outcome:
        people = drawing.people(shares, groups, rng)
        table = people.columns | {"said": _said(design, people.truth, rng)[0]}
        tallies = design.tally(table, "said", by="group", sampling=people.sampling)
        found = estimate.differences({g: fitted(design, tally) for g, tally in tallies.items()})
        low, high = found.interval()[0, 0] if found.reliable[0, 0] else (np.nan, np.nan)
        name = "groups of one complex sample"
        return Outcome({name: found.p_value, f"{name}: a difference's interval": excludes(low, high, 0)}, str(found))

    label = f"{fitted.__name__}, {design.name or design.kind}; {len(groups)} groups{drawing.label}"
    return Null(drawing.plan, drawing.n, label, run)


# crosstabs


def _crosstab(rng: np.random.Generator, *, bootstrap: bool) -> Null:
    drawing = Drawing.random(rng)
    if bootstrap:
        drawing = drawing._replace(plan="unweighted", n=min(drawing.n, 400))
    row = _FAMILIES["yes or no" if bootstrap else str(rng.choice(_PLAIN))](rng)
    while len(row.categories) > 5:
        row = _FAMILIES["negative"](rng)
    shares = _shares(rng, len(row.categories))
    groups = rng.dirichlet(np.full(2 if bootstrap else int(rng.integers(2, 5)), 2.0))
    both = bool(rng.random() < 0.3)
    column = designs.k_ary(tuple(f"g{g}" for g in range(len(groups))), epsilon=2.0) if both else None

    def run(rng: np.random.Generator) -> Outcome:
        people = drawing.people(shares, groups, rng)
        table = people.columns | {"said": _said(row, people.truth, rng)[0]}
        other = Variable("group", "plain")
        if column is not None:
            table["group"] = column.randomize(table["group"], rng=rng).texts()
            other = Variable("group", column)
        found = crosstab(table, row=Variable("said", row), column=other, **drawing.options(people))
        test = found.independence(replicates=99 if bootstrap else 0, rng=rng)
        law = "bootstrap" if bootstrap else "χ²" if not found.fit.tally.weighted else "F"
        values = {f"crosstab: G² by {law}": test.p_value}
        if not bootstrap:
            values[f"crosstab: X² by {law}"] = test.pearson_p_value
            if found.shape == (2, 2):
                ratio = found.associations()[0]
                values["crosstab: odds ratio's interval"] = excludes(*ratio.interval, 1.0)
        return Outcome(values, " ".join(dataclasses.replace(found, test=test).to_dict()["warnings"]))

    how = "plain" if column is None else column.name
    label = f"{row.name or row.kind} × {how}, {len(row.categories)} × {len(groups)}{drawing.label}"
    return Null(drawing.plan, drawing.n, label, run)


def crosstabs(rng: np.random.Generator) -> Null:
    return _crosstab(rng, bootstrap=False)


def crosstabs_redrawn(rng: np.random.Generator) -> Null:
    return _crosstab(rng, bootstrap=True)


# regressions


def regressions(rng: np.random.Generator) -> Null:
    """A number that matters not, and a group of several that do not: z, Wald, and both likelihood ratios."""
    drawing = Drawing.random(rng)
    offered = [*_PLAIN, "cheating", "CDM", "lie detector", "unrelated"]
    family = str(rng.choice(offered))
    if family in _PLAIN:
        design = _FAMILIES[family](rng)
        while len(design.categories) > 4:
            design = _FAMILIES["negative"](rng)
        cells = len(design.categories)
    else:
        p = (0.85, 0.25)
        made = {"lie detector": designs.stochastic_lie_detector, "unrelated": designs.unrelated_question_unknown}
        design = made.get(family, designs.cheating_detection)(p=p)
        cells = len(design.cells)
        drawing = drawing._replace(n=max(drawing.n, 300))
    shares = rng.dirichlet(np.full(cells, 3.0))
    groups = rng.dirichlet(np.full(3, 5.0))

    def run(rng: np.random.Generator) -> Outcome:
        people = drawing.people(shares, groups, rng)
        answers, sample = _said(design, people.truth, rng)
        table = people.columns | {"said": answers, "x": rng.normal(size=drawing.n)}
        options = drawing.options(people) | ({"cheaters": "CDM"} if family == "CDM" else {})
        if sample is not None:
            table["sample"], options["sample"] = sample, "sample"
        fit = regress(design, "said ~ x + group", table, **options)
        place = next(i for i, (_, name) in enumerate(fit.names) if name == "x")
        kind = "several samples" if isinstance(design, Samples) else "one design"
        values = {
            f"regression, {kind}: z or t": float(fit.p_values[place]),
            f"regression, {kind}: Wald": fit.wald("group").p_value,
        }
        if fit.against_constant is not None:
            values[f"regression, {kind}: LR against the constant"] = fit.against_constant.p_value
            smaller = regress(design, "said ~ x", table, **options)
            values[f"regression, {kind}: likelihood_ratio"] = fit.likelihood_ratio(smaller).p_value
        return Outcome(values, " ".join(fit.reservations))

    told = " ".join(f"{share:.2f}".lstrip("0") for share in shares)
    name = "cheating detection, CDM" if family == "CDM" else design.name or design.kind
    return Null(drawing.plan, drawing.n, f"{name}; shares {told}{drawing.label}", run)


# two waves, and the clients


def changes(rng: np.random.Generator) -> Null:
    """Two waves in which some people move, as many from each category as to it."""
    drawing = Drawing.random(rng)
    design = _FAMILIES[str(rng.choice(_PLAIN))](rng)
    shares, moved = _shares(rng, len(design.categories)), float(rng.uniform(0, 0.5))
    place, lost = int(rng.integers(len(shares))), float(rng.choice([0.0, 0.3]))

    def run(rng: np.random.Generator) -> Outcome:
        people = drawing.people(shares, np.ones(1), rng)
        later = np.where(rng.random(drawing.n) < moved, rng.permutation(people.truth), people.truth)
        waves = []
        for truth in (people.truth, later):
            answers = np.array(_said(design, truth, rng)[0], dtype=object)
            answers[rng.random(drawing.n) < lost] = None
            waves.append(answers.tolist())
        options: dict[str, Any] = {"weights": people.columns["weight"]} if drawing.plan == "weighted" else {}
        if people.sampling is not None:
            weight, cluster = people.columns["weight"], people.columns["cluster"]
            options["sampling"] = dataclasses.replace(people.sampling, weights=weight, clusters=cluster)
        found = estimate.change(design, *waves, **options)
        low, high = found.interval()[place]
        value = excludes(low, high, 0.0) if found.standard_errors[place] > 0 else np.nan
        return Outcome({"change: interval": value}, " ".join(map(str, found.warnings)))

    label = f"{design.name or design.kind}; {moved:.0%} move, {lost:.0%} missing{drawing.label}"
    return Null(drawing.plan, drawing.n, label, run)


def clients(rng: np.random.Generator) -> Null:
    """What must hold of the answers of honest clients, whatever is true of people."""
    labels = tuple(f"c{place}" for place in range(int(rng.integers(4, 40))))
    epsilon, n = round(float(rng.uniform(0.5, 4)), 1), round(float(np.exp(rng.uniform(np.log(60), np.log(20_000)))))
    family = (designs.unary, designs.affine)[rng.integers(2)]
    design, shares = family(labels, epsilon=epsilon), rng.dirichlet(np.ones(len(labels)))

    def run(rng: np.random.Generator) -> Outcome:
        tally = design.tally(design.randomize(np.array(labels)[rng.choice(len(labels), n, p=shares)], rng=rng))
        tests = [test for part in tally.parts if (test := client_test(part.design, part)) is not None]
        return Outcome({f"clients: {tests[0].about}": tests[0].p_value} if tests else {})

    return Null("unweighted", n, f"{design.name or design.kind}, {len(labels)} categories", run)


NULLS: dict[str, Callable[[np.random.Generator], Null]] = {
    "levels": independence_of_level,
    "groups": equality,
    "complex": groups_of_one_sample,
    "fit": fit_of_design,
    "crosstab": crosstabs,
    "bootstrap": crosstabs_redrawn,
    "regression": regressions,
    "change": changes,
    "clients": clients,
}


# measuring


def outcomes(null: Null, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Right surveys; one that cannot be tested has no p-values."""
    found = []
    for _ in range(runs):
        try:
            found.append(null.run(rng))
        except NaysayError:  # a sample is empty, a category is separated
            found.append(Outcome({}))
    return found


def sizes(null: Null, found: list[Outcome]) -> list[Size]:
    """The size of each test that half of the surveys or more could be given."""
    measured = []
    for test in dict.fromkeys(name for outcome in found for name in outcome.p_values):
        known = [o for o in found if not np.isnan(o.p_values.get(test, np.nan))]
        if len(known) >= len(found) / 2:
            rejected = float(np.mean([o.p_values[test] < LEVEL for o in known]))
            doubted = float(np.mean([any(word in o.sentences for word in DOUBTS) for o in known]))
            measured.append(Size(test, null, rejected, len(known), doubted))
    return measured


def measured(name: str, cells: int, runs: int, seed: int) -> list[Size]:
    """Cells of one kind until so many could be tested."""
    own = [seed, crc32(name.encode())]
    rng, found, done = np.random.default_rng(own), [], 0
    for number in range(4 * cells):
        null = NULLS[name](rng)
        if all(
            np.isnan(v) for o in outcomes(null, 2, np.random.default_rng([*own, number])) for v in o.p_values.values()
        ):
            continue
        cell = sizes(null, outcomes(null, runs, np.random.default_rng([*own, number, 1])))
        suspect = {size.test for size in cell if not size.holds}
        if suspect:
            again = sizes(null, outcomes(null, AGAIN * runs, np.random.default_rng([*own, number, 2])))
            second = {size.test: size for size in again if size.test in suspect}
            cell = [second.get(size.test, size) for size in cell]
        found += cell
        done += bool(cell)
        if done == cells:
            break
    return found


def table(found: list[Size], what: str) -> list[str]:
    """One line for each test and plan, then the cells that do not hold."""
    lines = [what, "", "| test | people | cells | hold | median size | largest |", "|---|---|--:|--:|--:|--:|"]
    for test in dict.fromkeys(size.test for size in found):
        for plan in PLANS:
            here = [size for size in found if size.test == test and size.null.plan == plan]
            if here:
                rejected = [size.rejected for size in here]
                numbers = (
                    f"{len(here)} | {sum(s.holds for s in here)} | {np.median(rejected):.2f} | {max(rejected):.2f}"
                )
                lines.append(f"| {test} | {plan} | {numbers} |")
    lines += ["", "Cells whose size is above .05 by more than two standard errors, by new surveys:", ""]
    lines += ["| test | size | surveys | print doubts it | people | survey |", "|---|--:|--:|--:|--:|---|"]
    failed = sorted((size for size in found if not size.holds), key=lambda size: -size.rejected)
    lines += [
        f"| {s.test} | {s.rejected:.2f} | {s.runs} | {s.doubted:.0%} | {s.null.n:,} | {s.null.plan}: {s.null.label} |"
        for s in failed
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=6)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", nargs="+", choices=NULLS, default=[*NULLS])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    seed = commit_date()
    found, what = [], f"{asked.cells} cells of each kind and {asked.runs} surveys a cell, drawn with the seed {seed}."
    for name in asked.only:
        found += measured(name, asked.cells, asked.runs, seed)
        if asked.out is not None:  # after each kind: a long run that is stopped leaves what it measured
            asked.out.write_text("\n".join(table(found, what)) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(table(found, what)) + "\n")


if __name__ == "__main__":
    main()
