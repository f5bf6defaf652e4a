"""A design of one pattern is written as two numbers; what was written as a table stays the same design."""

import json
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from naysay import Design, batches, client, designs, ledger
from naysay.design import ByteSource, Pattern, Table
from naysay.design.channels import compact
from naysay.responses import Labels

LABELS = tuple(f"c{place}" for place in range(300))

WRITTEN_BEFORE = {  # as they were when JSON held tables up to 256 categories
    "k_ary of 4": "da9fd95e985c9b8ee23be7230609449b276913ba6ba9db0f6f59cc66744732fc",
    "k_ary of 256": "721833dd1f3c165592df22ebae19cf0cb08fe2255726c2bf7a6c21a509992f4d",
    "k_ary of 257": "e1e47a2bb855f1c73376177e5a5dfd59b327da9933170748f90c7f6324b9a7cf",
    "negative": "1a36c32343c64c9a783fd1ada834d87549037c38030c9d023c7834843357f8fb",
    "mix": "9381dca0d9c9b6c5e84aae64d7c516765795ba14f92051411fafe10320d787e0",
    "then": "a4677fd52425a03ab19368af0935f6c3410163d2121784c96b2a1c9a8f5cc45f",
    "product": "b5ffe96c292c38ef86560c9a4b0bce6d470821f91e397a8303f69efa6330cc6c",
    "levels": "48e4a8ac720e930d94b9b648a290338aaeafb43c35152472e950868a012d53d7",
    "hierarchy": "5861e6bc96fdaaef171a4475ff00e07150556ece77940dfbe8f52858c980cb49",
    "remembered": "e90c7c0b16557efae7b65d2fdb7d99f637842849421dc535edcab27cfacd08bd",
}


def made():
    """The same designs as this naysay makes them."""
    five = LABELS[:5]
    few = designs.k_ary(five, epsilon=2)
    return {
        "k_ary of 4": designs.k_ary(LABELS[:4], epsilon=1),
        "k_ary of 256": designs.k_ary(LABELS[:256], epsilon=1),
        "k_ary of 257": designs.k_ary(LABELS[:257], epsilon=1),
        "negative": designs.negative(five),
        "mix": designs.mix((1, designs.negative(five)), (1, designs.uniform(five))),
        "then": few.then(designs.k_ary(five, epsilon=3)),
        "product": few * designs.negative(LABELS[:4]),
        "levels": designs.levels({"a": designs.k_ary(five, epsilon=1), "b": few}),
        "hierarchy": designs.hierarchy(64, epsilon=3),
        "remembered": designs.remembered(five, epsilon=1, lifetime=2, design="k_ary"),
    }


MADE = made()


