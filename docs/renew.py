"""Run what the pages of this site show, and write what came out back into them: ``python docs/renew.py [PAGE …]``.

A page is renewed by running it from top to bottom in an empty folder. ``python`` blocks share one namespace, and what
follows a ``>>>`` is replaced by what Python answered. In ``console`` blocks what follows a ``$`` is replaced by what
the command printed. ``sh`` blocks are run and must succeed. A test asserts that renewing changes nothing, so that no
page shows an output that is not true. Processors differ in the last digits of a long number: a block or a picture that
differs in nothing else stays as it is (`alike`).

``python docs/renew.py --check [PAGE …]`` writes nothing, says what is out of date, and then exits with 1.

The command-line reference is put together here too, from the commands that there are, and the index from what each page
says of itself at its head: for whom it is, the one thing that it teaches, and its door.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
import yaml

from naysay.cli import app, main
from naysay.design import RULES
from naysay.design.base import KINDS
from naysay.designs import ASSUMPTIONS, FAMILIES, SOURCES

DOCS = Path(__file__).parent
sys.path.append(str(DOCS.parent))
REPRODUCTIONS = ["python", "-m", "reproductions"]
COMMAND = "python docs/renew.py"

BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GENERATED = "<!-- What follows is written by docs/renew.py. -->\n"
DECIMAL = re.compile(r"(?<![\w.])-?(?:\d+\.\d*|\d+(?=e-?\d))(?:e[-+]?\d+)?(?![\w.]\w)")
FOLDERS = {
    "learn": "Learn",
    "how-to": "How to",
    "explanation": "Explanation",
    "reference": "Reference",
}
DOORS = {
    "ask": "You ask people",
    "collect": "You collect from devices",
    "hold": "You hold a file of people",
    "every": "Behind every door",
}
_FIRST_PAGES = 5  # of each door, enough for its readers
_SHOWN_ONLY = ("scripts/",)  # in sh blocks: what sets up or tests the project itself
_TOOLS = ("cat", "head")  # in console blocks: what looks at a file
_WIDTH = "80"


class UnknownPage(ValueError):
    """A page was named that the site does not have."""


def pages() -> list[Path]:
    """The pages of the site."""
    return sorted(path for path in DOCS.rglob("*.md") if not {"_build", "results"} & set(path.parts))


def renewed(text: str, page: str, folder: Path) -> str:
    """The page's text with the outputs that its blocks give, run in this folder."""
    if page in WRITTEN and GENERATED in text:
        text = text.partition(GENERATED)[0] + GENERATED + WRITTEN[page]()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run: dict[str, Callable[[str, str], str]] = {
        "python": lambda source, place: _python(source, place, namespace),
        "console": _console,
        "sh": _shell,
    }

    def block(found: re.Match[str]) -> str:
        place = f"{page}, block at line {text.count(chr(10), 0, found.start()) + 1}"
        given = run[found[1]](found[2], place)
        return found[0] if alike(found[2], given) else f"```{found[1]}\n{given}```"

    with contextlib.chdir(folder), _columns(), _families():
        return BLOCK.sub(block, text)


def alike(shown: str, given: str) -> bool:
    """Whether two outputs differ only in digits of decimal numbers beyond the ninth that counts.

    Words, blanks and whole numbers must be the same, and a decimal of few digits must be the same in each of them.
    """
    if DECIMAL.sub("#", shown) != DECIMAL.sub("#", given):
        return False
    pairs = zip(DECIMAL.findall(shown), DECIMAL.findall(given), strict=True)
    return all(one == other or math.isclose(float(one), float(other), rel_tol=1e-9) for one, other in pairs)


@contextlib.contextmanager
def _families() -> Iterator[None]:
    """Forget the families and kinds of design that a page registers."""
    known = [(registry, dict(registry)) for registry in (FAMILIES, SOURCES, ASSUMPTIONS, KINDS, RULES)]
    try:
        yield
    finally:
        for registry, before in known:
            registry.clear()
            registry.update(before)


