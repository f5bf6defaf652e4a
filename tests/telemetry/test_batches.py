"""Batches: what is written is read again by any path, in streams, and everything wrong with one is named."""

import json
import struct
import tracemalloc
import zlib
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naysay import batches, designs
from naysay.errors import DataError

CRASH = designs.k_ary(("list", "map", "search"), epsilon=1)
KNOWN = {
    "k_ary": designs.k_ary(300, epsilon=2),
    "affine": designs.affine(40, epsilon=1),
    "sets, numbered": designs.subset_selection(12, epsilon=1),
    "sets": designs.subset_selection(70, epsilon=1),
    "unary, one byte": designs.unary(8, epsilon=1),
    "unary, 62 bits": designs.unary(62, epsilon=1),
    "unary, two words": designs.unary(63, epsilon=1),
    "unary, three words": designs.unary(128, epsilon=1),
    "table": designs.warner(p=0.7),
    "negative": designs.negative(("a", "b", "c", "d"), discards=2),
    "pair": designs.warner(p=0.7) * designs.two_coins(),
    "large negative": designs.negative(range(70), discards=30),
    "levels": designs.negative_levels(("a", "b", "c", "d")),
    "names": designs.affine(("a.example", "b.example"), epsilon=2, names=True),
}


def drawn(design, n, seed):
    rng = np.random.default_rng(seed)
    truth = [design.categories[place] for place in rng.integers(0, len(design.categories), n)]
    if design.space.answers == 2:
        return design.randomize(tuple(zip(*truth, strict=True)), rng=rng)
    chosen = {"level": rng.choice(design.levels, n).tolist()} if design.offer.several else {}
    return design.randomize(truth, rng=rng, **chosen)


def written(design, said, **named):
    file = BytesIO()
    batches.write(file, design, said, **named)
    return file.getvalue()


def same(one, other):
    for mine, theirs in zip(one.parts, other.parts, strict=True):
        assert (mine.level, mine.arrays) == (theirs.level, theirs.arrays)
        for name in mine.arrays:
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    return one.n == other.n


@pytest.mark.parametrize("form", ["binary", "json"])
@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=8, deadline=None)
@given(n=st.integers(1, 60), seed=st.integers(0, 10**6))
def test_a_tally_of_batches_is_the_tally_of_the_reports(name, form, n, seed):
    design = KNOWN[name]
    said = drawn(design, n, seed)
    content = written(design, said, form=form, question="q", wave=1)
    found = batches.tally(content, design)
    assert same(found, design.tally(said))
    assert (found.question, found.wave) == ("q", "1")
    again = b"".join(
        written(design, batch.responses, form=form, question="q", wave=1, level=batch.level)
        for batch in batches.read(content, design)
        if not design.offer.several
    )
    assert again == content or design.offer.several


@given(st.permutations([*"aabbbcd"]))
def test_a_batch_does_not_tell_in_which_order_reports_came(said):
    design = designs.k_ary(tuple("abcd"), epsilon=1)
    for form in ("binary", "json"):
        assert written(design, said, form=form) == written(design, sorted(said), form=form)


def test_the_header_is_as_documented():
    content = written(CRASH, ["search", "list", "list"], question="crash", wave=7)
    magic, version, width, digest, count, *lengths = struct.unpack("<4sHH32sQHHH", content[:54])
    assert (magic, version, width, digest.hex(), count, lengths) == (b"NSRB", 1, 1, CRASH.hash, 3, [5, 1, 0])
    assert content[54:60] == b"crash7"
    assert list(content[60:63]) == [0, 0, 2]
    assert struct.unpack("<I", content[63:]) == (zlib.crc32(content[:63]),)


def test_the_number_of_a_set_is_its_place_among_the_rows_of_the_matrix():
    design = KNOWN["sets, numbered"]
    listed = design.space.texts(design.space.listing())
    reports = [json.loads(written(design, [text], form="json"))["reports"] for text in listed]
    assert reports == [[place] for place in range(len(listed))]


def test_bit_c_of_a_bit_set_is_category_c():
    body = written(KNOWN["unary, three words"], ["0;9;61;62;127"])[54:-4]
    assert np.flatnonzero(np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little")).tolist() == [
        0,
        9,
        61,
        62,
        127,
    ]


