"""A questionnaire: its canonical JSON, what it asks in order, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from naysay.questionnaire.items import Group, Item
from naysay.questionnaire.kinds.base import Label, Model, Practice, Question

TEXTS = ("about", "contact", "thanks")
"""The texts of a questionnaire beside its title; any of them may be left out."""


def canonical(value: Any) -> bytes:
    """A value as canonical JSON: keys sorted, no spaces, UTF-8.

    Examples
    --------
    >>> canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    True
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _is_default(practice: Any) -> bool:
    """Whether the practice question is the page's own; then no field is written, so that old fingerprints stay."""
    return practice is True


class Questionnaire(Model):
    """What respondents are asked, in every language, and how private each answer is.

    Parameters
    ----------
    name : str
        The name in links, files and on the command line.
    title, about, contact, thanks : {language: text}
        What it is called, why it is asked and by whom, whom to turn to, and what is said at the end.
    languages : tuple of str
        BCP 47 tags; every label has a text in each language, and the first is the default.
    items : tuple of questions, notes and groups
        The items, in the order in which they are asked.
    practice : bool or Practice
        Whether a harmless question comes before the first private one, so that respondents can try a private answer. It
        is the page's own ("In which season were you born?"), or another. Nothing of it is sent.

    Examples
    --------
    >>> from naysay.questionnaire import Text
    >>> item = Text(name="remarks", label={"en": "Anything else?"})
    >>> form = Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(item,))
    >>> [question.name for question in form.questions], len(form.fingerprint)
    (['remarks'], 64)
    """

    naysay: Literal["questionnaire"] = "questionnaire"
    version: Literal[1] = 1
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)]
    title: Label
    about: Label = Field(default_factory=dict)
    contact: Label = Field(default_factory=dict)
    thanks: Label = Field(default_factory=dict)
    languages: tuple[Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")], ...]
    items: tuple[Item, ...]
    practice: bool | Practice = Field(True, exclude_if=_is_default)

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions in order, those in groups included; notes are left out."""
        return tuple(_questions(self.items))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        """The canonical JSON."""
        return canonical(self.form())

    def form(self) -> dict[str, Any]:
        """The questionnaire as a JSON object, complete with each `kind`."""
        return self.model_dump(mode="json")


def _questions(items: Sequence[Item]) -> Iterator[Question]:
    for item in items:
        if isinstance(item, Group):
            yield from _questions(item.items)
        elif isinstance(item, Question):
            yield item


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every canonical questionnaire fulfills.

    `check` covers what a schema cannot say, such as that every label has all languages.

    Examples
    --------
    >>> schema()["title"]
    'Questionnaire'
    """
    schema_form = Questionnaire.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
    for model in (schema_form, *schema_form["$defs"].values()):
        model["description"] = model["description"].partition("\n\nExamples\n")[0]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_form}
