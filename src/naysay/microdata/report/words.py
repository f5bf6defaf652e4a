"""What a report of risk says in words, for readers who are no statisticians."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from naysay.microdata import QuasiIdentifier, Recodings, RiskTable, Search
from naysay.microdata.risk.models import Pitman
from naysay.microdata.risk.written import percent, spanned

__all__ = ["GLOSSARY", "INTRUDERS", "LIMITS", "POLICIES", "RULES", "STAND", "added", "lead", "short"]

INTRUDERS = {
    "acquaintance": "On average over the people in the file, at least: the better of two ways to pick among the records"
    " that fit.",
    "demonstration": "Somebody met by chance fits exactly one record: how often they are the person behind it (θ).",
    "register": "Share of the population that is in the file, times the share of the file that fits nobody else.",
}

POLICIES = {
    "wildcard": "may be anything: it fits everybody",
    "category": "an answer of its own: it fits only others without one",
    "drop": "the person is left out",
}

RULES = {
    "worst": "Where the file holds several possible values, the intruder is taken to know the true one, whichever it"
    " is; the count is the least over them. This errs on the side of caution.",
    "intersect": "Where the file holds several possible values, two people fit each other if they share one of them."
    " This makes people look safer than they are towards somebody who knows the truth.",
    "first": "Where the file holds several possible values, the intruder is taken to know the first of them.",
}

STAND = {"matches": "stand out", "anonymity": "are alone (k = 1)"}
"""The verb for the people who are counted, by the measure that ranks combinations."""

LIMITS = (
    "The numbers hold for the keys named here. They do not cover an intruder who knows something else about a person.",
    "Keys are taken to be right and up to date, in the file and in the intruder's mind. Errors and changes protect"
    " people, and are not counted.",
    "Being found is not the only harm: people who share all keys and the same sensitive answer give it away without"
    " being told apart.",
    "Standing out in the file is not standing out in the world. Most of the population is not in the file; but this"
    " protects only where it is not known who took part.",
    "θ takes the people in the file for a random sample of the population. For volunteers, or a panel, it is a rough"
    " guide.",
    "Members of a household, and waves of a panel, are taken one by one.",
    "How likely it is that somebody tries cannot be read from a file. Where this report gives such a probability, it is"
    " a judgment of those who made it.",
    "A file in which nobody stands out is hard to search by these keys. That alone does not make it anonymous.",
)

GLOSSARY = (
    ("Key, key variable", "Something that may be known about a person from elsewhere, and is in the file."),
    ("Quasi-identifier", "A combination of keys that an intruder is assumed to know."),
    ("k", "How many people in the file have exactly the same keys; those with a gap are set aside. k = 1: alone."),
    ("m", "How many people in the file may be the same, as far as the file tells; a gap may be anything."),
    ("To stand out", "m = 1: nobody else in the file can be the same."),
    (
        "Right pick",
        "How often somebody who knows these keys of a person in the file picks that record. At least: by picking"
        " the record that shows all keys, or one that fits, with a preference for records that fit few people. At most:"
        " by any use of these keys, even with the keys of everybody else.",
    ),
    ("Exact", "A right pick by looking for the record that shows all keys: the share kept times the mean of 1/k."),
    ("Mean 1/k", "How often the record that shows all keys is the right one, of the people without a gap."),
    (
        "Mean 1/m",
        "How often a pick would be right if all who may be the same were equally likely. With gaps they are not.",
    ),
    (
        "Unique in the population",
        "Nobody else in the population has the same keys. It is estimated by a model, from how many people in the file"
        " are alone, in pairs, and so on.",
    ),
    ("θ (theta)", "How often a match with a record that fits nobody else is right, if the person was met by chance."),
)


def added(measure: str) -> str:
    """What the three numbers about a key are."""
    stand = STAND[measure]
    would = stand.replace("are", "be")
    return (
        f"Alone: people who {stand} on this key by itself. Last: how many fewer would {would} on all keys together if"
        " this one were not known. On average: how much it adds when it joins a few others picked at random. A key can"
        " be harmless alone and decisive in company, so the average is the fairest of the three."
    )


def lead(found: RiskTable) -> list[str]:
    """What the report is, before any number."""
    keys = list(dict.fromkeys(name for row in found.quasi_identifiers for name in row.keys))
    named = " and ".join(keys[:2])
    return [
        "Even if names and addresses are gone from a file, somebody who knows a few things about a person, such"
        f" as {named}, may find their record and everything else they told. This report says how many people"
        " that concerns, on which combinations of things, and what could be done. It is meant for those who decide"
        " whether a file is released, and in what form.",
        "It holds only counts of people, and nobody's answers.",
    ]


def short(
    found: RiskTable, search: Search | None, recoded: Recodings | None, protection: Mapping[str, Any] | None = None
) -> list[str]:
    """The findings, one sentence or two each."""
    told = [] if protection is None else _of_protection(protection)
    told += [_of_row(row, found.n) for row in found.quasi_identifiers]
    told += [text for row in found.quasi_identifiers if (text := _of_model(row))]
    if search is not None and search.combinations:
        best = search.combinations[0]
        told.append(
            f"Of {len(search.combinations):,} combinations of up to {search.size} keys that were counted, the most"
            f" dangerous is {' + '.join(best.keys)}: {_people(best.unique(search.measure), found.n)}"
            f" {STAND[search.measure]} on it."
        )
        if search.left:
            told.append(f"{search.unfinished}.")
    if recoded is not None and recoded.recodings:
        told += _of_recodings(recoded, search)
    return told


def _of_row(row: QuasiIdentifier, n: int) -> str:
    sizes = row.matches.sizes
    text = f"{row.label}: {_people(sizes.unique, n)} stand out: nobody else in the file can be the same (m = 1)."
    if row.listwise.sizes.unique != sizes.unique:
        text += f" If people with a gap are set aside, {row.listwise.sizes.unique:,} are alone (k = 1)."
    if sizes.records:
        least, most = row.matches.informed.least, row.matches.informed.most
        text += (
            " Somebody who knows that a person took part, and these things about them, picks the right record"
            f" {spanned(least, most, lambda share: f'{100 * share:.1f}')} times in 100."
        )
    return text


def _of_model(row: QuasiIdentifier) -> str:
    """Who is unique in the population, by the default model."""
    model = row.measure(Pitman)
    if model is None or model.found.withheld or math.isnan(model.found.interval[0]):
        return ""
    low, high = model.found.interval
    return (
        f"{row.label}: about {model.found.people:,.0f} people of the population ({low:,.0f} to {high:,.0f}) share these"
        " things with nobody, if Pitman's model holds."
    )


def _of_protection(log: Mapping[str, Any]) -> list[str]:
    """What was done before, in numbers."""
    told = log.get("log", log)
    before, after = (told.get(f"guarantee_{when}") or {} for when in ("before", "after"))
    if "k" not in before or "k" not in after:
        return []
    text = f"The file was protected: every row now reads the same on the keys as at least {after['k'] - 1:,} others"
    text += f" (k is at least {after['k']:,}; before, {before['k']:,})."
    first, second = ((told.get(f"intruder_{when}") or {}).get("mean_at_risk") for when in ("before", "after"))
    if first is not None and second is not None:
        text += (
            " Somebody who knows all true keys of a person who stood out before picks the right record"
            f" {100 * second:.1f} times in 100, instead of {100 * first:.1f}."
        )
    return [text]


def _people(some: int, n: int) -> str:
    return f"{some:,} of {n:,} people ({percent(some / n)})"


def _of_recodings(told: Recodings, search: Search | None) -> list[str]:
    """The coarser version that helps most on the worst combination, and what it does on all others."""
    best = told.best
    if best is None:
        return []
    would = STAND[told.measure].replace("are", "be")
    text = (
        f"On {' + '.join(told.before.keys)} the coarser version that would help most is {best.key}, {best.told}:"
        f" {best.after.unique(told.measure):,} people would {would} on these keys instead of"
        f" {told.before.unique(told.measure):,}."
    )
    if search is None:
        return [text]
    if told.worst is None:
        return [f"{text} That is about this combination alone; the others were not counted again."]
    keys = " + ".join(told.worst.keys)
    return [
        f"{text} Of all {len(search.combinations):,} combinations that were counted, {keys} would then be the worst:"
        f" {told.worst.unique(told.measure):,} people would {would} on it."
    ]
