"""The report for a review board: one page that says how recognizable the people in a file are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from naysay.microdata import (
    SCENARIOS,
    Combination,
    Contributions,
    Identification,
    Keys,
    QuasiIdentifier,
    Recodings,
    RiskTable,
    Search,
    Theta,
)
from naysay.microdata.printing import label, reservations, spanned
from naysay.microdata.report import charts, words
from naysay.microdata.report.words import percent
from naysay.microdata.search_printing import unfinished
from naysay.report import page
from naysay.report.page import Section

__all__ = ["risk_html"]

_PHONE = 340
_ROWS = 25  # of a table of combinations or recodings
_DASH = "–"

Part = Mapping[str, Any]


def risk_html(
    found: RiskTable,
    *,
    keys: Keys | None = None,
    identifications: Sequence[Sequence[Identification]] = (),
    search: Search | None = None,
    contributions: Contributions | None = None,
    recodings: Recodings | None = None,
    title: str = "How recognizable the people in this file are",
) -> str:
    """A report on the risk of re-identification, as a whole page for people who are no statisticians.

    What is assumed about an intruder, who stands out, what was done with missing and uncertain answers, the most
    dangerous combinations, what each key adds, what coarser values would buy, and what the numbers do not say. It is
    one file that loads nothing, and holds no value of a respondent.

    Parameters
    ----------
    found : RiskTable
    keys : Keys, optional
        For a table of what is missing and uncertain.
    identifications : for each quasi-identifier, a sequence of Identification
        Where attempts were judged.
    search, contributions, recodings : optional
        Where there was a search.
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import microdata
    >>> found = microdata.risk_table({"age": [40, 36, 36]}, [["age"]], population=100)
    >>> risk_html(found).startswith("<!doctype html>")
    True
    """
    sections = [
        Section("In short", _render([_list(words.short(found, search, recodings))])),
        Section("What is assumed about the intruder", _render(_intruder(found, identifications))),
        Section("Who stands out", _render(_standing(found))),
        Section("Missing and uncertain answers", _render(_gaps(found, keys))),
    ]
    if search is not None and search.combinations:
        sections.append(Section("The most dangerous combinations", _render(_searched(search))))
    if contributions is not None:
        sections.append(Section("What each key adds", _render(_added(contributions))))
    if recodings is not None and recodings.recodings:
        sections.append(Section("What coarser values would change", _render(_coarser(recodings))))
    sections.append(Section("What these numbers do not say", _render([_list(words.LIMITS)])))
    return page.html(
        title,
        sections,
        lead=words.lead(found),
        facts=_facts(found, search),
        footnotes=words.GLOSSARY,
        flow=True,
    )


def _facts(found: RiskTable, search: Search | None) -> list[tuple[str, str]]:
    worst = max(row.matches.sizes.unique for row in found.quasi_identifiers)
    facts = [
        (f"{found.n:,}", "people in the file"),
        *([(f"{found.population:,.12g}", "people whom they were sampled from")] if found.population else []),
        (f"{worst:,}", "stand out on the worst quasi-identifier named here"),
    ]
    if search is not None:
        facts.append((f"{len(search.combinations):,}", "combinations of keys counted"))
    return facts


def _intruder(found: RiskTable, identifications: Sequence[Sequence[Identification]]) -> list[Part]:
    rows = found.quasi_identifiers
    success = [
        [label(row), *(spanned(each.success(row), each.most(row), percent) for each in SCENARIOS.values())]
        for row in rows
    ]
    parts = [
        _text(
            "An intruder is anybody who looks for a person in the file. She is assumed to know the following about that"
            " person, correctly, and nothing else:"
        ),
        _list([label(row) for row in rows]),
        _table(
            "Three kinds of intruder",
            ("scenario", "what drives her", "what she has", "whom she looks for", "how likely she is to be right"),
            words.scenarios(),
            prose=True,
        ),
        _table("How often an attempt succeeds", ("quasi-identifier", *SCENARIOS), success),
        _text(
            f"{_DASH}: too few people stand out, or nearly, for the number to mean anything. Two numbers are the least"
            " that such an intruder achieves and the most that anybody can.",
            small=True,
        ),
    ]
    return [*parts, *_judged(rows, identifications)]


def _judged(rows: Sequence[QuasiIdentifier], identifications: Sequence[Sequence[Identification]]) -> list[Part]:
    """The table of attempts as they were judged, if any were."""
    tries = [(label(row), each) for row, tried in zip(rows, identifications, strict=False) for each in tried]
    cells = [
        (
            f"{name}, {each.scenario.name}",
            f"{each.attempt:g}",
            spanned(each.success, each.most, percent),
            spanned(each.probability, each.highest, lambda share: percent(share, 4)),
        )
        for name, each in tries
    ]
    names = ("quasi-identifier and scenario", "somebody tries", "she succeeds then", "both")
    return [_table("With the probability that somebody tries, as it was judged", names, cells)] if cells else []


def _standing(found: RiskTable) -> list[Part]:
    plot = _plot(lambda size, room: charts.alone(found, size=size, room=room))
    rows = found.quasi_identifiers
    kept = ("quasi-identifier", "set aside", "kept", "k=1", "k<5", "k<10", "share alone", "of all", "mean 1/k", "θ")
    every = ("quasi-identifier", "people", "m=1", "m<5", "m<10", "share", "mean 1/m", "right pick", "θ")
    parts = [
        _text(
            "Each quasi-identifier is looked at in two ways. In the upper bar (k) people with a gap in these keys are"
            " set aside, and the others are alone if nobody has the same keys. In the lower bar (m) nobody is set"
            " aside, and a gap may hide anything: people are alone only if nobody else can be the same."
        ),
        plot,
        _table("People with the same keys (k), those with a gap set aside", kept, [_kept(row) for row in rows]),
        _table("People who may be the same (m), gaps allowed for", every, [_every(row) for row in rows]),
    ]
    notes = reservations(found)
    return [*parts, *([_list(notes)] if notes else [])]


def _kept(row: QuasiIdentifier) -> list[str]:
    part, sizes = row.listwise, row.listwise.sizes
    counts = [f"{value:,}" for value in (part.deleted, part.kept, sizes.unique, sizes.below_5, sizes.below_10)]
    shares = [percent(part.pr_su_kept), percent(part.pr_su_all), percent(sizes.inverse)]
    return [label(row), *counts, *shares, _theta(part.theta)]


def _every(row: QuasiIdentifier) -> list[str]:
    part, sizes = row.matches, row.matches.sizes
    counts = [f"{value:,}" for value in (sizes.records, sizes.unique, sizes.below_5, sizes.below_10)]
    shares = [percent(part.pr_su), percent(sizes.inverse), spanned(part.informed.least, part.informed.most, percent)]
    return [label(row), *counts, *shares, _theta(part.theta)]


def _theta(found: Theta) -> str:
    return _DASH if found.withheld else percent(found.estimate, 3)


def _gaps(found: RiskTable, keys: Keys | None) -> list[Part]:
    rules = dict.fromkeys(row.matches.rule for row in found.quasi_identifiers)
    parts = [
        _text(
            "People skip questions, or are not asked them. For k those with a missing or uncertain key are set aside,"
            " as counted above. For m a missing answer counts as the policy of its key says."
        ),
        *(_text(words.RULES[rule]) for rule in rules),
    ]
    if keys is not None:
        rows = [
            [name, words.POLICIES[policy], f"{values:,}", f"{missing:,}", f"{uncertain:,}"]
            for name, policy, values, missing, uncertain in _described(keys)
        ]
        names = ("key", "a missing answer", "values", "people without", "with several possible")
        parts.append(_table("The keys", names, rows, prose=True))
    different = [label(row) for row in found.quasi_identifiers if row.missing]
    if different:
        parts.append(_text("Where another policy was tried beside it, the tables name it in parentheses.", small=True))
    return parts


def _described(keys: Keys) -> list[tuple[str, str, int, int, int]]:
    """Of each key: name, policy, values, and people for whom it is missing, or one of several."""
    told = []
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        values, count = len(variable.cells.values), keys.tuples.count
        gaps = int(count[column == 0].sum()), int(count[column > values].sum())
        told.append((variable.name, variable.policy, values, *gaps))
    return told


def _searched(search: Search) -> list[Part]:
    keys = f"{len(search.keys.columns)} keys"
    stand = words.STAND[search.measure]
    parts = [
        _text(
            f"All combinations of up to {search.size} of {keys} were looked for: {search.asked:,}. More keys can only"
            " make more people stand out, so the worst combinations are long. The first picture shows how fast the"
            f" danger grows with what an intruder knows: how many {stand} on the worst, the middle and the mildest"
            " combination of each length."
        ),
        *([_text(f"{unfinished(search)}.")] if search.left else []),
        _plot(lambda size, _: charts.growth(search, size=size)),
        _table(
            "By the number of keys", ("keys", "combinations", f"worst: {stand}", "on"), _lengths(search), prose=True
        ),
        _plot(lambda size, room: charts.ranking(search, size=size, room=room)),
    ]
    rows = [_combination(place, each, search) for place, each in enumerate(search.combinations[:_ROWS], start=1)]
    on_m, on_k = ([], []) if search.population is None else (["θ on m"], ["θ on k"])
    names = ["combination", "m=1", "m<5", "share", "exact", *on_m, "set aside", "k=1", "k<5", "of all", *on_k]
    return [*parts, _table(f"The {len(rows)} most dangerous", names, rows)]


def _lengths(search: Search) -> list[list[str]]:
    rows = []
    for size in range(1, search.size + 1):
        done = search.of(size)
        if done:
            worst = f"{done[0].unique(search.measure):,}"
            rows.append([f"{size}", f"{len(done):,}", worst, " + ".join(done[0].keys)])
    return rows


def _combination(place: int, each: Combination, search: Search) -> list[str]:
    matches = [f"{each.m.unique:,}", f"{each.m.below_5:,}", percent(each.pr_su), percent(each.exact)]
    listwise = [f"{each.deleted:,}", f"{each.k.unique:,}", f"{each.k.below_5:,}", percent(each.pr_su_all)]
    name = f"{place}. {' + '.join(each.keys)}"
    if search.population is None:
        return [name, *matches, *listwise]
    on_k, on_m = each.thetas(search.population)
    return [name, *matches, _theta(on_m), *listwise, _theta(on_k)]


def _added(told: Contributions) -> list[Part]:
    rows = [[each.key, percent(each.alone), percent(each.last), percent(each.averaged)] for each in told.keys]
    names = ("key", "alone", "last", "on average")
    stand = words.STAND[told.measure]
    return [
        _text(words.added(told.measure)),
        _text(f"On all keys together {percent(told.every)} of the people {stand}."),
        _plot(lambda size, room: charts.added(told, size=size, room=room)),
        _table(f"Added to the share of people who {stand}", names, rows),
        _text(f"On average: over combinations of up to {told.size} keys.", small=True),
    ]


def _coarser(told: Recodings) -> list[Part]:
    before = told.before
    rows = [
        [
            f"{each.key}: {each.told}",
            f"{each.values[0]:,}",
            f"{each.values[1]:,}" if each.values[1] else _DASH,
            f"{each.after.m.unique:,}",
            f"{each.after.k.unique:,}",
            f"{told.bought(each):,}",
        ]
        for each in told.recodings[:_ROWS]
    ]
    names = ("change", "values now", "then", "m=1", "k=1", f"fewer {words.STAND[told.measure]}")
    return [
        _text(
            f"What would happen on {' + '.join(before.keys)} if one key were published less exactly, the others as they"
            f" are. Now {before.m.unique:,} people stand out (m = 1), and {before.k.unique:,} are alone once gaps are"
            " set aside (k = 1). Nothing was changed in the file; what such a change costs in usefulness must be"
            " weighed against what it buys."
        ),
        _table("One change at a time, those that help most first", names, rows),
        _text("Where the numbers of a key are codes for something else, bins of them mean nothing.", small=True),
    ]


def _text(text: str, *, small: bool = False) -> Part:
    return {"kind": "text", "text": _unbroken(text), "small": small}


def _list(items: Sequence[str]) -> Part:
    return {"kind": "list", "points": [_unbroken(item) for item in items]}


def _unbroken(text: str) -> str:
    """The text with k = 1 and m = 1 on one line each."""
    return re.sub(r"\b([km]) = 1\b", "\\1\u00a0=\u00a01", text)


def _table(caption: str, names: Sequence[str], rows: Sequence[Sequence[str]], *, prose: bool = False) -> Part:
    return {"kind": "table", "caption": caption, "names": names, "rows": rows, "prose": prose}


def _plot(draw: Callable[[int, int], str]) -> Part:
    """An image for a wide page, and one for a phone."""
    return {"kind": "plot", "wide": draw(760, 26), "narrow": draw(_PHONE, 17)}


def _render(parts: Sequence[Part]) -> str:
    return page._render("risk.html", parts=parts)
