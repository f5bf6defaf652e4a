"""Statements about the documentation site: what it shows is true, complete, and all in one place."""

import inspect
import pkgutil
import pydoc
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import polars as pl
import pytest
import typer
from sphinx.util.inventory import InventoryFile

import naysay
from naysay.cli import app
from naysay.designs import FAMILIES, negative

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
README = ROOT / "README.md"
RENEW = runpy.run_path(str(DOCS / "renew.py"), run_name="renew")
DIRECTIVES = {"catalog", "eval-rst", "glossary", "include", "layers", "picture", "toctree"}

# Each page is built once: the tests of the built site share a worker.
of_the_site = pytest.mark.xdist_group("site")


@pytest.fixture
def readme_files(tmp_path):
    """The files that the README's commands read."""
    income = ("low", "middle", "high", "none")
    pairs = negative(income, discards=2)
    truth = [income[row % 4] for row in range(200)]
    pl.DataFrame({"income": pairs.randomize(truth).texts()}).write_csv(tmp_path / "answers.csv")
    pl.DataFrame({"income": [income[row % 3] for row in range(200)]}).write_csv(tmp_path / "people.csv")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_blocks_give(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert RENEW["renewed"](text, page.name, tmp_path) == text, f"out of date; renew it: {RENEW['COMMAND']}"
    for place, drawn in RENEW["pictures"](tmp_path).items():
        assert drawn == place.read_text(encoding="utf-8"), f"{place.name} is out of date; {RENEW['COMMAND']}"


def test_the_readme_runs(readme_files, tmp_path):
    text = README.read_text(encoding="utf-8")
    assert RENEW["renewed"](text, README.name, tmp_path) == text


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.name)
def test_every_block_is_one_that_is_run_or_built(page):
    text = page.read_text(encoding="utf-8")
    opened = re.findall(r"^ *(?:```+|~~~+)\{?([\w-]+)", text, re.MULTILINE)
    run = [found[1] for found in RENEW["BLOCK"].finditer(text)]
    assert sorted(opened) == sorted([*run, *(name for name in opened if name in DIRECTIVES)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```python\n>>> 1 + 1\n3\n```", "```python\n>>> 1 + 1\n2\n```"),
        ("```python\nx = 2\n```\n\n```python\n>>> x\n```", "```python\nx = 2\n```\n\n```python\n>>> x\n2\n```"),
        ("```python\n>>> if True:\n...     print('a')\nb\n```", "```python\n>>> if True:\n...     print('a')\na\n```"),
        ("```python\n>>> print('a\\n\\nb')\nold\n\nolder\n```", "```python\n>>> print('a\\n\\nb')\na\n\nb\n```"),
        ("```console\n$ naysay --version\nold\n```", f"```console\n$ naysay --version\nnaysay {naysay.__version__}\n```"),
        ("```console\n$ naysay \\\n    --version\n```", "```console\n$ naysay \\\n    --version\nnaysay 0.1.0\n```"),
        ("```console\n$ naysay estimat\n```", "```console\n$ naysay estimat\nnaysay: No such command 'estimat'"),
    ],
)
def test_renewing_writes_what_came_out(before, after, tmp_path):
    assert RENEW["renewed"](before, "page.md", tmp_path).startswith(after)


def test_renewing_shows_an_error_only_where_the_page_does(tmp_path):
    call = "```python\n>>> import naysay\n>>> naysay.designs.warner(p=0.5)\n"
    with pytest.raises(naysay.DesignError):
        RENEW["renewed"](call + "```", "page.md", tmp_path)
    shown = call + "Traceback (most recent call last):\n    ...\nnaysay.errors.DesignError: old\n```"
    assert "DesignError: p must not be 1/2" in RENEW["renewed"](shown, "page.md", tmp_path)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("```sh\nnaysay estimat\n```", "exits with 2"),
        ("```sh\ncurl example\n```", "'curl' is not run here"),
        ("```console\n$ rm x\n```", "'rm' is not run here"),
        ("```console\nnaysay\n```", "commands after"),
    ],
)
def test_a_block_that_cannot_be_run_is_refused(block, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        RENEW["renewed"](block, "page.md", tmp_path)


def commands(group, path="naysay"):
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{path} {name}")


def test_the_command_line_reference_has_every_command():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^\$ (.*) --help$", text, re.MULTILINE) == list(commands(typer.main.get_command(app)))


class Page(HTMLParser):
    """What a built page links to, loads and can be linked at."""

    LOADING = {"script", "img", "iframe", "source", "audio", "video", "embed", "object", "input"}

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        fetched = tag == "link" and set(given.get("rel", "").split()) & {"stylesheet", "icon", "preload", "preconnect"}
        if tag in self.LOADING or fetched:
            self.loads += [given[name] for name in ("src", "href", "data", "srcset") if given.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site {path: Page}; warnings end the build."""
    out = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", str(DOCS), str(out)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return {path: Page(path) for path in sorted(out.rglob("*.html"))}


@of_the_site
def test_every_link_inside_the_site_leads_somewhere(site):
    dead = []
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target in site and (not parts.fragment or unquote(parts.fragment) in site[target].anchors)
            if not there and not (target.is_file() and target not in site):
                dead.append(f"{path.name}: {link}")
    assert sum(len(page.links) for page in site.values()) > 100
    assert not dead


@of_the_site
def test_reading_the_site_asks_nobody_else(site):
    loads = {load for page in site.values() for load in page.loads}
    assert any(load.startswith("_static/") for load in loads)
    assert not [load for load in loads if urlsplit(load).scheme not in ("", "data") or urlsplit(load).netloc]
    for styles in next(iter(site)).parent.rglob("*.css"):
        text = styles.read_text(encoding="utf-8")
        assert not re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*""", text), styles.name


@of_the_site
def test_formulas_are_drawn_by_the_browser(site):
    (theory,) = (page.text for path, page in site.items() if path.name == "theory.html")
    assert theory.count("<math") > 50
    assert "$$" not in theory


@of_the_site
def test_the_picture_of_the_layers_names_every_module(site):
    (page,) = (page.text for path, page in site.items() if path.name == "architecture.html")
    drawn = re.search(r'<svg class="layers".*?</svg>', page, re.DOTALL)[0]
    modules = {name for _, name, _ in pkgutil.iter_modules(naysay.__path__)} - {"__main__"}
    assert modules <= set(re.findall(r">([\w]+)</text>", drawn))


@of_the_site
def test_every_family_of_designs_is_on_the_page_on_choosing(site):
    (page,) = (page for path, page in site.items() if path.name == "choosing.html")
    linked = {link.partition("#naysay.designs.")[2] for link in page.links}
    assert linked >= FAMILIES.keys()


def public_names():
    """Every public name of every public module: `__all__` of each module of the package, and of those named there."""
    names = [name for _, name, _ in pkgutil.iter_modules(naysay.__path__) if not name.startswith("_")]
    modules = [naysay, *(import_module(f"naysay.{name}") for name in names)]
    for module in modules:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) and value not in modules:
                modules.append(value)
            yield module, name, value


@of_the_site
def test_the_reference_lists_every_public_name(site):
    inventory = (next(iter(site)).parent / "objects.inv").read_bytes()
    listed = {
        name
        for kind, names in InventoryFile.loads(inventory, uri="").data.items()
        if kind.startswith("py:")
        for name in names
    }
    objects = [pydoc.locate(name) for name in listed]
    absent = [
        f"{module.__name__}.{name}"
        for module, name, value in public_names()
        if f"{module.__name__}.{name}" not in listed and not any(value is each for each in objects)
    ]
    assert absent == []
