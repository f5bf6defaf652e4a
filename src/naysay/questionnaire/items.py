"""The items of a questionnaire: questions of the kinds that are listed here, notes and groups."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union

from pydantic import Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema

from naysay.questionnaire.kinds.base import BaseItem, Model, Question
from naysay.questionnaire.kinds.choices import Grid, Ranking, SelectMultiple, SelectOne
from naysay.questionnaire.kinds.values import Date, Decimal, Integer, Rating, Text

KINDS: dict[str, type[Question]] = {
    kind.flavor(): kind
    for kind in (SelectOne, SelectMultiple, Integer, Decimal, Text, Date, Rating, Grid, Ranking)
}  # fmt: skip
"""The kinds of questions. Whatever depends on the kind of a question reads it here, or asks the question itself."""


class Note(BaseItem):
    """A text that asks nothing.

    Examples
    --------
    >>> Note(name="thanks", label={"en": "Nearly there."}).kind
    'note'
    """

    kind: Literal["note"] = "note"


class _OneOfKinds:
    """Makes pydantic look up the kinds when it builds a model, so that a kind can be added later."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        union: Any = Union[(*KINDS.values(), Note, Group)]
        return handler.generate_schema(Annotated[union, Field(discriminator="kind")])


class Group(BaseItem):
    """Items under one heading, asked together or not at all.

    Examples
    --------
    >>> note = Note(name="intro", label={"en": "About you"})
    >>> len(Group(name="you", label={"en": "You"}, items=(note,)).items)
    1
    """

    kind: Literal["group"] = "group"
    items: tuple[Item, ...]


Item = Annotated[Question | Note | Group, _OneOfKinds()]

Group.model_rebuild()
_ITEM: TypeAdapter[Any] = TypeAdapter(Item)


def item_of(form: Any) -> Any:
    """The question, note or group that a JSON object describes; else pydantic's `ValidationError`."""
    return _ITEM.validate_python(form)


@contextlib.contextmanager
def added(kind: type[Question]) -> Iterator[None]:
    """A kind of question that is known as long as the context lasts; naysay's own are listed in `KINDS`.

    Parameters
    ----------
    kind : subclass of Question
        With a field ``kind`` whose default is its only value.

    Raises
    ------
    TypeError
        The kind leaves something out, or has the name of another kind.

    Examples
    --------
    >>> class Nothing(Question):
    ...     kind: Literal["nothing"] = "nothing"
    >>> with added(Nothing):
    ...     pass
    Traceback (most recent call last):
        ...
    TypeError: the kind 'nothing' does not say: complaint, draw, longest, stored, types, value_of
    """
    _check(kind)
    if kind.flavor() in KINDS:  # at the end of the context, the other kind of this name would be gone, too
        raise TypeError(f"there is a kind {kind.flavor()!r} already; give this one another name")
    KINDS[kind.flavor()] = kind
    _compile()
    try:
        yield
    finally:
        del KINDS[kind.flavor()]
        _compile()


def _compile() -> None:
    """Make pydantic rebuild its validators with the present kinds."""
    holding = [model for model in Model.__subclasses__() if "items" in model.model_fields]
    models: list[type[Model]] = [Group, *holding]  # a group first: all other models hold it
    for model in models:
        model.model_rebuild(force=True)
    _ITEM.rebuild(force=True)


def _check(kind: type[Question]) -> None:
    left_out = {*getattr(kind, "__abstractmethods__", ()), *({"stored", "types"} - set(dir(kind)))}
    if left_out:
        raise TypeError(f"the kind {kind.flavor()!r} does not say: {', '.join(sorted(left_out))}")


for _kind in KINDS.values():
    _check(_kind)
