"""Arms by lot and controls: how cells write them, what is filled in by default, and what must hold of them.

An arm is a plain answer that the device draws. A control is a private question whose true answer is known; it shows who
does not do as they are told, in counts and never by person.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from naysay import _checks, designs
from naysay._values import Floats
from naysay.collect.questionnaire.kinds import SelectOne
from naysay.collect.questionnaire.questionnaire import ARM, Entry, Questionnaire, Walk, piped, truth_column
from naysay.collect.questionnaire.questions import Control, Label, Private, Problem, Question, in_languages
from naysay.design import Answerable, Design, Samples, Share, read, relabeled
from naysay.design.base import answers_of
from naysay.design.drawing import LIMIT
from naysay.errors import DataError, DesignError
from naysay.files import Asked
from naysay.files.codebook import EVERYBODY

_SUPPOSE = {
    "en": "An exercise, to see how well this way of asking works. Suppose that your answer were “{truth}”. {label}",
    "de": "Eine Übung, um zu sehen, wie gut diese Frageform gelingt. Angenommen, Ihre Antwort wäre „{truth}“. {label}",
    "es": "Un ejercicio, para ver si esta forma de preguntar sirve. Suponga que su respuesta fuera «{truth}». {label}",
    "ar": "تمرين لمعرفة مدى نجاح هذه الطريقة في السؤال. افترض أن إجابتك هي «{truth}». {label}",
}
"""What a control asks where its author has written nothing."""

_FATHER = {
    "en": "Is your father's birthday in the months January to {month}?",
    "de": "Hat Ihr Vater in den Monaten Januar bis {month} Geburtstag?",
    "es": "¿Cumple años su padre en los meses de enero a {month}?",
    "ar": "هل يقع عيد ميلاد والدك في الأشهر من يناير إلى {month}؟",
}


def arms_of(cell: str) -> list[dict[str, Any]]:
    """The arms that a cell names, with their shares.

    Raises
    ------
    DataError
        A share that is no whole number.

    Examples
    --------
    >>> arms_of("masked 2, direct")
    [{'name': 'masked', 'share': 2}, {'name': 'direct', 'share': 1}]
    """
    arm_forms = []
    for piece in filter(None, map(str.strip, cell.split(","))):
        arm_name, _, share_text = piece.partition(" ")
        if share_text.strip() and not share_text.strip().isdecimal():
            raise DataError(f"arms are written with whole shares, such as masked 2, direct 1; got {piece!r}")
        arm_forms.append({"name": arm_name, "share": int(share_text or 1)})
    return arm_forms


_CONTROL = re.compile(r"\s*([A-Za-z_][\w-]*)\s*:\s*(\S.*?)\s*", re.ASCII)
_SHARES = re.compile(r"(.+?)(?:\s+of\s+(\d+))?")
_SHARE = re.compile(r"(\S+)\s+(0?\.\d+|[01](?:\.0*)?)")


def control_of(cell: str) -> dict[str, Any]:
    """What a cell says of a control: of which question, and what is known of its truth.

    Raises
    ------
    DataError
        A cell that is written in another way.

    Examples
    --------
    >>> control_of("income: lot")
    {'of': 'income', 'truth': {'lot': True}}
    >>> control_of("smoking: yes 0.2, no 0.8 of 400")["truth"]
    {'shares': {'yes': 0.2, 'no': 0.8}, 'people': 400}
    >>> control_of("income: file birth_season")["truth"], control_of("income: none")["truth"]
    ({'file': 'birth_season'}, {'category': 'none'})
    """
    cell_match = _CONTROL.fullmatch(cell)
    if cell_match is None:
        raise DataError(
            "a control is written as income: lot, income: CATEGORY, income: yes 0.2 of 400 or income: file QUESTION; "
            f"got {cell!r}"
        )
    question_name, truth_text = cell_match[1], cell_match[2]
    if truth_text == "lot":
        return {"of": question_name, "truth": {"lot": True}}
    first_word, _, rest = truth_text.partition(" ")
    if first_word == "file" and rest:
        return {"of": question_name, "truth": {"file": rest.strip()}}
    if not rest:
        return {"of": question_name, "truth": {"category": truth_text}}
    shares_match = _SHARES.fullmatch(truth_text)
    pieces = [_SHARE.fullmatch(piece.strip()) for piece in shares_match[1].split(",")] if shares_match else [None]
    if shares_match is None or None in pieces:
        raise DataError(f"known shares are written as yes 0.2 of 400, or as yes 0.2, no 0.8; got {truth_text!r}")
    truth: dict[str, Any] = {"shares": {piece[1]: float(piece[2]) for piece in pieces if piece is not None}}
    return {"of": question_name, "truth": truth | ({"people": int(shares_match[2])} if shares_match[2] else {})}


def written_control(control: Control) -> str:
    """The cell that `control_of` reads as this control.

    Examples
    --------
    >>> written_control(Control.model_validate(control_of("smoking: yes 0.2, no 0.8 of 400")))
    'smoking: yes 0.2, no 0.8 of 400'
    """
    truth = control.truth
    shares_text = ", ".join(f"{name} {share:.15g}" for name, share in truth.shares.items())
    people_text = f" of {truth.people}" if truth.people else ""
    file_text = f"file {truth.file}" if truth.file else ""
    return f"{control.of}: {'lot' if truth.lot else truth.category or file_text or shares_text + people_text}"


def complete_controls(form: dict[str, Any]) -> None:
    """Fill in what a control has from its question where its author left it out: design, choices, words, order.

    Parameters
    ----------
    form : object
        A questionnaire as JSON, changed in place.
    """
    languages = [tag for tag in _list(form.get("languages")) if isinstance(tag, str)]
    items = [item for siblings in _sibling_lists(form.get("items")) for item in siblings]
    by_name = {item["name"]: item for item in items if isinstance(item.get("name"), str)}
    for item in list(by_name.values()):
        control = _dict(item.get("control"))
        truth, name = _dict(control.get("truth")), control.get("of")
        question = by_name.get(name) if isinstance(name, str) else None
        if question is None or not truth:
            continue
        for field_name in ("choices", "bins"):
            if question.get(field_name) and not item.get(field_name):
                item[field_name] = question[field_name]
        if private := _dict(question.get("private")):
            item.setdefault("private", private | innocuous_of(private, languages))
        names = [part.get("name") for part in map(_dict, _list(item.get("choices")))]
        shares = _dict(truth.get("shares"))
        if len(shares) == 1 and len(names) == 2 and isinstance(share := next(iter(shares.values())), float):
            truth["shares"] = shares | {name: round(1 - share, 12) for name in names if name not in shares}
        if not any(_dict(item.get("label")).values()) and (truth.get("lot") or truth.get("category")):
            item["label"] = _supposed(item, question, truth, languages)
        for asked in (question, item):
            if asked.get("kind") == "select_one" and _rules_out(_dict(asked.get("private")).get("design")):
                asked.setdefault("order", "shuffled")


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _sibling_lists(items: object) -> Iterator[list[dict[str, Any]]]:
    siblings = [item for item in _list(items) if isinstance(item, dict)]
    yield siblings
    for item in siblings:
        if item.get("kind") == "group":
            yield from _sibling_lists(item.get("items"))


def _supposed(item: Mapping[str, Any], question: Mapping[str, Any], truth: Mapping[str, Any], tags: list[str]) -> Label:
    """The words of a control that has none: what to suppose, and the question."""
    patterns = dict.fromkeys(tags, _SUPPOSE["en"]) | in_languages(_SUPPOSE, tags)
    parts = map(_dict, [*_list(item.get("choices")), *_list(item.get("bins"))])
    label_of = {str(part.get("name")): _dict(part.get("label")) for part in parts}
    known, gap = label_of.get(str(truth.get("category")), {}), "${" + truth_column(str(item.get("name"))) + "}"
    asked = _dict(question.get("label"))
    return {
        tag: pattern.format(
            truth=gap if truth.get("lot") else known.get(tag, truth.get("category")), label=asked.get(tag, "")
        )
        for tag, pattern in patterns.items()
    }


def innocuous_of(private: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Label]:
    """Another innocuous question than that of the question: one that protects two answers protects none.

    Examples
    --------
    >>> mother = {"en": "Is your mother's birthday in the months January to March?"}
    >>> innocuous_of({"innocuous": mother}, ("en",))["innocuous"]["en"]
    "Is your father's birthday in the months January to March?"
    """
    mothers = _dict(private.get("innocuous"))
    words = in_languages(_FATHER, languages)
    months = {tag: _MOTHER.search(str(text)) for tag, text in mothers.items()}
    fathers = {
        tag: words[tag].format(month=month[1]) for tag, month in months.items() if month is not None and tag in words
    }
    return {"innocuous": fathers} if mothers and fathers.keys() == mothers.keys() else {}


_MOTHER = re.compile(
    r"(?:Is your mother's birthday in the months January to |Hat Ihre Mutter in den Monaten Januar bis |"
    r"¿Cumple años su madre en los meses de enero a |هل يقع عيد ميلاد والدتك في الأشهر من يناير إلى )"
    r"(\w+)(?: Geburtstag)?[?؟]"
)


def _rules_out(design: object) -> bool:
    """Whether a design's JSON, or one in it, is of a negative survey."""
    if isinstance(design, dict):
        is_negative = design.get("kind") in ("subset", "weighted_subset", "two_option")
        is_negative |= design.get("kind") == "pattern" and design.get("own") == 0
        columns = _list(design.get("columns")) if design.get("kind") == "table" else []
        own_chances = [column[place] for place, column in enumerate(map(_list, columns)) if len(column) == len(columns)]
        is_negative |= len(own_chances) > 2 and not any(own_chances)  # nobody names the own category
        return is_negative or any(map(_rules_out, design.values()))
    return isinstance(design, list) and any(map(_rules_out, design))


