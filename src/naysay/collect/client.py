"""The files that make the respondent's page, and the hashes by which a browser knows them.

Its modules become one file, without comments: fewer requests, and half the bytes on the way to a phone. Each module
becomes a block, and what it exports a variable of the page by the same name, for all that come after it. Nothing is
renamed and nothing is left out, so that readers can compare the served file with its modules.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import rjsmin

from naysay.collect.questionnaire import Questionnaire, canonical
from naysay.errors import DataError

FOLDER = Path(__file__).parent / "client"
"""The folder of naysay's own client."""

ENTRY = "survey.js"
"""The module with which the page begins; it stands in the page itself."""

DRAWING = "../../telemetry/javascript/randomize.js"
"""The module that draws, as the page's own modules import it: web apps have it from the package in its folder."""

_VENDOR = "vendor/"
_INVITED = ("invited/", _VENDOR)
_LOTS = ("lots/",)
_UNFOLDED = "extras/unfolded.js"
_BESIDE = ("extras/beside.js",)
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
        """The files of a folder; ``survey.js`` and all that it imports are one file (see `naysay.collect.client`).

        What it imports only when it is needed, such as a language, stays a file of its own. What is seldom read in a
        language is one file, ``extras/LANGUAGE.js``: its words, the page on threats, and what shows both inside the
        respondent's page.

        Raises
        ------
        DataError
            The folder holds no page, or its modules cannot be bundled into one.
        """
        client_paths = sorted(path for path in folder.rglob("*") if path.suffix in TYPES and path.is_file())
        client_files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in client_paths}
        if "survey.html" not in client_files:
            raise DataError(f"a client is a folder with survey.html; there is none in {str(folder)!r}")
        unfolded_code = client_files.pop(_UNFOLDED, b"")
        for file_name, file_content in list(client_files.items()):
            if language_match := _THREATS.fullmatch(file_name):
                extras_name = f"extras/{language_match[1]}.js"
                threats_code = _code_of_threats(file_content.decode()).encode()
                client_files[extras_name] = client_files.get(extras_name, b"") + threats_code + unfolded_code
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

    def serving(self, *, invites: bool, lots: bool = False, beside: bool = False) -> Client:
        """The files of a survey, no page of the server's; some only where it invites, has lots, or asks beside."""
        needs = {_INVITED: invites, _LOTS: lots, _BESIDE: beside}
        spared = tuple(chain.from_iterable(names for names, needed in needs.items() if not needed))
        unneeded = [name for name in self.files if _THREATS.fullmatch(name) or name.startswith(spared)]
        return Client({name: content for name, content in self.files.items() if name not in unneeded})

    def of_survey(self, questionnaire: Questionnaire, *, invites: bool) -> Client:
        """The files that this questionnaire needs, the same for all who take it."""
        return self.serving(invites=invites, lots=questionnaire.chancy, beside=questionnaire.has_innocuous)

    @cached_property
    def integrity(self) -> dict[str, str]:
        """The SHA-256 of every file, as Subresource Integrity writes it."""
        digests = {name: hashlib.sha256(content).digest() for name, content in sorted(self.files.items())}
        return {name: "sha256-" + base64.b64encode(digest).decode() for name, digest in digests.items()}

    @cached_property
    def hash(self) -> str:
        """A short hash over all files, the folder under which they are served."""
        return hashlib.sha256(canonical(self.integrity)).hexdigest()[:16]


