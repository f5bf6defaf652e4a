"""The answers to a survey, from its database or from its export, in the words in which they are told.

All results of a survey as data: what is estimated, what was said, and how many replied on which day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from naysay import _checks, estimate, files
from naysay.errors import DataError, NaysayError, in_group
from naysay.estimate import Estimate, PrintOptions, leverage
from naysay.estimate.plain import Numbers, Shares, numbers, shares

if TYPE_CHECKING:
    import polars as pl

    from naysay.collect.storage import Replies
    from naysay.files import Asked, Codebook, Entry


Plain = Shares | Numbers

COUNT = "how many"  # no column of a survey has a blank in its name


_ARM = "the arm"


def _with_sample(frame: pl.LazyFrame, asked: Asked, name: str = _ARM) -> pl.LazyFrame:
    """The frame with the name of each row's sample; where a truth is not known, the control's answer says nothing."""
    import polars as pl  # late: help needs no tables

    known = pl.all_horizontal(pl.col(name).is_not_null() for name in asked.sample)
    named = pl.concat_str(asked.sample, separator="; ")
    beside = [pl.when(known).then(pl.col(column)).alias(column) for column in asked.beside]
    return frame.with_columns(
        *beside, pl.when(known).then(named).otherwise(pl.lit(str(asked.design.levels[0]))).alias(name)
    )


class Measure(NamedTuple):
    """A private question with its controls, or what several arms measure: one row for each person.

    Parameters
    ----------
    rows : DataFrame
        The replies; a measure of several arms has a column of its own.
    asked : Asked
    sample : str or None
        The column that names the sample, or the level that a respondent chose.
    withheld : bool
        Whether its controls are left out, because the numbers could tell of somebody that they failed one.
    """

    rows: pl.DataFrame
    asked: Asked
    sample: str | None
    withheld: bool = False


def measure(replies: Replies, question: str, *, beside: Sequence[str] = (), controls: bool = True) -> Measure:
    """What is read together with other columns of the same people, as in a crosstab or a regression.

    Parameters
    ----------
    replies : Replies
    question : str
    beside : sequence of str
        The other columns, or what arms measure, whose cells are those of the arms and their answers. In each ten people
        at least must have answered question and controls, and two have passed; otherwise the controls are withheld.
    controls : bool
        Whether controls count at all.
    """
    import polars as pl  # late: help needs no tables

    from naysay.collect.export import Columns, betrays
    from naysay.collect.questionnaire.arms import measurements
    from naysay.collect.questionnaire.questionnaire import ARM
    from naysay.files import Asked
    from naysay.files.codebook import EVERYBODY

    form, rows, sample = replies.questionnaire, replies.frame, f"the sample of {question}"
    measures = measurements(form)
    if (measured := measures.get(question)) is not None:
        if ARM in beside:
            raise DataError(
                f"{ARM!r} is what lot has drawn, and {question!r} is read from all arms; name another column"
            )
        names = measured.answer_names(question)
        in_arm = {arm: pl.lit(value=True) if arm == EVERYBODY else pl.col(ARM) == arm for arm in measured.arms}
        rows = rows.with_columns(
            pl.coalesce(
                pl.when(in_arm[arm]).then(pl.col(columns[place])) for arm, columns in measured.arms.items()
            ).alias(name)
            for place, name in enumerate(names)
        )
        is_whole = pl.all_horizontal(pl.col(names).is_not_null())  # one answer of two is none
        rows = rows.with_columns(pl.when(is_whole).then(pl.col(name)).alias(name) for name in names)
        measured = replace(measured, beside=tuple(names[1:]))
        if measured.is_of_everybody:
            return Measure(rows, measured, None)
        # whoever stands in another arm has no answer, and needs the name of some sample
        arm_name = pl.when(pl.col(ARM).is_in(list(in_arm))).then(pl.col(ARM)).otherwise(pl.lit(next(iter(in_arm))))
        return Measure(rows.with_columns(arm_name.alias(sample)), measured, sample)
    plain = Asked(replies.private[question], replies.level_of(question))
    entry = Columns(replies.published).book.columns[question]
    asked = entry.asked
    if asked is None or not asked.beside or not controls:
        return Measure(rows, plain, plain.level)
    answered = pl.col(question).is_not_null()  # else the answer to a control would count without the question
    rows = rows.with_columns(pl.when(answered).then(pl.col(column)).alias(column) for column in asked.beside)
    arm_columns = [ARM] if form.arms else []
    read_from = [
        (*arm_columns, *chain(*measures[name].arms.values())) if name in measures else (name,) for name in beside
    ]
    beside = list(dict.fromkeys(column for columns in read_from for column in columns if column != question))
    text_rows = rows.with_columns(
        pl.col(column).cast(pl.String).fill_null("") for column in beside if column not in asked.columns
    )  # whose truth is not known, they are not counted with controls
    hidden = [name for name in (f"{column}_level" for column in asked.beside) if name in rows.columns]
    counts = text_rows.group_by(list(dict.fromkeys([question, *asked.columns, *hidden, *beside]))).len(COUNT)
    if betrays(form, entry, counts, count=COUNT):
        return Measure(rows, plain, plain.level, withheld=True)
    if not asked.sample:
        return Measure(rows, asked, None)
    return Measure(_with_sample(rows.lazy(), asked, sample).collect(), asked, sample)


def withheld_note(question: str) -> str:
    """What is said where controls are withheld."""
    return (
        f"answers to the controls of {question!r} do not count here: too few people answered alike, and the "
        "numbers could tell of somebody that they failed; merge categories or leave other columns and groups out"
    )


def controls_of(book: Codebook) -> set[str]:
    """The columns of controls: their answers, their levels, and the truths that lot has drawn for them."""
    asked = [entry.asked for entry in book.entries if entry.asked is not None]
    names = {column for each in asked for column in each.beside}
    return names | ({f"{name}_{more}" for name in names for more in ("truth", "level")} & set(book.columns))


class Cells(Protocol):
    """Where counts of answers come from: rows, or tallies that were kept while replies came."""

    @property
    def replies(self) -> int:
        """How many people replied."""
        ...

    def of(self, *columns: str) -> pl.DataFrame:
        """The distinct answers in these columns, in words, and in the column `COUNT` how many people gave each."""
        ...


@dataclass(frozen=True)
class Table:
    """The answers of a table with one row for each person."""

    rows: pl.DataFrame
    count: str = ""
    """The column with how many people each row stands for; empty where each row is one."""

    @property
    def replies(self) -> int:
        """How many people replied."""
        return sum(map(int, self.rows[self.count])) if self.count else self.rows.height

    def of(self, *columns: str) -> pl.DataFrame:
        """The distinct answers in these columns, and how many people gave each."""
        groups = self.rows.group_by(columns, maintain_order=True)
        if not self.count:
            return groups.len(COUNT)
        import polars as pl  # late: help needs no tables

        return groups.agg(pl.col(self.count).cast(pl.Int64).sum().alias(COUNT))


@dataclass(frozen=True)
class Answered:
    """What was answered to a survey, column by column.

    Parameters
    ----------
    book : Codebook
    cells : Cells
        The answers in the columns of the codebook, counted.
    names : bool
        Whether answers are called by their names in the questionnaire, and not by what respondents read.
    cautioned : callable
        What is done to every estimate, such as to add a warning.
    beside : sequence of str, optional
        The plain questions that can make groups, if not all that have one answer a person.
    withheld : sequence of str
        The questions whose controls do not count, because the numbers could tell of somebody that they failed one.
    """

    book: Codebook
    cells: Cells
    names: bool
    cautioned: Callable[[Estimate], Estimate] = lambda fit: fit
    beside: Sequence[str] | None = None
    withheld: Sequence[str] = ()

    @property
    def private(self) -> list[str]:
        """The private columns, and before them what columns of several arms measure together; no controls."""
        hidden = controls_of(self.book)
        entries = (*self.book.measures, *self.book.entries)
        return [entry.column for entry in entries if entry.asked is not None and entry.column not in hidden]

    @cached_property
    def levels(self) -> set[str]:
        """The columns with the levels that respondents chose."""
        return {entry.asked.level for entry in self.book.entries if entry.asked is not None and entry.asked.level}

    @property
    def plain(self) -> list[str]:
        """The plain columns that tables tell about; people's own words and days are left out."""
        table_entries = (
            entry
            for entry in self.book.entries
            if entry.asked is None and entry.holds in ("values", "flags", "numbers")
        )
        hidden = self.levels | controls_of(self.book) | {self.book.count}
        return [entry.column for entry in table_entries if entry.column not in hidden]

    def entry(self, column: str) -> Entry:
        """What a column is, after checking that it can be estimated."""
        entry = self.book.columns.get(column)
        if entry is None or column in self.levels:
            part_columns = [other_entry.column for other_entry in self.book.entries if other_entry.question == column]
            hint_text = (
                f"name one of {_checks.listing_text(part_columns)}"
                if part_columns and entry is None
                else self._nearest(column)
            )
            raise DataError(f"survey {self.book.survey!r} has no question {column!r}; {hint_text}", column=column)
        if entry.asked is None and column not in self.plain:
            raise DataError(f"question {column!r} holds {entry.holds}, of which nothing is estimated", column=column)
        if not self.cells.replies:
            raise DataError(f"nobody has answered {self.book.survey!r} yet; estimate when answers have come")
        return entry

    def _nearest(self, column: str) -> str:
        return _checks.nearest(column, [*self.private, *self.plain])

    def title(self, column: str) -> str:
        """What a column is called above its numbers: its name, and what was asked."""
        entry = self.book.columns[column]
        question_text = " ".join((entry.wording or entry.label).split())
        return column if self.names or question_text in ("", column) else f"{column}: {question_text}"

    def estimates(
        self,
        column: str,
        by: str | None = None,
        *,
        estimator: str | None = None,
        target: Literal["population", "file"] = "population",
        standard_errors: str | None = None,
        least: int = 1,
    ) -> dict[str | None, Estimate]:
        """The estimates of a private question, for all or for each group of at least so many answers."""
        self.check_groups(by)
        randomization = self.entry(column).worded(names=self.names)
        if randomization is None:
            raise DataError(f"question {column!r} is plain", column=column)
        text_columns = list(dict.fromkeys(name for name in (column, *randomization.columns, by) if name is not None))
        if randomization.arms:
            text_columns = [name for name in (column, _ARM, by) if name is not None]
            counted_cells, answer_columns = self._arm_cells(column, randomization, by, least)
            text_columns[:1] = answer_columns
        else:
            counted_cells, answer_columns = self._cells(text_columns, [column], by, least), [column]
        if (
            randomization.beside
        ):  # intervals by moments need both answers of a person, and the table of an export has both
            counted_cells = counted_cells.drop_nulls([column, *randomization.columns])
            answer_columns += randomization.beside
        if least > 1 and not counted_cells.height:
            return {}
        text_frame = files.as_text(counted_cells.lazy(), text_columns)
        if randomization.sample:
            text_frame = _with_sample(text_frame, randomization)
        tally_or_groups = randomization.design.tally(
            text_frame,
            answer_columns if len(answer_columns) > 1 else column,
            level=randomization.level,
            sample=_ARM if randomization.sample or (randomization.arms and not randomization.is_of_everybody) else None,
            by=by,
            count=COUNT,
        )
        chosen_estimator = (
            estimate.default(randomization.design) if estimator is None else estimate.ESTIMATORS[estimator]
        )
        group_fits = {}
        for group, group_tally in (
            tally_or_groups if isinstance(tally_or_groups, dict) else {None: tally_or_groups}
        ).items():
            named_tally = replace(group_tally, question=self.title(column))
            with in_group(group):
                fit = chosen_estimator.fit(randomization.design, named_tally, target, standard_errors=standard_errors)
                if randomization.arms and by is None:
                    fit = replace(fit, others={**fit.others, "corrected": partial(self._corrected, randomization.arms)})
                group_fits[group] = self.cautioned(fit)
        return group_fits

    def _corrected(self, arms: Mapping[str, tuple[str, ...]], _: object) -> dict[str, Estimate]:
        """The estimate of each arm whose question has controls that count, by moments."""
        fits = {}
        for arm, (column, *_) in arms.items():
            asked = self.book.columns[column].asked if column in self.book.columns else None
            if asked is not None and asked.beside:
                with suppress(NaysayError):  # the results of the question itself say why there is none
                    fits[arm] = self.estimates(column, estimator="moments")[None]
        return fits

    def _arm_cells(self, measure: str, asked: Asked, by: str | None, least: int) -> tuple[pl.DataFrame, list[str]]:
        """The counted answers of all arms in one column, or one for each answer of a person, each beside its arm.

        Where no arm alone tells the shares, groups need so many answers in each.
        """
        import polars as pl  # late: help needs no tables

        arm_frames, names = [], asked.answer_names(measure)
        arms = reversed(list(asked.arms.items()))
        arm_of_columns = {columns: arm for arm, columns in arms}  # two may ask one question
        beside = [by] if by is not None else []
        for columns, arm in arm_of_columns.items():
            arm_cells = self._cells([*columns, *beside], columns, by, least).drop_nulls(columns)
            answers = (pl.col(column).alias(name) for column, name in zip(columns, names, strict=True))
            arm_frames.append(arm_cells.select(*answers, *beside, COUNT, pl.lit(arm).alias(_ARM)))
        whole = pl.concat(arm_frames)
        if by is not None and least > 1 and asked.design.structure.finer:
            whole = whole.filter(pl.col(_ARM).n_unique().over(by) == len(arm_frames))
        return whole, names

    def plain_summaries(
        self, column: str, by: str | None, confidence: float, *, least: int = 1
    ) -> dict[str | None, Plain]:
        """What people said to a plain question, for all or for each group of at least so many answers."""
        self.check_groups(by)
        entry, group_summaries = self.entry(column), {}
        column_names = [column_name for column_name in (column, by) if column_name is not None]
        counted_cells = self._cells(column_names, [column], by, least)
        if entry.strata and by is None:
            summary = self._of(entry, counted_cells, confidence)
            if isinstance(summary, Shares):
                asked = entry.strata if self.names else self._words_of(entry.strata)
                return {None: replace(summary, strata=asked, sizes=self._sizes(entry))}
        cells_by_group: dict[str | None, pl.DataFrame] = {None: counted_cells}
        if by is not None:
            text_groups = files.as_text(counted_cells.lazy(), [by]).collect().partition_by(by, as_dict=True)
            cells_by_group = {group: group_cells for (group, *_), group_cells in text_groups.items()}
        for group, group_cells in sorted(cells_by_group.items(), key=lambda named_group: str(named_group[0])):
            with in_group(group):
                if group_cells[column].null_count() < len(group_cells):
                    group_summaries[group] = self._of(entry, group_cells, confidence)
        if not group_summaries and least <= 1:
            raise DataError(f"nobody has answered {column!r} yet; estimate when answers have come", column=column)
        return group_summaries

    def answers(self, column: str) -> int:
        """How many people answered a question."""
        asked = self.book.columns[column].asked
        if asked is not None and asked.arms:
            return sum(int(self.cells.of(*each).drop_nulls()[COUNT].sum()) for each in set(asked.arms.values()))
        column_cells = self.cells.of(column)
        return int(column_cells.filter(column_cells[column].is_not_null())[COUNT].sum())

    def _cells(self, columns: Sequence[str], answers: Sequence[str], by: str | None, least: int) -> pl.DataFrame:
        """The counted answers, without groups in which fewer gave these answers."""
        import polars as pl  # late: help needs no tables

        column_cells = self.cells.of(*dict.fromkeys(columns))
        if by is None or least <= 1:
            return column_cells
        is_answered = pl.all_horizontal(pl.col(answers).is_not_null())
        return column_cells.filter(pl.when(is_answered).then(COUNT).otherwise(0).sum().over(by) >= least)

    def _of(self, entry: Entry, cells: pl.DataFrame, confidence: float) -> Plain:
        import polars as pl

        question_title, answer_column, count = self.title(entry.column), cells[entry.column], cells[COUNT].to_numpy()
        if entry.holds == "numbers":
            answer_numbers = answer_column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            return numbers(answer_numbers.repeat(count), question=question_title, confidence=confidence)
        if entry.holds == "flags":
            answer_flags = answer_column.cast(pl.Int8).cast(pl.String).to_list()
            return shares(answer_flags, ["1", "0"], count=count, question=question_title, confidence=confidence)
        answer_labels = list(entry.words(coded=False, names=self.names).values())
        return shares(
            answer_column.to_list(),
            answer_labels,
            count=count,
            question=question_title,
            confidence=confidence,
            weights=entry.weights,
        )

    def _words_of(self, column: str) -> str:
        """What was asked in a column; its name where the table does not have it."""
        entry = self.book.columns.get(column)
        return column if entry is None else " ".join((entry.wording or entry.label or column).split())

    def _sizes(self, arms: Entry) -> dict[str, tuple[int, ...]]:
        """How many completed in each arm, within each stratum of `CELL` people at least; empty where none is known."""
        known = arms.strata in self.book.columns and (self.beside is None or arms.strata in self.beside)
        sizes: dict[str, dict[str, int]] = {}
        for arm, stratum, people in self.cells.of(arms.column, arms.strata).rows() if known else ():
            if arm is not None and stratum is not None:
                sizes.setdefault(stratum, {})[arm] = people
        named = arms.words(coded=False, names=self.names).values()
        return {
            stratum: tuple(by_arm.get(arm, 0) for arm in named)
            for stratum, by_arm in sorted(sizes.items())
            if sum(by_arm.values()) >= CELL
        }

    def check_groups(self, by: str | None) -> None:
        """Raise unless groups come from a plain question."""
        if by in (*self.private, *self.levels):
            raise DataError(f"groups come from a plain question; {by!r} is private, so groups are not known")
        group_questions = self.plain if self.beside is None else self.beside
        if by is not None and by not in group_questions:
            problem = f"there is no plain question {by!r} with one answer a person"
            if by in self.plain:
                problem = f"groups are not kept for {by!r}; naysay estimate --survey makes them"
            raise DataError(
                f"{problem}; {_checks.nearest(by, group_questions) if group_questions else 'no question makes groups'}",
                column=by,
            )


