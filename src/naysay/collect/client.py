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
from naysay.collect.questionnaire import canonical
from naysay.errors import DataError

FOLDER = Path(__file__).parent / "client"
"""The folder of naysay's own client."""

ENTRY = "survey.js"
"""The module with which the page begins; it stands in the page itself."""

DRAWING = "../../telemetry/javascript/randomize.js"
"""The module that draws, as the page's own modules import it: web apps have it from the package in its folder."""

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
        client_files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in client_paths}
        if "survey.html" not in client_files:
            raise DataError(f"a client is a folder with survey.html; there is none in {str(folder)!r}")
        for file_name, file_content in list(client_files.items()):
            if language_match := _THREATS.fullmatch(file_name):
                client_files[f"threats/{language_match[1]}.js"] = _module_of_threats(file_content.decode()).encode()
        if ENTRY in client_files:
            module_codes = {
                file_name: file_content.decode()
                for file_name, file_content in client_files.items()
                if file_name.endswith(".js")
            }
            drawing_code = (FOLDER / DRAWING).read_text(encoding="utf-8")
            bundled_code, bundled_names = bundle({DRAWING: drawing_code} | module_codes, ENTRY)
            # what others wrote is small already, and keeps its license
            module_codes = {
                file_name: module_code if file_name.startswith(_VENDOR) else without_comments(module_code)
                for file_name, module_code in module_codes.items()
                if file_name not in bundled_names
            }
            other_files = {
                file_name: file_content
                for file_name, file_content in client_files.items()
                if file_name not in bundled_names
            }
            client_files = other_files | {
                file_name: module_code.encode()
                for file_name, module_code in (module_codes | {ENTRY: bundled_code}).items()
            }
        return cls(client_files)

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
    lead_html, *html_parts = re.split("<h2>", page)
    rows_by_part = [re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", html_part, re.DOTALL) for html_part in html_parts]
    page_texts = {
        "lead": "".join(re.findall(r"<p>(.*?)</p>", lead_html, re.DOTALL)),
        "parts": [
            [html_part.partition("<")[0], part_rows]
            for html_part, part_rows in zip(html_parts, rows_by_part, strict=True)
        ],
    }
    return f"export default {html.unescape(json.dumps(page_texts, ensure_ascii=False, separators=(',', ':')))};"
