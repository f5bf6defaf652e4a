"""What an error about an answer adds if the file itself says what its codes mean."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from naysay import _checks, files
from naysay.console.options import record_text
from naysay.design import Answerable
from naysay.errors import DataError

_BINARY = {"0", "1"}  # if a file has just these codes, 1 means yes and 0 means no


@contextmanager
def with_labels(
    asked: Answerable, file: Path, response: Sequence[str], *, encoding: str | None, codes: bool
) -> Iterator[None]:
    """Let errors about answers name the value labels of an SPSS or Stata file, and how the design accepts them."""
    try:
        yield
    except DataError as error:
        single = asked.space.answers == 1  # an error about a pair of answers does not belong to one column
        column = error.column if single and not codes and error.column in response else None
        labels = {} if column is None else files.value_labels(file, column, encoding=encoding)
        if not labels:
            raise
        shown = _checks.shown(f"{code} = {label}" for code, label in labels.items())
        told = f"{error}; the file labels its codes {shown}: {_way_out(asked, labels, several=len(response) > 1)}"
        raise DataError(told, row=error.row, column=column, value=error.value) from None


def _way_out(asked: Answerable, labels: Mapping[str, str], *, several: bool) -> str:
    """The way out. It says which of two labels is the sensitive one only if the codes are 1 and 0."""
    names, binary = list(labels.values()), labels.keys() == _BINARY
    if several or tuple(asked.space.labels) != tuple(asked.categories):
        return (
            "add --codes" if binary else f"recode them as {'1 and 0' if several else _checks.shown(asked.space.labels)}"
        )
    if len(asked.categories) != 2:
        return f"name them with --categories {_quoted(names)}"
    if binary:
        return f"take 1 as yes and 0 as no with --codes, or with --categories {_quoted([labels['1'], labels['0']])}"
    if len(names) == 2:
        return f"name the sensitive one first, --categories {_quoted(names)} or --categories {_quoted(names[::-1])}"
    return f"name them all with --categories {_quoted(names)}, or two for a yes-or-no design, the sensitive one first"


def _quoted(names: Sequence[str]) -> str:
    return shlex.quote(record_text(names))
