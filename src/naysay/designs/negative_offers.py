"""Negative surveys in which some categories are never ruled out, and offers of how many are."""

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
    """A negative survey in which a category that would reveal something when ruled out cannot be named.

    "How many partners have you not had: 0-2" says a lot. A dummy, the sink, stands in its place among the responses:
    members of the category name it with probability a (``members``), others with b (``others``); the remaining chance
    is spread evenly over the false categories. The estimate of the category rests on a ≠ b, and naming the sink
    changes the odds of being a member by a/b only.

    With several discards k an answer is a set of k labels in which a sink may stand; it then rules out one category
    fewer. Members of a sink toss a coin: at tails they answer as if another category, drawn from those without a sink,
    were theirs; this is their mask M. Then everybody names k of the t - 1 other labels, so that P = N_k M, with N_k
    that of `negative`. So others name the sink with chance k/(t-1), and members half as often. For k = 1 that is the
    design above.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    sinks : {category: label}, or category
        The categories that may not be named, each with the label of its sink.
    discards : int
        k, from 1 to t - 2: how many labels an answer names.
    members : probability, optional
        a, one half of b by default.
    others : probability, optional
        b, 1/(t-1) by default. Both are for one discard.

    Raises
    ------
    DesignError
        Fewer than three categories, a sink for none of them, a = b, or chances that do not fit beside the categories
        that can still be named, of which two are needed.

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
        raise DesignError("members and others must name the sink with different chances, or nothing is learned of it")
    if not 0 <= a <= 1 or not 0 < b <= 1 or a + (len(chosen) - 1) * b > 1 or len(chosen) * b > 1 or ordinary < 2:
        raise DesignError(
            f"the chances of the sinks must fit beside {ordinary} categories that can still be named (at least two); "
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
    """The label of each sink, checked."""
    chosen = dict(sinks) if isinstance(sinks, Mapping) else {sinks: f"not {sinks}: cannot say"}
    for label in chosen:
        if label not in labels:
            raise DesignError(f"a sink replaces one of the categories; got {label!r}, {_checks.nearest(label, labels)}")
    if not chosen:
        raise DesignError("sinks must name one category at least; leave them out where all can be ruled out")
    return chosen


def _masked(labels: tuple[Any, ...], chosen: Mapping[Any, Any], discards: int) -> Design:
    """A negative survey about a mask: half of the members of a sink answer as if an ordinary category were theirs."""
    ordinary = [place for place, label in enumerate(labels) if label not in chosen]
    if len(ordinary) < 2:
        raise DesignError(f"two categories at least must not be sinks; got {_checks.shown(chosen)} as sinks")
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

    Level k is ``negative(discards=k)``; more discards say more. Level t - 1 leaves one category: it is a direct
    answer, and says so. With sinks level k is ``negative_sink(discards=k)``: some categories are never ruled out, and
    the last level, t - 2, leaves two.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    least, most : int
        The levels on offer, from the most private, 1, to the most open, t - 1, by default; t - 2 with sinks.
    sinks : {category: label}, or category, optional
        The categories that may not be ruled out, each with the label of its sink.

    Raises
    ------
    DesignError
        Fewer than three categories, levels outside 1 to t - 1 (t - 2 with sinks), or a sink for none of them.

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
