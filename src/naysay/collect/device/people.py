"""Respondents and their true answers: from a table with one row for each respondent, or at random.

From true answers to what is sent: which questions are asked, and one draw for each private answer.
"""

from __future__ import annotations

import datetime
import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naysay import _checks
from naysay.collect.questionnaire import Answer, Expression, Private, Question, Questionnaire, Sent, evaluate, truth
from naysay.collect.questionnaire.kinds import Lot
from naysay.collect.questionnaire.questionnaire import nodes, truth_column
from naysay.collect.questionnaire.questions import described
from naysay.collect.survey.submission import Conditions, response_of
from naysay.design.drawing import lots, system
from naysay.errors import DataError
from naysay.responses import cells_of

_LEVEL = "_level"
_TRIES = 500  # draws of one plain answer until its constraint holds


@dataclass(frozen=True)
class People:
    """What n people would answer: true answers, which never leave the device.

    Parameters
    ----------
    size : int
        n.
    answers : {question: (n,) list}
        In the form that the page knows: private numbers as their bins; None where there is no answer.
    levels : {question: (n,) list of str}
        The levels that they choose, for every private question that offers levels.
    places : (n,) sequence of int
        Their places among all respondents, for messages and for what a device keeps.

    Examples
    --------
    >>> from naysay.collect.respond import checked
    >>> from naysay.collect.questionnaire import sample
    >>> checked(sample(), {"age": [30, 44]}).size
    2
    """

    size: int
    answers: Mapping[str, list[Any]]
    levels: Mapping[str, list[str]]
    places: Sequence[int]

    def __repr__(self) -> str:
        return f"<People: {self.size:,}>"

    def column(self, question: str) -> list[Any]:
        """The answers to one question."""
        return self.answers.get(question, [None] * self.size)

    def take(self, rows: Sequence[int]) -> People:
        """The people in these rows."""
        answers = {question_name: [column[row] for row in rows] for question_name, column in self.answers.items()}
        chosen_levels = {question_name: [column[row] for row in rows] for question_name, column in self.levels.items()}
        return People(len(rows), answers, chosen_levels, [self.places[row] for row in rows])


def checked(
    questionnaire: Questionnaire, columns: Mapping[str, object], *, levels: Mapping[str, str] | None = None
) -> People:
    """The people of a table, with every cell checked as the page would check it.

    Parameters
    ----------
    questionnaire : Questionnaire
    columns : {column: (n,) sequence}
        By question: names of choices, ``a;b`` or lists for several choices and rankings, numbers, days, texts, or
        texts of these. A control without an answer is answered as its respondent is told. A grid is ``question/row``; a
        select multiple may be ``question/choice`` with yes or no. ``question_level`` chooses levels. If a question has
        no column, nobody answers it.
    levels : {question: level}, optional
        Everybody's level, for questions without a column of levels. Respondents without a level answer at the one at
        which the page begins (see `Private`).

    Raises
    ------
    DataError
        A column belongs to no question, or a cell cannot be an answer. The message names row and column, never the
        value.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> people = checked(sample(), {"age": ["30", "41"], "news": ["net;paper", None], "rent": [250, 800]})
    >>> people.column("news"), people.column("rent")
    ([['paper', 'net'], None], ['below_400', 'from_800'])
    """
    cells = {column_name: list(cells_of(column)) for column_name, column in columns.items()}
    person_count = len(next(iter(cells.values()), ()))
    if any(len(column) != person_count for column in cells.values()):
        raise DataError("all columns must be equally long, a row for each respondent")
    if not person_count:
        raise DataError("there is nobody to answer; give a column for at least one question")
    questions_by_name = {question.name: question for question in questionnaire.questions}
    column_roles = {column_name: _role(column_name, questions_by_name) for column_name in cells}
    answers = {question.name: _answers(question, cells, column_roles) for question in questions_by_name.values()}
    chosen_levels = _levels(questions_by_name, cells, column_roles, levels or {}, person_count)
    return People(
        person_count,
        {question_name: column for question_name, column in answers.items() if column},
        chosen_levels,
        range(person_count),
    )


