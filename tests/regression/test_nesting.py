"""A likelihood ratio compares a regression with one that it holds, and refuses every other pair."""

from itertools import product

import numpy as np
import pytest

from naysay import designs, regression
from naysay.errors import DataError, NotEstimable

COLUMNS = {  # what each term adds to a model with a constant, written by hand
    "x": lambda d: [d["x"]],
    "y": lambda d: [d["y"]],
    "g": lambda d: [d["g"] == "v", d["g"] == "w"],
    "C(g, Sum)": lambda d: [d["g"] == "v", d["g"] == "w"],
    "I(x**2)": lambda d: [d["x"] ** 2],
    "poly(x, 2)": lambda d: [d["x"], d["x"] ** 2],
    "x:y": lambda d: [d["x"] * d["y"]],
    "I(x + y)": lambda d: [d["x"] + d["y"]],
}
WARNER, DIRECT = designs.warner(p=0.9), designs.direct(("yes", "no"))


def surveyed(rng, n=150):
    x, y, g = rng.normal(size=n), rng.normal(size=n), rng.choice(list("uvw"), n)
    truth = np.where(rng.random(n) < 1 / (1 + np.exp(-0.3 - 0.5 * x)), "yes", "no")
    other, people = rng.normal(size=n), rng.integers(1, 4, n)
    return {"x": x, "y": y, "g": g, "o": other, "people": people, "w": rng.uniform(1, 2, n), "truth": truth}


def rank(table, *terms):
    columns = [np.ones(len(table["x"]))] + [column for term in terms for column in COLUMNS[term](table)]
    return np.linalg.matrix_rank(np.column_stack(columns).astype(float), tol=1e-8)


def fitted(design, table, terms, **options):
    try:
        return regression.regress(design, "said ~ 1" + "".join(f" + {term}" for term in terms), table, **options)
    except NotEstimable:  # terms of which one follows from the others
        return None


@pytest.mark.parametrize("design", [DIRECT, WARNER], ids=["direct", "warner"])
def test_random_pairs_have_a_ratio_exactly_where_one_holds_the_other(design):
    rng, seen = np.random.default_rng(25), {True: 0, False: 0}
    for _ in range(16):
        table = surveyed(rng)
        table["said"] = design.randomize(table["truth"], rng=rng).texts()
        first, second = (rng.choice([*COLUMNS], rng.integers(0, 4), replace=False).tolist() for _ in range(2))
        if rng.random() < 0.5:
            second = [*second, *first]
        pair = [fitted(design, table, list(dict.fromkeys(terms))) for terms in (second, first)]
        if None in pair:
            continue
        nested = rank(table, *second, *first) == rank(table, *second) > rank(table, *first)
        seen[nested] += 1
        if not nested:
            with pytest.raises(DataError):
                pair[0].likelihood_ratio(pair[1])
            continue
        test = pair[0].likelihood_ratio(pair[1])
        assert test.degrees_of_freedom == rank(table, *second) - rank(table, *first)
        assert test.statistic == pytest.approx(2 * (pair[0].log_likelihood - pair[1].log_likelihood), abs=1e-6)
    assert min(seen.values()) >= 2


CHANGES = {
    "another offset": {"offset": "o"},
    "counts of people": {"count": "people"},
    "weights": {"weights": "w"},
    "a penalty": {"penalty": 1},
    "another design": {"design": designs.warner(p=0.8)},
    "other rows": {"rows": slice(0, 149)},
    "rows in another order": {"rows": slice(None, None, -1)},
}


@pytest.mark.parametrize(("change", "which"), list(product(CHANGES, (0, 1))))
def test_models_of_other_people_designs_or_offsets_have_no_ratio(change, which):
    rng = np.random.default_rng(4)
    table, options = surveyed(rng), dict(CHANGES[change])
    table["said"] = WARNER.randomize(table["truth"], rng=rng).texts()
    design, rows = options.pop("design", WARNER), options.pop("rows", slice(None))
    other = {name: column[rows] for name, column in table.items()}
    fits = [
        fitted(design, other, terms, **options) if place == which else fitted(WARNER, table, terms)
        for place, terms in enumerate((["x", "y"], ["x"]))
    ]
    with pytest.raises(DataError):
        fits[0].likelihood_ratio(fits[1])


@pytest.mark.parametrize("options", [{"offset": "o"}, {"count": "people"}])
def test_models_that_share_offset_or_counts_have_a_ratio(options):
    rng = np.random.default_rng(4)
    table = surveyed(rng)
    table["said"] = WARNER.randomize(table["truth"], rng=rng).texts()
    larger, smaller = (fitted(WARNER, table, terms, **options) for terms in (["x", "y"], ["x"]))
    assert larger.likelihood_ratio(smaller).statistic >= 0