def asked_arms(walk: Walk, entry: Entry) -> frozenset[str]:
    """The arms in which an item is asked: its own, and those of all groups around it."""
    arms = {arm.name for arm in walk.whole.arms}
    for outer_entry in (*walk.around(entry), entry):
        arms &= set(outer_entry.item.arms) or arms
    return frozenset(arms)


def never_together(walk: Walk, first: Entry, second: Entry) -> bool:
    """Whether no respondent is asked both: they stand in different arms."""
    return bool(walk.whole.arms) and not asked_arms(walk, first) & asked_arms(walk, second)


def arms(walk: Walk) -> Iterator[Problem]:
    """Arms differ in name and in what they ask; what they measure together is one thing."""
    names, whole = [arm.name for arm in walk.whole.arms], walk.whole
    if len(names) == 1 or len(set(names)) < len(names):
        message = f"arms must be two or more, with different names; got {_checks.listing_text(names)}"
        yield Problem("arms", message, "", "write them as masked 2, direct 1", path="arms")
    if sum(arm.share for arm in whole.arms) > LIMIT:
        yield Problem(
            "arms", "the shares of the arms are too large to draw exactly", "", "take smaller ones", path="arms"
        )
    in_arms = [entry for entry in walk.entries if entry.item.arms]
    for entry in in_arms if names else in_arms[:1]:  # where no arm has a name, one sentence is for all
        arms_path = f"{entry.path}.arms"
        for unknown in (name for name in entry.item.arms if name not in names):
            hint = _checks.nearest(unknown, names) if names else "name the arms of the survey first: masked 2, direct 1"
            message = f"{entry.item.name!r} is asked in arm {unknown!r}, which is none"
            yield Problem("arms", message, "", hint, path=arms_path)
        if names and not asked_arms(walk, entry):
            message = f"{entry.item.name!r} is asked in no arm: its group stands in others"
            yield Problem("arms", message, "", "leave its arms out, or those of the group", path=arms_path)
    if names and not in_arms:
        message = "the arms differ in nothing: no question, note or group names its arms"
        yield Problem(
            "arms", message, "", "write the arm into bind::naysay_arms of what is asked there only", path="arms"
        )
    if whole.strata is not None and (fault := _fault_of_stratum(walk, whole.strata)):
        message = f"strata must name a direct, required select_one that all answer before the arms differ; {fault}"
        yield Problem("arms", message, "arms are compared within its answers", "name another, or none", path="strata")
    yield from _measures(walk)


