import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naysay import designs, estimate

KEYS = [
    "question",
    "design",
    "n",
    "missing",
    "target",
    "method",
    "categories",
    "proportions",
    "standard_errors",
    "standard_error_kind",
    "covariance",
    "intervals",
    "confidence",
    "interval_method",
    "privacy",
    "warnings",
]
CATEGORIES = ("low", "middle", "high", "none")
FOUR = ("--categories", "low,middle,high,none")
ABC = ("--categories", "a,b,c", "--design", "negative()")
LEVELS = ("--response", "x", "--categories", "a,b,c,d", "--design", "negative_levels()")
PAIRS = ("--response", "income", "--design", "negative(discards=2)", *FOUR)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# what is printed


def test_the_published_counts(naysay, write):
    write("r.csv", "said,n", "a,280", "b,240", "c,260", "d,220")
    words = ("estimate", "r.csv", "--response", "said", "--count", "n", "--design", "negative()")
    told = json.loads(naysay(*words, "--categories", "a,b,c,d", "--estimator", "moments", "--format", "json").out)
    assert told["proportions"] == pytest.approx([0.16, 0.28, 0.22, 0.34], abs=1e-12)
    assert told["standard_errors"] == pytest.approx([0.0426170883, 0.0405369368, 0.0416333200, 0.0393185191], abs=1e-9)
    assert (told["n"], told["missing"], told["question"], told["design"]) == (1000, 0, "said", "negative()")


def test_json_has_the_fixed_fields(naysay, survey):
    told = json.loads(naysay("estimate", "answers.csv", *PAIRS, "--format", "json").out)
    assert set(KEYS) <= set(told)
    assert set(told["privacy"]) >= {"epsilon", "bits", "prior", "still_possible"}
    assert told["privacy"]["epsilon"] == "inf"
    assert told["categories"] == list(CATEGORIES)
    assert np.shape(told["covariance"]) == (4, 4)
    assert np.shape(told["intervals"]) == (4, 2)
    assert (told["confidence"], told["target"], told["method"]) == (0.95, "population", "maximum likelihood")


def test_json_agrees_with_python(naysay, survey):
    told = json.loads(naysay("estimate", "answers.csv", *PAIRS, "--format", "json").out)
    design = designs.negative(CATEGORIES, discards=2)
    fit = estimate.maximum_likelihood(design, design.tally(pl.read_csv(survey / "answers.csv"), "income"))
    assert told == json.loads(json.dumps(fit.to_dict()))


def test_groups_in_json(naysay, survey):
    words = ("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)", "--by", "sport")
    groups = json.loads(naysay(*words, "--format", "json").out)["groups"]
    assert [told["group"] for told in groups] == ["cycling", "judo"]
    assert all(set(KEYS) <= set(told) for told in groups)
    assert sum(told["n"] for told in groups) == 400


def test_csv_has_one_row_a_category(naysay, survey):
    code, out, err = naysay("estimate", "answers.csv", *PAIRS, "--format", "csv")
    told = json.loads(naysay("estimate", "answers.csv", *PAIRS, "--format", "json").out)
    assert code == 0
    assert "privacy: 2 of 4" in err
    table = rows(out)
    assert [row["category"] for row in table] == list(CATEGORIES)
    assert [float(row["proportion"]) for row in table] == told["proportions"]
    assert [float(row["standard_error"]) for row in table] == told["standard_errors"]
    assert [[float(row["low"]), float(row["high"])] for row in table] == told["intervals"]


LEVELED = [("a", 1), ("b", 1), ("c", 1), ("a;b", 2), ("b;c", 2), ("a;c", 2), ("b", 1)]


def test_csv_of_levels_holds_both_estimates_their_difference_and_the_test(naysay, write):
    write("l.csv", "said,level", *(f"{said},{level}" for said, level in LEVELED * 20))
    words = ("estimate", "l.csv", "--response", "said", "--level", "level", "--design", "negative_levels()")
    code, out, err = naysay(*words, "--categories", "a,b,c", "--format", "csv")
    assert code == 0
    assert "independence of level and category" in err
    for row in rows(out):
        assert float(row["stratified"]) - float(row["pooled"]) == pytest.approx(float(row["difference"]), abs=1e-12)
        assert float(row["difference_standard_error"]) > 0
        assert row["design"] == "negative_levels()"
        assert "moments" in row["standard_error_kind"]


