"""``naysay demo``: a survey from the questionnaire to the report; or small files to try commands on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer
from rich.console import Console

from naysay import designs
from naysay.console import output
from naysay.errors import DataError


def command(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder for the report and the answers.")] = Path(
        "naysay-demo"
    ),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Ask the same people again; what they send is still drawn afresh.")
    ] = None,
    stay: Annotated[
        bool, typer.Option("--open", help="Leave the server running, to answer yourself; Ctrl+C stops it.")
    ] = False,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Only write small files of made-up people, to try other commands on."),
    ] = None,
) -> None:
    """Run a survey end to end, and leave a report to look at.

    A server starts on this computer. 2,000 people, drawn from a published survey of 10,108, answer five questions over
    HTTP. Each person chooses a level of privacy, their device randomizes the answer, and the server stores what it
    sends. The report shows the shares estimated from the database, beside the truth.

    \b
    Examples:
      naysay demo --out naysay-demo --seed 1
      naysay demo --open
      naysay demo --files samples
    """
    try:
        if files is not None:
            for path in write_samples(files, seed=1 if seed is None else seed):
                output.say(f"{path}: written")
            return
        from naysay import demo  # imports the data and the charts, which the help does not need

        demo.run(out, seed=seed, console=Console(file=sys.stdout), stay=demo.forever if stay else None)
    except OSError as error:
        raise DataError(f"cannot write to {str(files or out)!r}: {error.strerror or error}") from None


_INCOMES = ("low", "middle", "high", "none")
_PEOPLE = 1_000


def write_samples(folder: Path, *, seed: int = 1) -> list[Path]:
    """Two files: ``people.csv`` holds true answers, ``answers.csv`` holds what other people said in a survey.

    The other people named two categories of ``income`` that are not theirs (a negative survey). Warner's design with
    p = 0.8 randomized ``cheated``. Age and gender are true.

    Parameters
    ----------
    folder : Path
        The folder; it is made if it does not exist.
    seed : int
        The same seed gives the same people and answers.

    Returns
    -------
    list of Path

    Raises
    ------
    DataError
        A file of that name already exists.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as there:
    ...     people, answers = write_samples(Path(there))
    ...     print(*answers.read_text().splitlines()[:3])
    income,cheated,age,gender middle;none,no,68,m low;none,no,46,f
    """
    rng = np.random.default_rng(seed)
    people_columns = {
        "age": rng.integers(18, 80, _PEOPLE),
        "gender": rng.choice(("f", "m"), _PEOPLE),
        "region": rng.choice(("north", "east", "south", "west"), _PEOPLE),
        "income": rng.choice(_INCOMES[:3], _PEOPLE, p=(0.4, 0.4, 0.2)),
    }
    true_incomes = rng.choice(_INCOMES, _PEOPLE, p=(0.35, 0.35, 0.2, 0.1))
    income_responses = designs.negative(_INCOMES, discards=2).randomize(true_incomes, rng=rng)
    covariate_columns = {"age": rng.integers(18, 80, _PEOPLE), "gender": rng.choice(("f", "m"), _PEOPLE)}
    cheating_chances = np.where(covariate_columns["gender"] == "m", 0.3, 0.15) * np.where(
        covariate_columns["age"] < 40, 2.0, 1.0
    )
    true_cheating = np.where(rng.random(_PEOPLE) < cheating_chances, "yes", "no")
    answer_columns = {
        "income": income_responses.texts(),
        "cheated": designs.warner(p=0.8).randomize(true_cheating, rng=rng).texts(),
    }
    table_of_file = {
        "people.csv": pl.DataFrame(people_columns),
        "answers.csv": pl.DataFrame(answer_columns | covariate_columns),
    }
    for file_name in table_of_file:
        if (folder / file_name).exists():
            raise DataError(f"{str(folder / file_name)!r} already exists; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, file_table in table_of_file.items():
        file_table.write_csv(folder / file_name)
    return [folder / file_name for file_name in table_of_file]
