"""Complex samples: units in strata, replicate weights, calibration, and what a tally keeps of them."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate
from naysay.crosstab import Variable, crosstab
from naysay.errors import DataError
from naysay.regression import regress
from naysay.sampling import Sampling, Units
from naysay.tally import Tally
from tests.reference.make_replicates import survey

N = 240


@pytest.fixture
def people():
    rng = np.random.default_rng(16)
    stratum = rng.integers(0, 4, N)
    return {
        "answer": rng.choice(["yes", "no"], N, p=[0.4, 0.6]),
        "w": rng.uniform(1, 5, N),
        "stratum": stratum,
        "cluster": 100 * stratum + rng.integers(0, 7, N),
        "sex": rng.choice(["f", "m"], N),
        "region": rng.choice(["e", "s", "w"], N),
    }


ITEM = np.arange(N) % 5
SCORES = np.random.default_rng(1).normal(size=(5, 2))
TOTALS = {"sex": {"f": 5_000, "m": 6_000}, "region": {"e": 3_000, "s": 4_000, "w": 4_000}}


def sampled(people, item=ITEM, size=5, **columns):
    sampling = Sampling(
        **{name: people.get(value, value) if isinstance(value, str) else value for name, value in columns.items()}
    )
    return sampling.rows(N).collapsed(item, size)


def textbook(people, scores, units, fraction=0.0):
    """Between the totals of the units in each stratum, summed in loops."""
    each = people["w"][:, None] * scores
    covariance = np.zeros((scores.shape[1],) * 2)
    for stratum in np.unique(people["stratum"]):
        inside = people["stratum"] == stratum
        totals = np.array([each[inside & (units == unit)].sum(axis=0) for unit in np.unique(units[inside])])
        moved = totals - totals.mean(axis=0)
        covariance += (1 - fraction) * len(totals) / (len(totals) - 1) * moved.T @ moved
    return covariance


def test_units_in_strata_have_the_textbook_covariance(people):
    found = sampled(people, weights="w", strata="stratum", clusters="cluster")
    assert found.covariance(SCORES) == pytest.approx(textbook(people, SCORES[ITEM], people["cluster"]))
    assert found.degrees_of_freedom == len(np.unique(people["cluster"])) - 4
    alone = sampled(people, weights="w", strata="stratum")
    assert alone.covariance(SCORES) == pytest.approx(textbook(people, SCORES[ITEM], np.arange(N)))
    assert str(found) == "28 clusters in 4 strata"


def test_a_finite_population_takes_off_its_share_and_says_what_it_keeps(people):
    share = np.full(N, 0.25)
    found = sampled(people, weights="w", strata="stratum", clusters="cluster", fpc=share)
    assert found.covariance(SCORES) == pytest.approx(textbook(people, SCORES[ITEM], people["cluster"], 0.25))
    assert found.kept == pytest.approx(0.25 * found.squared)
    units = np.array([28.0 for _ in range(N)])  # 7 clusters of 28 were drawn
    assert sampled(people, weights="w", strata="stratum", clusters="cluster", fpc=units).covariance(
        SCORES
    ) == pytest.approx(found.covariance(SCORES))


def test_people_are_units_whether_they_come_one_by_one_or_as_sums(people):
    sums = [np.bincount(ITEM, each) for each in (None, people["w"], people["w"] ** 2)]
    together = Units.independent(*sums)
    apart = sampled(people, weights="w")
    centered = SCORES - apart.weight @ SCORES / apart.weight.sum()
    assert together.covariance(centered) == pytest.approx(apart.covariance(centered))
    assert together.weight == pytest.approx(apart.weight)
    assert together.squared == pytest.approx(apart.squared)


@pytest.mark.parametrize("kind", ["jackknife", "bootstrap"])
@pytest.mark.parametrize("totals", [(), TOTALS])
def test_replicates_agree_with_linearization(people, kind, totals):
    given = [(people[name], known) for name, known in dict(totals).items()]
    drawn = {"weights": "w", "strata": "stratum", "clusters": "cluster", "totals": given}
    plain = sampled(people, **drawn)
    centered = SCORES - plain.weight @ SCORES / plain.weight.sum()
    made = sampled(people, **drawn, kind=kind, number=1_500)
    ratio = np.diagonal(made.covariance(centered)) / np.diagonal(plain.covariance(centered))
    assert ratio == pytest.approx(1, abs=0.1)
    if totals:
        assert plain.weight.sum() == pytest.approx(11_000)
        assert made.totals.sum(axis=1) == pytest.approx(11_000)


def test_replicate_weights_of_a_file_are_calibrated_set_by_set(people):
    """As if each set were the weights of a file of its own; they were refused with an AttributeError before."""
    sets = people["w"] * np.random.default_rng(3).multinomial(N, np.full(N, 1 / N), size=12)
    totals = [(people[name], known) for name, known in TOTALS.items()]
    made = sampled(people, weights="w", replicates=sets.T, kind="bootstrap", totals=totals)
    one_by_one = [sampled(people, weights=weights, totals=totals).weight for weights in sets]
    assert made.totals == pytest.approx(np.array(one_by_one))
    assert made.full == pytest.approx(sampled(people, weights="w", totals=totals).weight)
    survey = designs.warner(p=0.8)
    drawn = Sampling(weights=people["w"], replicates=sets.T, kind="bootstrap", totals=totals)
    assert estimate.moments(survey, survey.tally(people["answer"], sampling=drawn)).standard_errors[0] > 0


def test_half_samples_of_two_clusters_a_stratum_equal_linearization_for_totals(people):
    pairs = {**people, "cluster": 2 * people["stratum"] + np.arange(N) % 2}
    drawn = {"weights": "w", "strata": "stratum", "clusters": "cluster"}
    plain = sampled(pairs, **drawn)
    for kind in ("brr", "fay"):
        made = sampled(pairs, **drawn, kind=kind)
        moved = np.sqrt(made.scale)[:, None] * (made.totals - made.full) @ SCORES
        assert moved.T @ moved == pytest.approx(plain.covariance(SCORES))


def test_post_stratification_leaves_no_variance_of_what_is_known(people):
    """A score that depends on the class only has a known total."""
    sex = (people["sex"] == "m").astype(int)
    found = sampled(people, sex, 2, weights="w", clusters="cluster", totals=[(people["sex"], TOTALS["sex"])])
    assert found.covariance(np.array([[1.0], [0.0]])) == pytest.approx(0, abs=1e-12)
    assert found.weight == pytest.approx([5_000, 6_000])


WRONG = [
    ({"weights": np.zeros(N)}, "must not all be zero"),
    ({"weights": np.r_[np.nan, np.ones(N - 1)]}, "place 1 of 240"),
    ({"weights": np.ones(3)}, "for each of the 240"),
    ({"strata": ["a", None] * (N // 2)}, "needs a stratum; row 2 of 240"),
    ({"strata": ["a", "b"] * (N // 2), "clusters": np.repeat([1, 2], N // 2)}, "'1' occurs in 'a' and in 'b'.*nest"),
    ({"fpc": np.full(N, 100)}, "100 people by its fpc, but 240"),
    ({"fpc": np.r_[500, np.full(N - 1, 600)]}, "same number on all rows"),
    ({"weights": np.ones(N), "replicates": np.ones((7, 3)), "kind": "brr"}, r"a row for each of the 240.*\(7, 3\)"),
    ({"weights": np.ones(N), "replicates": [np.ones(N), np.ones(9)], "kind": "brr"}, "replicate weights 2 .* got 9"),
    ({"weights": np.ones(N), "replicates": np.ones((N, 3))}, "say what the replicate weights are"),
    ({"replicates": np.ones((N, 3)), "kind": "brr"}, "weights of the full sample"),
    ({"weights": np.ones(N), "replicates": np.ones((N, 3)), "kind": "jackknife", "scale": [1, 2]}, "each of the 3"),
    ({"clusters": np.arange(N) % 3, "kind": "brr"}, "two clusters in each stratum"),
    ({"totals": [(["f"] * N, {"f": 10, "m": 20})]}, "nobody of it in the sample"),
    ({"totals": [(["f"] * N, {"m": 20})]}, "'f', for which there is no total"),
    ({"totals": [(["f", "m"] * (N // 2), {"f": 10, "m": 9}), (["e"] * N, {"e": 20})]}, "one population"),
    ({"weights": np.ones(N), "replicates": np.ones((N, 3)), "kind": "brr", "scale": 0}, "must not all be zero"),
    ({"clusters": np.arange(N) % 9, "scale": 2}, "a scale is for replicate weights"),
    ({"lonely": "ignore"}, "lonely must be one of"),
    ({"kind": "half"}, "must be one of bootstrap"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_cannot_be_is_told(given, told):
    with pytest.raises(DataError, match=told):
        Sampling(**given).rows(N).collapsed(ITEM, 5)


def test_strata_that_were_taken_whole_add_no_degrees_of_freedom():
    stratum, cluster = np.repeat(["whole", "part"], N // 2), np.arange(N) // 6
    cluster[stratum == "part"] = N + np.arange(N // 2) % 3
    whole = Sampling(strata=stratum, clusters=cluster, fpc=np.where(stratum == "whole", 20, 300))
    assert whole.rows(N).plan.degrees_of_freedom == 2
    census = Sampling(strata=stratum, clusters=cluster, fpc=np.ones(N))
    assert census.rows(N).plan.degrees_of_freedom == 21


def test_a_stratum_with_a_single_cluster_is_named_and_may_count_for_something(people):
    stratum = np.where(np.arange(N) < 9, "z", people["stratum"].astype(str))
    drawn = {"weights": people["w"], "strata": stratum, "clusters": np.where(stratum == "z", -1, people["cluster"])}
    with pytest.raises(DataError, match=r"stratum 'z' has only one cluster.*collapse.*center.*certainty"):
        Sampling(**drawn).rows(N).collapsed(ITEM, 5).covariance(SCORES)
    sizes = {
        name: np.trace(Sampling(**drawn, lonely=name).rows(N).collapsed(ITEM, 5).covariance(SCORES))
        for name in ("certainty", "center", "collapse")
    }
    assert sizes["certainty"] < sizes["center"]
    assert sizes["certainty"] < sizes["collapse"]
    whole = Sampling(**drawn, fpc=np.where(stratum == "z", 1.0, 0.1)).rows(N).collapsed(ITEM, 5)
    assert np.isfinite(whole.covariance(SCORES)).all()  # taken whole, it needs no other cluster


def test_tallies_of_frames_and_arrays_agree_add_and_load(people, tmp_path):
    design = designs.warner(p=0.7)
    columns = Sampling(weights="w", strata="stratum", clusters="cluster")
    arrays = Sampling(
        **{name: people[each] for name, each in (("weights", "w"), ("strata", "stratum"), ("clusters", "cluster"))}
    )
    frame = pl.DataFrame(people)
    one, two = design.tally(frame, "answer", sampling=columns), design.tally(people["answer"], sampling=arrays)
    scores = np.array([[0.6], [-0.4]])
    assert one.sampled.covariance(scores) == pytest.approx(two.sampled.covariance(scores))
    batches = [design.tally(frame.filter(pl.col("w") > 3), "answer", sampling=columns)]
    batches.append(design.tally(frame.filter(pl.col("w") <= 3), "answer", sampling=columns))
    both = sum(batches)
    assert both.complex.plan.clusters is not None
    assert both.sampled.covariance(scores) == pytest.approx(one.sampled.covariance(scores))
    both.save(tmp_path / "tally.npz")
    again = Tally.load(tmp_path / "tally.npz")
    assert again.sampled.covariance(scores) == pytest.approx(one.sampled.covariance(scores))
    assert str(again.complex) == str(one.complex)
    with pytest.raises(DataError, match="only one of the two tallies"):
        one + design.tally(people["answer"])


def test_groups_share_the_units_of_their_sample(people):
    design = designs.warner(p=0.7)
    columns = Sampling(weights="w", strata="stratum", clusters="cluster")
    groups = design.tally(pl.DataFrame(people), "answer", sampling=columns, by="sex")
    whole = design.tally(pl.DataFrame(people), "answer", sampling=columns)
    scores = np.array([[0.6], [-0.4]])
    first, second = (tally.sampled for tally in groups.values())
    assert first.shares_plan(second)
    assert not first.shares_plan(whole.sampled)
    together = first.deviations(scores) + second.deviations(scores)
    assert together.T @ together == pytest.approx(whole.sampled.covariance(scores))


def test_weights_come_once():
    with pytest.raises(DataError, match="named twice"):
        designs.warner(p=0.7).tally(["yes"], weights=[1], sampling=Sampling(weights=[1]))


R_SURVEY = json.loads((Path(__file__).parent / "reference" / "replicates.json").read_text())["results"]
SETS = {
    "bootstrap": ("bs", "bootstrap"),
    "brr": ("brr", "brr"),
    "fay": ("fay", "fay"),
    "jk1": ("jka", "jackknife"),
    "jkn": ("jkn", "jackknife"),
}


def replicated(name):
    """The survey whose numbers R gave, and how it says that it was drawn, by the names of columns."""
    frame, scales = survey()
    answer = pl.when(pl.col("y") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))
    stem, kind = SETS[name]
    columns = [column for column in frame.columns if column.startswith(stem)]
    scale = scales if name == "jkn" else None
    drawn = Sampling(weights="w", replicates=columns, kind=kind, fay=0.3, scale=scale)
    return frame.with_columns(y=answer), drawn


@pytest.mark.parametrize("name", SETS)
def test_replicate_weights_from_named_columns_give_the_numbers_of_rs_survey_package(name):
    frame, drawn = replicated(name)
    plain, known = designs.direct(("yes", "no")), R_SURVEY[name]
    fit = estimate.moments(plain, plain.tally(frame, "y", sampling=drawn))
    assert fit.tally.complex.degrees_of_freedom == known["degrees_of_freedom"]
    assert fit.proportions[0] == pytest.approx(known["mean"], rel=1e-12)
    assert fit.standard_errors[0] == pytest.approx(known["standard_error"], rel=1e-10)
    assert fit.interval(method="wald")[0] == pytest.approx(known["interval"], rel=1e-9)
    groups = plain.tally(frame, "y", sampling=drawn, by="group")
    for place, tally in enumerate(groups.values()):
        part = estimate.moments(plain, tally)
        assert tally.complex.degrees_of_freedom == known["degrees_of_freedom"]
        assert part.proportions[0] == pytest.approx(known["by_group"]["means"][place], rel=1e-12)
        assert part.standard_errors[0] == pytest.approx(known["by_group"]["standard_errors"][place], rel=1e-10)
    table = crosstab(frame, row=Variable("y", plain), column="group", sampling=drawn)
    for place, label in enumerate(("yes", "no")):
        assert table.standard_errors[place] == pytest.approx(known["crosstab_standard_errors"][label], rel=1e-6)
    assert table.to_dict()["degrees_of_freedom"] == known["degrees_of_freedom"]
    assert f"; {known['degrees_of_freedom']} df" in str(table)
    fitted = regress(plain, "y ~ z", frame, sampling=drawn)
    assert fitted.coefficients == pytest.approx(known["regression"]["coefficients"], rel=1e-7)
    assert fitted.degrees_of_freedom == known["regression"]["degrees_of_freedom"]
    # R fits anew under each set of weights, and these errors are linearized.
    assert fitted.standard_errors == pytest.approx(known["regression"]["standard_errors"], rel=0.1)
    assert fitted.to_dict()["degrees_of_freedom"] == known["degrees_of_freedom"]
    said = f"; {known['degrees_of_freedom']} df, {known['regression']['degrees_of_freedom']} for a coefficient"
    assert said in str(fitted)


@pytest.mark.parametrize("engine", ["lazy", "to_pandas", "to_arrow", "duckdb"])
def test_degrees_of_freedom_are_those_of_the_file_in_every_engine(engine):
    rng = np.random.default_rng(80)
    answers, weights = rng.choice(["yes", "no"], 1_000), rng.uniform(0.5, 2, 1_000)
    sets = {f"rw{i}": weights * rng.multinomial(1_000, np.full(1_000, 1e-3)) for i in range(80)}
    frame = pl.DataFrame({"answer": answers, "w": weights, **sets})
    given = duckdb.sql("select * from frame") if engine == "duckdb" else getattr(frame, engine)()
    warner = designs.warner(p=0.8)
    named = Sampling(weights="w", replicates=list(sets), kind="bootstrap")
    arrays = Sampling(weights=weights, replicates=np.column_stack(list(sets.values())), kind="bootstrap")
    both = [warner.tally(given, "answer", sampling=named), warner.tally(answers, sampling=arrays)]
    assert [tally.complex.degrees_of_freedom for tally in both] == [79, 79]
    bounds = [estimate.maximum_likelihood(warner, tally).interval() for tally in both]
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("jkn", {"scale": None}, "24 jackknife weights have 16 degrees of freedom.* scale of each replicate"),
        ("fay", {"kind": "brr"}, r"brr weights must leave .* 0 of its weight; these leave it about 0\.3"),
        ("brr", {"kind": "fay"}, r"fay weights must leave .* 0\.3 of its weight; these leave it about 0"),
        ("fay", {"fay": 0.5}, r"fay weights must leave .* 0\.5 of its weight; these leave it about 0\.3"),
    ],
)
@pytest.mark.parametrize("as_arrays", [False, True])
def test_replicate_weights_whose_usual_scale_would_be_wrong_are_refused(name, fields, told, as_arrays):
    frame, drawn = replicated(name)
    if as_arrays:
        columns = frame.select(drawn.replicates).to_numpy()
        drawn = replace(drawn, weights=frame["w"].to_numpy(), replicates=columns)
    with pytest.raises(DataError, match=told):
        answers = (frame["y"].to_list(),) if as_arrays else (frame, "y")
        designs.direct(("yes", "no")).tally(*answers, sampling=replace(drawn, **fields))


def test_raking_looks_at_each_class_once_not_at_each_row():
    class Label(str):
        looks = 0

        def __str__(self):
            Label.looks += 1
            return str.__str__(self)

    labels = [Label("f"), Label("m")]
    Sampling(totals=[(labels * 500, {"f": 10, "m": 20})]).rows(1000)
    assert Label.looks == 2
    with pytest.raises(DataError, match="row 3 is empty"):
        Sampling(totals=[(["f", "m", None, "f"], {"f": 10, "m": 20})]).rows(4)


def test_raking_by_more_possible_cells_than_an_integer_holds_keeps_every_margin():
    rng = np.random.default_rng(15)
    columns = rng.integers(20, size=(15, 5_000))  # 20^15 possible cells, of which 5,000 hold people
    totals = rng.uniform(200, 300, (15, 20))
    totals *= 5_000 / totals.sum(axis=1, keepdims=True)
    margins = [(column, dict(enumerate(total))) for column, total in zip(columns, totals.tolist(), strict=True)]
    weights = Sampling(totals=margins).rows(5_000).weight
    for column, total in zip(columns, totals, strict=True):
        assert np.bincount(column, weights) == pytest.approx(total, rel=1e-7)


def test_one_as_a_number_and_as_yes_are_not_raked_as_one_class():
    """1, 1.0 and True are equal to Python; people of all three were weighted to the total of the first."""
    column = np.array([1, True, 1.0] * 20, dtype=object)
    rows = Sampling(totals=[(column, {1: 300, "True": 600, "1.0": 100})]).rows(60)
    sums = [rows.weight[[type(value) is kind for value in column]].sum() for kind in (int, bool, float)]
    assert sums == pytest.approx([300, 600, 100])
    with pytest.raises(DataError, match="has people in 'True', for which there is no total"):
        Sampling(totals=[(column, {1: 1000})]).rows(60)


def test_two_totals_for_one_class_are_refused():
    with pytest.raises(DataError, match="has two totals for '1'; give one"):
        Sampling(totals=[(np.array([1, 2] * 9), {1: 10, "1": 20, 2: 30})]).rows(18)