def test_groups_in_csv_and_in_the_table(naysay, survey):
    words = ("estimate", "answers.csv", "--response", "doping", "--design", "warner(p=0.7)", "--by", "sport")
    assert [row["group"] for row in rows(naysay(*words, "--format", "csv").out)] == ["cycling"] * 2 + ["judo"] * 2
    out = naysay(*words).out
    assert "sport = cycling" in out
    assert "sport = judo" in out
    assert out.count("privacy: ") == 2


def test_the_methods_of_groups_say_whether_groups_differ_and_cite_each_paper_once(naysay, write):
    write("g.csv", "said,sport", *["a,x", "b,x", "c,x", "a,y", "a,y", "b,y", "c,y", "c,"] * 10)
    words = ("estimate", "g.csv", "--response", "said", "--by", "sport", *ABC)
    told = naysay(*words, "--methods-text", "--noncompliance", "0.3")
    assert told.out.count("@misc{esponda2006,") == 1
    assert told.out.index("equality of the groups: ") < told.out.index("@misc")
    assert [line for line in told.out.splitlines() if line.startswith("sport = ")] == [
        "sport = (missing)",
        "sport = x",
        "sport = y",
    ]


def test_the_methods_of_a_mean_are_refused(naysay, write):
    write("m.csv", "age", "1", "0", "1")
    told = naysay(
        "estimate", "m.csv", "--response", "age", "--design", "number(low=0,high=1,epsilon=1)", "--methods-text"
    )
    assert told.code == 2
    assert "a methods text tells shares of categories; got Mean" in told.err


def test_levels_are_stratified_beside_pooled(naysay, survey):
    words = ("estimate", "levels.csv", "--response", "income", "--level", "level", "--design", "negative_levels()")
    told = json.loads(naysay(*words, *FOUR, "--format", "json").out)
    assert told["method"] == "stratified (proportional)"
    assert len(told["levels"]["pooled"]) == 4
    assert "stratified-pooled" in naysay(*words, *FOUR).out
    pooled = json.loads(naysay(*words, *FOUR, "--estimator", "pooled", "--format", "json").out)
    assert pooled["method"] == "pooled maximum likelihood"


@pytest.mark.parametrize("estimator", ["moments", "nstops", "nstops_i", "nstops_ii", "maximum_likelihood"])
def test_estimators_agree_inside_the_simplex(naysay, survey, estimator):
    words = ("estimate", "counts.csv", "--response", "income", "--count", "n", "--design", "design.json")
    told = json.loads(naysay(*words, "--estimator", estimator, "--format", "json").out)
    moments = json.loads(naysay(*words, "--estimator", "moments", "--format", "json").out)
    assert min(moments["proportions"]) > 0
    assert told["proportions"] == pytest.approx(moments["proportions"], abs=1e-5)


@pytest.mark.parametrize("interval", ["wald", "agresti_coull", "profile", "bootstrap"])
def test_the_interval_asked_for_is_used(naysay, survey, interval):
    words = ("estimate", "counts.csv", "--response", "income", "--count", "n", "--design", "design.json")
    wide = json.loads(naysay(*words, "--interval", interval, "--confidence", "0.99", "--format", "json").out)
    narrow = json.loads(naysay(*words, "--interval", interval, "--confidence", "0.5", "--format", "json").out)
    assert (wide["interval_method"], wide["confidence"]) == (interval, 0.99)
    assert np.ptp(wide["intervals"], axis=1).min() > np.ptp(narrow["intervals"], axis=1).max()


def test_boolean_columns_are_the_same_as_text(naysay, survey):
    words = [word for label in CATEGORIES for word in ("--response", label)]
    told = json.loads(naysay("estimate", "sets.parquet", "--design", "design.json", *words, "--format", "json").out)
    frame = pl.read_parquet(survey / "sets.parquet")
    names = [label for row in frame.rows() for label, said in zip(CATEGORIES, row, strict=True) if said]
    pl.DataFrame({"x": names}).write_ndjson(survey / "x.ndjson")
    same = json.loads(
        naysay("estimate", "x.ndjson", "--design", "design.json", "--response", "x", "--format", "json").out
    )
    assert told["proportions"] == same["proportions"]


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("true", "false"), ("TRUE", "FALSE"), ("1.0", "0.0")])
def test_boolean_columns_in_csv(naysay, write, yes, no):
    write("s.csv", "a,b,c", f"{yes},{no},{no}", f"{no},{yes},{no}", f"{no},{no},{yes}", ",,")
    words = [word for label in "abc" for word in ("--response", label)]
    if yes == "1.0":
        pl.DataFrame(
            {"a": [1.0, 0.0, 0.0, None], "b": [0.0, 1.0, 0.0, None], "c": [0.0, 0.0, 1.0, None]}
        ).write_parquet("s.parquet")
    file = "s.parquet" if yes == "1.0" else "s.csv"
    told = json.loads(naysay("estimate", file, *words, *ABC, "--interval", "wald", "--format", "json").out)
    assert (told["n"], told["missing"]) == (3, 1)


