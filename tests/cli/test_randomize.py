import json
import shlex

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from naysay import designs, privacy
from naysay.files import designs_of

CATEGORIES = ("low", "middle", "high", "none")
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
FOUR = ("--categories", "low,middle,high,none")
NEGATIVE = ("--response", "income", "--design", "negative()", *FOUR)
LEVELS = ("--response", "income", "--design", "negative_levels()", *FOUR)


@pytest.fixture
def truth(tmp_path):
    """A file of 3,000 true answers with known shares, 30 of them missing."""
    labels = np.repeat(np.array(CATEGORIES, dtype=object), (3000 * SHARES).astype(int))
    np.random.default_rng(1).shuffle(labels)
    labels[::100] = None
    frame = pl.DataFrame({"id": [f"{i:04}" for i in range(3000)], "income": labels.tolist(), "age": ["30"] * 3000})
    frame.write_csv(tmp_path / "truth.csv")
    return frame


def shares(frame):
    counts = dict(frame["income"].drop_nulls().value_counts().rows())
    return np.array([counts[label] for label in CATEGORIES]) / sum(counts.values())


def text(path):
    return pl.read_csv(path, infer_schema=False)


@pytest.mark.parametrize("design", ["negative()", "negative(discards=2)", "k_ary(epsilon=2)", "negative_levels()"])
def test_what_was_randomized_is_estimated_back(naysay, truth, design):
    said = naysay(
        "randomize", "truth.csv", "--response", "income", "--design", design, *FOUR, "--out", "p.csv", "--seed", 5
    )
    assert said.code == 0
    command = next(line for line in said.out.splitlines() if line.startswith("estimate: naysay "))
    words = shlex.split(command.removeprefix("estimate: naysay "))
    assert words[-2:] == ["--target", "file"]
    told = naysay(*words, "--format", "csv")
    assert told.code == 0
    table = pl.read_csv(told.out.encode())
    assert table["n"].to_list() == [2970] * 4
    assert table["missing"].to_list() == [30] * 4
    errors = np.abs(table["proportion"].to_numpy() - shares(truth))
    assert (errors < 4 * table["standard_error"].to_numpy()).all()


def test_everything_else_is_kept(naysay, truth):
    naysay("randomize", "truth.csv", *NEGATIVE, "--out", "p.csv", "--seed", 1)
    private = text("p.csv")
    assert private.columns == ["id", "income", "age"]
    assert_frame_equal(private.drop("income"), truth.drop("income"))
    assert private["income"].is_null().to_list() == truth["income"].is_null().to_list()
    assert not (private["income"] == truth["income"]).any()


def test_the_system_draws_anew_each_time(naysay, truth):
    one = naysay("randomize", "truth.csv", *NEGATIVE, "--out", "1.csv")
    two = naysay("randomize", "truth.csv", *NEGATIVE, "--out", "2.csv")
    assert (one.err, two.err) == ("", "")
    assert not text("1.csv").equals(text("2.csv"))


def test_a_seed_repeats_and_is_warned_of(naysay, truth):
    one = naysay("randomize", "truth.csv", *NEGATIVE, "--out", "1.csv", "--seed", 9)
    naysay("randomize", "truth.csv", *NEGATIVE, "--out", "2.csv", "--seed", 9)
    assert text("1.csv").equals(text("2.csv"))
    assert "whoever knows the seed" in one.err


def test_the_report(naysay, truth):
    lines = naysay("randomize", "truth.csv", *NEGATIVE, "--out", "p.csv").out.splitlines()
    assert lines[0] == "p.csv: 3,000 records, 'income' randomized by negative(), 30 missing (kept so)"
    assert lines[1].startswith("privacy: 3 of 4 categories stay possible")
    assert "'id', 'age'" in lines[2]
    assert "may give the answer away" in lines[2]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "ndjson"])
