"""Public names that are loaded when they are first asked for (PEP 562), so that what is not used costs nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["loader", "stubbed"]


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


def stubbed(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The same for the names that the stub beside a package imports, and these names as its ``__all__``.

    One list serves type checkers and the running program.

    Parameters
    ----------
    package, file : str
        Its ``__name__`` and its ``__file__``; the stub is called ``__init__.pyi``.
    """
    homes: dict[str, str] = {}
    for node in ast.parse(Path(file).with_name("__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == package  # a module that is public itself
            homes |= {each.name: f"{package}.{each.name}" if whole else node.module for each in node.names}
    return *loader(package, homes), list(homes)