def test_two_questions(naysay, write):
    both = designs.warner(p=0.8) * designs.negative(("a", "b", "c"))
    rng = np.random.default_rng(4)
    said = both.randomize((rng.choice(["yes", "no"], 500), rng.choice(["a", "b", "c"], 500)), rng=rng)
    one, two = said.parts
    pl.DataFrame({"one": one.texts(), "two": two.texts()}).write_csv("both.csv")
    write("both.json", both.to_json())
    words = ("estimate", "both.csv", "--response", "one", "--response", "two", "--design", "both.json")
    words = (*words, "--interval", "wald")
    told = json.loads(naysay(*words, "--format", "json").out)
    assert told["question"] == "one × two"
    assert told["categories"][1] == ["yes", "b"]
    assert rows(naysay(*words, "--format", "csv").out)[1]["category"] == "yes × b"


def test_weights_and_missing_answers(naysay, survey, write):
    words = ("--response", "doping", "--design", "warner(p=0.7)", "--weight", "weight", "--format", "json")
    told = json.loads(naysay("estimate", "answers.csv", *words).out)
    assert "weights" in told["standard_error_kind"]
    write("m.csv", "id,x", "1,yes", "2,", "3,no", '4,""')
    told = json.loads(
        naysay("estimate", "m.csv", "--response", "x", "--design", "warner(p=0.7)", "--format", "json").out
    )
    assert (told["n"], told["missing"]) == (2, 2)


def test_the_file_target_is_named(naysay, survey):
    assert "target: the file" in naysay("estimate", "answers.csv", *PAIRS, "--target", "file").out


# how files are read


def test_labels_stay_as_written(naysay, write):
    write("l.csv", "x", "1", "007", "1.0", "1")
    words = ("estimate", "l.csv", "--response", "x", "--categories", "1,007,1.0", "--design", "direct()")
    told = json.loads(naysay(*words, "--format", "json").out)
    assert told["categories"] == ["1", "007", "1.0"]
    assert told["proportions"] == pytest.approx([0.5, 0.25, 0.25])


@pytest.mark.parametrize("values", [[1, 2, 3, 1], [1.0, 2.0, 3.0, None], [True, False, True, None]])
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_numbers_are_labels_too(naysay, values, suffix):
    frame = pl.DataFrame({"x": values})
    (frame.write_parquet if suffix == "parquet" else frame.write_ndjson)(f"x.{suffix}")
    labels = "true,false" if True in values and values[1] is False else "1,2,3"
    words = ("estimate", f"x.{suffix}", "--response", "x", "--categories", labels, "--design", "direct()")
    assert json.loads(naysay(*words, "--format", "json").out)["n"] == len([v for v in values if v is not None])


@pytest.mark.parametrize(
    ("encoding", "options"),
    [
        ("utf-8-sig", ()),
        ("utf-16", ("--encoding", "utf-16")),
        ("utf-16-le", ("--encoding", "utf-16-le")),
        ("latin-1", ("--encoding", "latin-1")),
    ],
)
def test_encodings(naysay, write, encoding, options):
    write("é.csv", "é,y", "ä,1", '"ö",2', "ü,3", encoding=encoding)
    words = ("estimate", "é.csv", "--response", "é", "--categories", "ä,ö,ü", "--design", "direct()", *options)
    assert json.loads(naysay(*words, "--format", "json").out)["n"] == 3


