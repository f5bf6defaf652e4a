"""What reports are counted for: opened, closed, listed, and their tallies."""

from __future__ import annotations

from collections.abc import Mapping

from naysay.batches import Heading, Topic
from naysay.collect.reports.cells import check_countable, tally_of
from naysay.collect.storage import Store, reported, today
from naysay.collect.storage.reported import TopicStatus
from naysay.design import Answerable, Design
from naysay.errors import DataError
from naysay.tally import Tally


def open_topic(store: Store, design: Answerable, *, question: str = "", wave: str = "") -> Topic:
    """Count reports for a design, a question and a wave, from now on or again.

    Raises
    ------
    DataError
        A name of more than 140 characters, or a design whose counters would be too many.

    Examples
    --------
    >>> from naysay import designs
    >>> store = Store("sqlite://")
    >>> topic = open_topic(store, designs.k_ary(("list", "map", "search"), epsilon=1), question="crash")
    >>> [(each.topic.question, each.reports) for each in all_topics(store)]
    [('crash', 0)]
    >>> store.dispose()
    """
    check_countable(design)
    topic = Topic(*Heading(design.hash, question, wave).checked()[:3])
    with store.engine.begin() as connection:
        reported.open_(connection, topic, design.to_json().encode(), today())
    return topic


def close(store: Store, topic: Topic) -> None:
    """Count no more reports for a topic; what was counted stays."""
    with store.engine.begin() as connection:
        reported.close(connection, topic, today())


def all_topics(store: Store) -> tuple[TopicStatus, ...]:
    """Everything that reports are or were counted for, with how many have come."""
    with store.reading() as connection:
        return reported.topic_statuses(connection)


def topic_of(store: Store, *, question: str | None, wave: str | None, design: str | None = None) -> TopicStatus:
    """The one topic of this question and wave; with several designs, of the one whose hash begins so.

    Raises
    ------
    DataError
        None or several are meant; the message lists all.
    """
    return reported.only(all_topics(store), question, wave, design)


def design_of(content: bytes) -> Answerable:
    """The design that a topic was opened with."""
    return Design.from_json(content.decode())


def tally(store: Store, topic_status: TopicStatus) -> Tally:
    """The tally of all reports to a topic.

    Raises
    ------
    DataError
        None has come yet.
    """
    with store.reading() as connection:
        counts: Mapping[reported.Cell, int] = reported.counts(connection, topic_status.topic)
    if not counts:
        raise DataError(f"no report to {topic_status.topic.question!r} has come yet")
    return tally_of(design_of(topic_status.content), topic_status.topic, counts)