def _role(name: str, questions: Mapping[str, Question]) -> tuple[str, str]:
    """The question that a column belongs to, and its role: the answer, its level, or a part."""
    if isinstance(questions.get(name), Lot):
        raise DataError(f"column {name!r} is drawn by lot on each device; leave it out", column=name)
    if name in questions:
        return name, ""
    question_name, _, part_name = name.partition("/")
    if question_name in questions and part_name in questions[question_name].parts:
        return question_name, part_name
    question_name = name.removesuffix(_LEVEL)
    if name.endswith(_LEVEL) and question_name in questions and questions[question_name].privacy is not None:
        return question_name, _LEVEL
    column_names = [
        *questions,
        *(
            f"{known_question.name}/{part_name}"
            for known_question in questions.values()
            for part_name in known_question.parts
        ),
    ]
    raise DataError(
        f"column {name!r} belongs to no question ({_checks.nearest(name, column_names)}); rename it, or leave it out",
        column=name,
    )


def _answers(
    question: Question, cells: Mapping[str, Sequence[object]], roles: Mapping[str, tuple[str, str]]
) -> list[Any]:
    """The answers to one question, from its columns; all None where it has no column."""
    column_of_role = {
        role: column_name
        for column_name, (question_name, role) in roles.items()
        if question_name == question.name and role != _LEVEL
    }
    if "" in column_of_role and len(column_of_role) > 1:
        raise DataError(f"question {question.name!r} has a column of its own and columns of its parts; leave one out")
    cell_reader = reader_of(question)
    if "" in column_of_role:
        return [
            _read_cell(cell_reader, cell, row_number, column_of_role[""])
            for row_number, cell in enumerate(cells[column_of_role[""]])
        ]
    part_rows = zip(*(cells[column_name] for column_name in column_of_role.values()), strict=True)
    columns_text = f"{question.name}/…"
    return [
        _read_cell(cell_reader, dict(zip(column_of_role, row_cells, strict=True)), place, columns_text)
        for place, row_cells in enumerate(part_rows)
    ]


def _read_cell(reader: Callable[[object], object], cell: object, row: int, column: str) -> Any:
    try:
        return reader(cell)
    except DataError as error:
        problem_text = f"row {row + 1}, column {column!r} {error}; correct the cell, or empty it to give no answer"
        raise DataError(problem_text, row=row, column=column) from None


def _levels(
    questions: Mapping[str, Question],
    cells: Mapping[str, Sequence[object]],
    roles: Mapping[str, tuple[str, str]],
    fixed: Mapping[str, str],
    size: int,
) -> dict[str, list[str]]:
    chosen_levels = {}
    for column_name, (question_name, role) in roles.items():
        if role != _LEVEL:
            continue
        if question_name in fixed:
            raise DataError(
                f"the level of {question_name!r} is given twice: by column {column_name!r}, and for everybody"
            )
        offered_levels = _offered_levels(questions[question_name])
        chosen_levels[question_name] = [
            offered_levels[0]
            if _checks.is_missing(cell)
            else _level(cell, offered_levels, f"row {row_number + 1}, column {column_name!r}")
            for row_number, cell in enumerate(cells[column_name])
        ]
    for question_name, fixed_level in fixed.items():
        if question_name not in questions:
            raise DataError(f"there is no question {question_name!r} ({_checks.nearest(question_name, questions)})")
        chosen_levels[question_name] = [
            _level(fixed_level, _offered_levels(questions[question_name]), f"the level of {question_name!r}")
        ] * size
    return {
        offering_question: [level_choices[0]] * size
        for offering_question, level_choices in offers(questions.values()).items()
    } | chosen_levels


def reader_of(question: Question) -> Callable[[Any], Any]:
    """The function that reads the cells of a question; it gives None where a cell is empty.

    A private answer becomes its category (of numbers the bin), or the names of the choices that apply. An error message
    is the rest of a sentence that begins with row and column. It says what must hold and what kind of value stands
    there, never the value itself: that may be a true answer to a private question.

    Examples
    --------
    >>> from naysay.collect.questionnaire import Rating
    >>> read = reader_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> read("4"), read("")
    (4, None)
    >>> read("bad")
    Traceback (most recent call last):
        ...
    naysay.errors.DataError: must be a whole number from 1 to 5; it is a text
    """
    is_private = question.privacy is not None

    def read_cell(cell: object) -> Any:
        if cell is None or (isinstance(cell, str | float) and _checks.is_missing(cell)):
            return None
        value = question.value_of(cell)
        if value is None:
            return None
        problem_text = question.complaint(value) or (question.uncategorized(value) if is_private else None)
        if problem_text is not None:
            raise DataError(f"{problem_text}; it is {described(cell)}")
        return question.category_of(value) if is_private and not question.parts else value

    return read_cell


