"""The layers of the package as a picture, drawn from the contract that the import linter enforces."""

import tomllib
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
HIDDEN = {"__main__"}  # starts the command line, nothing else
WIDTH, ROW, GAP = 820, 40, 8
NAMES = 400  # of the width, for the boxes; the words stand beside them


def layers():
    """The lines of the contract, top first: each a list of (module, whether it is built)."""
    contract = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    lines = [[each.strip() for each in line.split("|")] for line in contract["layers"]]
    return [[(each.strip("()"), not each.startswith("(")) for each in line] for line in lines if line[0] not in HIDDEN]


def words(content):
    """What each line of modules is for: {modules: words} of lines such as ``errors | data: what can go wrong``."""
    pairs = [line.partition(":")[::2] for line in content if line.strip()]
    return {" | ".join(each.strip() for each in names.split("|")): told.strip() for names, told in pairs}


def box(name, built, left, top, width):
    kind = "layer" if built else "layer planned"
    return (
        f'<g class="{kind}"><rect x="{left:g}" y="{top}" width="{width:g}" height="{ROW}" rx="5"/>'
        f'<text x="{left + width / 2:g}" y="{top + ROW / 2 + 5:g}">{escape(name)}</text></g>'
    )


def picture(lines, told):
    """The layers as SVG in the colors of the page."""
    height = len(lines) * (ROW + GAP) - GAP
    parts = []
    for place, line in enumerate(lines):
        top = place * (ROW + GAP)
        width = (NAMES - GAP * (len(line) - 1)) / len(line)
        parts += [box(name, built, each * (width + GAP), top, width) for each, (name, built) in enumerate(line)]
        label = escape(told[" | ".join(name for name, _ in line)])
        parts.append(f'<text class="words" x="{NAMES + 20}" y="{top + ROW / 2 + 5:g}">{label}</text>')
    title = "The layers of naysay, from the command line at the top to errors at the bottom"
    return (
        f'<svg class="layers" role="img" viewBox="-1 -1 {WIDTH + 2} {height + 2}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{title}</title>{"".join(parts)}</svg>'
    )


class Layers(SphinxDirective):
    """The picture; the directive's content says for each line of modules what it is for."""

    has_content = True

    def run(self):
        lines, told = layers(), words(self.content)
        self.env.note_dependency(str(PROJECT))
        expected = [" | ".join(name for name, _ in line) for line in lines]
        if list(told) != expected:
            odd = [line for line in expected if line not in told] + [line for line in told if line not in expected]
            raise self.error(f"name the layers as pyproject.toml does, in its order; look at {odd or expected}")
        return [nodes.raw("", f'<div class="scroll">{picture(lines, told)}</div>', format="html")]


def setup(app):
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
