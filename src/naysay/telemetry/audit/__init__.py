"""Attack a client that randomizes answers, and say what ε it can be shown to exceed.

`audit` runs a client on known truths, looks at everything that it lets out, and judges whether its reports tell more
about the truth than ε allows. Events that tell two truths apart are sought on one half of the reports, and judged on
the other. An event is a set of values of one feature. With probability 1 - α, ε is above

    ln(low(k, n) / high(k', n)),

where k of n reports of one truth and k' of n reports of the other are in the event, and low and high are the bounds of
Clopper and Pearson (1934) at level α / 2 each. An ε-private client keeps this below ε for every event.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy import optimize, stats

from naysay import _checks
from naysay._values import Flags, Floats, Integers
from naysay.errors import DataError
from naysay.show import Column, Note, Sentence, Table
from naysay.show.content import Content
from naysay.show.result import Result, rounded_down
from naysay.telemetry.audit.clients import (
    Callee,
    Client,
    Command,
    Endpoint,
    Observed,
    Replay,
    Walked,
    of_design,
    walked,
)
from naysay.telemetry.audit.features import FIELDS, HASHES, Feature, features, parsed

__all__ = ["Audit", "Callee", "Client", "Command", "Endpoint", "Finding", "Observed", "Walked", "audit", "of_design"]
__all__ += ["walked"]

_FEWEST = 100  # runs of each truth
_SHARES = (0.1, 0.01, 0.001)  # of the other truth's reports, in events whose power is told
_WARM = 100  # runs before those that count: the first ones are slower


def audit(
    client: Client | Callable[[str], object],
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
        Runs of each truth.
    alpha : float
        The probability that a client which keeps its promise fails.
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
    >>> from naysay.telemetry.audit import of_design
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
    truth_order = (rng or np.random.default_rng()).permutation(len(truths) * runs) % len(truths)
    warm_up_places = np.resize(truth_order, _WARM)
    observations, was_stopped = _observations(
        source, [truths[place] for place in (*warm_up_places, *truth_order)], console
    )
    observations, truth_order = observations[_WARM:], truth_order[: max(len(observations) - _WARM, 0)]
    rows_by_truth = [np.flatnonzero(truth_order == place) for place in range(len(truths))]
    fewest_runs = min(map(len, rows_by_truth))
    if fewest_runs < _FEWEST:
        raise DataError(f"the audit was stopped after {len(observations):,} runs, which are too few to judge anything")
    rows_by_truth = [truth_rows[:fewest_runs] for truth_rows in rows_by_truth]
    truth_pairs = list(itertools.permutations(range(len(truths)), 2))
    pair_alpha = alpha / len(truth_pairs)
    reader_replay = _replay_of(replay) if replay else source.replay
    all_features = list(features(observations, truths, reader_replay))
    pair_findings = [
        _finding_of(all_features, rows_by_truth[x], rows_by_truth[y], (truths[x], truths[y]), pair_alpha)
        for x, y in truth_pairs
    ]
    pair_findings.sort(key=lambda finding: -finding.epsilon)
    judged_count = fewest_runs - fewest_runs // 2
    detectable_epsilon = detectable(epsilon, pair_findings[0].other_count / judged_count, judged_count, pair_alpha)
    powers = tuple((share, detectable(epsilon, share, judged_count, pair_alpha)) for share in _SHARES)
    return Audit(
        source.name,
        epsilon,
        tuple(pair_findings),
        judged_count,
        detectable_epsilon,
        alpha,
        was_stopped,
        powers,
        reader_replay is not None,
    )


def _replay_of(function: Callable[[Any, str], Hashable]) -> Replay:
    """What a function of a report and a truth gives for all truths."""

    def replay(reports: Sequence[bytes], truths: Sequence[str]) -> list[Hashable]:
        values: list[Hashable] = []
        for report_place, report in enumerate(reports):
            try:
                values.append(tuple(function(parsed(report), truth) for truth in truths))
                hash(values[-1])
            except Exception as error:
                problem_text = f"{type(error).__name__}: {error}"
                raise DataError(
                    f"the replay of report {report_place + 1:,}, {report[:60]!r}, failed: {problem_text}"
                ) from None
        return values

    return replay


def _checked_truths(truths: Sequence[str], epsilon: float, runs: int, alpha: float) -> list[str]:
    truth_texts = [str(truth) for truth in truths]
    if len(set(truth_texts)) < 2 or len(set(truth_texts)) < len(truth_texts):
        raise DataError(f"an audit needs two different truths at least; got {_checks.listing_text(truth_texts)}")
    if bad_text := next((truth_text for truth_text in truth_texts if "\n" in truth_text or "\r" in truth_text), None):
        raise DataError(f"a truth stands in one line; got {bad_text!r}")
    if not 0 < epsilon < math.inf:
        raise DataError(f"the ε that is promised must be a number above 0; got {epsilon!r}")
    if runs < _FEWEST:
        raise DataError(f"an audit needs {_FEWEST} runs of each truth at least; got {runs!r}")
    if not 0 < alpha < 1:
        raise DataError(f"alpha must lie between 0 and 1; got {alpha!r}")
    return truth_texts


def _observations(client: Client, truths: list[str], console: Console | None) -> tuple[list[Observed], bool]:
    """What is seen for each truth, and whether that ended early."""
    observations: list[Observed] = []
    progress_columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    is_hidden = console is None or not console.is_terminal
    with Progress(*progress_columns, console=console, transient=True, disable=is_hidden) as progress:
        progress_task = progress.add_task("", total=len(truths))
        try:
            for observation in client.observe(truths):
                observations.append(observation)
                if len(observations) % 256 == 0:
                    progress.update(progress_task, completed=len(observations))
        except KeyboardInterrupt:
            return observations, True
    if len(observations) != len(truths):
        raise DataError(f"{client.name!r} gave {len(observations):,} reports for {len(truths):,} truths")
    return observations, False


def _finding_of(
    all_features: Sequence[Feature], rows: np.ndarray, other_rows: np.ndarray, names: tuple[str, str], level: float
) -> Finding:
    """The event for one ordered pair of truths, sought on a half of the reports and judged on the rest."""
    half_count = len(rows) // 2
    event = best_event(all_features, rows[:half_count], other_rows[:half_count], level)
    own_count, other_count = event.count(rows[half_count:]), event.count(other_rows[half_count:])
    shown_epsilon = lower_bound(own_count, other_count, len(rows) - half_count, level)
    return Finding(*names, str(event), own_count, other_count, shown_epsilon)


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
    inside: Flags

    def count(self, rows: Integers) -> int:
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


def best_event(features: Sequence[Feature], rows: Integers, other_rows: Integers, alpha: float) -> Event:
    """The event that tells the truth of `rows` from that of `other_rows` best.

    For each feature a first half of the reports orders its values by how much more often they come under the one truth,
    and the second half says how far down that order the event should reach. Without the second half, a feature that
    never takes a value twice would always seem best.
    """
    first_half, second_half = rows[0::2], rows[1::2]
    other_first, other_second = other_rows[0::2], other_rows[1::2]
    scored_events: list[tuple[float, Event]] = []
    for feature in features:
        value_count = len(feature.values)
        value_order = _order_of_values(
            _counts(feature, first_half, value_count), _counts(feature, other_first, value_count)
        )
        own_sums, other_sums = (
            np.cumsum(_counts(feature, half_rows, value_count)[value_order])
            for half_rows in (second_half, other_second)
        )
        cut_places = np.unique(np.linspace(0, value_count - 1, min(value_count, _CUTS)).astype(int))
        cut_bounds = _approximate(
            own_sums[cut_places], other_sums[cut_places], len(second_half), len(other_second), alpha
        )
        best_cut = int(cut_bounds.argmax())
        is_inside = np.zeros(value_count, dtype=bool)
        is_inside[value_order[: cut_places[best_cut] + 1]] = True
        scored_events.append((float(cut_bounds[best_cut]), Event(feature, is_inside)))
    return max(scored_events, key=lambda scored_event: scored_event[0])[1]


def _counts(feature: Feature, rows: Integers, size: int) -> Integers:
    return np.bincount(feature.codes[rows], minlength=size)


def _order_of_values(here: Integers, there: Integers) -> Integers:
    """Values of a feature, those first that tell the one truth from the other most surely."""
    low_shares, high_shares = _wilson(here, here.sum(), -1.0), _wilson(there, there.sum(), 1.0)
    return np.asarray(np.argsort(-np.log(np.maximum(low_shares, 1e-300)) + np.log(high_shares), kind="stable"))


def _approximate(here: Integers, there: Integers, n: int, m: int, alpha: float) -> Floats:
    """About `lower_bound`, for many events at once."""
    reach = float(stats.norm.isf(alpha / 2))
    low_shares, high_shares = _wilson(here, n, -reach), _wilson(there, m, reach)
    return np.asarray(np.log(np.maximum(low_shares, 1e-300)) - np.log(high_shares))


def _wilson(count: Integers, n: float, reach: float) -> Floats:
    """One end of Wilson's interval of a share, `reach` standard errors away."""
    share = count / n
    half_width = reach * np.sqrt(share * (1 - share) / n + reach**2 / (4 * n**2))
    return np.asarray((share + reach**2 / (2 * n) + half_width) / (1 + reach**2 / n))


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
    alpha_reach, power_reach = stats.norm.isf(alpha / 2), stats.norm.isf(1 - _POWER)

    def gap(true: float) -> float:
        own_share = min(share * np.exp(true), 1 - 0.5 / n)
        own_spread, other_spread = np.sqrt((1 - own_share) / own_share), np.sqrt((1 - share) / share)
        needed_gap = alpha_reach * (own_spread + other_spread) + power_reach * np.hypot(own_spread, other_spread)
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
class Audit(Result):
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
        The probability that a client which keeps its promise fails.
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

    def parts(self) -> list[Content]:
        """The verdict, the most telling event of each pair, and what the audit could not see."""
        word_columns = (
            Column("truth", words=True),
            Column("against", words=True),
            Column("what was seen", words=True, width=60),
        )
        table_columns = (*word_columns, Column("of the first"), Column("of the other"), Column("ε above"))
        table_rows = tuple(
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
            Table(
                table_columns,
                table_rows,
                caption=f"The most telling event of each pair; {self.judged:,} reports of each truth",
            ),
            *([] if self.refuted else [Note(self._power()), Note(self._limits())]),
            *([Note("the runs were stopped early: fewer reports show less")] if self.stopped else []),
        ]

    def _summary_sentence(self) -> str:
        best_finding = self.findings[0]
        if self.refuted:
            return (
                f"ε = {self.claimed:.4g} is promised, and ε is above {rounded_down(self.shown, 4)} (confidence "
                f"{1 - self.alpha:.4g}): {best_finding.event} tells {best_finding.truth!r} from {best_finding.other!r}"
            )
        return (
            f"ε = {self.claimed:.4g} is promised; at least {rounded_down(max(self.shown, 0), 4)} was shown. "
            "No audit can prove that it is kept"
        )

    def _power(self) -> str:
        """Which true ε would have been shown, by how common an event."""
        most_share = math.exp(-self.claimed)
        limit_text = (
            f"no event in more than {most_share:.2g} of the other truth's reports "
            f"can show an ε above {self.claimed:.4g}"
        )
        event_texts = [
            f"in one of {1 / share:,.0f} above {true_epsilon:.4g}"
            for share, true_epsilon in self.powers
            if true_epsilon is not None
        ]
        if not event_texts:
            return f"{limit_text}, and rarer ones need more runs than these"
        return (
            "this audit would have shown, with probability .9, a true ε by an event that the search picks. The rarer "
            f"the event among the other truth's reports, the larger ε must be: {', '.join(event_texts)}; {limit_text}"
        )

    def _limits(self) -> str:
        """What was not looked at."""
        hash_text = "the replay that was declared" if self.replayed else f"{', '.join(HASHES)} of a salt and a truth"
        other_hashes = "" if self.replayed else "; other hashes with a seed were not run again (declare them: replay)"
        return (
            "each report was looked at by itself, its fields one by one, and two by two where all reports have the "
            f"same ones, up to {FIELDS} (equal, difference, xor; {hash_text}){other_hashes}; what three fields, or "
            "several reports, tell together was not looked at"
        )

    def numbers(self) -> dict[str, object]:
        """All numbers, under the names of its JSON."""
        return {
            "client": self.client,
            "claimed": self.claimed,
            "verdict": self.verdict,
            "shown": self.shown,
            "detectable": self.detectable,
            "powers": [{"share": share, "detectable": true_epsilon} for share, true_epsilon in self.powers],
            "replayed": self.replayed,
            "alpha": self.alpha,
            "judged": self.judged,
            "stopped": self.stopped,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __repr__(self) -> str:
        return f"<Audit of {self.client}: {self.verdict}>"


def _number(epsilon: float) -> str:
    return "–" if epsilon == float("-inf") else f"{epsilon:.3f}"
