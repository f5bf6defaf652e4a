"""Reading designs back from JSON; every integer is checked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from naysay.design.answerable import KINDS, NUMBERS, Answerable
from naysay.design.exact import labels_of
from naysay.errors import DesignError
from naysay.tally.tally import register_reader

__all__ = ["VERSION", "load", "read"]

VERSION = 1


def read(text: str | Mapping[str, Any]) -> Answerable:
    """The design, offer of levels or design of samples that a JSON text or object describes.

    Parameters
    ----------
    text : str or mapping
        What `to_json` wrote, as text or as the object that it stands for.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        Text that is no JSON, or JSON that is no design of this version; says what is wrong.

    Examples
    --------
    >>> from naysay import designs
    >>> read(designs.warner(p=0.7).to_json())
    <warner(p=0.7): 2 categories>
    """
    try:
        whole = json.loads(text) if isinstance(text, str) else text
    except (json.JSONDecodeError, RecursionError) as error:
        raise DesignError(f"a design's JSON must be readable; {error}") from None
    if not isinstance(whole, Mapping) or whole.get("naysay") != "design":
        raise DesignError('a design\'s JSON must be an object with "naysay": "design"')
    if whole.get("version") != VERSION:
        raise DesignError(f"this naysay reads designs of version {VERSION}; got version {whole.get('version')!r}")
    return of_node(whole.get("design"))


def load(path: str | Path) -> Answerable:
    """The design, offer of levels or design of samples in a JSON file.

    Parameters
    ----------
    path : str or Path
        A file of UTF-8 text, as `to_json` writes it.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        No such file, one that cannot be read, or one that holds no design of this version.

    Examples
    --------
    >>> import tempfile
    >>> from naysay import designs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "income.json")
    ...     written = path.write_text(designs.negative(("low", "middle", "high")).to_json(), encoding="utf-8")
    ...     load(path)
    <negative(): 3 categories>
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DesignError(f"there is no design file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DesignError(f"cannot read the design file {str(path)!r}: {error}") from None
    return read(text)


def of_node(node: Any) -> Answerable:
    """The design that one object of the tree describes."""
    try:
        kind = KINDS[node["kind"]]
        made = {key: value if key in NUMBERS else _made(value) for key, value in node.items()}
        labels = {key: labels_of(made[key]) for key in ("categories", "responses") if key in made}
        design = kind.of_form({**made, **labels})
        ends = tuple(made.get("alternatives", ()))
        return replace(design, alternatives=ends) if ends else design
    except DesignError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        named = node.get("kind") if isinstance(node, Mapping) else node
        raise DesignError(
            f"a design's JSON must be of a known kind ({', '.join(KINDS)}) with its fields complete; "
            f"got kind {named!r} and stumbled over {error!r}"
        ) from None


def _made(value: Any) -> Any:
    """A field of the JSON, with a design in place of every object that describes one."""
    if isinstance(value, Mapping):
        return of_node(value) if "kind" in value else {key: _made(each) for key, each in value.items()}
    return [_made(each) for each in value] if isinstance(value, list) else value


register_reader(of_node)
