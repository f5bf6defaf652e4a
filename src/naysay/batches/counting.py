"""Batches counted: one tally for each question and wave, with memory that depends on the design and not on n."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.batches.batch import Bad, Batch, Named, by_hash
from naysay.batches.reading import Source, read
from naysay.errors import DataError
from naysay.tally import Tally

_PENDING = 2**20  # entries that wait to be merged


class Topic(NamedTuple):
    """What is tallied together: a design by its hash, a question and a wave."""

    design: str
    question: str
    wave: str


@dataclass(frozen=True)
class Counted:
    """What a file of batches held.

    Parameters
    ----------
    tallies : dict of Topic to Tally
    batches, reports : int
        How many batches there were, and how many reports are counted.
    refused : int
        How many reports the designs cannot make; they are left out.
    why : str
        What was wrong with the first of them.
    """

    tallies: dict[Topic, Tally]
    batches: int
    reports: int
    refused: int
    why: str


def runs(reports: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values of an ascending array, and how often each comes.

    Examples
    --------
    >>> runs(np.array([2, 2, 2, 7]))
    (array([2, 7]), array([3, 1]))
    """
    if not len(reports):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    run_ends = np.append(np.flatnonzero(reports[1:] != reports[:-1]), len(reports) - 1)
    return reports[run_ends].astype(np.int64), np.diff(run_ends, prepend=-1)


@dataclass
class _Count:
    """The part that the reports to one question at one level make."""

    design: Named
    level: Any
    kind: Any
    part: Any = None
    pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    waiting: int = 0

    def add(self, batch: Batch) -> None:
        """Count a batch: numbers by how long each run of one number is, sets one by one."""
        are_numbers = batch.reports.ndim == 1
        value_runs = runs(batch.reports) if are_numbers else (batch.codes, np.empty(0, np.int64))
        self.pending.append(value_runs)
        self.waiting += len(value_runs[0])
        if self.waiting > _PENDING:
            self.flush()

    def flush(self) -> Any:
        """The part with all that was added so far."""
        channel = self.design.channel(self.level)
        empty = np.empty((0, channel.space.width), np.int64)
        values, occurrences = (
            np.concatenate(arrays) for arrays in zip(*self.pending or [(empty, empty[:, 0])], strict=True)
        )
        if values.ndim == 2:
            added_part = self.kind.counted(channel, values, level=self.level)
        else:
            order = np.argsort(values, kind="stable")
            distinct, lengths = runs(values[order])
            totals = np.add.reduceat(occurrences[order], np.cumsum(lengths) - lengths)
            added_part = self.kind.of(channel, channel.space.at(distinct), level=self.level, count=totals)
        self.part = added_part if self.part is None else self.part.plus(added_part)
        self.pending, self.waiting = [], 0
        return self.part


def count(
    source: Source | Iterable[Source],
    designs: Named | Iterable[Named],
    *,
    bad: Bad = "refuse",
    sums: bool | None = None,
) -> Counted:
    """Everything that files of batches hold, as one tally for each design, question and wave.

    Memory depends on the designs, and not on the number of reports; except in an open domain, where a tally keeps the
    distinct reports unless `sums` is true.

    Parameters
    ----------
    source : path, bytes or binary file, or iterable of them
    designs : design or iterable of designs
        The designs that reports may be drawn under.
    bad : "refuse" or "keep"
        What becomes of a batch with a report that the design cannot make.
    sums : bool, optional
        Whether to keep how often reports speak for each category; see `Design.tally`.

    Returns
    -------
    Counted

    Raises
    ------
    DataError
        See `read`; also where there are more than 2**53 reports.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import batches, designs
    >>> crashed, file = designs.k_ary(("list", "map", "search"), epsilon=1), BytesIO()
    >>> for wave in (1, 2):
    ...     batches.write(file, crashed, ["map", "list", "map"], question="crash", wave=wave)
    >>> {topic.wave: tally.counts.tolist() for topic, tally in count(file.getvalue(), crashed).tallies.items()}
    {'1': [1, 2, 0], '2': [1, 2, 0]}
    """
    designs_by_hash = by_hash(designs)
    topic_counts: dict[Topic, dict[Any, _Count]] = {}
    batch_count, reports, refused_count, reason = 0, 0, 0, ""
    for batch in _all_batches(source, list(designs_by_hash.values()), bad):
        batch_count, reports, refused_count, reason = (
            batch_count + 1,
            reports + len(batch),
            refused_count + batch.refused,
            reason or batch.why,
        )
        counts = topic_counts.setdefault(Topic(*batch.heading[:3]), {})
        if batch.level not in counts:
            channel = batch.design.channel(batch.level)
            counts[batch.level] = _Count(batch.design, batch.level, Tally.kind(channel, sums))
        counts[batch.level].add(batch)
    tallies = {
        topic: _tally(designs_by_hash[topic.design], topic, counts, sums) for topic, counts in topic_counts.items()
    }
    return Counted(tallies, batch_count, reports, refused_count, reason)


def _all_batches(source: Source | Iterable[Source], designs: list[Named], bad: Bad) -> Iterator[Batch]:
    several = isinstance(source, Iterable) and not isinstance(source, str | bytes | bytearray)
    for file_source in source if several and not hasattr(source, "read") else [source]:  # type: ignore[union-attr]
        yield from read(file_source, designs, bad=bad)  # type: ignore[arg-type]


def _tally(design: Named, topic: Topic, counts: dict[Any, _Count], sums: Any) -> Tally:
    """The tally of all levels; a level on offer has a part, even if nobody chose it."""
    empty = (_Count(design, level, Tally.kind(design.channel(level), sums)) for level in design.levels)
    parts = tuple(counts.get(empty_count.level, empty_count).flush() for empty_count in empty)
    return Tally(parts, question=topic.question or None, wave=topic.wave or None)


def tally(
    source: Source | Iterable[Source],
    design: Named,
    *,
    question: str | None = None,
    wave: str | int | None = None,
    bad: Bad = "refuse",
    sums: bool | None = None,
) -> Tally:
    """The tally of the reports to one question, of one wave, under one design.

    Parameters
    ----------
    source, bad, sums
        See `count`.
    design : design
    question, wave : str, optional
        Which question and wave, where the source holds several.

    Raises
    ------
    DataError
        Also where nothing is asked for and there are several questions or waves, or where there is none.

    Examples
    --------
    >>> from io import BytesIO
    >>> from naysay import batches, designs
    >>> crashed, file = designs.k_ary(("list", "map", "search"), epsilon=1), BytesIO()
    >>> batches.write(file, crashed, ["map", "list", "map"], question="crash")
    >>> tally(file.getvalue(), crashed)
    <Tally: 3 answers to 'crash', 2 distinct>
    """
    tallies = count(source, design, bad=bad, sums=sums).tallies
    wanted_names = {"question": question, "wave": None if wave is None else str(wave)}
    matches = [
        topic
        for topic in tallies
        if all(wanted_name is None or getattr(topic, name) == wanted_name for name, wanted_name in wanted_names.items())
    ]
    if len(matches) == 1:
        return tallies[matches[0]]
    topic_list = _checks.listing_text(
        [f"{topic.question or '(no question)'}, wave {topic.wave or '(none)'}" for topic in tallies]
    )
    if not matches:
        raise DataError(
            f"there is no report to that; there are {topic_list}" if tallies else "there is no report in it"
        )
    raise DataError(f"there are several questions or waves; name one with question= and wave=: {topic_list}")
