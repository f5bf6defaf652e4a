"""PRAM, negative releases and synthetic records: what was drawn is undone, and what comes back is counted."""

import numpy as np
import polars as pl
import pytest

from naysay import crosstab, estimate, regression
from naysay.errors import DataError
from naysay.microdata import protect

JOBS = ("clerk", "nurse", "smith", "teacher")
SHARES = (0.45, 0.3, 0.2, 0.05)


def people(n, seed=1):
    rng = np.random.default_rng(seed)
    job = rng.choice(JOBS, n, p=SHARES)
    return pl.DataFrame({"job": job, "rich": rng.random(n) < np.where(job == "smith", 0.7, 0.3)})


def fit_of(method, frame):
    safe, log = method.apply(frame)
    design = log.designs["job"]
    return estimate.maximum_likelihood(design, design.tally(safe["job"].to_list())), safe, log


@pytest.mark.parametrize("make", [
    lambda seed: protect.Pram(variable="job", keep=0.7, seed=seed),
    lambda seed: protect.Pram(variable="job", keep=0.7, invariant=True, seed=seed),
    lambda seed: protect.Negative(variable="job", seed=seed),
], ids=["pram", "invariant", "negative"])  # fmt: skip
def test_what_was_drawn_is_undone_without_bias_and_covered(make):
    frame, runs = people(1_500), 60
    truth = np.array([(frame["job"] == job).mean() for job in JOBS])
    estimates, hits = [], 0
    for seed in range(runs):
        safe, log = make(seed).apply(frame)
        design = log.designs["job"]
        fit = estimate.moments(design, design.tally(safe["job"].to_list()), target="file")
        low, high = fit.interval().T
        estimates.append(fit.proportions)
        hits += ((low <= truth) & (truth <= high)).sum()
    spread = np.std(estimates, axis=0, ddof=1)
    assert np.abs(np.mean(estimates, axis=0) - truth).max() < 4 * (spread / np.sqrt(runs)).max()
    assert hits / (4 * runs) > 0.88


def test_invariant_margins_are_right_without_correction():
    frame = people(4_000)
    safe, log = protect.Pram(variable="job", keep=0.6, invariant=True, seed=3).apply(frame)
    design = log.designs["job"]
    truth = np.array([(frame["job"] == job).mean() for job in JOBS])
    assert np.asarray(design.matrix) @ truth == pytest.approx(truth, abs=1e-8)
    plain = np.array([(safe["job"] == job).mean() for job in JOBS])
    assert np.abs(plain - truth).max() < 4 * np.sqrt(0.25 / 4_000)


def test_a_crosstab_with_a_plain_column_is_undone():
    frame = people(20_000, seed=4)
    safe, log = protect.Pram(variable="job", keep=0.7, seed=4).apply(frame)
    table = {"job": safe["job"].to_list(), "rich": ["yes" if each else "no" for each in frame["rich"]]}
    found = crosstab.crosstab(
        table, row=crosstab.Variable("job", log.designs["job"]), column=crosstab.Variable("rich", "plain")
    )
    smith = found.conditional()[0][JOBS.index("smith")]
    truth = frame.filter(pl.col("job") == "smith")["rich"].mean()
    assert min(abs(smith - truth)) < 0.06
    naive = pl.DataFrame({"job": safe["job"], "rich": frame["rich"]}).filter(pl.col("job") == "smith")["rich"].mean()
    assert abs(naive - truth) > 0.08


@pytest.mark.parametrize("negative", [False, True])
def test_a_regression_on_a_plain_column_is_undone(negative):
    rng = np.random.default_rng(6)
    rich = rng.random(30_000) < 0.4
    job = np.where(rng.random(30_000) < np.where(rich, 0.5, 0.25), "nurse", "clerk")
    job = np.where(rng.random(30_000) < 0.3, "smith", job)
    frame = pl.DataFrame({"job": job, "rich": rich.astype(int)})
    method = protect.Negative(variable="job", seed=2) if negative else protect.Pram(variable="job", keep=0.6, seed=2)
    safe, log = method.apply(frame)
    fit = regression.regress(log.designs["job"], "job ~ rich", safe, reference="clerk")
    true = np.log([[((job == each) & (rich == other)).sum() for other in (0, 1)] for each in ("clerk", "nurse")])
    slope = (true[1, 1] - true[0, 1]) - (true[1, 0] - true[0, 0])
    place = int(np.argmin(np.abs(fit.coefficients.ravel() - slope)))
    assert abs(fit.coefficients.ravel()[place] - slope) < 4 * fit.standard_errors.ravel()[place]
    assert fit.standard_errors.ravel()[place] < slope / 4
    naive = [
        ((safe["job"] == each) & (frame["rich"] == other)).sum() for each in ("clerk", "nurse") for other in (0, 1)
    ]
    assert abs(np.log(naive[3] / naive[1] * naive[0] / naive[2]) - slope) > 0.3