def test_semicolons_tabs_and_names_that_look_like_patterns(naysay, write):
    write("a[1].csv", "x;n", "a;2", '"b";3', "c;4", "", "")
    words = ("estimate", "a[1].csv", "--response", "x", "--count", "n", "--separator", ";", *ABC)
    assert json.loads(naysay(*words, "--format", "json").out)["n"] == 9
    write("a[1].jsonl", '{"x": "a"}', '{"x": "b"}', "", '{"x": null}')
    words = ("estimate", "a[1].jsonl", "--response", "x", "--design", "direct()", "--categories", "a,b")
    told = json.loads(naysay(*words, "--format", "json").out)
    assert (told["n"], told["missing"]) == (2, 1)


def test_lists_in_json_lines_are_sets(naysay, write):
    write("s.jsonl", '{"x": ["a", "b"]}', '{"x": ["c", "d"]}', '{"x": ["a", "c"]}', '{"x": null}')
    words = ("--response", "x", "--design", "negative(discards=2)", "--categories", "a,b,c,d")
    told = json.loads(naysay("estimate", "s.jsonl", *words, "--interval", "wald", "--format", "json").out)
    assert (told["n"], told["missing"]) == (3, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(labels=st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=4, unique=True))
def test_any_label_survives_file_and_option(naysay, labels):
    odd = any(not label.strip() or "\r" in label or "\0" in label or "\n" in label for label in labels)
    if odd or any(ord(letter) in range(0xD800, 0xE000) for label in labels for letter in label):
        return
    record = io.StringIO()
    csv.writer(record, quoting=csv.QUOTE_ALL, lineterminator="").writerow(labels)
    pl.DataFrame({"x": labels * 3}).write_csv("x.csv")
    words = ("estimate", "x.csv", "--response", "x", "--design", "direct()", "--categories", record.getvalue())
    ran = naysay(*words, "--interval", "wald", "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["proportions"] == pytest.approx([1 / len(labels)] * len(labels))
    assert naysay(*words, "--interval", "wald").code == 0


def test_wide_and_right_to_left_labels_print(naysay, write):
    labels = ("שלום", "収入なし", "x" * 300, 'a, "b"')
    write("w.csv", "x", *('"' + label.replace('"', '""') + '"' for label in labels))
    record = io.StringIO()
    csv.writer(record).writerow(labels)
    words = ("estimate", "w.csv", "--response", "x", "--design", "direct()", "--categories", record.getvalue().strip())
    out = naysay(*words, "--interval", "wald").out
    assert "שלום" in out
    assert "収入なし" in out
    assert out.count("x") >= 300


# files that cannot be read


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.csv", None, "there is no file 'none.csv'"),
        ("zero.csv", b"", "is empty (0 bytes)"),
        ("zero.jsonl", b"", "is empty (0 bytes)"),
        ("zero.parquet", b"", "is empty (0 bytes)"),
        ("head.csv", b"x,y\n", "holds no rows"),
        ("blank.csv", b"x,y\n\n\n", "holds no rows"),
        ("long.csv", b"x,y\na,1\nb,2,3\n", "'long.csv', line 3, has 3 cells where the header has 2"),
        ("short.csv", b"x,y\na\nb,2\n", "'short.csv', line 2, has 1 cell where the header has 2"),
        ("quoted.csv", b'x,y\n"a\n,",1\nb\n', "'quoted.csv', line 4, has 1 cell where the header has 2"),
        ("open.csv", b'x,y\n"a,1\nb,2\n', "'open.csv', line 2: a quoted cell is not closed"),
        ("inner.csv", b"x,y\na,1\n\nb,2\n", "a blank line above line 4"),
        ("latin.csv", "x,y\na,1\né,2\n".encode("latin-1"), "byte 0xe9 at byte 9, line 3"),
        ("wide.csv", "x,y\na,1\n".encode("utf-16"), "looks like UTF-16, not UTF-8; add --encoding utf-16"),
        ("mac.csv", b"x,y\ra,1\rb,2\r", "end in CR alone"),
        ("bad.jsonl", b'{"x": "a"}\n{"x": \n', "'bad.jsonl', line 2, is not a JSON object"),
        ("list.jsonl", b"[1]\n", "'list.jsonl', line 1, is not a JSON object"),
        ("latin.jsonl", '{"x": "é"}\n'.encode("latin-1"), "byte 0xe9 at byte 8, line 1"),
        ("junk.parquet", b"not parquet at all", "cannot read 'junk.parquet'"),
        ("book.xls", b"x", ".csv, .parquet, .jsonl, .ndjson, .sav, .zsav, .dta, .xlsx, .por, .duckdb; got 'book.xls'"),
        ("book.xlsx", b"x", "'book.xlsx': it is damaged or no workbook of Excel"),
        ("plain", b"x", "must end in .csv"),
    ],
)
def test_files_that_cannot_be_read(refused, tmp_path, name, content, told):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert told in refused("estimate", name, "--response", "x", *ABC)


