"""Drafts: questionnaires that were checked and are not open yet. Until they are, they can be replaced."""

from __future__ import annotations

import contextlib
import datetime
import json
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy import Row, delete, insert, select, update

from naysay.collect.client import FOLDER, Client
from naysay.collect.questionnaire import Questionnaire, QuestionnaireError, of_form
from naysay.collect.storage import Store, today
from naysay.collect.storage.tables import draft as table
from naysay.collect.storage.tables import plan
from naysay.collect.survey.published import Published
from naysay.errors import DataError


@dataclass(frozen=True)
class Draft:
    """A questionnaire that is not open yet.

    Parameters
    ----------
    name : str
        That the survey will have in links.
    key : str
        The random key of its preview.
    made : date
        The day on which it came.
    content : bytes
        The questionnaire as canonical JSON.
    """

    name: str
    key: str
    made: datetime.date
    content: bytes

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """What it asks.

        Raises
        ------
        QuestionnaireError
            This version of naysay has a rule that it breaks; the draft came from an earlier one.
        """
        examined = of_form(json.loads(self.content))
        if examined.questionnaire is None:
            raise QuestionnaireError(self.name, examined.problems)
        return examined.questionnaire


def keep(store: Store, questionnaire: Questionnaire) -> Draft:
    """Keep a questionnaire as a draft, in the place of an earlier draft of its name.

    Where the earlier draft asked something else, its first day of answers is struck out: whoever set it had agreed to
    open another questionnaire.

    Raises
    ------
    DataError
        A survey of this name is there already.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> store = Store("sqlite://")
    >>> keep(store, sample()).name, [draft.name for draft in listed(store)]
    ('sample', ['sample'])
    >>> store.dispose()
    """
    name = questionnaire.name
    if name in store.standing():
        raise DataError(
            f"there is a survey {name!r} already, and what it asks does not change; give the questionnaire another "
            f"name, such as {name}-2"
        )
    draft_row = {"name": name, "key": secrets.token_hex(16), "content": questionnaire.to_json(), "made": today()}
    with store.engine.begin() as connection:
        earlier_content = connection.execute(select(table.c.content).filter_by(name=name)).scalar()
        if earlier_content is None or bytes(earlier_content) != draft_row["content"]:
            connection.execute(update(plan).filter_by(survey=name).values(opens=None))
        connection.execute(delete(table).filter_by(name=name))
        connection.execute(insert(table).values(**draft_row))
    return find(store, name)


def find(store: Store, name: str) -> Draft:
    """The draft of a name.

    Raises
    ------
    DataError
        There is none.
    """
    with store.reading() as connection:
        draft_row = connection.execute(select(table).filter_by(name=name)).first()
    if draft_row is None:
        raise DataError(f"there is no draft {name!r}")
    return _draft(draft_row)


def with_key(store: Store, key: str) -> Draft | None:
    """The draft whose preview has this key."""
    with store.reading() as connection:
        draft_row = connection.execute(select(table).filter_by(key=key)).first()
    return None if draft_row is None else _draft(draft_row)


def listed(store: Store) -> tuple[Draft, ...]:
    """All drafts by name."""
    with store.reading() as connection:
        return tuple(map(_draft, connection.execute(select(table).order_by(table.c.name))))


def discard(store: Store, name: str) -> None:
    """Delete a draft, and its dates with it.

    Raises
    ------
    DataError
        There is no draft of this name.
    """
    with store.engine.begin() as connection:
        deleted_rows = connection.execute(delete(table).filter_by(name=name)).rowcount
        connection.execute(delete(plan).filter_by(survey=name))
    if not deleted_rows:
        raise DataError(f"there is no draft {name!r}")


def is_plain(questionnaire: Questionnaire) -> bool:
    """Whether no question is private, so that opening it needs somebody who agrees."""
    return all(question.privacy is None for question in questionnaire.questions)


def strike_out(store: Store) -> tuple[str, ...]:
    """Strike out the first day of each draft without a private question; the names of those that had one.

    A draft of a backup opens by itself on that day, and who agreed to it cannot be known: the file may be somebody
    else's.
    """
    plain_names = []
    for draft in listed(store):
        with contextlib.suppress(QuestionnaireError):  # such a draft does not open
            plain_names += [draft.name] if is_plain(draft.questionnaire) else []
    is_dated = plan.c.survey.in_(plain_names) & plan.c.opens.is_not(None)
    with store.engine.begin() as connection:
        dated_names = connection.execute(select(plan.c.survey).where(is_dated).order_by(plan.c.survey)).scalars().all()
        connection.execute(update(plan).where(is_dated).values(opens=None))
    return tuple(dated_names)


def publish(store: Store, name: str, *, client: Client | Path = FOLDER) -> Published:
    """Open the survey of a draft: from then on it does not change.

    Raises
    ------
    DataError
        There is no draft of this name, or a survey of this name asks something else.
    """
    published = Published.of(find(store, name).questionnaire, client=client)
    store.open(published)
    with store.engine.begin() as connection:
        connection.execute(delete(table).filter_by(name=name))
    return published


def copied(store: Store, name: str, new: str) -> Questionnaire:
    """The questionnaire of a survey or draft under another name, for a next wave.

    Raises
    ------
    DataError
        There is nothing of this name; or the new one cannot be the name of a survey; or this version of naysay has a
        rule that the questionnaire breaks.
    """
    is_survey = name in store.standing()
    source_questionnaire = store.published(name).questionnaire if is_survey else find(store, name).questionnaire
    examined = of_form({**source_questionnaire.form(), "name": new})
    if examined.questionnaire is None:
        first_error = examined.errors[0]
        raise DataError(f"{new!r} cannot be fielded: {first_error.message} ({first_error.way_out})")
    return examined.questionnaire


def _draft(row: Row[*tuple[object, ...]]) -> Draft:
    return Draft(row.name, row.key, row.made, bytes(row.content))
