"""An audit: run a client on known truths, and look for what tells them apart.

Events that tell two truths apart: sought on one half of the reports, judged on the other.

An event is a set of values of one feature. With probability 1 - α, ε is above

    ln(low(k, n) / high(k', n)),

where k of n reports of one truth and k' of n reports of the other are in the event, and low and high are the bounds of
Clopper and Pearson (1934) at level α / 2 each. An ε-private client keeps this below ε for every event.

The verdict of an audit: refuted, or not refuted by reports in which a larger ε would have been found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy import optimize, stats

from naysay import _checks
from naysay.audit.clients import Callee, Client, Observed, Replay
from naysay.audit.features import Codes, Feature, features, parsed
from naysay.audit.relations import FIELDS, HASHES
from naysay.errors import DataError
from naysay.show import Column, Note, Sentence, Table, plain, text
from naysay.show.content import Content
from naysay.show.html import notebook

_FEWEST = 100  # runs of each truth
_SHARES = (0.1, 0.01, 0.001)  # of the other truth's reports, in events whose power is told
_WARM = 100  # runs before those that count: the first ones are slower


def audit(
    client: Client | Callable[[str], Any],
    truths: Sequence[str],
    epsilon: float,
    *,
    runs: int = 20_000,
    alpha: float = 0.01,
    rng: np.random.Generator | None = None,
    console: Console | None = None,
    replay: Callable[[Any, str], Hashable] | None = None,
) -> Audit:
    """Whether a client that promises ε can be shown to tell more.

    Each truth is given `runs` times, in random order. All that can be observed is searched for the event that tells
    two truths apart best: the value and the bytes of a report, its length, the order of its items, members, the low
    bits of floats, what any two fields tell together, errors, the random bytes read and the time taken. The search
    uses one half of the reports. The other half judges the event, at confidence 1 - α over all ordered pairs of
    truths.

    Parameters
    ----------
    client : Client or callable
        A `Client`, or a function that takes a truth and returns its report.
    truths : sequence of str
        Two or more; all ordered pairs are judged.
    epsilon : float
        What the client promises, in nats.
    runs : int
        Of each truth.
    alpha : float
        The probability that a client which keeps its promise is refuted.
    rng : numpy Generator, optional
        For the order of the truths.
    console : rich Console, optional
        Where to show progress. Ctrl-C ends the runs, and what was seen until then is judged.
    replay : callable, optional
        Takes a report, parsed, and a truth; returns what a reader who knows the client computes from both, such as
        whether the hash of that truth under the report's seed is the one reported. Without it, relations of two fields
        and common hashes of a salt and a truth are looked at; a hash of another kind is not run again.

    Returns
    -------
    Audit

    Raises
    ------
    DataError
        Fewer than two truths, a promise that is no positive number, too few runs, or a client that does not answer.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.audit import of_design
    >>> design = designs.k_ary(("a", "b", "c"), epsilon=1.5)
    >>> audit(of_design(design), ("a", "b"), epsilon=1.0, runs=4000).verdict
    'FAIL'
    >>> audit(lambda truth: truth, ("a", "b"), epsilon=1.0, runs=400).shown > 3
    True

    A seed and a hash without noise; each of them alone is random.

    >>> import random
    >>> def hashed(seed, truth):
    ...     return random.Random(f"{seed} {truth}").randrange(16)
    >>> def report(truth):
    ...     seed = random.getrandbits(32)
    ...     return [seed, hashed(seed, truth)]
    >>> audit(report, ("a", "b"), epsilon=1.0, runs=400, alpha=1e-6).verdict
    'not refuted'
    >>> audit(report, ("a", "b"), 1.0, runs=400, replay=lambda said, truth: hashed(said[0], truth) == said[1]).verdict
    'FAIL'

    References
    ----------
    Clopper & Pearson (1934) for the bound; Bichsel, Steffen, Bogunovic & Vechev (2021) for the split halves; Mironov
    (2012) for low bits; Jin, McMurtry, Rubinstein & Ohrimenko (2022) for time.
    """
    truths = _checked_truths(truths, epsilon, runs, alpha)
    source = client if isinstance(client, Client) else Callee(client)
    order = (rng or np.random.default_rng()).permutation(len(truths) * runs) % len(truths)
    warm = np.resize(order, _WARM)
    observations, stopped = _observations(source, [truths[place] for place in (*warm, *order)], console)
    observations, order = observations[_WARM:], order[: max(len(observations) - _WARM, 0)]
    rows = [np.flatnonzero(order == place) for place in range(len(truths))]
    fewest = min(map(len, rows))
    if fewest < _FEWEST:
        raise DataError(f"the audit was stopped after {len(observations):,} runs, which are too few to judge anything")
    rows = [truth_rows[:fewest] for truth_rows in rows]
    pairs = list(itertools.permutations(range(len(truths)), 2))
    level = alpha / len(pairs)
    reader_replay = _replay_of(replay) if replay else source.replay
    all_features = list(features(observations, truths, reader_replay))
    results = [_finding_of(all_features, rows[x], rows[y], (truths[x], truths[y]), level) for x, y in pairs]
    results.sort(key=lambda finding: -finding.epsilon)
    half = fewest - fewest // 2
    clear = detectable(epsilon, results[0].other_count / half, half, level)
    powers = tuple((share, detectable(epsilon, share, half, level)) for share in _SHARES)
    return Audit(source.name, epsilon, tuple(results), half, clear, alpha, stopped, powers, reader_replay is not None)


def _replay_of(function: Callable[[Any, str], Hashable]) -> Replay:
    """What a function of a report and a truth gives for all truths."""

    def replay(reports: Sequence[bytes], truths: Sequence[str]) -> list[Hashable]:
        values: list[Hashable] = []
        for place, report in enumerate(reports):
            try:
                values.append(tuple(function(parsed(report), truth) for truth in truths))
                hash(values[-1])
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
                raise DataError(f"the replay of report {place + 1:,}, {report[:60]!r}, failed: {problem}") from None
        return values

    return replay


def _checked_truths(truths: Sequence[str], epsilon: float, runs: int, alpha: float) -> list[str]:
    texts = [str(truth) for truth in truths]
    if len(set(texts)) < 2 or len(set(texts)) < len(texts):
        raise DataError(f"an audit needs two different truths at least; got {_checks.listing_text(texts)}")
    if bad_text := next((text for text in texts if "\n" in text or "\r" in text), None):
        raise DataError(f"a truth stands in one line; got {bad_text!r}")
    if not 0 < epsilon < math.inf:
        raise DataError(f"the ε that is promised must be a number above 0; got {epsilon!r}")
    if runs < _FEWEST:
        raise DataError(f"an audit needs {_FEWEST} runs of each truth at least; got {runs!r}")
    if not 0 < alpha < 1:
        raise DataError(f"alpha must lie between 0 and 1; got {alpha!r}")
    return texts


def _observations(client: Client, truths: list[str], console: Console | None) -> tuple[list[Observed], bool]:
    """What is seen for each truth, and whether that ended early."""
    observations: list[Observed] = []
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    is_hidden = console is None or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_hidden) as progress:
        task = progress.add_task("", total=len(truths))
        try:
            for observation in client.observe(truths):
                observations.append(observation)
                if len(observations) % 256 == 0:
                    progress.update(task, completed=len(observations))
        except KeyboardInterrupt:
            return observations, True
    if len(observations) != len(truths):
        raise DataError(f"{client.name!r} gave {len(observations):,} reports for {len(truths):,} truths")
    return observations, False


def _finding_of(
    all_features: Sequence[Feature], rows: np.ndarray, other_rows: np.ndarray, names: tuple[str, str], level: float
) -> Finding:
    """The event for one ordered pair of truths, sought on a half of the reports and judged on the rest."""
    middle = len(rows) // 2
    event = best_event(all_features, rows[:middle], other_rows[:middle], level)
    count, other_count, shown_epsilon = judgment_of(event, rows[middle:], other_rows[middle:], level)
    return Finding(*names, str(event), count, other_count, shown_epsilon)


Floats = NDArray[np.float64]

_CUTS = 256  # sizes of events that are tried for each feature
_POWER = 0.9


@dataclass(frozen=True)
class Event:
    """A set of values of one feature.

    Parameters
    ----------
    feature : Feature
    inside : (values,) bool
    """

    feature: Feature
    inside: NDArray[np.bool_]

    def count(self, rows: Codes) -> int:
        """How many of these reports are in the event."""
        return int(self.inside[self.feature.codes[rows]].sum())

    def __str__(self) -> str:
        event_values = [value for value, is_inside in zip(self.feature.values, self.inside, strict=True) if is_inside]
        if len(event_values) > 3:
            return f"{self.feature.name}: {len(event_values):,} of its values"
        return f"{self.feature.name}: {' or '.join(map(_value_text, event_values))}"


def _value_text(value: object) -> str:
    text = value.decode("utf-8", errors="backslashreplace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def lower_bound(k: int, other: int, n: int, alpha: float) -> float:
    """ε that two counts of n reports each show at confidence 1 - α; -∞ where they show none.

    Examples
    --------
    >>> round(lower_bound(1534, 564, 10_000, 0.01), 3)
    0.835
    """
    low = stats.beta.ppf(alpha / 2, k, n - k + 1) if k else 0.0
    high = stats.beta.isf(alpha / 2, other + 1, n - other) if other < n else 1.0
    return float(np.log(low) - np.log(high)) if low > 0 else -np.inf


def best_event(features: Sequence[Feature], rows: Codes, other_rows: Codes, alpha: float) -> Event:
    """The event that tells the truth of `rows` from that of `other_rows` best.

    For each feature a first half of the reports orders its values by how much more often they come under the one truth,
    and the second half says how far down that order the event should reach. Without the second half, a feature that
    never takes a value twice would always seem best.
    """
    first_half, second_half = rows[0::2], rows[1::2]
    other_first, other_second = other_rows[0::2], other_rows[1::2]
    scored_events: list[tuple[float, Event]] = []
    for feature in features:
        size = len(feature.values)
        order = _order_of_values(_counts(feature, first_half, size), _counts(feature, other_first, size))
        own_sums, other_sums = (np.cumsum(_counts(feature, part, size)[order]) for part in (second_half, other_second))
        cuts = np.unique(np.linspace(0, size - 1, min(size, _CUTS)).astype(int))
        bounds = _approximate(own_sums[cuts], other_sums[cuts], len(second_half), len(other_second), alpha)
        place = int(bounds.argmax())
        inside = np.zeros(size, dtype=bool)
        inside[order[: cuts[place] + 1]] = True
        scored_events.append((float(bounds[place]), Event(feature, inside)))
    return max(scored_events, key=lambda scored_event: scored_event[0])[1]


def _counts(feature: Feature, rows: Codes, size: int) -> Codes:
    return np.bincount(feature.codes[rows], minlength=size)


def _order_of_values(here: Codes, there: Codes) -> Codes:
    """Values of a feature, those first that tell the one truth from the other most surely."""
    low, high = _wilson(here, here.sum(), -1.0), _wilson(there, there.sum(), 1.0)
    return np.asarray(np.argsort(-np.log(np.maximum(low, 1e-300)) + np.log(high), kind="stable"))


def _approximate(here: Codes, there: Codes, n: int, m: int, alpha: float) -> Floats:
    """About `lower_bound`, for many events at once."""
    reach = float(stats.norm.isf(alpha / 2))
    low, high = _wilson(here, n, -reach), _wilson(there, m, reach)
    return np.asarray(np.log(np.maximum(low, 1e-300)) - np.log(high))


def _wilson(count: Codes, n: float, reach: float) -> Floats:
    """One end of Wilson's interval of a share, `reach` standard errors away."""
    share = count / n
    half = reach * np.sqrt(share * (1 - share) / n + reach**2 / (4 * n**2))
    return np.asarray((share + reach**2 / (2 * n) + half) / (1 + reach**2 / n))