def test_json_takes_numbers_and_what_clients_draw():
    line = {"naysay": "reports", "version": 1, "design": CRASH.hash, "reports": [2, "list", "search", 1]}
    assert batches.tally(json.dumps(line).encode(), CRASH).counts.tolist() == [1, 1, 2]


def test_files_of_batches_stand_one_after_another_in_any_form(tmp_path):
    path, other = tmp_path / "reports.nsrb", KNOWN["sets"]
    forms = [written(CRASH, ["map"] * 5, wave=w, form=form) for w in (1, 2) for form in ("json", "binary")]
    path.write_bytes(b"\n".join([*forms, written(other, drawn(other, 9, 1))]))
    found = batches.count([path, BytesIO(forms[0])], [CRASH, other])
    assert {topic: tally.n for topic, tally in found.tallies.items()} == {
        (CRASH.hash, "", "1"): 15,
        (CRASH.hash, "", "2"): 10,
        (other.hash, "", ""): 9,
    }
    assert (found.batches, found.reports, found.refused) == (6, 34, 0)
    with pytest.raises(DataError, match="several questions or waves; name one"):
        batches.tally(b"".join(forms), CRASH)
    assert batches.tally(b"".join(forms), CRASH, wave=2).n == 10


def test_memory_does_not_depend_on_the_number_of_reports(tmp_path):
    design, path, rng, peaks = KNOWN["affine"], tmp_path / "many", np.random.default_rng(5), []
    for pieces in (4, 40):
        batches.write(path, design, (rng.integers(0, design.space.size, 2**16) for _ in range(pieces)))
        tracemalloc.start()
        assert batches.tally(path, design).n == pieces * 2**16
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def forged(reports, *, design=CRASH, width=1, version=1, count=None, question=b""):
    """A batch with a good checksum, whatever it says."""
    head = struct.pack("<4sHH32sQHHH", b"NSRB", version, width, bytes.fromhex(design.hash), 0, len(question), 0, 0)
    head = head[:40] + struct.pack("<Q", len(reports) // width if count is None else count) + head[48:]
    whole = head + question + bytes(reports)
    return whole + struct.pack("<I", zlib.crc32(whole))


GOOD = forged([0, 1, 2])
BAD = {
    "another design": (forged([0], design=KNOWN["affine"]), "its design has the hash .*…; expected .*another design"),
    "another version": (forged([0], version=2), "it is of version 2; this naysay reads version 1: please update"),
    "another width": (forged([0, 0], width=2), "its reports have 2 bytes; under this design they have 1"),
    "a report out of range": (forged([0, 1, 3]), "report 3 of 3 is 3; it must be a whole number from 0 to 2"),
    "not ascending": (forged([0, 2, 1]), "report 3 of 3 is less than the one before"),
    "no batch": (b"PK\x03\x04", "it begins neither with NSRB nor with {"),
    "no body": (forged([], count=1), "it is cut short: .* bytes are missing"),
    "a body too large": (forged([], count=2**60), "its body would have .* bytes; a batch has at most 67,108,864"),
    "a body of few wide reports too large": (forged([], width=2**15, count=2**12), "would have 134,217,728 bytes"),
    "a question of 141 characters": (forged([0], question=b"q" * 141), "at most 140 characters in one line"),
    "a question of two lines": (forged([0], question=b"a\nb"), "at most 140 characters in one line"),
    "a question that is no text": (forged([0], question=b"\xff"), "must be UTF-8"),
    "damaged": (GOOD[:55] + b"\x02" + GOOD[56:], "its checksum does not fit"),
    "half a line": (b'{"naysay": "reports"', "no line of JSON|not one line of JSON"),
    "another object": (b'{"naysay": "design"}', 'must hold "naysay": "reports"'),
    "another key": (b'{"naysay": "reports", "user": 7}', "got 'user'"),
    "a later line": (b'{"naysay": "reports", "version": 2}', "of version 2; this naysay reads version 1"),
    "no list": (json.dumps({"naysay": "reports", "version": 1, "design": CRASH.hash}).encode(), "must be a list"),
    "a number for a question": (b'{"naysay": "reports", "version": 1, "question": 7, "reports": []}', "must be a text"),
}


@pytest.mark.parametrize("name", BAD)
def test_everything_wrong_is_named_with_its_batch(name):
    content, told = BAD[name]
    with pytest.raises(DataError, match=f"batch 2: .*{told}"):
        list(batches.read(GOOD + content, CRASH))


@pytest.mark.parametrize("wrong", [3, -1, True, 1.0, None, "quit", [0], 2**70])
def test_one_bad_report_is_named_and_the_others_are_kept_if_asked(wrong):
    line = {"naysay": "reports", "version": 1, "design": CRASH.hash, "reports": [1, 1, wrong, "map", 0]}
    content = json.dumps(line).encode()
    with pytest.raises(
        DataError, match=r"batch 1: report 3 of 5 is .*; it must be a whole number from 0 to 2"
    ) as found:
        batches.tally(content, CRASH)
    assert found.value.row == 2
    kept = batches.count(content, CRASH, bad="keep")
    assert next(iter(kept.tallies.values())).counts.tolist() == [1, 3, 0]
    assert (kept.refused, kept.reports) == (1, 4)
    assert kept.why.startswith("report 3 of 5 is ")


def test_a_bad_report_of_a_binary_batch_is_left_out_and_the_others_are_kept_if_asked():
    found = batches.count(forged([0, 1, 3]), CRASH, bad="keep")
    assert next(iter(found.tallies.values())).counts.tolist() == [1, 1, 0]
    assert (found.refused, found.reports) == (1, 2)


def test_sets_of_another_size_or_with_bits_beyond_are_refused():
    design = KNOWN["unary, two words"]
    beyond = forged([*[0] * 7, 128], design=design, width=8)
    with pytest.raises(DataError, match="report 1 of 1 is a set of other size, or with bits"):
        batches.tally(beyond, design)
    fixed = KNOWN["sets"]
    with pytest.raises(DataError, match="it must be a set of 19 of 70 categories"):
        batches.tally(forged([1, *[0] * 8], design=fixed, width=9), fixed)
    falling = forged([*[0] * 7, 2, *[255] * 7, 1], design=design, width=8)
    with pytest.raises(DataError, match="report 2 of 2 is less than the one before"):
        batches.tally(falling, design)


@pytest.mark.parametrize("form", ["binary", "json"])
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_file_cut_short_or_damaged_anywhere_is_an_error_or_says_the_same(form, data):
    content = written(CRASH, ["map", "list", "map"], question="crash", form=form)
    size = data.draw(st.integers(1, len(content) - 1 - (form == "json")))
    with pytest.raises(DataError, match="batch 1: "):
        list(batches.read(content[:size], CRASH))
    if form == "binary":
        place, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
        flipped = content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]
        with pytest.raises(DataError, match="batch 1: "):
            list(batches.read(flipped, CRASH))


