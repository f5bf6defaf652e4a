"""Designs written as calls: read, never run."""

import builtins
import re

import numpy as np
import pytest

from naysay import designs
from naysay.errors import DesignError, NaysayError

ABC = tuple("abc")

WRITTEN = {
    "warner(p=0.7)": designs.warner(p=0.7),
    " warner( p = 7/10 ) ": designs.custom([[0.7, 0.3], [0.3, 0.7]], categories=("yes", "no")),
    "negative(discards=1)": designs.negative(ABC),
    "negative(('x', 'y', 'z'))": designs.negative(("x", "y", "z")),
    "negative(weights=[1, 2, 3])": designs.negative(ABC, weights=[1, 2, 3]),
    "gaussian_negative(sigma=1.5)": designs.gaussian_negative(ABC, sigma=1.5),
    "k_ary(epsilon=1)": designs.k_ary(ABC, epsilon=1),
    "negative_sink(sinks={'a': 'nothing'}, others=1/3)": designs.negative_sink(
        ABC, sinks={"a": "nothing"}, others="1/3"
    ),
    "mix((3, negative()), (1, uniform()))": designs.mix((3, designs.negative(ABC)), (1, designs.uniform(ABC))),
    "negative(['x', 'y', 'z'])": designs.negative(("x", "y", "z")),
    "warner(p=0.7) * two_coins()": designs.warner(p=0.7) * designs.two_coins(),
    "negative() * uniform()": designs.negative(ABC) * designs.uniform(ABC),
    "negative().then(k_ary(epsilon=1))": designs.negative(ABC).then(designs.k_ary(ABC, epsilon=1)),
    "custom([[1/3, 0.5], [2/3, 0.5]], categories=('yes', 'no'))": designs.custom(
        [["1/3", 0.5], ["2/3", 0.5]], categories=("yes", "no")
    ),
}


@pytest.mark.parametrize(("text", "design"), WRITTEN.items(), ids=WRITTEN.keys())
def test_a_call_is_the_design_that_it_names(text, design):
    categories = ABC if set(ABC) <= {*np.ravel(design.categories)} else None
    assert (designs.parse(text, categories=categories).matrix == design.matrix).all()


