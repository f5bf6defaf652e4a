"""Small files to try commands on. The people in them are made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from naysay import designs
from naysay.errors import DataError

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
    people = {
        "age": rng.integers(18, 80, _PEOPLE),
        "gender": rng.choice(("f", "m"), _PEOPLE),
        "region": rng.choice(("north", "east", "south", "west"), _PEOPLE),
        "income": rng.choice(_INCOMES[:3], _PEOPLE, p=(0.4, 0.4, 0.2)),
    }
    truth = rng.choice(_INCOMES, _PEOPLE, p=(0.35, 0.35, 0.2, 0.1))
    responses = designs.negative(_INCOMES, discards=2).randomize(truth, rng=rng)
    covariates = {"age": rng.integers(18, 80, _PEOPLE), "gender": rng.choice(("f", "m"), _PEOPLE)}
    chance = np.where(covariates["gender"] == "m", 0.3, 0.15) * np.where(covariates["age"] < 40, 2.0, 1.0)
    cheated = np.where(rng.random(_PEOPLE) < chance, "yes", "no")
    answers = {"income": responses.texts(), "cheated": designs.warner(p=0.8).randomize(cheated, rng=rng).texts()}
    files = {"people.csv": pl.DataFrame(people), "answers.csv": pl.DataFrame(answers | covariates)}
    for name in files:
        if (folder / name).exists():
            raise DataError(f"{str(folder / name)!r} already exists; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in files.items():
        table.write_csv(folder / name)
    return [folder / name for name in files]
