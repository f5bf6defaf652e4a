"""The documentation site. Nothing is fetched while it is built, or while it is read."""

import gc
import sys
from functools import partial
from pathlib import Path

from jinja2 import BytecodeCache
from numpydoc import docscrape_sphinx

from naysay import __version__
from naysay.show.finish import INKS

gc.disable()  # a build ends before its garbage matters; looking for it takes a sixth of the time


class Compiled(BytecodeCache):
    """Compiled templates: numpydoc makes the one of docstrings anew for each of some 4,000."""

    def __init__(self):
        self._known = {}

    def load_bytecode(self, bucket):
        if bucket.key in self._known:
            bucket.bytecode_from_string(self._known[bucket.key])

    def dump_bytecode(self, bucket):
        self._known[bucket.key] = bucket.bytecode_to_string()


docscrape_sphinx.SandboxedEnvironment = partial(docscrape_sphinx.SandboxedEnvironment, bytecode_cache=Compiled())

sys.path[:0] = [str(Path(__file__).parent / "_extensions"), str(Path(__file__).parents[1])]  # and reproductions

project = "naysay"
author = "The naysay developers"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "agreement",
    "catalog",
    "flowcharts",
    "layers",
    "mathml",
    "menu",
    "opening",
    "picture",
]
exclude_patterns = ["_build", "reference/reproductions/results"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:obj"  # `names` in docstrings lead to what they name
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it, with shapes
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "naysay"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {  # charts and links share their inks, on light and on dark
    f"{scheme}_css_variables": {f"chart-{role}": inks[shade] for role, inks in INKS.items()}
    | {f"color-brand-{part}": INKS["estimate"][shade] for part in ("primary", "content", "visited")}
    for shade, scheme in enumerate(("light", "dark"))
}
html_copy_source = False
html_show_sphinx = False