def _fault_of_stratum(walk: Walk, name: str) -> str:
    """Why arms cannot be compared within a question's answers; empty where they can.

    What people answer once the arms differ, and whether they still answer, may come from the arm.
    """
    entry, everywhere = walk.by_name.get(name), {arm.name for arm in walk.whole.arms}
    if entry is None:
        return f"{name!r} is no question"
    if not everywhere:
        return "the survey has no arms"
    question, around = entry.item, [group.item for group in walk.around(entry)]
    first = next((other for other in walk.entries if asked_arms(walk, other) != everywhere), entry)
    if not isinstance(question, SelectOne):
        fault = "is of another kind"
    elif question.private is not None:
        fault = "is private"
    elif any(item.relevant is not None for item in (question, *around)):
        fault = "is asked under a condition"
    elif asked_arms(walk, entry) != everywhere:
        fault = "is asked in some arms only"
    elif first.order < entry.order:
        fault = f"is asked after {first.item.name!r}, where they differ"
    else:
        fault = "" if question.required else "may be left empty: write yes into its column required"
    return fault and f"{name!r} {fault}"


def _measures(walk: Walk) -> Iterator[Problem]:
    """Questions that measure one thing are asked under one condition, and as its design says.

    Without a design they stand in different arms; unless people count, they have the same choices.
    """
    members = _members(walk)
    for measure, asked in members.items():
        (head, first), count_names = asked[0], [question.name for _, question in asked if counts_only(question)]
        if measure in walk.by_name and (count_names or measure not in [question.name for _, question in asked]):
            message = f"{measure!r} is measured by other questions, and is the name of one"
            if count_names:
                message = f"{measure!r} is what {count_names[0]!r} counts, and the name of a question"
            yield Problem("arms", message, "data would mix them up", "rename one", path=f"{head.path}.measures")
        for entry, question in asked[1:]:
            if _conditions(walk, entry) != _conditions(walk, head):
                message = (
                    f"{question.name!r} and {first.name!r} measure {measure!r} and must be asked under one condition"
                )
                reason = "else they are asked of different people"
                yield Problem("arms", message, reason, "copy relevant, or leave it out", path=f"{entry.path}.measures")
        for place, (entry, question) in enumerate(asked if not count_names else ()):
            path = f"{entry.path}.measures"
            if not question.categories_in or question.parts or question.categories != first.categories:
                message = f"{question.name!r} and {first.name!r} measure {measure!r} and must have the same choices"
                yield Problem("arms", message, "", "take one list for both", path=path)
            for other_entry, other in asked[:place] if measure not in walk.whole.measured else ():
                if not never_together(walk, entry, other_entry):
                    message = f"{question.name!r} and {other.name!r} measure {measure!r} in the same arm"
                    reason = "each person answers it once"
                    yield Problem("arms", message, reason, "write different arms into bind::naysay_arms", path=path)
        try:
            measured = _measurement(walk, measure, [question for _, question in asked])
            if measured is None:
                message = f"{first.name!r} measures {measure!r} in no arm, so nothing is compared"
                way_out = "write its arm into bind::naysay_arms, or leave the measure out"
                yield Problem("arms", message, "", way_out, "warning", path=f"{head.path}.measures")
        except DesignError as error:
            yield Problem("arms", str(error), path=f"{head.path}.measures")
            continue
        for arm, names in measured.arms.items() if measured is not None else ():
            ends = {getattr(q, "high", None) for _, q in asked if q.name in names}
            if count_names and len(ends) < len(names):
                message = f"{_checks.listing_text(names)} count to the same number and are read in this order"
                reason = f"no range in arm {arm!r} shows that they are swapped, and the share would be wrong"
                way_out = "see that list A stands before list B, or take two lists of one length"
                yield Problem("arms", message, reason, way_out, "warning", path=f"{head.path}.measures")
        if count_names:
            message = f"a count of none or of all statements in {_checks.listing_text(count_names)} tells each of them"
            way_out = "take statements of which hardly anybody has none or all"
            yield Problem("reveals", message, "it is sent as it is", way_out, "warning", path=f"{head.path}.measures")
    for measure in walk.whole.measured:
        if measure not in members:
            message = f"the design of {measure!r} is there, and no question measures it"
            yield Problem("arms", message, "", "leave the design out", path=f"measured.{measure}")