def test_what_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(DataError, match="a missing answer is no report"):
        written(CRASH, ["map", None])
    with pytest.raises(DataError, match="a missing answer is no report"):
        written(KNOWN["sets"], [None])
    with pytest.raises(DataError, match="at most 140 characters"):
        written(CRASH, ["map"], question="q" * 141)
    with pytest.raises(DataError, match="cannot write"):
        batches.write(tmp_path / "no" / "folder", CRASH, ["map"])
    with pytest.raises(DataError, match="there are no batches for this design"):
        pair = KNOWN["unary, 62 bits"] * CRASH
        written(pair, (["0"], ["map"]))
    with pytest.raises(DataError, match="cannot read"):
        batches.tally(tmp_path / "nothing", CRASH)


def test_levels_are_named_by_the_batch():
    design = KNOWN["levels"]
    (line, *_) = written(design, drawn(design, 20, 1), form="json").splitlines()
    told = json.loads(line)
    for level, match in ((None, "the batch names none"), ("9", "level '9' is")):
        with pytest.raises(DataError, match=match):
            batches.tally(json.dumps({**told, "level": level}).encode(), design)
    with pytest.raises(DataError, match="offers no levels; the batch names level '1'"):
        batches.tally(json.dumps({**told, "design": CRASH.hash}).encode(), CRASH)


def test_the_hash_names_what_is_drawn_and_not_what_it_is_called():
    same_ = designs.k_ary(("list", "map", "search"), epsilon=1.0)
    assert CRASH.hash == same_.hash == type(CRASH).from_json(CRASH.to_json()).hash
    others = [
        designs.k_ary(("list", "map", "search"), epsilon=1.01),
        designs.k_ary(("map", "list", "search"), epsilon=1),
    ]
    assert len({CRASH.hash, *(each.hash for each in others)}) == 3
    sites = KNOWN["names"]
    assert sites.about(("other.example",)).hash == sites.hash
