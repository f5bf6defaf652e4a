"""Which algorithm to use: what each would cost on a file, and why one is chosen.

`Cube` is taken where a table of all combinations is small. `Join` is taken where keys have very many values and few
patterns of missing cells: its work grows with patterns × tuples. `Bitmaps` are taken otherwise: their work grows with
the square of the tuples, and hardly depends on the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching import cube
from naysay.microdata.matching.bitmaps import BLOCK, Bitmaps
from naysay.microdata.matching.cube import Cube
from naysay.microdata.matching.join import Join
from naysay.microdata.matching.question import Counter, Pool, pool_of

__all__ = ["ALGORITHMS", "Cost", "Plan", "counter_of", "explain"]

ALGORITHMS = ("cube", "join", "bitmap")
_ROOM = 2 * 2**30  # bytes that an array of combinations may take

# Nanoseconds of one step, measured by benchmarks/risk.py on two cores. They decide by their ratios alone. These differ
# from machine to machine by a factor of two or three, which matters only where either choice is about as fast.
_NS = 1e-9
_CELL, _AXIS_PAIR, _LOOK_UP = 2 * _NS, 20 * _NS, 20 * _NS  # cube
_ROW, _PATTERN = 40 * _NS, 4_000_000 * _NS  # join
_BLOCK, _BLOCK_COMPILED, _BIT, _MEMBER, _WORD = 500 * _NS, 25 * _NS, 0.3 * _NS, 30 * _NS, 1 * _NS  # bitmaps
_STARTING = 20_000_000 * _NS  # bitmaps
_OPEN = 20 * _NS  # bitmaps: a block and a key that nobody knows, which leaves more of its words to be read


@dataclass(frozen=True)
class Cost:
    """The cost of one algorithm: seconds on a machine like the measured one, bytes of memory, and what causes them."""

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
        The numbers from which costs were estimated.
    """

    chosen: str
    costs: tuple[Cost, ...]
    respondents: int
    distinct: int
    patterns: int

    def __str__(self) -> str:
        text = f"{self.respondents:,} respondents, {self.distinct:,} distinct tuples,"
        text += f" {self.patterns:,} patterns of missing keys"
        for cost in self.costs:
            mark, room = "→" if cost.algorithm == self.chosen else " ", f"{cost.bytes / 2**20:,.0f} MB"
            text += f"\n{mark} {cost.algorithm:<6} about {cost.seconds:.2g} s, {room}: {cost.why}"
        return text


def explain(keys: Keys, *, rule: str = "worst") -> Plan:
    """What `matches` would do with these keys, and the estimated cost of each algorithm.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, None, 23], "gender": ["M", "F", "F"]}, ["age", "gender"])
    >>> microdata.explain(keys).chosen
    'cube'
    """
    return _plan(pool_of(keys, rule, None))


def _plan(pool: Pool) -> Plan:
    costs = sorted((_cube(pool), _join(pool), _bitmap(pool)), key=lambda cost: cost.seconds)
    possible = [cost for cost in costs if cost.bytes <= _ROOM]
    return Plan((possible or costs)[0].algorithm, tuple(costs), pool.tuples.n, len(pool.tuples), pool.tuples.patterns)


def _cube(pool: Pool) -> Cost:
    cells = cube.combinations(pool)
    axes = sum(pool.gaps) + sum(pool.uncertain)
    why = f"{cells:.3g} combinations × {axes} open keys"
    seconds = _CELL * cells * (1 + axes) + _LOOK_UP * pool.questions + _AXIS_PAIR * pool.agreements
    return Cost("cube", seconds, 8.0 * cells + 50.0 * pool.agreements, why)


def _join(pool: Pool) -> Cost:
    asked, patterns = pool.questions, pool.tuples.patterns
    rows = patterns * (pool.spread + asked)
    why = f"{patterns:,} patterns × {len(pool.tuples):,} tuples, {asked:.3g} questions"
    seconds = _ROW * rows + patterns * (_PATTERN + _ROW * pool.agreements)
    return Cost("join", seconds, 200.0 * min(rows, 4e6 + pool.spread + asked) + 50.0 * pool.agreements, why)


def _bitmap(pool: Pool) -> Cost:
    asked, blocks = pool.questions, max(1, -(-len(pool.tuples) // BLOCK))
    built = blocks * BLOCK * float(sum(min(size, BLOCK) for size in pool.tuples.sizes))
    each = _each_block(pool)
    why = f"{asked:.3g} questions × {blocks:,} blocks of {BLOCK:,} tuples"
    several = [cells for _, cells, _ in pool.several]
    united = 0.0 if pool.by_value else 64.0 * blocks * sum(len(cells.members) for cells in several)  # words
    wide = BLOCK * float(sum(len(cells.values) + (0 if pool.by_value else cells.size / 8) for cells in several))
    seconds = _STARTING + each * asked * blocks + _BIT * (built + wide * blocks) + _MEMBER * pool.held + _WORD * united
    room = 64.0 * min(asked, 4e6) + 3 * min(wide, 1.0 * BLOCK * pool.held) + 24 * pool.held / blocks
    return Cost("bitmap", seconds, room, why)


def _each_block(pool: Pool) -> float:
    """Seconds of one question about one block of bitmaps: where keys are missing, few words end early."""
    missing = sum(float((column == 0).mean()) for column in pool.tuples.columns) if len(pool.tuples) else 0.0
    return (_BLOCK_COMPILED if find_spec("numba") else _BLOCK) + _OPEN * missing


def counter_of(pool: Pool, algorithm: str | None, progress: Progress | None = None) -> Counter:
    """The algorithm asked for, or the one with the least estimated cost, ready to count."""
    chosen = algorithm or _plan(pool).chosen
    if chosen not in ALGORITHMS:
        raise DataError(f"algorithm must be one of {_checks.shown(ALGORITHMS)}; got {chosen!r}")
    if chosen == "cube":
        return Cube.of(pool)
    return Join(pool, progress) if chosen == "join" else Bitmaps(pool, progress)
