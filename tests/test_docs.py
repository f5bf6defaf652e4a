"""Statements about the documentation site: what it shows is true, complete, and all in one place."""

import ast
import contextlib
import importlib.util
import inspect
import math
import os
import pkgutil
import platform
import pydoc
import re
import shlex
import signal
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer
from sphinx.util.inventory import InventoryFile

import naysay
from naysay.cli import app, main
from naysay.designs import FAMILIES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
DIRECTIVES = {"agreement", "catalog", "eval-rst", "flowcharts", "glossary", "include", "layers", "picture", "toctree"}

SPEC = importlib.util.spec_from_file_location("renew", DOCS / "renew.py")
renew = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(renew)
PAGES = renew.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_blocks_give(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert renew.renewed(text, page.name, tmp_path) == text, f"out of date; renew it: {renew.COMMAND}"
    for place, drawn in renew.pictures(tmp_path).items():
        assert renew.alike(place.read_text(encoding="utf-8"), drawn), f"{place.name} is out of date; {renew.COMMAND}"


def test_the_readme_runs_in_an_empty_folder(tmp_path):
    text = README.read_text(encoding="utf-8")
    assert renew.renewed(text, README.name, tmp_path) == text


def test_the_readme_is_read_in_three_minutes():
    assert len(re.sub(r"<[^>]*>", "", README.read_text(encoding="utf-8")).split()) <= 600


@contextlib.contextmanager
def serving(words, folder):
    """A server as a page starts it, but on any free port; the link that it prints."""
    with subprocess.Popen([*words, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)


@pytest.mark.parametrize("page", [README, DOCS / "learn" / "collect.md"], ids=lambda page: page.name)
def test_every_command_runs_as_pasted(page, tmp_path, monkeypatch, capsys):
    """One after the other in an empty folder, without the Python of the page; a server runs on beside the others."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    table = re.findall(r"^    ([\w,]+)$", text, re.MULTILINE)  # that a page shows, for a command to read
    if table:
        (tmp_path / "people.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    shown = link = "http://127.0.0.1:8000/s/sample" if page != README else "http://127.0.0.1:8000/s/survey"
    done = set()
    with contextlib.ExitStack() as running:
        for command in re.findall(r"^ {0,4}(naysay .*)$", text, re.MULTILINE):
            words = shlex.split(command.replace(shown, link), comments=True)[1:]
            done.add(words[0])
            if words[0] == "serve":
                link = running.enter_context(serving([sys.executable, "-m", "naysay", *words], tmp_path))
                assert urlsplit(link).path == urlsplit(shown).path
                if page == README:
                    break  # what follows needs no server, and is run with the page
            else:
                code, (out, err) = main(words), capsys.readouterr()
                assert (code, bool(out)) == (0, True), f"{command}: {err}"
    assert {"questionnaire", "serve", "estimate"} <= done


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_is_one_that_is_run_or_built(page):
    text = page.read_text(encoding="utf-8")
    opened = re.findall(r"^ *(?:```+|~~~+)\{?([\w-]+)", text, re.MULTILINE)
    run = [found[1] for found in renew.BLOCK.finditer(text)]
    assert sorted(opened) == sorted([*run, *(name for name in opened if name in DIRECTIVES)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```python\n>>> 1 + 1\n3\n```", "```python\n>>> 1 + 1\n2\n```"),
        ("```python\nx = 2\n```\n\n```python\n>>> x\n```", "```python\nx = 2\n```\n\n```python\n>>> x\n2\n```"),
        ("```python\n>>> if True:\n...     print('a')\nb\n```", "```python\n>>> if True:\n...     print('a')\na\n```"),
        ("```python\n>>> print('a\\n\\nb')\nold\n\nolder\n```", "```python\n>>> print('a\\n\\nb')\na\n\nb\n```"),
        (
            "```console\n$ naysay --version\nold\n```",
            f"```console\n$ naysay --version\nnaysay {naysay.__version__}\n```",
        ),
        ("```console\n$ naysay \\\n    --version\n```", "```console\n$ naysay \\\n    --version\nnaysay 0.1.0\n```"),
        ("```console\n$ naysay estimat\n```", "```console\n$ naysay estimat\nnaysay: No such command 'estimat'"),
    ],
)
def test_renewing_writes_what_came_out(before, after, tmp_path):
    assert renew.renewed(before, "page.md", tmp_path).startswith(after)


@pytest.mark.parametrize(
    ("shown", "given", "the_same"),
    [
        ("0.4465478029807576,1000", "0.4465478029807575,1000", True),
        ("middle,0.43645788083992515,0.375519470420174", "middle,0.4364578808399251,0.37551947042017403", True),
        ("array([1.2345678901e-05])", "array([1.2345678902e-05])", True),
        ("f  0.115  0.013", "f  0.114  0.013", False),
        ("0.446547802", "0.446547803", False),
        ("-0.4465478029807576", "0.4465478029807576", False),
        ("1.1e-12", "4.4e-12", False),
        ("1000 answers", "1001 answers", False),
        ("version 1.2.10", "version 1.2.11", False),
        ("sha256-a1.5f", "sha256-a1.6f", False),
        ("4503599627370497", "4503599627370496", False),
        ("low 0.25", "high 0.25", False),
        ("0.25  0.5", "0.25 0.5", False),
        ("0.25, 0.5", "0.25", False),
        ("[0.1, 0.2]", "[0.2, 0.1]", False),
        ("27.32%, 20.42% to 33.81%", "27.32%, 20.42% to 33.82%", False),
        ("M197.33,1h194.33v42Z", "M197.33,1h194.34v42Z", False),
    ],
)
def test_outputs_are_compared_as_a_reader_would(shown, given, the_same):
    assert renew.alike(shown, given) is the_same


def test_a_wrong_digit_of_any_printed_number_is_out_of_date(tmp_path):
    """One digit of one number at a time, of a table and of long numbers."""
    page = (
        "```python\n>>> from naysay import designs, estimate\n>>> d = designs.warner(p=0.8)\n"
        ">>> fit = estimate.maximum_likelihood(d, d.tally(count=[480, 520]))\n>>> print(fit)\n>>> fit.proportions\n```"
    )
    text = renew.renewed(page, "page.md", tmp_path)
    numbers = [found for found in re.finditer(r"\d+\.\d+", text) if found.start() > text.index("print(fit)")]
    assert len(numbers) > 10
    for found in numbers:
        last = min(found.end(), found.start() + 9) - 1
        wrong = text[:last] + str((int(text[last]) + 5) % 10) + text[last + 1 :]
        assert renew.renewed(wrong, "page.md", tmp_path) == text


# What numbers are computed with. Every x86 processor of the last ten years can do these.
SETTINGS = {
    "2008, one thread": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
    "2011, two threads": {"OPENBLAS_CORETYPE": "Sandybridge", "OPENBLAS_NUM_THREADS": "2"},
}
NUMERIC = ["crashes.md", "crosstab.md", "file.md", "protect.md", "simulate.md", "tutorial.md"]
"""Pages that once differed between processors."""


@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="the settings name x86 processors")
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_pages_show_the_same_on_other_processors(setting):
    words = [sys.executable, "-W", "ignore", str(DOCS / "renew.py"), "--check", *NUMERIC]
    ran = subprocess.run(words, env=os.environ | setting, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


def test_renewing_shows_an_error_only_where_the_page_does(tmp_path):
    call = "```python\n>>> import naysay\n>>> naysay.designs.warner(p=0.5)\n"
    with pytest.raises(naysay.DesignError):
        renew.renewed(call + "```", "page.md", tmp_path)
    shown = call + "Traceback (most recent call last):\n    ...\nnaysay.errors.DesignError: old\n```"
    assert "DesignError: p must not be 1/2" in renew.renewed(shown, "page.md", tmp_path)


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
        renew.renewed(block, "page.md", tmp_path)


def test_renewing_all_writes_pages_and_pictures_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    monkeypatch.setattr(renew, "DOCS", tmp_path / "docs")
    page = tmp_path / "docs" / "page.md"
    page.write_text("```python\nopen('a.svg', 'x').close()\n```\n\n```python\n>>> 2\n```\n", encoding="utf-8")
    assert renew.renew() == 2
    assert page.read_text(encoding="utf-8").endswith(">>> 2\n2\n```\n")
    assert (tmp_path / "docs" / "pictures" / "a.svg").exists()
    assert renew.renew() == 0
    assert capsys.readouterr().out.splitlines() == ["docs/page.md: renewed", "docs/pictures/a.svg: renewed"]


@pytest.mark.parametrize("words", [["no_such.md"], ["--check", "docs/no_such.md"], ["docs/other/index.md"]])
def test_renewing_a_page_that_there_is_not_is_an_error(words):
    ran = subprocess.run([sys.executable, str(DOCS / "renew.py"), *words], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"no page of the site is called {words[-1]};")


def test_a_page_to_renew_is_named_by_its_file_or_its_path(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(renew, "DOCS", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    for name in ("page.md", "docs/page.md"):
        (tmp_path / "docs" / "page.md").write_text("```python\n>>> 2\n```\n", encoding="utf-8")
        assert renew.renew([name]) == 1


def read(page):
    return (DOCS / page).read_text("utf-8")


def commands(group, path="naysay"):
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{path} {name}")


def test_every_line_of_code_of_the_literature_runs():
    c = a = ("low", "middle", "high", "none")
    b = ("x", "y", "z")
    design = naysay.designs.negative(c)
    known = {
        **{name: getattr(naysay, name) for name in ("designs", "estimate", "planning", "privacy", "simulate")},
        **{"a": a, "b": b, "c": c, "design": design, "pi": [0.4, 0.3, 0.2, 0.1], "n": 1_000},
        **{"Q": [[0, 1 / 2, 1 / 2, 0], [1 / 2, 0, 1 / 2, 0], [1 / 2, 0, 0, 1], [0, 1 / 2, 0, 0]]},
    }
    known["tally"] = design.tally(count=[280, 240, 260, 220])
    known["q"] = naysay.designs.negative_matrix(known["Q"], categories=c)
    known["fit"] = naysay.estimate.moments(design, known["tally"])
    page = (DOCS / "reference" / "literature.md").read_text("utf-8")
    lines = re.findall(r"`((?:designs|estimate|planning|privacy|simulate|fit)\..*?)`", page)
    assert len(lines) >= 24
    for line in lines:
        if line.startswith("estimate.stratified"):
            levels = naysay.designs.negative_levels(c)
            tally = levels.tally(levels.randomize(list(c) * 30, level=[1, 2, 3] * 40))
            assert eval(line, known | {"design": levels, "tally": tally}) is not None
        else:
            assert eval(line, known) is not None, line


COMMANDS = dict(re.findall(r"^\$ ([^\n]*?) --help$(.*?)^```$", read("reference/cli.md"), re.MULTILINE | re.DOTALL))
SOURCES = re.findall(
    r"^\| (.+) \| (.+) \| (.+) \| `(.+\.py)::(test_\w+)` \|$", read("reference/sources.md"), re.MULTILINE
)


def is_there(name):
    try:
        return pkgutil.resolve_name(name) is not None
    except (ImportError, AttributeError):
        return False


def test_every_sentence_of_the_sources_that_asks_for_something_has_a_place():
    rows = re.findall(r"^\| (?!page|section|¶)[^|-]", read("reference/sources.md"), re.MULTILINE)
    assert len(SOURCES) == len(rows) > 170
    for _, _, place, _, _ in SOURCES:
        for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", place.replace("randomize.js", "")):
            assert any(is_there(f"naysay{room}.{name}") for room in ("", ".estimate", ".microdata")), name
        for words in re.findall(r"`naysay ([\w -]+)`", place):
            group, *options = re.split(r" (?=--)", words)
            path = f"naysay {group}"
            assert path in COMMANDS, words
            assert all(option.split()[0] in COMMANDS[path] for option in options), words


@pytest.mark.parametrize(("file", "test"), sorted({row[3:] for row in SOURCES}))
def test_the_test_of_a_sentence_is_about_what_its_row_names(file, test):
    source = (ROOT / "tests" / file).read_text("utf-8")
    parts = {}
    for node in ast.parse(source).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        text = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
        defined = (
            [node.name]
            if hasattr(node, "name")
            else [each.id for each in getattr(node, "targets", []) if hasattr(each, "id")]
        )
        parts |= dict.fromkeys(defined, text)
    assert test in parts, "there is no such test"
    text = "\n".join({parts[test], *(parts[word] for word in re.findall(r"\w+", parts[test]) if word in parts)})
    for _, asked, place, *found in SOURCES:
        if found == [file, test]:
            names = [
                re.findall(r"[\w-]+", span)[-1].strip("-").replace("-", "_") for span in re.findall(r"`(.+?)`", place)
            ]
            links = re.findall(r"\[(.+?)\]\((?:.*/)?(\w+)\.md", place)
            words = {*names, *(word for link in links for word in link)}
            assert any(
                re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text.replace("-", "_")) for word in words
            ), asked


def test_a_board_reads_no_bound_that_is_too_small():
    page = (DOCS / "explanation" / "epsilon_for_a_board.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) in (\d+) \|", page, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, hits, tries in rows:
        odds = math.exp(float(epsilon)) / 9
        assert odds / (1 + odds) <= float(hits) / float(tries) + 1e-12 < odds / (1 + odds) + 0.01


def test_each_page_says_for_whom_it_is_and_the_one_thing_it_teaches():
    heads = [renew.head(page) for page in PAGES if page != DOCS / "index.md"]
    for said in heads:
        assert said["for"] and said["teaches"] and said["doors"], said["path"]
        assert set(said["doors"]) <= renew.DOORS.keys(), said["path"]
        assert said["path"].split("/")[0] in renew.FOLDERS, said["path"]
        assert len(said["teaches"].split()) <= 16, f"one thing, not many: {said['path']}"
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert not [said["path"] for said in heads if said["path"].count("/") == 1 and f"]({said['path']})" not in index]


def test_the_command_line_reference_has_every_command():
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^\$ (.*) --help$", text, re.MULTILINE) == list(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("page", sorted(DOCS.glob("reference/walk_*.md")), ids=lambda page: page.name)
def test_a_walk_names_files_that_there_are(page):
    named = re.findall(r"`([\w/]+(?:\.py|\.js))`", page.read_text(encoding="utf-8"))
    package = ROOT / "src" / "naysay"
    assert len(named) > 10
    assert not [
        name for name in named if not any((folder / name).is_file() for folder in (package, package / "collect/client"))
    ]


def test_the_walk_of_a_reply_names_each_module_of_the_page():
    text = (DOCS / "reference" / "walk_reply.md").read_text(encoding="utf-8")
    client = ROOT / "src" / "naysay" / "collect" / "client"
    assert {path.name for path in client.glob("*.js")} <= set(re.findall(r"`(\w+\.js)`", text))


def test_the_tables_of_rooms_name_files_that_there_are():
    text = (DOCS / "reference" / "rooms.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| in `([\w/]+)/` \| is \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert len(tables) > 5
    package = ROOT / "src" / "naysay"
    named = [
        package / room / name
        for room, rows in tables
        for row in rows.splitlines()
        for name in re.findall(r"`([\w/.]+)`", row.split("|")[1])
    ]
    assert not [path for path in named if not path.exists() and not path.with_suffix(".py").is_file()]


LOADING = {"script", "img", "iframe", "source", "audio", "video", "embed", "object", "input"}


class Page(HTMLParser):
    """What a built page links to, loads and can be linked at."""

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
        if tag in LOADING or fetched:
            self.loads += [given[name] for name in ("src", "href", "data", "srcset") if given.get(name)]


def build(source, out):
    """The exit code of a build in which warnings are errors, and what it said."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", str(source), str(out)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    return built.returncode, built.stderr


def test_the_build_ends_at_what_it_cannot_draw(tmp_path):
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(DOCS / '_extensions')!r})\n"
        "extensions = ['myst_parser', 'agreement', 'layers', 'mathml', 'picture']\n"
        "myst_enable_extensions = ['dollarmath']\nhtml_math_renderer = 'mathml'\n"
    )
    (tmp_path / "index.md").write_text(
        "# Page\n\n$\\nothing$\n\n```{layers}\ncli: commands\ncellar: wine\n```\n\n```{picture} none.svg\n```\n\n"
        "```{agreement}\ntwo_coins: nothing\n```\n"
    )
    code, told = build(tmp_path, tmp_path / "html")
    assert code != 0
    assert "cannot read \\nothing in the formula" in told
    assert "name the layers as pyproject.toml does" in told
    assert "'cellar'" in told
    assert "there is no picture none.svg" in told
    assert "name checks as the kept results do" in told


