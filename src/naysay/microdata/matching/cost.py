"""Which algorithm to take: what each would cost on this file, and why one was chosen.

The constants were measured on two cores (`benchmarks/risk.py` prints estimates beside times); what matters is their
ratios, and that the choice is right where algorithms differ by an order of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching import cube
from naysay.microdata.matching.bitmaps import BLOCK, Bitmaps
from naysay.microdata.matching.cube import Cube
from naysay.microdata.matching.join import Join
from naysay.microdata.matching.question import Counter, File, file_of

__all__ = ["ALGORITHMS", "Cost", "Plan", "counter_of", "explain"]

ALGORITHMS = ("cube", "join", "bitmap")
_ROOM = 2 * 2**30  # bytes that an array of combinations may take


@dataclass(frozen=True)
class Cost:
    """What one algorithm would take: seconds on a machine like the one measured, bytes of memory, and from what."""

    algorithm: str
    seconds: float
    bytes: float
    why: str


@dataclass(frozen=True)
class Plan:
    """The choice among algorithms for one file and rule, to be printed.

    Parameters
    ----------
    chosen : str
        The algorithm taken.
    costs : tuple of Cost
        All of them, the cheapest first.
    respondents, distinct, patterns : int
        What they were estimated from.
    """

    chosen: str
    costs: tuple[Cost, ...]
    respondents: int
    distinct: int
    patterns: int

    def __str__(self) -> str:
        lines = [
            f"{self.respondents:,} respondents, {self.distinct:,} distinct tuples,"
            f" {self.patterns:,} patterns of missing keys"
        ]
        for cost in self.costs:
            mark = "→" if cost.algorithm == self.chosen else " "
            lines.append(
                f"{mark} {cost.algorithm:<6} about {cost.seconds:.2g} s, {cost.bytes / 2**20:,.0f} MB: {cost.why}"
            )
        return "\n".join(lines)


def explain(keys: Keys, *, rule: str = "worst") -> Plan:
    """What `matches` would do with these keys, and the estimated cost of each algorithm.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, None, 23], "gender": ["M", "F", "F"]}, ["age", "gender"])
    >>> microdata.explain(keys).chosen
    'cube'
    """
    return _plan(file_of(keys, rule, None))


def _plan(file: File) -> Plan:
    costs = sorted((_cube(file), _join(file), _bitmap(file)), key=lambda cost: cost.seconds)
    possible = [cost for cost in costs if cost.bytes <= _ROOM]
    return Plan((possible or costs)[0].algorithm, tuple(costs), file.tuples.n, len(file.tuples), file.tuples.patterns)


def _cube(file: File) -> Cost:
    cells = cube.combinations(file)
    axes = sum(file.gaps) + sum(file.uncertain)
    why = f"{cells:.3g} combinations × {axes} open keys"
    seconds = 2e-9 * cells * (1 + axes) + 2e-8 * file.questions + 2e-8 * file.agreements
    return Cost("cube", seconds, 8.0 * cells + 50.0 * file.agreements, why)


def _join(file: File) -> Cost:
    asked, patterns = file.questions, file.tuples.patterns
    rows = patterns * (file.spread + asked)
    why = f"{patterns:,} patterns × {len(file.tuples):,} tuples, {asked:.3g} questions"
    seconds = 4e-8 * rows + 4e-3 * patterns * (1 + 1e-5 * file.agreements)
    return Cost("join", seconds, 200.0 * min(rows, 4e6 + file.spread + asked) + 50.0 * file.agreements, why)


def _bitmap(file: File) -> Cost:
    asked, blocks = file.questions, max(1, -(-len(file.tuples) // BLOCK))
    built = blocks * BLOCK * float(sum(min(size, BLOCK) for size in file.tuples.sizes))
    each = 2.5e-8 if find_spec("numba") else 5e-7
    why = f"{asked:.3g} questions × {blocks:,} blocks of {BLOCK:,} tuples"
    several = [cells for cells, many in zip(file.cells, file.uncertain, strict=True) if many]
    united = 0.0 if file.by_value else 64.0 * blocks * sum(len(cells.members) for cells in several)  # words
    wide = BLOCK * float(sum(len(cells.values) + (0 if file.by_value else cells.size / 8) for cells in several))
    seconds = 0.02 + each * asked * blocks + 3e-10 * (built + wide * blocks) + 3e-8 * file.held + 1e-9 * united
    room = 64.0 * min(asked, 4e6) + 3 * min(wide, 1.0 * BLOCK * file.held) + 24 * file.held / blocks
    return Cost("bitmap", seconds, room, why)


def counter_of(file: File, algorithm: str | None, progress: Callable[[float], None] | None = None) -> Counter:
    """The algorithm asked for, or the one with the least estimated cost, ready to count."""
    chosen = algorithm or _plan(file).chosen
    if chosen not in ALGORITHMS:
        raise DataError(f"algorithm must be one of {_checks.shown(ALGORITHMS)}; got {chosen!r}")
    if chosen == "cube":
        return Cube.of(file)
    return Join(file, progress) if chosen == "join" else Bitmaps(file, progress)
