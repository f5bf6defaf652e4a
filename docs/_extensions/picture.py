"""An image that a page's own code drew, set into the page so that it takes the page's colors, light or dark."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PICTURES = Path(__file__).parents[1] / "pictures"
READABLE = 560  # pixels, below which the words in a wide picture become too small: there it scrolls


def least(svg):
    """The width in pixels that a picture keeps on a narrow screen."""
    return min(READABLE, float(re.search(r'viewBox="\S+ \S+ (\S+) ', svg)[1]))


class Picture(SphinxDirective):
    """An SVG of ``docs/pictures``, which holds its own title and description."""

    required_arguments = 1

    def run(self):
        source = PICTURES / self.arguments[0]
        self.env.note_dependency(str(source))
        try:
            svg = source.read_text(encoding="utf-8")
        except OSError:
            raise self.error(f"there is no picture {source.name}; python docs/renew.py draws it") from None
        drawn = f'<div class="scroll"><div style="min-width:{least(svg):g}px">{svg}</div></div>'
        return [nodes.raw("", drawn, format="html")]


def setup(app):
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
