"""The maximum that is reported is the highest: whatever the reference, the order of the rows, the coding of factors."""

import numpy as np
import pytest
from people import asked

from naysay import designs, regression
from naysay.errors import NotEstimable


def surveyed(seed):
    """Answers to a negative survey of 3 to 5 categories, few people, levels or discards or weights, drawn at random."""
    rng = np.random.default_rng(seed)
    t, n, p = int(rng.integers(3, 6)), int(rng.choice([200, 400, 800])), int(rng.integers(1, 4))
    categories = tuple("abcde"[:t])
    x, g = rng.normal(size=(n, p)), rng.choice(list("uvw"), n)
    eta = np.column_stack([np.ones(n), x]) @ (0.9 * rng.normal(size=(p + 1, t)))
    shares = np.exp(eta).cumsum(axis=1) / np.exp(eta).sum(axis=1, keepdims=True)
    truth = np.array(categories)[(shares < rng.random(n)[:, None]).sum(axis=1)]
    design = (designs.negative(categories), designs.negative(categories, discards=t - 2))[int(rng.integers(2))]
    if leveled := bool(rng.random() < 1 / 3):
        design = designs.negative_levels(categories)
    said, level = asked(design, truth, rng)
    table = {"said": np.array(said), "g": g, "w": rng.choice([0.5, 1.0, 2.0], n)} | {f"x{i}": x[:, i] for i in range(p)}
    options = {"level": "level"} if leveled else {}
    table |= {"level": np.array(level)} if leveled else {}
    if rng.random() < 1 / 4:
        options["weights"] = "w"
    return design, table, options, " + ".join(f"x{i}" for i in range(p))


def outcome(design, formula, table, **options):
    """The log-likelihood, or that there is none."""
    try:
        return regression.regress(design, formula, table, **options).log_likelihood
    except NotEstimable as error:
        assert "grow" in str(error) or "separation" in str(error)
        return np.inf


CONTRADICTED = (300, 331, 455, 713, 880)
"""Surveys that a single search answered differently for another reference category."""

DISAGREED = (68, 85)
"""Surveys whose likelihood has several maxima, or is higher where coefficients grow without end."""


@pytest.mark.parametrize("seed", CONTRADICTED)
def test_the_fit_does_not_depend_on_reference_order_or_coding(seed):
    design, table, options, numbers = surveyed(seed)
    first = outcome(design, f"said ~ {numbers} + g", table, **options)
    for reference in design.categories[:-1]:
        other = outcome(design, f"said ~ {numbers} + g", table, reference=reference, **options)
        assert other == pytest.approx(first, abs=1e-3)
    mixed = np.random.default_rng(seed).permutation(len(table["said"]))
    turned = {name: column[mixed] for name, column in table.items()}
    assert outcome(design, f"said ~ {numbers} + g", turned, **options) == pytest.approx(first, abs=1e-3)
    for coding in ("C(g, Treatment('w'))", "C(g, Sum)", "0 + g"):
        other = outcome(design, f"said ~ {coding} + {numbers}", table, **options)
        assert other == pytest.approx(first, abs=1e-3)


def test_disagreement_of_searches_is_told():
    """A finite maximum below a way up without end is reported with the difference; one search printed it in silence."""
    told = []
    for seed in DISAGREED:
        design, table, options, numbers = surveyed(seed)
        fit = regression.regress(design, f"said ~ {numbers} + g", table, **options)
        search = fit.optimum.search
        assert search.starts >= 7 and str(search.starts) in str(fit)
        assert fit.to_dict()["search"]["above"] == search.above
        told += [("likelihood has several maxima" in str(fit)), ("grow without end" in str(fit))]
        assert told[-2:] == [bool(search.lower), search.above > 0]
    assert any(told[::2]) and any(told[1::2])


def test_plain_answers_need_one_search():
    rng = np.random.default_rng(5)
    table = {"said": rng.choice(list("abc"), 200), "x": rng.normal(size=200)}
    fit = regression.regress(designs.direct(("a", "b", "c")), "said ~ x", table)
    assert fit.optimum.search.starts == 1 and "searches" not in str(fit)


def test_many_rows_are_searched_with_some_of_them():
    """Ends are found with 5,000 of 12,000 people, and the maximum with all of them."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=12_000)
    eta = np.column_stack([0.3 + 0.8 * x, -0.2 - 0.5 * x, 0 * x])
    shares = np.exp(eta).cumsum(axis=1) / np.exp(eta).sum(axis=1, keepdims=True)
    truth = np.array(["a", "b", "c"])[(shares < rng.random(12_000)[:, None]).sum(axis=1)]
    design = designs.negative(("a", "b", "c"))
    fit = regression.regress(design, "said ~ x", {"said": asked(design, truth, rng)[0], "x": x})
    there = fit.model.evaluate(fit.coefficients)
    assert there.gradient == pytest.approx(0, abs=1e-4)
    assert there.value > fit.model.evaluate(np.array([0.3, 0.8, -0.2, -0.5])).value
    assert fit.coefficients == pytest.approx([0.3, 0.8, -0.2, -0.5], abs=0.25)


def mixed(t, n, seed):
    """A negative survey of few categories with two numbers and a text, whose shares are drawn at random."""
    rng, categories = np.random.default_rng(seed), tuple("abcd"[:t])
    (x, y), g = rng.normal(size=(2, n)), rng.choice(list("uv"), n)
    eta = np.column_stack([np.ones(n), x, y, g == "v"]) @ (0.9 * rng.normal(size=(4, t)))
    shares = np.exp(eta).cumsum(axis=1) / np.exp(eta).sum(axis=1, keepdims=True)
    truth = np.array(categories)[(shares < rng.random(n)[:, None]).sum(axis=1)]
    design = designs.negative(categories)
    return design, {"said": asked(design, truth, rng)[0], "x": x, "y": y, "g": g}


@pytest.mark.parametrize(("t", "n", "seed"), [(4, 800, 39), (3, 1_000, 5)])
def test_a_survey_with_two_summits_gives_the_same_table_under_every_reference(t, n, seed):
    """One search from each reference ended 1.9 apart in such a survey; in another one reference found separation."""
    design, table = mixed(t, n, seed)
    first = regression.regress(design, "said ~ x + y + g", table)
    assert [*first.optimum.search.lower, first.optimum.search.above][0] > 0.2, "a lower maximum, or a way without end"
    for reference in design.categories[:-1]:
        other = regression.regress(design, "said ~ x + y + g", table, reference=reference)
        assert other.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-6)
        assert other.predict(table).probabilities == pytest.approx(first.predict(table).probabilities, abs=1e-4)
