import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay.show import finish


def test_a_pair_of_categories_is_one_label():
    assert finish.label_line(("low", 3)) == "low × 3"


def test_control_characters_and_line_breaks_are_spaces():
    assert finish.label_line("a\n\tb\x00\x1b[31mc") == "a b [31mc"


def test_wide_and_combining_characters_are_measured():
    assert finish.width("ab") < finish.width("中文") < finish.width("abcd")
    assert finish.width("e\u0301") == finish.width("e")


@given(st.text(max_size=300), st.integers(3, 40), st.integers(1, 4))
def test_wrapped_labels_keep_within_their_room(text, room, lines):
    wrapped = finish.wrapped_lines(finish.label_line(text), room, lines=lines)
    assert 1 <= len(wrapped) <= lines
    assert all(finish.width(line) <= room for line in wrapped)


@given(st.text(max_size=60))
def test_wrapping_loses_nothing_but_space_where_there_is_room(text):
    whole = finish.label_line(text)
    assert "".join(finish.wrapped_lines(whole, 20, lines=100)).replace(" ", "") == whole.replace(" ", "")


def test_breaks_come_at_spaces_where_there_are_some():
    assert finish.wrapped_lines("less than thirty thousand", 12) == ["less than", "thirty", "thousand"]


def test_what_is_cut_ends_in_an_ellipsis():
    assert finish.wrapped_lines("x" * 50, 10, lines=2) == ["x" * 10, "x" * 9 + "…"]


@pytest.mark.parametrize(
    ("whole", "mark"),
    [("abc עברית", "\u2066"), ("עברית abc", "\u2067"), ("12 عربي", "\u2067"), ("50-74", "\u2066")],
)
def test_a_line_has_the_direction_of_its_label(whole, mark):
    assert finish.isolated_line("50-74", whole) == mark + "50-74\u2069"
