"""Rules about conditions: they refer only to earlier questions, and never to a true private answer."""

from __future__ import annotations

from collections.abc import Iterator

from naysay import _checks
from naysay.questionnaire.expressions.evaluation import ARITY, Answer, Apply, Sent
from naysay.questionnaire.items import Item
from naysay.questionnaire.kinds.base import Question
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.rules.walk import Entry, Walk, expressions, nodes

__all__ = ["behind_sent", "conditions", "constraints"]

_MANY = 200  # questions; among more of them the nearest name takes long to find
_ASK_ALL = "ask everybody, or branch on a direct answer"


def conditions(walk: Walk) -> Iterator[Problem]:
    """A condition refers only to plain answers and sent responses that are already there."""
    for entry in walk.entries:
        for path, expression in expressions(entry):
            for node in nodes(expression):
                if isinstance(node, Apply):
                    yield from _arity(node, path)
                elif isinstance(node, Sent) or (isinstance(node, Answer) and node.of != "."):
                    yield from _reference(node, entry, path, walk)
                elif isinstance(node, Answer) and path.endswith(".relevant"):
                    message = "relevant must not refer to the answer itself, '.'"
                    reason = "it is decided before the question is asked"
                    yield Problem("references", message, reason, "refer to another question", path=path)


def _arity(node: Apply, path: str) -> Iterator[Problem]:
    least, most = ARITY[node.op]
    if not least <= len(node.args) <= most:
        message = f"{node.op} takes {_checks.several(least, 'argument', 'arguments')}; got {len(node.args)}"
        yield Problem("expressions", message, "", "correct the condition", path=path)


def _reference(node: Answer | Sent, entry: Entry, path: str, walk: Walk) -> Iterator[Problem]:
    asked = walk.by_name.get(node.of)
    if asked is None or not isinstance(asked.item, Question):
        questions = [each.item.name for each, _ in walk.questions()]
        hint = _checks.nearest(node.of, questions) if len(questions) < _MANY else ""
        message = f"${{{node.of}}} must be a question; there is none of that name"
        yield Problem("references", message, "", hint, path=path)
        return
    if asked.order >= entry.order and not (asked is entry and path.endswith(".constraint.expression")):
        message = f"${{{node.of}}} must be asked before; it comes later"
        yield Problem("references", message, "there is no answer yet", "move the question up", path=path)
    yield from (_sent(asked.item, path) if isinstance(node, Sent) else _plain(asked.item, entry.item, path))


def _plain(asked: Question, asking: Item, path: str) -> Iterator[Problem]:
    if asked.privacy is not None and asked is not asking:
        rule, what, telling = (
            ("skip_logic", "asked", "which questions a person answers")
            if path.endswith(".relevant")
            else ("validation", "accepted", "which answers pass")
        )
        message = f"what is {what} must not depend on the private answer ${{{asked.name}}}"
        yield Problem(rule, message, f"{telling} would tell their true answer", _ASK_ALL, path=path)
    if not asked.comparable:
        message = f"a condition must not refer to the {asked.kind} ${{{asked.name}}}"
        reason = "its answer is one choice for each row, which compares with nothing"
        yield Problem("references", message, reason, "ask the row as a question of its own", path=path)


def _sent(asked: Question, path: str) -> Iterator[Problem]:
    if asked.privacy is None:
        message = f"sent() is of a private question; ${{{asked.name}}} is direct"
        yield Problem("references", message, "its answer is sent as it is", f"write ${{{asked.name}}}", path=path)
    elif asked.parts:
        message = f"sent() must not be of the select multiple ${{{asked.name}}}"
        reason = "it sends one response for each choice"
        yield Problem("references", message, reason, "ask a select one, or branch on something else", path=path)


def behind_sent(walk: Walk) -> Iterator[Problem]:
    """A plain question whose condition is a response is a warning: its answers tell whose response was true.

    Respondents whose forced "yes" leads them to "How often?" answer "never" there. All others who are asked it have
    told the truth about the first question.
    """
    plain = [(entry.order, question.name) for entry, question in walk.questions() if question.privacy is None]
    for order, name in plain:
        for outer in walk.entries:
            if outer.order <= order <= outer.last and outer.item.relevant is not None:
                for node in nodes(outer.item.relevant):
                    if isinstance(node, Sent):
                        yield _behind_sent(name, node.of, f"{outer.path}.relevant")


def _behind_sent(name: str, private: str, path: str) -> Problem:
    message = f"the direct question {name!r} is asked after some responses to ${{{private}}} only"
    reason = (
        f"its answers are sent as they are; they tell who gave a true response to ${{{private}}}, and who a random one"
    )
    way_out = f"ask {name!r} of everybody, make it private, or leave it out"
    return Problem("skip_logic", message, reason, way_out, "warning", path=path)


def constraints(walk: Walk) -> Iterator[Problem]:
    """A private answer has no constraint; a constraint on a plain answer must have a message."""
    for entry, question in walk.questions():
        constraint, path = question.constraint, f"{entry.path}.constraint"
        if question.privacy is not None:
            reason = "its message, shown or not, would tell the true answer"
            if constraint is not None:
                message = "a private question must have no constraint"
                yield Problem("validation", message, reason, "leave it out", path=path)
            bounded = [name for name in ("low", "high") if getattr(question, name, None) is not None]
            if bounded:
                message = "a private number must have no range"
                way_out = "leave it out; the first and the last bin take all numbers"
                yield Problem("validation", message, reason, way_out, path=f"{entry.path}.{bounded[0]}")
        elif constraint is not None and not any(text.strip() for text in constraint.message.values()):
            message, reason = "a constraint must say what must hold", "respondents cannot guess it"
            yield Problem("validation", message, reason, "write a message", "warning", path=f"{path}.message")
