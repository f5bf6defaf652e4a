"""The files that make the respondent's page, and the hashes by which a browser knows them."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from naysay.collect.bundle import bundle, without_comments
from naysay.errors import DataError
from naysay.questionnaire import canonical

FOLDER = Path(__file__).parent / "client"
"""The folder of naysay's own client."""

ENTRY = "survey.js"
"""The module with which the page begins; it stands in the page itself."""

_VENDOR = "vendor/"
_INVITED = ("invited/", _VENDOR)
_THREATS = re.compile(r"threats\.(\w+)\.html")

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}
"""The kinds of files in a client; other files in its folder are left out."""


@dataclass(frozen=True)
class Client:
    """The client of one survey: its files, held in memory, so that no request ever names a path on disk.

    Parameters
    ----------
    files : {name: bytes}
        Names are relative, with ``/``, such as ``words/en.js``.

    Examples
    --------
    >>> client = Client({"survey.js": b"export const version = 1"})
    >>> client.integrity["survey.js"][:13], len(client.hash)
    ('sha256-NV2hH3', 16)
    """

    files: Mapping[str, bytes]

    @classmethod
    def of(cls, folder: Path) -> Client:
        """The files of a folder; ``survey.js`` and all that it imports are one file (see `naysay.collect.bundle`).

        What it imports only when it is needed, such as a language, stays a file of its own. Each page on threats is
        a module, too, which shows it inside the respondent's page.

        Raises
        ------
        DataError
            The folder holds no page, or its modules cannot be bundled into one.
        """
        client_paths = sorted(path for path in folder.rglob("*") if path.suffix in TYPES and path.is_file())
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in client_paths}
        if "survey.html" not in files:
            raise DataError(f"a client is a folder with survey.html; there is none in {str(folder)!r}")
        for name, content in list(files.items()):
            if language := _THREATS.fullmatch(name):
                files[f"threats/{language[1]}.js"] = _module_of_threats(content.decode()).encode()
        if ENTRY in files:
            modules = {name: content.decode() for name, content in files.items() if name.endswith(".js")}
            bundled_code, bundled_names = bundle(modules, ENTRY)
            # what others wrote is small already, and keeps its license
            modules = {
                name: code if name.startswith(_VENDOR) else without_comments(code)
                for name, code in modules.items()
                if name not in bundled_names
            }
            other_files = {name: content for name, content in files.items() if name not in bundled_names}
            files = other_files | {name: code.encode() for name, code in (modules | {ENTRY: bundled_code}).items()}
        return cls(files)

    def serving(self, *, invites: bool) -> Client:
        """The files that a survey needs: those for invitations only where it invites."""
        if invites:
            return self
        return Client({name: content for name, content in self.files.items() if not name.startswith(_INVITED)})

    @cached_property
    def integrity(self) -> dict[str, str]:
        """The SHA-256 of every file, as Subresource Integrity writes it."""
        digests = {name: hashlib.sha256(content).digest() for name, content in sorted(self.files.items())}
        return {name: "sha256-" + base64.b64encode(digest).decode() for name, digest in digests.items()}

    @cached_property
    def hash(self) -> str:
        """A short hash over all files, the folder under which they are served."""
        return hashlib.sha256(canonical(self.integrity)).hexdigest()[:16]


def _module_of_threats(page: str) -> str:
    """A module with the texts of a page on threats: what it says first, and its parts, each a heading and its rows.

    Examples
    --------
    >>> _module_of_threats("<p>In short</p><h2>What holds</h2><dl><dt>Size.</dt><dd>One &lt; two.</dd></dl>")
    'export default {"lead":"In short","parts":[["What holds",[["Size.","One < two."]]]]};'
    """
    lead, *parts = re.split("<h2>", page)
    rows = [re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", part, re.DOTALL) for part in parts]
    texts = {
        "lead": "".join(re.findall(r"<p>(.*?)</p>", lead, re.DOTALL)),
        "parts": [[part.partition("<")[0], part_rows] for part, part_rows in zip(parts, rows, strict=True)],
    }
    return f"export default {html.unescape(json.dumps(texts, ensure_ascii=False, separators=(',', ':')))};"