def of_database(replies: Replies, *, names: bool, language: str | None, by: str | None = None) -> Answered:
    """The replies in a database, for these groups; every estimate says what repeated answers would do."""
    from naysay.collect.export import Columns
    from naysay.collect.survey.tallies import cautioned

    columns = Columns(replies.published, language=language)
    beside = [name for name in (by,) if name in replies.frame.columns and not replies.frame.schema[name].is_nested()]
    controlled = [entry.column for entry in columns.book.entries if entry.asked is not None and entry.asked.beside]
    withheld = [question for question in controlled if measure(replies, question, beside=beside).withheld]
    if withheld:
        columns = Columns(replies.published, language=language, controls=False)
    table = columns.book.read(columns.table(replies).lazy(), names=names).collect()
    caution = partial(cautioned, invites=replies.published.key is not None)
    return Answered(columns.book, Table(table), names, caution, withheld=withheld)


def of_export(
    path: Path, *, names: bool, separator: str, encoding: str | None, columns: Sequence[str]
) -> Answered | None:
    """The export that this file is, with these columns or with all; None where it is none."""
    book = files.codebook_of(path)
    if book is None:
        return None
    frame = files.scan(path, separator=separator, encoding=encoding, codes=names)
    with files.readable(path):
        file_columns = frame.collect_schema().names()
        file_entries = tuple(entry for entry in book.entries if entry.column in file_columns)
        asked_entries = [entry.asked for entry in (*file_entries, *book.measures) if entry.asked is not None]
        beside_columns = {
            column for asked in asked_entries for column in (*asked.columns, *chain(*asked.arms.values()))
        }
        beside_columns |= {entry.strata for entry in file_entries}
        column_names = [name for name in file_columns if not columns or name in (*columns, *beside_columns, book.count)]
        table = frame.select(column_names).collect()
    narrowed_book = files.Codebook(**{**vars(book), "entries": file_entries})
    return Answered(narrowed_book, Table(table, book.count), names)