def pictures(folder: Path) -> dict[Path, str]:
    """The pictures that a page's blocks left in its folder, and where they belong."""
    return {DOCS / "pictures" / drawn.name: drawn.read_text(encoding="utf-8") for drawn in sorted(folder.glob("*.svg"))}


def commands() -> str:
    """A section for every command, in which its help is to be filled in."""
    names = _names(typer.main.get_command(app), "naysay")
    return "".join(f"\n## `{name}`\n\n```console\n$ {name} --help\n```\n" for name in names)


def head(page: Path) -> dict[str, Any]:
    """What a page says of itself: its path, its title, for whom it is, what it teaches, its doors, perhaps its step."""
    path = page.relative_to(DOCS).as_posix()
    parts = re.fullmatch(r"---\n(.*?\n)---\n\n# (.*?)\n.*", page.read_text(encoding="utf-8"), re.DOTALL)
    said = yaml.safe_load(parts[1]) if parts else {}
    if not {"for", "teaches", "door"} <= said.keys():
        raise ValueError(
            f"{path} must begin with '---', for:, teaches:, door: (of {', '.join(DOORS)}), '---', its title"
        )
    title = parts[2]
    return said | {"path": path, "title": title, "doors": said["door"].split(", ")}


def index() -> str:
    """The first pages of each door, all others folder by folder, and the site's tables of contents."""
    heads = [head(page) for page in pages() if page != DOCS / "index.md"]
    parts = []
    for door, title in DOORS.items():
        here = [page for page in heads if door in page["doors"]]
        first = sorted(
            (page for page in here if "step" in page and page["doors"][0] == door), key=lambda page: page["step"]
        )
        if len(first) != (_FIRST_PAGES if door != "every" else 0):
            raise ValueError(f"the door {door!r} has {_FIRST_PAGES} pages with a step; got {len(first)}")
        steps = "".join(f"{page['step']}. {_link(page)}: {page['teaches']}\n" for page in first)
        others = {folder: [page for page in here if page not in first and _is_in(page, folder)] for folder in FOLDERS}
        looked_up = ", ".join(_link(page) for page in others.pop("reference"))
        rows = "".join(
            f"| {page['for']} | {_link(page)} | {page['teaches']} |\n" for pages in others.values() for page in pages
        )
        parts.append(
            f"\n## {title}\n\n{steps}\n| for | page | what it teaches |\n|---|---|---|\n{rows}".replace(
                "\n\n\n", "\n\n"
            )
            + f"\nTo look up: {looked_up}.\n"
        )
    for folder, title in FOLDERS.items():
        inside = [page for page in heads if _is_in(page, folder)]
        names = [page["path"].removesuffix(".md") for page in sorted(inside, key=_place)]
        names += ["reference/reproductions/index"] if folder == "reference" else []
        listed = "\n".join(names)
        parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n")
    return "".join(parts)


def _is_in(page: dict[str, Any], folder: str) -> bool:
    """Whether a page stands in this folder itself."""
    return bool(page["path"].rpartition("/")[0] == folder)


def _link(page: dict[str, Any]) -> str:
    return f"[{page['title']}]({page['path']})"


def _place(page: dict[str, Any]) -> tuple[int, int, str]:
    """Where a page stands in its folder: by its door, its step and its title."""
    return list(DOORS).index(page["doors"][0]), page.get("step", _FIRST_PAGES + 1), page["title"]


WRITTEN = {"cli.md": commands, "index.md": index}
"""Pages whose second part is written here."""


def _names(command: Any, path: str) -> Iterator[str]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from _names(below, f"{path} {name}")


