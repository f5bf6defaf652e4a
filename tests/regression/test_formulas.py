"""What a formula may hold, and that nothing else of it is ever evaluated."""

import pathlib

import formulaic
import numpy as np
import pandas as pd
import pytest

from naysay.errors import DataError
from naysay.regression import FUNCTIONS, reading

TABLE = pd.DataFrame({"age": [20.0, 35, 50, 65], "g": pd.Categorical(["f", "m", "f", "m"]), "my age": [1.0, 2, 3, 5]})


def columns(right):
    return reading.parse(f"y ~ {right}").matrix(TABLE).columns


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("age", ("Intercept", "age")),
        ("0 + age", ("age",)),
        ("age - 1", ("age",)),
        ("1", ("Intercept",)),
        ("g", ("Intercept", "g[T.m]")),
        ("age*g", ("Intercept", "age", "g[T.m]", "age:g[T.m]")),
        ("(age + g)**2", ("Intercept", "age", "g[T.m]", "age:g[T.m]")),
        ("log(age) + I(age**2)", ("Intercept", "log(age)", "I(age ** 2)")),
        ("sqrt(age) + abs(-age)", ("Intercept", "sqrt(age)", "abs(-age)")),
        ("`my age`", ("Intercept", "my age")),
        ("log(`my age`)", ("Intercept", "log(`my age`)")),
        ("C(g, Treatment('m'))", ("Intercept", "C(g, Treatment('m'))[T.f]")),
        ("C(g, Sum)", ("Intercept", "C(g, Sum)[S.f]")),
    ],
)
def test_the_columns_of_a_formula(right, expected):
    assert columns(right) == expected


def test_a_formula_computes_what_it_says():
    found = reading.parse("y ~ log(age) + I(age**2 / 10) + center(age)").matrix(TABLE)
    age = TABLE["age"].to_numpy()
    assert found.values == pytest.approx(np.column_stack([np.ones(4), np.log(age), age**2 / 10, age - age.mean()]))
    assert found.of(TABLE.head(1)) == pytest.approx(found.values[:1])  # the mean is that of the people in the model


def test_every_function_that_is_listed_can_be_called():
    written = {"C": "C(g)", "Treatment": "C(g, Treatment('m'))", "Sum": "C(g, Sum)"}
    written |= {"bs": "bs(age, df=4)", "cr": "cr(age, df=3)", "poly": "poly(age, 2)"}
    for name in FUNCTIONS:
        assert len(columns(written.get(name, f"{name}(age)"))) > 1


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("`1`", "a column that is called 1 would be taken for the constant"),
        ("age:`1`", "a column that is called 1 would be taken for the constant"),
        ("I(`a b` + a_b)", "the columns 'a b', 'a_b' cannot stand in one function; rename one"),
        ("I(`a b` - `a-b`)", "the columns 'a b', 'a-b' cannot stand in one function; rename one"),
        ("I(`\uff41ge` + 1)", "holds letters that Python takes for others"),
    ],
)
def test_no_column_is_taken_for_another(right, message):
    with pytest.raises(DataError, match=message):
        reading.parse(f"y ~ {right}")


