"""Random bytes give the same answers everywhere, and the words in the JSON suffice to draw them."""

import json
import runpy
import shutil
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, client, designs
from naysay.design import RULES, ByteSource
from naysay.errors import DataError
from naysay.telemetry.client import draw

REFERENCE = Path(__file__).parents[1] / "reference"
DRAWING, MEMORY = (
    json.loads((REFERENCE / f"{name}_vectors.json").read_text(encoding="utf-8"))["designs"]
    for name in ("drawing", "memory")  # the page draws the first only
)
CASES = DRAWING + MEMORY
PREFIXES = json.loads((REFERENCE / "drawing_vectors.json").read_text(encoding="utf-8"))["prefixes"]
NAMES = [case["json"]["design"]["name"] for case in CASES]

vectors_of = pytest.mark.parametrize("case", CASES, ids=NAMES)


class Stream:
    """Given bytes, and how many were read."""

    def __init__(self, octets):
        self.octets = octets
        self.position = 0

    def __call__(self, n):
        self.position += n
        assert self.position <= len(self.octets), "more bytes were read than there are"
        return self.octets[self.position - n : self.position]


@vectors_of
def test_recorded_bytes_give_the_recorded_answers(case):
    design = Design.from_json(case["json"])
    for vector in case["vectors"]:
        stream = Stream(bytes.fromhex(vector["bytes"]))
        truth = vector["truth"]
        asked = tuple([part] for part in truth) if isinstance(truth, list) else [truth]
        said = design.channel(vector.get("level")).randomize(asked, rng=ByteSource(stream))
        assert said.texts() == [vector["answer"]]
        assert stream.position == vector["read"]


@vectors_of
def test_an_offer_draws_as_its_levels_do_and_samples_as_each_of_them(case):
    design = Design.from_json(case["json"])
    name = {"levels": "level", "samples": "sample", "hierarchy": "level"}.get(design.kind)
    if name is None or design.levels == (None,):
        assert design.levels == (None,)
        return
    for vector in case["vectors"]:
        stream = Stream(bytes.fromhex(vector["bytes"]))
        said = design.randomize([vector["truth"]], **{name: vector["level"]}, rng=ByteSource(stream))
        assert (said.texts(), stream.position) == ([vector["answer"]], vector["read"])


@vectors_of
def test_a_client_written_from_the_rules_alone_gives_the_same_answers(case):
    for vector in case["vectors"]:
        stream = Stream(bytes.fromhex(vector["bytes"]))
        node, source = client.channel(case["json"], vector.get("level")), client.Bytes(stream)
        response = client.draw_response(
            node, client.position(node, vector["truth"], source), source
        )  # draw() keeps no memo
        assert client.response_text(node, response) == vector["answer"]
        if node["kind"] != "remembered":
            again = Stream(bytes.fromhex(vector["bytes"]))
            assert draw(case["json"], vector["truth"], part=vector.get("level"), read=again) == vector["answer"]
        assert stream.position == vector["read"]


@pytest.mark.parametrize("case", PREFIXES, ids=lambda case: case["json"]["design"]["name"])
def test_devices_draw_their_group_and_report_the_beginning_of_a_value(case):
    design = Design.from_json(case["json"])
    for vector in case["vectors"]:
        octets = bytes.fromhex(vector["bytes"])
        own, other = Stream(octets), Stream(octets)
        said = design.randomize([vector["truth"]], rng=ByteSource(own))
        assert f"{said.level[0]};{said.texts()[0]}" == vector["answer"]
        assert draw(case["json"], vector["truth"], read=other) == vector["answer"]
        assert own.position == other.position == vector["read"]