@pytest.mark.parametrize("source", ["csv", "parquet", "jsonl"])
def test_kinds_of_files(naysay, truth, suffix, source):
    {"csv": truth.write_csv, "parquet": truth.write_parquet, "jsonl": truth.write_ndjson}[source](f"in.{source}")
    words = ("--seed", 2, "--out", f"out.{suffix}")
    assert naysay("randomize", f"in.{source}", *NEGATIVE, *words).code == 0
    read = {"csv": text, "parquet": pl.read_parquet}.get(suffix, pl.read_ndjson)
    naysay("randomize", "truth.csv", *NEGATIVE, "--seed", 2, "--out", "same.csv")
    assert_frame_equal(read(f"out.{suffix}"), text("same.csv"))


def test_sets_are_joined(naysay, truth):
    naysay("randomize", "truth.csv", *NEGATIVE[:3], "negative(discards=2)", *FOUR, "--out", "p.csv")
    said = text("p.csv")["income"].drop_nulls().str.split(";")
    assert set(said.list.len()) == {2}
    assert set(said.explode()) == set(CATEGORIES)


def test_levels_are_drawn_into_a_new_column(naysay, truth):
    naysay("randomize", "truth.csv", *LEVELS, "--out", "p.csv", "--preferences", "0.7,0.3,0", "--seed", 3)
    private = text("p.csv")
    assert private.columns == ["id", "income", "age", "income_level"]
    known = private.drop_nulls("income")
    assert (known["income"].str.split(";").list.len() == known["income_level"].cast(int)).all()
    counts = dict(known["income_level"].value_counts().rows())
    assert set(counts) == {"1", "2"}
    assert abs(counts["1"] / 2970 - 0.7) < 4 * np.sqrt(0.21 / 2970)
    assert private["income_level"].is_null().to_list() == truth["income"].is_null().to_list()


def test_levels_are_read_from_a_column(naysay, truth):
    truth.with_columns(pl.Series("choice", [1, 2, 3] * 1000)).write_csv("chosen.csv")
    said = naysay("randomize", "chosen.csv", *LEVELS, "--level", "choice", "--out", "p.csv")
    assert naysay("estimate", "p.csv", "--response", "income", "--target", "file").code == 0, said.out
    private = text("p.csv").drop_nulls("income")
    assert private.columns == ["id", "income", "age", "choice"]
    assert (private["income"].str.split(";").list.len() == private["choice"].cast(int)).all()


def test_separators_are_kept_and_told(naysay, write):
    write("t.csv", "income;n", "low;1", "none;2")
    said = naysay("randomize", "t.csv", *NEGATIVE, "--separator", ";", "--out", "p.csv")
    assert "--separator ';'" in said.out
    assert text("p.csv").columns == ["income;n"]


