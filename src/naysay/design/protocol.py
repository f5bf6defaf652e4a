"""What a respondent does to answer: leave it to chance, ask themselves a question, say a response.

A protocol is a tree of steps. Its probabilities are read from the tree, so that the flowchart and the design matrix
cannot disagree. The instruction follows the same steps; a step may have an instruction of its own. `draw_lots` chooses
the device: a coin, a die, numbered cards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from naysay import _checks
from naysay._values import Array, JsonNode, Label
from naysay.design.drawing import LIMIT, as_fraction, integer, labels_of, without_noise
from naysay.errors import DesignError

LOT = "with chance "  # begins the name of an outcome of a device with many sides


@dataclass(frozen=True)
class Say:
    """The end of a path: one response."""

    response: Label

    def __str__(self) -> str:
        return f"say “{_checks.label(self.response)}”"


@dataclass(frozen=True)
class Do:
    """The end of a path, told in words because there are too many responses to show one by one."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Branch:
    """One way out of a step.

    Parameters
    ----------
    event : str
        What is seen: ``heads``, or the answer to the question.
    then : Step
    chance : Fraction or None
        For a `Chance`: how probable the event is.
    members : tuple of label
        For a `Fork`: the categories that go this way.
    """

    event: str
    then: Step
    chance: Fraction | None = None
    members: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Chance:
    """A device that decides and that nobody else sees: a coin, a die, cards, an innocuous question.

    Parameters
    ----------
    device : str
        What to do with it, as an instruction: ``toss a coin``.
    branches : tuple of Branch
        Their chances sum to one.
    instruction : str
        What respondents are told instead of the device and one sentence for each branch.
    """

    device: str
    branches: tuple[Branch, ...]
    instruction: str = ""

    def __post_init__(self) -> None:
        branch_chances = [branch.chance for branch in self.branches]
        possible_chances = [chance for chance in branch_chances if chance is not None and chance >= 0]
        if len(possible_chances) < len(branch_chances) or sum(possible_chances) != 1:
            raise DesignError(
                f"the chances of one device must sum to one; {self.device!r} has {_checks.listing_text(branch_chances)}"
            )

    def __str__(self) -> str:
        return self.device


@dataclass(frozen=True)
class Fork:
    """A question that respondents answer to themselves.

    Parameters
    ----------
    question : str
    branches : tuple of Branch
        Their members together are all categories, each once.
    instruction : str
        What respondents are told instead of the question and one sentence for each branch. An example is a fork for
        cheaters: nobody instructs respondents to cheat.
    """

    question: str
    branches: tuple[Branch, ...]
    instruction: str = ""

    def __post_init__(self) -> None:
        members = [member for branch in self.branches for member in branch.members]
        if len(set(members)) < len(members):
            raise DesignError(f"each category goes one way; {self.question!r} has {_checks.listing_text(members)}")

    def __str__(self) -> str:
        return self.question

    def of(self, category: Label) -> Step:
        """What comes next for a category."""
        if category not in self._ways:
            raise DesignError(f"{self.question!r} must say what category {category!r} does")
        return self._ways[category]

    @cached_property
    def _ways(self) -> dict[Label, Step]:
        return {member: branch.then for branch in self.branches for member in branch.members}


Step = Say | Do | Chance | Fork