def controls(walk: Walk) -> Iterator[Problem]:
    """A control looks as its question does, its truth is known, and its answers tell who does not comply."""
    lists = [walk.whole.items, *(getattr(entry.item, "items", ()) for entry in walk.entries)]
    for entry, question in walk.questions():
        if question.control is None:
            continue
        path, target = f"{entry.path}.control", walk.by_name.get(question.control.of)
        asked = None if target is None else target.item
        if not isinstance(asked, Question) or target is entry or asked.privacy is None or asked.control is not None:
            private = [
                other.name for _, other in walk.questions() if other.privacy is not None and other.control is None
            ]
            hint = _checks.nearest(question.control.of, private) if private else "there is none"
            message = f"{question.name!r} must be a control of another private question; got {question.control.of!r}"
            yield Problem("controls", message, "", hint, path=f"{path}.of")
            continue
        if question.privacy is None or question.kind != asked.kind or question.categories != asked.categories:
            message = (
                f"the control {question.name!r} must be asked as {asked.name!r} is: private, with the same choices"
            )
            reason = "by another form people would know it, and answer it with more care"
            yield Problem("controls", message, reason, "leave its design and its list out", path=path)
            continue
        try:
            same_levels = question.privacy.levels == asked.privacy.levels
        except DesignError:
            continue  # said by `privacy.designs_fit`
        if asked.parts or not same_levels:
            message = f"a control must have one answer, and the levels of its question; {question.name!r} has others"
            yield Problem("controls", message, "", "ask a select_one", path=path)
            continue
        siblings = next(items for items in lists if any(item is question for item in items))
        if not any(item is asked for item in siblings) or (question.relevant, question.arms) != (
            asked.relevant,
            asked.arms,
        ):
            message = (
                f"the control {question.name!r} must stand in the group of {asked.name!r}, under the same condition"
            )
            reason = "lot decides which of them comes first"
            yield Problem("controls", message, reason, "move the row, and copy relevant and arms", path=path)
        yield from _known(walk, entry, question, question.control, question.privacy)