def _code_of_threats(page: str) -> str:
    """An export of the texts of a page on threats: what it says first, and its parts, each a heading and its rows.

    Examples
    --------
    >>> _code_of_threats("<p>In short</p><h2>What holds</h2><dl><dt>Size.</dt><dd>One &lt; two.</dd></dl>")
    'export const threats={"lead":"In short","parts":[["What holds",[["Size.","One < two."]]]]};'
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
    return f"export const threats={html.unescape(json.dumps(page_texts, ensure_ascii=False, separators=(',', ':')))};"


_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "(?:\./)?([\w./]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_VARIABLES = (
    (re.compile(r"^export ((?:async )?function|class) (\w+)", re.MULTILINE), r"var \2 = \1"),
    (re.compile(r"^export const (?=\w+\b)", re.MULTILINE), "var "),
)
"""How what a module exports outlives its block."""


def bundle(modules: Mapping[str, str], entry: str) -> tuple[str, tuple[str, ...]]:
    r"""One module that does what `entry` does with all that it imports, and the names of the modules in it.

    Parameters
    ----------
    modules : {name: code}
        Each import is a line ``import { a, b } from "./name.js";``; each export is a declaration behind ``export``.
        A module that stands elsewhere is named as it is imported, such as ``../folder/name.js``.
    entry : str
        The module with which the page begins; it exports nothing.

    Raises
    ------
    DataError
        A module is missing, is in a circle of imports, or writes imports or exports in another form; or two modules
        export one name.

    Examples
    --------
    >>> modules = {"a.js": 'import { b } from "./b.js";\nb();', "b.js": "// two\nexport const b = () => 2;"}
    >>> bundle(modules, "a.js")
    ('{var b=()=>2}\nb();', ('b.js', 'a.js'))
    """
    module_order: dict[str, None] = {}
    _visit(modules, entry, module_order, ())
    module_exports = {
        module_name: tuple(declaration[2] for declaration in _EXPORT.finditer(modules[module_name]))
        for module_name in module_order
    }
    export_counts = Counter(chain.from_iterable(module_exports.values()))
    if repeated_names := [export_name for export_name, count in export_counts.items() if count > 1]:
        modules_text = " and ".join(module for module in module_order if repeated_names[0] in module_exports[module])
        raise DataError(f"{repeated_names[0]!r} is exported by {modules_text}; in one file each name has one meaning")
    *blocks, last_block = (_as_block(modules[module_name]) for module_name in module_order)
    return without_comments("".join([*blocks, last_block[2:-3]])), tuple(module_order)


def without_comments(code: str) -> str:
    """A script without comments, and without blanks, semicolons and commas that have no meaning.

    Examples
    --------
    >>> without_comments("export default { next: 'Next', }; // the page")
    "export default{next:'Next'};"
    >>> without_comments("export const few = /^x{1,}$/, words = ['a,) b;}',];")
    "export const few=/^x{1,}$/,words=['a,) b;}'];"
    """
    return _WITHOUT_MEANING.sub(lambda match: match["literal"] or "", str(rjsmin.jsmin(code)))


_WITHOUT_MEANING = re.compile(
    r"""(?P<literal>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`"""
    r"""|(?<=[(,=:\[!&|?{};>])/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/)|;(?=\})|,(?=[)}\]])""",
    re.DOTALL,
)
"""Semicolons and commas that a script can lack; texts and regular expressions are read whole, and stay as they are."""


def _visit(modules: Mapping[str, str], name: str, order: dict[str, None], around: tuple[str, ...]) -> None:
    """Put a module after those that it imports."""
    if name in order:
        return
    if name in around or name not in modules:
        problem_text = "imports itself through others" if name in around else "is missing"
        raise DataError(f"the module {name!r} {problem_text}; it is imported by {around[-1] if around else 'the page'}")
    for import_line in _IMPORT.finditer(modules[name]):
        _visit(modules, import_line[2], order, (*around, name))
    order[name] = None


def _as_block(code: str) -> str:
    code = _IMPORT.sub("", code)
    for pattern, replacement in _VARIABLES:
        code = pattern.sub(replacement, code)
    if leftover_line := re.search(r"^(?:import|export)\b.*", code, re.MULTILINE):
        raise DataError(f"a module must import and export as naysay's own do; got {leftover_line[0]!r}")
    return f"{{\n{code}\n}}\n"