def judgment_of(event: Event, rows: Codes, other_rows: Codes, alpha: float) -> tuple[int, int, float]:
    """Reports of either truth in an event, and the ε that they show."""
    own_count, other_count = event.count(rows), event.count(other_rows)
    return own_count, other_count, lower_bound(own_count, other_count, min(len(rows), len(other_rows)), alpha)


def detectable(epsilon: float, share: float, n: int, alpha: float) -> float | None:
    """The true ε that n reports of either truth would have shown to be above `epsilon`, with probability .9.

    None if no event of this share can show one: e^ε times the share of the other truth would be more than all reports
    of the one truth.

    Parameters
    ----------
    epsilon : float
        The ε that is claimed.
    share : float
        Of the reports of the other truth that are in the event.
    n : int
    alpha : float

    Examples
    --------
    >>> import math
    >>> round(detectable(1.0, 1 / (math.exp(1.1) + 15), 50_100, 0.01), 3)
    1.1
    """
    share = max(share, 0.5 / n)
    certain, powerful = stats.norm.isf(alpha / 2), stats.norm.isf(1 - _POWER)

    def gap(true: float) -> float:
        own_share = min(share * np.exp(true), 1 - 0.5 / n)
        own_spread, other_spread = np.sqrt((1 - own_share) / own_share), np.sqrt((1 - share) / share)
        needed_gap = certain * (own_spread + other_spread) + powerful * np.hypot(own_spread, other_spread)
        return float((true - epsilon) * np.sqrt(n) - needed_gap)

    most_epsilon = -float(np.log(share))
    if most_epsilon <= epsilon or gap(most_epsilon) < 0:
        return None
    return float(optimize.brentq(gap, epsilon, most_epsilon))


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
        """The audit in the vocabulary of `naysay.show`."""
        words = (
            Column("truth", words=True),
            Column("against", words=True),
            Column("what was seen", words=True, width=60),
        )
        columns = (*words, Column("of the first"), Column("of the other"), Column("ε above"))
        rows = tuple(
            (
                finding.truth,
                finding.other,
                finding.event,
                f"{finding.count:,}",
                f"{finding.other_count:,}",
                _number(finding.epsilon),
            )
            for finding in self.findings
        )
        return [
            Sentence(f"{self.client}: {self.verdict}"),
            Sentence(self._summary_sentence()),
            Table(columns, rows, caption=f"The most telling event of each pair; {self.judged:,} reports of each truth"),
            *([] if self.refuted else [Note(self._power()), Note(self._limits())]),
            *([Note("the runs were stopped early: fewer reports show less")] if self.stopped else []),
        ]

    def _summary_sentence(self) -> str:
        best = self.findings[0]
        if self.refuted:
            return (
                f"ε = {self.claimed:.4g} is promised, and ε is above {self.shown:.4g} (confidence "
                f"{1 - self.alpha:.4g}): {best.event} tells {best.truth!r} from {best.other!r}"
            )
        epsilon_shown = max(self.shown, 0)
        return (
            f"ε = {self.claimed:.4g} is promised; at least {epsilon_shown:.4g} was shown. "
            "No audit can prove that it is kept"
        )

    def _power(self) -> str:
        """Which true ε would have been shown, by how common an event."""
        most_share = math.exp(-self.claimed)
        limit = (
            f"no event in more than {most_share:.2g} of the other truth's reports "
            f"can show an ε above {self.claimed:.4g}"
        )
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
        other_hashes = "" if self.replayed else "; other hashes with a seed were not run again (declare them: replay)"
        return (
            "each report was looked at by itself, its fields one by one, and two by two where all reports have the "
            f"same ones, up to {FIELDS} (equal, difference, xor; {hashes}){other_hashes}; what three fields, or "
            "several reports, tell together was not looked at"
        )

    def to_dict(self) -> dict[str, Any]:
        """The audit as one JSON object."""
        json_object: dict[str, Any] = plain(
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
                "findings": [asdict(finding) for finding in self.findings],
            }
        )
        return json_object

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<Audit of {self.client}: {self.verdict}>"


def _number(epsilon: float) -> str:
    return "–" if epsilon == float("-inf") else f"{epsilon:.3f}"
