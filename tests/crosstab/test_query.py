"""How many people a condition describes, where some of its columns were randomized."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from naysay import designs, estimate
from naysay.crosstab import Variable, count, crosstab
from naysay.errors import DataError

ABC = ("a", "b", "c")
INCOME = Variable("income", designs.negative(("low", "middle", "high", "none"), discards=2))
SMOKER = Variable("smoker", designs.warner(p=0.8))


def poor_smoker(income, smoker):
    return (income == "low") & (smoker == "yes")


def test_each_record_is_counted_without_bias():
    """The mean count over all answers that a record can give is 1 if the condition describes it, and else 0."""
    for income, smoker in itertools.product(INCOME.labels, SMOKER.labels):
        mean = 0.0
        for said in itertools.product(*(range(v.design.space.size) for v in (INCOME, SMOKER))):
            answer = {
                v.column: v.design.space.texts(v.design.space.listing()[[place]])
                for v, place in zip((INCOME, SMOKER), said, strict=True)
            }
            chance = np.prod(
                [
                    v.design.matrix[place, v.labels.index(truth)]
                    for v, place, truth in zip((INCOME, SMOKER), said, (income, smoker), strict=True)
                ]
            )
            mean += chance * count(answer, poor_smoker, randomized=(INCOME, SMOKER)).count
        assert mean == pytest.approx(float((income, smoker) == ("low", "yes")), abs=1e-12)


def answers(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return {
        "income": INCOME.design.randomize(rng.choice(INCOME.labels, n, p=[0.4, 0.3, 0.2, 0.1]), rng=rng).texts(),
        "smoker": SMOKER.design.randomize(rng.choice(SMOKER.labels, n), rng=rng).texts(),
        "age": rng.integers(18, 80, n),
    }


def test_one_column_is_the_estimator_of_the_paper():
    """Esponda, Huerta & Guerrero 2016, proposition 2: 1 - (t - 1)/k λ'."""
    table = answers()
    low = count(table, lambda income: income == "low", randomized=[INCOME])
    named = np.mean(["low" in said.split(";") for said in table["income"]])
    assert low.count == pytest.approx(400 * (1 - 3 / 2 * named))


def test_one_column_has_the_interval_of_an_estimate_of_the_file():
    table = answers()
    yes = count(table, lambda smoker: smoker == "yes", randomized=[SMOKER], confidence=0.9)
    fit = estimate.moments(SMOKER.design, SMOKER.design.tally(table, "smoker"), target="file")
    assert yes.interval == pytest.approx(400 * fit.interval(0.9, method="score")[0])
    assert yes.standard_error == pytest.approx(400 * fit.standard_errors[0])


def test_two_columns_are_a_cell_of_the_crosstab():
    table = answers()
    moments = crosstab(table, row=INCOME, column=SMOKER, estimator="moments")
    both = count(table, poor_smoker, randomized=(INCOME, SMOKER))
    assert both.count == pytest.approx(400 * moments.proportions[0, 0])


def test_counts_of_parts_add_up_and_negative_ones_stay():
    table = answers(n=30, seed=8)
    parts = [
        count(table, lambda income, smoker, a=a, b=b: (income == a) & (smoker == b), randomized=(INCOME, SMOKER))
        for a, b in itertools.product(INCOME.labels, SMOKER.labels)
    ]
    assert sum(part.count for part in parts) == pytest.approx(30)
    below = [part for part in parts if part.count < 0]
    assert below
    assert all(0 <= part.interval[0] <= part.interval[1] <= 30 for part in parts)
    assert all("chance made it" in str(part) for part in below)


def test_plain_columns_are_filters():
    table = answers()
    young = count(table, lambda age, income: (age < 30) & (income == "low"), randomized=[INCOME], plain=["age"])
    chosen = table["age"] < 30
    alone = {name: np.array(column)[chosen] for name, column in table.items()}
    again = count(alone, lambda income: income == "low", randomized=[INCOME])
    assert (young.count, *young.interval) == pytest.approx((again.count, *again.interval))
    assert (young.whole, young.undecided, again.whole) == (400, chosen.sum(), chosen.sum())
    exact = count(table, lambda age: age < 30, randomized=[], plain=["age"])
    assert (exact.count, exact.interval, exact.method) == (chosen.sum(), (chosen.sum(),) * 2, "exact")
    certain = count(table, lambda age, income: (age < 30) | (income == "low"), randomized=[INCOME], plain=["age"])
    assert certain.interval[0] >= chosen.sum()