@pytest.fixture
def trap(monkeypatch, tmp_path):
    """A file that an attack would leave behind."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pwned"


WRITE = "__import__('pathlib').Path('pwned').touch()"
ATTACKS = [
    WRITE,
    f"{{{WRITE}}}",
    f"I({WRITE})",
    f"log(age, out={WRITE})",
    f"age + {{[x for x in [{WRITE}]]}}",
    f"I((lambda: {WRITE})())",
    f"I(age if {WRITE} else age)",
    f"I(f'{{{WRITE}}}')",
    "np.savetxt('pwned', age)",
    "I(np.savetxt('pwned', age))",
    "age.to_csv('pwned')",
    "I(age.to_csv('pwned'))",
    "log.__globals__",
    "I(().__class__.__bases__[0].__subclasses__())",
    "I(age[0])",
    "age[0]",
    "open('pwned', 'w')",
    "eval('1')",
    "exec('1')",
    "Q('age')",
    "contr.treatment('m')",
    "I(age, _state=age)",
    "scale(age, _context=age)",
    "I(*age)",
    "I(**age)",
    "lag(age)",
    "hashed(age)",
    # a text that closes the code into which formulaic writes it
    "scale(age, ddof='\"] + [" + WRITE.replace("'", "\\'") + "] + [\"')",
    "C(g, Treatment('m\\\\\"] + [1] + [\"'))",
    'C(g, Treatment("\'"))',
    "`__import__('pathlib').Path('pwned').touch()`",
    "log(`__import__('pathlib').Path('pwned').touch()`)",
    "I(age := 3)",
    "I(await age)",
    "I(9**9**9**9)",
    "I(age**9**9**9)",
    "I(2**(age))",
    "(age + g)**20",
    "(age + g)**age",
    "I(age @ age)",
    "I(age == 3)",
    "I('a' * 99)",
    "I(True or age)",
    "[age ~ g]",
    "age | g",
    ".",
    "age %o% g",
    "age ~ g",
    "offset(age)",
    "age\x00",
    "(" * 3_000 + "age" + ")" * 1_500,
]


def test_formulaic_itself_would_run_it(trap):
    with pytest.raises(ValueError, match="Length of values"):  # after the harm was done
        formulaic.model_matrix(f"{{[{WRITE}]}}", TABLE)
    assert trap.exists()


@pytest.mark.parametrize("right", ATTACKS)
def test_an_attack_is_an_error_and_leaves_nothing_behind(right, trap):
    with pytest.raises(DataError):
        reading.parse(f"y ~ {right}").matrix(TABLE)
    assert not trap.exists()
    assert not list(pathlib.Path().iterdir())


@pytest.mark.parametrize("left", ["log(y)", WRITE, "y:z", "y*z", "1", "", "{y}", "2", "'y'"])
def test_an_attack_on_the_left_side_is_an_error(left, trap):
    with pytest.raises(DataError):
        reading.parse(f"{left} ~ age")
    assert not trap.exists()


@pytest.mark.parametrize(
    "text", ["", "y", "y + x", "~", "~ age", "y ~", "y ~ age ~ g", "y ~ (age", "y = age", "y ~ age +* g"]
)
def test_what_is_no_formula_is_told(text):
    with pytest.raises(DataError, match="formula"):
        reading.parse(text)


def test_a_formula_is_a_text():
    with pytest.raises(DataError, match="a formula is a text such as 'cheated ~ age \\+ gender'; got int"):
        reading.parse(3)


def test_what_is_not_listed_is_named_with_what_is():
    with pytest.raises(DataError, match=r"cannot call 'arcsin'; the functions are C, Treatment"):
        reading.parse("y ~ arcsin(age)")
    with pytest.raises(DataError, match="a power in a formula is that of a column to a number; got '9 \\*\\* 9"):
        reading.parse("y ~ I(9**9**9)")
    with pytest.raises(DataError, match="multiplied up to 3 times"):
        reading.parse("y ~ (age + g)**4")


def test_a_column_that_is_named_as_a_function_is_an_error_and_not_called():
    table = TABLE.assign(log=1.0)
    with pytest.raises(DataError, match="cannot be computed"):
        reading.parse("y ~ log(age) + log").matrix(table)


def test_several_columns_of_answers_stand_on_the_left():
    assert reading.parse("low + middle + `high up` ~ age").response == ("low", "middle", "high up")


def test_a_term_that_is_not_finite_is_told_with_its_row():
    with pytest.raises(DataError, match=r"'log\(age - 20\)' is not a finite number where age = 20\.0"):
        reading.parse("y ~ log(age - 20)").matrix(TABLE)
