"""Surveys drawn at random from the whole space: any design, size, shares, levels, weights and target.

In a table of chosen cells, nobody finds what it leaves out. So each cell is drawn at random, from a seed that nobody
chose: the date of the commit.
"""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

from naysay import designs
from naysay.design import Answerable, Levels, Samples, mix
from naysay.design.drawing import GeneratorSource
from naysay.tally import Part, Tally

__all__ = ["FOUND_WRONG", "Cell", "Found", "commit_date", "controlled_cell", "random_cell", "survey"]

Floats = np.ndarray


@dataclasses.dataclass(frozen=True)
class Cell:
    """One kind of survey, to be repeated.

    shares (cells,) of the people; preferences (t, levels), how often each category chooses each level; weights, the
    coefficient of variation of survey weights, 0 for none; informative, whether weights go with the category.
    """

    family: str
    design: Answerable
    estimator: str
    target: str
    n: int
    shares: Floats
    preferences: Floats | None = None
    weights: float = 0.0
    informative: bool = False

    @property
    def label(self) -> str:
        """The cell in words."""
        name = self.design.name or self.design.kind
        told = [name if len(name) < 60 else f"{name[:57]}…", f"shares {_short(self.shares)}"]
        if self.preferences is not None:
            own = "by category" if np.ptp(self.preferences, axis=0).max() > 0 else ""
            told.append(f"levels {_short(self.preferences.mean(axis=0))} {own}".strip())
        if self.weights:
            told.append(f"weights CV {self.weights:g}{' by category' if self.informative else ''}")
        return "; ".join(told)


def _short(values: Floats) -> str:
    return " ".join(f"{value:.3f}".lstrip("0").rstrip("0").rstrip(".") or "0" for value in values)


