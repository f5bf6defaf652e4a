"""Surveys by chance: a true one with odd values at some places, or with what stands elsewhere; and who accepts them.

``python tests/collect/generating.py 100000`` compares the server's checker with the respondent's page on so many.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from naysay import collect
from naysay.collect.survey.published import complaint

HERE = Path(__file__).parent
SCRIPT = HERE / "page" / "trust.mjs"
TRUST = Path(collect.__file__).parent / "client" / "trust.js"
SURVEY = json.loads((HERE / "survey_vectors.json").read_text(encoding="utf-8"))["survey"]
ODD_VALUES = (
    None, True, False, 0, -1, 1, 0.5, 2**53, 2**53 + 2, 1e308, "", " ", "a", "yes", "smoking", "${smoking}", "${age}",
    "__proto__", "constructor", "\u2028", "\ud83d\ude00", "ü", [], {}, [[]], ["a"], {"en": "?"},
    {"kind": "value", "value": 1},
)  # fmt: skip


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value within one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield (*path, step)
        yield from places(part, (*path, step))


PLACES = tuple(places(SURVEY))


def value_at(survey: dict, path: tuple[str | int, ...]) -> object:
    """What stands at a place."""
    for step in path:
        survey = survey[step]
    return survey


def generated(seed: int) -> list:
    """Changes of a survey, as pairs of a path and a value; a path alone takes away."""
    chance = random.Random(seed)
    changes = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        path = chance.choice(PLACES)
        match chance.randrange(5):
            case 0:
                changes.append([path])
            case 1 | 2:
                changes.append([path, chance.choice(ODD_VALUES)])
            case 3:  # what stands elsewhere at a place of the same name
                same = [other for other in PLACES if other[-1] == path[-1]]
                changes.append([path, copy.deepcopy(value_at(SURVEY, chance.choice(same)))])
            case _:
                value = value_at(SURVEY, path)
                number = value + chance.choice((-1, 1)) if type(value) is int else [value]
                changes.append([path, number])
    return changes


def changed(changes: list) -> dict:
    """The survey after changes; one whose place is gone changes nothing."""
    survey = copy.deepcopy(SURVEY)
    for path, *values in changes:
        try:
            holder = value_at(survey, tuple(path[:-1]))
            if values:
                holder[path[-1]] = values[0]
            else:
                del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    return survey


def verdict(survey: dict) -> bool:
    """Whether the server's checker accepts a survey; what it cannot read it must refuse, and not fail."""
    return complaint(survey) is None


def main(size: int) -> None:
    """Compare so many surveys, and print those on which the two differ."""
    sys.path.insert(0, str(HERE.parent))
    from node import run_node

    differing = accepted = 0
    for start in range(0, size, 2000):
        cases = [generated(seed) for seed in range(start, min(start + 2000, size))]
        surveys = [changed(case) for case in cases]
        flaws = run_node(SCRIPT, "flaw", TRUST, surveys)
        for case, survey, flaw in zip(cases, surveys, flaws, strict=True):
            try:
                by_server = verdict(survey)
            except Exception as error:
                by_server = repr(error)
            accepted += by_server is True and flaw is None
            if by_server is not (flaw is None):
                differing += 1
                print(json.dumps({"server": by_server, "page": flaw, "changes": case}), flush=True)
    print(f"{size} surveys, {accepted} accepted by both, {differing} differ")


if __name__ == "__main__":
    main(int(sys.argv[1]))
