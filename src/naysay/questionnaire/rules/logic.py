"""Rules about conditions: they refer to what is asked before, and never to a true private answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from naysay import _checks
from naysay.questionnaire.expressions.evaluation import ARITY
from naysay.questionnaire.expressions.nodes import Answer, Apply, Expression, Sent
from naysay.questionnaire.kinds.base import Question
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.rules.walk import Entry, expressions, nodes

__all__ = ["behind_sent", "conditions", "constraints"]

_MANY = 200  # questions; the nearest of more takes long to find
_ASK_ALL = "ask everybody, or branch on a plain answer"


def conditions(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Every reference of a condition is to a plain answer, or to a response as it is sent, that is there by then."""
    by_name = {entry.item.name: entry for entry in walked}
    for entry in walked:
        for path, expression in expressions(entry):
            for node in nodes(expression):
                yield from _node(node, entry, path, by_name)


def _node(node: Expression, entry: Entry, path: str, by_name: dict[str, Entry]) -> Iterator[Problem]:
    if isinstance(node, Apply):
        yield from _arity(node, path)
    elif isinstance(node, Answer) and node.of == ".":
        if path.endswith(".relevant"):
            message = "relevant must not refer to the answer itself, '.'"
            reason = "it is decided before the question is asked"
            yield Problem("references", message, reason, "refer to another question", path=path)
    elif isinstance(node, Answer | Sent):
        yield from _reference(node, entry, path, by_name)


def _arity(node: Apply, path: str) -> Iterator[Problem]:
    least, most = ARITY[node.op]
    if not least <= len(node.args) <= most:
        message = f"{node.op} takes {_checks.several(least, 'argument', 'arguments')}; got {len(node.args)}"
        yield Problem("expressions", message, "", "correct the condition", path=path)


def _reference(node: Answer | Sent, entry: Entry, path: str, by_name: dict[str, Entry]) -> Iterator[Problem]:
    asked = by_name.get(node.of)
    if asked is None or not isinstance(asked.item, Question):
        questions = [name for name, each in by_name.items() if isinstance(each.item, Question)]
        hint = _checks.nearest(node.of, questions) if len(questions) < _MANY else ""
        yield Problem(
            "references", f"${{{node.of}}} must be a question; there is none of that name", "", hint, path=path
        )
        return
    if asked.order >= entry.order and not (asked is entry and path.endswith(".constraint.expression")):
        message = f"${{{node.of}}} must be asked before; it comes later"
        yield Problem("references", message, "there is no answer yet", "move the question up", path=path)
    yield from (_sent(asked, path) if isinstance(node, Sent) else _plain(asked, entry, path))


def _plain(asked: Entry, entry: Entry, path: str) -> Iterator[Problem]:
    name = asked.item.name
    if asked.item.privacy is not None and asked is not entry:
        if path.endswith(".relevant"):
            message = f"what is asked must not depend on the private answer ${{{name}}}"
            reason = "which questions a person answers would tell their true answer"
        else:
            message = f"what is accepted must not depend on the private answer ${{{name}}}"
            reason = "which answers pass would tell their true answer"
        rule = "skip_logic" if path.endswith(".relevant") else "validation"
        yield Problem(rule, message, reason, _ASK_ALL, path=path)
    if isinstance(asked.item, Question) and not asked.item.comparable:
        message = f"a condition must not refer to the {asked.item.kind} ${{{name}}}"
        reason = "its answer is one choice for each row, which compares with nothing"
        yield Problem("references", message, reason, "ask the row as a question of its own", path=path)


def _sent(asked: Entry, path: str) -> Iterator[Problem]:
    name = asked.item.name
    if asked.item.privacy is None:
        message = f"sent() is of a private question; ${{{name}}} is plain"
        yield Problem("references", message, "its answer is sent as it is", f"write ${{{name}}}", path=path)
    elif isinstance(asked.item, Question) and asked.item.parts:
        message = f"sent() must not be of the select multiple ${{{name}}}"
        reason = "it sends one response for each choice"
        yield Problem("references", message, reason, "ask a select one, or branch on something else", path=path)


def behind_sent(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A plain question behind a response is a warning: what people say there tells whose response was true.

    Respondents whose forced "yes" leads them to "How often?" answer "never" there. All others who are asked it have
    told the truth about the first question.
    """
    for entry in walked:
        if not isinstance(entry.item, Question) or entry.item.privacy is not None:
            continue
        for outer in walked:
            if outer.order <= entry.order <= outer.last and outer.item.relevant is not None:
                for node in nodes(outer.item.relevant):
                    if isinstance(node, Sent):
                        yield _behind_sent(entry.item.name, node.of, f"{outer.path}.relevant")


def _behind_sent(name: str, private: str, path: str) -> Problem:
    return Problem(
        "skip_logic",
        f"the plain question {name!r} is asked after some responses to ${{{private}}} only",
        f"its answers are sent as they are; they tell who gave a true response to ${{{private}}}, and who a random one",
        f"ask {name!r} of everybody, make it private, or leave it out",
        "warning",
        path=path,
    )


def constraints(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A private answer is accepted as it is; a constraint on a plain one says what must hold."""
    for entry in walked:
        constraint = getattr(entry.item, "constraint", None)
        bounded = [name for name in ("low", "high") if getattr(entry.item, name, None) is not None]
        if entry.item.privacy is not None:
            reason = "its message, shown or not, would tell the true answer"
            if constraint is not None:
                message = "a private question must have no constraint"
                yield Problem("validation", message, reason, "leave it out", path=f"{entry.path}.constraint")
            if bounded:
                message = "a private number must have no range"
                way_out = "leave it out; the first and the last bin take all numbers"
                yield Problem("validation", message, reason, way_out, path=f"{entry.path}.{bounded[0]}")
        elif constraint is not None and not any(text.strip() for text in constraint.message.values()):
            message = "a constraint must say what must hold"
            path = f"{entry.path}.constraint.message"
            yield Problem("validation", message, "respondents cannot guess it", "write a message", "warning", path=path)
