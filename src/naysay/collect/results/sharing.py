"""A page of results that others may read: under a link that nobody guesses, made and revoked by the researcher."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from sqlalchemy import insert, select, update

from naysay.collect.results import releasing
from naysay.collect.results.counting import Counting, answered_of, current_counts
from naysay.collect.results.fragments import fragment
from naysay.collect.storage import Store, tables
from naysay.errors import DataError
from naysay.show.html import template

PATH = "/results/"
"""Where shared pages are; the secret part of the link follows."""

_BYTES = 24  # of the secret part


@dataclass(frozen=True)
class Shared:
    """How a survey's results are shared: in which steps, by which groups, and whether a link to them is valid."""

    by: str | None
    least: int
    linked: bool


def share(store: Store, name: str, *, by: str | None = None, least: int | None = None) -> str:
    """A new link to the results of a survey, as the path on its server. A link that was made before ends.

    Parameters
    ----------
    store : Store
    name : str
    by : str, optional
        A plain question whose answers make groups.
    least : int, optional
        The fewest answers that are shown, and that a table moves by: 20, or what was said when it was first shared.

    Raises
    ------
    DataError
        No such survey or question; or the results were shared in another way before. Then both could be subtracted
        from each other.
    """
    counting = Counting(store.published(name))
    settings, secret = shared(store, name), secrets.token_urlsafe(_BYTES)
    if settings is None:
        fewest = releasing.LEAST if least is None else least
        releasing.check(counting, by=by or "", least=fewest)
        row = {
            "survey": name,
            "beside": by or "",
            "least": fewest,
            "shown": releasing.stored_bytes({}),
            "link": _hash(secret),
        }
        with store.engine.begin() as connection:
            connection.execute(insert(tables.shared).values(**row))
        return f"{PATH}{secret}"
    if by != settings.by or (least or settings.least) != settings.least:
        groups = f"by {settings.by}" if settings.by else "without groups"
        raise DataError(
            f"the results of {name!r} were shared {groups} in steps of {settings.least}; leave it so, since whoever "
            "kept the old page could subtract it from another one"
        )
    releasing.check(counting, by=settings.by or "", least=settings.least)  # a restored backup may say anything
    _set_link(store, name, _hash(secret))
    return f"{PATH}{secret}"


def revoke(store: Store, name: str) -> None:
    """End the link to the results of a survey. What was shown is remembered, so that a later link shows no less.

    Raises
    ------
    DataError
        There is no link.
    """
    settings = shared(store, name)
    if settings is None or not settings.linked:
        raise DataError(f"there is no link to the results of {name!r}; naysay survey share {name} makes one")
    _set_link(store, name, None)


def _set_link(store: Store, name: str, link: str | None) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(tables.shared).filter_by(survey=name).values(link=link))


def shared(store: Store, name: str) -> Shared | None:
    """How the results of a survey are shared; None where they never were."""
    columns = tables.shared.c
    with store.snapshot() as connection:
        row = connection.execute(select(columns.beside, columns.least, columns.link).filter_by(survey=name)).first()
    return None if row is None else Shared(row.beside or None, int(row.least), row.link is not None)


def survey_of(store: Store, secret: str) -> str | None:
    """The survey whose results a link shows; None where the link is wrong or revoked."""
    with store.snapshot() as connection:
        survey_name = connection.execute(select(tables.shared.c.survey).filter_by(link=_hash(secret))).scalar()
    return None if survey_name is None else str(survey_name)


def shared_page(store: Store, name: str, *, language: str | None = None) -> str:
    """The page that others may read, in its latest step.

    Parameters
    ----------
    store : Store
    name : str
        A survey whose results are shared.
    language : str, optional
        Of questions and answers; another than the questionnaire has is passed over.
    """
    counting = Counting(store.published(name))
    latest_counts, settings = _latest(store, counting)
    if language not in counting.published.questionnaire.languages:
        language = None
    answered = answered_of(counting, releasing.public_counts(latest_counts), language=language)
    steps = f"Results appear from {settings.least} answers on, and change in steps of {settings.least} answers or more."
    facts = [(f"{answered.cells.replies:,}", "replies are shown here")]
    open_link = counting.published.key is None
    fragment_options = {"facts": facts, "notes": [steps], "hidden": settings.least, "repeated": open_link, "level": 1}
    body = fragment(answered, by=settings.by, least=settings.least, **fragment_options)  # type: ignore[arg-type]
    title, page_language = answered.book.title, answered.book.language
    return template("naysay.collect.results", "shared.html", title=title, body=body, language=page_language)


def _latest(store: Store, counting: Counting) -> tuple[releasing.Counts, Shared]:
    """What is shown, after a step where there is enough for one; two servers that step at once show the same."""
    name, columns = counting.published.name, tables.shared.c
    query = select(columns.shown, columns.beside, columns.least).filter_by(survey=name)
    with store.snapshot() as connection:
        row = connection.execute(query).one()
    before, settings = bytes(row.shown), Shared(row.beside or None, int(row.least), linked=True)
    counts_now = current_counts(store, counting.published, beside=[settings.by] if settings.by else [])
    after = releasing.stored_bytes(
        releasing.released_counts(counting, releasing.read(before), counts_now, by=row.beside, least=settings.least)
    )
    if after != before:
        with store.engine.begin() as connection:
            step_update = (
                update(tables.shared).where(columns.survey == name, columns.shown == before).values(shown=after)
            )
            if not connection.execute(step_update).rowcount:
                after = bytes(connection.execute(query).one().shown)
    return releasing.read(after), settings


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
