"""The verdict of an audit: refuted, or not refuted by reports in which a larger ε would have been found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from naysay.audit.relations import FIELDS, HASHES
from naysay.printing import Column, Note, Sentence, Table, plain, text
from naysay.printing.content import Content
from naysay.printing.html import notebook

__all__ = ["Audit", "Finding"]


@dataclass(frozen=True)
class Finding:
    """The event that tells two truths apart best.

    Parameters
    ----------
    truth, other : str
    event : str
        What was seen.
    count, other_count : int
        Judged reports of either truth in which it was.
    epsilon : float
        ε that these counts show; -∞ where they show none.
    """

    truth: str
    other: str
    event: str
    count: int
    other_count: int
    epsilon: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What an audit found.

    Parameters
    ----------
    client : str
    claimed : float
        ε that the client promises.
    findings : tuple of Finding
        One for each ordered pair of truths, the most telling first.
    judged : int
        Reports of each truth by which events were judged; as many were used to find them.
    detectable : float or None
        A true ε above this would have been shown with probability .9, by an event as common as the best one; None if no
        event that common can show one.
    alpha : float
        The probability that a client which keeps its promise is refuted.
    stopped : bool
        Whether the runs ended early.
    powers : tuple of (share, ε)
        The same for events of some shares of the other truth's reports.
    replayed : bool
        Whether it was declared what a reader computes from a report and a truth.
    """

    client: str
    claimed: float
    findings: tuple[Finding, ...]
    judged: int
    detectable: float | None
    alpha: float
    stopped: bool = False
    powers: tuple[tuple[float, float | None], ...] = ()
    replayed: bool = False

    @property
    def shown(self) -> float:
        """The ε that the client was shown to exceed, at confidence 1 - α."""
        return self.findings[0].epsilon

    @property
    def refuted(self) -> bool:
        """Whether the client tells more than it promises."""
        return self.shown > self.claimed

    @property
    def verdict(self) -> str:
        """FAIL, or not refuted. No audit can show that a promise is kept."""
        return "FAIL" if self.refuted else "not refuted"

    def sections(self) -> list[Content]:
        """The audit in the vocabulary of `naysay.printing`."""
        words = (
            Column("truth", words=True),
            Column("against", words=True),
            Column("what was seen", words=True, width=60),
        )
        columns = (*words, Column("of the first"), Column("of the other"), Column("ε above"))
        rows = tuple(
            (each.truth, each.other, each.event, f"{each.count:,}", f"{each.other_count:,}", _number(each.epsilon))
            for each in self.findings
        )
        return [
            Sentence(f"{self.client}: {self.verdict}"),
            Sentence(self._told()),
            Table(columns, rows, caption=f"The most telling event of each pair; {self.judged:,} reports of each truth"),
            *([] if self.refuted else [Note(self._power()), Note(self._limits())]),
            *([Note("the runs were stopped early: fewer reports show less")] if self.stopped else []),
        ]

    def _told(self) -> str:
        best = self.findings[0]
        if self.refuted:
            return (
                f"ε = {self.claimed:.4g} is promised, and ε is above {self.shown:.4g} (confidence "
                f"{1 - self.alpha:.4g}): {best.event} tells {best.truth!r} from {best.other!r}"
            )
        shown = max(self.shown, 0)
        return f"ε = {self.claimed:.4g} is promised; at least {shown:.4g} was shown. No audit can prove that it is kept"

    def _power(self) -> str:
        """Which true ε would have been shown, by how common an event."""
        most = math.exp(-self.claimed)
        limit = f"no event in more than {most:.2g} of the other truth's reports can show an ε above {self.claimed:.4g}"
        able = [f"in one of {1 / share:,.0f} above {true:.4g}" for share, true in self.powers if true is not None]
        if not able:
            return f"{limit}, and rarer ones need more runs than these"
        return (
            "shown with probability .9, where the search picks it: a true ε of an event that is, among the other "
            f"truth's reports, {', '.join(able)}; {limit}"
        )

    def _limits(self) -> str:
        """What was not looked at."""
        hashes = "the replay that was declared" if self.replayed else f"{', '.join(HASHES)} of a salt and a truth"
        other = "" if self.replayed else "; other hashes with a seed were not run again (declare them: replay)"
        return (
            "each report was looked at by itself, its fields one by one, and two by two where all reports have the "
            f"same ones, up to {FIELDS} (equal, difference, xor; {hashes}){other}; what three fields, or several "
            "reports, tell together was not looked at"
        )

    def to_dict(self) -> dict[str, Any]:
        """The audit as one JSON object."""
        told: dict[str, Any] = plain(
            {
                "client": self.client,
                "claimed": self.claimed,
                "verdict": self.verdict,
                "shown": self.shown,
                "detectable": self.detectable,
                "powers": [{"share": share, "detectable": true} for share, true in self.powers],
                "replayed": self.replayed,
                "alpha": self.alpha,
                "judged": self.judged,
                "stopped": self.stopped,
                "findings": [asdict(each) for each in self.findings],
            }
        )
        return told

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<Audit of {self.client}: {self.verdict}>"


def _number(epsilon: float) -> str:
    return "–" if epsilon == float("-inf") else f"{epsilon:.3f}"
