"""Tallies as files: one ``.npz`` with the designs and the counts, without any respondent's row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.tally.parts import Part

if TYPE_CHECKING:
    from naysay.tally.tally import Tally

__all__ = ["load", "register_reader", "save"]

_FORMAT = 1
_design_of_form: Callable[[Any], Any]
"""How to read a design's JSON, for `load`: the layer of designs, above this one, registers it."""


def register_reader(read: Callable[[Any], Any]) -> None:
    """Let saved tallies be loaded by `read`, which makes a design of its JSON object."""
    global _design_of_form  # noqa: PLW0603 (one reader, registered once, at import)
    _design_of_form = read


def save(tally: Tally, path: Path) -> None:
    """Write a tally, whole or not at all."""
    arrays: dict[str, NDArray[Any]] = {}
    parts = []
    for number, part in enumerate(tally.parts):
        for name in ("codes", "count", "weight", "weight_squared"):
            arrays[f"{name}{number}"] = getattr(part, name)
        head = {"level": part.level, "missing": part.missing, "missing_weight": part.missing_weight}
        parts.append(head | {"design": part.design.form()})
    told = {"weighted": tally.weighted, "question": tally.question, "parts": parts}
    head_text = json.dumps({"naysay": "tally", "version": _FORMAT} | told)
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("wb") as file:  # an open file keeps numpy from adding a suffix
            np.savez_compressed(file, head=np.array(head_text), **arrays)  # type: ignore[arg-type]
        unfinished.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: Path) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """The parts that `save` wrote, and what is told of them."""
    import_module("naysay.design")  # registers its reader, where nobody has asked for a design yet
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            head = json.loads(str(stored["head"]))
            later = head["version"] > _FORMAT
            parts = () if later else tuple(_part(stored, n, part) for n, part in enumerate(head["parts"]))
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except (OSError, LookupError, TypeError, ValueError, EOFError, BadZipFile) as error:
        raise DataError(f"{str(path)!r} is not a tally that naysay saved ({error})") from None
    if later:
        raise DataError(f"{str(path)!r} was saved by a later naysay (tally format {head['version']}); please update")
    return parts, head


def _part(stored: Mapping[str, NDArray[Any]], number: int, head: dict[str, Any]) -> Part:
    return Part(
        design=_design_of_form(head["design"]),
        level=head["level"],
        codes=stored[f"codes{number}"],
        count=stored[f"count{number}"],
        weight=stored[f"weight{number}"],
        weight_squared=stored[f"weight_squared{number}"],
        missing=head["missing"],
        missing_weight=head["missing_weight"],
    )