def _known(walk: Walk, entry: Entry, question: Question, control: Control, private: Private) -> Iterator[Problem]:
    """What is known of the truth must be known, and show something."""
    truth, path, names = control.truth, f"{entry.path}.control.truth", question.categories
    ways = [truth.category is not None, truth.lot, bool(truth.shares), truth.file is not None]
    if sum(ways) != 1:
        message = (
            f"the truth of the control {question.name!r} must be known for somebody: one category, lot, shares or file"
        )
        way_out = "write income: lot, income: CATEGORY, income: yes 0.2 of 400 or income: file QUESTION"
        yield Problem("controls", message, "without it no answer can be wrong", way_out, path=path)
        return
    unknown = [name for name in (*truth.shares, *([truth.category] if truth.category else [])) if name not in names]
    if unknown:
        message = f"{unknown[0]!r} is no choice of the control {question.name!r}"
        yield Problem("controls", message, "", _checks.nearest(unknown[0], names), path=path)
        return
    if truth.shares and (set(truth.shares) != set(names) or abs(sum(truth.shares.values()) - 1) > 1e-9):
        message = f"known shares must be there for each choice and sum to one; those of {question.name!r} do not"
        yield Problem("controls", message, "", "write income: yes 0.2, no 0.8 of 400", path=f"{path}.shares")
        return
    if truth.people is not None and not truth.shares:
        yield Problem("controls", "people goes with known shares", "", "leave it out", path=f"{path}.people")
    if truth.file is not None:
        source = walk.by_name.get(truth.file)
        plain = source.item if source is not None else None
        if not isinstance(plain, SelectOne) or plain.private is not None or plain.names != names:
            message = f"the truth of {question.name!r} must be a direct select_one with its choices; got {truth.file!r}"
            yield Problem("controls", message, "", "name one that stands in the survey", path=f"{path}.file")
    gap = truth_column(question.name)
    if truth.lot:
        for tag, text in question.label.items():
            if gap not in piped(text):
                message = f"the control {question.name!r} must say what to suppose; ${{{gap}}} is missing in {tag!r}"
                yield Problem(
                    "controls", message, "", "leave its label out, or write the gap", path=f"{entry.path}.label"
                )
    for level, channel in private.channels:
        if signal(channel, truth_shares(control, names)) < 1e-9:
            message = f"the control {question.name!r} shows nothing{'' if level is None else f' at level {level!r}'}"
            reason = "random answers look as honest ones do"
            way_out = "take a truth that holds for all, or a lot"
            yield Problem("controls", message, reason, way_out, path=path)
    if truth.category is not None and _rules_out(private.design):
        message = f"the truth of the control {question.name!r} is one category for all"
        reason = "people who tick the first box, or a favorite, would go unseen, or be seen too often"
        yield Problem("controls", message, reason, f"write {control.of}: lot", "warning", path=path)
    if isinstance(question, SelectOne) and question.order is None and _rules_out(private.design):
        message = f"the choices of {question.name!r} stand in one order for all"
        reason = "the estimate is then right only for people who tick at random, not for those who tick the first box"
        yield Problem("controls", message, reason, "write randomize=true into parameters", "warning", path=entry.path)


def truth_shares(control: Control, categories: Sequence[str]) -> list[Floats]:
    """Shares of the categories among respondents whose truth is known alike: one vector, or one for each category."""
    truth = control.truth
    if truth.shares:
        return [np.array([truth.shares.get(name, 0.0) for name in categories])]
    units = list(np.eye(len(categories)))
    return [units[list(categories).index(truth.category)]] if truth.category is not None else units


def signal(design: Design, shares: Sequence[Floats]) -> float:
    """How far the responses of people who comply differ from those of people who tick anything, in total variation.

    Examples
    --------
    >>> from naysay import designs
    >>> signal(designs.warner(p=0.7), [np.array([0.5, 0.5])])
    0.0
    """
    if not design.space.listable:
        return 1.0
    matrix = design.matrix
    careless = np.full(len(matrix), 1 / len(matrix))
    return float(max(np.abs(matrix @ known - careless).sum() / 2 for known in shares))


@dataclass(frozen=True)
class Sight:
    """What a control can see: the share of random answers that break a rule which nobody who complies can break.

    Parameters
    ----------
    control, of : str
        The control and its question.
    caught : float
        P(violation | random answer); 0 where violations cannot be told one by one.
    """

    control: str
    of: str
    caught: float

    def line(self) -> str:
        """What `naysay questionnaire check` says of it."""
        subject = f"{self.control}: a control of {self.of}"
        if not self.caught:
            return (
                f"{subject}; it shows in the counts how many answer at random; people who understand and deny pass it"
            )
        people = int(np.ceil(np.log(0.2) / np.log(1 - 0.1 * self.caught)))
        return (
            f"{subject}; {100 * self.caught:.0f} of 100 random answers are ones nobody who follows the instruction can "
            f"give, so {people:,} people show one in ten who answer at random (power .8); "
            "people who understand and deny pass it"
        )


