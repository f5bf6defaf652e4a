"""``naysay questionnaire``: write one, check it, turn it into canonical JSON or an XLSForm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from naysay import _checks
from naysay.collect import questionnaire as questionnaires
from naysay.collect.commands import serve
from naysay.collect.questionnaire import Examined, Questionnaire, write_xlsform
from naysay.console import output
from naysay.console.options import Force
from naysay.errors import DataError

app = typer.Typer(rich_markup_mode=None)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A questionnaire: .xlsx, .csv, .md (XLSForm) or .json (also SurveyJS).")
]


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Write, check and convert a questionnaire.

    \b
    Example:
      naysay questionnaire new questionnaire.xlsx
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes: .xlsx or .json.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name in links; by default that of the file.")
    ] = None,
    force: Force = False,
) -> None:
    """Write an example questionnaire to begin with.

    The example holds every kind of question, direct and private, in four languages. A sheet of the workbook explains
    each column.

    \b
    Examples:
      naysay questionnaire new questionnaire.xlsx
      naysay questionnaire new sport.json --name doping-2026
    """
    check_target(file, force=force)
    examined = questionnaires.of_form({**questionnaires.sample().form(), "name": name or file.stem.lower()})
    if examined.questionnaire is None:
        raise DataError(f"{examined.errors[0].message}; give another with --name, such as survey-1")
    write(examined.questionnaire, file)
    output.say(f"{file}: written; change it, then: naysay questionnaire check {file}")


@app.command("check")
def check(
    file: File,
    format_: Annotated[
        Literal["table", "json"], typer.Option("--format", help="How the problems are printed.")
    ] = "table",
) -> None:
    """Find every problem of a questionnaire.

    Each problem names its sheet, row and column, what must hold, why, and the way out. A questionnaire with errors
    cannot be fielded, and the exit code is 2. Without errors, the command also prints how private each answer is, and
    all answers together.

    \b
    Examples:
      naysay questionnaire check survey.xlsx
      naysay questionnaire check survey.json --format json
    """
    examined = questionnaires.examine(file)
    if format_ == "json":
        form = examined.questionnaire
        json_content = {
            "questionnaire": form and form.name,
            "fingerprint": form and form.fingerprint,
            "problems": [problem.form() for problem in examined.problems],
            "privacy": form and questionnaires.statements(form),
            "together": form and questionnaires.together(form),
        }
        output.say(output.json_text(json_content))
    else:
        _say_problems(file, examined)
    if examined.errors:
        raise typer.Exit(2)


def _say_problems(file: Path, examined: Examined) -> None:
    for problem in examined.problems:
        output.say(str(problem))
    error_count = len(examined.errors)
    errors_text = _checks.several(error_count, "error", "errors")
    warnings_text = _checks.several(len(examined.problems) - error_count, "warning", "warnings")
    form = examined.questionnaire
    if form is None:
        output.say(f"{file}: {errors_text}, {warnings_text}; it cannot be fielded")
        return
    questions_text, languages = _checks.several(len(form.asked), "question", "questions"), ", ".join(form.languages)
    output.say(f"{file}: {errors_text}, {warnings_text}; {questions_text} in {languages}")
    for privacy_line in questionnaires.lines(form):
        output.say(privacy_line)


@app.command("convert")
def convert(
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Where it goes: .json or .xlsx.")],
    force: Force = False,
) -> None:
    """Turn an XLSForm or a SurveyJS file into JSON or an XLSForm.

    Of a survey of SurveyJS, what has no place in a questionnaire is named, with its path in the JSON.

    \b
    Example:
      naysay questionnaire convert survey.xlsx form.json
    """
    check_target(out, force=force)
    write(questionnaires.load(file), out)
    output.say(f"{out}: written")


_WRITERS: dict[str, Callable[[Questionnaire, Path], object]] = {
    ".json": lambda form, path: path.write_text(
        json.dumps(form.form(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    ),
    ".xlsx": write_xlsform,
}


def check_target(path: Path, *, force: bool) -> None:
    """Raise unless a questionnaire can be written there."""
    if path.suffix.lower() not in _WRITERS:
        raise DataError(f"a questionnaire is written as .xlsx or .json; got {path.name!r}")
    output.check_free(path, force=force)


def write(form: Questionnaire, path: Path) -> None:
    """Write a questionnaire as the suffix says."""
    try:
        _WRITERS[path.suffix.lower()](form, path)
    except OSError as error:
        raise DataError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None


app.command("preview")(serve.preview)
