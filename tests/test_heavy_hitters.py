"""Values found without a list: the encoding, the search, what it promises, and what forged reports can do."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, client, designs, estimate, privacy
from naysay.errors import AnswerError, DataError, DesignError
from naysay.responses import name_of
from naysay.tally import Tally

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = designs.heavy_hitters(length=4, alphabet=LETTERS, epsilon=4)
SMALL = designs.heavy_hitters(bits=12, epsilon=3, step=4)


def reports(design, truth, seed):
    return design.randomize(truth, rng=np.random.default_rng(seed))


ENCODED = {
    "bytes": (designs.heavy_hitters(length=6, epsilon=1), st.text(st.characters(exclude_characters="\0"), max_size=6)),
    "alphabet": (designs.heavy_hitters(length=5, alphabet="xyz0é", epsilon=1), st.text("xyz0é", max_size=5)),
    "numbers": (designs.heavy_hitters(bits=20, epsilon=1), st.integers(0, 2**20 - 1)),
}


@pytest.mark.parametrize("name", ENCODED)
@given(data=st.data())
def test_every_value_is_written_read_back_and_found_among_the_candidates(name, data):
    design, values = ENCODED[name]
    value = data.draw(values)
    try:
        bits = design.bits_of(value)
    except DataError as error:
        assert "has" in str(error)  # more than six bytes
        return
    assert str(design.value_of(bits)) == str(value) or name == "bytes"  # texts are brought into NFC
    assert design.bits_of(design.value_of(bits)) == bits
    for below, above in zip(design.prefixes, design.prefixes[1:], strict=False):
        assert bits[:above] in design.candidates([bits[:below]], above)


def test_candidates_are_beginnings_of_values_alone():
    design = designs.heavy_hitters(length=2, alphabet="abc", epsilon=1)
    assert [design.value_of(each) for each in design.candidates([""], 4)] == [
        "", "a", "aa", "ab", "ac", "b", "ba", "bb", "bc", "c", "ca", "cb", "cc",
    ]  # fmt: skip
    whole = designs.heavy_hitters(length=2, epsilon=1)
    assert len(whole.candidates([f"{0xC3:08b}"], 16)) == 64  # a byte that goes on in 64 ways
    assert whole.candidates([f"{0xF0:08b}"], 16) == []  # four bytes have no room


def test_common_words_are_found_with_their_shares():
    truth = np.random.default_rng(5).choice(["cat", "dog", "bird", "newt"], 40_000, p=[0.5, 0.3, 0.199, 0.001])
    found = estimate.heavy_hitters(WORDS, WORDS.tally(reports(WORDS, truth, 6)))
    assert found.values == ("cat", "dog", "bird")
    np.testing.assert_allclose(found.shares, [0.5, 0.3, 0.2], atol=0.03)
    assert (found.intervals[:3, 0] < [0.5, 0.3, 0.2]).all()
    assert (found.intervals[:3, 1] > [0.5, 0.3, 0.2]).all()
    assert found.looked_at == sum(stage.candidates for stage in found.stages)
    told = str(found)
    assert "3 values stand out among 40,000 reports" in told
    assert "forged reports" in told
    assert found.to_csv().splitlines()[1].startswith("cat,0.")
    assert json.loads(json.dumps(found.to_dict()))["candidates"][0]["accepted"] is True


def test_shares_are_unbiased_and_false_values_as_rare_as_promised():
    """200 surveys: the last group is fresh, so that its shares have no winner's curse, and cover."""
    held, shares = [77, 1_400, 4_000], [0.5, 0.3, 0.2]
    off, covered, false, seen = [], 0, 0, 0
    for seed in range(200):
        truth = np.random.default_rng(seed).choice(held, 2_400, p=shares)
        found = estimate.heavy_hitters(SMALL, SMALL.tally(reports(SMALL, truth, 1_000 + seed)), keep=16, confidence=0.8)
        false += bool(set(found.values) - set(held))
        real = np.array([dict(zip(held, shares, strict=True)).get(value, 0.0) for value in found.candidates])
        off.append((found.estimates - real)[np.isin(found.candidates, held)].mean())
        covered += bool(((found.intervals[:, 0] <= real) & (real <= found.intervals[:, 1])).all())
        seen += len(found.candidates) == 16
    assert seen == 200
    assert 5 <= false <= 200 * 0.2 + 4 * np.sqrt(200 * 0.2 * 0.8)
    assert covered >= 200 * 0.8 - 4 * np.sqrt(200 * 0.2 * 0.8)
    assert abs(np.mean(off)) < 4 * np.std(off) / np.sqrt(200)


