"""JSON read strictly: UTF-8, no key twice, no number that is not finite, no nesting without end."""

from __future__ import annotations

import json
import math
from typing import Any

from naysay.collect.refusals import Refusal

__all__ = ["DIGITS", "read"]

DIGITS = 40  # of a number, more than any client writes


def read(body: bytes) -> Any:
    """The value of a JSON text.

    Raises
    ------
    Refusal
        ``malformed``, with what must hold and never with what came.

    Examples
    --------
    >>> read(b'{"a":[1,null]}')
    {'a': [1, None]}
    >>> read(b'{"a":1,"a":2}')
    Traceback (most recent call last):
        ...
    naysay.collect.refusals.Refusal: the body must not name a key twice
    """
    try:
        text = body.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=_unique, parse_int=_number, parse_float=_number, parse_constant=_number
        )
    except UnicodeDecodeError:
        raise Refusal("malformed", "the body must be UTF-8") from None
    except RecursionError:
        raise Refusal("malformed", "the body must not be nested deeply") from None
    except ValueError:
        raise Refusal("malformed", "the body must be JSON") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refusal("malformed", "the body must not name a key twice")
    return found


def _number(text: str) -> float:
    value = float(text) if len(text) <= DIGITS else math.inf  # "NaN" and "Infinity" come here too
    if not math.isfinite(value):
        raise Refusal("malformed", f"numbers must be finite and have {DIGITS} characters at most")
    return value if text.strip("-0123456789") else int(text)
