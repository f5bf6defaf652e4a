import numpy as np
import pytest

from naysay import Design, designs
from naysay.design.several import choice, place_of
from naysay.errors import DataError

CHOICE = designs.negative_levels(tuple("abcd"))


def test_preferences_are_equal_a_vector_or_a_column_for_each_category():
    np.testing.assert_allclose(choice(CHOICE), np.full((3, 4), 1 / 3))
    np.testing.assert_allclose(choice(CHOICE, (0.5, 0.5, 0)), np.tile([[0.5], [0.5], [0]], 4))
    given = np.eye(3)[:, [0, 1, 2, 0]]
    np.testing.assert_array_equal(choice(CHOICE, given), given)
    np.testing.assert_array_equal(choice(designs.warner(p=0.7)), [[1, 1]])


@pytest.mark.parametrize(
    ("preferences", "told"),
    [
        ((0.5, 0.6, 0), "preferences must sum to one; they sum to 1.1"),
        ((0.5, 0.5), "must have 3 probabilities"),
        ((1.5, -0.5, 0), "must not be negative"),
        (np.full((3, 4), 0.3), "preferences of 'a' must sum to one"),
        (np.full((4, 3), 0.25), "3 rows .levels. and 4 columns"),
        ("uniform", "must be 3 probabilities"),
    ],
)
def test_preferences_that_cannot_be(preferences, told):
    with pytest.raises(DataError, match=told):
        choice(CHOICE, preferences)


def test_preferences_are_for_levels():
    with pytest.raises(DataError, match="offers no levels"):
        choice(designs.warner(p=0.7), (1,))


def test_a_category_is_named_by_itself_or_its_text():
    assert place_of("2", (1, 2)) == place_of(2, (1, 2)) == 1
    with pytest.raises(DataError, match="did you mean 'middle'"):
        place_of("midle", ("low", "middle"))


@pytest.mark.parametrize("names", [(0.5, 1.0), (1, 2), ("1", "2")])
def test_levels_are_found_by_the_names_that_they_were_given(names):
    offer = designs.levels(dict.fromkeys(names, designs.negative(("a", "b", "c"))))
    assert tuple(offer.parts) == offer.levels == names
    assert [offer.level_named(name) for name in names] == list(names)
    assert [offer.level_named(str(name)) for name in names] == list(names)
    assert offer.level_named(1.0) == next(name for name in names if float(name) == 1)
    assert Design.from_json(offer.to_json()) == offer
