"""What people reported, encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, DesignError
from naysay.responses.spaces import Codes, Pair, Space

__all__ = ["Responses"]


@dataclass(frozen=True, eq=False)
class Responses:
    """What n people reported.

    ``np.asarray`` gives labels (n,), or a boolean array (n, t) for sets (a missing set is a row of False; see
    `missing`).

    Parameters
    ----------
    codes : (n, width) int
        Encoded reports.
    space : Space
        The space that the codes belong to.
    level : (n,) array, optional
        The level that each respondent chose.

    Examples
    --------
    >>> from naysay.responses import Labels
    >>> said = Responses(np.array([[1], [0], [-1]]), Labels(("yes", "no")))
    >>> len(said), said.missing, said.texts()
    (3, array([False, False,  True]), ['no', 'yes', None])
    """

    codes: Codes
    space: Space
    level: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        codes = np.array(self.codes, dtype=np.int64)
        if codes.ndim != 2 or codes.shape[1] != self.space.width:
            raise DataError(f"codes must have shape (n, {self.space.width}); got {codes.shape}")
        object.__setattr__(self, "codes", _checks.read_only(codes))
        if self.level is not None:
            if len(self.level) != len(codes):
                raise DataError(
                    f"each response needs its level; got {len(self.level)} levels for {len(codes)} responses"
                )
            object.__setattr__(self, "level", _checks.read_only(np.array(self.level)))

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 (numpy's protocol)
        return np.asarray(self.space.decode(self.codes), dtype=dtype)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each report is missing, (n,)."""
        return self.space.missing(self.codes)

    def take(self, rows: Sequence[int]) -> Responses:
        """The reports of these respondents."""
        return Responses(self.codes[rows], self.space, None if self.level is None else self.level[rows])

    @property
    def parts(self) -> tuple[Responses, Responses]:
        """The two columns of answers of a design ``a * b``."""
        if not isinstance(self.space, Pair):
            raise DesignError("only the responses to two questions, `a * b`, have parts")
        one, two = self.space.split(self.codes)
        return Responses(one, self.space.first), Responses(two, self.space.second)

    def texts(self) -> list[str | None]:
        """Each report as one text, sets joined by ``;``."""
        return self.space.texts(self.codes)