def test_gaps_stay_or_are_a_category_and_strata_draw_for_themselves():
    frame = pl.DataFrame({"job": [*JOBS, None] * 40, "region": ["n", "s"] * 100})
    kept, _ = protect.Pram(variable="job", keep=0.5, seed=1).apply(frame)
    assert kept["job"].is_null().equals(frame["job"].is_null())
    drawn, log = protect.Pram(variable="job", keep=0.5, gaps="category", seed=1).apply(frame)
    assert drawn["job"].null_count() == 0 and "missing" in log.designs["job"].categories
    one, _ = protect.Pram(variable="job", keep=0.5, within=["region"], seed=1).apply(frame)
    north = frame.filter(pl.col("region") == "n")
    alone, _ = protect.Pram(variable="job", keep=0.5, within=["region"], seed=1, categories=JOBS).apply(north)
    assert one.filter(pl.col("region") == "n")["job"].equals(alone["job"])  # the other stratum changes nothing


def test_the_log_repeats_what_was_drawn():
    frame = people(300)
    safe, log = protect.Pram(variable="job", keep=0.5).apply(frame)
    assert log.repeat(frame).equals(safe)
    other, _ = protect.Pram(variable="job", keep=0.5).apply(frame)
    assert not other.equals(safe)


def test_synthetic_records_follow_the_file_and_count_what_they_repeat():
    rng = np.random.default_rng(5)
    more = {"age": rng.integers(18, 90, 2_000), "pay": rng.lognormal(3, 1, 2_000)}
    frame = people(2_000, seed=5).with_columns(**{name: pl.Series(cells) for name, cells in more.items()})
    names = ["job", "rich", "age", "pay"]
    safe, log = protect.Synthesize(columns=names, seed=1).apply(frame.with_columns(id=pl.int_range(2_000)))
    assert safe.columns == names and safe.height == 2_000
    for job in JOBS:
        assert abs((safe["job"] == job).mean() - (frame["job"] == job).mean()) < 0.05
    rich = [each.filter(pl.col("job") == "smith")["rich"].mean() for each in (frame, safe)]
    assert rich[1] == pytest.approx(rich[0], abs=0.1)
    assert "left out: 'id'" in " ".join(log.steps[0].notes)
    keys = ["job", "rich", "age"]
    found, told = protect.Synthesize(columns=keys, seed=2).apply(frame)
    alone = frame.select(keys).filter(pl.struct(keys).is_unique())
    met = found.join(alone, on=keys, how="semi").height
    assert told.steps[0].notes[0].startswith(f"{met:,} records repeat one of {alone.height:,}") and met > 0
    none, _ = protect.Synthesize(columns=keys, seed=2, drop=True).apply(frame)
    assert none.join(alone, on=keys, how="semi").height == 0
    smooth, _ = protect.Synthesize(columns=["job", "pay"], seed=2, smooth=True).apply(frame)
    assert not set(smooth["pay"]) & set(frame["pay"])


WRONG = {
    "no probabilities": (protect.Pram, {}, "by keep, or by a matrix"),
    "a certain one": (protect.Pram, {"keep": 1.0}, "below 1"),
    "a matrix without categories": (protect.Pram, {"matrix": [[1, 0], [0, 1]]}, "needs its categories"),
    "columns that do not sum to one": (
        protect.Pram, {"matrix": [[0.5, 0.1], [0.2, 0.9]], "categories": ["a", "b"]}, "cannot be",
    ),
    "a singular matrix": (
        protect.Pram, {"matrix": [["0.5", "0.5"], ["0.5", "0.5"]], "categories": ["a", "b"]}, "singular",
    ),
    "a value that is no category": (protect.Pram, {"keep": 0.5, "categories": ["a", "c"]}, "'b', which is none"),
    "itself as stratum": (protect.Pram, {"keep": 0.5, "within": "x"}, "stratum of its own"),
    "the other one of two": (protect.Negative, {}, "gives the other one away"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_designs_that_cannot_be_are_refused(case):
    method, given, told = WRONG[case]
    with pytest.raises(DataError, match=told):
        method(variable="x", **given).apply({"x": ["a", "b"]})


def test_an_identifier_is_neither_drawn_nor_synthesized():
    frame = pl.DataFrame({"id": range(2_000), "job": ["cook", "nurse"] * 1_000})
    with pytest.raises(DataError, match="looks like an identifier"):
        protect.Pram(variable="id", keep=0.5).apply(frame)
    with pytest.raises(DataError, match="it is an identifier"):
        protect.Synthesize(columns=["job", "id"]).apply(frame)
    for people, least in ((1, 1), (9, 1), (39, 20)):
        with pytest.raises(DataError, match=f"needs .* the file has {people}: of so few"):
            protect.Synthesize(columns=["a"], least=least).apply({"a": ["x", "y", "z"] * (people // 3) or ["x"]})


def test_copies_combine_by_their_rules():
    q, v = [0.52, 0.48, 0.50], [0.0004] * 3
    assert protect.combined(q, v).variance == pytest.approx(0.0004 / 3 + 0.0004)
    assert protect.combined(q, v, kind="fully").variance == pytest.approx(4 / 3 * 0.0004 - 0.0004)
    assert np.isnan(protect.combined([0.5, 0.5], [0.01, 0.01], kind="fully").standard_error)
    assert protect.combined(0.5, 0.01, kind="one").variance == pytest.approx(0.02)
    with pytest.raises(DataError, match="two copies"):
        protect.combined(0.5, 0.01)
