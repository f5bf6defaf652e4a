"""The bytes of a questionnaire's file, as many as one may have."""

from __future__ import annotations

from pathlib import Path

from naysay.errors import DataError

__all__ = ["content_of"]

_LARGEST = 5_000_000  # bytes; a questionnaire of 200 questions in four languages takes a hundredth of it


def content_of(path: Path) -> bytes:
    """The content of a file.

    Raises
    ------
    DataError
        A file that is not there, cannot be read, or is too large; no more of it is read than a questionnaire may have.

    Examples
    --------
    >>> content_of(Path("nowhere.json"))
    Traceback (most recent call last):
    naysay.errors.DataError: there is no file 'nowhere.json'
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise DataError(f"a questionnaire must have at most {_LARGEST:,} bytes; {path.name!r} has more")
    return content