def offers(questions: Iterable[Question]) -> dict[str, tuple[str, ...]]:
    """The levels of every question that offers some, first the one at which the page begins."""
    levels_by_name = {}
    for question in questions:
        private = question.privacy
        if private is not None and private.levels != (None,):
            by_hand_last = sorted(filter(None, private.levels), key=private.by_hand.__contains__)
            levels_by_name[question.name] = tuple(sorted(by_hand_last, key=lambda level: level != private.begins_at))
    return levels_by_name


def _offered_levels(question: Question) -> tuple[str, ...]:
    levels_of = offers([question])
    if not levels_of:
        raise DataError(f"question {question.name!r} offers no levels; leave its level out")
    return levels_of[question.name]


def _level(cell: object, offered: Iterable[str], where: str) -> str:
    # files turn a column of 1 and 2 into numbers
    level_name = str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()
    if level_name not in offered:
        raise DataError(f"{where} must be a level that is offered; {_checks.nearest(level_name, offered)}")
    return level_name


def anybody(questionnaire: Questionnaire, size: int, *, seed: int | None = None) -> People:
    """People with random answers at random levels: every plain answer within its limits, every category alike.

    An answer is drawn again until it meets its constraint. A question whose constraint is not met by then is left out,
    if that is allowed.

    Parameters
    ----------
    questionnaire : Questionnaire
    size : int
        How many.
    seed : int, optional
        Gives the same people again. What they send is still drawn by the operating system's randomness.

    Raises
    ------
    DataError
        A required question whose constraint no random answer met.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> people = anybody(sample(), 3, seed=1)
    >>> people.size, all(18 <= age <= 120 for age in people.column("age"))
    (3, True)
    """
    if size < 1:
        raise DataError(f"there must be one respondent or more; got {size}")
    rng = np.random.default_rng(seed)
    people_answers = [_person(questionnaire, rng) for _ in range(size)]
    cell_readers = {question.name: reader_of(question) for question in questionnaire.asked}
    answers = {
        question_name: [reader(person_answers[question_name]) for person_answers in people_answers]
        for question_name, reader in cell_readers.items()
    }
    chosen_levels = {
        question_name: rng.choice(level_names, size).tolist()
        for question_name, level_names in offers(questionnaire.questions).items()
    }
    return People(size, answers, chosen_levels, range(size))


def _person(questionnaire: Questionnaire, rng: np.random.Generator) -> dict[str, Any]:
    """One person's answers to all questions; which of them are asked depends on what will be sent."""
    answers: dict[str, Any] = {}
    for question in questionnaire.asked:
        random_answers = (question.draw(rng) for _ in range(_TRIES))
        answers[question.name] = next(
            (random_answer for random_answer in random_answers if _fits(question, random_answer, answers)), None
        )
        if answers[question.name] is None and question.required:
            raise DataError(
                f"no random answer to {question.name!r} met its constraint in {_TRIES} tries; "
                "give answers in a file instead"
            )
    return answers


def _fits(question: Question, value: object, answers: Mapping[str, object]) -> bool:
    """Whether a plain answer meets the constraint of its question, given the answers before it."""
    if question.constraint is None or question.privacy is not None:
        return True
    today = datetime.datetime.now().astimezone().date()
    with_own = {**answers, ".": value}
    return truth(evaluate(question.constraint.expression, with_own, today=today.isoformat()))


@dataclass(frozen=True)
class DrawnReplies:
    """What n people send.

    Parameters
    ----------
    answers : (n,) list of {question: answer}
        Every question in order; null where it was not asked or left out.
    unasked : int
        How many answers people had to questions that they were not asked.
    """

    answers: list[dict[str, Any]]
    unasked: int


@dataclass
class _Device:
    """One respondent's device while they answer: what will be sent, and what conditions read of it."""

    reply: dict[str, Any] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)
    responses: dict[str, Any] = field(default_factory=dict)

    def holds(self, conditions: Sequence[Expression], today: str) -> bool:
        return all(truth(evaluate(condition, self.plain, sent=self.responses, today=today)) for condition in conditions)

    def answer(self, question: Question, answer: object) -> None:
        self.reply[question.name] = answer
        visible_answers = self.plain if question.privacy is None else self.responses
        visible_answers[question.name] = answer if question.privacy is None else response_of(question, answer)