def commit_date() -> int:
    """The date of the commit, such as 20261122: a seed that nobody chose."""
    asked = ["git", "log", "-1", "--format=%cd", "--date=format:%Y%m%d"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
        return int(told.stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):  # not a clone: any seed that nobody chose will do
        return 20161202  # the date of the paper on levels


def random_cell(rng: np.random.Generator) -> Cell:
    """A cell from the whole space."""
    family = str(rng.choice([*_FAMILIES]))
    design = _FAMILIES[family](rng)
    n = round(float(np.exp(rng.uniform(np.log(30), np.log(10_000)))))
    if isinstance(design, Samples):
        shares = _shares(rng, len(design.cells))
        return Cell(family, design, _pick(rng, "moments", "maximum_likelihood"), "population", n, shares)
    t = len(design.categories)
    target = _pick(rng, "population", "population", "population", "file")
    estimator, preferences = _pick(rng, "moments", "maximum_likelihood", "maximum_likelihood"), None
    if isinstance(design, Levels):
        preferences = np.tile(_preferences(rng, len(design.levels)), (t, 1))
        estimator = _pick(rng, "stratified", "stratified", "pooled", "equal", "variance")
        # the others assume that all categories choose levels alike
        if estimator == "stratified" and rng.random() < 0.5:
            preferences = np.array([_preferences(rng, len(design.levels)) for _ in range(t)])
    weights = 0.0
    if estimator not in ("equal", "variance") and rng.random() < 0.2:
        weights = float(rng.choice([0.5, 1.0, 1.5]))
    informative = bool(weights and target == "population" and rng.random() < 0.5)
    return Cell(family, design, estimator, target, n, _shares(rng, t), preferences, weights, informative)


def controlled_cell(rng: np.random.Generator) -> Cell:
    """A survey with controls, of any family, in which up to 40 of 100 do not comply; in a quarter of them nobody."""
    labels, controls = _labels(rng, 3, 6), int(rng.integers(1, 3))
    hidden = round(rng.choice([-1, 1]) * rng.uniform(0.15, 0.35) + 0.5, 2)
    families = {
        "crosswise": lambda: designs.crosswise(prevalence=hidden),
        "warner": lambda: designs.warner(p=hidden),
        "triangular": lambda: designs.triangular(prevalence=min(hidden, round(1 - hidden, 2))),
        "forced response": lambda: designs.forced_response(forced_yes="1/6", forced_no="1/12"),
        "unrelated question": lambda: designs.unrelated_question(p=0.7, prevalence=0.3),
        "k-ary": lambda: designs.k_ary(labels, epsilon=round(rng.uniform(1, 3), 1)),
        "negative": lambda: designs.negative(labels),
        "negative, sets": lambda: designs.negative(labels, discards=int(rng.integers(1, len(labels) - 1))),
    }
    family = str(rng.choice([*families]))
    design = families[family]()
    first, last = str(design.categories[0]), str(design.categories[-1])
    truth = [_pick(rng, "lot", last) for _ in range(controls)]
    survey = designs.controlled(design, truth=truth)
    if rng.random() < 0.2:  # shares that are known
        survey = designs.controlled(design, truth={first: "0.06", last: "0.94"})
    elif design.space.one_label and rng.random() < 0.25:  # two types of people
        always = f"one answer: {design.responses.texts()[0]}"
        survey = designs.controlled(design, truth=[last, last], types=("random", always))
    n = round(float(np.exp(rng.uniform(np.log(200), np.log(5_000)))))
    away = 0.0 if rng.random() < 0.25 else rng.uniform(0, 0.4)
    types = len(survey.cells) - len(design.categories)
    away_shares = away * (rng.dirichlet(np.ones(types)) if types > 1 else np.ones(1))
    shares = np.append((1 - away) * _shares(rng, len(design.categories)), away_shares)
    weights = 1.0 if rng.random() < 0.15 else 0.0
    return Cell(
        f"controlled {family}",
        survey,
        _pick(rng, "moments", "maximum_likelihood"),
        "population",
        n,
        shares,
        weights=weights,
    )


def survey(cell: Cell, rng: np.random.Generator) -> tuple[Tally, Floats]:
    """One survey, and the true shares that its intervals should hold."""
    design, n = cell.design, cell.n
    scale = np.exp(np.linspace(-1, 1, len(cell.shares))) if cell.informative else np.ones(len(cell.shares))
    drawn = cell.shares / scale / (cell.shares / scale).sum()
    counts = _whole(drawn, n) if cell.target == "file" else rng.multinomial(n, drawn)
    truth = np.repeat(np.arange(len(drawn)), counts)
    weight = scale[truth]
    if cell.weights:
        deviation = np.sqrt(np.log1p(cell.weights**2))
        weight = weight * rng.lognormal(-(deviation**2) / 2, deviation, n)
    place = np.zeros(n, dtype=int)
    if cell.preferences is not None:
        place = (rng.random(n)[:, None] > cell.preferences.cumsum(axis=1)[truth, :-1]).sum(axis=1)
    elif isinstance(design, Samples):
        place = rng.permutation(np.arange(n) % len(design.levels))
    parts, source = [], GeneratorSource(rng)
    for number, level in enumerate(design.levels):
        here, channel = place == number, design.channel(level)
        weights = (weight[here], weight[here] ** 2) if cell.weights else None
        codes, people = channel.draw(truth[here], source), np.ones(here.sum(), dtype=np.int64)
        parts.append(Part.of(channel, codes, level=level, count=people, weights=weights))
    tally = Tally(tuple(part for part in parts if part.n), weighted=bool(cell.weights))
    if isinstance(design, Samples):
        asked = [share.weights(design.cells) for share in (*design.shares, *design.nuisance)]
        with np.errstate(divide="ignore", invalid="ignore"):  # if nobody told the truth, there is no share: NaN
            return tally, np.array([above @ cell.shares / (below @ cell.shares) for above, below in asked])
    if cell.target == "file":
        return tally, np.bincount(truth, weight, minlength=len(drawn)) / weight.sum()
    return tally, cell.shares


def _whole(shares: Floats, n: int) -> Floats:
    """Whole counts nearest to the shares."""
    counts = np.floor(shares * n).astype(int)
    counts[np.argsort(counts - shares * n)[: n - counts.sum()]] += 1
    return counts


def _pick(rng: np.random.Generator, *choices: str) -> str:
    return choices[rng.integers(len(choices))]


def _shares(rng: np.random.Generator, t: int) -> Floats:
    """Shares in any order: from equal ones to one at .95 with some at 0."""
    several = int(rng.integers(1, t + 1))
    shapes = (
        np.ones(t),
        np.r_[0.95, np.full(t - 1, 0.05 / (t - 1))],
        0.5 ** np.arange(t),
        rng.dirichlet(np.ones(t)),
        rng.dirichlet(np.full(t, 0.2)),
        np.r_[rng.dirichlet(np.ones(several)), np.zeros(t - several)],
    )
    shares = shapes[rng.integers(len(shapes))]
    return rng.permutation(shares / shares.sum())


def _preferences(rng: np.random.Generator, levels: int) -> Floats:
    """How often each level is chosen: from evenly to nineteen in twenty at one level."""
    if rng.random() < 1 / 3:
        most = np.full(levels, 0.05 / max(levels - 1, 1))
        most[rng.integers(levels)] = 0.95
        return most / most.sum()
    return rng.dirichlet(np.full(levels, rng.choice([0.3, 1.0, 5.0])))


def _labels(rng: np.random.Generator, least: int = 3, most: int = 10) -> tuple[str, ...]:
    return tuple("abcdefghij"[: rng.integers(least, most + 1)])


def _decimals(values: Floats, places: int = 2) -> tuple[float, ...]:
    return tuple(round(float(value), places) for value in values)


def _chances(rng: np.random.Generator) -> tuple[float, float]:
    """Two probabilities at least a tenth apart, the larger first."""
    low = rng.uniform(0.05, 0.6)
    return _decimals([rng.uniform(low + 0.1, 0.95), low])


def _negative(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    return designs.negative(labels, discards=int(rng.integers(1, len(labels) - 1)))


def _weighted_negative(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng, 4)
    weights = rng.integers(1, 4, len(labels)).tolist()
    return designs.negative(labels, discards=int(rng.integers(1, len(labels) - 1)), weights=weights)


def _gaussian(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    return designs.gaussian_negative(labels, sigma=round(rng.uniform(len(labels) / 6, 3), 2))


def _negative_levels(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    return designs.negative_levels(labels, most=int(rng.integers(2, len(labels))))


def _levels(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    offered = {
        "open": designs.direct(labels),
        "middle": designs.negative(labels, discards=len(labels) - 2),
        "closed": designs.k_ary(labels, epsilon=round(rng.uniform(0.7, 2), 1)),
    }
    return designs.levels(offered)


def _mixture(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    return mix((2, designs.direct(labels)), (int(rng.integers(1, 6)), designs.uniform(labels)))


def _custom(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    weights = rng.integers(0, 20, (len(labels) + int(rng.integers(0, 4)), len(labels)))
    weights[np.arange(len(labels)), np.arange(len(labels))] += 20
    total = weights.sum(axis=0).max() + 1
    weights[-1] += total - weights.sum(axis=0)
    matrix = [[f"{weight}/{total}" for weight in row] for row in weights.tolist()]
    return designs.custom(matrix, categories=labels, responses=tuple(map(str, range(len(weights)))))


def _forced(rng: np.random.Generator) -> Answerable:
    labels = _labels(rng)
    return designs.forced_response(labels, forced=_decimals(rng.dirichlet(np.ones(len(labels))) * 0.5))


def _yes_no(rng: np.random.Generator) -> Answerable:
    high, low = _chances(rng)
    p, prevalence = round(rng.uniform(0.6, 0.9), 2), round(rng.uniform(0.05, 0.4), 2)
    offered = (
        lambda: designs.warner(p=p),
        designs.two_coins,
        lambda: designs.forced_response(forced_no=round(low / 2, 2), forced_yes=round((1 - high) / 2 + 0.01, 2)),
        lambda: designs.crosswise(prevalence=prevalence),
        lambda: designs.triangular(prevalence=prevalence),
        lambda: designs.unrelated_question(p=p, prevalence=prevalence),
        lambda: designs.mangat(p=p),
        lambda: designs.kuk(p=(high, low)),
    )
    return offered[rng.integers(len(offered))]()


def _kuk(rng: np.random.Generator) -> Answerable:
    return designs.kuk(p=_chances(rng), draws=int(rng.integers(2, 7)))


def _two_questions(rng: np.random.Generator) -> Answerable:
    return designs.warner(p=round(rng.uniform(0.65, 0.9), 2)) * designs.k_ary(("a", "b", "c"), epsilon=1.5)


def _samples(rng: np.random.Generator) -> Answerable:
    high, low = _chances(rng)
    prevalence = round(rng.uniform(0.1, 0.35), 2)
    arms = {"direct": designs.direct(("yes", "no")), "randomized": designs.crosswise(prevalence=prevalence)}
    offered = (
        lambda: designs.unrelated_question_unknown(p=(high, low)),
        lambda: designs.cheating_detection(p=(high, low)),
        lambda: designs.stochastic_lie_detector(p=(low, high)),
        lambda: designs.extended_crosswise(prevalence=prevalence),
        lambda: designs.anchored_crosswise(prevalence=prevalence, anchor=prevalence),
        lambda: designs.abul_ela(("a", "b", "c"), p=[[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]),
        lambda: designs.samples(**arms),
    )
    return offered[rng.integers(len(offered))]()


_FAMILIES = {
    "negative": _negative,
    "negative, weighted": _weighted_negative,
    "two options": lambda rng: designs.two_option(_labels(rng)),
    "Gaussian": _gaussian,
    "negative levels": _negative_levels,
    "levels": _levels,
    "k-ary": lambda rng: designs.k_ary(_labels(rng), epsilon=round(rng.uniform(0.3, 5), 1)),
    "mixture": _mixture,
    "any matrix": _custom,
    "forced": _forced,
    "yes or no": _yes_no,
    "Kuk, several draws": _kuk,
    "two questions": _two_questions,
    "several samples": _samples,
}


class Found(NamedTuple):
    """A cell in which the first build's default interval failed, and the coverage of its worst interval."""

    cell: Cell
    before: float


def _found(
    design: Answerable,
    shares: Floats,
    n: int,
    before: float,
    *,
    estimator: str = "maximum_likelihood",
    target: str = "population",
    preferences: tuple[float, ...] | None = None,
    weights: float = 0.0,
) -> Found:
    chosen = None if preferences is None else np.tile(preferences, (len(shares), 1))
    return Found(Cell("", design, estimator, target, n, np.array(shares), chosen, weights), before)


_RARE = (0.9, 0.05, 0.02, 0.015, 0.01, 0.005)
_TWENTY = designs.negative(tuple("abcdefghijklmnopqrst"), discards=10)
_SIX, _EIGHT = (designs.negative(tuple("abcdefgh"[:t]), discards=2) for t in (6, 8))
_TWO_LEVELS = designs.negative_levels(tuple("abcd"), most=2)
_THREE_LEVELS = designs.negative_levels(tuple("abcd"))

FOUND_WRONG = {
    "six categories, pairs, one of .9; n = 60": _found(_SIX, _RARE, 60, 0.736),
    "the same, n = 120": _found(_SIX, _RARE, 120, 0.582),
    "the same, n = 500": _found(_SIX, _RARE, 500, 0.854),
    "the same, n = 1,000": _found(_SIX, _RARE, 1_000, 0.936),
    "eight categories, pairs, one of .9; n = 500": _found(_EIGHT, (*_RARE[:-1], 0.003, 0.001, 0.001), 500, 0.736),
    "eight equal categories, pairs; n = 60": _found(_EIGHT, np.full(8, 1 / 8), 60, 0.89),
    "twenty categories, ten ruled out, one of .9; n = 60": _found(
        _TWENTY, np.r_[0.9, np.full(19, 0.1 / 19)], 60, 0.497
    ),
    "k-ary, twenty categories, ε = 4; n = 30": _found(
        designs.k_ary(tuple("abcdefghijklmnopqrst"), epsilon=4),
        0.5 ** np.arange(20) / sum(0.5 ** np.arange(20)),
        30,
        0.713,
    ),
    "pooled, two levels, t = 4; n = 120": _found(
        _TWO_LEVELS, (0.9, 0.06, 0.03, 0.01), 120, 0.693, estimator="pooled", preferences=(0.5, 0.5)
    ),
    "Kuk, five draws, 2 % carriers; n = 40": _found(designs.kuk(p=(0.8, 0.2), draws=5), (0.02, 0.98), 40, 0.618),
    "stratified, file, 95 % at the open level; n = 200": _found(
        _THREE_LEVELS,
        (0.4, 0.3, 0.2, 0.1),
        200,
        0.742,
        estimator="stratified",
        target="file",
        preferences=(0.025, 0.025, 0.95),
    ),
    "stratified, 95 % at the closed level, one of .94; n = 60": _found(
        _THREE_LEVELS, (0.94, 0.02, 0.02, 0.02), 60, 0.862, estimator="stratified", preferences=(0.95, 0.025, 0.025)
    ),
    "file, a category with all but two of 200": _found(
        designs.negative(tuple("abcde")), (0.99, 0.01, 0, 0, 0), 200, 0.889, estimator="moments", target="file"
    ),
    "weights of CV 1; n = 120": _found(
        designs.negative(tuple("abcd")), (0.4, 0.3, 0.2, 0.1), 120, 0.922, estimator="moments", weights=1.0
    ),
}
"""The surveys of the report because of which the first build's intervals were replaced."""