CELL = 10
"""The fewest answers in a subgroup that is shown to the researcher."""

REPEATED = (0.01, 0.05, 0.1)
"""Shares of repeated answers whose effect is told."""


@dataclass(frozen=True)
class ColumnResult:
    """What is known of one column.

    Parameters
    ----------
    entry : Entry
    title : str
        Its name, and what was asked.
    whole : Estimate, Shares, Numbers or None
        None where nobody has answered, or `problem` says why nothing is told.
    groups : {group: Estimate, Shares or Numbers}
        Those with enough answers, if groups are asked for.
    problem : str
    arms : tuple of str
        Those that answered: several for what they measure together, none where all people were asked.
    """

    entry: Entry
    title: str
    whole: Estimate | Plain | None
    groups: Mapping[str | None, Any]
    problem: str = ""
    arms: tuple[str, ...] = ()


def gathered(
    answered: Answered, *, by: str | None = None, least: int = CELL, options: PrintOptions
) -> Iterator[ColumnResult]:
    """The results of every column that is told, private ones before plain ones.

    Parameters
    ----------
    answered : Answered
    by : str, optional
        A plain question whose answers make groups.
    least : int
        The fewest answers in a group that is told.
    options : PrintOptions
    """
    from naysay.files.codebook import EVERYBODY, arm_words  # it loads polars, which no help text needs

    answered.check_groups(by)
    for column in (*answered.private, *answered.plain):
        entry, column_title = answered.book.columns[column], answered.title(column)
        arms = tuple(
            arm if answered.names else arm_words(arm)
            for measure in answered.book.measures
            for arm, arm_columns in (measure.asked.arms.items() if measure.asked else ())
            if arm != EVERYBODY and column in (measure.column, *arm_columns)
        )
        if not answered.cells.replies or not answered.answers(column):
            yield ColumnResult(entry, column_title, None, {}, arms=arms)
            continue
        try:
            whole_result = _results_of(answered, entry, None, options, 1)[None]
            group_results = {} if by in (None, column) else _results_of(answered, entry, by, options, least)
            yield ColumnResult(entry, column_title, whole_result, group_results, arms=arms)
        except NaysayError as error:  # such as a design that needs more answers to tell all categories apart
            yield ColumnResult(entry, column_title, None, {}, str(error), arms)