def draw_replies(questionnaire: Questionnaire, people: People, *, today: datetime.date | None = None) -> DrawnReplies:
    """What these people send: plain answers as they are, private ones drawn by the operating system's randomness.

    Questions are asked under the conditions of the respondent's page; an answer to a question that is not asked is not
    sent.

    Parameters
    ----------
    questionnaire : Questionnaire
    people : People
        What they would answer, and at which level; checked before.
    today : date, optional
        For conditions; that of this computer by default.

    Raises
    ------
    DataError
        A required question has no answer, or an answer breaks its constraint; the message names the row and the
        question.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> from naysay.collect.device.people import checked
    >>> people = checked(sample(), {"age": [30], "smoking": ["yes"]})
    >>> answers = draw_replies(sample(), people).answers[0]
    >>> answers["age"], answers["smoking"]["response"] in ("yes", "no"), answers["area"]
    (30, True, None)
    """
    day = today or datetime.datetime.now().astimezone().date()
    devices = [_Device() for _ in range(people.size)]
    lot_answers: dict[str, list[Any]] = {}
    unasked_count = 0
    for question, conditions in _in_order_of_reference(questionnaire):
        true_answers = people.column(question.name)
        is_asked = [device.holds(conditions, day.isoformat()) for device in devices]
        if isinstance(question, Lot):
            drawn_places = lots(question.weights, people.size, system).tolist()
            true_answers = lot_answers[question.name] = [question.names[place] for place in drawn_places]
        elif question.control is not None:  # whoever says nothing else does as they are told
            told = lot_answers.get(truth_column(question.name), [question.control.truth.category] * people.size)
            true_answers = [told[row] if answer is None else answer for row, answer in enumerate(true_answers)]
        asked_answers = [true_answer if ask else None for ask, true_answer in zip(is_asked, true_answers, strict=True)]
        if not isinstance(question, Lot) and question.control is None:
            unasked_count += asked_answers.count(None) - true_answers.count(None)
        chosen_levels: Sequence[str | None] = people.levels.get(question.name) or [None] * people.size
        for device, drawn_answer in zip(devices, _draw_responses(question, asked_answers, chosen_levels), strict=True):
            device.answer(question, drawn_answer)
    answers = [
        {ordered_question.name: device.reply[ordered_question.name] for ordered_question in questionnaire.questions}
        for device in devices
    ]
    rules = Conditions(questionnaire)
    for person_index, reply in enumerate(answers):
        problem_text = rules.complaint(reply, today=day)
        if problem_text is not None:
            row_place = people.places[person_index]
            raise DataError(f"row {row_place + 1}: {problem_text}; correct the row, or leave it out", row=row_place)
    return DrawnReplies(answers, unasked_count)


def _draw_responses(question: Question, values: Sequence[object], levels: Sequence[str | None]) -> Sequence[object]:
    """What is sent for the answers to one question; all are drawn in one call, each independently."""
    if question.privacy is None:
        return values
    if not question.parts:
        return _draw_column(question.privacy, values, levels)
    true_categories = [None if value is None else question.category_of(value) for value in values]
    part_columns = [
        _draw_column(question.privacy, [categories and categories[part] for categories in true_categories], levels)
        for part in question.parts
    ]
    part_rows = zip(*part_columns, strict=True)
    return [None if None in row_parts else dict(zip(question.parts, row_parts, strict=True)) for row_parts in part_rows]


def _draw_column(
    private: Private, truths: Sequence[object], levels: Sequence[str | None]
) -> list[dict[str, Any] | None]:
    """One draw for each answer; `randomize` without a generator takes the operating system's randomness."""
    private_answers: list[dict[str, str | None] | None] = [None] * len(truths)
    for level, channel in zip(private.levels, private.offer.parts.values(), strict=True):
        level_rows = [
            row for row, chosen_level in enumerate(levels) if chosen_level == level and truths[row] is not None
        ]
        responses = channel.randomize([truths[row] for row in level_rows]).texts() if level_rows else ()
        for row, response in zip(level_rows, responses, strict=True):
            private_answers[row] = {"level": level, "response": response}
    return private_answers


def _in_order_of_reference(questionnaire: Questionnaire) -> list[tuple[Question, Sequence[Expression]]]:
    """Each question with its conditions, after all questions that these refer to."""
    questions_by_name = {
        question.name: (question, conditions) for question, conditions in questionnaire.questions_with_conditions
    }
    needed_names = {
        question_name: [
            *(node.of for condition in conditions for node in nodes(condition) if isinstance(node, Answer | Sent)),
            *([truth_column(question_name)] if question.control is not None else []),
        ]
        for question_name, (question, conditions) in questions_by_name.items()
    }
    try:
        name_order = graphlib.TopologicalSorter(needed_names).static_order()
        return [
            questions_by_name[ordered_name] for ordered_name in name_order if ordered_name in questions_by_name
        ]  # a condition may also name something that is no question
    except graphlib.CycleError:
        raise DataError("some questions are asked under conditions on one another, in a circle") from None
