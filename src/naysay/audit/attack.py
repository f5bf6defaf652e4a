"""An audit: run a client on known truths, and look for what tells them apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naysay import _checks
from naysay.audit.clients import Callee, Client, Observed, Replay
from naysay.audit.features import Feature, features, parsed
from naysay.audit.judging import detectable, judged, sought
from naysay.audit.verdict import Audit, Finding
from naysay.errors import DataError

__all__ = ["audit"]

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
    truths = _checked(truths, epsilon, runs, alpha)
    source = client if isinstance(client, Client) else Callee(client)
    order = (rng or np.random.default_rng()).permutation(len(truths) * runs) % len(truths)
    warm = np.resize(order, _WARM)
    seen, stopped = _observed(source, [truths[place] for place in (*warm, *order)], console)
    seen, order = seen[_WARM:], order[: max(len(seen) - _WARM, 0)]
    rows = [np.flatnonzero(order == place) for place in range(len(truths))]
    fewest = min(map(len, rows))
    if fewest < _FEWEST:
        raise DataError(f"the audit was stopped after {len(seen):,} runs, which are too few to judge anything")
    rows = [each[:fewest] for each in rows]
    pairs = list(itertools.permutations(range(len(truths)), 2))
    level = alpha / len(pairs)
    known = _replayed(replay) if replay else source.replay
    found = list(features(seen, truths, known))
    results = [_judged(found, rows[x], rows[y], (truths[x], truths[y]), level) for x, y in pairs]
    results.sort(key=lambda each: -each.epsilon)
    half = fewest - fewest // 2
    clear = detectable(epsilon, results[0].other_count / half, half, level)
    powers = tuple((share, detectable(epsilon, share, half, level)) for share in _SHARES)
    return Audit(source.name, epsilon, tuple(results), half, clear, alpha, stopped, powers, known is not None)


def _replayed(function: Callable[[Any, str], Hashable]) -> Replay:
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


def _checked(truths: Sequence[str], epsilon: float, runs: int, alpha: float) -> list[str]:
    texts = [str(truth) for truth in truths]
    if len(set(texts)) < 2 or len(set(texts)) < len(texts):
        raise DataError(f"an audit needs two different truths at least; got {_checks.shown(texts)}")
    if bad := next((text for text in texts if "\n" in text or "\r" in text), None):
        raise DataError(f"a truth stands in one line; got {bad!r}")
    if not 0 < epsilon < math.inf:
        raise DataError(f"the ε that is promised must be a number above 0; got {epsilon!r}")
    if runs < _FEWEST:
        raise DataError(f"an audit needs {_FEWEST} runs of each truth at least; got {runs!r}")
    if not 0 < alpha < 1:
        raise DataError(f"alpha must lie between 0 and 1; got {alpha!r}")
    return texts


def _observed(client: Client, truths: list[str], console: Console | None) -> tuple[list[Observed], bool]:
    """What is seen for each truth, and whether that ended early."""
    seen: list[Observed] = []
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = console is None or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=len(truths))
        try:
            for each in client.observe(truths):
                seen.append(each)
                if len(seen) % 256 == 0:
                    progress.update(task, completed=len(seen))
        except KeyboardInterrupt:
            return seen, True
    if len(seen) != len(truths):
        raise DataError(f"{client.name!r} gave {len(seen):,} reports for {len(truths):,} truths")
    return seen, False


def _judged(
    found: Sequence[Feature], rows: np.ndarray, others: np.ndarray, names: tuple[str, str], level: float
) -> Finding:
    """The event for one ordered pair of truths, sought on a half of the reports and judged on the rest."""
    middle = len(rows) // 2
    event = sought(found, rows[:middle], others[:middle], level)
    count, other, shown = judged(event, rows[middle:], others[middle:], level)
    return Finding(*names, str(event), count, other, shown)
