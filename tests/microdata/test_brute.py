"""The oracle itself: by hand on the paper's example, and by what every count must satisfy."""

from . import brute

PAPER = [(40, "Male"), (36, "Female"), (None, "Male"), (40, None), (23, "Male"), (23, "Male")]


def test_the_oracle_gives_the_example_of_the_paper():
    assert brute.anonymity(PAPER) == [1, 1, None, None, 2, 2]
    for rule in ("worst", "intersect", "first"):
        assert brute.matches(PAPER, rule) == [3, 1, 5, 3, 3, 3]
