"""Several samples: cells, shares of them, and answers that belong to a sample."""

import numpy as np
import pytest

from naysay import Design, designs, estimate
from naysay.design import Samples, Share
from naysay.errors import DataError, DesignError
from naysay.tally import Tally

LIARS = designs.stochastic_lie_detector(p=("2/12", "10/12"))
CHEATING = designs.cheating_detection(p=(0.25, 0.75))
ANCHORED = designs.anchored_crosswise(prevalence=0.15, anchor=0.25)
EXTENDED = designs.extended_crosswise(prevalence=0.2)
ARMS = designs.samples(open=designs.direct(("yes", "no")), masked=designs.crosswise(prevalence=0.25))
EVERY = [
    LIARS,
    CHEATING,
    ANCHORED,
    EXTENDED,
    ARMS,
    designs.unrelated_question_unknown(p=(0.7, 0.3)),
    designs.cheating_detection_symmetric(forced_yes=(0.1, 0.4), forced_no=(0.4, 0.1)),
    designs.abul_ela(("a", "b", "c"), p=[[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]]),
    designs.extended_crosswise(prevalence=0.2, between=(0.15, 0.25)),
]
every_survey = pytest.mark.parametrize("survey", EVERY, ids=lambda survey: survey.name)


# cells and shares


def test_cells_are_finer_than_categories():
    assert LIARS.categories == ("yes", "no")
    assert LIARS.cells == ("truthful yes", "no", "lying yes")
    assert ARMS.cells == ARMS.categories


@every_survey
def test_the_categories_share_all_cells_among_them(survey):
    above, below = np.array([share.weights(survey.cells) for share in survey.shares]).swapaxes(0, 1)
    np.testing.assert_array_equal(above.sum(axis=0), below[0])
    assert (below == below[0]).all()
    assert tuple(share.name for share in survey.shares) == survey.categories


def test_a_share_is_of_cells_among_cells():
    above, below = Share("truthful", ("a",), among=("a", "c")).weights(("a", "b", "c"))
    assert above.tolist() == [1, 0, 0]
    assert below.tolist() == [1, 0, 1]
    assert Share("all", ("a", "b")).weights(("a", "b", "c"))[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "share",
    [Share("s", ()), Share("s", ("x",)), Share("s", ("a",), among=("x",)), Share("s", ("a",), among=("b", "c"))],
)
def test_a_share_of_nothing_or_of_others_is_refused(share):
    with pytest.raises(DesignError, match="the share 's' must be of cells among 'a', 'b', 'c'"):
        share.weights(("a", "b", "c"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Samples.of({}), "at least 1 samples are needed"),
        (lambda: Samples.of({1: LIARS}), "sample 1 must be a single design"),
        (lambda: Samples.of({1: "direct"}), "sample 1 must be a single design; got str"),
        (
            lambda: Samples.of({1: LIARS.channel(1), 2: CHEATING.channel(1)}),
            "all samples must be about the same cells; sample 2 has 'honest yes', 'honest no', 'cheater', sample 1 has",
        ),
        (lambda: Samples.of({1: LIARS.channel(1)}, shares=[Share("a", ("b",))]), "must be of cells among"),
        (lambda: Samples.of({1: LIARS.channel(1)}, nuisance=[Share("a", ())]), "must be of cells among"),
        (lambda: designs.samples({}), "samples are made of designs by name"),
        (lambda: designs.samples(a=designs.direct("ab"), b=EXTENDED), "several labels"),
        (lambda: designs.samples(a=EXTENDED), "sample 'a' must be a single design"),
        (
            lambda: designs.samples(a=designs.direct(("a", "b")), b=designs.warner(p=0.7)),
            "must be about the same cells",
        ),
    ],
)
def test_samples_that_cannot_be_put_together(make, message):
    with pytest.raises(DesignError, match=message):
        make()


@every_survey
def test_json_gives_the_samples_back(survey):
    again = Design.from_json(survey.to_json())
    assert isinstance(again, Samples)
    assert again == survey
    assert hash(again) == hash(survey)
    assert (again.levels, again.cells, again.shares, again.nuisance) == (
        survey.levels,
        survey.cells,
        survey.shares,
        survey.nuisance,
    )
    assert (again.measures_compliance, again.notes, again.name) == (
        survey.measures_compliance,
        survey.notes,
        survey.name,
    )
    assert again.alternatives == survey.alternatives
    assert [again.channel(name).protocol for name in again.levels] == [
        survey.channel(name).protocol for name in survey.levels
    ]


def test_surveys_differ_by_what_they_estimate():
    bare = Samples.of({name: LIARS.channel(name) for name in LIARS.levels})
    assert bare.categories == LIARS.cells
    assert bare != LIARS


# answers


def test_answers_are_drawn_by_sample():
    rng = np.random.default_rng(1998)
    cells = np.repeat(LIARS.cells, 4_000)
    said = LIARS.randomize(cells, sample=np.tile([1, 2], 6_000), rng=rng)
    assert said.level.tolist() == [1, 2] * 6_000
    yes = np.asarray(said) == "yes"
    for sample in LIARS.levels:
        rates = [yes[(cells == cell) & (said.level == sample)].mean() for cell in LIARS.cells]
        assert rates == pytest.approx(LIARS.channel(sample).matrix[0], abs=4 * 0.5 / np.sqrt(2_000))


def test_one_name_puts_all_into_a_sample_and_texts_are_names_too():
    rng = np.random.default_rng(1)
    for name in (2, "2", 2.0, np.int64(2)):
        assert CHEATING.randomize(["cheater"] * 3, sample=name, rng=rng).level.tolist() == [2] * 3


