"""What a report needs beyond the core, asked for when it is needed."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["ExtraMissing", "need"]


class ExtraMissing(ImportError):
    """A library that comes with an extra, and is not installed; the message says how to get it."""


def need(module: str) -> ModuleType:
    """The module, or a clear word about what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"the report needs {error.name}, which is not installed; get it with: pip install 'naysay[plots]'",
            name=error.name,
        ) from None