def test_the_way_out_of_a_wrong_encoding_is_named(refused, tmp_path):
    (tmp_path / "l.csv").write_bytes(b"x\n\xe9\n")
    assert "--encoding latin-1" in refused("estimate", "l.csv", "--response", "x", *ABC)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--encoding", "utf-99"), "no encoding is called 'utf-99'"),
        (("--encoding", "ascii"), "is not ascii: it cannot be read at byte 3, line 2"),
        (("--separator", ";;"), "the separator must be one plain character"),
        (("--separator", '"'), "the separator must be one plain character"),
    ],
)
def test_reading_options_that_cannot_be(refused, write, options, told):
    write("l.csv", "x", "é")
    assert told in refused("estimate", "l.csv", "--response", "x", *ABC, *options)


def test_a_folder_is_no_file(refused, tmp_path):
    (tmp_path / "x.csv").mkdir()
    assert "cannot read 'x.csv'" in refused("estimate", "x.csv", "--response", "x", *ABC)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("incom,age", "there is no column 'income'; the columns are 'incom', 'age' (did you mean 'incom'?)"),
        ("a,b", "there is no column 'income'; the columns are 'a', 'b'"),
        ("income;age", "add --separator ';'"),
        ("income\tage", "add --separator $'\\t'"),
    ],
)
def test_a_missing_column(refused, write, header, told):
    write("x.csv", header, header.upper())
    assert told in refused("estimate", "x.csv", "--response", "income", *ABC)


@pytest.mark.parametrize("option", ["--count", "--weight", "--by"])
def test_every_named_column_must_be_there(refused, write, option):
    write("x.csv", "x", "a")
    assert "there is no column 'z'; the columns are 'x'" in refused(
        "estimate", "x.csv", "--response", "x", *ABC, option, "z"
    )


# answers that cannot be


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["a", "b", "Low", "a"], "column 'x', row 3, is 'Low', which is not a response here"),
        (["a", "", "lowe"], "column 'x', row 3, is 'lowe', which is not a response here; did you mean 'low'?"),
    ],
)
def test_unknown_labels(refused, write, cells, told):
    write("x.csv", "x,y", *(f"{cell},1" for cell in cells))
    words = ("estimate", "x.csv", "--response", "x", "--design", "negative()", "--categories", "a,b,low")
    assert told in refused(*words)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("a", "row 2, names 1 category; it must be a set of 2 of the 4"),
        ("a;b;c", "row 2, names 3 categories"),
        ("a;b;c;d", "row 2, names every category"),
        ("a;a", "row 2, names 'a' twice"),
        ("a;x", "row 2, is 'x', which is not a response here"),
        (";", "row 2, is empty; it must be a set of 2"),
    ],
)
def test_sets_that_cannot_be(refused, write, cell, told):
    write("x.csv", "x,y", "a;b,1", f"{cell},1")
    words = ("estimate", "x.csv", "--response", "x", "--design", "negative(discards=2)", "--categories", "a,b,c,d")
    assert told in refused(*words)


def test_boolean_columns_that_cannot_be(refused, write):
    words = ("--response", "a", "--response", "b", "--response", "c", *ABC)
    write("x.csv", "a,b,c", "1,0,0", "0,maybe,1")
    assert "column 'b', row 2, holds 'maybe'" in refused("estimate", "x.csv", *words)
    write("x.csv", "a,b,c", "1,0,0", "0,,1")
    assert "row 2, is only partly filled" in refused("estimate", "x.csv", *words)
    write("x.csv", "a,b,c", "1,0,0", "0,1,1")
    assert "row 2," in refused("estimate", "x.csv", *words)
    assert "once for each of the 3 categories; got 2" in refused("estimate", "x.csv", *words[2:])
    assert "column 'a' is named twice" in refused("estimate", "x.csv", *words, "--response", "a")


