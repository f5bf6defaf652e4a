"""A design's JSON is checked as if a stranger had written it."""

import datetime
import json

import numpy as np
import pytest

from naysay import Design, designs
from naysay.design import load
from naysay.errors import DataError, DesignError

ABC, ABCD = tuple("abc"), tuple("abcd")
TABLE = designs.warner(p=0.7)
SETS = designs.negative(ABCD, discards=2)
WEIGHTED = designs.negative(ABCD, discards=2, weights=(1, 2, 3, 4))
MIX = designs.mix((3, designs.negative(ABC)), (1, designs.uniform(ABC)))
OFFER = designs.negative_levels(ABC)
SAMPLES = designs.stochastic_lie_detector(p=("2/12", "10/12"))
ANCHORED = designs.anchored_crosswise(prevalence=0.15, anchor=0.25)
RANGED = designs.crosswise(prevalence=0.25, between=(0.2, 0.3))


def changed(design, *path, to):
    """The design's JSON with one entry changed."""
    whole = json.loads(design.to_json())
    node = whole["design"]
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = to
    return json.dumps(whole)


def without(design, field):
    whole = json.loads(design.to_json())
    del whole["design"][field]
    return whole


EVERY_KIND = [TABLE, SETS, WEIGHTED, MIX, OFFER, TABLE * MIX, TABLE.then(TABLE), SAMPLES, ANCHORED, RANGED]


@pytest.mark.parametrize("design", EVERY_KIND)
def test_a_design_comes_back_from_text_object_and_file(design, tmp_path):
    path = tmp_path / "design.json"
    path.write_text(design.to_json(indent=1), encoding="utf-8")
    assert load(path) == Design.from_json(design.to_json()) == Design.from_json(json.loads(design.to_json())) == design
    path.write_text("\ufeff" + design.to_json(), encoding="utf-8")
    assert load(path) == design


def test_labels_keep_their_kind_and_script():
    labels = ("نعم", "no 🙂", 3, 4.5)
    again = Design.from_json(designs.direct(labels).to_json())
    assert again.categories == labels
    assert "نعم" in again.to_json()


def test_labels_that_json_cannot_hold_are_named():
    with pytest.raises(DesignError, match="labels must be texts or numbers"):
        designs.direct([datetime.date(2020, 1, day) for day in (1, 2)]).to_json()


def test_a_long_fraction_survives():
    design = designs.custom([[1 / 3, 0.5], [2 / 3, 0.5]])
    np.testing.assert_array_equal(Design.from_json(design.to_json()).weights, design.weights)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be readable; Expecting value: line 1 column 1"),
        ("{", "must be readable"),
        ("[" * 200_000, "must be readable"),
        ("[]", '"naysay": "design"'),
        ("3", '"naysay": "design"'),
        ('{"kind": "table"}', '"naysay": "design"'),
        ('{"naysay": "tally", "version": 1}', '"naysay": "design"'),
        ('{"naysay": "design"}', "reads designs of version 1; got version None"),
        ('{"naysay": "design", "version": 2, "design": {}}', "got version 2"),
        ('{"naysay": "design", "version": 1}', "must be of a known kind"),
        ('{"naysay": "design", "version": 1, "design": {"kind": "magic"}}', "got kind 'magic'"),
        ('{"naysay": "design", "version": 1, "design": [1]}', "must be of a known kind"),
    ],
)
def test_text_that_is_no_design_is_refused(text, message):
    with pytest.raises(DesignError, match=message):
        Design.from_json(text)


TOLD = {"kind", "name", "notes"}
OPTIONAL = {"protocol", "alternatives", "yes_no"}  # fields that only some designs have


@pytest.mark.parametrize("design", EVERY_KIND)
def test_no_field_may_be_left_out_that_every_design_of_its_kind_has(design):
    for field in json.loads(design.to_json())["design"].keys() - TOLD - OPTIONAL:
        with pytest.raises(DesignError, match="fields complete"):
            Design.from_json(without(design, field))


@pytest.mark.parametrize("field", ["protocol", "alternatives"])
def test_what_is_only_told_about_a_design_changes_no_answer(field):
    bare = Design.from_json(without(RANGED, field))
    assert getattr(RANGED, field)
    assert not getattr(bare, field)
    assert bare == RANGED


def test_without_yes_no_the_words_for_yes_and_no_are_not_answers():
    assert RANGED.encode(["yes", 0]).texts() == ["same", "different"]
    with pytest.raises(DataError, match="'yes', which is not a response here"):
        Design.from_json(without(RANGED, "yes_no")).encode(["yes", 0])


