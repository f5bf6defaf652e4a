"""What the sources say beside what naysay finds, read from the results that are kept with the pages."""

import json
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "reference" / "reproductions" / "results"


def row(line):
    """One line of the table from ``reproduction: check | what it is called here``."""
    name, _, rest = line.partition(":")
    what, _, words = (part.strip() for part in rest.partition("|"))
    found = json.loads((RESULTS / name / "results.json").read_text(encoding="utf-8"))
    check = next(each for each in found["checks"] if each["what"] == what)
    relation = "" if check["relation"] == "is" else f"{check['relation']} "
    error = f" ± {check['error']:.2g}" if check["error"] else ""
    agrees = "yes" if check["agrees"] else "no"
    return (
        f"| [{words or what}]({name}.md) | {relation}{check['source']:.4g} | {check['found']:.4g}{error} | {agrees} |"
    )


def totals():
    """How much agrees, source by source."""
    for kept in sorted(RESULTS.glob("*/results.json")):
        found = json.loads(kept.read_text(encoding="utf-8"))
        agreeing = f"{found['agreeing']} of {len(found['checks'])}"
        yield f"| [{found['title']}]({found['name']}.md) | {found['runs']:,} | {agreeing} |"


class Agreement(SphinxDirective):
    """The chosen checks as a table, then how many of all there are agree."""

    has_content = True

    def run(self):
        for kept in RESULTS.glob("*/results.json"):
            self.env.note_dependency(str(kept))
        try:
            rows = [row(line) for line in self.content if line.strip()]
        except (OSError, StopIteration):
            raise self.error("name checks as the kept results do, as 'two_coins: standard error | s.e.'") from None
        lines = ["| | the source | naysay | agrees |", "|---|--:|--:|---|", *rows, ""]
        lines += ["| all checks | surveys in each simulation | agree |", "|---|--:|--:|", *totals()]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("agreement", Agreement)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