@pytest.mark.parametrize(
    ("option", "cell", "told"),
    [
        ("--weight", "-1", "weights must be finite and not negative; column 'w' holds -1.0 in row 2"),
        ("--count", "-1", "counts must be finite and not negative; column 'w' holds -1.0 in row 2"),
        ("--weight", "nan", "weights must be finite and not negative; column 'w' holds nan in row 2"),
        ("--weight", "inf", "column 'w' holds inf in row 2"),
        ("--weight", "much", "column 'w', row 2, holds 'much', which is not a number; weights must be numbers"),
        ("--count", "1,5", "column 'w', row 2, holds '1,5', which is not a number"),
        ("--count", "", "column 'w', row 2, is empty"),
        ("--count", "1.5", "counts must be whole numbers; column 'w' holds 1.5 in row 2"),
    ],
)
def test_weights_and_counts_that_cannot_be(refused, write, option, cell, told):
    write("x.csv", "x;w", "a;1", f"b;{cell}", "b;0.5" if cell == "1.5" else "c;1")
    assert told in refused("estimate", "x.csv", "--response", "x", "--separator", ";", option, "w", *ABC)


@pytest.mark.parametrize("cell", ['"much"', "null", "-1"])
def test_weights_in_json_lines(refused, write, cell):
    write("x.jsonl", '{"x": "a", "w": 1}', f'{{"x": "b", "w": {cell}}}')
    assert "row 2" in refused("estimate", "x.jsonl", "--response", "x", "--weight", "w", *ABC)


def test_all_missing_and_all_zero(refused, write):
    write("x.csv", "x,w", ",0", ",0")
    assert "at least one answer is needed; all 2 are missing" in refused("estimate", "x.csv", "--response", "x", *ABC)
    write("x.csv", "x,w", "a,0", "b,0")
    assert "weights of the answers must not all be zero" in refused(
        "estimate", "x.csv", "--response", "x", "--weight", "w", *ABC
    )
    assert "at least one answer is needed" in refused("estimate", "x.csv", "--response", "x", "--count", "w", *ABC)


def test_a_group_without_answers_is_named(refused, write):
    write("x.csv", "x,g", "a,north", ",south")
    told = refused("estimate", "x.csv", "--response", "x", "--by", "g", *ABC)
    assert "'south'" in told
    assert "at least one answer is needed" in told


def test_a_missing_group_is_a_group(naysay, write):
    write("x.csv", "x,g", *["a,north", "b,", "c,", "a,"] * 5)
    words = ("estimate", "x.csv", "--response", "x", "--by", "g", "--design", "direct()", "--categories", "a,b,c")
    groups = json.loads(naysay(*words, "--interval", "wald", "--format", "json").out)["groups"]
    assert {told["group"]: told["n"] for told in groups} == {"north": 5, None: 15}
    assert "g = (missing)" in naysay(*words, "--interval", "wald").out


# levels


def test_levels_nobody_or_one_person_chose_are_noted(naysay, write):
    write("x.csv", "x,k", *["a,1", "b,1", "c,1", "d,1"] * 10, "a;b,2")
    out = naysay("estimate", "x.csv", *LEVELS, "--level", "k", "--interval", "wald").out
    assert "note: nobody chose level 3" in out
    assert "note: a single answer at level 2" in out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("b,9", "column 'k', row 3, is '9', which is not on offer; the levels are '1', '2', '3'"),
        ("b,", "column 'k', row 3, is empty; say which level it is"),
        ("a,2", "column 'x', row 3, at level 2 names 1 category;"),
    ],
)
def test_levels_that_cannot_be(refused, write, line, told):
    write("x.csv", "x,k", "a,1", ",", line)
    assert told in refused("estimate", "x.csv", *LEVELS, "--level", "k")


def test_levels_must_be_named_where_they_are_and_only_there(refused, write):
    write("x.csv", "x,k", "a,1")
    assert "needs --level COLUMN" in refused("estimate", "x.csv", *LEVELS)
    assert "offers no levels" in refused("estimate", "x.csv", "--response", "x", "--level", "k", *ABC)