def sights(walk: Walk) -> Iterator[Sight]:
    """What each control can see, at the level that sees least."""
    for _, question in walk.questions():
        if question.control is None or question.privacy is None:
            continue
        known = truth_shares(question.control, question.categories)
        caught = [
            float(np.mean([(channel.matrix @ truth == 0).mean() for truth in known])) if channel.space.listable else 0.0
            for _, channel in question.privacy.channels
        ]
        yield Sight(question.name, question.control.of, min(caught))


def counts_only(question: Question) -> bool:
    """Whether people answer with a number that is sent as it is, such as how many statements are true of them."""
    return question.stored is int and not question.categories


def measurements(form: Questionnaire) -> dict[str, Asked]:
    """How what several questions measure together is estimated, by its name: a sample for each arm, or one of all.

    Parameters
    ----------
    form : Questionnaire

    Raises
    ------
    DesignError
        A question is drawn by another design than the one for all arms says, or offers levels.
    """
    walk = Walk(form)
    asked = {name: _measurement(walk, name, [q for _, q in members]) for name, members in _members(walk).items()}
    return {name: measured for name, measured in asked.items() if measured is not None}


def _members(walk: Walk) -> dict[str, list[tuple[Entry, Question]]]:
    """The questions that measure something together, by its name."""
    members: dict[str, list[tuple[Entry, Question]]] = {}
    for entry, question in walk.questions():
        if question.measures is not None:
            members.setdefault(question.measures, []).append((entry, question))
    return members


def _conditions(walk: Walk, entry: Entry) -> frozenset[str]:
    """Under which conditions an item is asked: its own, and those of the groups around it."""
    items = [around.item for around in (*walk.around(entry), entry)]
    return frozenset(str(item.relevant) for item in items if item.relevant is not None)


def _measurement(walk: Walk, measure: str, questions: Sequence[Question]) -> Asked | None:
    """How what these questions measure together is estimated; None where no arm asks them, without a design."""
    form = walk.whole
    of_arm = {
        arm.name: [q for q in questions if arm.name in asked_arms(walk, walk.by_name[q.name])] for arm in form.arms
    }
    asked = {arm: members for arm, members in of_arm.items() if members}
    for question in questions:
        if question.privacy is not None and question.privacy.levels != (None,):
            raise DesignError(f"{question.name!r} measures {measure!r} beside other arms and must offer no levels")
        if counts_only(question) and measure not in form.measured:
            raise DesignError(
                f"{question.name!r} is answered with a number, and no row says by which design that is {measure!r}: "
                f"write {measure} = item_count(items=4), or another one that counts, into bind::naysay_measures"
            )
    if measure not in form.measured:
        if not asked:
            return None
        design: Answerable = designs.samples({arm: _sent_design(members[0]) for arm, members in asked.items()})
    else:
        stacked = read(form.measured[measure])
        if stacked.offer.assigned_by == "nobody":
            if any(members != list(questions) for members in asked.values()):
                raise DesignError(
                    f"the same people must answer all that measures {measure!r} by {stacked.name}: write the same arms "
                    "into bind::naysay_arms of these rows, or none"
                )
            asked = {EVERYBODY: list(questions)}
        design = _samples(stacked, measure, asked, _parts(stacked, measure, asked))
    return Asked(design, arms={arm: tuple(q.name for q in members) for arm, members in asked.items()})


def _sent_design(question: Question) -> Design:
    """By which the answer to a question is drawn before it is sent."""
    return designs.direct(question.categories) if question.privacy is None else question.privacy.channels[0][1]


def _parts(stacked: Answerable, measure: str, asked: Mapping[str, Sequence[Question]]) -> dict[str, Design]:
    """The sample of each arm: of its name where arms are called as samples are, otherwise in the order of the arms."""
    parts, names = list(stacked.parts.values()), _checks.listing_text(map(str, stacked.levels))
    if EVERYBODY in asked:
        return {EVERYBODY: parts[0]}
    if not isinstance(stacked, Samples) or len(asked) != len(parts):
        arms = _checks.listing_text(asked) if asked else "none"
        raise DesignError(
            f"{stacked.name or 'its design'} must have one sample for each arm that measures {measure!r}; samples are "
            f"{names}, and arms {arms}: name as many in naysay_arms of the settings, and write one into "
            f"bind::naysay_arms of a row for each, and {measure} into its bind::naysay_measures"
        )
    by_name = dict(zip(map(str, stacked.levels), parts, strict=True))
    if by_name.keys() == asked.keys():
        return {arm: by_name[arm] for arm in asked}
    if _is_count(parts[0], stacked) and len({part.space for part in parts}) < len(parts):
        raise DesignError(
            f"the arms of {stacked.name} must be called {names}, since two of them count to the same number; "
            f"got {_checks.listing_text(asked)}"
        )
    return dict(zip(asked, parts, strict=True))


