"""Every family of designs as the protocol that a respondent follows, drawn while the site is built."""

import doctest
import inspect
from unittest.mock import patch

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from naysay import designs
from naysay.design import protocols
from naysay.designs import ASSUMPTIONS, FAMILIES, SOURCES, catalog
from naysay.report import flowchart


class Found(Exception):
    """The design that an example makes."""


def example(family):
    """The design that a family's own documented example makes first."""
    made = FAMILIES[family]

    def stop(*arguments, **named):
        raise Found(made(*arguments, **named))

    namespace = vars(inspect.getmodule(inspect.unwrap(made))) | vars(designs) | {"designs": designs, family: stop}
    try:
        with patch.object(designs, family, stop, create=True):
            for each in doctest.DocTestParser().get_examples(inspect.getdoc(made)):
                exec(compile(each.source, f"<{family}>", "single"), namespace)
    except Found as found:
        return found.args[0]
    raise ValueError(f"the examples of {family} make no design by calling it")


def told(design):
    """The instruction in words, part by part."""
    return [
        f"{title}: {protocol.instruction}" if title else protocol.instruction for title, protocol in protocols(design)
    ]


def words(family, design):
    """What is told below a picture, as Markdown."""
    quoted = "\n>\n".join(f"> {text}" for text in told(design))
    assumed = ASSUMPTIONS[family]
    return f"{quoted}\n\n" + (f"Assumes: {'; '.join(assumed)}.\n\n" if assumed else "") + f"Source: {SOURCES[family]}."


class Flowcharts(SphinxDirective):
    """A section for every family that a call may name, in the order of the catalog."""

    def run(self):
        return [self.section(family, says) for family, _, says in catalog()]

    def section(self, family, says):
        design = example(family)
        section = nodes.section("", nodes.title(text=family), ids=[nodes.make_id(f"flowchart-{family}")])
        above = f"{says} Here {{py:func}}`{design.name} <naysay.designs.{family}>`:"
        picture = nodes.raw("", f'<div class="scroll">{flowchart(design)}</div>', format="html")
        section += [*self.parse_text_to_nodes(above), picture, *self.parse_text_to_nodes(words(family, design))]
        return section


def setup(app):
    app.add_directive("flowcharts", Flowcharts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