# designs and options


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("negative(discards=", "at position"),
        ("negative", "at position 1: a design is a call with parentheses"),
        ("nagative()", "no design is called 'nagative'; did you mean negative() or negative_sink(sinks=…)"),
        ("negative(discard=1)", "at position 10: negative has no parameter 'discard'; did you mean 'discards'?"),
        ("negative(discards=2)", "discards must be a whole number from 1 to t - 2 = 1; got 2"),
        ("__import__('os').system('true')", "a design is named by a plain word"),
        ("negative(discards=open('x').read())", "at position 19: a design is named by a plain word"),
        ("negative(discards=().__class__)", "naysay runs no code"),
        ("negative(discards=9**9**9**9)", "naysay runs no code"),
        ("(lambda: 0)()", "a design is named by a plain word"),
        ("negative_matrix([[1]])", "each row of the matrix must have 3 entries"),
        ("warner(p=0.7)", "takes two categories"),
        ("none.json", "there is no design file 'none.json'"),
        ("{", "a design's JSON must be readable"),
        ("{}", '"naysay": "design"'),
        ('{"naysay": "design", "version": 99}', "this naysay reads designs of version 1; got version 99"),
        ('{"naysay": "design", "version": 1, "design": {"kind": "table"}}', "fields complete"),
        ('{"a":' + "[" * 100_000, "recursion"),
        ("negative(('x','y','z'))", "--categories says 'a', 'b', 'c', but the design is about 'x', 'y', 'z'"),
    ],
)
def test_designs_that_cannot_be(refused, write, text, told):
    write("x.csv", "x", "a")
    assert told in refused("estimate", "x.csv", "--response", "x", "--categories", "a,b,c", "--design", text)


@pytest.mark.parametrize(
    ("content", "told"), [(b"{", "must be readable"), (b"\xff", "cannot read"), (b"[]", '"naysay": "design"')]
)
def test_design_files_that_cannot_be(refused, write, tmp_path, content, told):
    write("x.csv", "x", "a")
    (tmp_path / "d.json").write_bytes(content)
    assert told in refused("estimate", "x.csv", "--response", "x", "--design", "d.json")


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ("a,b,a", "categories must differ; 'a' is number 1 and number 3"),
        ("a", "at least 2 categories are needed; got 1"),
        ("", "at least 2 categories are needed; got 0"),
        ("a,,b", "categories must not be empty; number 2"),
        ('a,"b', "--categories must be one CSV record"),
    ],
)
def test_categories_that_cannot_be(refused, record, told):
    assert told in refused("estimate", "x.csv", "--response", "x", "--design", "negative()", "--categories", record)


def test_a_design_without_its_categories_says_how_to_name_them(refused):
    assert "--categories" in refused("estimate", "x.csv", "--response", "x", "--design", "negative()")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--estimator", "best"), "'best' is not one of"),
        (("--estimator", "stratified"), "needs an offer of levels"),
        (("--estimator", "nstops_ii"), "NStoPS-II"),
        (("--estimator", "nstops"), "NStoPS is for negative surveys with one answer"),
        (("--estimator", "nstops", "--target", "file"), "nstops is for a population"),
        (("--target", "world"), "'world' is not one of"),
        (("--confidence", "95"), "confidence must lie between 0 and 1, such as 0.95; got 95"),
        (("--confidence", "high"), "--confidence"),
        (("--interval", "exact"), "'exact' is not one of"),
        (("--interval", "agresti_coull", "--design", "gaussian_negative(sigma=1)"), "agresti_coull needs"),
        (("--format", "xml"), "'xml' is not one of"),
        (("--design", "uniform()"), "cannot tell"),
        (("--count", "x"), "column 'x' is named twice"),
    ],
)
def test_options_that_do_not_fit(refused, write, options, told):
    write("x.csv", "x", *"abcd" * 50)
    design = () if "--design" in options else ("--design", "k_ary(epsilon=1)")
    words = ("estimate", "x.csv", "--response", "x", "--categories", "a,b,c,d", *design, *options)
    assert told in refused(*words)


def test_ranks_stand_below_the_estimate_and_in_json(naysay, write):
    write("r.csv", "said,n", "a,500", "b,700", "c,780", "d,820")
    words = ("estimate", "r.csv", "--response", "said", "--count", "n", "--design", "negative()")
    words = (*words, "--categories", "a,b,c,d", "--ranks")
    assert "leads: a (0.95 confidence set)" in naysay(*words).out
    ranks = json.loads(naysay(*words, "--margin", "0.03", "--format", "json").out)["ranks"]
    assert (ranks["leaders"], ranks["ranks"], ranks["margin"]) == (["a"], [1, 2, 3, 4], 0.03)
    naysay(*words, "--html", "ranks.html")
    assert "a: rank 1, possible 1 to 1" in Path("ranks.html").read_text(encoding="utf-8")
