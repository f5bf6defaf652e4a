"""What every design and space tells, so that nobody asks for its class."""

import re

import numpy as np
import pytest

from naysay import designs
from naysay.design import Design, mix
from naysay.design.drawing import GeneratorSource
from naysay.errors import DesignError
from naysay.estimate.linear import second_moments
from naysay.privacy.measures import guess_success
from naysay.responses import Bits, Labels, Pair, Subsets

ABC = ("a", "b", "c", "d")


class Plain(Design):
    """A kind that gives its likelihood and sampler only; all else is the default."""

    of = None
    rows = draw = None

    def __new__(cls, like):
        made = object.__new__(cls)
        for name in ("categories", "space"):
            object.__setattr__(made, name, getattr(like, name))
        object.__setattr__(made, "rows", like.rows)
        return made

    def __init__(self, like):
        pass


SETS = {
    "negative": designs.negative(ABC, discards=2),
    "weighted": designs.negative(ABC, discards=2, weights=(1, 2, 3, 4)),
    "mix": mix((3, designs.negative(ABC, discards=2)), (1, designs.uniform(ABC, discards=2))),
    "noise": designs.uniform(ABC, discards=2),
    "then": designs.k_ary(ABC, epsilon=1).then(designs.negative(ABC, discards=2)),
    "product": designs.warner(p=0.7) * designs.negative(ABC, discards=2),
}


@pytest.mark.parametrize("name", SETS)
def test_what_a_kind_gives_in_closed_form_is_what_the_list_gives(name):
    design, plain = SETS[name], Plain(SETS[name])
    np.testing.assert_allclose(second_moments(design), second_moments(plain), atol=1e-12)
    np.testing.assert_allclose(design.expected_statistic, plain.expected_statistic, atol=1e-12)
    prior = np.arange(1, len(design.categories) + 1) / sum(range(1, len(design.categories) + 1))
    assert guess_success(design, prior) == pytest.approx(guess_success(plain, prior))


def test_an_even_mean_says_what_the_statistic_comes_to():
    alpha, beta = designs.negative(ABC).structure.even_mean
    assert (alpha, beta) == pytest.approx((-1 / 3, 1 / 3))
    assert designs.negative(ABC, discards=2).structure.even_mean == pytest.approx((-2 / 3, 2 / 3))
    assert designs.negative(ABC, weights=(1, 2, 3, 4)).structure.even_mean is None
    assert designs.custom([[1, 0], [0, "0.5"], [0, "0.5"]], categories=("yes", "no")).structure.even_mean is None


def test_only_what_is_kept_as_integers_gives_them():
    warner = designs.warner(p=0.7)
    assert warner.structure.tabular
    assert warner.integers(warner.space.listing()).tolist() == [[7, 3], [3, 7]]
    assert not SETS["negative"].structure.tabular
    assert SETS["negative"].integers(SETS["negative"].space.listing()) is None


def test_the_options_that_are_shown_are_told():
    assert designs.two_option(ABC).structure.shown == 2
    assert designs.negative(ABC).structure.shown is None
    written = designs.two_option(ABC).to_json()
    for shown in ("-5", "99"):
        with pytest.raises(DesignError, match=f"shown must be a whole number from 2 to {len(ABC)}; got {shown}"):
            Design.from_json(re.sub(r'"shown": *2', f'"shown": {shown}', written))


def test_factors_are_the_questions_that_one_person_is_asked():
    one, two, three = designs.warner(p=0.7), designs.negative(ABC), designs.two_coins()
    assert [each.name for each in (one * two * three).factors] == [one.name, two.name, three.name]
    assert one.factors == (one,)


@pytest.mark.parametrize("space", [Labels(ABC), Subsets(ABC, 2, 2), Subsets(ABC, 1, 2), Bits(("a", "b"))])
def test_responses_at_random_are_equally_often(space):
    drawn = space.at_random(20_000, GeneratorSource(np.random.default_rng(1)).below)
    texts, counts = np.unique(space.texts(drawn), return_counts=True)
    assert set(texts) == set(space.texts(space.listing()))
    expected = len(drawn) / space.size
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_responses_too_many_to_list_are_not_drawn_from_the_list():
    large = Pair(Labels(ABC), Subsets(tuple(range(60)), 30, 30))
    with pytest.raises(DesignError, match="too many to list"):
        large.at_random(1, GeneratorSource(np.random.default_rng(1)).below)
    assert not large.constant_sum
    assert Subsets(ABC, 2, 2).constant_sum
    assert not Subsets(ABC, 1, 2).constant_sum