def test_numbers_are_categories_too(naysay):
    pl.DataFrame({"x": [1, 2, 3, None]}).write_parquet("x.parquet")
    words = ("--response", "x", "--design", "negative()", "--categories", "1,2,3", "--out", "p.parquet")
    assert naysay("randomize", "x.parquet", *words).code == 0
    assert pl.read_parquet("p.parquet").schema["x"] == pl.String


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--out", "truth.csv"), "--out must not be the input"),
        (("--out", "truth.csv", "--force"), "--out must not be the input"),
        (("--out", "link.csv", "--force"), "--out must not be the input"),
        (("--out", "there.csv"), "'there.csv' exists; add --force"),
        (("--out", "folder.csv"), "is no ordinary file"),
        (("--out", "no/where.csv"), "there is no folder 'no'"),
        (("--out", "p.xls"), "must end in .csv"),
        (("--out", "p.csv", "--level", "age"), "offers no levels"),
        (("--out", "p.csv", "--preferences", "1"), "offers no levels"),
        (("--out", "p.csv", "--response", "incom"), "there is no column 'incom'"),
        (
            ("--out", "p.csv", "--response", "age"),
            "column 'age', row 1, is '30', which is not a category here; known are",
        ),
        (("--out", "p.csv", "--encoding", "ascii", "--response", "é"), "there is no column 'é'"),
    ],
)
def test_requests_that_are_refused(refused, truth, tmp_path, options, told):
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "truth.csv")
    before = (tmp_path / "truth.csv").read_bytes()
    known = NEGATIVE[2:] if "--response" in options else NEGATIVE
    assert told in refused("randomize", "truth.csv", *known, *options)
    assert (tmp_path / "truth.csv").read_bytes() == before
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--preferences", "0.5,0.5"), "--preferences must have 3 probabilities"),
        (("--preferences", "0.5,0.4,0.2"), "--preferences must sum to one"),
        (("--preferences", "a,b,c"), "--preferences must be numbers with commas"),
        (("--preferences", "1,1,-1"), "must not be negative"),
        (("--preferences", "1,0,0", "--level", "k"), "not both"),
        (("--level", "k"), "column 'k', row 2, is '9', which is not on offer; the levels are '1'"),
        (("--level", "z"), "there is no column 'z'"),
        ((), "the column 'income_level', for the levels drawn, exists"),
    ],
)
def test_levels_that_are_refused(refused, write, options, told):
    write("t.csv", "income,k,income_level", "low,1,1", "none,9,1")
    assert told in refused("randomize", "t.csv", *LEVELS, *options, "--out", "p.csv")


def test_a_record_needs_its_level(refused, write):
    write("t.csv", "income,k", "low,1", ",", "none,")
    told = refused("randomize", "t.csv", *LEVELS, "--level", "k", "--out", "p.csv")
    assert told == "column 'k', row 3, is empty; say which level it is"


def test_with_levels_a_wrong_category_is_found_in_its_own_column(refused, write):
    write("t.csv", "income,k", "low,1", "Low,2")
    told = refused("randomize", "t.csv", *LEVELS, "--level", "k", "--out", "p.csv")
    assert told == "column 'income', row 2, is 'Low', which is not a category here; did you mean 'low'?"


def test_labels_with_semicolons_cannot_be_in_sets(refused, naysay, write):
    write("t.csv", "x", "a;b", "c", "d", "e")
    words = ("--response", "x", "--categories", "a;b,c,d,e", "--out", "p.csv", "--design")
    assert "no label may hold one; 'a;b' does" in refused("randomize", "t.csv", *words, "negative(discards=2)")
    assert "no label may hold one" in refused("randomize", "t.csv", *words, "negative_levels()")
    assert naysay("randomize", "t.csv", *words, "negative()").code == 0


def test_two_questions_at_once_are_refused(refused, write, truth):
    both = designs.warner(p=0.8) * designs.negative(CATEGORIES)
    write("both.json", both.to_json())
    words = ("--response", "income", "--design", "both.json", "--out", "p.csv")
    assert "asks several questions" in refused("randomize", "truth.csv", *words)


def test_lists_cannot_go_into_csv(refused, write, tmp_path):
    write("t.jsonl", '{"income": "low", "tags": [1, 2]}')
    assert "cannot write 'p.csv'" in refused("randomize", "t.jsonl", *NEGATIVE, "--out", "p.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    write("u.jsonl", '{"income": ["low"]}')
    assert "must hold one category a row" in refused("randomize", "u.jsonl", *NEGATIVE, "--out", "p.csv")


def test_force_overwrites(naysay, truth, tmp_path):
    (tmp_path / "p.csv").write_text("old")
    assert naysay("randomize", "truth.csv", *NEGATIVE, "--out", "p.csv", "--force").code == 0
    assert text("p.csv").height == 3000


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (OSError(28, "No space left on device"), 2)])
def test_what_is_interrupted_leaves_nothing_behind(naysay, truth, tmp_path, monkeypatch, error, code):
    def stop(frame, file, **_):
        file.write(b"id,inc")
        raise error

    (tmp_path / "p.csv").write_text("old")
    monkeypatch.setattr(pl.DataFrame, "write_csv", stop)
    assert naysay("randomize", "truth.csv", *NEGATIVE, "--out", "p.csv", "--force").code == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "truth.csv"]
    assert (tmp_path / "p.csv").read_text() == "old"


