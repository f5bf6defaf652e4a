"""Anonymity and matches read off the definition (METHODS, section 5), one pair of records at a time.

A row is a tuple of cells. A cell is None (missing), one value, or a list of candidates in their order. Slow on purpose:
nothing here is shared with what it checks.
"""

from itertools import product

MISSING = ("missing", object())  # equal to no value of any file


def candidates(cell):
    """The values that a cell may hold, in order; None where it may hold any."""
    if cell is None:
        return None
    return list(dict.fromkeys(cell)) if isinstance(cell, list | tuple) else [cell]


def declared(rows, policies=()):
    """The rows under one policy for each variable, "wildcard", "category" or "drop": None where a row is dropped."""
    policies = list(policies) or ["wildcard"] * max((len(row) for row in rows), default=0)
    return [
        None
        if any(cell is None and policy == "drop" for cell, policy in zip(row, policies, strict=True))
        else tuple(
            [MISSING] if cell is None and policy == "category" else candidates(cell)
            for cell, policy in zip(row, policies, strict=True)
        )
        for row in rows
    ]


def known(row):
    """Whether each cell of a row holds exactly one value."""
    return all(cell is not None and len(cell) == 1 for cell in row)


def anonymity(rows, policies=(), weights=None):
    """The size of each row's anonymity set; None where a key is missing or uncertain, so that the row is deleted."""
    rows = declared(rows, policies)
    weights = [1] * len(rows) if weights is None else list(weights)
    return [
        None
        if row is None or not known(row)
        else sum(weight for other, weight in zip(rows, weights, strict=True) if other == row)
        for row in rows
    ]


def matches(rows, rule="worst", policies=(), weights=None):
    """The number of each row's matches by one of the three rules; None where a row is dropped."""
    rows = declared(rows, policies)
    weights = [1] * len(rows) if weights is None else list(weights)
    counted = {"worst": worst, "intersect": intersect, "first": first}[rule]
    return [None if row is None else counted(place, rows, weights) for place, row in enumerate(rows)]


def intersect(place, rows, weights):
    """Everybody whose candidates meet those of the row on every variable."""
    return sum(
        weight
        for other, weight in zip(rows, weights, strict=True)
        if other is not None
        and all(a is None or b is None or set(a) & set(b) for a, b in zip(rows[place], other, strict=True))
    )


def first(place, rows, weights):
    """Everybody whose candidates hold the first of the row's, and the row itself."""
    return sum(
        weight
        for number, (other, weight) in enumerate(zip(rows, weights, strict=True))
        if other is not None
        and (
            number == place or all(a is None or b is None or a[0] in b for a, b in zip(rows[place], other, strict=True))
        )
    )


def worst(place, rows, weights):
    """The least, over what the row may truly be, of everybody who may be the same."""
    truths = product(*([None] if cell is None else cell for cell in rows[place]))
    return min(
        sum(
            weight
            for other, weight in zip(rows, weights, strict=True)
            if other is not None and all(a is None or b is None or a in b for a, b in zip(truth, other, strict=True))
        )
        for truth in truths
    )
