"""How many records have each size: the numbers behind tables of risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.tuples import grouped
from naysay.printing import number

__all__ = ["Sizes", "by_size"]

_DENSE = 1 << 20  # whole numbers below this are counted in a table, not ranked first


def by_size(sizes: NDArray[Any], records: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each size once, rising, and how many records have it."""
    most = int(sizes.max(initial=0))
    if sizes.dtype.kind == "f":
        distinct, place = np.unique(sizes, return_inverse=True)
    elif most < _DENSE:
        held = np.bincount(sizes, records).astype(np.int64)
        distinct = np.flatnonzero(held)
        return distinct, held[distinct]
    else:
        rows, place = grouped([sizes], [most + 1])
        distinct = sizes[rows]
    return distinct, np.bincount(place, records, len(distinct)).astype(np.int64)


@dataclass(frozen=True)
class Sizes:
    """The sizes of anonymity sets, or numbers of matches, over the records of a file.

    Parameters
    ----------
    records : int
        How many have one; deleted records have none.
    unique, below_5, below_10 : int
        Records of size 1, below 5 and below 10.
    smallest : int
        The least size; 0 without records.
    inverse : float
        The mean of 1/size: the chance to pick the right record if all of them are equally likely. Matches are not
        equally likely where values are missing. NaN without records.
    pairs, triples : float
        Records of size 2 over 2, and of size 3 over 3.

    Examples
    --------
    >>> import numpy as np
    >>> sizes = Sizes.of(np.array([1, 2, 2, 7]))
    >>> sizes.unique, sizes.below_5, sizes.pairs, round(sizes.inverse, 4)
    (1, 3, 1.0, 0.5357)
    """

    records: int
    unique: int
    below_5: int
    below_10: int
    smallest: int
    inverse: float
    pairs: float
    triples: float

    @classmethod
    def of(cls, sizes: NDArray[np.int64] | np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> Sizes:
        """The summary of one size for each record, masked where it is deleted."""
        return cls.counted(*np.unique(np.ma.compressed(sizes), return_counts=True))

    @classmethod
    def counted(cls, sizes: NDArray[np.int64], records: NDArray[np.int64]) -> Sizes:
        """The summary of some sizes, each with a number of records that have it; a size may come several times."""
        distinct, held = by_size(sizes, records)  # rising, so that no sum depends on the order in which sizes come
        total = int(held.sum())
        return cls(
            total,
            int(held[distinct == 1].sum()),
            int(held[distinct < 5].sum()),
            int(held[distinct < 10].sum()),
            int(distinct[0]) if total else 0,
            float((held / distinct).sum()) / total if total else float("nan"),
            int(held[distinct == 2].sum()) / 2,
            int(held[distinct == 3].sum()) / 3,
        )

    @property
    def share(self) -> float:
        """Share of the records that are unique; NaN without records."""
        return self.unique / self.records if self.records else float("nan")

    @property
    def highest(self) -> float:
        """1/smallest, the largest of these chances; NaN without records."""
        return 1 / self.smallest if self.smallest else float("nan")

    def counts(self, sign: str) -> dict[str, int]:
        """Small sizes as fields of a JSON object; `sign` is what sizes are called, k or m."""
        return {f"{sign}1": self.unique, f"{sign}_lt_5": self.below_5, f"{sign}_lt_10": self.below_10}

    def fields(self) -> dict[str, Any]:
        """What an intruder who knows that a person is in the file would achieve, as fields of a JSON object."""
        return {"smallest": self.smallest or None, "prosecutor_mean": number(self.inverse)}
