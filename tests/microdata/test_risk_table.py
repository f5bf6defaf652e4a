"""The table counts what the oracle counts, prints what can be relied on, and refuses what cannot be."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import microdata
from naysay.errors import DataError

from . import brute

PAPER = {"age": [40, 36, None, 40, 23, 23], "gender": ["Male", "Female", "Male", None, "Male", "Male"]}

CELLS = st.one_of(
    st.none(),
    st.integers(1, 3),
    st.lists(st.integers(1, 3), min_size=2, max_size=3, unique=True),
)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12)
POLICIES = st.lists(st.sampled_from(["wildcard", "category", "drop"]), min_size=3, max_size=3)


def columns(rows):
    """Three columns of rows."""
    return {name: [row[place] for row in rows] for place, name in enumerate("abc")}


def only(found):
    (row,) = found.quasi_identifiers
    return row


@given(ROWS, POLICIES, st.sampled_from(["worst", "intersect", "first"]))
def test_the_counts_are_those_of_the_oracle(rows, policies, rule):
    asked = dict(zip("abc", policies, strict=True))
    row = only(microdata.risk_table(columns(rows), [list("abc")], population=1_000, rule=rule, missing=asked))
    k = [size for size in brute.anonymity(rows, policies) if size is not None]
    m = [size for size in brute.matches(rows, rule, policies) if size is not None]
    for part, sizes in ((row.listwise, k), (row.matches, m)):
        assert part.sizes.records == len(sizes)
        assert part.sizes.unique == sizes.count(1)
        assert part.sizes.below_5 == sum(size < 5 for size in sizes)
        assert part.sizes.below_10 == sum(size < 10 for size in sizes)
        assert part.theta.pairs == sizes.count(2) / 2
        if sizes:
            assert part.sizes.inverse == pytest.approx(np.mean(1 / np.array(sizes)))
            assert part.sizes.highest == 1 / min(sizes)
    assert row.listwise.deleted == len(rows) - len(k)


@given(ROWS, st.data())
def test_weighted_numbers_are_those_of_the_oracle(rows, data):
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    found = microdata.risk_table(columns(rows), [list("abc")], population=sum(weights), weights=weights)
    for part, frequencies in (
        (only(found).listwise, brute.anonymity(rows, weights=weights)),
        (only(found).matches, brute.matches(rows, weights=weights)),
    ):
        people = [each for each in frequencies if each is not None]
        if people:
            assert part.weighted.smallest == pytest.approx(min(people))
            assert part.weighted.below_5 == sum(each < 5 for each in people)
            assert part.weighted.expected == pytest.approx(sum(1 / each for each in people))


def test_the_json_has_the_fields_that_programs_rely_on():
    told = microdata.risk_table(PAPER, [["age"], ["age", "gender"]], population=1_000).to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert {"n", "population", "quasi_identifiers"} <= told.keys()
    assert (told["n"], told["population"]) == (6, 1_000)
    both = told["quasi_identifiers"][1]
    assert both["keys"] == ["age", "gender"]
    listwise = {"deleted": 2, "kept": 4, "k1": 2, "k_lt_5": 4, "k_lt_10": 4, "pr_su_kept": 0.5, "pr_su_all": 1 / 3}
    assert {name: both["listwise"][name] for name in listwise} == listwise
    matched = {"rule": "worst", "m1": 1, "m_lt_5": 5, "m_lt_10": 6, "pr_su": 1 / 6}
    assert {name: both["matches"][name] for name in matched} == matched
    fraction = 4 / 1_000
    assert both["listwise"]["theta"] == pytest.approx(2 * fraction / (2 * fraction + 2 * (1 - fraction)))
    assert both["matches"]["theta"] == 1


def test_numbers_of_numpy_are_numbers_of_json():
    told = microdata.risk_table(PAPER, [["age"]], population=np.int64(1_000)).to_dict()
    assert json.loads(json.dumps(told))["population"] == 1_000


def test_theta_is_null_where_there_is_nothing_to_count():
    told = microdata.risk_table({"a": [1] * 5}, [["a"]], population=10).to_dict()["quasi_identifiers"][0]
    assert told["listwise"]["theta"] is None
    assert told["listwise"]["theta_interval"] == [None, None]


def test_a_file_that_is_deleted_whole_has_nulls_and_a_warning():
    found = microdata.risk_table({"a": [None, None], "b": [1, 2]}, [["a", "b"]], population=10)
    told = found.to_dict()["quasi_identifiers"][0]
    assert told["listwise"]["kept"] == 0
    assert told["listwise"]["pr_su_kept"] is None
    assert told["listwise"]["pr_su_all"] == 0
    assert told["matches"]["m1"] == 2
    assert "'a' is missing for everybody" in str(found)


@pytest.mark.parametrize(
    ("column", "told"),
    [([1, 1, 1], "the same for everybody"), ([1, 2, 3], "differs for all who have it"), ([None] * 3, "is missing")],
)
def test_keys_that_tell_nothing_or_all_come_with_a_warning(column, told):
    found = microdata.risk_table({"a": column, "b": [1, 1, 2]}, [["a", "b"]], population=10)
    assert told in str(only(found).warnings[0])
    assert f"note: {only(found).warnings[0]}" in str(found)


def test_theta_of_few_records_is_flagged_and_withheld_from_the_table_but_not_from_json():
    found = microdata.risk_table(PAPER, [["age", "gender"]], population=1_000)
    assert only(found).listwise.theta.withheld
    told = found.to_dict()["quasi_identifiers"][0]["listwise"]
    assert told["theta"] is not None
    assert "at least 10" in told["theta_withheld"]
    line = next(line for line in str(found).splitlines() if line.startswith("age + gender"))
    assert line.split()[-2:] == ["–", "–"]
    assert "θ on k is withheld" in str(found)


def test_theta_of_many_records_is_shown_with_its_interval():
    sizes = np.repeat(np.arange(150), np.repeat([1, 2, 3], 50))
    found = microdata.risk_table({"a": sizes}, [["a"]], population=30_000)
    row = only(found)
    expected = microdata.theta(50, 50, triples=50, fraction=300 / 30_000)
    assert row.listwise.theta == row.matches.theta == expected
    assert f"{expected.estimate:.2g}" in str(found)
    assert "withheld below" not in str(found)


def test_policies_stand_side_by_side():
    found = microdata.risk_table(PAPER, [["age"]], population=100, missing=["wildcard", {"age": "category"}, "drop"])
    assert [row.missing for row in found.quasi_identifiers] == [{}, {"age": "category"}, {"age": "drop"}]
    assert [row.listwise.deleted for row in found.quasi_identifiers] == [1, 0, 1]
    assert [row.matches.sizes.records for row in found.quasi_identifiers] == [6, 6, 5]
    assert [row.matches.sizes.unique for row in found.quasi_identifiers] == [0, 2, 1]
    assert "age (age: category)" in str(found)


def test_not_applicable_is_a_value():
    found = microdata.risk_table({"job": ["none", "not applicable", None]}, [["job"]], population=9)
    assert only(found).listwise.sizes.unique == 2


def test_negative_answers_are_assessed_under_their_design():
    from naysay import designs

    design = designs.negative(("low", "middle", "high"))
    table = {"income": ["low", "low", "high"], "age": [30, 30, 30]}
    cells = {"income": microdata.Privatized(design)}
    row = only(microdata.risk_table(table, [["age", "income"]], population=9, cells=cells, rule="intersect"))
    assert row.listwise.kept == 0
    assert row.matches.sizes.smallest == 3
    worst = only(microdata.risk_table(table, [["age", "income"]], population=9, cells=cells))
    assert worst.matches.sizes.smallest == 1


def test_a_sensitive_variable_is_told_beside_the_keys():
    table = {"age": [30, 30, 30, 40, 40], "ill": ["flu", "flu", "flu", "flu", "cold"]}
    found = microdata.risk_table(table, [["age"]], population=99, sensitive="ill")
    told = found.to_dict()["quasi_identifiers"][0]["diversity"]
    assert told == {
        "sensitive": "ill",
        "sets": 2,
        "least_distinct": 1,
        "least_entropy": pytest.approx(1),
        "sharing": 3,
        "matches_sharing": 3,
    }
    assert "Diversity of 'ill'" in str(found)


def test_weights_off_the_population_are_scaled_and_said():
    table = {"a": [1, 2, 2, 3], "w": [1.0, 2.0, 3.0, 4.0]}
    found = microdata.risk_table(table, [["a"]], population=1_000, weights="w")
    assert "sum to 10, not to the population of 1,000" in str(found.warnings[0])
    assert only(found).listwise.weighted.smallest == pytest.approx(100)
    assert only(found).listwise.weighted.unique == pytest.approx(0.5)
    assert "In people of the population" in str(found)
    told = found.to_dict()["quasi_identifiers"][0]["matches"]["weighted"]
    assert told["expected"] == pytest.approx(1 / 100 + 2 / 500 + 1 / 400)
    light = microdata.risk_table({"a": [1, 2, 2], "w": [0.1, 5.0, 4.9]}, [["a"]], population=10, weights="w")
    assert "below one person" in str(light.warnings[0])


def test_keys_are_read_once_for_several_tables():
    people = {"a": [1, 1, None], "b": [1, 2, 2], "s": ["x", "y", "x"], "w": [2.0, 3.0, 4.0]}
    keys = microdata.Keys(people, ["a", "b", "s"], missing={"a": "drop"}, weights="w")
    asked = [["a"], ["a", "b"]]
    expected = microdata.risk_table(people, asked, population=9, missing={"a": "drop"}, weights="w", sensitive="s")
    assert microdata.risk_table(keys, asked, population=9, weights="w", sensitive="s").to_dict() == expected.to_dict()
    with pytest.raises(DataError, match="keys that are read have their policies"):
        microdata.risk_table(keys, asked, population=9, missing="drop")
    with pytest.raises(DataError, match="there is no key 'c'"):
        microdata.risk_table(keys, [["c"]], population=9)


def test_the_heading_follows_the_policies():
    people = {"a": [1, 2, None]}
    assert "matches everything; rule" in str(microdata.risk_table(people, [["a"]], population=9))
    dropped = str(microdata.risk_table(people, [["a"]], population=9, missing="drop"))
    assert "matches everything unless a policy says otherwise; rule" in dropped


def test_no_sets_have_no_least_diversity():
    people = {"a": [None, None], "s": ["x", "y"]}
    (row,) = microdata.risk_table(people, [["a"]], population=9, sensitive="s").to_dict()["quasi_identifiers"]
    assert row["diversity"]["least_distinct"] is None


def test_html_tells_what_the_text_tells():
    found = microdata.risk_table(PAPER, [["age"]], population=100)
    assert "<h3>Risk of re-identification: 6 records" in found._repr_html_()
    assert "k&lt;5" in found._repr_html_()


def test_progress_is_told_for_each_quasi_identifier():
    said = []
    microdata.risk_table(PAPER, [["age"], ["age", "gender"]], population=100, progress=lambda *told: said.append(told))
    begun = [name for name, share in said if share == 0]
    assert list(dict.fromkeys(begun)) == ["age", "age + gender"]
    assert all(0 <= share <= 1 for _, share in said)


def test_records_keep_k_and_m_of_every_respondent():
    found = microdata.risk_table(PAPER, [["age"], ["age", "gender"]], population=100, records=True)
    both = found.quasi_identifiers[1].records
    assert both.anonymity.tolist() == [1, 1, None, None, 2, 2]
    assert both.matches.tolist() == [3, 1, 5, 3, 3, 3]
    dropped = microdata.risk_table(PAPER, [["age", "gender"]], population=100, missing="drop", records=True)
    assert only(dropped).records.matches.tolist() == [1, 1, None, None, 2, 2]
    assert only(microdata.risk_table(PAPER, [["age"]], population=100)).records is None


def test_any_frame_gives_the_same_table():
    expected = microdata.risk_table(PAPER, [["age", "gender"]], population=100).to_dict()
    frame = pl.DataFrame(PAPER)
    for table in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        assert microdata.risk_table(table, [["age", "gender"]], population=100).to_dict() == expected


@pytest.mark.parametrize(
    ("asked", "more", "told"),
    [
        ([["ages"]], {}, "there is no column 'ages'.*did you mean 'age'"),
        ([["age", "age"]], {}, "'age' is named twice"),
        ([], {}, "at least one quasi-identifier is needed"),
        ([[]], {}, "at least one key is needed"),
        (["age"], {}, "quasi-identifiers are lists of keys"),
        (
            [["age"]],
            {"population": 5},
            "population must be at least as large as the sample; got 5 people for 6 records",
        ),
        ([["age"]], {"population": 0}, "above zero"),
        ([["age"]], {"population": math.inf}, "above zero"),
        ([["age"]], {"population": "many"}, "must be a number of people; got 'many'"),
        ([["age"]], {"population": True}, "must be a number of people"),
        ([["age"]], {"rule": "best"}, "rule must be one of"),
        ([["age"]], {"missing": "ignore"}, "'ignore'"),
        ([["age"]], {"missing": []}, "at least one policy"),
        ([["age"]], {"missing": {"gendre": "drop"}}, "did you mean|there is no"),
        ([["age"]], {"weights": [1, 1, 1, 1, 1, 0]}, "weights must be positive numbers; the one in row 6 is not"),
        ([["age"]], {"weights": [1, 1, 1, 1, 1, -2]}, "weights must be positive numbers; the one in row 6 is not"),
        ([["age"]], {"weights": [1, 2]}, "one number for each of the 6"),
        ([["age"]], {"weights": "w"}, "there is no column 'w'"),
        ([["age"]], {"sensitive": "age"}, "must not be a key"),
        ([["age"]], {"sensitive": "sex"}, "there is no column 'sex'"),
        ([["age"]], {"confidence": 1.5}, "confidence must lie between 0 and 1"),
    ],
)
def test_bad_requests_are_refused(asked, more, told):
    with pytest.raises(DataError, match=told):
        microdata.risk_table(PAPER, asked, **({"population": 100} | more))


def test_floats_that_are_not_whole_say_how_to_bin():
    with pytest.raises(DataError, match="bin it first"):
        microdata.risk_table({"income": [1520.5, 1800.0]}, [["income"]], population=10)
