"""Complex samples on the command line."""

import json

import numpy as np
import polars as pl
import pytest

from naysay import designs, estimate
from naysay.sampling import Sampling

DESIGN = "warner(p=0.8)"


@pytest.fixture
def school(tmp_path, monkeypatch):
    """A file of 240 pupils in 24 schools of three regions, with replicate weights and totals beside it."""
    rng = np.random.default_rng(12)
    i = np.arange(240)
    table = pl.DataFrame(
        {
            "doping": rng.choice(["yes", "no"], 240, p=[0.4, 0.6]),
            "region": np.array(["north", "south", "west"])[i // 80],
            "school": i // 10,
            "schools": np.array([20, 40, 16])[i // 80],
            "weight": rng.uniform(1, 3, 240).round(2),
            "sex": rng.choice(["f", "m"], 240),
        }
    )
    weights = rng.multinomial(24, np.full(24, 1 / 24), size=40)[:, i // 10] * table["weight"].to_numpy()
    table = table.with_columns(pl.Series(f"rw{b}", each) for b, each in enumerate(weights, 1))
    monkeypatch.chdir(tmp_path)
    table.write_csv("school.csv")
    (tmp_path / "totals.csv").write_text("variable,class,total\nsex,f,500\nsex,m,480\n")
    return table


def said(naysay, *options, code=0):
    ran = naysay("estimate", "school.csv", "--response", "doping", "--design", DESIGN, "--weight", "weight", *options)
    assert ran.code == code, ran.err
    return ran


def fit_of(table, **columns):
    design = designs.parse(DESIGN)
    return estimate.maximum_likelihood(
        design, design.tally(table, "doping", sampling=Sampling(weights="weight", **columns))
    )


CASES = {
    "clusters": (("--cluster", "school"), {"clusters": "school"}, "24 clusters"),
    "finite": (
        ("--strata", "region", "--cluster", "school", "--fpc", "schools"),
        {"strata": "region", "clusters": "school", "fpc": "schools"},
        "24 clusters in 3 strata, finite population",
    ),
    "replicates": (
        ("--replicates", "rw*", "--replicate-kind", "bootstrap"),
        {"replicates": [f"rw{b}" for b in range(1, 41)], "kind": "bootstrap"},
        "40 bootstrap replicate weights",
    ),
    "jackknife": (
        ("--strata", "region", "--cluster", "school", "--replicates", "jackknife"),
        {"strata": "region", "clusters": "school", "kind": "jackknife"},
        "24 jackknife replicate weights",
    ),
    "totals": (
        ("--cluster", "school", "--totals", "totals.csv"),
        {"clusters": "school", "totals": {"sex": {"f": 500, "m": 480}}},
        "24 clusters, weights calibrated",
    ),
}


@pytest.mark.parametrize(("options", "columns", "told"), CASES.values(), ids=CASES)
def test_options_say_what_columns_say_in_python(naysay, school, options, columns, told):
    found = json.loads(said(naysay, *options, "--format", "json").out)
    fit = fit_of(school, **columns)
    assert found["sampling"] == told
    assert found["standard_errors"] == pytest.approx(fit.standard_errors.tolist(), rel=1e-9)
    assert found["intervals"] == pytest.approx(fit.interval(), rel=1e-9)


def test_clusters_may_be_numbered_anew_in_each_stratum(naysay, school):
    numbered = school.with_columns(school=pl.col("school") % 8)
    numbered.write_csv("school.csv")
    options = ("--strata", "region", "--cluster", "school")
    assert "'0' occurs in 'north' and in 'south'" in said(naysay, *options, code=2).err
    assert "24 clusters in 3 strata" in said(naysay, *options, "--nest").out


def test_groups_are_compared_within_their_clusters(naysay, school):
    told = said(naysay, "--strata", "region", "--cluster", "school", "--by", "sex").out
    assert "Differences from f; 0.95 t intervals" in told
    assert "(Rao–Scott F(1, 21))" in told


WRONG = [
    (("--cluster", "scool"), "did you mean 'school'"),
    (("--strata", "school", "--cluster", "weight"), "named twice"),
    (("--strata", "school", "--cluster", "school"), "named twice"),
    (("--replicates", "rw*"), "say what the replicate weights are"),
    (("--replicates", "brep*", "--replicate-kind", "brr"), "--replicates 'brep*': there is no column"),
    (("--replicate-kind", "brr"), "name the columns"),
    (("--strata", "region", "--cluster", "school", "--replicates", "brr"), "two clusters in each stratum"),
    (("--totals", "school.csv"), "must begin with the columns variable,class,total"),
    (("--totals", "nothing.csv"), "there is no file"),
    (("--fpc", "region"), "finite populations must be numbers"),
    (("--cluster", "school", "--fpc", "schools"), "same number on all rows"),
]


@pytest.mark.parametrize(("options", "told"), WRONG)
def test_bad_options_are_told(naysay, school, options, told):
    assert told in said(naysay, *options, code=2).err


def test_a_lonely_cluster_is_named_with_its_remedies(naysay, school):
    school.filter((pl.col("region") != "west") | (pl.col("school") == 16)).write_csv("school.csv")
    options = ("--strata", "region", "--cluster", "school")
    told = said(naysay, *options, code=2).err
    assert "stratum 'west' has only one cluster" in told
    for remedy in ("certainty", "center", "collapse"):
        assert "17 clusters in 3 strata" in said(naysay, *options, "--lonely", remedy).out


def test_cells_that_are_empty_are_told_with_their_row(naysay, school):
    school.with_columns(region=pl.when(pl.int_range(pl.len()) == 6).then(None).otherwise("region")).write_csv(
        "school.csv"
    )
    assert (
        "every row needs a stratum; column 'region' is empty in row 7" in said(naysay, "--strata", "region", code=2).err
    )
    school.with_columns(weight=pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise("weight")).write_csv(
        "school.csv"
    )
    assert "column 'weight', row 5, is empty" in said(naysay, "--cluster", "school", code=2).err
