"""The steps of any design: from its own protocol, from the designs it is made of, or from its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design.algebra import Both, Mixture, Product, Then
from naysay.design.base import Answerable, Design, check_design
from naysay.design.channels import Pattern, Table, TwoOption
from naysay.design.devices import draw_lots
from naysay.design.protocol import Branch, Chance, Do, Fork, Protocol, Say, Step, words
from naysay.design.several import Several
from naysay.design.subsets import Subset, WeightedSubset

_MOST = 12  # a step with more ways out is told in words
_ENDS = 36  # a tree with more ends is told in words

_LISTED = "let the device draw one of {} responses, with the chances that the design gives your category"
_BY_LOT = "draw by lot {} of the {} categories that are not yours, and name {}"
_ALL = "name all {} categories that are not yours"
_ANY = "draw {} of the {} categories by lot, and name {}"
_WEIGHED = "let the device draw {} of the {} categories that are not yours, by their weights, and name them"
_THEN = ("step 1, to be said to nobody", "step 2, with the answer of step 1 for your category")


def protocols(design: Answerable) -> tuple[tuple[str, Protocol], ...]:
    """What respondents are told to do under a design, part by part.

    This is the design's own protocol where it has one. Otherwise the steps of a table go category by category, those of
    a mixture draw lots between its components, and those of one design after another join both. A step with more than
    12 ways out, or a response that is a set, is told in words.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    tuple of (str, Protocol)
        A title and a protocol for each level, sample, question or answer. The title is empty if the design is one
        piece.

    Examples
    --------
    >>> from naysay import designs
    >>> ((title, protocol),) = protocols(designs.custom([["0.8", 0], ["0.2", 1]], categories=("ill", "well")))
    >>> print(protocol)
    Which category is yours?
    ├─ ill: draw one of 5 numbered cards
    │  ├─ card 1 to 4 (4/5): say “ill”
    │  └─ card 5 (1/5): say “well”
    └─ well: say “well”
    """
    check_design(design)
    if design.one_for_all is not None:
        return protocols(design.one_for_all)
    if design.protocol is None and isinstance(design, Several):
        named_designs = zip(design.names, design.designs, strict=True)
        titled_parts = [
            ("" if name is None else f"{design.noun} {_checks.label(name)}", part) for name, part in named_designs
        ]
    elif design.protocol is None and isinstance(design, Product | Both):
        noun = "question" if isinstance(design, Product) else "answer"
        titled_parts = [(f"{noun} {place}", part) for place, part in enumerate(_flat(design, type(design)), start=1)]
    elif design.protocol is None and isinstance(design, Then) and not _is_one_tree(design):
        titled_parts = list(zip(_THEN, (design.first, design.second), strict=True))
    else:
        return (("", _whole_protocol(design)),)
    return tuple(
        (", ".join(filter(None, (above, title))), protocol)
        for above, part in titled_parts
        for title, protocol in protocols(part)
    )


def parts(design: Answerable) -> Iterator[Answerable]:
    """The design and every design that it is made of.

    Examples
    --------
    >>> from naysay import designs
    >>> [part.name for part in parts(designs.two_coins() * designs.direct(("a", "b")))]
    ['two_coins() * direct()', 'two_coins()', 'direct()']
    """
    yield design
    for part in design.made_of:
        yield from parts(part)


def _flat(design: Design, kind: type[Design]) -> Iterator[Design]:
    """The questions of a product of products, one after the other."""
    if isinstance(design, kind) and isinstance(design, Product | Both) and design.protocol is None:
        yield from _flat(design.first, kind)
        yield from _flat(design.second, kind)
    else:
        yield design


def _whole_protocol(design: Answerable) -> Protocol:
    """One protocol, with the assumptions and sources of all its parts."""
    part_protocols = [part.protocol for part in parts(design) if part.protocol is not None]
    assumes = dict.fromkeys(text for protocol in part_protocols for text in protocol.assumes)
    sources = dict.fromkeys(protocol.source for protocol in part_protocols if protocol.source)
    return Protocol(_fold_steps(_first(design)), tuple(assumes), "; ".join(sources))


def _first(design: Answerable) -> Step:
    """The first step of a design; one step in words if it has no tree of steps."""
    protocol = design.protocol
    if isinstance(design, Table | Pattern) and (protocol is None or not protocol.complete):
        return _of_table(design, "" if protocol is None else _lower(words(protocol.first).rstrip(".")))
    if protocol is not None:
        return protocol.first
    if isinstance(design, Mixture):
        total = sum(design.weights)
        pairs = zip(design.weights, design.components, strict=True)
        return draw_lots(*((Fraction(weight, total), _first(part)) for weight, part in pairs))
    if isinstance(design, Then) and _is_one_tree(design):
        category_of_response = dict(zip(design.first.space.labels, design.second.categories, strict=True))
        second = _fold_steps(_first(design.second))
        return _continue_with(
            _fold_steps(_first(design.first)),
            lambda response: _steps_of_category(second, category_of_response[response]),
        )
    return Do(_in_words(design))


def _in_words(design: Answerable) -> str:
    """What to do under a design that has no steps, in words."""
    t = len(design.categories)
    if isinstance(design, Subset):
        if design.truthful and design.discards == t - 1:
            return _ALL.format(t - 1)
        them = "it" if design.discards == 1 else "them"
        return (_BY_LOT if design.truthful else _ANY).format(design.discards, t - design.truthful, them)
    if isinstance(design, WeightedSubset):
        return _WEIGHED.format(design.discards, t)
    if isinstance(design, Product | Both | Then):
        return "; ".join(
            f"{title}: {_lower(words(protocol.first)).rstrip('.')}" for title, protocol in protocols(design)
        )
    return _LISTED.format(f"{design.space.size:,}")


def _of_table(design: Table | Pattern, instruction: str) -> Step:
    """A fork between categories, then lots between the responses of each.

    `instruction` replaces the instruction in words.
    """
    labels, sides = design.space.labels, design.denominator
    t = max(len(labels), len(design.categories))
    if isinstance(design, TwoOption) or t > _MOST or np.count_nonzero(design.weights) > _ENDS:
        return Do(instruction or _LISTED.format(len(labels)))
    columns = [
        [(Fraction(w, sides), y) for w, y in zip(c, labels, strict=True) if w] for c in design.weights.T.tolist()
    ]
    ways = (
        Branch(_checks.label(category), _lots(column), members=(category,))
        for category, column in zip(design.categories, columns, strict=True)
    )
    return Fork("Which category is yours?", tuple(ways), instruction)


def _lots(column: list[tuple[Fraction, Any]]) -> Step:
    """Lots between the responses of a category. A single one is certain; equally likely ones are sides of a die."""
    sides = len(column)
    if sides == 1:
        return Say(column[0][1])
    if sides == 2 or len({share for share, _ in column}) > 1:
        return draw_lots(*((share, Say(response)) for share, response in column))
    ways = (Branch(str(side), Say(label), chance=share) for side, (share, label) in enumerate(column, start=1))
    return Chance(f"throw a die with {sides} sides", tuple(ways))


def _is_one_tree(design: Then) -> bool:
    """Whether both designs can be told as one tree: no end is in words, and there are at most `_ENDS` ends."""
    first, second = _fold_steps(_first(design.first)), _fold_steps(_first(design.second))
    return Protocol(first).complete and Protocol(second).complete and _ends(first) * _ends(second) <= _ENDS


def _continue_with(step: Step, go_on: Callable[[Any], Step]) -> Step:
    """The steps, with each response replaced by the steps that it leads to."""
    if isinstance(step, Say):
        return go_on(step.response)
    return _each_way(step, lambda then: _continue_with(then, go_on))


def _steps_of_category(step: Step, category: Any) -> Step:
    """The steps of a respondent of this category. No question about the category is left."""
    if isinstance(step, Fork):
        return _steps_of_category(step.of(category), category)
    return _each_way(step, lambda then: _steps_of_category(then, category))


def _each_way(step: Step, change: Callable[[Step], Step]) -> Step:
    """The step with changed branches. Its instruction is dropped, because it described the old branches."""
    if isinstance(step, Say | Do):
        return step
    return replace(step, branches=tuple(replace(way, then=change(way.then)) for way in step.branches), instruction="")


def _fold_steps(step: Step) -> Step:
    """The steps, with every step of too many ways out told in words."""
    if isinstance(step, Say | Do):
        return step
    if len(step.branches) > _MOST:
        return Do(step.instruction or _summary_text(step))
    return replace(step, branches=tuple(replace(branch, then=_fold_steps(branch.then)) for branch in step.branches))


def _summary_text(step: Chance | Fork) -> str:
    ways = len(step.branches)
    if isinstance(step, Fork):
        return f"answer to yourself: {step.question} The list of {ways} answers says what to do next"
    device_text = f"{step.device}, unseen by anybody else; the list of {ways} outcomes says "
    return device_text + (
        "which to say" if all(isinstance(way.then, Say) for way in step.branches) else "what to do next"
    )


def _ends(step: Step) -> int:
    return sum(_ends(branch.then) for branch in step.branches) if isinstance(step, Chance | Fork) else 1


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
