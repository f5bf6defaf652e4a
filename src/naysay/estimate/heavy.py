"""Values that many people have, found without a list of them: prefix by prefix, group by group.

Values that stand out: the result of `heavy_hitters`, as data.
"""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naysay import _checks, privacy
from naysay._values import Floats
from naysay.design import Answerable, Prefixes
from naysay.design.base import check_design
from naysay.errors import DataError
from naysay.estimate.estimators import moments
from naysay.estimate.likelihood import uniform
from naysay.show import Column, Note, Points, Sentence, Table
from naysay.show.content import Content
from naysay.show.result import Records, Result, percent
from naysay.tally import Tally

_MOST = 2**20  # candidates of one group


def heavy_hitters(
    design: Answerable,
    tally: Tally,
    *,
    keep: int = 32,
    confidence: float = 0.95,
    target: str = "population",
    console: Console | None = None,
) -> HeavyHitters:
    """The values that stand out, with their shares, standard errors and intervals.

    The first group tells which beginnings are common. The `keep` most common ones are kept; the next group tells how
    they go on, and so forth. The last group has chosen none of the candidates that it is asked about, so that its
    estimates are unbiased. A value is accepted if more of its reports speak for the value than chance allows: if nobody
    had any of the candidates, one would be accepted with a chance of at most 1 - confidence (Bonferroni, from the exact
    binomial distribution). The intervals hold for all candidates at once, and so for those that were accepted.

    Parameters
    ----------
    design : Prefixes
        From `designs.heavy_hitters`.
    tally : Tally
        Of counts; tallies of parts of the reports add.
    keep : int
        How many beginnings are kept from group to group.
    confidence : float
        For all candidates of the last group together.
    target : {"population", "file"}
    console : rich Console, optional
        Where to show progress.

    Returns
    -------
    HeavyHitters

    Raises
    ------
    DataError
        Another design; a group without reports; survey weights; more than 2^20 candidates.

    References
    ----------
    T. Wang, Li & Jha (2021).

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.heavy_hitters(length=4, alphabet="abcdefghijklmnopqrstuvwxyz", epsilon=4)
    >>> rng = np.random.default_rng(20)
    >>> words = rng.choice(["cat", "dog", "bird", "newt"], 40_000, p=[0.5, 0.3, 0.199, 0.001])
    >>> found = heavy_hitters(survey, survey.tally(survey.randomize(words, rng=rng)), keep=8)
    >>> found.values[:4], found.shares[:3].round(2)
    (('cat', 'dog', 'bird'), array([0.51, 0.3 , 0.2 ]))
    """
    check_design(design)
    if not isinstance(design, Prefixes):
        raise DataError(
            f"heavy hitters are found under designs.heavy_hitters; {design.name or design.kind} has its list of values"
        )
    if tally.weighted or tally.complex is not None:
        raise DataError("heavy hitters are counted without survey weights; leave weights and sampling out")
    if tuple(part.level for part in tally.parts) != design.levels or any(
        part.design != design.channel(part.level) for part in tally.parts
    ):
        raise DataError("this tally is of another design; tally the reports with design.tally(reports, level=groups)")
    for part in tally.parts:
        if part.n == 0:
            raise DataError(f"group {part.level} has no reports; each device draws one of {len(tally.parts)} groups")
    keep, confidence_level = _checks.whole_number(keep, 1, 2**16, what="keep"), _checks.confidence(confidence)
    kept_prefixes, stages, forged_reports = [""], [], 0.0
    progress_columns = (TextColumn("groups"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *progress_columns, console=console, transient=True, disable=console is None or not console.is_terminal
    ) as progress:
        for part, prefix_bits in progress.track(list(zip(tally.parts, design.prefixes, strict=True))):
            if len(kept_prefixes) * 2 ** (prefix_bits - len(kept_prefixes[0])) > _MOST:
                raise DataError(
                    f"{len(kept_prefixes)} beginnings go on in too many ways; take a smaller step, or keep fewer"
                )
            candidates = design.candidates(kept_prefixes, prefix_bits)
            if part is tally.parts[-1]:
                break
            candidate_design = part.design.about(candidates)
            candidate_counts = replace(part, design=candidate_design).total()[0]
            best_places = np.argsort(-candidate_counts, kind="stable")[:keep]
            least_share = (
                candidate_counts[best_places[-1]] / part.n - candidate_design.structure.even_mean[1]
            ) / candidate_design.structure.even_mean[0]
            if len(candidates) > keep:
                forged_reports += (
                    max(0.0, least_share)
                    * part.n
                    * candidate_design.structure.even_mean[0]
                    / (1 - 1 / candidate_design.base)
                )
            kept_prefixes = [candidates[best_place] for best_place in best_places]
            stages.append(
                Stage(part.level, prefix_bits, part.n, len(candidates), len(kept_prefixes), float(least_share))
            )
    return _judge_candidates(design, tally, candidates, stages, forged_reports, confidence_level, target)


def _judge_candidates(
    design: Prefixes, tally: Tally, candidates: list[str], stages: list[Stage], forged: float, level: float, target: str
) -> HeavyHitters:
    """What the last group says about its candidates."""
    last_part = tally.parts[-1]
    candidate_design = last_part.design.about(candidates)
    last_tally = Tally((replace(last_part, design=candidate_design, level=None),))
    fit = moments(candidate_design, last_tally, target=target)
    alpha, q = candidate_design.structure.even_mean
    candidate_counts, error_chance = last_tally.parts[0].total()[0], (1 - level) / len(candidates)
    critical_count = int(scipy.stats.binom.isf(error_chance, last_part.n, q)) + 1
    count_order = np.argsort(-candidate_counts, kind="stable")
    candidate_intervals = fit.interval(confidence=1 - error_chance)
    forged += max(0.0, critical_count - last_part.n * q) / (1 - q)
    stages.append(
        Stage(
            last_part.level,
            design.prefixes[-1],
            last_part.n,
            len(candidates),
            int((candidate_counts >= critical_count).sum()),
            None,
        )
    )
    sizes: NDArray[np.int64] = np.array([part.n for part in tally.parts])
    size_test = uniform(sizes, len(sizes), "all groups are equally common")  # they are drawn by an even lot
    is_suspicious = size_test is not None and size_test.suspicious
    return HeavyHitters(
        design=design,
        candidates=tuple(design.value_of(candidates[candidate_place]) for candidate_place in count_order),
        estimates=fit.proportions[count_order],
        standard_errors=fit.standard_errors[count_order],
        intervals=np.asarray(candidate_intervals)[count_order],
        accepted=candidate_counts[count_order] >= critical_count,
        threshold=(critical_count / last_part.n - q) / alpha,
        confidence=level,
        target=target,
        stages=tuple(stages),
        forged=int(np.ceil(forged)),
        n=tally.n,
        warnings=(f"a client is broken or lies; it should hold that {size_test}",) if is_suspicious else (),
    )


_ROWS_IN_TEXT = 100  # rows that a text shows; all are in the data


@dataclass(frozen=True)
class Stage:
    """One group of the search.

    Parameters
    ----------
    group : int
    bits : int
        How many bits of a value it reports.
    reports, candidates, kept : int
        Its reports, what they were asked about, and how many of these went on; in the last group, were accepted.
    least : float or None
        The smallest estimated share that was kept; None in the last group.
    """

    group: int
    bits: int
    reports: int
    candidates: int
    kept: int
    least: float | None


@dataclass(frozen=True, eq=False, repr=False)
class HeavyHitters(Result):
    """Values that many people have, by decreasing share.

    Parameters
    ----------
    design : Prefixes
    candidates : (k,) tuple of str or int
        What the last group was asked about.
    estimates, standard_errors : (k,) float
        Unbiased shares, from the last group alone.
    intervals : (k, 2) float
        For all candidates at once.
    accepted : (k,) bool
        Whether a share stands out of what chance allows.
    threshold : float
        The least estimated share that is accepted.
    confidence : float
        Of the acceptance of all candidates together, and of the intervals.
    target : {"population", "file"}
    stages : tuple of Stage
    forged : int
        About how many forged reports would put any value of an attacker's choice among the accepted ones.
    n : int
        Reports in all groups.
    warnings : tuple of str
    """

    design: Answerable
    candidates: tuple[Any, ...]
    estimates: Floats
    standard_errors: Floats
    intervals: Floats
    accepted: NDArray[np.bool_]
    threshold: float
    confidence: float
    target: str
    stages: tuple[Stage, ...]
    forged: int
    n: int
    warnings: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """The accepted values, by decreasing share."""
        return tuple(
            value for value, is_accepted in zip(self.candidates, self.accepted.tolist(), strict=True) if is_accepted
        )

    @property
    def shares(self) -> Floats:
        """Their estimated shares."""
        return self.estimates[self.accepted]

    @property
    def looked_at(self) -> int:
        """How many candidates were looked at, in all groups."""
        return sum(stage.candidates for stage in self.stages)

    def parts(self) -> list[Content]:
        """The result in the vocabulary of `naysay.show`."""
        last_stage, accepted_count = self.stages[-1], len(self.values)
        accepted_text = "1 value stands out" if accepted_count == 1 else f"{accepted_count or 'no'} values stand out"
        target_text = "the population" if self.target == "population" else "the devices that reported"
        accepted_rows = [row for row in self.records().rows if row[-1]][:_ROWS_IN_TEXT]
        table_columns = (Column("value", words=True), *map(Column, ("share", "s.e.", "low", "high")))
        table_rows = tuple((str(row[0]), *(f"{number:.4f}" for number in row[1:5])) for row in accepted_rows)
        caption_text = (
            f"Shares of {target_text}; "
            f"{self.confidence:.4g} intervals hold for all {last_stage.candidates:,} candidates at once"
        )
        return [
            Sentence(f"{accepted_text} among {self.n:,} reports; {self.looked_at:,} candidates were looked at"),
            *([Table(table_columns, table_rows, caption=caption_text)] if table_rows else []),
            Points(
                (
                    f"accepted from a share of {self.threshold:.4g}: with probability {self.confidence:.4g} no value "
                    "is accepted that nobody has",
                    "values below that share may exist; a value can also be lost in an earlier group",
                    f"about {self.forged:,} forged reports ({percent(self.forged / self.n, 2)} of all) would put any "
                    "chosen value into the list",
                    "privacy of the one report of a device: "
                    f"{privacy.statement(self.design.channel(last_stage.group))}",
                )
            ),
            Table(
                tuple(map(Column, ("group", "bits", "reports", "candidates", "kept", "least share kept"))),
                tuple(
                    (
                        *(f"{number:,}" for number in astuple(stage)[:-1]),
                        "–" if stage.least is None else f"{stage.least:.4f}",
                    )
                    for stage in self.stages
                ),
                caption="The search; the last group was fresh",
            ),
            *map(Note, self.warnings),
        ]

    def records(self) -> Records:
        """All candidates of the last group, not rounded."""
        columns = (self.estimates, self.standard_errors, *self.intervals.T, self.accepted)
        names = ("value", "share", "standard_error", "low", "high", "accepted")
        return Records(names, list(zip(self.candidates, *(column.tolist() for column in columns), strict=True)))

    def numbers(self) -> dict[str, object]:
        """The result under stable names, with all candidates of the last group."""
        field_names, candidate_rows = self.records()
        return {
            "design": self.design.name or self.design.kind,
            "n": self.n,
            "target": self.target,
            "confidence": self.confidence,
            "threshold": self.threshold,
            "looked_at": self.looked_at,
            "forged": self.forged,
            "candidates": [dict(zip(field_names, candidate_row, strict=True)) for candidate_row in candidate_rows],
            "stages": [asdict(stage) for stage in self.stages],
            "warnings": self.warnings,
        }

    def __repr__(self) -> str:
        return f"<HeavyHitters: {len(self.values)} of {self.looked_at:,} candidates stand out>"
