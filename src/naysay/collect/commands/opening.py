"""What is said and asked before a survey is opened: the checker's warnings, and which answers are sent as they are."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from naysay.console import output
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.questionnaire import Examined, Questionnaire


YES = "Open a survey without private questions without asking."


def confirmed(path: Path, *, yes: bool, opened_before: Collection[str] = ()) -> Questionnaire:
    """The questionnaire in a file, once its warnings are printed and a survey without private questions is agreed to.

    Parameters
    ----------
    path : Path
    yes : bool
        Agreed to beforehand.
    opened_before : collection of str, optional
        Surveys that have been opened already; nothing is said or asked about them again.

    Raises
    ------
    QuestionnaireError
        The questionnaire has errors.
    DataError
        No question is private, and nobody agreed to that.
    """
    from naysay.questionnaire import examine

    examined = examine(path)
    form = examined.questionnaire
    return form if form is not None and form.name in opened_before else confirm(examined, path.name, yes=yes)


def confirm(examined: Examined, source: str, *, yes: bool) -> Questionnaire:
    """The questionnaire that was examined, under the same conditions; `source` is what it is called in messages."""
    from naysay.questionnaire import QuestionnaireError

    form = examined.questionnaire
    if form is None:
        raise QuestionnaireError(source, examined.problems)
    for problem in examined.problems:
        output.note(f"{form.name}: {problem}")
    plain = [question.name for question in form.questions if question.privacy is None]
    if len(plain) == len(form.questions):
        output.note(f"{form.name}: no question is private; every answer is sent as it is")
        if not yes and not agreed(f"Open {form.name} without a private question? "):
            raise DataError(f"{form.name!r} was not opened: no question is private; confirm with y, or give --yes")
    elif plain:
        output.note(f"{form.name}: sent as they are: {', '.join(plain)}")
    return form


def agreed(question: str) -> bool:
    """Whether the person at the keyboard says yes; without a keyboard, no."""
    try:
        return typer.prompt(question, default="n", prompt_suffix="", err=True).strip().lower() in ("y", "yes")
    except typer.Abort:
        return False
