"""A questionnaire as it was written, before it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naysay.questionnaire.problems import Place, Problem

Lists = Mapping[str, Sequence[tuple[int, Mapping[str, str]]]]
"""The rows of each list of choices, numbered as in the sheet."""


@dataclass
class Draft:
    """A questionnaire as it was written, before it is checked.

    Parameters
    ----------
    form : object
        The canonical form, as far as it could be read.
    problems : list of Problem
        The problems of what could not be read.
    places : {path: Place}
        Where the parts of the form stand in the file.
    omitted : set of str
        Names of questions that could not be read.
    """

    form: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
