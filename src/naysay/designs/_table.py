"""From probabilities to a table design, in one line for every family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Table
from naysay.design.exact import table_weights
from naysay.errors import DesignError
from naysay.responses import Labels

__all__ = ["call", "of_probabilities", "of_weights"]

YES_NO = ("yes", "no")


def of_probabilities(
    matrix: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any
) -> Table:
    """The design with this matrix of probabilities (responses, t), read exactly as written."""
    labels = _checks.categories(categories)
    widths = {len(row) for row in matrix}
    if widths != {len(labels)}:
        raise DesignError(
            f"each row of the matrix must have {len(labels)} entries, one a category; got {sorted(widths)}"
        )
    return of_weights(table_weights(matrix, columns=labels), labels, responses, **fields)


def of_weights(weights: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any) -> Table:
    """The design with these integer weights (responses, t); responses are the categories unless named."""
    labels = _checks.categories(categories)
    reported = labels if responses is None else tuple(responses)
    return Table(categories=labels, space=Labels(reported), weights=np.asarray(weights), **fields)


def call(family: str, **arguments: Any) -> str:
    """A design as a call, such as ``warner(p=0.7)``; arguments that are None are left out."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
    return f"{family}({given})"