def _results_of(
    answered: Answered, entry: Entry, by: str | None, options: PrintOptions, least: int
) -> Mapping[str | None, Any]:
    """The estimates, or what was said, for all or for each group of at least so many answers."""
    if entry.asked is not None:
        return answered.estimates(entry.column, by, least=least)
    return answered.plain_summaries(entry.column, by, options.confidence, least=least)


def days(answered: Answered) -> dict[Any, int]:
    """How many replied on each day, ``{date: count}``, in order."""
    return dict(sorted(answered.cells.of("day").select("day", COUNT).rows()))


def levels(answered: Answered, column: str) -> pl.DataFrame | None:
    """How many chose each level of a private question on each day: columns day, level, count; None without levels."""
    randomization = answered.book.columns[column].asked
    if randomization is None or randomization.level is None:
        return None
    level_cells = answered.cells.of("day", randomization.level)
    return (
        level_cells.drop_nulls(randomization.level)
        .select("day", level=randomization.level, count=COUNT)
        .sort("day", "level")
    )


def reach(result: ColumnResult) -> dict[float, float | None]:
    """How far shares of repeated or dishonest answers could move a share of this column, by moments."""
    randomization = result.entry.asked
    if result.entry.holds == "numbers" and randomization is None:  # one answer can move a mean as far as it likes
        return dict.fromkeys(REPEATED)
    try:
        share_moves = {
            share: share if randomization is None else leverage(randomization.design, share=share) for share in REPEATED
        }
    except NaysayError:  # nothing is estimated, so nothing can be moved
        return dict.fromkeys(REPEATED)
    return {share: min(1.0, moved) for share, moved in share_moves.items()}


def plain_of(result: ColumnResult, options: PrintOptions) -> dict[str, Any]:
    """One column as a JSON object: with the numbers that ``naysay estimate --survey NAME --format json`` prints."""
    column_kind = "private" if result.entry.asked is not None else "plain"
    result_object: dict[str, Any] = {
        "column": result.entry.column,
        "kind": column_kind,
        "label": result.entry.wording or result.entry.label,
    }
    if result.problem:
        return result_object | {"problem": result.problem}
    result_object |= {"result": _object(result.whole, options)}
    if result.groups:
        result_object |= {
            "groups": [
                {"group": group, **_object(group_summary, options)} for group, group_summary in result.groups.items()
            ]
        }
    if result.whole is not None:
        result_object["repeated"] = [{"share": share, "moves": moved} for share, moved in reach(result).items()]
    return result_object


def _object(summary: Estimate | Plain | None, options: PrintOptions) -> dict[str, Any]:
    if summary is None:
        return {}
    return summary.to_dict(options=options) if isinstance(summary, Estimate) else summary.to_dict()
