"""Libraries of extras, imported when they are needed."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["ExtraMissing", "need"]


class ExtraMissing(ImportError):
    """A library of an extra is not installed. The message says how to install it."""


def need(module: str) -> ModuleType:
    """The module; if it is missing, an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"the report needs {error.name}, which is not installed; get it with: pip install 'naysay[plots]'",
            name=error.name,
        ) from None