@dataclass(frozen=True)
class Protocol:
    """What respondents are told to do, what the estimate then assumes, and who proposed it.

    Parameters
    ----------
    first : Step
        The tree of steps.
    assumes : tuple of str
        What must hold for the estimate to be right.
    source : str
        Author and year.

    Examples
    --------
    >>> from naysay import designs
    >>> print(designs.two_coins().protocol)
    Toss a coin
    ├─ heads (1/2): Is the sensitive statement true of you?
    │  ├─ yes: say “yes”
    │  └─ no: say “no”
    └─ tails (1/2): toss it again
       ├─ heads (1/2): say “yes”
       └─ tails (1/2): say “no”
    """

    first: Step
    assumes: tuple[str, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        head = str(self.first)
        return "\n".join([head[:1].upper() + head[1:], *_below(self.first)])

    @property
    def instruction(self) -> str:
        """The steps as sentences that can be read to a respondent."""
        return words(self.first)

    @property
    def complete(self) -> bool:
        """Whether every path ends in one response, so that the probabilities can be read from the steps."""
        return not any(isinstance(step, Do) for step in steps(self.first))

    def form(self) -> dict[str, Any]:
        """The protocol as a JSON object."""
        return {"first": _form(self.first), "assumes": list(self.assumes), "source": self.source}


def probabilities(first: Step, categories: Sequence[Label], responses: Sequence[Label]) -> tuple[Array, int]:
    """The P(response | category) that the steps give: numerators (responses, t) and their common denominator.

    Examples
    --------
    >>> honest = Fork("Is it true?", (Branch("yes", Say("a"), members=("x",)), Branch("no", Say("b"), members=("y",))))
    >>> half = Fraction(1, 2)
    >>> lots = Chance("toss a coin", (Branch("heads", honest, half), Branch("tails", Say("b"), half)))
    >>> numerators, denominator = probabilities(lots, ("x", "y"), ("a", "b"))
    >>> numerators.tolist(), denominator
    ([[1, 0], [1, 2]], 2)
    """
    path_ends = list(
        _ends(first, {category: category_place for category_place, category in enumerate(categories)}, Fraction(1))
    )
    row_of_response = {response: response_row for response_row, response in enumerate(responses)}
    unknown_responses = {response for response, _, _ in path_ends} - row_of_response.keys()
    if unknown_responses:
        raise DesignError(
            f"the steps end in {_checks.listing_text(unknown_responses)}; "
            f"the responses are {_checks.listing_text(responses)}"
        )
    denominator = math.lcm(*(path_chance.denominator for _, _, path_chance in path_ends))
    integer_type = np.int64 if denominator <= LIMIT else object  # above it sums may overflow 64 bits
    numerators = np.zeros((len(responses), len(categories)), dtype=integer_type)
    for response, path_columns, path_chance in path_ends:
        numerators[row_of_response[response], path_columns] += path_chance.numerator * (
            denominator // path_chance.denominator
        )
    return numerators, denominator


def _ends(step: Step, columns: Mapping[Label, int], share: Fraction) -> Iterator[tuple[Label, list[int], Fraction]]:
    """The ends of all paths: the response, the columns of the categories that get here, and the chance."""
    if isinstance(step, Say):
        yield step.response, list(columns.values()), share
    elif isinstance(step, Do):
        raise DesignError(f"{step.text!r} is in words; its probabilities cannot be read from it")
    elif isinstance(step, Fork):
        for category in columns:
            step.of(category)  # raises if no branch is for this category
        for branch in step.branches:
            yield from _ends(
                branch.then,
                {branch_member: columns[branch_member] for branch_member in branch.members if branch_member in columns},
                share,
            )
    else:
        for branch in step.branches:
            yield from _ends(branch.then, columns, share * (branch.chance or 0))


def steps(first: Step) -> Iterator[Step]:
    """All steps of a tree."""
    yield first
    for branch in first.branches if isinstance(first, Chance | Fork) else ():
        yield from steps(branch.then)


def _below(step: Step) -> Iterator[str]:
    """The tree of the steps that follow, line by line."""
    branches = step.branches if isinstance(step, Chance | Fork) else ()
    for branch_number, branch in enumerate(branches, start=1):
        is_last = branch_number == len(branches)
        yield f"{'└─' if is_last else '├─'} {way(branch)}: {branch.then}"
        for tree_line in _below(branch.then):
            yield f"{'   ' if is_last else '│  '}{tree_line}"


def way(branch: Branch) -> str:
    """What leads into a branch: the event, and its probability.

    Examples
    --------
    >>> way(Branch("heads", Say("yes"), chance=Fraction(1, 2)))
    'heads (1/2)'
    """
    if branch.chance is None or branch.event == LOT + fraction_text(branch.chance):
        return branch.event
    return f"{branch.event} ({fraction_text(branch.chance)})"


def fraction_text(chance: Fraction) -> str:
    """A probability as a fraction; as a decimal where the denominator exceeds 10,000.

    Examples
    --------
    >>> fraction_text(Fraction(1, 3)), fraction_text(Fraction(2**52 + 1, 2**53))
    ('1/3', '0.5')
    """
    return str(chance) if chance.denominator <= 10_000 else f"{float(chance):.6g}"


def words(first: Step) -> str:
    """The steps as sentences that can be read to a respondent.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> words(Chance("toss a coin", (Branch("heads", Say("yes"), half), Branch("tails", Say("no"), half))))
    'Toss a coin; nobody else may see it. Heads: say “yes”, whatever the truth. Tails: say “no”, whatever the truth.'
    """
    return " ".join(_sentences(first))


def _sentences(step: Step, reached: str = "", *, blind: bool = True) -> Iterator[str]:
    """One sentence for each step; each branch begins with its event. `blind` holds until a question was asked."""
    if isinstance(step, Say | Do) or step.instruction:
        step_text = str(step) if isinstance(step, Say | Do) else step.instruction
        yield f"{_capital(reached + step_text)}{', whatever the truth' if blind and isinstance(step, Say) else ''}."
        return
    if isinstance(step, Chance):
        yield _capital(f"{reached}{step.device}; nobody else may see it.")
    else:
        yield _capital(f"{reached}{step.question}")
    for branch in step.branches:
        yield from _sentences(branch.then, f"{branch.event}: ", blind=blind and isinstance(step, Chance))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _form(step: Step) -> dict[str, Any]:
    if isinstance(step, Say):
        return {"say": step.response}
    if isinstance(step, Do):
        return {"do": step.text}
    if isinstance(step, Fork):
        branch_forms = [{"event": b.event, "members": list(b.members), "then": _form(b.then)} for b in step.branches]
        return {"ask": step.question, "branches": branch_forms} | _instruction(step)
    branch_forms = [
        {"event": b.event, "chance": [*(b.chance or Fraction()).as_integer_ratio()], "then": _form(b.then)}
        for b in step.branches
    ]
    return {"chance": step.device, "branches": branch_forms} | _instruction(step)


def _instruction(step: Chance | Fork) -> dict[str, str]:
    return {"instruction": step.instruction} if step.instruction else {}


def read(node: JsonNode | None) -> Protocol | None:
    """The protocol that a JSON object describes; None where there is none."""
    if node is None:
        return None
    return Protocol(_step(node["first"]), tuple(map(str, node["assumes"])), str(node["source"]))


def _step(node: JsonNode) -> Step:
    if "say" in node:
        return Say(labels_of(node["say"]))
    if "do" in node:
        return Do(str(node["do"]))
    if "ask" in node:
        fork_branches = (
            Branch(str(b["event"]), _step(b["then"]), members=labels_of(b["members"])) for b in node["branches"]
        )
        return Fork(str(node["ask"]), tuple(fork_branches), str(node.get("instruction", "")))
    chance_branches = (
        Branch(str(b["event"]), _step(b["then"]), chance=Fraction(integer(above), integer(below)))
        for b in node["branches"]
        for above, below in [b["chance"]]
    )
    return Chance(str(node["chance"]), tuple(chance_branches), str(node.get("instruction", "")))


def draw_lots(*branches: tuple[Any, Step], again: bool = False) -> Chance:
    """A chance step with a device that suits its probabilities: a coin, a die, or numbered cards.

    Parameters
    ----------
    *branches : (probability, Step)
        Probabilities are read as written and sum to one. Branches of probability 0 are left out.
    again : bool
        Whether the respondent has used the device before on this path.

    Raises
    ------
    DesignError
        Probabilities that are negative or do not sum to one.

    Examples
    --------
    >>> from naysay.design import Say
    >>> lots = draw_lots(("2/3", Say("yes")), ("1/3", Say("no")))
    >>> lots.device, [branch.event for branch in lots.branches]
    ('throw a die', ['1 to 4', '5 or 6'])
    """
    branch_chances = without_noise([as_fraction(branch_chance) for branch_chance, _ in branches])
    if any(branch_chance < 0 for branch_chance in branch_chances) or sum(branch_chances) != 1:
        raise DesignError(
            f"probabilities must be in [0, 1] and sum to one; got {_checks.listing_text(map(str, branch_chances))}"
        )
    side_count = math.lcm(*(branch_chance.denominator for branch_chance in branch_chances))
    device, event_of_range = _device(side_count, again=again)
    chance_branches, first_side = [], 1
    for branch_chance, (_, step) in zip(branch_chances, branches, strict=True):
        range_width = int(branch_chance * side_count)
        if range_width:
            chance_branches.append(
                Branch(event_of_range(first_side, first_side + range_width - 1), step, chance=branch_chance)
            )
        first_side += range_width
    return Chance(device, tuple(chance_branches))


def _device(sides: int, *, again: bool) -> tuple[str, Callable[[int, int], str]]:
    """The instruction for a device with this many equally likely outcomes, and the name for a range of outcomes."""
    if sides == 1:
        return "without any chance", lambda first, last: "always"
    if sides == 2:
        toss_text = "toss it again" if again else "toss a coin"
        return toss_text, lambda first, last: "heads" if first == last == 1 else "tails" if first == last else "either"
    if sides in (3, 6):
        faces_per_side = 6 // sides
        return "throw a die", lambda first, last: _range(faces_per_side * (first - 1) + 1, faces_per_side * last)
    if sides <= 100:
        return f"draw one of {sides} numbered cards", lambda first, last: f"card {_range(first, last)}"
    return "let the device draw lots", lambda first, last: LOT + fraction_text(Fraction(last - first + 1, sides))


def _range(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first} or {last}" if last == first + 1 else f"{first} to {last}"
