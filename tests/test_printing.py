import importlib
import io
import random
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

import naysay
from naysay import designs, show
from naysay.errors import ExtraMissing
from naysay.show import Bar, Chart, Column, Facts, Heading, Marked, Note, Points, Sentence, Table
from naysay.show.result import PHONE, WIDE, notebook

TABLE = Table(
    (Column("<name>", words=True), Column("truth", role="truth"), Column("holds", role="holds")),
    (("[red]a", "1", "yes"), ("<b>", "2", Marked("no", "wrong")), ("beside", "3", "")),
    caption="What & why",
    apart=1,
)
EVERY = [
    Heading("On <top>"),
    Sentence("One.\nTwo."),
    TABLE,
    Note("mind"),
    Note("the gap"),
    Points(("first", "second")),
    Facts((("n", "12"),)),
    Chart(lambda size, letters: f"<svg>{size} {letters}</svg>"),
]


def test_text_tells_all_but_charts():
    assert show.text(EVERY).splitlines() == [
        "On <top>",
        "One.",
        "Two.",
        "",
        "What & why",
        "<name>  truth  holds",
        "[red]a      1    yes",
        "<b>         2     no",
        "beside      3",
        "",
        "note: mind",
        "note: the gap",
        "first",
        "second",
        "n: 12",
    ]


def test_html_tells_all_and_escapes_it():
    page = show.html(EVERY)
    for part in (
        "<h3>On &lt;top&gt;</h3>",
        '<caption><span>What &amp; why</span></caption>\n<thead>\n<tr><th scope="col">&lt;name&gt;</th>'
        '<th scope="col" class="truth">truth</th>',
        '<bdi dir="auto">&lt;b&gt;</bdi></th><td class="truth">2</td><td class="holds wrong">no</td>',
        '<tbody class="beside">\n<tr><th scope="row"><bdi dir="auto">beside</bdi>',
        '<ul class="notes">\n<li>mind</li>\n<li>the gap</li>\n</ul>',
        "<div><dt>n</dt><dd>12</dd></div>",
    ):
        assert part in page
    assert [f"<svg>{size} {letters}</svg>" for size, letters in (WIDE, PHONE)] == re.findall("<svg>.*</svg>", page)


def test_bars_are_drawn_beside_their_words():
    page = show.html([Table((Column("left"), Column("in words", words=True)), ((Bar("1 of 4", 0.25), "few"),))])
    assert '<td class="bar"><span>1 of 4</span><i aria-hidden="true" style="--part:0.2500"></i></td>' in page
    assert '<td class="words">few</td>' in page
    assert "<caption" not in page


def test_a_console_gets_its_colors():
    out = io.StringIO()
    show.show(
        [TABLE, Sentence("[red]x" * 30)], Console(file=out, width=80, color_system="standard", force_terminal=True)
    )
    shown = out.getvalue()
    assert "\x1b[1mWhat & why\x1b[0m" in shown
    assert "\x1b[33m   no\x1b[0m" in shown
    assert "[red]x" * 30 in shown


def test_html_needs_its_library(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ExtraMissing, match=r"naysay\[plots\]"):
        show.html([Note("x")])


CELLS = ("a", "", "日本", "é", "–", "0.12", "∞", " x", "y ", "long " * 5, "w" * 45, "[bold]", "\u202dab", "a\nb", "🙂")


def test_tables_are_laid_out_as_rich_does():
    text = sys.modules["naysay.show.result"]  # whose name is that of its function
    rng, quick = random.Random(1), 0
    for _ in range(500):
        columns = tuple(Column(rng.choice(CELLS), words=rng.random() < 0.4) for _ in range(rng.randint(1, 5)))
        columns = tuple(replace(each, width=rng.choice((None, 12, 40))) if each.words else each for each in columns)
        rows = tuple(tuple(rng.choice(CELLS) for _ in columns) for _ in range(rng.randint(0, 5)))
        table, width, out = Table(columns, rows), rng.choice((40, 80, 120)), io.StringIO()
        Console(file=out, width=width, color_system=None, legacy_windows=False).print(text._grid(table))
        assert text._table(table, width) == [line.rstrip() for line in out.getvalue().splitlines()]
        quick += text._aligned_lines(table, width) is not None
    assert 50 < quick < 450


def test_a_notebook_without_jinja_shows_text(monkeypatch):
    assert notebook(EVERY[:1]) == "<h3>On &lt;top&gt;</h3>\n"
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert notebook(EVERY[:1]) == "<pre>On &lt;top&gt;</pre>"


def test_only_content_is_told():
    with pytest.raises(TypeError, match="no content is a str"):
        show.text(["x"])


def test_a_design_shows_matrix_flowchart_and_privacy_in_a_notebook():
    page = naysay.design_html(designs.negative_levels(("low", "middle", "high")))
    assert page.count("<table") == 2  # one for each level
    assert "<svg" in page
    assert "level 1: 2 of 3 categories stay possible" in page
    assert "by category, level 2</span>" in page
    assert "<table" not in naysay.design_html(designs.k_ary(tuple(map(str, range(40))), epsilon=1))


def test_a_notebook_that_runs_is_told_how_designs_are_shown(monkeypatch):
    """The formatter is asked as IPython is; it calls back with the design."""
    told = {}
    formatter = SimpleNamespace(for_type_by_name=lambda module, kind, shown: told.update({(module, kind): shown}))
    display = SimpleNamespace(formatters={"text/html": formatter})
    shell = SimpleNamespace(display_formatter=display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    importlib.reload(naysay)
    [(kind, shown)] = told.items()
    assert kind == ("naysay.design.base", "Answerable")
    assert shown(designs.warner(p=0.7)) == naysay.design_html(designs.warner(p=0.7))
