"""What of replies is counted, and the counts as answers to a survey, in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy import delete, func, insert, select

from naysay.collect.export import Columns, betrays
from naysay.collect.results.answered import COUNT, Answered, controls_of
from naysay.collect.storage import Replies, Store, replies, tables
from naysay.collect.storage.replies import Key, Row
from naysay.collect.survey import tallies
from naysay.collect.survey.published import Published
from naysay.files import Codebook

_RECOUNTED = 5_000  # replies in one transaction: a server that stores others waits for it
_MOST_GROUPS = 20  # answers of a question that makes groups
_MOST_BESIDE = 12  # questions that make groups: each costs as many tallies as there are questions


class _Spec(NamedTuple):
    """One tally: its name, whether it is by day, and the columns whose cells it counts."""

    question: str
    beside: str
    by_day: bool
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Counting:
    """What is counted of the replies to a survey.

    Parameters
    ----------
    published : Published
    """

    published: Published

    @cached_property
    def columns(self) -> Columns:
        """The columns of its export."""
        return Columns(self.published)

    @cached_property
    def specs(self) -> tuple[_Spec, ...]:
        """Its tallies: replies and levels by day, then each question by itself, and beside each that makes groups."""
        book, specs = self.columns.book, [_Spec("", "", by_day=True, columns=())]
        plain_book = Columns(self.published, controls=False).book  # with controls, a level is a sample
        level_columns = {
            listed_entry.asked.level
            for listed_entry in plain_book.entries
            if listed_entry.asked is not None and listed_entry.asked.level
        }
        specs += [
            _Spec(level_column, "", by_day=True, columns=(level_column,)) for level_column in sorted(level_columns)
        ]
        beside_columns = level_columns | controls_of(book)
        columns_by_name = {
            entry.column: (entry.column, *(() if entry.asked is None else entry.asked.columns))
            for entry in book.entries
            if entry.column not in beside_columns and (entry.asked is not None or entry.holds not in ("days", "texts"))
        }
        columns_by_name |= {
            f"{entry.column} {arm}": columns  # the answers of one person, together
            for entry in book.measures
            for arm, columns in (entry.asked.arms if entry.asked else {}).items()
            if len(columns) > 1
        }
        for name, spec_columns in columns_by_name.items():
            specs.append(_Spec(name, "", by_day=False, columns=spec_columns))
            specs += [
                _Spec(name, group_column, by_day=False, columns=(*spec_columns, group_column))
                for group_column in groupable(book)
                if group_column != name
            ]
        return tuple(specs)

    def count(self, rows: Sequence[Row]) -> Counter[Key]:
        """How many of these replies fall into each cell."""
        reply_frame = self.columns.table(Replies(self.published, rows))
        column_cells = {
            column_name: reply_frame[column_name].to_list()
            for column_name in reply_frame.columns
            if reply_frame.schema[column_name] != pl.Date
        }
        day_texts = [day.isoformat() for day, _ in rows]
        cell_counts: Counter[Key] = Counter()
        for spec in self.specs:
            spec_cells = [column_cells[column_name] for column_name in spec.columns]
            for (day, *cell), people in Counter(
                zip(day_texts if spec.by_day else ([""] * len(rows)), *spec_cells, strict=True)
            ).items():
                cell_counts[Key(spec.question, spec.beside, day, json.dumps(cell, ensure_ascii=False))] += people
        return cell_counts


def groupable(book: Codebook) -> list[str]:
    """The plain questions with one answer of a short list, whose answers make groups: the first dozen of them."""
    group_columns = [
        entry.column
        for entry in book.entries
        if entry.asked is None
        and (entry.holds, entry.column) == ("values", entry.question)
        and 2 <= len(entry.values) <= _MOST_GROUPS
    ]
    beside_columns = {entry.asked.level for entry in book.entries if entry.asked is not None} | controls_of(book)
    return [group_column for group_column in group_columns if group_column not in beside_columns][:_MOST_BESIDE]


@dataclass(frozen=True)
class Counted:
    """Tallies as the answers that they count.

    Parameters
    ----------
    counting : Counting
    counts : {Key: people}
    book : Codebook
        Its labels are the words of the answers.
    names : bool
        Whether answers are called by their names in the questionnaire.
    """

    counting: Counting
    counts: Mapping[Key, int]
    book: Codebook
    names: bool
    _frames: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict, repr=False)

    @property
    def replies(self) -> int:
        """How many people replied."""
        return sum(people for _, _, people in self._by_tally.get(("", ""), ()))

    @cached_property
    def _by_tally(self) -> dict[tuple[str, str], list[tuple[str, str, int]]]:
        people_by_tally: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
        for key, people in self.counts.items():
            if people:
                people_by_tally.setdefault((key.question, key.beside), []).append((key.day, key.cell, people))
        return people_by_tally

    def of(self, *columns: str) -> pl.DataFrame:
        """The distinct answers in these columns, in words, and how many people gave each.

        The columns are those of one tally, or some of them.
        """
        if columns not in self._frames:
            self._frames[columns] = self._of(columns)
        return self._frames[columns]

    def _of(self, columns: tuple[str, ...]) -> pl.DataFrame:
        tally_spec = next(
            candidate
            for candidate in self.counting.specs
            if set(columns) <= {*candidate.columns, *(["day"] if candidate.by_day else [])}
            and set(columns) - {*candidate.columns[1:]}
        )
        tally_rows = self._by_tally.get((tally_spec.question, tally_spec.beside), [])
        column_names = (*(["day"] if tally_spec.by_day else []), *tally_spec.columns, COUNT)
        cell_rows = [
            (*([day] if tally_spec.by_day else []), *json.loads(cell_text), people)
            for day, cell_text, people in tally_rows
        ]
        schema = {column_name: self._schema.get(column_name, pl.Int64) for column_name in column_names}
        cell_frame = pl.DataFrame(
            cell_rows, schema=schema | ({"day": pl.String} if tally_spec.by_day else {}), orient="row"
        )
        summed_frame = cell_frame.group_by(columns, maintain_order=True).agg(pl.col(COUNT).sum()).sort(columns)
        return self.book.read(summed_frame.lazy(), names=self.names).collect()

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return dict(self.counting.columns.table(Replies(self.counting.published, ())).schema)


def answered_of(
    counting: Counting,
    counts: Mapping[Key, int],
    *,
    language: str | None = None,
    names: bool = False,
    controls: bool = False,
) -> Answered:
    """Tallies of a survey, told in a language; with an open link, estimates say what repeated answers would do.

    Parameters
    ----------
    counting : Counting
    counts : {Key: people}
    language : str, optional
    names : bool
        Whether answers are called by their names in the questionnaire.
    controls : bool
        Whether answers to controls count, if they betray nobody: of a closed survey, and without groups. Otherwise two
        looks, or two groups, could be subtracted from each other until one person is left.
    """
    form, book = counting.published.questionnaire, counting.columns.book
    named = Counted(counting, counts, book, names=True)
    controls = controls and not any(
        betrays(form, entry, named.of(entry.column, *entry.asked.columns), count=COUNT)
        for entry in book.entries
        if entry.asked is not None and entry.asked.beside
    )
    book = Columns(counting.published, language=language, controls=controls).book
    cells = Counted(counting, counts, book, names)
    cautioned = partial(tallies.cautioned, invites=counting.published.key is not None)
    return Answered(book, cells, names, cautioned, groupable(book))


def current_counts(store: Store, published: Published, *, beside: Iterable[str] | None = None) -> Counter[Key]:
    """The tallies of a survey at this moment, the latest replies included."""
    with store.snapshot() as connection:
        tally_counts = replies.stored_counts(connection, published.name, beside=beside)
        fresh_rows = replies.uncounted_rows(connection, published.name)
    if fresh_rows:
        tally_counts.update(Counting(published).count(fresh_rows))
    return tally_counts


def folding(store: Store) -> Callable[[int], int]:
    """A function that counts at most so many new replies to all surveys, in one transaction, and tells how many."""
    countings: dict[str, Counting] = {}

    def count(survey: str, rows: Sequence[Row]) -> Mapping[Key, int]:
        survey_hash, _ = store.standing()[survey]
        if (
            survey not in countings or countings[survey].published.hash != survey_hash
        ):  # deleted, and opened with other questions
            countings[survey] = Counting(store.published(survey))
        return countings[survey].count(rows)

    def fold(most: int) -> int:
        with store.engine.begin() as connection:
            return replies.fold(connection, count, most=most)

    return fold


def differing(store: Store, survey: str) -> dict[Key, tuple[int, int]]:
    """Where the tallies of a survey differ from its replies: each cell with what is kept, and what is right."""
    counting = Counting(store.published(survey))
    with store.snapshot() as connection:
        tally_counts = replies.stored_counts(connection, survey, beside=None)
        tally_counts.update(counting.count(replies.uncounted_rows(connection, survey)))
        reply_counts: Counter[Key] = Counter()
        for reply_rows in replies.rows(connection, survey):
            reply_counts.update(counting.count(reply_rows))
    return {
        tally_key: (tally_counts[tally_key], reply_counts[tally_key])
        for tally_key in {*tally_counts, *reply_counts}
        if tally_counts[tally_key] != reply_counts[tally_key]
    }


def recount(store: Store, survey: str) -> int:
    """Count all replies to a survey anew; how many there are."""
    store.published(survey)
    with store.engine.begin() as connection:
        all_replies = select(tables.reply.c.survey, tables.reply.c.id).filter_by(survey=survey)
        connection.execute(all_replies.limit(1))  # replies are locked first: see `tables._SETTLE`
        for table in (tables.tally, tables.untallied):
            connection.execute(delete(table).filter_by(survey=survey))
        connection.execute(insert(tables.untallied).from_select(["survey", "id"], all_replies))
        count_query = select(func.count()).select_from(tables.untallied).filter_by(survey=survey)
        reply_count = int(connection.execute(count_query).scalar_one())
    fold = folding(store)
    while fold(_RECOUNTED):
        pass
    return reply_count
