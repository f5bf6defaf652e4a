import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay.collect.questionnaire import Answer, Apply, Sent, Value, evaluate, parse_expression, truth, write_expression
from naysay.errors import DataError

REFERENCE = Path(__file__).parents[2] / "reference"
VECTORS = json.loads((REFERENCE / "expression_vectors.json").read_text(encoding="utf-8"))
PIECES = [
    "${a}",
    "'x'",
    "1",
    ".5",
    ".",
    "and",
    "or",
    "not(",
    "(",
    ")",
    "=",
    "!=",
    "<",
    "div",
    "mod",
    "-",
    "+",
    "*",
    ",",
    "selected(",
    "today()",
    "true()",
    "sent(",
    "${",
    "}",
    '"',
    "'",
    " ",
    "date('2026-01-02')",
    "‘",
    "[",
    "/",
    "é",
]


def test_the_vectors_are_those_of_the_evaluator():
    made = runpy.run_path(str(REFERENCE / "make_expression_vectors.py"))["main"]()
    assert json.loads(json.dumps(made)) == VECTORS


def test_every_operator_has_vectors():
    def operators(node):
        return {node["op"], *(op for each in node["args"] for op in operators(each))} if "op" in node else set()

    found = {op for vector in VECTORS["vectors"] for op in operators(vector["expression"])}
    assert found == set(Apply.model_fields["op"].annotation.__args__)
    assert len(VECTORS["vectors"]) > 100


@pytest.mark.parametrize("text", [vector["text"] for vector in VECTORS["vectors"]])
def test_what_is_written_is_read_back(text):
    expression = parse_expression(text)
    assert parse_expression(write_expression(expression)) == expression


@pytest.mark.parametrize(
    ("text", "position", "told"),
    [
        ("", 1, "something is missing"),
        ("${age} >", 8, "a number"),
        ("age > 3", 5, "a question as"),
        ("/data/age = 3", 1, "not as a path"),
        ("../age = 3", 2, "not as a path"),
        ("${a} = ‘x’", 8, "straight quotes"),
        ("${a}[1] = 2", 5, "no lists"),
        ("regex(., '[a-z]')", 1, "differ from browser to browser"),
        ("1 = pulldata('a', 'b')", 5, "no other file"),
        ("selectd(${a}, 'b')", 1, "did you mean 'selected'"),
        ("selected(${a})", 1, "takes 2 arguments; got 1"),
        ("today(1)", 1, "takes 0 arguments; got 1"),
        ("sent('a')", 1, "sent() is of a private question"),
        ("sent(.)", 1, "sent() is of a private question"),
        ("date('2026-02-30')", 1, "a day in quotes"),
        ("date(${a})", 1, "a day in quotes"),
        ("1" + "0" * 400, 1, "too large"),
        ("(" * 60 + "1" + ")" * 60, 41, "nested"),
    ],
)
def test_what_is_outside_the_subset_is_refused_with_its_place(text, position, told):
    with pytest.raises(DataError) as refused:
        parse_expression(text)
    assert f"at position {position}:" in str(refused.value)
    assert told in str(refused.value)


def test_a_long_expression_is_refused():
    with pytest.raises(DataError, match="at most 2,000 characters"):
        parse_expression("1 + " * 600 + "1")


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_is_an_expression_or_a_clear_error(text):
    try:
        expression = parse_expression(text)
    except DataError as error:
        assert "position" in str(error)
    else:
        truth(evaluate(expression, {"a": ["x"]}, sent={"a": "x"}, today="2026-11-20"))


LEAVES = (
    st.builds(Value, value=st.integers(0, 2**53 - 1) | st.booleans() | st.text("abcäن '", max_size=5))
    | st.builds(Answer, of=st.sampled_from(["a", "."]))
    | st.builds(Sent, of=st.just("a"))
)


def applied(inner):
    def of(ops, least, most):
        return st.builds(Apply, op=st.sampled_from(ops), args=st.lists(inner, min_size=least, max_size=most).map(tuple))

    binary = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod", "selected"]
    return (
        of(binary, 2, 2)
        | of(["and", "or"], 2, 3)
        | of(["not", "count_selected", "string_length"], 1, 1)
        | of(["today"], 0, 0)
    )


@given(st.recursive(LEAVES, applied, max_leaves=12))
def test_any_expression_is_written_and_read_back(expression):
    assert parse_expression(write_expression(expression)) == expression


def test_a_text_with_both_quotes_cannot_be_written():
    with pytest.raises(DataError, match="both kinds of quotes"):
        write_expression(Value(value="'\""))


def test_a_function_with_too_few_arguments_cannot_be_evaluated():
    with pytest.raises(DataError, match="selected takes 2 arguments; got 0"):
        evaluate(Apply(op="selected"), {})


def test_today_is_the_day_of_this_computer_unless_given():
    assert evaluate(parse_expression("today() > date('2020-01-01')"), {})
    assert not evaluate(parse_expression("today() > date('2020-01-01')"), {}, today="2019-01-01")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(10**400, True), (float("inf"), True), (-(10**400), False)],
    ids=["large", "infinite", "small"],
)
def test_numbers_without_bound_are_infinite(value, expected):
    assert evaluate(parse_expression("${a} > 1"), {"a": value}) is expected
