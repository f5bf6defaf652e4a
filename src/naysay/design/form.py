"""Designs as JSON: how they are written, and how they are read back. Each kind of design registers here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from naysay.design.drawing import RULES
from naysay.design.exact import labels_of
from naysay.errors import DesignError
from naysay.tally.tally import register_reader

VERSION = 1

KINDS: dict[str, Any] = {}
"""Every class of designs, by the `kind` of its JSON form. A class enters when it is defined."""

DESCRIPTIVE_FIELDS = ("name", "notes", "protocol", "alternatives")
"""Fields that describe a design and change no answer."""

TABLED = 256
"""A pattern of so many categories or fewer is hashed as the table that it stands for: before, it was one."""

_NUMBERS = ("columns",)  # long lists of numbers, which need no search for designs or descriptive fields


def text_of(node: dict[str, Any], *, indent: int | None = None) -> str:
    """A design's JSON object as text, with the rules by which any client draws the same answers."""
    rules = {rule: RULES[rule] for rule in sorted({"integer", *_kinds(node)} & RULES.keys())}
    document = {"naysay": "design", "version": VERSION, "drawing": rules, "design": node}
    try:
        return json.dumps(document, ensure_ascii=False, indent=indent)
    except TypeError as error:
        raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None


def hash_of(node: dict[str, Any]) -> str:
    """The SHA-256 of what decides about answers.

    That is the design's form without `DESCRIPTIVE_FIELDS`, as JSON with sorted keys.
    """
    try:
        text = json.dumps(unnamed(node), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except TypeError as error:
        raise DesignError(f"labels must be texts or numbers to be written as JSON; {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def formed(value: Any) -> Any:
    """A field as JSON: a tuple becomes a list, a design or a share becomes its own form."""
    if isinstance(value, tuple):
        return [formed(entry) for entry in value]
    return value.form() if hasattr(value, "form") else value


def _kinds(node: Any) -> set[str]:
    if isinstance(node, dict):
        node_kinds = {node["kind"]} if "kind" in node else set()
        return node_kinds.union(*(_kinds(value) for value in node.values()))
    return set().union(*(_kinds(value) for value in node)) if isinstance(node, list) else set()


def unnamed(node: Any, *, memo: bool = False) -> Any:
    """A design's JSON form, in which it is hashed, without the fields that only describe it (`DESCRIPTIVE_FIELDS`).

    A pattern of at most `TABLED` categories becomes its table, so that a design in both forms is one; a memo stays.
    """
    if isinstance(node, dict):
        bare_node = {key: value for key, value in node.items() if key not in DESCRIPTIVE_FIELDS}
        if bare_node.get("kind") == "pattern" and len(bare_node["categories"]) <= TABLED and not memo:
            return tabled(bare_node)
        memo = bare_node.get("kind") == "remembered"
        return {key: value if key in _NUMBERS else unnamed(value, memo=memo) for key, value in bare_node.items()}
    return [unnamed(value) for value in node] if isinstance(node, list) else node


def tabled(pattern: Mapping[str, Any]) -> dict[str, Any]:
    """The form of the table with the same weights as a pattern; it draws the same answers from the same bytes."""
    labels, own_weight, other_weight = pattern["categories"], pattern["own"], pattern["other"]
    places = range(len(labels))
    columns = [[own_weight if row == column else other_weight for row in places] for column in places]
    denominator = own_weight + (len(labels) - 1) * other_weight
    return {"kind": "table", "categories": labels, "responses": labels, "denominator": denominator, "columns": columns}


def of_text(text: str | Mapping[str, Any]) -> Any:
    """The design that a JSON text or object describes."""
    try:
        document = json.loads(text) if isinstance(text, str) else text
    except (json.JSONDecodeError, RecursionError) as error:
        raise DesignError(f"a design's JSON must be readable; {error}") from None
    if not isinstance(document, Mapping) or document.get("naysay") != "design":
        raise DesignError('a design\'s JSON must be an object with "naysay": "design"')
    if document.get("version") != VERSION or document["version"] is True:
        raise DesignError(f"this naysay reads designs of version {VERSION}; got version {document.get('version')!r}")
    return of_node(document.get("design"))


def of_node(node: Any) -> Any:
    """The design that one object of the tree describes."""
    try:
        kind = KINDS[node["kind"]]
        built_fields = {key: value if key in _NUMBERS else _build_field(value) for key, value in node.items()}
        labels = {key: labels_of(built_fields[key]) for key in ("categories", "responses") if key in built_fields}
        design = kind.of_form({**built_fields, **labels})
        ends = tuple(built_fields.get("alternatives", ()))
        return replace(design, alternatives=ends) if ends else design
    except DesignError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        kind_name = node.get("kind") if isinstance(node, Mapping) else node
        raise DesignError(
            f"a design's JSON must be of a known kind ({', '.join(KINDS)}) with its fields complete; "
            f"got kind {kind_name!r} and stumbled over {error!r}"
        ) from None


def _build_field(value: Any) -> Any:
    """A field of the JSON, in which every object that describes a design is replaced by the design."""
    if isinstance(value, Mapping):
        return of_node(value) if "kind" in value else {key: _build_field(entry) for key, entry in value.items()}
    return [_build_field(entry) for entry in value] if isinstance(value, list) else value


register_reader(of_node)
