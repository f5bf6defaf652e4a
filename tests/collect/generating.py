"""Surveys by chance: a true one with odd values at some places, or with what stands elsewhere; and who accepts them.

``python tests/collect/generating.py 100000`` compares the server's checker with the respondent's page on so many (a
second number is the first seed). The server refuses some that the page accepts, for reasons with a name (`UNREAD`);
no others may differ.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from naysay import collect
from naysay.collect.questionnaire import of_form
from naysay.collect.questionnaire.questions import Problem
from naysay.collect.survey.published import complaint

HERE = Path(__file__).parent
SCRIPT = HERE / "page" / "trust.mjs"
TRUST = Path(collect.__file__).parent / "client" / "trust.js"
SURVEY = json.loads((HERE / "survey_vectors.json").read_text(encoding="utf-8"))["survey"]
ODD_VALUES = (
    None, True, False, 0, -1, 1, 0.5, 2**53, 2**53 + 2, 1e308, "", " ", "a", "yes", "smoking", "${smoking}", "${age}",
    "__proto__", "constructor", "\u2028", "\U0001f600", "ü", [], {}, [[]], ["a"], {"en": "?"},
    {"kind": "value", "value": 1},
)  # fmt: skip


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value within one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield (*path, step)
        yield from places(part, (*path, step))


PLACES = tuple(places(SURVEY))
FIELDS = (
    *sorted({path[-1] for path in PLACES if isinstance(path[-1], str)}), "", "arms", "order", "measures", "strata",
    "measured", "practice", "renewed", "preview", "explanation", "low_label", "file", "truth", "alternatives", "shown",
)  # fmt: skip


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
        match chance.randrange(6):
            case 0:
                changes.append([path])
            case 1 | 2:
                changes.append([path, chance.choice(ODD_VALUES)])
            case 3:  # what stands elsewhere at a place of the same name
                same = [other for other in PLACES if other[-1] == path[-1]]
                changes.append([path, copy.deepcopy(value_at(SURVEY, chance.choice(same)))])
            case 4:  # a field more, of a name that is known elsewhere or nowhere
                holders = [path for path in PLACES if isinstance(value_at(SURVEY, path), dict)]
                changes.append([(*chance.choice(holders), chance.choice(FIELDS)), chance.choice(ODD_VALUES)])
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
                holder[path[-1]] = copy.deepcopy(values[0])
            else:
                del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    return survey


def verdict(survey: dict) -> bool:
    """Whether the server's checker accepts a survey; what it cannot read it must refuse, and not fail."""
    return complaint(survey) is None


TOLD = ("name", "notes", "protocol", "alternatives", "yes_no")
UNREAD = {
    "description": "what a design says of itself (TOLD): the page draws from the integers, and shows nothing of it",
    "gap": "an entry without words, or a plain one without choices or limits: it looks odd, and tells nothing",
    "twins": "two private questions with the same words: the page refuses the second when it is to be answered",
    "nothing": "a design that tells nothing, so that nothing can be estimated",
    "length": "messages too short for some answers: the page refuses when it writes one that does not fit",
    "order": "what refers to a question that lot may ask later: it is passed there, and tells nothing",
    "type": "1.0 for 1, which browsers cannot see, or true for 1 in a limit",
}
"""Why the server refuses a survey that the page shows. tests/collect/page/test_memory.py holds the last."""
GAPS = {"low", "high", "max_length", "lines", "choices", "rows"}


def as_read(value: object) -> object:
    """A survey as a browser reads it, to which 1.0 is 1."""
    if isinstance(value, list):
        return [as_read(part) for part in value]
    if isinstance(value, dict):
        return {name: as_read(part) for name, part in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_drawn(value: object, *, inside: bool = False) -> object:
    """A survey without what its designs say of themselves."""
    if isinstance(value, list):
        return [as_drawn(part, inside=inside) for part in value]
    if not isinstance(value, dict):
        return value
    told = TOLD if inside and "kind" in value else ()
    return {name: as_drawn(part, inside=inside or name == "design") for name, part in value.items() if name not in told}


def of_problem(problem: Problem) -> str:
    """The name of the reason for which the server alone has an error of a questionnaire; empty where there is none."""
    if "beside a design that has one" in problem.message:  # which its protocol says
        return "description"
    is_bare = problem.rule == "languages" or "a group must hold something" in problem.message
    if is_bare or (problem.rule != "apart" and problem.path.rpartition(".")[2] in GAPS):
        return "gap"
    if problem.message.endswith("lot may put it later"):
        return "order"
    if problem.message.endswith("tells nothing"):
        return "nothing"
    return "twins" if "must say in its own words what it asks" in problem.message else ""


def reason(survey: dict) -> str:
    """The name of the reasons for which the server alone refuses a survey; empty where one has no name."""
    complaint_text = complaint(as_read(survey))
    if complaint_text is None or complaint_text.endswith("is not written as naysay publishes one"):
        return "type"
    if complaint_text.startswith("its messages have"):
        return "length"
    drawn = as_drawn(survey)
    if complaint(drawn) is None:
        return "description"
    remaining = {(problem.rule, problem.path) for problem in of_form(drawn["questionnaire"]).errors}
    reasons = {
        of_problem(problem) if (problem.rule, problem.path) in remaining else "description"
        for problem in of_form(survey["questionnaire"]).errors
    }
    return "" if "" in reasons else " and ".join(sorted(reasons))


def compared(surveys: list[dict], flaws: list[str | None]) -> Iterator[str]:
    """What the two say of each survey: both accept, both refuse, a reason by name, or that they differ."""
    for survey, flaw in zip(surveys, flaws, strict=True):
        by_server = verdict(survey)
        if by_server == (flaw is None):
            yield "both accept" if by_server else "both refuse"
        else:
            yield (not by_server and reason(survey)) or "differ"


def main(size: int, first: int = 0) -> None:
    """Compare so many surveys from a seed on, and print those on which the two differ."""
    sys.path.insert(0, str(HERE.parent))
    from node import run_node

    totals: Counter[str] = Counter()
    for start in range(first, first + size, 500):
        cases = [generated(seed) for seed in range(start, min(start + 500, first + size))]
        surveys = [changed(case) for case in cases]
        flaws = run_node(SCRIPT, "flaw", TRUST, surveys)
        outcomes = list(compared(surveys, flaws))
        totals.update(outcomes)
        for case, flaw, outcome in zip(cases, flaws, outcomes, strict=True):
            if outcome == "differ":
                print(json.dumps({"page": flaw, "changes": case}), flush=True)
        print(f"{start - first + len(cases):,} surveys: {dict(totals)}", file=sys.stderr, flush=True)
    print("| surveys | " + " | ".join(sorted(totals)) + " |")
    print(f"| {size:,} | " + " | ".join(f"{totals[name]:,}" for name in sorted(totals)) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
