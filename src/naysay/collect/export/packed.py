"""An export as one zip file, for those who fetch it over the web."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from naysay.collect.export import Exported, export
from naysay.collect.storage import Store, today


@contextmanager
def packed(store: Store, survey: str, suffix: str, *, language: str | None = None) -> Iterator[tuple[Path, Exported]]:
    """A zip file with the data, its codebooks and its designs; it is deleted at the end of the context.

    Parameters
    ----------
    store : Store
    survey : str
    suffix : str
        Of the data, such as ``.sav``.
    language : str, optional
        Of the labels; by default the first of the questionnaire.

    Raises
    ------
    DataError
        No such survey or language, or nobody has answered yet.
    """
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        name = f"{survey}-{today()}"
        done = export(store, survey, Path(folder, name + suffix), language=language)
        archive = Path(folder, f"{name}.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
            for path in done.files:
                zip_file.write(path, path.name)
                path.unlink()
        yield archive, done
