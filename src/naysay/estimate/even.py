"""The estimate of a pure design. A (t, t) array is made only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from naysay.errors import DataError
from naysay.estimate.linear import Floats
from naysay.estimate.result import Estimate

_LARGEST = 30_000_000  # largest array of answers × categories, in entries (240 MB)


@dataclass(frozen=True, eq=False)
class EvenEstimate(Estimate):
    """An estimate whose covariance (t, t) is made only when it is asked for.

    Parameters
    ----------
    variances : (t,) float
    general : callable
        Makes the same estimate in the general way, with all its arrays.
    spread : callable
        Makes the covariance (t, t).
    """

    covariance: Floats = field(init=False, repr=False)
    variances: Floats = field(kw_only=True, repr=False)
    general: Callable[[], Estimate] = field(kw_only=True, repr=False)
    spread: Callable[[], Floats] = field(kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for name in ("proportions", "variances"):
            getattr(self, name).setflags(write=False)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set: fields without a value. Anything else is unknown.
        if name not in ("covariance", "_general"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        attribute = self.general() if name == "_general" else self.spread()
        object.__setattr__(self, name, attribute)
        return attribute

    @cached_property
    def standard_errors(self) -> Floats:
        """Square roots of the variances, (t,); NaN where undefined."""
        return np.asarray(np.sqrt(self.variances))

    def intervals(self, confidence: float = 0.95, *, method: str | None = None, **options: Any) -> Any:
        """The intervals; methods without a closed form use the general estimate."""
        if method in (None, "agresti_coull", "wald"):
            return super().intervals(confidence, method=method, **options)
        rows, t = sum(part.distinct or 0 for part in self.tally.parts), len(self.proportions)
        without_rows = self.maximum is not None and self.design.by_transform is not None
        if without_rows or max(rows, t) * t > _LARGEST:
            raise DataError(
                f"{method} intervals of {rows:,} distinct answers about {t:,} categories take too long; "
                "use method='agresti_coull' or 'wald'"
            )
        return self._general.intervals(confidence, method=method, **options)
