"""The utility of a release: everything that is measured of it, in one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naysay.design import Answerable
from naysay.microdata.risk.written import WIDTH, Printed
from naysay.microdata.utility.distances import Changes, Distances, changes, distances
from naysay.microdata.utility.estimates import Estimates, estimates
from naysay.microdata.utility.paired import Pair
from naysay.microdata.utility.propensity import Propensity, propensity
from naysay.printing import Content, Facts, Heading, Note, plain, text
from naysay.printing.text import csv_text

__all__ = ["Utility", "compare"]

Measure = Changes | Distances | Propensity | Estimates


@dataclass(frozen=True)
class Utility(Printed):
    """What a release kept of its original.

    Parameters
    ----------
    records, released : int
        People in the original and in the release.
    weighted : bool
    changes : Changes, optional
        None for synthetic records.
    distances : Distances
    propensity : Propensity
    estimates : Estimates
    """

    records: int
    released: int
    weighted: bool
    changes: Changes | None
    distances: Distances
    propensity: Propensity
    estimates: Estimates

    @property
    def measures(self) -> dict[str, Measure]:
        """Each measure, under the heading that introduces it."""
        known = {
            "What was done to the cells": self.changes,
            "Distributions": self.distances,
            "Can the files be told apart?": self.propensity,
            "Estimates": self.estimates,
        }
        return {heading: each for heading, each in known.items() if each is not None}

    def content(self) -> list[Content]:
        weighted = " All numbers are weighted." if self.weighted else ""
        facts = (("people", f"{self.records:,} in the original, {self.released:,} in the release.{weighted}"),)
        return [
            Facts(facts),
            *(part for heading, each in self.measures.items() for part in (Heading(heading), *each.content())),
            *map(Note, self.reservations),
        ]

    def __str__(self) -> str:
        first, *rest = self.content()
        parts = [[first]]
        for each in rest:  # an empty line before each heading
            parts = [*parts, []] if isinstance(each, Heading) else parts
            parts[-1].append(each)
        return "\n\n".join(text(part, width=WIDTH) for part in parts)

    @property
    def reservations(self) -> list[str]:
        """What stays with the numbers."""
        if self.changes is not None:
            return []
        return ["records are taken as synthetic: they belong to nobody, so no cell is compared with another"]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        own = {"records": self.records, "released": self.released, "weighted": self.weighted}
        return plain(own | {each.name: each.fields() for each in self.measures.values()})  # type: ignore[no-any-return]

    def to_csv(self) -> str:
        """A row for each number: what it measures, of which variables, and its value."""
        rows: list[tuple[Any, ...]] = [("measure", "of", "value")]
        for each in () if self.changes is None else self.changes.variables:
            rows += [(name, each.name, getattr(each, name)) for name in ("suppressed", "changed", "imputed", "loss")]
        for found in (*self.distances.margins, *self.distances.pairs):
            told = " × ".join(found.variables)
            names = ("variation", "fresh_variation", "hellinger", "fresh_hellinger")
            rows += [(name, told, getattr(found, name)) for name in names]
        rows.append(("pmse_ratio", self.propensity.model, self.propensity.ratio))
        for one in (*self.estimates.plain, *self.estimates.named, *(own for _, own in self.estimates.undone)):
            told = f"{one.group}: {one.name}" if one.group else one.name
            rows += [("difference", told, one.difference), ("overlap", told, one.overlap)]
        return csv_text(rows)


def compare(
    before: Any,
    after: Any,
    *,
    variables: Sequence[str] | None = None,
    id: str | None = None,
    synthetic: bool = False,
    weights: str | None = None,
    formulas: Sequence[str] = (),
    designs: Mapping[str, Answerable] | None = None,
    model: str = "pairs",
    seed: int = 1,
) -> Utility:
    """What a release kept of its original: cells, distributions, whether the two can be told apart, and estimates.

    Parameters
    ----------
    before, after : dataframe or mapping of columns
        The original and the release.
    variables : sequence of str, optional
        By default all columns that both have.
    id : str, optional
        The column that names records. Without it, rows belong together in their order.
    synthetic : bool
        Whether the records of the release belong to nobody.
    weights : str, optional
        The column of sampling weights in both files.
    formulas : sequence of str
        Regressions, such as ``income ~ age + C(region)``; they need the extra ``regression``.
    designs : mapping of variable to design
        The designs under which variables were released: PRAM, or a negative question. Their estimates are undone.
    model : {"pairs", "tree"}
        Of the propensity score.
    seed : int
        For what a tree is compared with.

    Returns
    -------
    Utility

    Raises
    ------
    DataError
        Files of different length without `id`, names that stand twice, variables that one of them does not have,
        weights that are not positive numbers.

    Examples
    --------
    >>> before = {"age": [23, 24, 35, 36] * 20, "gender": ["f", "m"] * 40}
    >>> after = {"age": ["20-29", "20-29", "30-39", "30-39"] * 20, "gender": [None, *["m", "f"] * 39, "m"]}
    >>> found = compare(before, after, variables=["age"])
    >>> found.changes.variables[0].recoded, round(found.changes.loss, 3), round(found.distances.mean_pair, 3)
    (2, 0.333, 0.0)
    """
    pair = Pair.of(before, after, variables=variables, identity=id, synthetic=synthetic, weights=weights)
    return Utility(
        pair.before.height,
        pair.after.height,
        pair.weighted,
        None if pair.rows is None else changes(pair),
        distances(pair),
        propensity(pair, model=model, seed=seed),
        estimates(pair, formulas, designs),
    )