def test_an_offer_is_written_as_a_call():
    assert designs.parse("negative_levels()", categories=ABC) == designs.negative_levels(ABC)
    offer = designs.parse("levels(masked=warner(p=0.7), open=direct())", categories=("yes", "no"))
    assert offer.levels == ("masked", "open")
    assert designs.parse("levels({1: warner(p=0.7), 2: warner(p=0.9)})").levels == (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "warner(p=0.7)",
        "negative(discards=2)",
        "negative_levels(least=2)",
        "k_ary(epsilon=1)",
        "warner(p=0.7) * two_coins()",
        "warner(p=0.7) * two_coins() * warner(p=0.8)",
        "warner(p=0.7).then(two_coins()).then(warner(p=0.8))",
        "warner(p=0.7).then(two_coins()) * two_coins()",
        "mix((3, warner(p=0.7).then(two_coins())), (1, two_coins()))",
        "levels(masked=warner(p=0.7) * two_coins(), open=two_coins() * two_coins())",
    ],
)
def test_a_name_is_a_call_that_can_be_read_again(text):
    labels = None if "warner" in text else tuple("abcde")
    design = designs.parse(text, categories=labels)
    assert design.name == text
    assert designs.parse(design.name, categories=labels) == design


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 1, "not a call such as"),
        ("warner(p=80%)", 13, "not a call such as .*; write 0.8, not 80%"),
        ("warner(p=0,7)", 13, "not a call such as .*; write 0.7, not 0,7"),
        ("negative", 1, "a call with parentheses"),
        ("negative(", 9, "not a call"),
        ("negative(discards=)", None, "not a call"),
        ("negative() extra", None, "not a call"),
        ("3", 1, "a call with parentheses"),
        ("negativ()", 1, r"no design is called 'negativ'; did you mean negative\(\)"),
        ("mix((1, nothing()), (1, direct()))", 9, "no design is called 'nothing'"),
        ("warner(q=0.7)", 8, "warner has no parameter 'q'; known are 'p', 'categories'"),
        ("negative(discard=2)", 10, "did you mean 'discards'"),
        ("warner(p='é',\n q=0.7)", 16, "warner has no parameter 'q'"),
        ("warner()", 1, r"missing a required argument: 'p'; write warner\(p=…\)"),
        ("warner(0.7)", 8, r"write parameters with their names, such as warner\(p=…\)"),
        ("negative(2)", 10, r"with their names, such as negative\(discards=…\)"),
        ("negative(('a', 'b', 'c'), 2)", 27, r"with their names, such as negative\(discards=…\)"),
        ("negative_sink({'none': 'refused'})", 15, r"with their names, such as negative_sink\(sinks=…\)"),
        ("two_coins(3)", 11, r"with their names, such as two_coins\(categories=…\)"),
        ("direct(3)", 8, r"with their names, such as direct\(categories=…\)"),
        ("mix((1, warner(0.7)), (1, two_coins()))", 16, r"as warner\(p=…\)"),
        ("3 * two_coins()", 1, "a call with parentheses"),
        ("direct() * 3", 12, "a call with parentheses"),
        ("two_coins() + two_coins()", 1, "a call with parentheses"),
        ("direct() * nothing()", 12, "no design is called 'nothing'"),
        ("negative(discards=2*3)", 19, "naysay runs no code"),
        ("direct().then(3)", 15, "a call with parentheses"),
        ("two_coins().then()", 1, "write one design after another"),
        ("two_coins().then(two_coins(), 3)", 1, "write one design after another"),
        ("two_coins().then(after=two_coins())", 1, "write one design after another"),
        ("two_coins.then(two_coins())", 1, "a call with parentheses"),
        ("two_coins().mix(two_coins())", 1, "named by a plain word"),
        ("warner(p=1/0)", 10, "one whole number over another"),
        ("warner(p=0.7/2)", 10, "one whole number over another"),
        ("negative(**{})", 10, r"\*\* is not allowed"),
        ("negative(discards=two)", 19, "naysay runs no code"),
        ("designs.negative()", 1, "named by a plain word"),
        ("négative()", 1, r"did you mean negative\(\)"),
        ("warner", 1, r"a call with parentheses: write warner\(p=…\)$"),
        ("warnr", 1, r"no design is called 'warnr'; did you mean warner\(p=…\)\?"),
        ("forced_response", 1, r"forced_response\(\), which also takes forced_yes, forced_no, forced$"),
        ("mix", 1, r"write mix\(\(weight, design\), …\)$"),
        ("negative(\x00)", None, "not a call"),
        ("negative(('é', 'ü', 'ß'), discards=two)", 36, "naysay runs no code"),
        ("negative(\n  discards=two)", 22, "naysay runs no code"),
    ],
)
def test_text_that_does_not_parse_is_shown_with_the_position(text, position, message):
    with pytest.raises(DesignError, match=message) as caught:
        designs.parse(text, categories=ABC)
    assert position is None or f"at position {position}:" in str(caught.value)
    assert repr(text.strip()) in str(caught.value)


@pytest.mark.parametrize("name", designs.FAMILIES)
def test_a_family_without_parentheses_is_told_its_call(name):
    with pytest.raises(DesignError, match=rf"parentheses: write {name}\(") as caught:
        designs.parse(name)
    required = next(each for each in designs.catalog() if each[0] == name)[1].split(", ")
    if name not in ("mix", "levels", "samples"):
        assert all(f"{each}=…" in str(caught.value) for each in required if each and "=" not in each)


def test_compositions_are_shown_as_they_are_written():
    shown = {name: parameters for name, parameters, _ in designs.catalog()}
    assert shown["mix"] == "(weight, design), …"
    assert shown["levels"] == "name=design, …"
    assert shown["negative_sink"] == "sinks, discards=1, members=None, others=None"


def test_a_text_in_place_of_labels_is_told_apart():
    with pytest.raises(DesignError, match=r"got the single text 'abc' \(write a tuple of labels\)"):
        designs.parse("negative('abc')")


def test_a_family_without_categories_asks_for_them():
    with pytest.raises(DesignError, match="name the categories, such as --categories 'low,middle,high'"):
        designs.parse("negative()")


