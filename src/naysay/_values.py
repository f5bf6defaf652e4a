"""What passes between rooms, as types: arrays of numbers, labels of categories, and what JSON holds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array whose kind of number or text is not fixed."""

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

Label: TypeAlias = Hashable
"""A category, level or group, as its user names it: text, a number, a date, or a tuple of these."""

Key = TypeVar("Key", bound=Hashable)
"""A label that names an entry of a mapping."""

Exact: TypeAlias = float | str | Fraction | Decimal | np.number[Any]
"""A number that is read as it is written: 0.7, "7/10" and a fraction are the same."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object, and how one is written: texts, numbers, None, and lists and objects of these by name."""

JsonNode: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read."""