def _is_count(answer: Design, stacked: Answerable) -> bool:
    """Whether people answer with a number, and not with a category that is called by one."""
    first = answers_of(answer, joint=True)[0].space.labels[0]
    return isinstance(first, int) and first not in stacked.categories


def _check_count(question: Question, answer: Design, sample_text: str) -> None:
    """Raise unless a question is answered with the numbers of a design."""
    low, high = answer.space.labels[0], answer.space.labels[-1]
    if not counts_only(question):
        raise DesignError(
            f"{question.name!r} must be a direct number, since {sample_text} counts: ask with integer, and write "
            f"{low}..{high} into bind::naysay_range"
        )
    ends = getattr(question, "low", None), getattr(question, "high", None)
    if ends != (low, high):
        raise DesignError(
            f"{question.name!r} must count from {low} to {high}, as {sample_text} does: write {low}..{high} into "
            "bind::naysay_range"
        )


def _samples(
    stacked: Answerable, measure: str, asked: Mapping[str, Sequence[Question]], part_of: Mapping[str, Design]
) -> Answerable:
    """The design of a measure over the responses as they are sent, after checking that the questions are of it."""
    parts: dict[Any, Design] = {}
    arms_of = {
        q.name: [arm for arm, members in asked.items() if q in members] for q in itertools.chain(*asked.values())
    }
    for arm, part in part_of.items():
        answers, questions, renamed = answers_of(part, joint=True), asked[arm], dict[str, str]()
        of_everybody = arm == EVERYBODY
        sample_text = f"{stacked.name or 'the design'}{'' if of_everybody else f' in arm {arm!r}'}"
        if len(answers) != len(questions):
            raise DesignError(
                f"{sample_text} takes {len(answers)} answer{'s' * (len(answers) > 1)} of a person, and {measure!r} is "
                f"measured by {_checks.listing_text(q.name for q in questions)}: write one row for each answer"
                f"{'' if of_everybody else ', and its arm into bind::naysay_arms'}"
            )
        for question, answer in zip(questions, answers, strict=True):
            if _is_count(answer, stacked):
                _check_count(question, answer, sample_text)
                if len(arms_of[question.name]) > 1:
                    raise DesignError(
                        f"{question.name!r} is asked in arms {_checks.listing_text(arms_of[question.name])}, which "
                        "count different lists: write one into bind::naysay_arms, and a row for each list"
                    )
                continue
            if counts_only(question):
                labels = _checks.listing_text(answer.space.labels)
                raise DesignError(
                    f"{question.name!r} is answered with a number, and {sample_text} with {labels}: ask with select_one"
                )
            if tuple(map(str, stacked.categories)) != question.categories:
                raise DesignError(
                    f"the design of {measure!r} must be about the choices of its questions, in their order"
                )
            if len(answers) > 1 and question.privacy is not None and question.privacy.modes != ("hand",):
                raise DesignError(
                    f"{question.name!r} is one of {len(answers)} answers of a person to one question, and the device "
                    "draws once: write hand into bind::naysay_mode"
                )
            fielded = _sent_design(question)
            for place, share in enumerate(stacked.shares):
                cells = answer.matrix[:, [stacked.cells.index(cell) for cell in share.of]]
                if len(cells) != len(fielded.matrix) or _distance(cells, fielded.matrix[:, place]) > 1e-6:
                    raise DesignError(
                        f"{question.name!r} is drawn by another design than {stacked.name or 'that'} of {measure!r} "
                        "says: ask in each arm what its sample asks, or leave the design of the measure out"
                    )
            renamed |= zip(map(str, answer.space.labels), map(str, fielded.space.labels), strict=True)
        as_sent = relabeled(part, renamed).channel()  # the same responses
        parts[None if of_everybody else arm] = as_sent

    if not isinstance(stacked, Samples):
        return parts[None]
    if not stacked.structure.finer:  # responses that are called as categories are would rename these in one arm only
        of_arm = {arm: _sent_design(members[0]) for arm, members in asked.items()}
        return replace(designs.samples(of_arm), name=stacked.name, notes=stacked.notes)

    def of_cells(shares: Sequence[Share]) -> list[Share]:
        """Shares of cells under their new names: a cell that is called as a response was renamed with it."""
        renamed_cells = dict(zip(stacked.cells, next(iter(parts.values())).categories, strict=True))
        return [
            replace(share, of=tuple(map(renamed_cells.__getitem__, share.of)),
                    among=tuple(map(renamed_cells.__getitem__, share.among)))
            for share in shares
        ]  # fmt: skip

    return Samples.of(
        parts,
        shares=of_cells(stacked.shares),
        nuisance=of_cells(stacked.nuisance),
        measures_compliance=stacked.measures_compliance,
        name=stacked.name,
        notes=stacked.notes,
    )