def test_a_picture_keeps_its_words_readable_and_scrolls_on_a_phone():
    spec = importlib.util.spec_from_file_location("picture", DOCS / "_extensions" / "picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    assert picture.least('<svg xmlns="x" viewBox="0 0 640 300" role="img">') == picture.READABLE
    assert picture.least('<svg xmlns="x" viewBox="0 0 360.5 300" role="img">') == 360.5
    folder = DOCS / "reference" / "reproductions" / "results"
    assert all(picture.least(path.read_text(encoding="utf-8")) <= picture.READABLE for path in folder.glob("*/*.svg"))


@pytest.mark.slow
def test_the_site_is_whole(tmp_path):
    assert build(DOCS, tmp_path) == (0, "")
    site = {path: Page(path) for path in sorted(tmp_path.rglob("*.html"))}
    assert sum(len(page.links) for page in site.values()) > 1_000
    assert "_static/site.css" in {urlsplit(load).path for page in site.values() for load in page.loads}
    assert (tmp_path / "explanation/theory.html").read_text(encoding="utf-8").count("<math") > 50
    wrong = {
        "leads nowhere": dead_links(site),
        "is asked of others": foreign_requests(site) + foreign_styles(tmp_path),
        "is missing in the picture of the layers": undrawn_modules(site[tmp_path / "explanation/architecture.html"]),
        "is missing on the page on choosing": families_not_linked(site[tmp_path / "how-to/choosing.html"]),
        "is not drawn": families_not_drawn(site[tmp_path / "reference/flowcharts.html"]),
        "is missing in docs/reference/api.md": names_not_listed((tmp_path / "objects.inv").read_bytes()),
    }
    assert not any(wrong.values()), "\n".join(f"{each} {what}" for what, found in wrong.items() for each in found)


def dead_links(site):
    """Links inside the site {path: Page} that lead nowhere."""
    dead = []
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent.joinpath(unquote(parts.path)).resolve() if parts.path else path
            anchored = not parts.fragment or (target in site and unquote(parts.fragment) in site[target].anchors)
            if not target.is_file() or not anchored:
                dead.append(f"{path.name}: {link}")
    return dead


def foreign_requests(site):
    """What a reader's browser would ask of others."""
    loads = sorted({load for page in site.values() for load in page.loads})
    return [load for load in loads if urlsplit(load).netloc or urlsplit(load).scheme not in ("", "data")]


def foreign_styles(folder):
    """What the styles of a site would ask of others."""
    texts = [styles.read_text(encoding="utf-8") for styles in folder.rglob("*.css")]
    return [
        found for text in texts for found in re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*""", text)
    ]


def undrawn_modules(page):
    """Modules of the package that the picture of the layers does not name."""
    drawn = re.search(r'<svg class="layers".*?</svg>', page.text, re.DOTALL)[0]
    modules = {name for _, name, _ in pkgutil.iter_modules(naysay.__path__)} - {"__main__"}
    return modules - set(re.findall(r">(\w+)</text>", drawn))


def families_not_linked(page):
    """Families of designs that a page does not lead to."""
    return FAMILIES.keys() - {link.partition("#naysay.designs.")[2] for link in page.links}


def families_not_drawn(page):
    """Families of designs of which a page has no flowchart under a heading of theirs."""
    sections = re.findall(r"<h3>([a-z_]+)<a .*?(?=<h3>|</article>)", page.text, re.DOTALL)
    pictures = re.findall(r"<h3>([a-z_]+)<a (?:(?!<h3>).)*?<svg [^>]*aria-label", page.text, re.DOTALL)
    return FAMILIES.keys() ^ (set(sections) & set(pictures))


def public_names():
    """Every public name of every public module: `__all__` of the modules of the package, and of modules named there."""
    names = [name for _, name, _ in pkgutil.iter_modules(naysay.__path__) if not name.startswith("_")]
    modules = [naysay, *(import_module(f"naysay.{name}") for name in names)]
    for module in modules:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) and value not in modules:
                modules.append(value)
            yield module, name, value


def names_not_listed(inventory):
    """Public names that the reference does not list, there or where they live."""
    kinds = InventoryFile.loads(inventory, uri="").data
    listed = {name for kind, names in kinds.items() if kind.startswith("py:") for name in names}
    objects = [pydoc.locate(name) for name in listed]
    return [
        f"{module.__name__}.{name}"
        for module, name, value in public_names()
        if f"{module.__name__}.{name}" not in listed and not any(value is each for each in objects)
    ]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="index.html">', []),
        ('<a href="#here"><p id="here">', []),
        ('<a href="https://example.org/x">', []),
        ('<a href="gone.html">', ["index.html: gone.html"]),
        ('<a href="index.html#gone">', ["index.html: index.html#gone"]),
    ],
)
def test_dead_links_are_found(html, found, tmp_path):
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    assert dead_links({tmp_path / "index.html": Page(tmp_path / "index.html")}) == found


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/x.js">',
        '<link rel="stylesheet" href="//example.org/x.css">',
        '<img src="http://example.org/x.png">',
    ],
)
def test_foreign_requests_are_found(html, tmp_path):
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    assert len(foreign_requests({tmp_path: Page(tmp_path / "index.html")})) == 1
    (tmp_path / "x.css").write_text("@import url(https://example.org/x.css)", encoding="utf-8")
    assert foreign_styles(tmp_path)