def test_samples_are_drawn_by_allocation():
    rng = np.random.default_rng(3)
    drawn = CHEATING.randomize(["cheater"] * 8_000, allocation=(0.25, 0.75), rng=rng)
    assert (drawn.level == 2).mean() == pytest.approx(0.75, abs=4 * np.sqrt(0.1875 / 8_000))
    evenly = CHEATING.randomize(["cheater"] * 8_000, rng=rng)
    assert (evenly.level == 2).mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(8_000))


def test_only_one_sample_has_no_name():
    said = ANCHORED.randomize(["attentive yes", None], rng=np.random.default_rng(0))
    assert ANCHORED.single
    assert said.level is None
    assert said.missing.tolist() == [False, True]
    tally = ANCHORED.tally((["same", "different"], ["same", "different"]))
    assert tally.n == 2
    assert ANCHORED.likelihood((["same"], ["same"])) == pytest.approx(ANCHORED.channel().matrix[:1])
    with pytest.raises(DataError, match="has one sample only; leave `sample` out"):
        ANCHORED.tally((["same"], ["same"]), sample=[1])


def test_the_likelihood_is_that_of_the_sample():
    said = LIARS.encode(["yes", "no", None], 1)
    assert said.level.tolist() == [1, 1, 1]
    np.testing.assert_allclose(LIARS.likelihood(said), [[1, 5 / 6, 0], [0, 1 / 6, 1], [1, 1, 1]])
    with pytest.raises(DataError, match="carry their sample"):
        LIARS.likelihood(["yes"])


def test_what_a_respondent_says_is_counted_in_her_sample():
    tally = LIARS.tally(["yes", "no", "yes", None, "no"], sample=[1, 1, 2, 2, "2"], count=[3, 2, 5, 1, 4])
    assert {name: part.n for name, part in tally.by_level.items()} == {1: 5, 2: 9}
    assert tally.missing == 1
    assert tally.categories == LIARS.cells


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "answers of several samples need `sample`: the sample that each respondent was in"),
        ({"sample": [1]}, "each of the 2 respondents needs a sample; got 1"),
        ({"sample": [1, 3]}, "sample 2 of 2 is '3', which is no sample of this design; the samples are '1', '2'"),
        ({"sample": [1, None]}, "sample 2 of 2 is empty; say which sample it is"),
        ({"level": [1, 2]}, r"stochastic_lie_detector\(.*\) has no levels; leave `level` out \(or was sample= meant"),
        ({"sample": [1, 2], "weights": [1, -1]}, "weights must be finite and not negative"),
        ({"sample": [1, 2], "count": [1, 0.5]}, r"counts must be whole numbers; .*\(survey weights go into weights="),
    ],
)
def test_answers_say_what_does_not_fit_their_samples(options, message):
    with pytest.raises(DataError, match=message):
        LIARS.tally(["yes", "no"], **options)


def test_an_answer_is_checked_in_its_own_sample():
    message = "answer 2 of 2 at sample 'masked' is 'maybe', which is not a response here"
    with pytest.raises(DataError, match=message):
        ARMS.tally(["yes", "maybe"], sample=["open", "masked"])
    with pytest.raises(DataError, match="answer 1 of 1 at sample 'open' is 'same'"):
        ARMS.tally(["same"], sample=["open"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": 1, "allocation": (1, 0)}, "give sample= or allocation=, not both"),
        ({"allocation": (1, 1)}, "allocation must sum to one"),
        ({"allocation": (1,)}, "allocation must have 2 probabilities"),
        ({"sample": "third"}, "which is no sample of this design"),
    ],
)
def test_drawing_says_what_does_not_fit(options, message):
    with pytest.raises(DataError, match=message):
        CHEATING.randomize(["cheater"], **options)


def test_truth_is_a_cell_not_a_category():
    with pytest.raises(DataError, match="'yes', which is not a category here"):
        LIARS.randomize(["yes"], sample=1)
    with pytest.raises(DataError, match="sample 3 is no sample"):
        LIARS.channel(3)


def test_a_design_of_levels_has_no_samples_and_a_single_one_neither():
    choice = designs.negative_levels(("a", "b", "c"))
    for design in (choice, designs.warner(p=0.7)):
        with pytest.raises(DataError, match=r"has no samples; leave `sample` out \(or was level= meant\?\)"):
            design.tally(["a"], sample=[1])


def test_tallies_of_samples_add():
    first = LIARS.tally(["yes", "no"], sample=[1, 2])
    second = LIARS.tally(["no", "no", None], sample=[1, 2, 1])
    whole = LIARS.tally(["yes", "no", "no", "no", None], sample=[1, 2, 1, 2, 1])
    added = first + second
    assert (added.n, added.missing) == (whole.n, whole.missing) == (4, 1)
    for name in LIARS.levels:
        assert added.by_level[name].count.tolist() == whole.by_level[name].count.tolist()
    assert sum([first, second]).n == 4


def test_a_saved_tally_comes_back_with_its_samples(tmp_path):
    tally = LIARS.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[373, 191, 398, 294])
    tally.save(tmp_path / "arms.npz")
    again = Tally.load(tmp_path / "arms.npz")
    one, two = (estimate.moments(LIARS, each) for each in (tally, again))
    assert two.proportions == pytest.approx(one.proportions, abs=0)


def test_samples_may_report_in_different_ways():
    said = ARMS.encode(["yes", "same", None], level=["open", "masked", "open"])
    assert said.texts() == ["yes", "same", None]
    assert ARMS.encode(said.texts(), level=said.level).codes.tolist() == said.codes.tolist()
    drawn = ARMS.randomize(["yes", "no"], sample=["open", "masked"], rng=np.random.default_rng(0))
    assert drawn.texts()[0] == "yes"
    assert drawn.texts()[1] in ("same", "different")
