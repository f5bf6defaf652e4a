"""Random bytes give the same answers everywhere, and the words in the JSON suffice to draw them."""

import ctypes
import io
import json
import random
import re
import runpy
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import Design, client, designs
from naysay.design import RULES, ByteSource
from naysay.errors import DataError
from naysay.telemetry.client import draw
from tests.node import run_node

C_FOLDER = Path(client.__file__).with_name("c")
NO_DESIGN, NO_TRUTH, NO_PART, NO_BYTES, NO_SPACE = range(-1, -6, -1)
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
def compile_c(tmp_path_factory):
    """Compiles the library for C with these words; gives the path of what came out."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "there is no C compiler; scripts/browsers installs one"

    def compiled(*words):
        program = tmp_path_factory.mktemp("c") / "naysay_draw"
        strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{C_FOLDER}"]
        subprocess.run([compiler, *strict, "-o", program, C_FOLDER / "naysay_draw.c", *words], check=True)
        return program

    return compiled


@pytest.fixture(scope="module")
def draw_in_c(compile_c):
    """Calls the library as any language would: the answer or the negative number, and how many bytes were read."""
    library = ctypes.CDLL(str(compile_c("-shared", "-fPIC")))
    source_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    library.naysay_draw.restype = ctypes.c_long
    library.naysay_draw.argtypes = [
        *[ctypes.c_char_p] * 3,
        source_type,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]

    def drawn(design, truth, octets, part="null", size=4096):
        stream = io.BytesIO(octets)

        def give(_, target, count):
            given = stream.read(count)
            ctypes.memmove(target, given, len(given))
            return len(given) < count

        answer = ctypes.create_string_buffer(size)
        texts = [text.encode() for text in (design, truth, part)]
        length = library.naysay_draw(*texts, source_type(give), None, answer, size)
        assert length >= 0 or not any(answer.raw), "a failure must leave nothing of an answer"
        return answer.raw[:length].decode() if length >= 0 else length, stream.tell()

    return drawn


def test_the_library_for_c_gives_the_recorded_answers_or_refuses(draw_in_c):
    refused = set()
    for case in CASES + PREFIXES:
        text = json.dumps(case["json"])
        for vector in case["vectors"]:
            truth, part = json.dumps(vector["truth"], ensure_ascii=False), json.dumps(vector.get("level"))
            answer, read = draw_in_c(text, truth, bytes.fromhex(vector["bytes"]), part)
            if answer == NO_DESIGN:
                refused.add(case["json"]["design"]["name"].partition("(")[0])
            else:
                assert (answer, read) == (vector["answer"], vector["read"]), (case["json"]["design"]["name"], truth)
    assert refused == {"heavy_hitters", "remembered", "affine", "warner"}  # of names; of warner(...).then(Redraw(...))


ABC = ("a", "b", "c")
SMALL = {
    "table": designs.custom([["1/6", "5/6"], ["3/6", "1/6"], ["2/6", 0]], categories=("a", "b"), responses=ABC),
    "pattern": designs.negative((*ABC, "d")),
    "subset": designs.negative((*ABC, "d"), discards=2),
    "weighted_subset": designs.negative((*ABC, "d"), discards=2, weights=(1, 2, 1, 1)),
    "subset_selection": designs.subset_selection(ABC, epsilon=1),
    "affine": designs.affine(ABC, epsilon=1, base=2),
    "product": designs.warner(p=0.75) * designs.negative(ABC),
}


def test_all_strings_of_bytes_give_the_same_answer_in_each_language(draw_in_c):
    """Of each integer that these designs draw, four bits decide: so these are all answers, and all rejections."""
    replays, expected = [], []
    for kind, design in SMALL.items():
        form = json.loads(design.to_json())
        assert form["design"]["kind"] == kind
        form["design"] |= {"inside": 3, "outside": 2} if kind in ("subset_selection", "affine") else {}
        text, vectors = json.dumps(form), []
        truth = ["yes", "a"] if kind == "product" else "b"
        for octets in map(bytes, product(range(16), repeat=3)):
            stream = io.BytesIO(octets)
            try:
                answer, read = draw(form, truth, read=stream.read), stream.tell()
            except EOFError:
                assert draw_in_c(text, json.dumps(truth), octets) == (NO_BYTES, 3)
                continue
            assert draw_in_c(text, json.dumps(truth), octets) == (answer, read)
            vectors.append({"truth": truth, "bytes": octets.hex()})
            expected.append({"answer": answer, "read": read})
        assert len(vectors) > 400
        replays.append({"json": form, "vectors": vectors})
    script, module = Path(__file__).parents[1] / "telemetry" / "vectors.mjs", C_FOLDER.with_name("javascript")
    replayed = run_node(script, "replay", module / "randomize.js", {"designs": replays})
    assert [answer for answers in replayed for answer in answers] == expected


@pytest.mark.parametrize(
    ("truth", "point"),
    [
        ("0.04", 0),
        ("0.05", 1),
        ('"0.05"', 1),
        ("-0", 0),
        ("5e-2", 1),
        ("1e1", 100),
        ("9.95", 100),
        ("0.5e0", 5),
        ("99e-1", 99),
    ],
)
def test_a_number_is_rounded_in_c_as_in_python(truth, point, draw_in_c):
    """With as many steps as there are tenths, no lot decides where a number lies; zero bytes keep it there."""
    form = designs.window(low=0, high=10, epsilon=1, steps=100, width=1, decimals=1).to_json()
    assert draw_in_c(form, truth, bytes(99))[0] == str(point)
    assert draw(form, json.loads(truth), read=bytes) == str(point)


@pytest.mark.parametrize(
    ("design", "truth", "part", "code"),
    [
        ("{}", '"a"', "null", NO_DESIGN),
        (designs.warner(p=0.7).to_json() + "x", '"yes"', "null", NO_DESIGN),
        (designs.warner(p=0.7).to_json(), '"maybe"', "null", NO_TRUTH),
        (designs.warner(p=0.7).to_json(), "yes", "null", NO_TRUTH),
        (designs.warner(p=0.7).to_json(), "true", "null", NO_TRUTH),
        (designs.unary(300, epsilon=1).to_json(), "300", "null", NO_TRUTH),
        (designs.unary(300, epsilon=1).to_json(), "1.5", "null", NO_TRUTH),
        (designs.window(low=0, high=10, epsilon=1, steps=10, width=1).to_json(), "11", "null", NO_TRUTH),
        (designs.negative_levels(ABC).to_json(), '"a"', "3", NO_PART),
        (designs.unary(300, epsilon=1).to_json(), "3", "null", NO_SPACE),
    ],
)
def test_the_library_for_c_refuses_what_it_cannot_draw(design, truth, part, code, draw_in_c):
    assert draw_in_c(design, truth, bytes(1200), part, size=64)[0] == code


def test_the_command_in_c_draws_by_itself(compile_c):
    program, design = compile_c("-DNAYSAY_DRAW_COMMAND"), designs.uniform(ABC).to_json()
    drawn = {subprocess.run([program, design, '"a"'], capture_output=True, check=True).stdout for _ in range(40)}
    assert drawn == {b"a\n", b"b\n", b"c\n"}
    refused = subprocess.run([program, design, '"d"'], capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr == b"naysay-draw: the truth is no category of this design\n"


def test_no_text_leads_the_library_for_c_out_of_its_memory(compile_c):
    """Texts that are nearly designs, under the sanitizers of addresses and of undefined behaviour."""
    program = compile_c("-fsanitize=address,undefined", "-fno-sanitize-recover=all", Path(__file__).with_name("fuzz.c"))
    chance = random.Random(1)
    cases = [case for case in CASES + PREFIXES if len(json.dumps(case["json"])) < 5000]
    texts = []
    for _ in range(5000):
        case = chance.choice(cases)
        vector = chance.choice(case["vectors"])
        form = {key: value for key, value in case["json"].items() if key != "drawing"}
        triple = [
            json.dumps(each, ensure_ascii=chance.random() < 0.5)
            for each in (form, vector["truth"], vector.get("level"))
        ]
        if chance.random() < 0.4:  # another number in one place
            places = [match.span() for match in re.finditer(r"(?<=[ \[])\d+(?=[,}\]])", triple[0])]
            start, end = chance.choice(places)
            triple[0] = triple[0][:start] + chance.choice(["0", "1", "3", "70", str(2**53)]) + triple[0][end:]
        for _ in range(chance.choice([0, 0, 1, 2, 4])):
            which = chance.choice([0, 0, 0, 1, 2])
            text, inserted = triple[which], chance.choice('"{}[]:,-.eE0123456789\\unt ')
            start, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
            end = chance.choice([start, start + 1, start + 9, end])  # nothing, a letter, a few, or much goes
            triple[which] = text[:start] + inserted * chance.choice([0, 1, 2, 80]) + text[end:]
        texts += triple
    corpus = b"".join(text.encode() + b"\0" for text in texts)
    done = subprocess.run([program], input=corpus, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    drawn, refused = map(int, done.stdout.split())
    assert drawn + refused == 5000
    assert min(drawn, refused) > 500


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