def old(node):
    """The JSON as it was written before: a table where now a pattern stands."""
    if isinstance(node, list):
        return [old(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("kind") == "pattern" and len(node["categories"]) <= 256:
        told = {name: node[name] for name in ("name", "notes", "protocol") if name in node}
        design = Pattern.of(tuple(node["categories"]), node["own"], node["other"])
        table = {"denominator": design.denominator, "columns": design.weights.T.tolist()}
        return {"kind": "table", "categories": node["categories"], "responses": node["categories"], **table, **told}
    if node.get("kind") == "remembered":
        return node  # memos were patterns before
    return {name: old(part) for name, part in node.items()}


@pytest.mark.parametrize("name", WRITTEN_BEFORE)
def test_a_design_has_the_hash_that_it_had_as_a_table_in_both_forms(name):
    design = MADE[name]
    written = json.loads(design.to_json())
    before = Design.from_json(written | {"design": old(written["design"])})
    assert design.hash == before.hash == WRITTEN_BEFORE[name]
    assert Design.from_json(design.to_json()).hash == design.hash
    assert design == before
    assert before == design
    again = json.loads(before.to_json())["design"]
    assert again == old(written["design"])  # a survey that is open keeps its bytes
    parts = [None] if not design.offer.several else list(design.levels)
    for part in parts:
        nodes = [client.channel(each.to_json(), part) for each in (design, before)]
        assert len({ledger.digest(node) for node in nodes}) == 1


@pytest.mark.parametrize("t", [4, 5, 60, 256])
def test_both_forms_draw_the_same_from_the_same_bytes(t):
    rng = np.random.default_rng(t)
    pattern = designs.k_ary(LABELS[:t], epsilon=1)
    table = Design.from_json({"naysay": "design", "version": 1, "design": old(pattern.form())})
    assert (pattern.kind, table.kind) == ("pattern", "table")
    octets = rng.bytes(200 * 16)
    for truth in (LABELS[0], LABELS[t // 2], LABELS[t - 1]):
        said = [each.randomize([truth] * 50, rng=ByteSource(reader(octets))).texts() for each in (pattern, table)]
        assert said[0] == said[1]
        node, before = client.channel(pattern.to_json()), client.channel(table.to_json())
        alone = [client.draw_response(each, t // 2, client.Bytes(reader(octets))) for each in (node, before)]
        assert alone[0] == alone[1]
        kept = [
            client.response_text(each, ledger.kept_response(each, truth, stream_of(each))) for each in (node, before)
        ]  # a panel goes on with the shorter form, and no answer is drawn again
        assert kept[0] == kept[1]


def reader(octets):
    """Takes a number and gives that many of the bytes."""
    rest = iter(octets)
    return lambda size: bytes(next(rest) for _ in range(size))


def stream_of(node):
    """The bytes of a ledger's key for this design."""
    return lambda label: ledger.stream(bytes(32), "q", ledger.digest(node), label)


def test_reports_under_the_old_form_are_counted_with_the_new_one_and_the_other_way_round():
    new = designs.k_ary(LABELS[:8], epsilon=1)
    before = Design.from_json({"naysay": "design", "version": 1, "design": old(new.form())})
    rng = np.random.default_rng(5)
    said = before.randomize(rng.choice(LABELS[:8], 200), rng=rng)
    for writes, reads in ((before, new), (new, before)):
        file = BytesIO()
        batches.write(file, writes, said.texts(), question="q")
        file.seek(0)
        (batch,) = batches.read(file.getvalue(), [reads])
        assert len(batch) == 200
    both = new.tally(said) + before.tally(said)
    assert both.n == 400
    assert (both.counts == 2 * new.tally(said).counts).all()


def test_the_pattern_is_written_from_the_smallest_size_at_which_it_is_always_shorter():
    """1.09 MB at 256 categories, where 257 took 3 kB."""
    for t in (4, 5, 256):
        for labels in (tuple(map(chr, range(192, 192 + t))), LABELS[:t]):
            for design in (designs.negative(labels), designs.k_ary(labels, epsilon=1)):
                bare = replace(design, protocol=None, name="", notes=())
                table = Table(categories=labels, space=Labels(labels), weights=design.weights)
                assert design.kind == "pattern"
                assert len(bare.to_json()) < len(table.to_json())
    three = designs.negative(tuple("abc"))
    bare = replace(three, protocol=None, name="", notes=())
    assert three.kind == "table"
    assert len(bare.to_json()) < len(Pattern.of(tuple("abc"), 0, 1).to_json())
    assert len(designs.k_ary(256, epsilon=1).to_json()) < 50_000


def test_weights_that_are_not_in_lowest_terms_stay_a_table():
    """Its pattern would read other bytes, and so would have to be another design."""
    even = np.full((5, 5), 2) + 2 * np.eye(5, dtype=int)
    table = Table(categories=LABELS[:5], space=Labels(LABELS[:5]), weights=even)
    assert Design.from_json(table.to_json()).kind == "table"
    assert compact(table) is table
    assert compact(Table(categories=LABELS[:5], space=Labels(LABELS[:5]), weights=even // 2)).kind == "pattern"