def test_a_design_file_names_its_categories(naysay, truth, write):
    write("d.json", designs.negative(CATEGORIES).to_json())
    said = naysay("randomize", "truth.csv", "--response", "income", "--design", "d.json", "--out", "p.csv")
    assert said.code == 0
    assert "--categories" not in said.out
    assert json.loads((naysay("design", "show", "d.json", "--format", "json")).out)["naysay"] == "design"


TWO = ("--response", "income", "--categories", "low,middle,high,none", "--response", "smoker", "--categories", "yes,no")


@pytest.fixture
def people(tmp_path):
    """A file of 4,000 people with two answers to hide."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 80, 4000),
            "income": rng.choice(CATEGORIES, 4000, p=SHARES),
            "smoker": rng.choice(["yes", "no"], 4000, p=[0.3, 0.7]),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    return frame


@pytest.mark.parametrize("suffix", ["csv", "parquet", "sav", "xlsx"])
def test_a_release_is_read_without_a_word_more(naysay, people, suffix):
    release = f"release.{suffix}"
    words = ("--design", "k_ary(epsilon=part)", "--budget", 3, "--seed", 1, "--out", release)
    said = naysay("randomize", "people.csv", *TWO, *words)
    assert "privacy, 2 randomized columns together: ε = 3: the odds" in said.out
    estimated = json.loads(naysay("estimate", release, "--response", "smoker", "--format", "json").out)
    assert abs(estimated["proportions"][0] - 0.3) < 4 * estimated["standard_errors"][0]
    assert naysay("estimate", release, "--response", "income", "--by", "age").code == 0
    crossed = naysay("crosstab", release, "--row", "income", "--column", "smoker", "--bootstrap", 0, "--format", "json")
    assert crossed.code == 0
    assert naysay("regress", "smoker ~ age", release).code == 0
    counted = json.loads(naysay("query", release, "age < 30 and smoker = yes", "--format", "json").out)
    truth = people.filter((pl.col("age") < 30) & (pl.col("smoker") == "yes")).height
    assert abs(counted["count"] - truth) < 4 * counted["standard_error"]
    assert naysay("risk", release, "--keys", "age,income").code == 0


def test_the_budget_is_shared_and_kept(naysay, people, refused, tmp_path):
    parts = ("--design", "k_ary(epsilon=part)", "--design", "warner(p=0.75)", "--out", "r.csv")
    said = naysay("randomize", "people.csv", *TWO, *parts, "--budget", 2.5)
    assert "together: ε = 2.5:" in said.out
    assert "by a factor of 12.19 at most" in said.out  # e^2.5 = 12.1825, rounded up
    book = json.loads((tmp_path / "r.csv.designs.json").read_text(encoding="utf-8"))
    assert [entry["column"] for entry in book["columns"]] == ["income", "smoker"]
    assert "the designs spend ε = 1.099, and --budget is 1" in refused(
        "randomize", "people.csv", *TWO, *parts, "--budget", 1, "--force"
    )
    assert "is ∞, which no budget holds" in refused(
        "randomize",
        "people.csv",
        *TWO,
        "--design",
        "negative()",
        "--design",
        "warner(p=0.75)",
        "--budget",
        1,
        "--out",
        "s.csv",
    )
    assert "add --budget" in refused("randomize", "people.csv", *TWO, *parts, "--force")


def test_earlier_columns_stay_in_the_codebook_and_in_the_sum(naysay, people, refused):
    naysay("randomize", "people.csv", *TWO[:4], "--design", "k_ary(epsilon=1)", "--out", "1.csv")
    again = naysay("randomize", "1.csv", *TWO[4:], "--design", "k_ary(epsilon=0.5)", "--out", "2.csv")
    assert "2 randomized columns together: ε = 1.5" in again.out
    assert naysay("query", "2.csv", "income = low and smoker = yes").code == 0
    more = ("randomize", "1.csv", *TWO[4:], "--out", "4.csv", "--budget")
    assert "ε = 1.5, 1 of it in columns randomized before" in refused(*more, 1.2, "--design", "k_ary(epsilon=0.5)")
    assert "together: ε = 1.2:" in naysay(*more, 1.2, "--design", "k_ary(epsilon=part)", "--force").out
    naysay("randomize", "people.csv", *TWO[:4], "--design", "negative()", "--out", "5.csv")
    without_end = ("randomize", "5.csv", *TWO[4:], "--design", "k_ary(epsilon=1)", "--out", "6.csv", "--budget", 9)
    assert "its ε is ∞, which no budget holds; leave --budget out, or begin with" in refused(*without_end)
    assert "holds randomized answers already" in refused(
        "randomize", "2.csv", *TWO[4:], "--design", "k_ary(epsilon=0.5)", "--out", "3.csv"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--response", "income", "--response", "income", "--design", "k_ary(epsilon=1)"), "is given twice"),
        ((*TWO, "--design", "negative()", "--design", "k_ary(epsilon=1)", "--design", "warner(p=1/4)"), "3 times"),
        (("--response", "income", *TWO[2:], "--categories", "a,b", "--design", "k_ary(epsilon=1)"), "3 times"),
        ((*TWO, "--design", "k_ary(epsilon=1)", "--budget", "0"), "must be a number above 0"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(refused, people, options, told):
    assert told in refused("randomize", "people.csv", *options, "--out", "p.csv")


def test_numbers_of_a_release_are_estimated_as_ranges(naysay):
    pl.DataFrame({"ms": np.random.default_rng(3).integers(0, 64, 2_000)}).write_csv("times.csv")
    words = ("--response", "ms", "--design", "hierarchy(categories=64, epsilon=2)", "--seed", 1, "--out", "r.csv")
    assert naysay("randomize", "times.csv", *words).code == 0
    told = naysay("estimate", "r.csv", "--response", "ms", "--target", "file")
    assert told.code == 0, told.err
    assert "quantile" in told.out


def test_all_columns_together_tell_no_more_than_the_budget_says(naysay, tmp_path):
    """The likelihood ratio of a record's answers over all columns, the worst pair of truths, on 200 records."""
    rng = np.random.default_rng(14)
    labels = {"income": ("low", "middle", "high"), "gender": ("f", "m"), "job": ("a", "b", "c", "d")}
    pl.DataFrame({name: rng.choice(of, 200) for name, of in labels.items()}).write_csv(tmp_path / "people.csv")
    words = [word for name, of in labels.items() for word in ("--response", name, "--categories", ",".join(of))]
    said = naysay(
        "randomize", "people.csv", *words, "--design", "k_ary(epsilon=part)", "--budget", 3, "--out", "r.csv"
    ).out
    assert "change by a factor of 20.09 at most" in said
    assert said.count("by 2.72 at most") == 3
    release, worst = pl.read_csv(tmp_path / "r.csv"), np.ones(200)
    for name, entry in designs_of(tmp_path / "r.csv").items():
        chances = entry.design.channel().likelihood(release[name].to_list())
        worst *= chances.max(axis=1) / chances.min(axis=1)
    assert 0.99 * np.exp(3) < worst.max() < 20.09


def test_a_bound_is_rounded_up():
    """e^1.5 is 4.4817, so that "by 4.48 at most" was not true."""
    assert "by 4.49 at most" in str(privacy.statement(designs.k_ary(("a", "b"), epsilon=1.5)))
    assert "by 4 at most" in str(privacy.statement(designs.warner(p=0.8)))