def test_one_answer_of_an_affine_design_needs_no_list_of_all_categories():
    """One draw of 10,000 categories took 2.6 ms; of 10^12 it ran out of memory."""
    node = json.loads(designs.affine(10_000, epsilon=1).to_json())
    node["design"]["categories"] = {"size": 10**12}
    g, m = node["design"]["base"], 1
    while g**m < 10**12:
        m += 1
    assert {0 <= int(draw(node, 10**12 - 1 - place)) < g * (g**m - 1) // (g - 1) for place in range(200)} == {True}


def test_the_client_of_one_file_needs_neither_numpy_nor_naysay(tmp_path):
    shutil.copy(client.__file__, tmp_path / "client.py")
    told = "import sys; sys.modules['numpy'] = None; import client; print(client.draw(sys.stdin.read(), 'b'))"
    design = designs.k_ary(("a", "b", "c"), epsilon=20)
    words = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {told}"]
    done = subprocess.run(words, input=design.to_json(), capture_output=True, text=True, check=True)
    assert done.stdout == "b\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("{}", "yes"), "this is no design of version 1"),
        ((designs.warner(p=0.7).to_json(), "maybe"), "'maybe' is no category; there are 'yes', 'no'"),
        ((designs.negative_levels(("a", "b", "c")).to_json(), "a"), "None is no level; there are 1, 2"),
    ],
)
def test_the_client_of_one_file_refuses_what_it_cannot_draw(given, told):
    with pytest.raises(ValueError, match=told):
        draw(*given)


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    """The client in C, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "there is no C compiler; scripts/browsers installs one"
    program = tmp_path_factory.mktemp("c") / "draw"
    source = Path(__file__).parents[2] / "src" / "naysay" / "telemetry" / "draw.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)
    return program


C_KINDS = {
    "pattern": ("own", "other"),
    "subset_selection": ("size", "inside", "outside"),
    "affine": ("base", "inside", "outside"),
}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["json"]["design"]["kind"] in C_KINDS],
    ids=lambda case: case["json"]["design"]["name"],
)
def test_the_client_in_c_gives_the_same_answers(case, in_c):
    node = case["json"]["design"]
    labels = node["categories"]
    labels = list(range(labels["size"])) if isinstance(labels, dict) else labels
    for vector in case["vectors"]:
        named = node.get("named")
        truth = client.position(node, vector["truth"], None) if named else labels.index(vector["truth"])
        numbers = [2**48 if named else len(labels), *(node[each] for each in C_KINDS[node["kind"]]), truth]
        words = [in_c, node["kind"], *map(str, numbers), "-"]
        said, read = subprocess.run(
            words, input=bytes.fromhex(vector["bytes"]), capture_output=True, check=True
        ).stdout.split(b"\n")[:2]
        answer = (
            said.decode() if node["kind"] == "affine" else ";".join(str(labels[int(each)]) for each in said.split())
        )
        assert (answer, int(read)) == (vector["answer"], vector["read"])


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["json"]["design"]["kind"] == "window"],
    ids=lambda case: case["json"]["design"]["name"],
)
def test_the_client_in_c_draws_numbers(case, in_c):
    node = case["json"]["design"]
    span = node["high"] - node["low"]
    for vector in case["vectors"]:
        scaled = Decimal(str(vector["truth"])).scaleb(node["decimals"])
        units = int(scaled.to_integral_value(ROUND_HALF_UP)) - node["low"]
        numbers = [span, *(node[each] for each in ("steps", "width", "inside", "outside")), min(max(units, 0), span)]
        words = [in_c, "window", *map(str, numbers), "-"]
        done = subprocess.run(words, input=bytes.fromhex(vector["bytes"]), capture_output=True, check=True)
        assert done.stdout.split() == [vector["answer"].encode(), str(vector["read"]).encode()]


def test_the_client_in_c_draws_by_itself(in_c):
    said = {
        subprocess.run([in_c, "pattern", "3", "1", "1", "0"], capture_output=True, check=True).stdout for _ in range(40)
    }
    assert said == {b"0\n", b"1\n", b"2\n"}
    wrong = [["pattern", "3"], ["other", "3", "1", "1", "0"], ["subset_selection", "9", "9", "3", "1", "0"]]
    wrong += [["pattern", "3", "1", "1", truth] for truth in ("3", "-1", "two", "1x", "", "1.5", "9" * 17)]
    for words in wrong:
        assert subprocess.run([in_c, *words], capture_output=True, check=False).returncode == 2


def test_the_recorded_vectors_are_what_the_script_writes():
    for name, recorded in (("drawing", DRAWING), ("memory", MEMORY)):
        made = runpy.run_path(str(REFERENCE / f"make_{name}_vectors.py"))["main"]()
        assert json.loads(json.dumps(made["designs"])) == recorded
    assert (
        json.loads(json.dumps(runpy.run_path(str(REFERENCE / "make_drawing_vectors.py"))["main"]()["prefixes"]))
        == PREFIXES
    )


def test_the_vectors_cover_every_rule_and_rejection():
    assert set().union(*(case["json"]["drawing"] for case in [*CASES, *PREFIXES])) == RULES.keys()
    rejected = [vector for case in CASES for vector in case["vectors"] if vector["bytes"].startswith("ff" * 9)]
    usual = {case["json"]["design"]["name"]: min(vector["read"] for vector in case["vectors"]) for case in CASES}
    assert len(rejected) > 50
    assert any(vector["read"] > usual[NAMES[0]] for vector in CASES[0]["vectors"])


@given(st.integers(1, 2**53), st.binary(min_size=1, max_size=7))
def test_an_integer_is_the_low_bits_of_big_endian_bytes(bound, octets):
    bits = (bound - 1).bit_length()
    size = -(-bits // 8)
    octets = (octets * 7)[:size]
    number = int.from_bytes(octets, "big") & ((1 << bits) - 1)
    stream = Stream(octets + bytes(size))
    drawn = ByteSource(stream).below(bound, 1)
    if bound == 1:
        assert (drawn[0], stream.position) == (0, 0)
    elif number < bound:
        assert (drawn[0], stream.position) == (number, size)
    else:
        assert (drawn[0], stream.position) == (0, 2 * size)


def test_integers_are_uniform_up_to_the_largest_bound():
    bound = 2**53 - 1
    drawn = ByteSource(np.random.default_rng(1).bytes).below(bound, 20_000)
    assert 0 <= drawn.min() < drawn.max() < bound
    assert np.bincount(drawn // (bound // 8 + 1)).min() == pytest.approx(2_500, abs=4 * 47)


@pytest.mark.parametrize("rng", [7, "system", np.random])
def test_a_source_is_a_generator_or_nothing(rng):
    with pytest.raises(
        DataError, match=r"rng must be a numpy Generator, such as numpy\.random\.default_rng\(2016\), or None"
    ):
        designs.two_coins().randomize(["yes"], rng=rng)


def test_large_sets_are_drawn_evenly():
    # 70 categories need two words a set; each false category must be named with the same chance k / (t - 1).
    design = designs.negative(range(70), discards=20)
    said = np.asarray(design.randomize(np.full(20_000, 65), rng=np.random.default_rng(3)))
    assert not said[:, 65].any()
    assert (said.sum(axis=1) == 20).all()
    share = 20 / 69
    named = np.delete(said.mean(axis=0), 65)
    np.testing.assert_allclose(named, share, rtol=0, atol=4.5 * np.sqrt(share * (1 - share) / 20_000))
    together = np.corrcoef(said[:, [0, 61, 62, 69]].T)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(together, -1 / 68, rtol=0, atol=4.5 / np.sqrt(20_000))


@pytest.mark.parametrize(("low", "high"), [(1, 300), (1, 1), (250, 260), (500, 1024), (65_530, 65_540), (4, 3)])
def test_integers_below_growing_bounds_take_the_same_bytes_as_one_by_one(low, high):
    """They are read at once; a rejected word is followed by the next one, as before."""
    octets = np.random.default_rng(low).bytes(20_000)

    def source():
        rest = iter(octets)
        return client.Bytes(lambda size: bytes(next(rest) for _ in range(size)))

    one, other = source(), source()
    assert list(one.integers(low, high)) == [other.integer(below) for below in range(low, high + 1)]
    assert one.read == other.read


def test_bytes_that_end_too_early_are_an_error_and_bytes_ahead_are_given_once():
    with pytest.raises(EOFError, match="more random bytes are needed"):
        client.draw(designs.subset_selection(1024, epsilon=1).to_json(), 3, read=lambda size: b"")
    read = client.ahead()
    given = [read(size) for size in (1, 30, 40, 2, 100, 7)]
    assert [len(each) for each in given] == [1, 30, 40, 2, 100, 7]
    assert len({read(8) for _ in range(24)}) == 24  # none is given twice, also of those that were read at once
