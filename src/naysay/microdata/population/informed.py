"""How often an intruder picks the right record if they know all keys of a person and that this person is in the file.

Where nothing is missing, everybody who matches is equally likely, and the answer is the mean of 1/m. Where values are
missing, that is not so: a record that shows all keys of a person is more likely theirs than a record that may be
anybody's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples

__all__ = ["Informed", "informed"]


@dataclass(frozen=True)
class Informed:
    """How often an intruder who knows the complete keys of a person in the file picks that person's record.

    Parameters
    ----------
    exact : float
        For an intruder who picks among the records that show all of these keys: the share kept times the mean of 1/k.
    weighed : float
        For an intruder who picks a matching record with a chance in proportion to its 1/m: at least the mean over i of
        P_i = (1/m_i) / Σ 1/m_j, the sum being over the records j that match i. A record that fits many people is less
        likely that of one of them.
    most : float
        The number of distinct rows over the number of records: no intruder can do better with these keys, even with the
        keys of everybody else. Rows that show the same, gaps included, cannot be told apart.

    Each is an average over the people in the file; NaN where a policy leaves nobody in.
    """

    exact: float
    weighed: float
    most: float

    @property
    def least(self) -> float:
        """What the better of the two ways of picking achieves at least."""
        return max(self.exact, self.weighed)


def informed(keys: Keys, m: NDArray[Any] | None = None) -> Informed:
    """The success of an informed intruder, from below and from above.

    Parameters
    ----------
    keys : Keys
    m : (distinct,) int, optional
        Matches by the rule ``intersect``, where they are known: without uncertain cells all rules give the same.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36, None]}, ["age"])
    >>> found = informed(keys)
    >>> found.exact, round(found.weighed, 3), found.most
    (0.5, 0.393, 0.75)

    Notes
    -----
    The true keys of i are among the candidates of i, so whoever is consistent with them matches i by ``intersect``: the
    sum in P_i is never too small, and P_i never too large. Other rules would leave out somebody.
    """
    kept, count = keys.kept, keys.tuples.count
    records = int(count[kept].sum())
    if not records:
        return Informed(float("nan"), float("nan"), float("nan"))
    exact = int(keys.complete.sum()) / records  # Σ 1/k over the records of one tuple is 1
    most = int(kept.sum()) / records
    if exact == most:  # everybody is kept: m = k, and all four numbers are the same
        return Informed(exact, exact, exact)
    if m is None:
        m = matches_of_tuples(keys, rule="intersect")
    inverse = np.zeros(keys.distinct)
    inverse[kept] = 1 / m[kept]
    around = matches_of_tuples(keys, count * inverse, rule="intersect")
    weighed = float((count[kept] * inverse[kept] / around[kept]).sum()) / records
    return Informed(exact, weighed, most)