def test_levels_are_read_beside_their_column():
    offer = designs.negative_levels(("a", "b", "c", "d"))
    rng = np.random.default_rng(1)
    truth = rng.choice(list("abcd"), 3000, p=[0.5, 0.3, 0.1, 0.1])
    said = offer.randomize(truth, rng=rng)
    table = {"x": said.texts(), "x_level": said.level}
    found = count(table, lambda x: (x == "a") | (x == "b"), randomized=[Variable("x", offer, "x_level")])
    assert abs(found.count - np.isin(truth, ["a", "b"]).sum()) < 4 * found.standard_error
    assert found.interval[0] < found.count < found.interval[1]


def test_a_count_that_chance_hardly_touches_has_the_exact_interval():
    """Every 400th of 100 answers changes. The law is that of two binomials."""
    design = designs.k_ary(("a", "b"), epsilon=6)
    table = {"x": ["a"] * 50 + ["b"] * 50}
    rare = count(table, lambda x: x == "a", randomized=[Variable("x", design)])
    flip, said = float(design.matrix[0, 1]), 50
    law = {
        members: np.convolve(binom.pmf(range(101), members, 1 - flip), binom.pmf(range(101), 100 - members, flip))
        for members in range(101)
    }
    held = [n for n, chances in law.items() if min(chances[: said + 1].sum(), chances[said:].sum()) >= 0.025]
    assert rare.method == "convolution"
    assert rare.interval == (min(held), max(held))


def test_answers_too_many_to_list_have_the_interval_of_wald():
    many = designs.subset_selection(tuple(f"c{i}" for i in range(60)), epsilon=1)
    rng = np.random.default_rng(4)
    truth = rng.choice(many.categories[:3], 2000)
    table = {"x": many.randomize(truth, rng=rng).texts()}
    found = count(table, lambda x: np.isin(x.astype(str), ["c0", "c1"]), randomized=[Variable("x", many)])
    assert found.method == "wald"
    assert abs(found.count - np.isin(truth, ["c0", "c1"]).sum()) < 4 * found.standard_error


@pytest.mark.parametrize("seed", range(6))
def test_intervals_hold_the_truth_in_random_cells(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, rng.integers(1, 4))
    variables = [
        Variable(f"x{place}", designs.k_ary(tuple("abcdef"[:size]), epsilon=float(rng.uniform(1, 3))))
        for place, size in enumerate(sizes)
    ]
    described = rng.random(sizes) < 0.4
    described.flat[0], described.flat[-1] = True, False
    n, runs = 150, 250
    truth = np.unravel_index(rng.choice(described.size, n, p=rng.dirichlet(np.ones(described.size))), sizes)

    def condition(**cells):
        places = [np.vectorize("abcdef".index)(cells[variable.column]) for variable in variables]
        return described[tuple(np.broadcast_arrays(*places))]

    hits, counts = 0, []
    for _ in range(runs):
        table = {
            variable.column: variable.design.randomize(np.array(variable.labels)[places], rng=rng).texts()
            for variable, places in zip(variables, truth, strict=True)
        }
        found = count(table, condition, randomized=variables)
        hits += found.interval[0] <= described[truth].sum() <= found.interval[1]
        counts.append(found.count)
    assert hits / runs > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)
    assert abs(np.mean(counts) - described[truth].sum()) < 4 * np.std(counts) / np.sqrt(runs)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"randomized": [Variable("incme", INCOME.design)]}, "did you mean 'income'"),
        ({"randomized": [Variable("income")]}, "has no design; name it as a plain one"),
        ({"randomized": [], "plain": []}, "names one column at least"),
        (
            {"randomized": [Variable("smoker", INCOME.design)]},
            "holds 'yes', which is no answer under its design|holds 'no'",
        ),
        ({"randomized": [Variable("income", designs.negative_levels(ABC))]}, "needs the column of the levels"),
    ],
)
def test_what_cannot_be_counted_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        count(answers(), lambda **cells: next(iter(cells.values())) == "low", **given)
