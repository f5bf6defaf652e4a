"""Public names that are loaded when they are first asked for (PEP 562), so that what is not used costs nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any


def loader(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names stand in the stub beside it.

    The stub is the one list of them: type checkers read it in place of the package, and its imports say where each name
    lives.

    Parameters
    ----------
    package, file : str
        Its ``__name__`` and ``__file__``.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: f"{node.module}" for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_module = homes[name] == package  # a module that is public itself
        value = resolve_name(f"{package}.{name}" if is_module else f"{homes[name]}:{name}")
        setattr(sys.modules[package], name, value)  # from now on it is found without this
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)


def show_in_notebooks(package: str, name: str, *, module: str, kind: str) -> None:
    """Let a notebook that runs show values of a class by a function of the package, which is loaded only then.

    Parameters
    ----------
    package, name : str
        Where the function is; it returns HTML.
    module, kind : str
        The class.
    """

    def shown(value: object) -> str:
        html: str = getattr(sys.modules[package], name)(value)
        return html

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name(module, kind, shown)
