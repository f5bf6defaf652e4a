"""Formulas as MathML, which browsers draw by themselves: no script, no font, no request."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

log = logging.getLogger(__name__)


def formula(node, *, display):
    """The formula as MathML; a command that was not understood is a warning, and so ends the build."""
    written = convert(node.astext().strip(), display=display)
    for unknown in re.findall(r"\\\w+", written):
        log.warning("cannot read %s in the formula %r", unknown, node.astext(), location=node)
    return written


def inline(self, node):
    self.body.append(formula(node, display="inline"))
    raise nodes.SkipNode


def block(self, node):
    self.body.append(f'<div class="formula">{formula(node, display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
