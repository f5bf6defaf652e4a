"""Negative surveys in which some categories are never ruled out, and offers of how many to rule out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Design, Levels, Subset
from naysay.design.exact import as_fraction
from naysay.designs._family import call, family, of_probabilities
from naysay.designs.negative import at_least_three
from naysay.errors import DesignError

__all__ = ["negative_levels", "negative_sink"]


@family("Esponda, Huerta & Guerrero (2016)")
def negative_sink(
    categories: Sequence[Any],
    *,
    sinks: Mapping[Any, Any] | Any,
    discards: int = 1,
    members: Any = None,
    others: Any = None,
) -> Design:
    """A negative survey in which some categories cannot be named, because ruling them out would reveal too much.

    To answer "0-2" when asked how many partners you have not had says a lot. Among the responses, a dummy label, the
    sink, replaces such a category. Members of the category name the sink with probability a (``members``), others with
    probability b (``others``). The remaining chance is spread evenly over the false categories. The category can be
    estimated because a ≠ b. Naming the sink changes the odds of being a member only by a/b.

    With several discards k, an answer is a set of k labels. A sink may be among them; the set then rules out one
    category fewer. Members of a sink's category toss a coin. At tails they answer as if they belonged to another
    category, drawn from those without a sink. This step is the mask M. Then everybody names k of the t - 1 other
    labels, so that P = N_k M, where N_k is the matrix of `negative`. So others name the sink with chance k/(t-1), and
    members half as often. For k = 1 this is the design above.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    sinks : {category: label}, or category
        The categories that may not be named, each with the label of its sink.
    discards : int
        k, from 1 to t - 2: how many labels an answer names.
    members : probability, optional
        a; by default one half of b.
    others : probability, optional
        b; by default 1/(t-1). Give a and b only with one discard.

    Raises
    ------
    DesignError
        Fewer than three categories; a sink for something that is no category; a = b; fewer than two categories that can
        still be named; or chances that leave nothing for those.

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "Negative Surveys", on the sink.

    Examples
    --------
    >>> design = negative_sink(("0-2", "3-5", "6+"), sinks={"0-2": "none of these"})
    >>> np.asarray(design.responses)
    array(['none of these', '3-5', '6+'], dtype='<U13')
    >>> design.matrix[0]
    array([0.25, 0.5 , 0.5 ])
    """
    labels = at_least_three(categories)
    chosen = _sinks(labels, sinks)
    discards = _checks.whole(discards, 1, len(labels) - 2, what="discards")
    if discards > 1 and not (members is None and others is None):
        raise DesignError("members and others are chances of a single label; leave them out where discards is above 1")
    if discards > 1:
        return _masked(labels, chosen, discards)
    b = Fraction(1, len(labels) - 1) if others is None else as_fraction(others, what="others")
    a = b / 2 if members is None else as_fraction(members, what="members")
    ordinary = len(labels) - len(chosen)
    if a == b:
        raise DesignError("members and others must name the sink with different chances, or nothing is learned from it")
    if not 0 <= a <= 1 or not 0 < b <= 1 or a + (len(chosen) - 1) * b > 1 or len(chosen) * b > 1 or ordinary < 2:
        raise DesignError(
            f"the chances of the sinks must leave room for {ordinary} categories that can be named (at least two); "
            f"got members={float(a):g}, others={float(b):g} for {len(chosen)} sinks"
        )
    columns = []
    for true in labels:
        named = {label: a if label == true else b for label in chosen}
        false = [label for label in labels if label not in chosen and label != true]
        evenly = dict.fromkeys(false, (1 - sum(named.values(), Fraction(0))) / len(false))
        columns.append([(named | evenly).get(label, Fraction(0)) for label in labels])
    reported = tuple(chosen.get(label, label) for label in labels)
    note = (
        f"a member names her sink with probability {float(a):.3g}, others name it with {float(b):.3g}: "
        f"the sink changes the odds of membership by {float(a / b):.3g}"
    )
    name = call("negative_sink", sinks=chosen, members=members, others=others)
    return of_probabilities(list(zip(*columns, strict=True)), labels, reported, name=name, notes=(note,))


def _sinks(labels: tuple[Any, ...], sinks: Mapping[Any, Any] | Any) -> dict[Any, Any]:
    """The label of each sink, after checks."""
    chosen = dict(sinks) if isinstance(sinks, Mapping) else {sinks: f"not {sinks}: cannot say"}
    for label in chosen:
        if label not in labels:
            raise DesignError(f"a sink replaces one of the categories; got {label!r}, {_checks.nearest(label, labels)}")
    if not chosen:
        raise DesignError("sinks must name at least one category; leave them out if every category may be ruled out")
    return chosen


def _masked(labels: tuple[Any, ...], chosen: Mapping[Any, Any], discards: int) -> Design:
    """A negative survey after a mask: half of a sink's members answer as if they were in an ordinary category."""
    ordinary = [place for place, label in enumerate(labels) if label not in chosen]
    if len(ordinary) < 2:
        raise DesignError(f"at least two categories must not be sinks; got {_checks.shown(chosen)} as sinks")
    mask = np.array([[Fraction(int(i == j)) for j in range(len(labels))] for i in range(len(labels))])
    for j in (labels.index(label) for label in chosen):
        mask[j, j] = Fraction(1, 2)
        mask[ordinary, j] = Fraction(1, 2 * len(ordinary))
    reported = tuple(chosen.get(label, label) for label in labels)
    lent = of_probabilities(mask.tolist(), labels, reported, name="mask")
    name = call("negative_sink", sinks=dict(chosen), discards=discards)
    return replace(lent.then(Subset.of(reported, discards)), name=name)


@family("Esponda, Huerta & Guerrero (2016)")
def negative_levels(
    categories: Sequence[Any], *, least: int = 1, most: int | None = None, sinks: Mapping[Any, Any] | Any = None
) -> Levels:
    """The offer in which each respondent chooses how many categories to discard.

    Level k is ``negative(discards=k)``: the more discards, the more an answer says. Level t - 1 leaves one category. It
    is a direct answer, and a note says so. With sinks, level k is ``negative_sink(discards=k)``: some categories are
    never ruled out, and the last level, t - 2, leaves two.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    least, most : int
        The levels on offer. By default from 1, the most private, to t - 1, the most open (t - 2 with sinks).
    sinks : {category: label}, or category, optional
        The categories that may not be ruled out, each with the label of its sink.

    Raises
    ------
    DesignError
        Fewer than three categories; levels outside 1 to t - 1 (t - 2 with sinks); or a sink for something that is no
        category.

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "Individual Defined Privacy".

    Examples
    --------
    >>> choice = negative_levels(("a", "b", "c", "d"))
    >>> choice.levels, choice.channel(3).notes
    ((1, 2, 3), ('this reveals your answer',))
    """
    labels = at_least_three(categories)
    t = len(labels)
    chosen = None if sinks is None else _sinks(labels, sinks)
    last = t - 1 if chosen is None else t - 2
    least = _checks.whole(least, 1, last, what="least")
    top = _checks.whole(last if most is None else most, least, last, what="most")
    offer: dict[Any, Design] = {}
    for k in range(least, top + 1):
        notes = ("this reveals your answer",) if k == t - 1 else ()
        plain = call("negative", discards=k)
        offer[k] = _masked(labels, chosen, k) if chosen else Subset.of(labels, k, name=plain, notes=notes)
    ends = {"least": None if least == 1 else least, "most": None if top == last else top}
    name = call("negative_levels", **ends, sinks=chosen)
    told = () if chosen is None else ("members name their sink half as often as others do, at every level",)
    return Levels.of(offer, name=name, notes=told)
