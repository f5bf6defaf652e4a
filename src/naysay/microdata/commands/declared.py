"""How key variables are written on the command line: their policies for missing cells, and their sets of candidates."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from naysay import _checks, files
from naysay.console.options import design_of
from naysay.errors import DataError
from naysay.microdata import (
    Between,
    Either,
    Form,
    Joined,
    Privatized,
)
from naysay.microdata.commands.risk_options import RiskOptions
from naysay.microdata.report.protection import protection


def record(text: str, *, option: str) -> tuple[str, ...]:
    """The names that one CSV record lists."""
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"{option} must be one CSV record, such as 'age,gender'; {error}") from None
    names = tuple(rows[0]) if rows else ()
    if not names or not all(name.strip() for name in names):
        raise DataError(f"{option} must list names with commas, such as 'age,gender'; got {text!r}")
    return names


def key_sets(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The sets of keys that ``--keys`` lists, one for each time it is given.

    Raises
    ------
    DataError
        A key that a set names twice, or a set that stands twice, in whatever order.
    """
    sets: list[tuple[str, ...]] = []
    for text in texts:
        names = record(text, option="--keys")
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise DataError(f"{twice!r} is named twice in --keys {text!r}; name each key once", column=twice)
        same_keys = next((other for other in sets if set(other) == set(names)), None)
        if same_keys is not None:
            problem = f"--keys lists the same keys twice, as {','.join(same_keys)!r} and as {text!r}"
            raise DataError(f"{problem}: what an intruder knows has no order; give each set once")
        sets.append(names)
    return sets


def check_free(path: Path, *, force: bool) -> None:
    """Raise unless a file can be written there: in a folder that exists, and over another only with ``--force``."""
    if path.exists() and not force:
        raise DataError(f"{str(path)!r} exists; add --force to overwrite it")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {str(path.parent)!r} to write to")


def named_values(texts: Iterable[str], *, option: str, example: str) -> dict[str, str]:
    """The values of ``NAME=VALUE`` options, by name."""
    value_of: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise DataError(f"{option} must be NAME=VALUE, such as {example}; got {text!r}")
        if name in value_of:
            raise DataError(f"{option} is given twice for {name!r}")
        value_of[name] = value
    return value_of


def policies(texts: Sequence[str]) -> list[str | dict[str, str]]:
    """For each ``--missing``, one policy or one for each key; without any, ``wildcard``."""
    policies_read: list[str | dict[str, str]] = []
    for text in texts:
        parts = record(text, option="--missing")
        plain = [part for part in parts if "=" not in part]
        if not plain:
            policies_read.append(named_values(parts, option="--missing", example="age=drop,income=category"))
        elif len(parts) == 1:
            policies_read.append(parts[0])
        else:
            received_text = f"got {plain[0]!r} in {text!r}"
            raise DataError(f"--missing must be one policy for all keys, or KEY=POLICY for each; {received_text}")
    return policies_read or ["wildcard"]


def forms(options: RiskOptions) -> dict[str, Form]:
    """How each key writes its candidates, from the options that declare it."""
    form_of: dict[str, Form] = {}
    for name in options.joined or ():
        _once(form_of, name)[name] = Joined()
    pair = "month=first_month,second_month"
    for option, texts in (("--either", options.either or ()), ("--between", options.between or ())):
        for name, value in named_values(texts, option=option, example=pair).items():
            columns = record(value, option=option)
            if len(columns) != 2:
                raise DataError(f"{option} must name two columns, such as {pair}; got {value!r}")
            _once(form_of, name)[name] = Either(*columns) if option == "--either" else Between(*columns)
    labels = named_values(options.categories or (), option="--categories", example="income=low,middle,high")
    levels = named_values(options.level or (), option="--level", example="income=income_level")
    designs = named_values(options.design or (), option="--design", example='income="negative(discards=2)"')
    for option, others in (("--categories", labels), ("--level", levels)):
        for name in others:
            if name not in designs:
                raise DataError(f"{option} is for answers given under a design; {name!r} has no --design")
    for name, text in designs.items():
        _once(form_of, name)[name] = Privatized(design_of(text, labels.get(name)), level=levels.get(name))
    return form_of


def published_forms(options: RiskOptions, keys: Iterable[str]) -> dict[str, Form]:
    """How private columns among these keys write their candidates, from the codebook beside a survey's export."""
    private_columns = files.designs_of(options.file, codes=options.codes)
    return {
        name: Privatized(private_columns[name].design, level=private_columns[name].level)
        for name in keys
        if name in private_columns
    }


def log_of(path: Path) -> dict[str, Any]:
    """The log of a protected file, from TOML or JSON.

    Raises
    ------
    DataError
        A file that cannot be read, or is no log.
    """
    try:
        text = path.read_text(encoding="utf-8")
        log_fields = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
        protection(log_fields)
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}, the log of --protection: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{str(path)!r} is no log of naysay protect ({error})") from None
    return dict(log_fields)


def _once(form_of: dict[str, Form], name: str) -> dict[str, Form]:
    if name in form_of:
        every = "--joined, --either, --between, --design"
        raise DataError(f"the candidates of {name!r} are declared twice; use one of {every}")
    return form_of


def orders(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The order of the values of each key that has one."""
    order_texts = named_values(texts, option="--order", example="school=none,primary,secondary")
    return {name: record(value, option="--order") for name, value in order_texts.items()}


def chances(texts: Sequence[str]) -> dict[str, float]:
    """Pr(attempt) for each scenario."""
    chance_of = {}
    for name, text in named_values(texts, option="--attempt", example="acquaintance=0.05").items():
        try:
            chance_of[name] = float(text)
        except ValueError:
            problem = f"--attempt must be a probability, such as acquaintance=0.05; got {_checks.listing_text([text])}"
            raise DataError(problem) from None
    return chance_of
