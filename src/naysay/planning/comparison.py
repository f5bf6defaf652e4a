"""Comparisons of designs: precision against privacy, and against a direct question to which people lie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, privacy
from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.design.several import choice, lies
from naysay.designs import direct as direct_question
from naysay.errors import DataError, DesignError
from naysay.planning.power import MOST, checked_error
from naysay.planning.result import Comparison, Liars, Option
from naysay.planning.variance import place_among, respondents, variance

__all__ = ["compare"]


def compare(
    designs: Mapping[str, Answerable] | Sequence[Answerable],
    proportions: ArrayLike,
    *,
    n: float = 1_000,
    category: Any = None,
    standard_error: float | None = None,
    liars: Liars | None = None,
    **assumed: Any,
) -> Comparison:
    """Precision against privacy of several designs, or of one family over its parameter.

    With `liars`, the direct question comes first, and errors are root mean squares. Lying hides some of the people, and
    no number of respondents removes this bias. A randomized design has a larger variance but, if people trust it, no
    bias. So above some number of respondents, its error is smaller.

    Parameters
    ----------
    designs : {name: Design} or sequence of Design
        All of the same categories.
    proportions : (t,) float
        The assumed proportions of the population; for samples with finer cells, the proportions of the cells.
    n : int
        Respondents who answer.
    category : label, optional
        The category whose proportion is estimated. Needed if there are more than two; of two, it is the first,
        sensitive one.
    standard_error : float, optional
        The wanted standard error (with liars: root mean square error). The result then says how many respondents each
        design needs.
    liars : Liars, optional
    **assumed
        `estimator`, `preferences` (over levels) and `target`, as in `variance`.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        No designs, designs of different categories, fewer than one respondent, shares outside [0, 1].
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> offers = [designs.warner(p=p) for p in (0.6, 0.75)]
    >>> found = planning.compare(offers, (0.1, 0.9), n=1_000, liars=planning.Liars(share=0.4))
    >>> [(option.name, round(option.rmse, 3), option.pays_from) for option in found.options]
    [('direct()', 0.041, None), ('warner(p=0.6)', 0.078, 3772), ('warner(p=0.75)', 0.029, 490)]
    """
    named = _named(designs)
    first = next(iter(named.values()))
    finer = next((each for each in named.values() if each.finer), first)
    cells = _checks.probability_vector(proportions, len(finer.cells), what="proportions")
    pi = finer.proportions_of(cells)
    place = place_among(first.categories, category, len(pi))
    wanted = None if standard_error is None else checked_error(standard_error)
    question = _Question(pi, dict(zip(finer.cells, cells, strict=True)), place, respondents(n), wanted, liars, assumed)
    options, direct, lying = [], None, 0.0
    if liars is not None:
        # The direct question has no levels and only one estimator, so it takes neither argument.
        simple = replace(question, assumed={"target": assumed.get("target", "population"), "estimator": "moments"})
        direct = _option("direct()", direct_question(first.categories), simple, liars.share, None)
        options, lying = [direct], liars.under_design
    options += [_option(name, design, question, lying, direct) for name, design in named.items()]
    label, share = _checks.label(first.categories[place]), float(pi[place])
    return Comparison(label, share, n=int(n), wanted=wanted, liars=liars, options=tuple(options))


@dataclass(frozen=True)
class _Question:
    proportions: NDArray[np.float64]
    cells: dict[Any, float]
    place: int
    n: float
    wanted: float | None
    liars: Liars | None
    assumed: dict[str, Any]

    def stated(self, design: Answerable, amount: float) -> NDArray[np.float64]:
        """Shares of a design's cells as people state them, if a share of the sensitive category lies."""
        if design.finer:
            if amount:
                raise DataError(
                    f"the cells of {design.name or design.kind} already say who lies; leave out liars under a design"
                )
            if set(design.cells) != set(self.cells):
                raise DataError(f"proportions must be of the cells {_checks.shown(design.cells)}")
            return np.array([self.cells[cell] for cell in design.cells])
        if self.liars is None or amount == 0:
            return self.proportions
        sensitive = design.categories[self.place]
        return np.asarray(lies(design.categories, amount, among=(sensitive,), says=self.liars.says) @ self.proportions)


