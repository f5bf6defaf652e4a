"""Published counts that are part of the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

__all__ = ["gvu_counts", "validation_counts"]


def gvu_counts() -> dict[str, dict[str, int]]:
    """Respondents in each category of five questions of the 8th WWW User Survey, 10,108 people each.

    The Graphic, Visualization & Usability Center (GVU) made the survey in October and November 1997. The UCI KDD
    Archive has it as "Internet Usage Data". The five questions are those of Esponda, Huerta & Guerrero (2016). As in
    that paper, age is in ten bins of equal width after "Not_Say" is set to 0. So the bin [0, 8) holds those who did not
    say.

    Returns
    -------
    {question: {category: count}}

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "A Simulated Survey".

    Examples
    --------
    >>> counts = gvu_counts()
    >>> list(counts)
    ['falsification_of_information', 'race', 'sexual_preference', 'household_income', 'age']
    >>> {sum(answers.values()) for answers in counts.values()}
    {10108}
    """
    text = resources.files(__name__).joinpath("gvu8_counts.json").read_text(encoding="utf-8")
    counts: dict[str, dict[str, int]] = json.loads(text)
    return counts


def validation_counts() -> dict[str, Any]:
    """Surveys in which the truth was known, with their sources; `estimate.validation` computes from them.

    Returns
    -------
    {"studies": list, "athletes": dict, "about": str}
        Of each study the technique, what was true, how many people, and errors or a published share.

    Examples
    --------
    >>> sorted({study["technique"] for study in validation_counts()["studies"]})
    ['crosswise', 'direct', 'forced response', 'list', 'single sample count', 'unrelated question']
    """
    text = resources.files(__name__).joinpath("validation.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