HOSTILE = [
    "__import__('os').system('true')",
    "negative(__import__('os'))",
    "negative(discards=__import__('os').getpid())",
    "eval('1')",
    "exec('import os')",
    "negative.__class__()",
    "negative().matrix.tofile('x')",
    "negative(discards=().__class__)",
    "(lambda: negative())()",
    "negative(discards=(lambda: 1)())",
    "negative(discards=[x for x in (1,)][0])",
    "negative([c for c in 'abc'])",
    "negative(discards=f'{open(1)}')",
    "negative(discards=(n := 1))",
    "negative(discards=1 if True else 2)",
    "negative(discards=10**9)",
    "negative(discards=9**9**9**9)",
    "warner(p=1/10**9)",
    "warner(p='1e999999999')",
    "negative(*(1, 2))",
    "negative(discards=await_())",
    "negative(); negative()",
    "FAMILIES['negative']()",
    "negative_sink(sinks={negative: 'x'})",
    "negative_sink(sinks={[1]: 'x'})",
    "negative_sink(sinks={**{}})",
    "levels(**{'a': direct()})",
    "parse('negative()')",
    "negative() * __import__('os').getpid()",
    "negative().then(__import__('os').getpid())",
    "__import__('os').then(negative())",
    "negative().then(*[negative()])",
]
DEEP = {
    "parentheses": "(" * 100_000,
    "lists": "custom(" + "[" * 100_000 + "]" * 100_000 + ")",
    "calls": "mix((1, " * 5_000 + "direct()" + "), (1, direct()))" * 5_000,
    "fractions": "warner(p=1" + "/1" * 20_000 + ")",
    "some fractions": "warner(p=1" + "/1" * 900 + ")",
    "signs": "warner(p=" + "-" * 50_000 + "1)",
    "products": " * ".join(["two_coins()"] * 10_000),
    "some products": " * ".join(["two_coins()"] * 40),
    "products in products": "two_coins() * (" * 40 + "two_coins()" + ")" * 40,
    "successions": "two_coins()" + ".then(two_coins())" * 10_000,
    "attributes": "a" + ".a" * 50_000 + "()",
    "digits": "negative(discards=" + "9" * 100_000 + ")",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_call_that_tries_to_run_code_is_refused(text, monkeypatch):
    def run(*arguments, **named):
        raise AssertionError("code was run")

    for dangerous in ("eval", "exec", "open"):
        monkeypatch.setattr(builtins, dangerous, run)
    with pytest.raises(DesignError):
        designs.parse(text, categories=ABC)


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_endless_nesting_is_refused(text):
    try:
        designs.parse(text, categories=("yes", "no"))
    except NaysayError as error:
        assert len(str(error)) < 1_000
    else:
        raise AssertionError("this should have been refused")


WRONG_KIND = [
    "custom(3)",
    "custom('abc')",
    "custom([[1, 2], 3])",
    "levels(3)",
    "levels({'a': 3})",
    "mix(1, 2)",
    "mix((1,), (2,))",
    "mix((negative(), 1), (negative(), 1))",
    "negative('abc')",
    "negative(3)",
    "negative(weights=3)",
    "negative(weights='abc')",
    "two_option(shown='two')",
    "two_option(shown=2.5)",
    "two_option(preferences=1)",
    "negative_levels(least='a')",
    "negative_levels(most=1e400)",
    "negative_sink(sinks=['a'])",
    "gaussian_negative(sigma=[1])",
    "gaussian_negative(sigma=negative())",
    "warner(p=direct())",
    "k_ary(epsilon={})",
    "negative(categories=5)",
]


@pytest.mark.parametrize("text", WRONG_KIND)
def test_arguments_of_the_wrong_kind_are_an_error_of_ours(text):
    with pytest.raises(DesignError):
        designs.parse(text, categories=ABC)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: designs.warner(0.8), "warner: too many positional arguments; write warner(p=…)"),
        (lambda: designs.warner(q=0.8), "warner has no parameter 'q'; known are 'p', 'categories'"),
        (lambda: designs.negative(("a", "b"), 1), "write negative(categories), which also takes discards=…, weights=…"),
        (
            lambda: designs.forced_response(0.1, 0.1),
            "which also takes categories=…, forced_yes=…, forced_no=…, forced=…",
        ),
        (lambda: designs.k_ary(("a", "b"), epsilo=1), "k_ary has no parameter 'epsilo'; did you mean 'epsilon'?"),
        (designs.negative, "missing a required argument: 'categories'; write negative(categories)"),
        (lambda: designs.warnr, "no design is called 'warnr'; did you mean warner(p=…)?"),
    ],
)
def test_python_says_as_much_of_a_slip_as_the_command_line(wrong, told):
    with pytest.raises((TypeError, AttributeError), match=re.escape(told)):
        wrong()


def test_completion_offers_what_a_user_wants_of_a_design():
    offered = dir(designs.warner(p=0.8))
    assert {"categories", "matrix", "randomize", "tally", "then", "to_json"} <= set(offered)
    assert len(offered) <= 20
    assert all(hasattr(designs.warner(p=0.8), name) for name in offered)
