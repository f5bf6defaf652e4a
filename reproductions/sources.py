"""What can be reproduced, by name."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from naysay import _checks
from naysay.errors import DataError
from reproductions import bao2013, errata, esponda2006, esponda2016, mulder, randomized_file, two_coins
from reproductions.result import Reproduction
from reproductions.setting import Setting

__all__ = ["SEED", "SOURCES", "Source", "reproduce"]

SEED = 2016


class Source(NamedTuple):
    """One thing to reproduce.

    Parameters
    ----------
    told : str
        What it is.
    run : callable
        Takes a setting.
    runs : int
        Surveys in each simulation, unless others are asked for.
    """

    told: str
    run: Callable[[Setting], Reproduction]
    runs: int


SOURCES: dict[str, Source] = {
    "esponda2016": Source(
        "Esponda, Huerta & Guerrero 2016: figures 1 to 7, levels on five questions", esponda2016.run, 100
    ),
    "bao2013": Source("Bao, Luo & Zhang 2013: figures 2, 4, 5 and table 1, NStoPS", bao2013.run, 1_000),
    "esponda2006": Source("Esponda 2006: the salary question, two options, information", esponda2006.run, 1_000),
    "two_coins": Source("The randomized-response example with two coins", two_coins.run, 2_000),
    "errata": Source("Misprints of the sources, shown by simulation", errata.run, 1_000),
    "file": Source("A randomized file: the file and the population as targets", randomized_file.run, 200),
    "mulder": Source("Mulder: who stands out in a panel, tables 3 and 4, and gaps treated four ways", mulder.run, 2),
}
"""What can be reproduced, by name."""


def reproduce(
    name: str, *, runs: int | None = None, seed: int = SEED, workers: int = 1, console: Console | None = None
) -> Reproduction:
    """A source's results, computed again.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    runs : int, optional
        Surveys in each simulation, at least 2.
    seed : int
    workers : int
        Processes; they change no number. A script that asks for more than one needs ``if __name__ == "__main__":``
        around it.
    console : rich Console, optional
        Where to show progress.

    Raises
    ------
    DataError
        An unknown source, with the nearest known one; fewer than two runs.
    KeyboardInterrupt
        After Ctrl-C: what is half done is not compared with a whole source.

    Examples
    --------
    >>> found = reproduce("two_coins", runs=100)
    >>> found.agreeing == len(found.checks)
    True
    """
    if name not in SOURCES:
        raise DataError(
            f"nothing that can be reproduced is called {name!r}; {_checks.nearest(name, SOURCES)}", value=name
        )
    source = SOURCES[name]
    number: Any = source.runs if runs is None else runs
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 2:
        raise DataError(
            f"runs must be at least 2, as the spread of one survey is not known; got {number!r}", value=number
        )
    began = time.perf_counter()
    chosen = _checks.whole_number(seed, 0, 2**64 - 1, what="seed")
    found = source.run(Setting(int(number), chosen, workers, console))
    return dataclasses.replace(found, seconds=time.perf_counter() - began)
