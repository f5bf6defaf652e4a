"""The writer: a thread that stores queued submissions in groups. Each is acknowledged once it is stored."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from naysay._checks import several
from naysay.collect.storage import Outcome, Reply, Reports, Store, Taking, today
from naysay.collect.survey.submission import Refusal

log = logging.getLogger("naysay.collect")

GROUP = 1_000  # the most replies in one transaction
WAITING = 10_000  # the most replies in the queue; a server that falls further behind refuses more
LOOK = 1.0  # seconds between two looks at the database: a survey may be new, or closed
TALLIED = 500  # replies that are counted at once: for a part of a second nothing else is stored
_RETRY = 5  # seconds

_Waiting = tuple[Reply | Taking | Reports, "Future[Outcome]"]


class Unstored:
    """A queue that stores nothing, for previews: every reply is taken, and forgotten."""

    healthy = True

    def start(self) -> None:
        """Nothing."""

    def submit(self, reply: Reply | Taking | Reports) -> Future[Outcome]:
        """An outcome at once: ``unstored``."""
        future: Future[Outcome] = Future()
        future.set_result(Outcome("unstored", today()))
        return future

    def stop(self) -> None:
        """Nothing."""


class Writer:
    """A thread that stores what is submitted, in the order of random ids, group by group.

    Parameters
    ----------
    store : Store
    look : callable
        Another query of the database; it is called in the thread about once a second.
    fold : callable
        Takes a number, counts at most so many new replies, and tells how many; it is called in the thread once so many
        have come, and once a second.
    every : float
        Seconds after which new replies are rewritten, so that their order does not tell when they came.
    """

    def __init__(
        self, store: Store, *, look: Callable[[], None], fold: Callable[[int], int], every: float = 60.0
    ) -> None:
        self._store = store
        self._look = look
        self._fold = fold
        self._every = every
        self._line: queue.Queue[_Waiting | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._run, name="naysay-writer")
        self._stopping = threading.Event()
        self._looked = self._settled = time.monotonic()
        self._pause = every
        self._untallied = 0
        self._behind = True  # an earlier server may have left replies that no tally counts
        self._day = today()  # of the last time that it was settled
        self._dirty = True  # a server that was killed has left replies in the order in which they came
        self.healthy = True
        self.stored = 0
        self.counted = 0  # reports

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def submit(self, reply: Reply | Taking | Reports) -> Future[Outcome]:
        """What will become of a reply, or of an invitation that is taken, once it is known.

        Raises
        ------
        Refusal
            ``unavailable``, where the server stops or too many are waiting.
        """
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()  # from here on it is stored, even if the respondent goes away
        try:
            if self._stopping.is_set():
                raise queue.Full
            self._line.put_nowait((reply, future))
        except queue.Full:
            raise _unavailable() from None
        return future

    def stop(self) -> None:
        """Store everything queued, rewrite replies in random order, and join the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._line.put(None)
            self._thread.join()
        reports_text = f", {several(self.counted, 'report', 'reports')} counted" if self.counted else ""
        log.info("stopped; %s stored%s since the start", several(self.stored, "answer", "answers"), reports_text)

    def _run(self) -> None:
        self._settle()
        is_going = True
        while is_going or not self._line.empty():  # what was submitted before the end may stand behind it in the queue
            group = self._group()
            is_going = is_going and None not in group
            self._write([waiting_entry for waiting_entry in group if waiting_entry is not None])
            self._step()
        self._settle()

    def _group(self) -> list[_Waiting | None]:
        """What waits in the queue now; None stands for the end."""
        waiting_entries: list[_Waiting | None] = []
        with contextlib.suppress(queue.Empty):
            waiting_entries.append(self._line.get(timeout=0 if self._behind else LOOK))
            while len(waiting_entries) < GROUP:
                waiting_entries.append(self._line.get_nowait())
        return waiting_entries

    def _write(self, group: list[_Waiting]) -> None:
        """Store a group, and tell each sender the outcome. A reply that the database cannot take harms no other."""
        if not group:
            return
        try:
            outcomes = self._store_group([reply for reply, _ in group])
        except SQLAlchemyError as error:
            self._log_failure("storing", error)
            if len(group) > 1 and not isinstance(error, OperationalError):
                for waiting_entry in group:  # one by one: a reply that cannot be stored must not refuse the others
                    self._write([waiting_entry])
            else:
                _refuse(group, _unavailable())
        except Exception as error:  # the thread lives on, whatever happens
            self._log_failure("storing", error)
            _refuse(group, Refusal("internal", "the server made a mistake; nothing was stored"))
        else:
            self.healthy = True
            for (_, future), outcome in zip(group, outcomes, strict=True):
                future.set_result(outcome)

    def _store_group(self, replies: Sequence[Reply | Taking | Reports]) -> list[Outcome]:
        try:
            outcomes = self._store.add(replies)
        except IntegrityError:  # another server stored one of them in the meantime: look again
            outcomes = self._store.add(replies)
        fresh_count = sum(outcome.what == "stored" for outcome in outcomes)
        self.stored += fresh_count
        outcome_pairs = zip(replies, outcomes, strict=True)
        self.counted += sum(
            report_group.size
            for report_group, outcome in outcome_pairs
            if isinstance(report_group, Reports) and outcome.what == "counted"
        )
        self._dirty = self._dirty or any(outcome.what in ("stored", "taken", "counted") for outcome in outcomes)
        self._untallied += fresh_count
        return outcomes

    def _step(self) -> None:
        """Look at the database when it is time, and settle it when it is time."""
        now = time.monotonic()
        has_looked = now - self._looked >= LOOK
        if has_looked:
            self._looked = now
            try:
                self._look()
                self.healthy = True
            except Exception as error:  # the thread lives on, whatever happens
                self._log_failure("reading", error)
        if self._behind or self._untallied >= TALLIED or (has_looked and self._untallied):
            self._tally()
        self._dirty = self._dirty or today() != self._day  # what is kept for a day must go
        if self._dirty and now - self._settled >= self._pause:
            self._settle()

    def _tally(self) -> None:
        """Count new replies, only some at once: others wait for it to be stored."""
        try:
            self._behind = self._fold(TALLIED) == TALLIED
            self._untallied = 0
        except Exception as error:  # the thread lives on, and readers count what no tally counts
            was_healthy = self.healthy
            self._log_failure("counting", error)
            self.healthy, self._behind = was_healthy, False  # answers are stored all the same

    def _settle(self) -> None:
        """Settle, and spend at most a twentieth of the time on it."""
        if not self._dirty:
            return
        start_time = time.monotonic()
        if self._untallied:
            self._tally()
        settling_day = today()
        try:
            self._store.settle()
            self._dirty, self._day = False, settling_day
        except Exception as error:  # the thread lives on, and tries again later
            self._log_failure("settling", error)
        self._settled = time.monotonic()  # after a failure, too: else it would try again at once, without end
        self._pause = max(self._every, 20 * (self._settled - start_time))

    def _log_failure(self, doing: str, error: Exception) -> None:
        """Log the class of an error and the database's code for it, never its message: that may hold what was sent."""
        self.healthy = False
        database_error = getattr(error, "orig", None)
        error_code = getattr(database_error, "sqlite_errorname", None) or getattr(database_error, "sqlstate", None)
        log.error(
            "the database failed while %s: %s", doing, type(error).__name__ + (f" ({error_code})" if error_code else "")
        )


Line = Unstored | Writer
"""Where replies go."""


def _refuse(group: list[_Waiting], refusal: Refusal) -> None:
    for _, future in group:
        future.set_exception(refusal)


def _unavailable() -> Refusal:
    message_text = "answers cannot be stored right now; nothing is lost, send the same again in a moment"
    return Refusal("unavailable", message_text, retry_after=_RETRY)
