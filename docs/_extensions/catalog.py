"""The families of designs as a table, read from the package while the site is built."""

import inspect

from sphinx.util.docutils import SphinxDirective

from naysay.designs import FAMILIES, catalog


def grouped():
    """The families {module: [(name, parameters, what it is)]}, in the order of the catalog."""
    groups = {}
    for name, parameters, told in catalog():
        module = inspect.getmodule(FAMILIES[name]).__name__
        groups.setdefault(module, []).append((name, parameters, told))
    return groups


class Catalog(SphinxDirective):
    """Every design that a call may name, linked to its reference."""

    def run(self):
        lines = ["| design | what it is |", "|---|---|"]
        for families in grouped().values():
            for name, parameters, told in families:
                shown = f"{name}({parameters})".replace("|", "\\|")
                lines.append(f"| {{py:func}}`{shown} <naysay.designs.{name}>` | {told} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("catalog", Catalog)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