def _named(designs: Mapping[str, Answerable] | Sequence[Answerable]) -> dict[str, Answerable]:
    """Designs by name, all of the same categories."""
    given = list(designs.values()) if isinstance(designs, Mapping) else list(designs)
    if not given:
        raise DataError("at least one design is needed to compare")
    for each in given:
        check_design(each, told="a comparison takes designs")
    names = list(designs) if isinstance(designs, Mapping) else [each.name or each.kind for each in given]
    for name, each in zip(names, given, strict=True):
        if tuple(map(str, each.categories)) != tuple(map(str, given[0].categories)):
            raise DataError(
                f"designs to compare must have the same categories; {names[0]} has "
                f"{_checks.shown(given[0].categories)}, {name} has {_checks.shown(each.categories)}"
            )
    if len(set(names)) < len(names):
        raise DataError(f"designs to compare must differ in name; got {_checks.shown(names)}")
    return dict(zip(names, given, strict=True))


def _option(name: str, design: Answerable, question: _Question, lying: float, direct: Option | None) -> Option:
    stated = question.stated(design, lying)
    chosen = design.assigned_by == "respondent"
    assumed = question.assumed if chosen else {**question.assumed, "preferences": None}
    found = variance(design, stated, **assumed)
    one = float(found.each[question.place])
    bias = float(design.proportions_of(stated)[question.place] - question.proportions[question.place])
    error = math.sqrt(one / question.n)
    return Option(
        name=name,
        bias=bias,
        standard_error=error,
        rmse=math.hypot(bias, error),
        deviation=math.sqrt(one),
        needed=None if question.wanted is None else _needed(one, bias, question.wanted),
        pays_from=None if direct is None else _pays_from(one, bias, direct),
        kind=found.kind,
        **_private(design, stated, assumed.get("preferences")),
    )


def _needed(one: float, bias: float, wanted: float) -> int | None:
    """Respondents for the wanted error; None if the bias alone is as large, or if there are not that many people."""
    left = wanted**2 - bias**2
    if left <= 0 or one / left > MOST:
        return None
    return max(1, math.ceil(one / left - 1e-9))


def _pays_from(one: float, bias: float, direct: Option) -> int | None:
    """The least n at which bias² + V/n is below that of the direct question."""
    gained = direct.bias**2 - bias**2
    lost = one - direct.deviation**2
    if lost < 0 <= gained:
        return 1
    return None if gained <= 0 else max(1, math.floor(lost / gained) + 1)


def _private(design: Answerable, cells: NDArray[np.float64], preferences: ArrayLike | None) -> dict[str, Any]:
    """Measures of privacy. For an offer: those of its most revealing level, but bits averaged over chosen levels.

    If samples have finer cells: what an answer reveals about the categories, at the assumed shares of cells.
    """
    about = privacy.channels_about(design, _within(design, cells)) if design.finer else None
    channels = list((about or design.parts).values())
    chosen = choice(design, preferences).mean(axis=1)
    told: list[privacy.Statement] = [privacy.statement(channel) for channel in channels]
    fewest, most = zip(*(each.still_possible for each in told), strict=True)
    return {
        "still_possible": (min(fewest), max(most)),
        "bits": float(chosen @ [each.bits for each in told]),
        "epsilon": max(each.epsilon for each in told),
        "largest_odds": max(_largest_odds(channel) for channel in channels),
    }


def _within(design: Answerable, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """How common each cell is within each category, (cells, t); equally common in a category that nobody has."""
    own = np.column_stack([share.weights(design.cells)[0] for share in design.shares])
    held = own * cells[:, None]
    held = np.where(held.sum(axis=0) > 0, held, own)
    return np.asarray(held / held.sum(axis=0))


def _largest_odds(channel: Design) -> float:
    try:
        return float(privacy.odds(channel).max())
    except DesignError:  # too many responses to list
        return math.nan