def test_a_range_comes_back_with_both_its_ends():
    again = Design.from_json(RANGED.to_json())
    assert [float(end.matrix[0, 0]) for end in again.alternatives] == [0.2, 0.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(TABLE, "columns", to=[[7, 3], [3, 6]]), "share one sum"),
        (changed(TABLE, "columns", to=[[7, 3], [11, -1]]), "non-negative"),
        (changed(TABLE, "columns", to=[[7.5, 2.5], [3, 7]]), r"whole numbers only; got 7\.5"),
        (changed(TABLE, "columns", to=[[True, False], [False, True]]), "whole numbers only; got True"),
        (changed(TABLE, "columns", to=[[2**53, 1], [2**53, 1]]), "up to 2"),
        (changed(TABLE, "columns", to=[[10**30, 0], [0, 10**30]]), "too large"),
        (changed(TABLE, "columns", to=[[7, 3, 0], [3, 7, 0]]), "2 rows"),
        (changed(TABLE, "columns", to="73"), "whole numbers only"),
        (changed(TABLE, "denominator", to=20), "must sum to the denominator 20"),
        (changed(TABLE, "categories", to=["yes", "yes"]), "must differ"),
        (changed(TABLE, "categories", to=["yes", {"no": 1}]), "must be texts or numbers"),
        (changed(SETS, "discards", to=2.5), r"whole numbers only; got 2\.5"),
        (changed(SETS, "discards", to=4), "between 1 and 3 for 4 categories; got 4"),
        (changed(SETS, "truthful", to="false"), "must be true or false; got 'false'"),
        (changed(WEIGHTED, "weights", to=[1, 2, 3, 4.5]), "positive integers"),
        (changed(WEIGHTED, "weights", to=[1, 2, 3]), "positive integers"),
        (changed(MIX, "weights", to=[3]), r"2 positive integers .*got '3'"),
        (changed(MIX, "weights", to=[3, 0]), "positive integers"),
        (changed(MIX, "weights", to=[3, 0.5]), "whole numbers only"),
        (changed(MIX, "components", to=[]), "fields complete"),
        (changed(MIX, "components", 1, to=OFFER.form()), "a component of a mix must be a single design"),
        (changed(TABLE * TABLE, "first", to=OFFER.form()), "the first question must be a single design"),
        (changed(OFFER, "levels", 1, "level", to=1), "levels of a design must differ"),
        (changed(OFFER, "levels", 0, "design", to=OFFER.form()), "level 1 must be a single design"),
        (changed(TABLE, "yes_no", to=1), "must be true or false; got 1"),
        (changed(TABLE, "protocol", to={}), "fields complete"),
        (changed(TABLE, "protocol", "first", "branches", 0, "chance", to=[1, 2]), "chances of one device must sum to"),
        (changed(TABLE, "protocol", "first", "branches", 0, "chance", to=[0.7, 1]), r"whole numbers only; got 0\.7"),
        (changed(TABLE, "protocol", "first", "branches", 0, "chance", to=[7, 0]), "fields complete"),
        (changed(TABLE, "columns", to=[[6, 4], [3, 7]]), "the protocol does not give 'yes' the probabilities"),
        (changed(SAMPLES, "samples", 1, "sample", to=1), "samples of a design must differ"),
        (changed(SAMPLES, "samples", 0, "design", to=OFFER.form()), "sample 1 must be a single design"),
        (changed(SAMPLES, "samples", 0, "design", to=TABLE.form()), "must be about the same cells"),
        (changed(SAMPLES, "samples", to=[]), "at least 1 samples are needed"),
        (changed(SAMPLES, "shares", 0, "of", to=["nobody"]), "must be of cells among"),
        (changed(SAMPLES, "nuisance", 0, "among", to=["no"]), "must be of cells among"),
        (changed(SAMPLES, "measures_compliance", to="yes"), "must be true or false; got 'yes'"),
        (changed(ANCHORED, "samples", 0, "design", "second", to=OFFER.form()), "the second answer must be a single"),
        (changed(ANCHORED, "samples", 0, "design", "second", to=TABLE.form()), "need the same categories"),
    ],
)
def test_every_integer_is_checked_again(text, message):
    with pytest.raises(DesignError, match=message):
        Design.from_json(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DesignError, match=r"there is no design file '.*nowhere\.json'"):
        load(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b"\xe9")
    with pytest.raises(DesignError, match="cannot read the design file"):
        load(tmp_path / "latin.json")


def test_designs_are_equal_when_their_forms_are():
    assert designs.warner(p=0.7) == designs.warner(p=0.7)
    assert designs.warner(p=0.7) != designs.warner(p=0.6)
    assert designs.warner(p=0.7) != "warner(p=0.7)"
    assert len({designs.warner(p=0.7), designs.warner(p=0.7), designs.warner(p=0.6)}) == 2
