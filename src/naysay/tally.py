"""Tallies: distinct answers and how often each was given. Estimation needs nothing else.

A `Tally` is a tuple of parts, one for each design (or level) under which people answered. Two tallies can be added. So
answers can be counted in batches, by any table engine, in the place where they are stored.

They are defined in `naysay._counts`, which knows of no design. Here designs are known, so that a saved tally can be
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from naysay import _checks
from naysay._counts import Asked, Channel, Part, Sums, Tally
from naysay._values import JsonNode, Label
from naysay.design.base import of_node
from naysay.errors import DataError

__all__ = ["Asked", "Channel", "Part", "Sums", "Tally", "counts_of_points"]

Tally.design_of = of_node

_OVERFLOW = "otel.metric.overflow"
_ATTRIBUTES = {"question", "design", "wave", "y"}


def counts_of_points(
    points: Iterable[tuple[JsonNode, int]],
    *,
    question: str,
    design: str,
    wave: Label = None,
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
    response_counts: dict[Any, int] = {}
    other_points: set[Any] = set()
    for point_number, (point_attributes, report_count) in enumerate(points, start=1):
        if _OVERFLOW in point_attributes:
            raise DataError(
                f"point {point_number} holds {report_count:,} reports under {_OVERFLOW}: there were more responses "
                "than the counter keeps apart, and which ones were merged is no matter of chance. "
                "Nothing can be estimated; raise the limit above the number of responses, "
                "or take a design with fewer (design.space.size)",
                row=point_number,
                value=report_count,
            )
        if point_attributes.get("question") != question or point_attributes.get("wave") != wave:
            other_points.add((point_attributes.get("question"), point_attributes.get("wave")))
            continue
        response = _response(point_attributes, report_count, design, point_number)
        response_counts[response] = response_counts.get(response, 0) + report_count
    if not response_counts:
        points_text = (
            ", ".join(
                f"{other_question!r} in wave {other_wave!r}"
                for other_question, other_wave in sorted(other_points, key=str)
            )
            or "nothing"
        )
        raise DataError(f"no point is about {question!r} in wave {wave!r}; there are points about {points_text}")
    if n is not None and sum(response_counts.values()) != n:
        raise DataError(
            f"the points hold {sum(response_counts.values()):,} reports about {question!r}, and {n:,} were recorded: "
            "points were dropped, or cumulative points were added up (export with delta temporality)"
        )
    return response_counts


def _response(attributes: JsonNode, value: object, design: str, number: int) -> Any:
    """The response of a point that is what it should be."""
    extra_attributes = sorted(attributes.keys() - _ATTRIBUTES)
    if extra_attributes:
        raise DataError(
            f"point {number} has the attribute {extra_attributes[0]!r}, which can link a report to its sender; a "
            f"report has only {', '.join(sorted(_ATTRIBUTES))}",
            row=number,
            column=extra_attributes[0],
        )
    if attributes.get("design") != design:
        raise DataError(
            f"point {number} is of design {attributes.get('design')!r}, not {design!r}; tally each design by itself",
            row=number,
            column="design",
        )
    if "y" not in attributes or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(
            f"point {number} must have a response, y, and count reports of it; got {_checks.listing_text(attributes)} "
            f"and {value!r}",
            row=number,
            value=value,
        )
    return attributes["y"]
