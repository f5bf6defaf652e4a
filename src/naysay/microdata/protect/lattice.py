"""The recoding of several keys that loses least: a search over all combinations of levels of their hierarchies.

Hierarchies: what each value of a variable becomes on coarser and coarser levels.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice, check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.recoding import Coarser, enum_of_labels
from naysay.microdata.protect.tables import opened, texts
from naysay.microdata.protect.target import Target
from naysay.microdata.protect.units import Units, totals
from naysay.microdata.risk.written import Printed, grid, percent
from naysay.show import Content, Note, Sentence

Node = tuple[int, ...]
Floats = NDArray[np.float64]

MOST_NODES = 2_000_000


@dataclass(frozen=True)
class Coarsening(Printed):
    """The levels that reach a target with the least loss, as far as the search came.

    Parameters
    ----------
    levels : mapping of key to level
    loss : float
        Of all keys together; 1 where everything is lost.
    losses : mapping of key to float
        Of each key: the mean share of its values that a published value may stand for; 1 where it is suppressed. One
        of L values that is untouched stands for 1/L, so a key of two values never loses less than a half. Gaps of the
        file lose nothing and do not count.
    suppressed : int
        Records (or units) below the target at these levels, within the allowed share; they are still to be suppressed.
    bound : float
        No levels lose less than this. Equal to `loss` where the search came to its end.
    nodes, counted : int
        Combinations of levels, and those that had to be counted.
    steps : tuple of Generalize
        What to do.
    """

    levels: Mapping[str, int]
    loss: float
    losses: Mapping[str, float]
    suppressed: int
    bound: float
    nodes: int
    counted: int
    steps: tuple[Generalize, ...]

    @property
    def complete(self) -> bool:
        """Whether no levels lose less."""
        return self.bound >= self.loss

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        json_fields = {
            name: getattr(self, name) for name in ("loss", "suppressed", "bound", "nodes", "counted", "complete")
        }
        return {"levels": dict(self.levels), "losses": dict(self.losses), **json_fields}

    def content(self) -> list[Content]:
        """A row for each key, and how far the search came."""
        rows = [
            [step.variable, f"{step.level} of {step.hierarchy.height}", percent(self.losses[step.variable])]
            for step in self.steps
        ]
        table = grid("Levels of the keys, and what they lose", ["key", "level", "loss"], rows)
        search_sentence = (
            f"{self.counted:,} of {self.nodes:,} combinations were counted; {self.suppressed:,} records stay below"
        )
        short = f"out of time: the loss is {self.loss:.4f}, and no levels lose less than {self.bound:.4f}"
        end = [] if self.complete else [Note(short)]
        return [table, Sentence(f"{search_sentence} and are to be suppressed.", small=True), *end]


def coarsen(
    table: Any,
    hierarchies: Mapping[str, Hierarchy],
    *,
    target: Target | str = "k >= 3",
    suppress: float = 0.0,
    aggregate: Literal["mean", "rank"] = "mean",
    importance: Mapping[str, float] | None = None,
    seconds: float | None = None,
    unit: str | None = None,
    order: str | None = None,
) -> Coarsening:
    """The levels of all hierarchies at which the target is reached with the least loss.

    At each combination of levels, records with too few that read the same count as suppressed, up to a share. A
    combination that is too fine makes all finer ones too fine, and one that is coarse enough all coarser ones: paths
    through the lattice are halved, and most combinations are never counted. The loss with suppression is not monotone,
    so combinations are left out by the loss that they have without it.

    Parameters
    ----------
    table : dataframe or mapping of columns
    hierarchies : mapping of key to Hierarchy
        One for each key.
    target : str or Target
        In the reading k.
    suppress : float
        The share of records that may stay below the target, to be suppressed.
    aggregate : {"mean", "rank"}
        The loss of several keys: their mean (weighted by importance), or the largest, then the next largest, and so on.
    importance : mapping of key to float, optional
    seconds : float, optional
        The most time to search; the result then says how far it may be from the best.
    unit, order : str, optional
        As in `Suppress`.

    Raises
    ------
    DataError
        Values that a hierarchy does not hold, a target that not even the coarsest levels reach.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> ages = protect.hierarchy_of_numbers([21, 23, 38, 39], widths=[5, 20])
    >>> found = protect.coarsen({"age": [21, 23, 38, 39]}, {"age": ages}, target="k >= 2")
    >>> found.levels, found.complete
    ({'age': 1}, True)

    Source: Samarati 2001; El Emam et al. 2009; Kohlmayer et al. 2012; METHODS, section 3.
    """
    goal = Target.of(target)
    if goal.reading != "k":
        raise DataError(f"levels are searched for k, which bounds an intruder; got {goal}")
    if not 0 <= suppress < 1:
        raise DataError(f"suppress must be a share of the records, from 0 to below 1; got {suppress!r}")
    check_choice(aggregate, ("mean", "rank"), what="aggregate")
    frame, _ = opened(table)
    check_names(list(hierarchies), frame.columns)
    lattice = _Lattice(frame, hierarchies, goal, suppress, aggregate, importance or {}, unit, order)
    return lattice.search(None if seconds is None else time.monotonic() + seconds)


class _Lattice:
    """All combinations of levels, with their losses; what is known of each is filled in as the search goes on."""

    def __init__(
        self,
        frame: pl.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        goal: Target,
        suppress: float,
        aggregate: str,
        importance: Mapping[str, float],
        unit: str | None,
        order: str | None,
    ) -> None:
        self.hierarchies, self.goal, self.aggregate = dict(hierarchies), goal, aggregate
        keys = Keys(frame, list(hierarchies))
        self.units = Units.of(frame, keys, unit=unit, order=order)
        self.most = int(np.floor(suppress * self.units.total + 1e-9))
        self.shape = tuple(hierarchy.height + 1 for hierarchy in self.hierarchies.values())
        self.nodes = int(np.prod(self.shape, dtype=float))
        if self.nodes > MOST_NODES:
            raise DataError(f"{self.nodes:,} combinations of levels are more than {MOST_NODES:,}; leave levels out")
        weight = np.array([float(importance.get(name, 1.0)) for name in self.hierarchies])
        self.weight = weight / weight.sum()
        self.groups, self.shares = self._groups_and_shares(keys)
        self.bounds = self._bounds()
        self.known = np.zeros(self.shape, np.int8)  # -1: too fine, 1: coarse enough
        self.counted: dict[Node, int] = {}
        self.lost: dict[Node, Floats] = {}  # of nodes that are coarse enough, where some are suppressed

    def _groups_and_shares(self, keys: Keys) -> tuple[list[NDArray[np.int64]], list[Floats]]:
        """For each key the group of each of its cells at each level, gaps first, and the share that it stands for."""
        groups, shares = [], []
        for (name, hierarchy), variable in zip(self.hierarchies.items(), keys.variables, strict=True):
            if not variable.cells.certain:
                raise DataError(f"levels are searched for plain values; {name!r} holds sets of candidates", column=name)
            values = [str(value) for value in variable.cells.values]
            hierarchy.check(values, name)
            numbers, share = hierarchy.numbers(values), hierarchy.shares(values)
            groups.append(np.column_stack([np.zeros(len(numbers), np.int64), numbers + 1]))
            shares.append(np.column_stack([np.zeros(len(share)), share]))
        return groups, shares

    def _bounds(self) -> list[Floats]:
        """The loss of each key at each of its levels, with nobody suppressed."""
        level_losses = []
        for column, share in zip(self.units.keys.tuples.columns, self.shares, strict=True):
            count = np.bincount(column, self.units.keys.tuples.count, share.shape[1])
            count[0] = 0
            level_losses.append(share @ count / max(count.sum(), 1))
        return level_losses

    def rank(self, losses: Floats) -> tuple[float, ...]:
        """What is compared: the mean, or the losses from the largest to the smallest."""
        if self.aggregate == "mean":
            return (float(losses @ self.weight),)
        return tuple(sorted((round(float(key_loss), 12) for key_loss in losses), reverse=True))

    def bound(self, node: Node) -> tuple[float, ...]:
        """The loss of a node without suppression: it has no less with it."""
        return self.rank(np.array([level_losses[level] for level_losses, level in zip(self.bounds, node, strict=True)]))

    def below(self, node: Node) -> int:
        """How many units stay below the target at a node."""
        if node not in self.counted:
            tuples, key, span = self.units.keys.tuples, np.zeros(len(self.units.keys.tuples), np.uint64), 1
            for level_groups, level, column in zip(self.groups, node, tuples.columns, strict=True):
                key = key * np.uint64(int(level_groups[level].max()) + 1) + level_groups[level][column].astype(
                    np.uint64
                )
                span *= int(level_groups[level].max()) + 1
            if span > 2**63:
                raise DataError("the values of the keys combine in too many ways; leave out a key, or start coarser")
            units = self.units
            few = totals(key if units.single else units.together(key), units.count) < self.goal.least
            self.counted[node] = int(units.count[few].sum())
            enough = self.counted[node] <= self.most
            if enough and few.any():
                self.lost[node] = self._lost(node, few)
            part = tuple(slice(level, None) if enough else slice(0, level + 1) for level in node)
            self.known[part] = 1 if enough else -1
        return self.counted[node]

    def _lost(self, node: Node, few: NDArray[np.bool_]) -> Floats:
        """The loss of each key where some units lose everything: they are the rare ones, whose values lose less."""
        units, key_losses = self.units, []
        members = np.diff(np.append(units.start, len(units.member)))
        gone, amount = np.repeat(few, members), np.repeat(units.count, members)
        for share, level, column in zip(self.shares, node, units.keys.tuples.columns, strict=True):
            cell_codes = column[units.member]
            weight = np.where(cell_codes > 0, amount, 0)
            key_losses.append(weight @ np.where(gone, 1.0, share[level][cell_codes]) / max(weight.sum(), 1))
        return np.array(key_losses)

    def losses(self, node: Node) -> Floats:
        """The loss of each key at a node; whoever is below the target has lost everything."""
        self.below(node)
        plain = np.array([level_losses[level] for level_losses, level in zip(self.bounds, node, strict=True)])
        return self.lost.get(node, plain)

    def search(self, until: float | None) -> Coarsening:
        top = tuple(size - 1 for size in self.shape)
        if self.below(top) > self.most:
            complaint = (
                f"not even the coarsest levels reach {self.goal}: gaps still tell {self.below(top):,} records apart"
            )
            raise DataError(f"{complaint}; allow more of them to be suppressed (suppress=), or ask for less")
        nodes_by_bound = sorted(np.ndindex(*self.shape), key=self.bound)
        best, least_loss, bound = top, self.rank(self.losses(top)), None
        for node in nodes_by_bound:
            if self.bound(node) >= least_loss:
                break
            if until is not None and time.monotonic() > until:
                bound = self.bound(node)
                break
            if self.known[node] == 0:
                self._halve_path(node, least_loss)
            if self.known[node] < 0:
                continue
            if (node_loss := self.rank(self.losses(node))) < least_loss:
                best, least_loss = node, node_loss
        return self._result(best, least_loss, least_loss if bound is None else bound)

    def _halve_path(self, node: Node, least_loss: tuple[float, ...]) -> None:
        """Find where a path from a node to the top becomes coarse enough, by halving it."""
        path = [node]
        while True:
            last = path[-1]
            higher = [at for at in range(len(last)) if last[at] + 1 < self.shape[at]]
            ups = [(*last[:at], last[at] + 1, *last[at + 1 :]) for at in higher]
            ups = [
                upper_node for upper_node in ups if self.known[upper_node] == 0 and self.bound(upper_node) < least_loss
            ]
            if not ups:
                break
            path.append(min(ups, key=self.bound))
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self.known[path[middle]] == 0:
                self.below(path[middle])
            low, high = (low, middle - 1) if self.known[path[middle]] > 0 else (middle + 1, high)

    def _result(self, node: Node, loss: tuple[float, ...], bound: tuple[float, ...]) -> Coarsening:
        names = list(self.hierarchies)
        loss_of_key = dict(zip(names, map(float, self.losses(node)), strict=True))
        steps = tuple(
            Generalize(variable=name, level=level, hierarchy=hierarchy)
            for (name, hierarchy), level in zip(self.hierarchies.items(), node, strict=True) if level
        )  # fmt: skip
        levels = dict(zip(names, node, strict=True))
        return Coarsening(
            levels, loss[0], loss_of_key, self.below(node), bound[0], self.nodes, len(self.counted), steps
        )


@dataclass(frozen=True)
class Hierarchy:
    """Levels of a variable, each coarser than the one before.

    Parameters
    ----------
    levels : mapping of value to (levels,) sequence of label
        For each value, written as a text, its labels from the finest level to the coarsest, where all are one.

    Raises
    ------
    DataError
        A value without one of its labels, a label with two parents, a last level of several labels.

    Examples
    --------
    >>> jobs = Hierarchy({"nurse": ["care", "any"], "doctor": ["care", "any"], "smith": ["craft", "any"]})
    >>> jobs.height
    2
    >>> jobs.at("nurse", 1)
    'care'
    """

    levels: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        labels_of_leaf = {str(leaf): tuple(map(str, labels)) for leaf, labels in self.levels.items()}
        object.__setattr__(self, "levels", labels_of_leaf)
        if not labels_of_leaf:
            raise DataError("a hierarchy needs at least one value")
        height = len(next(iter(labels_of_leaf.values())))
        if not height:
            raise DataError("a hierarchy needs a level above its values")
        for leaf, labels in labels_of_leaf.items():
            if len(labels) != height or not all(label.strip() for label in labels):
                complaint = f"{leaf!r} has {sum(bool(label.strip()) for label in labels)}"
                raise DataError(
                    f"every value of a hierarchy needs its {height} coarser labels; {complaint}", value=leaf
                )
        for level in range(height - 1):
            above: dict[str, tuple[str, str]] = {}
            for leaf, labels in labels_of_leaf.items():
                parent, first = above.setdefault(labels[level], (labels[level + 1], leaf))
                if parent != labels[level + 1]:
                    complaint = f"{labels[level]!r} is in {parent!r} (as of {first!r}) and in {labels[level + 1]!r}"
                    raise DataError(f"a label must have one parent; {complaint} (as of {leaf!r})", value=labels[level])
        last = sorted({labels[-1] for labels in labels_of_leaf.values()})
        if len(last) > 1:
            complaint = f"the last level of a hierarchy must be one label; got {_checks.listing_text(last)}"
            raise DataError(f"{complaint}: add a level such as 'any'", value=last[1])

    @property
    def height(self) -> int:
        """Levels above the values themselves."""
        return len(next(iter(self.levels.values())))

    def at(self, value: str, level: int) -> str:
        """The label of a value at a level; at level 0 the value."""
        return value if level == 0 else self.levels[value][level - 1]

    def check(self, values: Sequence[str], name: str) -> None:
        """Raise for the first value that the hierarchy does not hold."""
        missing_values = [value for value in values if value not in self.levels]
        blank = next(
            (
                leaf
                for leaf in self.levels
                if missing_values and leaf.strip() in missing_values and leaf != leaf.strip()
            ),
            None,
        )
        if blank is not None:
            complaint = f"the hierarchy of {name!r} holds {blank!r}, and the file {blank.strip()!r}"
            raise DataError(f"{complaint}: take the blank out of the hierarchy", column=name, value=blank)
        if missing_values:
            complaint = (
                f"the hierarchy of {name!r} does not hold {_checks.listing_text(missing_values)}, which the file does"
            )
            raise DataError(f"{complaint}; add a row for each", column=name, value=missing_values[0])

    def numbers(self, values: Sequence[str]) -> NDArray[np.int64]:
        """The group of each value at each level, (height + 1, values), counted from 0."""
        level_groups = [np.arange(len(values))]
        for level in range(1, self.height + 1):
            labels = [self.at(value, level) for value in values]
            order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
            level_groups.append(np.array([order[label] for label in labels]))
        return np.array(level_groups, np.int64)

    def shares(self, values: Sequence[str]) -> NDArray[np.float64]:
        """The share of the hierarchy's values that stand under the group of each value at each level."""
        leaves = list(self.levels)
        groups = self.numbers(leaves)
        place = {leaf: number for number, leaf in enumerate(leaves)}
        under = np.array([np.bincount(level_groups)[level_groups] / len(leaves) for level_groups in groups])
        value_shares: NDArray[np.float64] = under[:, [place[value] for value in values]]
        return value_shares

    def form(self) -> dict[str, list[str]]:
        """The levels as plain data."""
        return {leaf: list(labels) for leaf, labels in self.levels.items()}

    @classmethod
    def read(cls, path: Path, *, separator: str = ",") -> Hierarchy:
        """The hierarchy of a CSV file without a header: a row for each value, a column for each level.

        Raises
        ------
        DataError
            A file that cannot be read, rows of different length, a value twice.

        Notes
        -----
        Blanks around labels are left out. See `rows_of_csv` for what spreadsheet programs write.
        """
        rows = rows_of_csv(path, separator)
        labels_of_leaf: dict[str, list[str]] = {}
        for number, (leaf, *cells) in rows:
            if len(cells) + 1 != len(rows[0][1]) or not cells:
                complaint = f"row {number} has {len(cells) + 1} of {max(len(rows[0][1]), 2)}"
                raise DataError(
                    f"every row of the hierarchy {str(path)!r} needs its cells; {complaint}", row=number - 1
                )
            labels = [label.strip() for label in cells]
            if leaf in labels_of_leaf and labels_of_leaf[leaf] != labels:
                complaint = f"the hierarchy {str(path)!r} has {leaf!r} twice, with other labels in row {number}"
                raise DataError(complaint, row=number - 1, value=leaf)
            labels_of_leaf[leaf] = labels
        try:
            return cls(labels_of_leaf)
        except DataError as error:
            last = [labels[-1] for labels in labels_of_leaf.values()]
            if len(last) > 2 and last[0] != last[1] and len(set(last[1:])) == 1:
                complaint = f"the hierarchy {str(path)!r} begins with a header, {_checks.listing_text(rows[0][1])}"
                raise DataError(
                    f"{complaint}: remove that row, so that each row is a value with its labels", row=0
                ) from None
            raise DataError(f"the hierarchy {str(path)!r}: {error}", value=error.value) from None


