"""Designs as JSON, in texts and in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from naysay.design.base import Answerable, Design
from naysay.errors import DesignError


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
        The text is no JSON, or the JSON is no design of this version. The message says what is wrong.

    Examples
    --------
    >>> from naysay import designs
    >>> read(designs.warner(p=0.7).to_json())
    <warner(p=0.7): 2 categories>
    """
    return Design.from_json(text)


def load(path: str | Path) -> Answerable:
    """The design, offer of levels or design of samples in a JSON file.

    Parameters
    ----------
    path : str or Path
        A file of UTF-8 text that `to_json` wrote.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        The file does not exist, cannot be read, or holds no design of this version.

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
