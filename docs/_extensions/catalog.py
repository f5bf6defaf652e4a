"""The families of designs as a table, read from the package while the site is built."""

import inspect

from sphinx.util.docutils import SphinxDirective

from naysay.designs import ASSUMPTIONS, FAMILIES, SOURCES, catalog


def grouped():
    """The families {module: [(name, parameters, what it is)]}, in the order of the catalog."""
    groups = {}
    for row in catalog():
        groups.setdefault(inspect.getmodule(FAMILIES[row[0]]), []).append(row)
    return groups


def table(families):
    """Markdown in which each family leads to its reference."""
    lines = ["| design | what it is | assumes | source |", "|---|---|---|---|"]
    for name, parameters, told in families:
        call = f"{name}({parameters})".replace("|", "\\|")
        about = f"{told} | {'; '.join(ASSUMPTIONS[name])} | {SOURCES[name]}"
        lines.append(f"| {{py:func}}`{call} <naysay.designs.{name}>` | {about} |")
    return "\n".join(lines)


class Catalog(SphinxDirective):
    """Every design that a call may name, module by module, under what the module says of itself."""

    def run(self):
        parts = [f"{inspect.getdoc(module).splitlines()[0]}\n\n{table(rows)}" for module, rows in grouped().items()]
        return self.parse_text_to_nodes("\n\n".join(parts))


def setup(app):
    app.add_directive("catalog", Catalog)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
