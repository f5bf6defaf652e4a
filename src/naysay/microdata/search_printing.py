"""A search, contributions and recodings as text, as HTML and as JSON."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay import _checks
from naysay.microdata.combinations.contributions import Contributions
from naysay.microdata.combinations.finished import Combination
from naysay.microdata.combinations.recodings import Recodings
from naysay.microdata.combinations.search import Search
from naysay.microdata.population.sizes import Sizes
from naysay.microdata.printing import number, theta_cells, theta_dict

__all__ = [
    "by_size",
    "combination_dict",
    "contributions_dict",
    "contributions_text",
    "heading",
    "measured",
    "recodings_dict",
    "recodings_text",
    "to_dict",
    "to_html",
    "to_text",
    "unfinished",
]

_SHOWN = 20
_DASH = "–"
_SIGN = {"matches": "m", "anonymity": "k"}


def heading(found: Search) -> str:
    """What was searched."""
    keys = _checks.several(len(found.keys.columns), "key", "keys")
    return f"{found.asked:,} combinations of up to {found.size} of {keys}; {found.n:,} respondents; rule: {found.rule}"


def unfinished(found: Search) -> str:
    """What a search that stopped has not done; empty where it did everything."""
    if not found.left:
        return ""
    sizes = f"all of up to {found.complete}" if found.complete else "not even all single keys"
    return (
        f"{found.left:,} of {found.asked:,} combinations were not counted ({found.reason or 'stopped'}); finished:"
        f" {sizes}. There may be worse ones among the rest"
    )


def measured(measure: str) -> str:
    """The sign of what is ranked by: ``m = 1``."""
    return f"{_SIGN[measure]} = 1"


def by_size(found: Search) -> list[tuple[int, tuple[Combination, ...]]]:
    """The finished combinations of each number of keys."""
    return [(size, done) for size in range(1, found.size + 1) if (done := found.of(size))]


def _grid(first: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Table:
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column(first, overflow="fold", max_width=48)
    for name in columns:
        result.add_column(name, justify="right", no_wrap=True)
    for name, cells in rows:
        result.add_row(Text(name), *cells)
    return result


def _lines(parts: Sequence[str | Table], width: int = 130) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    for part in parts:
        if isinstance(part, str):
            console.print(part, markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(part)
    return "\n".join(text.rstrip() for text in out.getvalue().splitlines())


def to_text(found: Search) -> str:
    """The most dangerous combinations, and what the number of keys does."""
    on_m, on_k = ([], []) if found.population is None else (["θ on m"], ["θ on k"])
    columns = ["m=1", "m<5", "Pr(SU)", "mean 1/m", *on_m, "deleted", "k=1", "k<5", "Pr(SU) all", "exact", *on_k]
    rows = ((" + ".join(each.keys), _cells(each, found)) for each in found.combinations[:_SHOWN])
    sizes = ((str(size), _size_cells(found, done)) for size, done in by_size(found))
    parts: list[str | Table] = [
        f"Search for dangerous combinations: {heading(found)}",
        *([f"note: {unfinished(found)}"] if found.left else []),
        "",
        f"The {min(_SHOWN, len(found.combinations))} on which most stand out, ranked by {measured(found.measure)}",
        _grid("combination", columns, rows),
        "Mean 1/m: the chance to pick the right record if all matches were equally likely. Exact: how often an",
        "  intruder who knows all keys of a person in the file finds the right record by an exact match.",
        *([] if found.population is None else [f"θ: as in the table of risk; {_DASH}: none, or withheld."]),
        "",
        f"Respondents with {measured(found.measure)}, by the number of keys",
        _grid("keys", ("finished", "least", "median", "most", "on"), sizes),
    ]
    return _lines(parts)


def _cells(each: Combination, found: Search) -> list[str]:
    matches = [f"{each.m.unique:,}", f"{each.m.below_5:,}", _share(each.pr_su), _share(each.m.inverse)]
    listwise = [
        f"{each.deleted:,}",
        f"{each.k.unique:,}",
        f"{each.k.below_5:,}",
        _share(each.pr_su_all),
        _share(each.exact),
    ]
    if found.population is None:
        return [*matches, *listwise]
    on_k, on_m = each.thetas(found.population)
    return [*matches, theta_cells(on_m)[0], *listwise, theta_cells(on_k)[0]]


def _size_cells(found: Search, done: Sequence[Combination]) -> list[str]:
    numbers = sorted(each.unique(found.measure) for each in done)
    middle = numbers[len(numbers) // 2]
    counts = [f"{value:,}" for value in (len(done), numbers[0], middle, numbers[-1])]
    return [*counts, " + ".join(done[0].keys)]


def _share(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.4f}"


def to_html(found: Search) -> str:
    """The search as HTML, for notebooks."""
    return f"<pre>{html.escape(to_text(found))}</pre>"


def to_dict(found: Search) -> dict[str, Any]:
    """The search as one JSON object with stable names; undefined numbers are None."""
    return {
        "keys": list(found.keys.columns),
        "n": found.n,
        "size": found.size,
        "rule": found.rule,
        "measure": found.measure,
        "population": found.population,
        "asked": found.asked,
        "finished": len(found.combinations),
        "complete": found.complete,
        "stopped": found.stopped or None,
        "combinations": [_combination(each, found) for each in found.combinations],
    }


def _combination(each: Combination, found: Search) -> dict[str, Any]:
    """One combination, with θ where there is a population."""
    told = combination_dict(each)
    if found.population is not None:
        on_k, on_m = each.thetas(found.population, confidence=found.confidence)
        told["listwise"] |= theta_dict(on_k)
        told["matches"] |= theta_dict(on_m)
    return told


def combination_dict(each: Combination) -> dict[str, Any]:
    """One combination, its fields named as in the table of risk."""
    return {
        "keys": list(each.keys),
        "listwise": {
            "deleted": each.deleted,
            "kept": each.k.records,
            "k1": each.k.unique,
            "k_lt_5": each.k.below_5,
            "k_lt_10": each.k.below_10,
            "pr_su_kept": number(each.pr_su_kept),
            "pr_su_all": number(each.pr_su_all),
            **_exposed(each.k),
            "informed_exact": number(each.exact),
        },
        "matches": {
            "records": each.m.records,
            "m1": each.m.unique,
            "m_lt_5": each.m.below_5,
            "m_lt_10": each.m.below_10,
            "pr_su": number(each.pr_su),
            **_exposed(each.m),
        },
    }


def _exposed(sizes: Sizes) -> dict[str, Any]:
    return {"smallest": sizes.smallest or None, "prosecutor_mean": number(sizes.inverse)}


def contributions_dict(found: Contributions) -> dict[str, Any]:
    """Contributions as one JSON object."""
    return {
        "measure": found.measure,
        "size": found.size,
        "every": found.every,
        "mean": found.mean,
        "keys": [
            {"key": each.key, "alone": each.alone, "last": each.last, "averaged": each.averaged} for each in found.keys
        ],
    }


def contributions_text(found: Contributions) -> str:
    """Contributions as a table."""
    rows = ((each.key, [_share(each.alone), _share(each.last), _share(each.averaged)]) for each in found.keys)
    return _lines(
        [
            f"What each key adds to the share with {measured(found.measure)}; on all keys it is {_share(found.every)}",
            _grid("key", ("alone", "last", "averaged"), rows),
            "",
            "Alone: on this key only. Last: what all keys would lose without it. Averaged: what it adds when it joins",
            f"  0 to {found.size - 1} others picked at random.",
        ]
    )


def recodings_dict(found: Recodings) -> dict[str, Any]:
    """Recodings as one JSON object."""
    return {
        "rule": found.rule,
        "measure": found.measure,
        "before": combination_dict(found.before),
        "worst": None if found.worst is None else combination_dict(found.worst),
        "recodings": [
            {
                "key": each.key,
                "told": each.told,
                "values_before": each.values[0],
                "values_after": each.values[1],
                "bought": found.bought(each),
                "after": combination_dict(each.after),
            }
            for each in found.recodings
        ],
    }


def recodings_text(found: Recodings) -> str:
    """The recodings as a table."""
    rows = (
        (
            f"{each.key}: {each.told}",
            [
                f"{each.values[0]:,}",
                f"{each.values[1]:,}" if each.values[1] else _DASH,
                f"{each.after.m.unique:,}",
                f"{each.after.k.unique:,}",
                f"{found.bought(each):,}",
            ],
        )
        for each in found.recodings[:_SHOWN]
    )
    now = f"now m = 1 for {found.before.m.unique:,}, k = 1 for {found.before.k.unique:,}"
    return _lines(
        [
            f"Which recoding would buy most on {' + '.join(found.before.keys)}; {now}",
            _grid("recoding", ("values", "then", "m=1", "k=1", "bought"), rows),
            "",
            f"Bought: respondents with {measured(found.measure)} now and not then, on these keys. No file is changed.",
        ]
    )
