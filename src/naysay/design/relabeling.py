"""A design about the same people whose categories have other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naysay.design.base import Answerable
from naysay.design.form import of_node

__all__ = ["relabeled"]

# Fields of the JSON form that hold labels: of designs, of protocols and of the shares that samples tell apart.
_LISTS, _SINGLE = ("categories", "responses", "members", "of", "among"), ("say", "share")
_NUMBERS = ("columns",)


def relabeled(design: Answerable, labels: Mapping[str, str]) -> Answerable:
    """The same design, its categories and responses called otherwise; what has no new name keeps its own.

    To call people otherwise changes no probability: P stays as it is, row by row and column by column.

    Parameters
    ----------
    design : Answerable
    labels : {label: label}
        By the label as text.

    Raises
    ------
    DesignError
        Two labels that become one.

    Examples
    --------
    >>> from naysay import designs
    >>> other = relabeled(designs.warner(p=0.7), {"yes": "Ja", "no": "Nein"})
    >>> other.categories, other.matrix.tolist()
    (('Ja', 'Nein'), [[0.7, 0.3], [0.3, 0.7]])
    """
    found: Answerable = of_node(_called(design.form(), labels))
    return found


def _called(node: Any, labels: Mapping[str, str]) -> Any:
    """A part of the JSON form with these labels in place of others."""
    if isinstance(node, list):
        return [_called(each, labels) for each in node]
    if not isinstance(node, Mapping):
        return node
    found: dict[str, Any] = {}
    for key, value in node.items():
        if key in _LISTS and isinstance(value, list):
            found[key] = [labels.get(each, each) if isinstance(each, str) else each for each in value]
        elif key in _SINGLE and isinstance(value, str):
            found[key] = labels.get(value, value)
        else:
            found[key] = value if key in _NUMBERS else _called(value, labels)
    return found
