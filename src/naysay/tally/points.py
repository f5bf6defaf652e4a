"""Counts from the data points of a metric, as OpenTelemetry and its kin export a counter of reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from naysay import _checks
from naysay.errors import DataError

__all__ = ["counts_of_points"]

_OVERFLOW = "otel.metric.overflow"
_KNOWN = {"question", "design", "wave", "y"}


def counts_of_points(
    points: Iterable[tuple[Mapping[str, Any], int]],
    *,
    question: str,
    design: str,
    wave: Any = None,
    n: int | None = None,
) -> dict[Any, int]:
    """How many reports gave each response, from a counter with the attributes question, design and y.

    Parameters
    ----------
    points : sequence of (attributes, value)
        Data points of a counter, with delta temporality. Those about other questions or waves are passed over.
    question, design : str
        The values of these attributes; `design` names the design, such as by its hash.
    wave : label, optional
        The value of the attribute wave, if there is one.
    n : int, optional
        How many reports were recorded. Without it, points that were dropped or read twice cannot show.

    Returns
    -------
    dict of {response: int}
        What ``design.tally`` takes.

    Raises
    ------
    DataError
        An overflow of the counter; reports of another design; attributes that could link a report to its sender;
        a value that is no count; no point about this question; counts that do not add up to n.

    Examples
    --------
    >>> one, other = ({"question": "crash", "design": "4f1c", "y": y} for y in ("7", "12"))
    >>> counts_of_points([(one, 3), (other, 1), (one, 2)], question="crash", design="4f1c", n=6)
    {'7': 5, '12': 1}
    """
    counts: dict[Any, int] = {}
    others: set[Any] = set()
    for number, (attributes, value) in enumerate(points, start=1):
        if _OVERFLOW in attributes:
            raise DataError(
                f"point {number} holds {value:,} reports under {_OVERFLOW}: there were more responses than the counter "
                "keeps apart, and which ones were merged is no matter of chance. Nothing can be estimated; raise the "
                "limit above the number of responses, or take a design with fewer (design.space.size)",
                row=number,
                value=value,
            )
        if attributes.get("question") != question or attributes.get("wave") != wave:
            others.add((attributes.get("question"), attributes.get("wave")))
            continue
        response = _response(attributes, value, design, number)
        counts[response] = counts.get(response, 0) + value
    if not counts:
        told = ", ".join(f"{asked!r} in wave {when!r}" for asked, when in sorted(others, key=str)) or "nothing"
        raise DataError(f"no point is about {question!r} in wave {wave!r}; there are points about {told}")
    if n is not None and sum(counts.values()) != n:
        raise DataError(
            f"the points hold {sum(counts.values()):,} reports about {question!r}, and {n:,} were recorded: points "
            "were dropped, or cumulative points were added up (export with delta temporality)"
        )
    return counts


def _response(attributes: Mapping[str, Any], value: Any, design: str, number: int) -> Any:
    """The response of a point that is what it should be."""
    beside = sorted(attributes.keys() - _KNOWN)
    if beside:
        raise DataError(
            f"point {number} has the attribute {beside[0]!r}, which can link a report to its sender; a report has only "
            f"{', '.join(sorted(_KNOWN))}",
            row=number,
            column=beside[0],
        )
    if attributes.get("design") != design:
        raise DataError(
            f"point {number} is of design {attributes.get('design')!r}, not {design!r}; tally each design by itself",
            row=number,
            column="design",
        )
    if "y" not in attributes or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(
            f"point {number} must have a response, y, and count reports of it; got {_checks.shown(attributes)} and "
            f"{value!r}",
            row=number,
            value=value,
        )
    return attributes["y"]
