"""Where a report comes from: the file, its rows, the date, the version, and who made it."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from naysay.printing import Content, Facts

__all__ = ["Provenance"]


@dataclass(frozen=True)
class Provenance:
    """Where a report comes from.

    Parameters
    ----------
    file : str
        Its name, without the folders that it lies in.
    rows : int
    made : datetime.datetime
    by : str
        Who made the report; empty if nobody said so.
    digest : str
        SHA-256 of the file, by which anybody can check that they have the same.
    """

    file: str
    rows: int
    made: datetime.datetime
    by: str = ""
    digest: str = ""

    @classmethod
    def of(cls, path: Path, rows: int, *, by: str = "", made: datetime.datetime | None = None) -> Provenance:
        """Of a file as it is now."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path.name, rows, made or datetime.datetime.now().astimezone(), by, digest)

    def content(self) -> list[Content]:
        """As names and what they hold."""
        facts = [
            ("file", self.file),
            ("rows", f"{self.rows:,}"),
            ("SHA-256", self.digest),
            ("made", self.made.strftime("%Y-%m-%d %H:%M %Z").strip()),
            ("by", self.by),
            ("with", f"naysay {version('naysay')}"),
        ]
        return [Facts(tuple((name, value) for name, value in facts if value))]
