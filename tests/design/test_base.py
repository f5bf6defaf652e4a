"""What every design has in common: reading true categories, and the types that it shows."""

import typing

import pytest

from naysay import Design, designs
from naysay.design import Answerable, load, read
from naysay.errors import AnswerError
from naysay.tally import Tally

ABC = tuple("abc")


@pytest.mark.parametrize(
    "design",
    [designs.warner(p=0.7, categories=("a", "b")), designs.negative(ABC, discards=1), designs.negative_levels(ABC)],
    ids=lambda design: design.name,
)
def test_a_true_category_that_is_none_is_told_as_such(design):
    with pytest.raises(AnswerError, match="answer 2 of 3 is 'zz', which is not a category here; known are 'a', 'b'"):
        design.randomize(["a", "zz", None])
    with pytest.raises(AnswerError, match="is 'zz', which is not a response here"):
        design.encode(["zz"], *[["1"]] * (len(design.levels) > 1))


def test_a_tally_is_one_or_one_for_each_group():
    said = designs.negative(ABC)
    assert isinstance(said.tally(["a"]), Tally)
    assert isinstance(said.tally(["a"], by=["x"])["x"], Tally)


@pytest.mark.parametrize("function", [Design.from_json, read, load, designs.parse], ids=lambda each: each.__name__)
def test_what_is_read_is_a_design_or_an_offer(function):
    assert typing.get_type_hints(function)["return"] is Answerable
