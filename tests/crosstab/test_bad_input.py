"""What cannot be crossed, each with one clear error."""

import numpy as np
import pytest

from naysay import designs
from naysay.crosstab import Variable, crosstab
from naysay.errors import AnswerError, DataError, NotEstimable

WARNER = designs.warner(p=0.8)
CHOICE = designs.negative_levels(("a", "b", "c"))
DATA = {
    "x": ["yes", "no", "yes", "no"] * 5,
    "y": ["f", "m", "m", "f"] * 5,
    "k": [1, 2, 1, 2] * 5,
    "s": ["a", "a;b", "b", "b;c"] * 5,
    "one": ["z"] * 20,
    "none": [None] * 20,
    "w0": [0.0] * 20,
    "many": [str(row) for row in range(20)],
}
X = Variable("x", WARNER)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"row": X, "column": "z"}, r"there is no column 'z'; the columns are"),
        ({"row": Variable("q", WARNER), "column": "y"}, r"there is no column 'q'"),
        ({"row": X, "column": "x"}, "column 'x' is named twice; a crosstab needs different columns"),
        ({"row": X, "column": "y", "layer": "y"}, "column 'y' is named twice"),
        ({"row": X, "column": Variable("s", CHOICE, "y"), "layer": "y"}, "column 'y' is named twice"),
        ({"row": X, "column": "one"}, "two categories at least; column 'one' holds only 'z'"),
        ({"row": X, "column": "none"}, "two categories at least; column 'none' holds no answer"),
        (
            {"row": X, "column": Variable("y", categories=("f", "m", "d"))},
            "an empty margin: nobody answered 'd' in column 'y', which is not randomized; leave such categories out",
        ),
        ({"row": Variable("none", WARNER), "column": "y"}, "nobody answered 'none'; a crosstab needs answers to each"),
        ({"row": X, "column": "y", "weights": "w0"}, "the weights of the answers must not all be zero"),
        ({"row": X, "column": Variable("s", CHOICE)}, "needs the column of the levels or samples of 's'"),
        ({"row": Variable("x", WARNER, "k"), "column": "y"}, "has no levels; leave the level of 'x' out"),
        (
            {"row": Variable("x", WARNER, categories=("a", "b")), "column": "y"},
            "the design of 'x' names its categories",
        ),
        ({"row": Variable("x", WARNER * WARNER), "column": "y"}, "one column of answers, and a design of one question"),
        ({"row": Variable("x", WARNER, scores=(1,)), "column": "y"}, "scores of 'x' must be 2 numbers"),
        ({"row": Variable("x", WARNER, scores=(1, 1)), "column": "y"}, "not all alike"),
        ({"row": X, "column": "y", "estimator": "median"}, "estimated by maximum_likelihood or moments; got 'median'"),
        ({"row": 3, "column": "y"}, "a variable is a column's name or a Variable; got int"),
        (
            {
                "row": Variable("x", designs.k_ary(tuple(map(str, range(40))), epsilon=1)),
                "column": Variable("y", designs.k_ary(tuple(map(str, range(30))), epsilon=1)),
            },
            r"at most 1,000 cells, and 40 × 30 = 1,200; merge categories, or leave a variable out",
        ),
    ],
)
def test_what_cannot_be_crossed_is_said(given, message):
    with pytest.raises(DataError, match=message):
        crosstab(DATA, **given)


def test_a_plain_column_of_numbers_is_no_variable_of_categories():
    with pytest.raises(DataError, match="holds 300 different values, too many for categories"):
        crosstab({"x": ["yes", "no"] * 150, "y": np.arange(300)}, row=X, column="y")


def test_an_impossible_answer_is_told_with_its_row():
    with pytest.raises(DataError, match="row 3, is 'perhaps'") as caught:
        crosstab({"x": ["yes", "no", "perhaps"], "y": ["f", "m", "f"]}, row=X, column="y")
    assert not isinstance(caught.value, AnswerError)


def test_a_design_that_tells_nothing_is_named_by_its_column():
    blind = designs.uniform(("yes", "no"))
    with pytest.raises(NotEstimable, match="column 'x': the answers cannot tell 'yes' from 'no'"):
        crosstab(DATA, row=Variable("x", blind), column="y")


def test_counts_below_zero_and_negative_replicates():
    found = crosstab(DATA, row=X, column="y")
    with pytest.raises(DataError, match="replicates must not be negative"):
        found.independence(replicates=-1)
    with pytest.raises(DataError, match="confidence"):
        found.associations(1.5)
    with pytest.raises(DataError, match="counts must be finite and not negative"):
        crosstab({"x": ["yes", "no"], "y": ["f", "m"], "n": [3, -1]}, row=X, column="y", count="n")


def test_a_margin_that_is_estimated_empty_is_no_error_but_said():
    data = {"x": ["yes", "yes", "no", "no"], "y": ["f", "m"] * 2, "n": [9, 8, 60, 70]}
    found = crosstab(data, row=X, column="y", count="n")
    assert "an empty margin: 'yes' of x is estimated to be nobody" in str(found)
    values, bounds = found.conditional()
    assert np.isnan(values[0]).all()
    assert np.isnan(bounds[0]).all()
    assert found.to_dict()["within_rows"][0]["shares"][0] == [None, None]


@pytest.mark.parametrize(
    ("answers", "like"),
    [(["yes", "no", "no", "yes"], "those of 'a'"), (["a;b", "b;c", "a;b", "a;c"], "those of a randomized question")],
)
def test_answers_of_a_randomized_question_are_not_read_as_they_are(answers, like):
    """Read as plain, a randomized column makes an odds ratio of 3.28 one of 1.84; `plain` has to be said."""
    table = {"a": ["yes", "no", "yes", "no"], "b": answers}
    with pytest.raises(DataError, match=f"column 'b' has no design, and its answers, .*, are {like}; name its design"):
        crosstab(table, row=Variable("a", designs.warner(p=0.8)), column="b")
    assert crosstab(table, row=Variable("a", designs.warner(p=0.8)), column=Variable("b", "plain")).n == 4
    with pytest.raises(DataError, match="the design of 'b' must be a design or 'plain'; got 'warner'"):
        crosstab(table, row=Variable("a", designs.warner(p=0.8)), column=Variable("b", "warner"))


def test_a_column_that_no_design_answers_is_plain_without_a_word():
    table = {"a": ["yes", "no", "yes", "no"], "gender": ["f", "m", "m", "f"]}
    found = crosstab(table, row=Variable("a", designs.warner(p=0.8)), column="gender")
    assert "a × gender: warner(p=0.8) × plain" in str(found)
