"""Between batches, the counters of the database, and tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from naysay.batches import Batch, Topic
from naysay.batches.batch import layout_of
from naysay.batches.counting import runs
from naysay.collect.storage.reported import Cell
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.tally import Part, Sums, Tally

_MOST = 2**22  # counters of one question, wave and level


def check_countable(design: Answerable) -> None:
    """Raise unless the counters of a design are few, whatever comes."""
    for level in design.levels:
        channel = design.channel(level)
        layout_of(channel.space)
        if Tally.kind(channel) is Part and (channel.space.size > _MOST or channel.space.width > 1):
            raise DataError(
                f"a server counts designs of at most {_MOST:,} responses, or those whose tally keeps sums; "
                f"{design.name or design.kind} has {channel.space.size:.3g}. Keep its batches in files: naysay tally"
            )


def cells(batch: Batch) -> Counter[Cell]:
    """What a batch adds to the counters."""
    channel, codes = batch.design.channel(batch.level), batch.codes
    if Tally.kind(channel) is Sums:
        frequencies = {"named": channel.space.frequencies(codes), "size": np.bincount(channel.space.sizes(codes))}
        places = {
            what: (np.flatnonzero(people_counts), people_counts[people_counts > 0])
            for what, people_counts in frequencies.items()
        }
    else:
        # `places` may not be at hand for a space of one word, whose code is a number itself
        numbers = batch.reports if channel.space.numbered else codes[:, 0]
        places = {"report": runs(np.sort(numbers))}
    return Counter(
        {
            Cell(*batch.heading, what, place): people
            for what, (values, people_counts) in places.items()
            for place, people in zip(values.tolist(), people_counts.tolist(), strict=True)
        }
    )


def tally_of(design: Answerable, topic: Topic, counts: Mapping[Cell, int]) -> Tally:
    """The tally that the counters of a topic hold."""
    parts = []
    for level in design.levels:
        level_counts = {
            cell: people for cell, people in counts.items() if cell.level == ("" if level is None else str(level))
        }
        parts.append(_part(design.channel(level), level, level_counts))
    return Tally(tuple(parts), question=topic.question or None, wave=topic.wave or None)


def _part(channel: Any, level: Any, counts: Mapping[Cell, int]) -> Any:
    space = channel.space
    if Tally.kind(channel) is Part:
        places = np.array([cell.place for cell in counts], dtype=np.int64)
        codes = space.at(places) if space.numbered else places.reshape(-1, 1)
        return Part.of(channel, codes, level=level, count=np.array(list(counts.values()), dtype=np.int64))
    sums = {"named": np.zeros(space.dimension, np.int64), "size": np.zeros(space.dimension + 1, np.int64)}
    for cell, people in counts.items():
        sums[cell.what][cell.place] = people
    n = np.array([sums["size"].sum()])
    named_counts = sums["named"]
    return Sums(channel, level, n, n.astype(float), n.astype(float), named_counts, named_counts, sums["size"])
