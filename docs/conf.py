"""The documentation site. Nothing is fetched while it is built, or while it is read."""

import sys
from pathlib import Path

from naysay import __version__
from naysay.show.finish import INKS

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
