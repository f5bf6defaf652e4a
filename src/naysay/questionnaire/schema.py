"""The JSON Schema of the canonical questionnaire, for editors and for programs in other languages."""

from __future__ import annotations

from typing import Any

from naysay.questionnaire.questionnaire import Questionnaire

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every canonical questionnaire fulfills.

    What it cannot say, such as that labels are there in every language, `check` does.

    Examples
    --------
    >>> schema()["title"]
    'Questionnaire'
    """
    made = Questionnaire.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
    for model in (made, *made["$defs"].values()):
        model["description"] = model["description"].partition("\n\nExamples\n")[0]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
