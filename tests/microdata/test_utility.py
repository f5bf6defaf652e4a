"""What a release kept: theorems, simulation, second routes, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from naysay import designs
from naysay.errors import DataError
from naysay.microdata import utility
from naysay.microdata.utility import estimates as scores
from naysay.microdata.utility import measured
from naysay.microdata.utility.distances import Pair
from naysay.microdata.utility.measured import tradeoff_html, utility_html


def people(n, rng, levels=(3, 4, 2, 3)):
    """Variables that depend on each other, so that pairs say more than margins."""
    common = rng.integers(0, 12, n)
    return pl.DataFrame(
        {
            f"v{place}": (common // (place + 1) + (rng.random(n) < 0.3) * rng.integers(0, size, n)) % size
            for place, size in enumerate(levels)
        }
    ).cast(pl.String)


def permuted(table, rng):
    return table.select(pl.col(name).gather(rng.permutation(table.height)) for name in table.columns)


def main_effects(pair):
    columns = [np.concatenate(each.alike[:2]) + 1 for each in pair.variables]
    sizes = [len(each.alike[2]) + 1 for each in pair.variables]
    n, m = pair.before.height, pair.after.height
    weight = np.ones(n + m)
    return scores._by_terms(columns, sizes, np.repeat([0.0, 1.0], [n, m]), weight, m / (n + m), m, together=1)


@pytest.mark.parametrize("model", scores.MODELS)
def test_permuted_columns_are_found_by_pairs_and_trees_and_not_by_main_effects(model):
    rng = np.random.default_rng(1)
    table = people(3_000, rng)
    pair = Pair.of(table, permuted(table, rng), synthetic=True)
    assert main_effects(pair).pmse < 1e-12
    found = scores.propensity(pair, model=model)
    assert found.ratio > 4
    assert found.standardized > 5
    copy = scores.propensity(Pair.of(table, table), model=model)
    assert copy.pmse < 1e-12


def test_the_ratio_is_1_for_a_bootstrap_of_the_file_and_1_over_1_minus_c_for_other_people():
    rng = np.random.default_rng(2)
    table = people(4_000, rng)
    for share, expected in ((None, 1.0), (0.5, 2.0), (0.25, 4 / 3)):
        ratios, terms = [], 0
        for _ in range(30):
            if share is None:
                first, second = table, table[rng.integers(0, table.height, table.height)]
            else:
                order = table[rng.permutation(table.height)]
                cut = round(table.height * (1 - share))
                first, second = order[:cut], order[cut:]
            found = scores.propensity(Pair.of(first, second, synthetic=True))
            ratios.append(found.ratio)
            terms = found.terms
        assert share is None or found.fresh == pytest.approx(expected)
        error = expected * np.sqrt(2 / (terms - 1) / len(ratios))
        assert np.mean(ratios) == pytest.approx(expected, abs=4 * error + 0.03), share


def test_weights_are_as_good_as_copies():
    rng = np.random.default_rng(3)
    table, weight = people(600, rng), rng.integers(1, 4, 600)
    other = permuted(table, rng)
    heavy = [each.with_columns(pl.Series("w", weight)) for each in (table, other)]
    copied = [each[np.repeat(np.arange(600), weight)] for each in (table, other)]
    found = utility.compare(*heavy, weights="w", synthetic=True)
    plain = utility.compare(*copied, synthetic=True)
    assert found.weighted
    assert not plain.weighted
    for one, two in zip(found.distances.pairs, plain.distances.pairs, strict=True):
        assert (one.variation, one.hellinger) == pytest.approx((two.variation, two.hellinger))
    for one, two in zip(found.estimates.plain, plain.estimates.plain, strict=True):
        assert (one.before, one.after) == pytest.approx((two.before, two.after))
        assert one.before_error > two.before_error  # fewer people than copies


def test_what_a_fresh_sample_shows_is_what_two_samples_show():
    rng = np.random.default_rng(4)
    for n, m, cells in ((60, 60, 5), (500, 300, 40), (5_000, 5_000, 3), (200, 1_000, 150)):
        p = rng.dirichlet(np.full(cells, 0.5))
        one, two = rng.multinomial(n, p, 1_500) / n, rng.multinomial(m, p, 1_500) / m
        variation = np.abs(one - two).sum(axis=1) / 2
        squared = 1 - np.sqrt(one * two).sum(axis=1)
        error = variation.std() / np.sqrt(1_500)
        assert utility.expected_variation(p, n, m) == pytest.approx(
            variation.mean(), abs=4 * error + (0.01 if n == m else 0.03) * variation.mean()
        )
        error = squared.std() / np.sqrt(1_500)
        assert utility.expected_hellinger(p, n, m) ** 2 == pytest.approx(squared.mean(), abs=4 * error + 1e-4)


def test_distances_obey_their_theorems():
    rng = np.random.default_rng(5)
    for _ in range(50):
        p, q = rng.dirichlet(np.full(8, 0.4), 2)
        variation, hellinger = utility.variation(p, q), utility.hellinger(p, q)
        assert hellinger**2 <= variation + 1e-12
        assert variation <= np.sqrt(2) * hellinger + 1e-12
        merged = [each.reshape(4, 2).sum(axis=1) for each in (p, q)]  # coarser values are never farther apart
        assert utility.variation(*merged) <= variation + 1e-12
        assert utility.hellinger(*merged) <= hellinger + 1e-12


def test_every_planted_change_is_counted():
    rng = np.random.default_rng(6)
    n = 400
    before = pl.DataFrame({"age": rng.integers(20, 80, n), "job": rng.choice(list("abcd"), n), "row": np.arange(n)})
    gone, moved = rng.random(n) < 0.1, rng.random(n) < 0.2
    after = before.with_columns(
        pl.when(pl.Series(~gone)).then(pl.col("age")),
        pl.when(pl.Series(moved)).then(pl.lit("e")).otherwise(pl.col("job")).alias("job"),
    ).sample(n - 30, shuffle=True, seed=1)
    found = utility.compare(before, after, id="row").changes
    age, job = found.variables
    assert (found.records, found.deleted, found.added) == (n - 30, 30, 0)
    assert (age.suppressed, age.changed) == (int(after["age"].null_count()), 0)
    assert (job.suppressed, job.changed) == (0, int((after["job"] == "e").sum()))
    assert age.loss == pytest.approx(age.suppressed / age.known)
    assert found.loss == pytest.approx(((age.loss + job.loss) / 2 * (n - 30) + 30) / n)


def test_a_recoding_is_read_from_the_rows_and_its_loss_is_the_share_of_leaves():
    before = pl.DataFrame({"age": [20, 21, 22, 30, 31, 40] * 30})
    after = before.select((pl.col("age") // 10 * 10).cast(pl.String) + "s")
    found = utility.compare(before, after)
    [age] = found.changes.variables
    assert (age.recoded, age.changed) == (3, 0)
    assert age.loss == pytest.approx((3 * 2 + 2 * 1 + 0) / 6 / 5)
    # each decade is spread evenly over its ages, which is the truth here
    assert found.distances.margins[0].variation == pytest.approx(0)
    assert found.propensity.pmse == pytest.approx(0, abs=1e-12)
    skewed = pl.DataFrame({"age": [20] * 80 + [21] * 20})
    found = utility.compare(skewed, skewed.with_columns(pl.lit("20s").alias("age")))
    assert found.distances.margins[0].variation == pytest.approx(0.3)
    # bottom coding, in numbers
    found = utility.compare(before, before.select(pl.col("age").clip(lower_bound=22)))
    assert (found.changes.variables[0].recoded, found.changes.variables[0].changed) == (4, 0)


def test_swapped_values_are_changes_and_no_recoding():
    before = pl.DataFrame({"job": ["a", "b", "c", "d"] * 20})
    after = pl.DataFrame({"job": ["b", "a", "c", "d"] * 19 + ["a", "b", "d", "c"]})
    [job] = utility.compare(before, after).changes.variables
    assert (job.recoded, job.changed) == (None, 40)


def test_il1s_does_not_depend_on_units_and_is_exact_for_a_shift():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(200, 3))
    y = x + 0.1 * rng.normal(size=(200, 3))
    scale = np.array([1, 1_000, 1e-4])
    assert utility.il1s(x, y) == pytest.approx(utility.il1s(x * scale, y * scale))
    assert utility.il1s(x, x + x.std(axis=0, ddof=1)) == pytest.approx(1 / np.sqrt(2))
    loss = utility.eigenvalue_loss(x, np.column_stack([x[:, 0], x[:, 0], x[:, 2]]))
    e, f = (np.linalg.eigvalsh(np.corrcoef(each, rowvar=False)) for each in (x, x[:, [0, 0, 2]]))
    assert loss == pytest.approx((abs(e - f) / e).sum())
    assert np.isnan(utility.eigenvalue_loss(x, np.zeros_like(x)))


def test_overlap_is_that_of_karr():
    assert utility.overlap((0, 1), (0, 1)) == 1
    assert utility.overlap((0, 4), (1, 2)) == pytest.approx((1 / 4 + 1) / 2)
    assert utility.overlap((0, 1), (3, 4)) < 0
    rng = np.random.default_rng(8)
    for _ in range(20):
        one, two = np.sort(rng.normal(size=(2, 2)))
        assert utility.overlap(one, two) == pytest.approx(utility.overlap(two * 3, one * 3))
        assert utility.overlap(one, two) <= 1


@pytest.mark.parametrize("weighted", [False, True])
def test_regressions_are_those_of_statsmodels(weighted):
    rng = np.random.default_rng(9)
    n = 500
    age, sex, w = rng.integers(20, 80, n), rng.choice(["f", "m"], n), rng.uniform(0.5, 3, n)
    income = 10 + 0.3 * age + 5 * (sex == "m") + rng.normal(size=n) * 8
    job = np.where(rng.random(n) < 1 / (1 + np.exp(3 - 0.05 * age)), "yes", "no")
    before = pl.DataFrame({"age": age, "sex": sex, "income": income, "job": job, "w": w})
    after = before.with_columns(pl.col("income") + pl.Series(rng.normal(size=n) * 20))
    formulas = ["income ~ age + sex", "job ~ age"]
    found = utility.compare(before, after, formulas=formulas, weights="w" if weighted else None).estimates.named
    x = sm.add_constant(np.column_stack([age, sex == "m"]).astype(float))
    for side in ("before", "after"):
        y = (before if side == "before" else after)["income"].to_numpy()
        oracle = sm.WLS(y, x, w).fit(cov_type="HC1") if weighted else sm.OLS(y, x).fit()
        told = {each.name: each for each in found if each.group == formulas[0]}
        mine = [told["Intercept"], told["age"], told["sex[T.m]"]]
        assert [getattr(each, side) for each in mine] == pytest.approx(oracle.params)
        assert [getattr(each, f"{side}_error") for each in mine] == pytest.approx(oracle.bse)
    link = sm.GLM(
        (job == "no").astype(float),
        sm.add_constant(age.astype(float)),
        sm.families.Binomial(),
        freq_weights=w if weighted else None,
    ).fit()
    told = [each for each in found if each.group == formulas[1]]
    assert [each.before for each in told] == pytest.approx(link.params, rel=1e-5)
    assert all(each.overlap == pytest.approx(1) and not each.verdict for each in told)


def test_a_formula_that_a_file_does_not_allow_is_told_and_the_rest_stands():
    before = pl.DataFrame({"a": [1, 2, 3, 5] * 10, "b": ["x", "y"] * 20})
    after = before.with_columns(pl.lit("x").alias("b"))
    found = utility.compare(before, after, formulas=["a ~ b", "a ~ 1", "a ~ c"]).estimates
    assert [each.group for each in found.named] == ["a ~ 1"]
    assert len(found.failed) == 2
    assert "one level only" in found.failed[0]
    assert "'c'" in found.failed[1]


def test_a_verdict_changes_with_a_sign_or_a_test():
    told = (
        utility.Estimated("x", 3.0, 1.0, -3.0, 1.0, tested=True),
        utility.Estimated("x", 3.0, 1.0, 1.0, 1.0, tested=True),
    )
    assert [each.verdict for each in told] == ["another sign", "no longer significant"]
    assert utility.Estimated("x", 1.0, 1.0, 3.0, 1.0, tested=True).verdict == "significant only now"
    assert utility.Estimated("x", 0.1, 1.0, -0.1, 1.0, tested=True).verdict == ""  # two null effects
    assert utility.Estimated("share", 3.0, 1.0, -3.0, 1.0).verdict == ""


DESIGNS = {
    "pram": designs.custom([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]], categories=("a", "b", "c")),
    "negative": designs.negative(("a", "b", "c")),
}


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_an_estimate_undone_is_unbiased_where_the_raw_file_is_not(design):
    rng = np.random.default_rng(10)
    truth = np.repeat(["a", "b", "c"], [1_400, 500, 100])
    z, raw = [], []
    for _ in range(60):
        said = design.randomize(truth, rng=rng).texts()
        found = utility.compare({"job": truth}, {"job": said}, designs={"job": design}).estimates.undone
        assert [each.before for _, each in found] == pytest.approx([0.7, 0.25, 0.05])
        z.append([(own.after - own.before) / own.after_error for _, own in found])
        raw.append([each.after - each.before for each, _ in found])
    assert np.abs(np.mean(z, axis=0)).max() < 4 / np.sqrt(60)
    assert (np.abs(z) < 1.96).mean() == pytest.approx(0.95, abs=0.06)
    assert np.abs(np.mean(raw, axis=0)).max() > 0.05


def test_a_design_on_numbers_is_undone_however_the_file_writes_them():
    design = designs.k_ary(("1.0", "2.0", "9.0"), epsilon=2)
    codes = np.repeat([1, 2, 9], 100)
    found = utility.compare({"job": codes}, {"job": codes.astype(float)}, designs={"job": design}).estimates.undone
    assert [raw.name for raw, _ in found] == ["job = 1.0", "job = 2.0", "job = 9.0"]
    assert all(own.after == pytest.approx(1 / 3) for _, own in found)


def test_a_regression_of_a_randomized_response_undoes_the_design():
    rng = np.random.default_rng(11)
    age = rng.integers(20, 80, 6_000)
    truth = np.where(rng.random(6_000) < 1 / (1 + np.exp(2 - 0.04 * age)), "yes", "no")
    design = designs.k_ary(("yes", "no"), epsilon=1.4)
    after = {"ill": design.randomize(truth, rng=rng).texts(), "age": age}
    pair = {"ill": truth, "age": age}, after
    undone = utility.compare(*pair, formulas=["ill ~ age"], designs={"ill": design}).estimates.named[-1]
    naive = utility.compare(*pair, formulas=["ill ~ age"]).estimates.named[-1]
    assert abs(undone.after - undone.before) < 4 * undone.after_error
    assert abs(naive.after) < 0.75 * abs(naive.before)


def releases(rng, n=600):
    before = people(n, rng).with_row_index("row")
    gone = before.with_columns(pl.when(pl.Series(rng.random(n) < 0.9)).then(pl.col("v1")).otherwise(None).alias("v1"))
    mixed = permuted(before.drop("row"), rng).with_columns(before["row"])
    return before, {"as it is": before, "gaps": gone, "permuted": mixed}


def test_releases_that_no_other_one_beats_are_best():
    before, every = releases(np.random.default_rng(12))
    found = utility.tradeoff(before, every, ["v0", "v1", "v2", "v3"], id="row")
    risk, far = ({each.name: getattr(each, name) for each in found.releases} for name in ("risk", "distance"))
    assert risk["as it is"] == found.before > risk["permuted"]
    assert far["as it is"] == 0 < far["gaps"] < far["permuted"]
    for each in found.releases:
        beaten = any(
            (risk[other], far[other]) != (each.risk, each.distance)
            and risk[other] <= each.risk
            and far[other] <= each.distance
            for other in every
        )
        assert (each in found.best) is not beaten
    assert json.loads(json.dumps(found.to_dict()))["releases"][2]["release"] == "permuted"
    assert len(found.to_csv().splitlines()) == 4


def test_the_pages_tell_the_numbers_of_the_result():
    before, every = releases(np.random.default_rng(13))
    found = utility.tradeoff(before, every, ["v0", "v1", "v2"], id="row")
    page = tradeoff_html(found)
    for each in found.releases:
        assert f"{each.name}: {100 * each.risk:.2f}\u00a0% of the people found" in page
    one = utility.compare(before, every["gaps"], id="row")
    page = utility_html(one)
    assert f"{one.propensity.ratio:.2f}" in page
    assert f"the release {100 * one.distances.margins[1].variation:.1f}\u00a0%; v2:" in page
    synthetic = utility.tradeoff(before, {"made up": every["permuted"]}, ["v0"], synthetic=True, variables=["v0", "v1"])
    assert "belong to nobody" in str(synthetic.releases[0].utility)
    assert "Risk against utility" in tradeoff_html(synthetic)
    with pytest.raises(DataError, match="belong to nobody"):
        measured.tradeoff_chart(synthetic)


def test_a_file_in_which_a_variable_is_empty_is_compared_on_the_others():
    before = {"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10}
    found = utility.compare(before, before | {"a": [None] * 40})
    assert [each.variables for each in found.distances.margins] == [("b",)]
    assert found.changes.variables[0].loss == 1
    assert str(found)
    assert json.dumps(found.to_dict())


TABLE = {"row": [1, 2, 3], "age": [20, 30, 40], "w": [1.0, 2.0, 1.0]}
REFUSED = {
    "files of different length": (TABLE, {"age": [20]}, {}, "3 rows and the release 1.*id"),
    "no such column": (TABLE, TABLE, {"variables": ["aeg"]}, "did you mean 'age'"),
    "a name twice": (TABLE, TABLE | {"row": [1, 1, 2]}, {"id": "row"}, "release that of row 1|row 2 stands twice"),
    "names in common": (TABLE, TABLE | {"row": [7, 8, 9]}, {"id": "row"}, "no name in column 'row'"),
    "weights of nobody": (TABLE, TABLE | {"w": [1.0, 0.0, 1.0]}, {"weights": "w"}, "positive"),
    "weights in words": (TABLE | {"w": ["x"] * 3}, TABLE, {"weights": "w"}, "numbers; column 'w'"),
    "no rows": ({"age": []}, TABLE, {}, "the original has no rows"),
    "nothing shared": ({"b": [1, 2, 3]}, TABLE, {}, "share no variable"),
    "no table": (3, TABLE, {}, "must be a table"),
    "an unknown model": (TABLE, TABLE, {"model": "main"}, "pairs"),
    "lists": ({"age": [[1], [2]]}, {"age": [[1], [2]]}, {}, "single values"),
    "a design of nothing": (TABLE, TABLE, {"designs": {"job": DESIGNS["pram"]}}, "no variable 'job'"),
}


@pytest.mark.parametrize(("before", "after", "asked", "told"), REFUSED.values(), ids=REFUSED)
def test_bad_files_are_refused_with_the_way_out(before, after, asked, told):
    with pytest.raises(DataError, match=told):
        utility.compare(before, after, **asked)