def rows_of_csv(path: Path, separator: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that a person edited, with their numbers from 1, without those that are empty.

    Programs of countries with a decimal comma write semicolons: they are read, too, and tabs, where commas are expected
    and semicolons or tabs give each row as many cells, and more of them.

    Raises
    ------
    DataError
        A file that cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeError:
        raise DataError(f"{str(path)!r} is not UTF-8: save it as 'CSV UTF-8' in the spreadsheet program") from None
    except OSError as error:
        raise DataError(f"cannot read the hierarchy {str(path)!r}: {error.strerror or error}") from None
    rows = _split(text, separator)
    if isinstance(rows, csv.Error):
        raise DataError(f"cannot read the hierarchy {str(path)!r}: {rows}")
    for mark in (";", "\t") if separator == "," else ():
        split_rows = _split(text, mark)
        if isinstance(split_rows, csv.Error):
            continue
        is_wider = _width(rows) == 1 and min(len(row) for _, row in split_rows) > 1
        if is_wider or _width(split_rows) > max(1, _width(rows)):
            rows = split_rows
    return rows


def _split(text: str, mark: str) -> list[tuple[int, list[str]]] | csv.Error:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        return error
    return [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]


def _width(rows: Sequence[tuple[int, Sequence[str]]]) -> int:
    """The cells of each row; 0 where they are not equally many."""
    widths = {len(row) for _, row in rows}
    return widths.pop() if len(widths) == 1 else 0


def nesting(values: Sequence[float]) -> list[float]:
    """Widths of bins for whole numbers, each a multiple of the one before and narrower than the whole range.

    Examples
    --------
    >>> nesting(range(18, 96))
    [5, 10, 20, 40]
    """
    span = max(values, default=0) - min(values, default=0) + 1
    fitting_widths = [width for width in (5, 10, 20, 40, 200, 1_000, 5_000, 20_000, 100_000) if width < span]
    return list(fitting_widths) or [max(span, 2)]


def hierarchy_of_numbers(values: Sequence[float], *, widths: Sequence[float] = ()) -> Hierarchy:
    """Bins of rising width over whole numbers, each width a multiple of the one before, and all together.

    Examples
    --------
    >>> hierarchy_of_numbers([18, 23, 41], widths=[5, 20]).levels["23"]
    ('20 to 24', '20 to 39', 'any')
    """
    whole_numbers = sorted({int(value) for value in values})
    widths = widths or nesting(whole_numbers)
    for low, high in pairwise(widths):
        if high % low:
            raise DataError(f"bins must nest: each width a multiple of the one before; got {low:g} and then {high:g}")
    levels = {}
    for value in whole_numbers:
        lows = [int(value // width * width) for width in widths]
        bins = [f"{low} to {low + int(width) - 1}" for low, width in zip(lows, widths, strict=True)]
        levels[str(value)] = [*bins, "any"]
    return Hierarchy(levels)


@dataclass(frozen=True, kw_only=True)
class Generalize(Coarser):
    """Values replaced by their labels at a level of a hierarchy.

    Parameters
    ----------
    variable : str
    level : int
        From 0, where values stay, to the height of the hierarchy, where all are one.
    hierarchy : Hierarchy, mapping or path of a CSV file

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> jobs = protect.Hierarchy({"nurse": ["care", "any"], "smith": ["craft", "any"]})
    >>> safe, log = protect.Generalize(variable="job", level=1, hierarchy=jobs).apply({"job": ["smith", None, "nurse"]})
    >>> safe["job"]
    ['craft', None, 'care']
    """

    name: ClassVar[str] = "generalize"
    level: int
    hierarchy: Any

    def __post_init__(self) -> None:
        hierarchy = self.hierarchy if isinstance(self.hierarchy, Hierarchy) else Hierarchy(self.hierarchy)
        object.__setattr__(self, "hierarchy", hierarchy)
        _checks.whole_number(self.level, 0, hierarchy.height, what=f"level of {self.variable!r}")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        cells = texts(frame[self.variable])
        self.hierarchy.check(cells.drop_nulls().unique().sort().to_list(), self.variable)
        cell_labels = [None if cell is None else self.hierarchy.at(cell, self.level) for cell in cells.to_list()]
        return enum_of_labels(cell_labels, [self.hierarchy.at(leaf, self.level) for leaf in self.hierarchy.levels])

    @classmethod
    def of_form(cls, node: Mapping[str, Any], *, folder: Path | None = None) -> Method:
        """As of any method; a hierarchy may be the path of a CSV file, from the folder of the plan."""
        parameters = dict(node)
        if isinstance(parameters.get("hierarchy"), str):
            parameters["hierarchy"] = Hierarchy.read((folder or Path()) / parameters["hierarchy"])
        return super().of_form(parameters)