def _python(source: str, place: str, namespace: dict[str, Any]) -> str:
    if ">>>" not in source:
        exec(compile(source, f"<{place}>", "exec", dont_inherit=True), namespace)
        return source
    out = []
    for example in doctest.DocTestParser().get_examples(source, place):
        first, *rest = example.source.splitlines()
        out += [f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in rest)]
        out.append(_answer(example, place, namespace))
    return "".join(out)


def _answer(example: doctest.Example, place: str, namespace: dict[str, Any]) -> str:
    """What Python's prompt answers; an error only where the page shows one."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(example.source, f"<{place}>", "single", dont_inherit=True), namespace)
        except Exception as error:
            if example.exc_msg is None:
                raise
            told = "".join(traceback.format_exception_only(error))
            out.write(f"Traceback (most recent call last):\n    ...\n{told}")
    return out.getvalue()


def _console(source: str, place: str) -> str:
    asked = [line for line in _lines(source) if line.startswith("$ ")]
    if not asked:
        raise ValueError(f"{place}: a console block holds commands after '$ '")
    out = []
    for line in asked:
        words = shlex.split(line.replace("\\\n", " ")[2:])
        out.append(line + "\n" + _ran(words, place)[1])
    return "".join(out)


def _shell(source: str, place: str) -> str:
    for line in _lines(source):
        words = shlex.split(line.replace("\\\n", " "), comments=True)
        if not words or words[0].startswith(_SHOWN_ONLY):
            continue
        code, told = _ran(words, place)
        if code:
            raise ValueError(f"{place}: {line!r} exits with {code}: {told}")
    return source


def _lines(source: str) -> list[str]:
    """Lines, where one that ends in a backslash goes on."""
    return re.findall(r"(?:[^\n]*\\\n)*[^\n]*(?=\n)", source)


def _ran(words: list[str], place: str) -> tuple[int, str]:
    """The exit code of a command and what a terminal shows of it."""
    if words[0] == "naysay":
        return _shown(main, words[1:])
    if words[:3] == REPRODUCTIONS:
        from reproductions.__main__ import main as reproduce

        return _shown(reproduce, words[3:])
    if words[0] not in _TOOLS:
        raise ValueError(f"{place}: {words[0]!r} is not run here; only naysay, {', '.join(_TOOLS)}")
    ran = subprocess.run(words, check=True, capture_output=True, text=True)
    return ran.returncode, ran.stdout


def _shown(command: Callable[[list[str]], int], arguments: list[str]) -> tuple[int, str]:
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        code = command(arguments)
    screen.flush()
    written = screen.detach()
    return code, written.getvalue().decode()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _columns() -> Iterator[None]:
    """A terminal of one width everywhere."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def renew(names: Sequence[str] = (), *, write: bool = True) -> int:
    """Renew every page, or those named, in its place, with its pictures; how many files changed, or would have.

    A page is named by its file name or its path. A name of no page is an UnknownPage: nothing would be renewed.
    """
    changed = 0
    chosen = [page for page in pages() if not names or any(_names_page(name, page) for name in names)]
    unknown = [name for name in names if not any(_names_page(name, page) for page in chosen)]
    if unknown:
        raise UnknownPage(f"no page of the site is called {', '.join(unknown)}; pages are docs/**/*.md")
    for page in chosen:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            files = {page: renewed(text, page.name, Path(folder)), **pictures(Path(folder))}
        for target, new in files.items():
            if not target.exists() or not alike(target.read_text(encoding="utf-8"), new):
                if write:
                    target.write_text(new, encoding="utf-8")
                sys.stdout.write(f"{target.relative_to(DOCS.parent)}: {'renewed' if write else 'out of date'}\n")
                changed += 1
    return changed


def _names_page(name: str, page: Path) -> bool:
    return name == page.name or Path(name).resolve() == page.resolve()


if __name__ == "__main__":
    words = sys.argv[1:]
    check = words[:1] == ["--check"]
    try:
        sys.exit(bool(renew(words[check:], write=not check) and check))
    except UnknownPage as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
