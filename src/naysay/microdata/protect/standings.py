"""The risk of a release on one set of keys: who reads alike, and how often an intruder is right, before and after.

Beside it stands the price: answers of the original that are empty in the release, or differ in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, files
from naysay._values import JsonObject
from naysay.errors import DataError
from naysay.microdata.attack.linkage import nearest
from naysay.microdata.attack.register import Register, Share, frame_of, share_of
from naysay.microdata.keys.codes import texts_of_values
from naysay.microdata.protect.clues import ROW_ORDER, Hints, ceiling, weighing
from naysay.microdata.protect.method import Random, alike, texts
from naysay.microdata.protect.plan import Guarantee, Plan
from naysay.microdata.protect.target import unmet
from naysay.microdata.risk.intruders import InformedIntruder, informed
from naysay.show import Content, Note, Sentence
from naysay.show.result import DASH, grid, share

_FEWEST_TRIED, _MOST_TRIED = 50, 1_000
_DISTANCES = 200_000_000  # between people and records, key by key: a few seconds


_MEASURED = (
    "The informed intruder knows that a person is in the file, and all keys of that person, and takes a record that "
    "fits. An intruder who repeats the steps also knows everybody else's keys, and so which records are left for "
    "which people, with what other columns were seen to tell for sure. An intruder who weighs takes the likeliest "
    "record by how columns, alone and in pairs, go together with keys in the original. That is measured, not proved: "
    "a better model may find more."
)
_BOUND = (
    "The last line is proved. An intruder without the log, who knows of people no more than what the file holds of "
    "these keys, finds no more on average, however exactly they know which keys go with which other columns. An "
    "intruder who knows another column of a person may find more: make it a key."
)


@dataclass(frozen=True)
class Standing:
    """The risk on one set of keys, before and after.

    Parameters
    ----------
    keys : tuple of str
    before, after : Guarantee
        Of the file that came, and of the file as it is written, on those keys that it has; None where it has none.
    read_back : (int, int), optional
        k, and the records below the asked level, where what other columns tell of hidden cells is read, too; None where
        they tell nothing.
    beside : (int, int), optional
        The same for this release and those that are out already together, row by row; None without such.
    intruder_before, intruder_after : InformedIntruder, optional
        Who knows everybody's keys, and that a person is in the file; None for units of several rows and new records.
        `intruder_after` is also None where keys may hold other values than the true ones: exact matching is blind then.
    intruder_nearest : Share, optional
        Where exact matching is blind: of a sample of people, how many are found by the nearest record.
    most_before, most_after : float, optional
        The share of people whom an intruder can find at most who knows everybody's keys and repeats the steps: distinct
        rows, with all that other columns and releases tell, to people.
    weighing_after : float, optional
        The share whom this intruder finds who also weighs how every other column goes together with the keys: measured,
        so that a better model may find more.
    bound_after : float, optional
        The most that anybody finds who knows of each person no more than these keys, whatever other columns tell.
    """

    keys: tuple[str, ...]
    before: Guarantee
    after: Guarantee | None
    read_back: tuple[int, int] | None = None
    beside: tuple[int, int] | None = None
    intruder_before: InformedIntruder | None = None
    intruder_after: InformedIntruder | None = None
    intruder_nearest: Share | None = None
    most_before: float | None = None
    most_after: float | None = None
    weighing_after: float | None = None
    bound_after: float | None = None

    def to_dict(self) -> JsonObject:
        """As fields of one JSON object with stable names."""
        risk_measures = {
            "guarantee_before": self.before,
            "guarantee_after": self.after,
            "intruder_before": self.intruder_before,
            "intruder_after": self.intruder_after,
        }
        risk_fields: JsonObject = {
            measure_name: None if risk_measure is None else risk_measure.to_dict()
            for measure_name, risk_measure in risk_measures.items()
        }
        risk_fields["intruder_nearest"] = None if self.intruder_nearest is None else self.intruder_nearest.numbers()
        risk_fields["intruder_most"] = {
            "before": self.most_before,
            "after": self.most_after,
            "weighing_after": self.weighing_after,
            "bound_after": self.bound_after,
        }
        for pair_name in ("read_back", "beside"):
            pair = getattr(self, pair_name)
            risk_fields[f"guarantee_{pair_name}"] = None if pair is None else {"k": pair[0], "below": pair[1]}
        return risk_fields

    def parts(self, *, on: str, moved: Sequence[str]) -> list[Content]:
        """Who reads alike, and what intruders find; `on` ends titles, `moved` are steps that blind exact matching."""
        guarantee_before, guarantee_after = self.before, self.after
        reading_titles = {"k": "read the same (k)", "c": "show as much (c)", "m": "may be the same (m)"}
        grid_rows = [
            [reading_title,
             _number(getattr(guarantee_before, reading_name)), _number(getattr(guarantee_after, reading_name, None)),
             _number(guarantee_before.below[place]),
             _number(None if guarantee_after is None else guarantee_after.below[place])]
            for place, (reading_name, reading_title) in enumerate(reading_titles.items())
        ]  # fmt: skip
        other_pairs = {
            "k, with what other columns tell": self.read_back,
            "k, with the releases that are out": self.beside,
        }
        for pair_title, match_pair in other_pairs.items():
            if match_pair is not None:
                grid_rows.append([pair_title, DASH, _number(match_pair[0]), DASH, _number(match_pair[1])])
        heads = ["fewest that", "before", "after", f"below {guarantee_before.least} before", "after"]
        return [grid(f"Fewest matches of any record{on}", heads, grid_rows), *self._intruders(on, moved)]

    def _intruders(self, on: str, moved: Sequence[str]) -> list[Content]:
        risk_before, risk_after, nearest_found = self.intruder_before, self.intruder_after, self.intruder_nearest
        bound_row = ["at most, whatever other columns tell", _share(self.most_before), _share(self.bound_after)]
        if moved:
            moved_sentence = f"after {', '.join(moved)}, keys may hold other values than the true ones"
            moved_note = Note(
                f"{moved_sentence}, and exact matching sees too little; naysay attack measures more attacks"
            )
            if risk_before is None or nearest_found is None:
                return [moved_note]
            grid_title = (
                "How often an intruder finds the right record, who takes the nearest "
                f"({nearest_found.n:,} people tried){on}"
            )
            grid_rows = [["right", share(risk_before.mean), str(nearest_found)], bound_row]
            return [grid(grid_title, ["", "before", "after"], grid_rows), Sentence(_BOUND, small=True), moved_note]
        if risk_before is None or risk_after is None:
            return [
                Note(
                    "the informed intruder is measured on records of people, one row each, in a file that memory "
                    "holds, and on no others"
                )
            ]
        column_heads = ["an informed intruder is right", "before", "after"]
        grid_rows = [
            ["of all people", share(risk_before.mean), share(risk_after.mean)],
            [
                f"of the {risk_before.people_at_risk:,} with m below {risk_before.below}",
                *(share(x.mean_at_risk) for x in (risk_before, risk_after)),
            ],
            ["of the one found most surely", share(risk_before.highest), share(risk_after.highest)],
            ["of all people, repeating the steps", _share(self.most_before), _share(self.most_after)],
            ["… and weighing all other columns", _share(self.most_before), _share(self.weighing_after)],
            bound_row,
        ]
        grid_title = f"How often an intruder finds the right record{on}"
        return [grid(grid_title, column_heads, grid_rows), Sentence(f"{_MEASURED} {_BOUND}", small=True)]


@dataclass(frozen=True, eq=False)
class WrittenFile:
    """A release as it is written, beside its original.

    Parameters
    ----------
    plan : Plan
    original : Original
    frame, with_reasons, stored : DataFrame
        The release row by row: as it is read, with why other cells than those of keys are missing, and as it is stored.
    original_rows : list of int, optional
        The row of the original that each row was; None where they are new.
    beside : mapping of name to DataFrame
        Releases that are out already, row by row as the original.
    """

    plan: Plan
    original: files.Original
    frame: pl.DataFrame
    with_reasons: pl.DataFrame
    stored: pl.DataFrame
    original_rows: list[int] | None
    beside: Mapping[str, pl.DataFrame]


def standing_on(written_file: WrittenFile, keys: tuple[str, ...], *, key_hints: Hints | None = None) -> Standing:
    """The risk of a release on one set of keys.

    Parameters
    ----------
    written_file : WrittenFile
    keys : tuple of str
    key_hints : Hints, optional
        What other columns tell of these keys.

    Raises
    ------
    DataError
        Written cells, or releases that are out, with which the target of the plan is not reached.
    """
    plan, original, written_frame = written_file.plan, written_file.original, written_file.frame
    beside, original_rows = written_file.beside, written_file.original_rows
    guarantee_before = plan.guarantee(original.frame, keys)
    released_keys = [key_name for key_name in keys if key_name in written_frame.columns]
    if not released_keys:
        return Standing(keys, guarantee_before, None)
    guarantee_after, goal = plan.guarantee(written_frame, released_keys), plan.goal
    if goal is not None and (guarantee_after.of(goal.reading) or 0) < goal.least:
        complaint = (
            f"the file as written has {goal.reading} >= {guarantee_after.of(goal.reading)}, "
            f"not {goal}, and was not kept"
        )
        raise DataError(f"{complaint}: values that differed in memory read differently there")
    if plan.unit is not None or original_rows is None:
        return Standing(keys, guarantee_before, guarantee_after)
    coarse_frame = plan.coarsened(original.frame)
    true_texts = {key_name: texts_of_values(original.frame[key_name]) for key_name in keys}
    coarse_texts, released_texts = (
        {key_name: texts_of_values(frame[key_name]) for key_name in released_keys}
        for frame in (coarse_frame, written_frame)
    )
    least_matches = guarantee_before.least
    intruder_before = informed(true_texts, true_texts, keys, below=least_matches)
    claim_numbers = {} if key_hints is None else key_hints.claim_numbers
    claim_columns = {
        f"told {hidden_key}": pl.Series(codes) for hidden_key, codes in claim_numbers.items() if codes.any()
    }
    earlier_columns: dict[str, pl.Series] = {}
    for earlier_name, earlier_release in beside.items():
        earlier_columns |= {
            f"{key_name} of {earlier_name}": texts_of_values(earlier_release[key_name]).gather(original_rows)
            for key_name in keys
            if key_name in earlier_release.columns
        }
        earlier_columns[f"in {earlier_name}"] = (
            earlier_release.select(pl.any_horizontal(pl.all().is_not_null())).to_series().gather(original_rows)
        )
    released_classes = _classes({**released_texts, **claim_columns, **earlier_columns}, rows=len(original_rows))
    joint_pair = (
        _fewest(_class_sizes({**released_texts, **earlier_columns}), least_matches) if earlier_columns else None
    )
    if goal is not None and goal.reading == "k" and joint_pair is not None and joint_pair[0] < goal.least:
        raise DataError(
            f"beside {_checks.listing_text(beside)}, {joint_pair[1]:,} records read like fewer than {goal.least}: "
            "who has both files knows more than each shows; "
            f"have a plan proposed with --beside, or ask for less than {goal}"
        )
    for condition in () if goal is None or joint_pair is None else goal.conditions:
        shown_out = [column.rename(column_name) for column_name, column in earlier_columns.items()]
        unmet_rows = unmet(written_frame.hstack(shown_out), [*released_keys, *earlier_columns], [condition])
        if unmet_rows:
            raise DataError(
                f"beside {_checks.listing_text(beside)}, {unmet_rows:,} records are in classes that fail {condition}: "
                "have a plan proposed with --beside, or ask for less"
            )
    read_back = _fewest(_class_sizes({**released_texts, **claim_columns}), least_matches) if claim_columns else None
    row_count = original.frame.height
    true_classes = _classes(
        {key_name: key_texts.gather(original_rows) for key_name, key_texts in true_texts.items()},
        rows=len(original_rows),
    )
    drawn_columns = {column_name for step in plan.steps if isinstance(step, Random) for column_name in step.variables}
    shown_texts = {**released_texts, **earlier_columns}
    repeated_texts = {name: shown_texts[name] for name in shown_texts if name not in drawn_columns}
    repeated_classes = _classes(repeated_texts, rows=len(original_rows))
    bound_share = ceiling(true_classes, repeated_classes, _whole_rows(written_file, original_rows)) / row_count
    standing = Standing(
        keys,
        guarantee_before,
        guarantee_after,
        read_back,
        joint_pair,
        intruder_before=intruder_before,
        most_before=float((1 / _class_sizes(true_texts)).sum()) / row_count,
        bound_after=bound_share,
    )
    if plan.moved:
        return replace(standing, intruder_nearest=_nearest(released_keys, coarse_frame, written_frame, original_rows))
    intruder_after = informed(coarse_texts, released_texts, released_keys, below=least_matches, rows=original_rows)
    # rows that are told apart may still hold the same people, and gains in a sample are scaled: neither beats the bound
    true_columns = [
        original.frame[key_name].gather(original_rows)
        for key_name in keys
        if not original.frame.schema[key_name].is_nested()
    ]
    weighing_share = (
        weighing(true_columns, _other_columns(written_file, keys, original_rows), released_classes) / row_count
    )
    return replace(
        standing,
        intruder_after=replace(intruder_after, at_risk=intruder_before.at_risk, below=least_matches),
        most_after=min(float((1 / np.bincount(released_classes)[released_classes]).sum()) / row_count, bound_share),
        weighing_after=min(weighing_share, bound_share),
    )


def _other_columns(written_file: WrittenFile, keys: Sequence[str], original_rows: Sequence[int]) -> list[pl.Series]:
    """What this release and those that are out show beside the keys, with the order of rows where it is kept."""
    earlier_tables = (earlier_release[original_rows] for earlier_release in written_file.beside.values())
    shown_columns = [
        column
        for shown_table in (written_file.with_reasons, *earlier_tables)
        for column in shown_table
        if column.name not in keys and not column.dtype.is_nested()
    ]
    if written_file.plan.keep_order:
        shown_columns.append(pl.int_range(len(original_rows), eager=True).alias(ROW_ORDER))
    return shown_columns


def _whole_rows(written_file: WrittenFile, original_rows: Sequence[int]) -> NDArray[np.int64]:
    """All that is out on each person, letter by letter, as a number: equal ones cannot be told apart."""
    # of new numbers that nobody shares, only who has none says something
    unshared_names = [
        number_name
        for number_name in written_file.plan.renumbered
        if number_name in written_file.stored.columns
        and written_file.stored[number_name].drop_nulls().is_unique().all()
    ]
    shown_tables = {
        "": written_file.stored.with_columns(pl.col(unshared_names).is_null()),
        **{name: earlier_release[original_rows] for name, earlier_release in written_file.beside.items()},
    }
    shown_columns = {
        f"{shown_column.name} of {release_name}": shown_column
        if shown_column.dtype.is_nested()
        else shown_column.cast(pl.String)
        for release_name, shown_table in shown_tables.items()
        for shown_column in shown_table
    }
    order = {ROW_ORDER: pl.int_range(len(original_rows), eager=True)} if written_file.plan.keep_order else {}
    return _classes({**shown_columns, **order}, rows=len(original_rows))


def _classes(columns: Mapping[str, pl.Series], *, rows: int) -> NDArray[np.int64]:
    """A number from 0 for each row: equal ones read alike, gaps included."""
    if not columns:
        return np.zeros(rows, np.int64)
    frame = pl.DataFrame([column.rename(name) for name, column in columns.items()])
    number = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
    return number.to_numpy().astype(np.int64) - 1


def _class_sizes(columns: Mapping[str, pl.Series]) -> NDArray[np.int64]:
    """How many rows read like each row, gaps included."""
    row_classes = _classes(columns, rows=0)
    return np.bincount(row_classes)[row_classes]


def _fewest(counts: NDArray[np.int64], least: int) -> tuple[int, int]:
    return int(counts.min()), int((counts < least).sum())


def _nearest(
    keys: Sequence[str], people: pl.DataFrame, written_frame: pl.DataFrame, original_rows: Sequence[int]
) -> Share | None:
    """How often the nearest record is the person's own, for some people of the release; None for sets of candidates."""
    if any(compared_frame.schema[name].is_nested() for compared_frame in (people, written_frame) for name in keys):
        return None
    # a CSV file holds numbers as texts, and between texts there is no distance
    people, written_frame = (
        frame_of(files.as_measured(compared_frame.lazy(), keys).collect(), what="a file")
        for compared_frame in (people, written_frame)
    )
    released_places = np.full(people.height, -1, dtype=np.int64)
    released_places[original_rows] = np.arange(len(original_rows))
    most_people = max(_FEWEST_TRIED, min(_MOST_TRIED, _DISTANCES // (len(keys) * max(written_frame.height, 1))))
    tried_people = (
        Register(tuple(keys), people, written_frame, released_places)
        .take(np.sort(original_rows))
        .sampled(most_people, seed=1)
    )
    return share_of(nearest(tried_people)["nearest"].right)


def _number(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return share(math.nan if value is None else value)


@dataclass(frozen=True)
class Losses:
    """Answers of a file, and what became of them.

    Parameters
    ----------
    answers : int
        Cells of the original that hold something, in the columns that were compared.
    emptied : int
        Those that are empty now, or whose record was deleted.
    changed : int
        Those that hold something else: a coarser value, or one that was drawn.
    left_out : tuple of str
        Columns that the release does not have. Their cells are not counted.
    """

    answers: int
    emptied: int
    changed: int
    left_out: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of answers that are no longer what they were; 0 where there were none."""
        return (self.emptied + self.changed) / self.answers if self.answers else 0.0

    def to_dict(self) -> dict[str, int | float | list[str]]:
        """As one JSON object with stable names."""
        return {**asdict(self), "left_out": list(self.left_out), "share": self.share}


def losses_of(
    before: pl.DataFrame, after: pl.DataFrame, rows: Sequence[int], *, changed: Iterable[str], numbers: Iterable[str]
) -> Losses:
    """The losses of a table whose rows are rows of another one.

    Parameters
    ----------
    before, after : DataFrame
    rows : (rows of after,) sequence of int
        The row of `before` that each row of `after` comes from.
    changed : iterable of str
        Columns that a step may have changed; all others are as they were.
    numbers : iterable of str
        Columns that number people: a new number loses no answer, and they are not compared.

    Examples
    --------
    >>> before = pl.DataFrame({"age": [36, 40, 41], "sex": ["f", "m", None]})
    >>> after = pl.DataFrame({"age": ["40 to 44", None], "sex": ["m", "f"]})
    >>> losses_of(before, after, [1, 0], changed=["age"], numbers=[])
    Losses(answers=5, emptied=2, changed=1, left_out=())
    """
    compared_columns = [
        column_name
        for column_name in before.columns
        if column_name in after.columns and column_name not in set(numbers)
    ]
    changed_names, rows_before = set(changed), before[list(rows)]
    total_answers = emptied_cells = changed_cells = 0
    for column_name in compared_columns:
        answer_count = texts(before[column_name]).count()
        texts_before = texts(rows_before[column_name])
        total_answers, emptied_cells = total_answers + answer_count, emptied_cells + answer_count - texts_before.count()
        if column_name in changed_names:
            texts_after = texts(after[column_name])
            gap_count = int((texts_before.is_not_null() & texts_after.is_null()).sum())
            emptied_cells += gap_count
            changed_cells += (
                int((texts_before.is_not_null() & ~alike(rows_before[column_name], after[column_name])).sum())
                - gap_count
            )
    left_out = tuple(column_name for column_name in before.columns if column_name not in after.columns)
    return Losses(total_answers, emptied_cells, changed_cells, left_out)
