"""How many records have each size: the numbers behind tables of risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.tuples import grouped
from naysay.printing import number

__all__ = ["Sizes"]


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
        # each size once, rising, so that no sum depends on the order in which sizes come
        rows, place = grouped([sizes], [int(sizes.max(initial=0)) + 1])
        distinct, held = sizes[rows], np.bincount(place, records, len(rows)).astype(np.int64)
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
