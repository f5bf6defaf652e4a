"""A page of results that others may read: under a link that nobody guesses, made and revoked by the researcher.

What others may see: tallies that move only in steps of several people, so that two views tell nothing of a few.

A page that always showed the latest numbers would tell each answer to whoever looks before and after it. So a table is
shown, and moves, only by so many answers at once. All that can be added and subtracted from what was ever shown of a
question is then about no fewer people:

- A question's table moves when at least `least` more people have answered it, and when the survey as a whole has moved.
- Groups are those of one plain question. Which of them are shown is settled once; the others, taken together, are none
  or at least `least`. The table by groups moves together with the question's own, and only if each group and the
  others together have grown by nothing or by at least `least`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update

from naysay.collect.results.counting import Counting, answered_of, current_counts
from naysay.collect.results.fragments import control_notes, fragment
from naysay.collect.storage import Store, tables
from naysay.collect.storage.replies import Key
from naysay.errors import DataError
from naysay.show.result import template

__all__ = ["PATH", "Shared", "revoke", "share", "shared", "shared_page", "survey_of"]

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
    settings, link_secret = shared(store, name), secrets.token_urlsafe(_BYTES)
    if settings is None:
        fewest_answers = LEAST if least is None else least
        check(counting, by=by or "", least=fewest_answers)
        row = {
            "survey": name,
            "beside": by or "",
            "least": fewest_answers,
            "shown": stored_bytes({}),
            "link": _hash(link_secret),
        }
        with store.engine.begin() as connection:
            connection.execute(insert(tables.shared).values(**row))
        return f"{PATH}{link_secret}"
    if by != settings.by or (least or settings.least) != settings.least:
        groups = f"by {settings.by}" if settings.by else "without groups"
        raise DataError(
            f"the results of {name!r} were shared {groups} in steps of {settings.least}; leave it so, since whoever "
            "kept the old page could subtract it from another one"
        )
    check(counting, by=settings.by or "", least=settings.least)  # a restored backup may say anything
    _set_link(store, name, _hash(link_secret))
    return f"{PATH}{link_secret}"


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
    answered = answered_of(counting, public_counts(latest_counts), language=language)
    steps = f"Results appear from {settings.least} answers on, and change in steps of {settings.least} answers or more."
    facts = [(f"{answered.cells.replies:,}", "replies are shown here")]
    open_link = counting.published.key is None
    notes = [steps, *control_notes(counting.published.questionnaire, answered)]
    fragment_options = {"facts": facts, "notes": notes, "hidden": settings.least, "repeated": open_link, "level": 1}
    page_body = fragment(answered, by=settings.by, least=settings.least, **fragment_options)  # type: ignore[arg-type]
    page_title, page_language = answered.book.title, answered.book.language
    return template("naysay.collect.results", "shared.html", title=page_title, body=page_body, language=page_language)


def _latest(store: Store, counting: Counting) -> tuple[Counts, Shared]:
    """What is shown, after a step where there is enough for one; two servers that step at once show the same."""
    survey_name, columns = counting.published.name, tables.shared.c
    shown_query = select(columns.shown, columns.beside, columns.least).filter_by(survey=survey_name)
    with store.snapshot() as connection:
        row = connection.execute(shown_query).one()
    bytes_before, settings = bytes(row.shown), Shared(row.beside or None, int(row.least), linked=True)
    counts_now = current_counts(store, counting.published, beside=[settings.by] if settings.by else [])
    bytes_after = stored_bytes(
        released_counts(counting, read(bytes_before), counts_now, by=row.beside, least=settings.least)
    )
    if bytes_after != bytes_before:
        with store.engine.begin() as connection:
            step_update = (
                update(tables.shared)
                .where(columns.survey == survey_name, columns.shown == bytes_before)
                .values(shown=bytes_after)
            )
            if not connection.execute(step_update).rowcount:
                bytes_after = bytes(connection.execute(shown_query).one().shown)
    return read(bytes_after), settings


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


LEAST = 20
"""The fewest answers that are shown, and that a table moves by, unless the researcher asks for more."""

_FEWEST = 5
_OTHERS = "null"
"""The cell of a table by groups that counts everybody in groups that are not shown; no answer is written so."""

Counts = Mapping[Key, int]


def check(counting: Counting, *, by: str, least: int) -> None:
    """Raise unless results can be shared in this way."""
    if least < _FEWEST:
        raise DataError(f"results are shared in steps of {_FEWEST} people or more; got {least}")
    group_questions = {spec.beside for spec in counting.specs}
    if by not in group_questions:
        other_questions = ", ".join(sorted(group_questions - {""})) or "none in this survey"
        raise DataError(
            f"{by!r} is no plain question with one answer of a list; groups are made by: {other_questions}", column=by
        )


def released_counts(
    counting: Counting, shown_counts: Counts, latest_counts: Counts, *, by: str, least: int
) -> Counter[Key]:
    """What is shown from now on.

    Parameters
    ----------
    counting : Counting
    shown_counts : {Key: people}
        What was shown last; empty at first.
    latest_counts : {Key: people}
        The tallies of all replies.
    by : str
        The question that makes groups; empty for none.
    least : int
    """
    shown_tallies, latest_tallies = _by_tally(shown_counts), _by_tally(latest_counts)
    reply_count = sum(latest_tallies.get(("", ""), {}).values())
    if reply_count - sum(shown_tallies.get(("", ""), {}).values()) < least:
        return Counter(shown_counts)
    next_counts: Counter[Key] = Counter({Key("", "", "", "[]"): reply_count})
    for spec in counting.specs:
        if spec.by_day or spec.beside:
            continue
        tally_name = (spec.question, "")
        moves_enough = (
            _answers(latest_tallies.get(tally_name, {})) - _answers(shown_tallies.get(tally_name, {})) >= least
        )
        next_counts.update(
            _keyed_counts(tally_name, (latest_tallies if moves_enough else shown_tallies).get(tally_name, {}))
        )
        if by and by != spec.question:
            group_tally_name = (spec.question, by)
            shown_cells, latest_cells = (
                shown_tallies.get(group_tally_name, {}),
                _answered_cells(latest_tallies.get(group_tally_name, {})),
            )
            next_cells = _grouped_cells(latest_cells, _groups(shown_cells) or _first(latest_cells, counting, by, least))
            next_counts.update(
                _keyed_counts(
                    group_tally_name,
                    next_cells if moves_enough and _moved_enough(shown_cells, next_cells, least) else shown_cells,
                )
            )
    return next_counts


def _by_tally(counts: Counts) -> dict[tuple[str, str], dict[str, int]]:
    cells_by_tally: dict[tuple[str, str], dict[str, int]] = {}
    for key, people in counts.items():
        tally_cells = cells_by_tally.setdefault((key.question, key.beside), {})
        tally_cells[key.cell] = tally_cells.get(key.cell, 0) + people  # replies are counted by day
    return cells_by_tally


def _keyed_counts(tally: tuple[str, str], cells: Mapping[str, int]) -> dict[Key, int]:
    return {Key(*tally, "", cell): people for cell, people in cells.items()}


def _answered_cells(cells: Mapping[str, int]) -> dict[str, int]:
    """The cells of those who answered."""
    return {cell: people for cell, people in cells.items() if json.loads(cell)[0] is not None}


def _answers(cells: Mapping[str, int]) -> int:
    return sum(_answered_cells(cells).values())


def _group(cell: str) -> Any:
    return json.loads(cell)[-1]


def _groups(cells: Mapping[str, int]) -> set[Any]:
    """The groups that are shown."""
    return {_group(cell) for cell in cells if cell != _OTHERS}


def _grouped_cells(cells: Mapping[str, int], groups: set[Any]) -> dict[str, int]:
    """The cells of these groups, and how many people are in the others together."""
    group_cells = {cell: people for cell, people in cells.items() if _group(cell) in groups}
    return group_cells | {_OTHERS: sum(cells.values()) - sum(group_cells.values())} if groups else {}


def _sizes(cells: Mapping[str, int]) -> Counter[Any]:
    group_sizes: Counter[Any] = Counter()
    for cell, people in cells.items():
        group_sizes[cell if cell == _OTHERS else _group(cell)] += people
    return group_sizes


def _first(cells: Mapping[str, int], counting: Counting, by: str, least: int) -> set[Any]:
    """The groups to show from now on: those that are large enough, once every group had time to become so."""
    group_sizes = _sizes(cells)
    if sum(group_sizes.values()) < least * len(counting.columns.book.columns[by].values):
        return set()
    large_groups = {group for group, people in group_sizes.items() if people >= least and group is not None}
    return large_groups if len(large_groups) > 1 else set()


def _moved_enough(before_cells: Mapping[str, int], after_cells: Mapping[str, int], least: int) -> bool:
    """Whether each group that is shown, and the others together, have grown by nothing or by enough."""
    sizes_before, sizes_after = _sizes(before_cells), _sizes(after_cells)
    return bool(after_cells) and all(
        sizes_after[part] == sizes_before[part] or sizes_after[part] - sizes_before[part] >= least
        for part in sizes_after
    )


def stored_bytes(counts: Counts) -> bytes:
    """Tallies as they are stored; the same tallies are the same bytes."""
    return json.dumps([[*key, people] for key, people in sorted(counts.items())], ensure_ascii=False).encode()


def public_counts(shown_counts: Counts) -> Counter[Key]:
    """What is shown, without what is only remembered to judge the next step."""
    return Counter({key: people for key, people in shown_counts.items() if key.cell != _OTHERS})


def read(content: bytes) -> Counter[Key]:
    """Tallies that were stored."""
    return Counter({Key(*key): people for *key, people in json.loads(content)})
