"""Public names that are loaded when they are first asked for (PEP 562), so that what is not used costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["loader"]


def loader(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` of a package, which loads public names from the modules where they live, and its ``__dir__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : {name: module}
        Where each name lives; a module that is public itself lives in itself.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, value)  # from now on it is found without this
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *homes})