def controlled(form: Questionnaire) -> dict[str, Asked]:
    """How each question that has controls is estimated with them, by the question's name.

    Where respondents choose levels, those of the question and of its controls are samples, beside the truths.

    Parameters
    ----------
    form : Questionnaire
    """
    controls: dict[str, list[Question]] = {}
    for question in form.asked:
        if question.control is not None:
            controls.setdefault(question.control.of, []).append(question)
    by_name = {question.name: question for question in form.asked}
    return {name: _controlled(by_name[name], asked) for name, asked in controls.items()}


def _controlled(question: Question, controls: Sequence[Question]) -> Asked:
    asked = [(part, part.privacy) for part in (question, *controls) if part.privacy is not None]
    level_columns = [f"{part.name}_level" for part, private in asked if private.levels != (None,)]
    truths, truth_columns = [], []
    for part, control in ((part, part.control) for part in controls if part.control is not None):
        truth = control.truth
        truths.append("lot" if truth.lot else "known" if truth.file else truth.category or dict(truth.shares))
        truth_columns += [truth_column(part.name)] if truth.lot else [truth.file] if truth.file else []
    people = [part.control.truth.people for part in controls if part.control is not None]
    surveys = []
    for level_channels in itertools.product(*(private.channels for _, private in asked)):
        first, *others = (channel for _, channel in level_channels)
        controls_differ = any(other != first for other in others)
        known_truth = truths[0] if len(truths) == 1 else truths
        survey = designs.controlled(
            first,
            truth=known_truth,
            control=others if controls_differ else None,
            people=people if any(people) else None,  # how many people the known shares rest on
        )
        surveys.append(([str(level) for level, _ in level_channels if level is not None], survey))
    survey = _over_levels(surveys) if len(surveys) > 1 else surveys[0][1]
    return Asked(survey, None, tuple(part.name for part in controls), (*level_columns, *truth_columns))


def _over_levels(surveys: Sequence[tuple[list[str], Samples]]) -> Samples:
    """The survey of all levels that people may have chosen: each choice, with each truth, is a sample."""
    parts = {
        "; ".join([*levels, *([] if truth is None else [str(truth)])]): part
        for levels, survey in surveys
        for truth, part in survey.parts.items()
    }
    level_names, at_levels = zip(*surveys, strict=True)
    return Samples.of(
        parts,
        shares=at_levels[0].shares,
        nuisance=at_levels[0].nuisance,
        measures_compliance=True,
        uncertain=tuple(
            _over_levels(list(zip(level_names, moved, strict=True)))
            for moved in zip(*(survey.uncertain for survey in at_levels), strict=True)
        ),
        name=at_levels[0].name,
    )


_RARE_SHARE = 0.1  # of the mean chance of an answer; one that is rarer if people comply as good as tells who does not


def can_fail(control: Question) -> bool:
    """Whether an answer to a control tells who did not comply: nobody who does can give it, or hardly anybody."""
    if control.control is None or control.privacy is None:
        return False
    known = truth_shares(control.control, control.categories)
    channels = [channel for _, channel in control.privacy.channels]
    return any(
        not channel.space.listable or any((channel.matrix @ truth <= _rare_chance(channel)).any() for truth in known)
        for channel in channels
    )


def violates(control: Question, response: str, level: str | None, truth: str | None) -> bool:
    """Whether nobody who follows the instruction can give this answer to a control, or hardly anybody does.

    Parameters
    ----------
    control : Question
    response : str
    level : str or None
        As they were sent.
    truth : str or None
        What lot has drawn or the file says; None where it is the same for all.
    """
    if control.control is None or control.privacy is None:
        return False
    known = truth_shares(control.control, control.categories)
    if len(known) > 1:
        if truth is None:
            return False
        known = [known[control.categories.index(truth)]]
    channel = dict(control.privacy.channels)[level]
    chances = channel.rows(channel.space.encode([response]))[0]
    return bool(float(chances @ known[0]) <= _rare_chance(channel))


def _rare_chance(channel: Design) -> float:
    """The largest chance of an answer that hardly anybody gives; 0 where answers are too many to list."""
    return _RARE_SHARE / len(channel.matrix) if channel.space.listable else 0.0


def _distance(cells: Floats, column: Floats) -> float:
    """How far a column is from all mixtures of these cells."""
    _, distance = scipy.optimize.nnls(np.vstack([cells, np.ones(cells.shape[1])]), np.append(column, 1))
    return float(distance)


RESERVED = {ARM: "the arm that lot has drawn"}
"""Columns of replies that no question may be called."""