@pytest.mark.parametrize(("factor", "gets_in"), [(2, True), (0.4, False)])
def test_so_many_forged_reports_make_a_false_value_appear(factor, gets_in):
    """An attacker names one value in every group, as often as the result says, or half as often."""
    rng = np.random.default_rng(9)
    truth = rng.choice([77, 1_400, *rng.choice(4_096, 60).tolist()], 30_000, p=[0.3, 0.2, *[0.5 / 60] * 60])
    said = reports(SMALL, truth, 10)
    honest = estimate.heavy_hitters(SMALL, SMALL.tally(said), keep=16)
    space, value, wins = SMALL.channel(1).space, 3_003, 0
    assert value not in honest.candidates
    need = np.array([max(stage.least or honest.threshold, 0) * stage.reports for stage in honest.stages])
    each = np.rint(factor * honest.forged * need / need.sum()).astype(int)
    groups = np.repeat(SMALL.levels, each)
    for seed in range(5):
        hashes = np.random.default_rng(seed).integers(space.hashes, size=len(groups))
        names = np.array([name_of(SMALL.bits_of(value)[:bits]) for bits in SMALL.prefixes])[groups - 1]
        forged = SMALL.tally(hashes * space.base + space.values(hashes, names), level=groups)
        found = estimate.heavy_hitters(SMALL, SMALL.tally(said) + forged, keep=16)
        wins += value in found.values
    assert wins == 5 * gets_in


def test_who_always_names_the_last_group_is_noticed():
    said = reports(SMALL, np.full(3_000, 5), 1)
    again = SMALL.randomize(np.full(400, 9), level=3, rng=np.random.default_rng(2))
    found = estimate.heavy_hitters(SMALL, SMALL.tally(said) + SMALL.tally(again.codes[:, 0], level=again.level))
    assert "all groups are equally common" in found.warnings[0]
    assert estimate.heavy_hitters(SMALL, SMALL.tally(said)).warnings == ()


def test_tallies_add_and_are_stored(tmp_path):
    halves = [SMALL.tally(reports(SMALL, np.full(500, 5), seed)) for seed in (1, 2)]
    (halves[0] + halves[1]).save(tmp_path / "both.npz")
    again = Tally.load(tmp_path / "both.npz")
    assert again.n == 1_000
    one, two = (estimate.heavy_hitters(SMALL, tally) for tally in (again, halves[1] + halves[0]))
    assert one.to_dict() == two.to_dict()


def test_the_json_is_read_back():
    for design in (WORDS, SMALL, *(each for each, _ in ENCODED.values())):
        assert Design.from_json(design.to_json()) == design


@pytest.mark.parametrize(("design", "value"), [(WORDS, "horse"), (WORDS, "Cat"), (SMALL, 4_096), (SMALL, -1)])
def test_the_client_of_one_file_refuses_what_is_no_value(design, value):
    with pytest.raises(ValueError, match="is no value of this design"):
        client.draw(design.to_json(), value)


def test_a_report_keeps_the_whole_epsilon_and_the_same_number_of_draws():
    assert set(privacy.epsilon(WORDS).values()) == {privacy.epsilon(WORDS.channel(1))}
    assert privacy.epsilon(WORDS)[1] <= 4
    assert privacy.lines(WORDS)[0].startswith("privacy, at any level: every text stays possible; ε = 4")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "give the length of texts, or the bits"),
        ({"length": 3, "bits": 9}, "give the length of texts, or the bits"),
        ({"bits": 9, "alphabet": "ab"}, "an alphabet belongs to texts"),
        ({"length": 3, "alphabet": "aba"}, "each character once"),
        ({"bits": 2_000}, "bits must be a whole number from 1 to 1024"),
        ({"length": 200}, "length must be"),
    ],
)
def test_designs_that_cannot_be_are_refused(given, told):
    with pytest.raises(DesignError, match=told):
        designs.heavy_hitters(epsilon=1, **given)


@pytest.mark.parametrize(
    ("design", "value", "told"),
    [
        (WORDS, "Cat", r"answer 2 of 2 is 'Cat': it holds 'C', which no value"),
        (WORDS, "horse", "has 5 characters; values have 4 at most"),
        (ENCODED["bytes"][0], "a\0b", "which no value of this design has"),
        (SMALL, 4_096, "is no whole number from 0 to 2"),
        (SMALL, -1, "is no whole number"),
        (SMALL, 2.5, "is no whole number"),
    ],
)
def test_a_value_that_cannot_be_written_never_becomes_a_report(design, value, told):
    good = "cat" if design is WORDS else "a" if design is not SMALL else 3
    with pytest.raises(AnswerError, match=told):
        design.randomize([good, value])
    assert design.randomize([good, None]).missing.tolist() == [False, True]


def test_what_is_no_such_design_or_tally_is_refused():
    tally = SMALL.tally(reports(SMALL, np.full(500, 5), 1))
    listed = designs.affine(("a", "b"), epsilon=1)
    for design, told in ((listed, "has its list of values"), (WORDS, "of another design")):
        with pytest.raises(DataError, match=told):
            estimate.heavy_hitters(design, tally)
    with pytest.raises(DataError, match="group 1 has no reports"):
        estimate.heavy_hitters(SMALL, SMALL.tally([5, 7], level=[2, 3]))
    with pytest.raises(DataError, match="without survey weights"):
        estimate.heavy_hitters(SMALL, SMALL.tally([5, 7], level=[2, 3], weights=[1, 2]))
    with pytest.raises(DataError, match=r"use estimate\.heavy_hitters"):
        estimate.ESTIMATORS["moments"].fit(SMALL, tally)
    with pytest.raises(AnswerError, match="no group of this design"):
        SMALL.tally([5], level=[9])
    with pytest.raises(DataError, match="go on in too many ways"):
        wide = designs.heavy_hitters(bits=24, step=16, epsilon=1)
        estimate.heavy_hitters(wide, wide.tally(reports(wide, [1] * 200, 1)), keep=17)
