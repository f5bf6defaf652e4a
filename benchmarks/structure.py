"""How large and how tangled the package is: the numbers by which a redesign is judged.

    python -m benchmarks structure
    python benchmarks/structure.py [--out FILE] [--before REVISION] [--list] [--circles]

Most numbers are counted in the source, without running it; start-up times and the files opened by one answer are
measured in a run. ``--before`` also counts another revision, from a work tree that is removed afterwards, and puts its
column first. By default that is the commit at which the redesign began. ``--list`` names the places that count.
``--circles`` names import circles, and fails if there is one.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
BEGUN = "60df9b5"
"""The commit before the redesign."""

INSIDE = ("design", "designs", "responses")
"""Folders that may ask what class a design or a response space is."""

ESTIMATORS = {"maximum_likelihood", "moments", "nstops", "nstops_i", "nstops_ii", "stratified", "pooled"}
DRAWING = ("rich", "altair")

ANSWER = """
import numpy as np
from naysay import designs, estimate
income = designs.negative(("low", "middle", "high", "none"))
rng = np.random.default_rng(1)
said = income.randomize(rng.choice(income.categories, 500), rng=rng)
fit = estimate.maximum_likelihood(income, income.tally(said))
str(fit)
"""
"""One answer, from the draw to the printed estimate."""


WATCHED = """
import sys
seen = set()
def spy(frame, event, _):
    code = frame.f_code
    if event == "call" and "/naysay/" in code.co_filename and not code.co_name.startswith("<module"):
        seen.add(code.co_filename)
"""


class Module:
    """One file of the package, parsed."""

    def __init__(self, path: Path, source: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        stub = path.with_suffix(".pyi")  # a package with lazy names lists its imports there
        self.imported = [self.tree, *([ast.parse(stub.read_text(encoding="utf-8"))] if stub.exists() else [])]
        inside = path.relative_to(source).with_suffix("")
        self.parts = inside.parts[:-1] if inside.name == "__init__" else inside.parts
        self.name = ".".join(self.parts)
        self.room = self.parts[1] if len(self.parts) > 1 else ""


def package(root: Path) -> dict[str, Module]:
    """The modules of a checkout by their dotted names."""
    source = root / "src"
    found = (Module(path, source) for path in sorted(source.rglob("*.py")))
    return {module.name: module for module in found}


def code_lines(module: Module) -> int:
    """Lines that hold code: neither blank, nor a comment, nor a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said: set[int] = set()
    for node in ast.walk(module.tree):
        bodies = [getattr(node, "body", None)] if isinstance(node, documented) else []
        if isinstance(node, ast.Module | ast.ClassDef):  # a string below a constant or a field is documentation, too
            bodies += [[each] for each in node.body[1:]]
        for body in bodies:
            first = body[0] if body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                said |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = module.text.splitlines()
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and at not in said for at, line in enumerate(lines, 1)
    )


def imports(module: Module, names: set[str]) -> set[str]:
    """The modules of the package that a file imports, at the top or inside functions.

    An import from a package counts as one of the module that the name comes from, if the name is a module. A package's
    ``__init__`` counts for nothing else, so that importing a package makes no circle with its own modules.
    """
    found = set()
    for node in chain.from_iterable(map(ast.walk, module.imported)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name in names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{each.name}" for each in node.names}
            found |= inner & names or {node.module} & names
    return found - {module.name}


def circles(modules: dict[str, Module]) -> list[list[str]]:
    """Files that import each other in a circle. An import inside a function, or only for types, also closes one."""
    names = list(modules)
    ties = np.zeros((len(names), len(names)), dtype=bool)
    for place, module in enumerate(modules.values()):
        ties[place, [names.index(other) for other in imports(module, set(names))]] = True
    _, circle = connected_components(ties, connection="strong")
    found = ([names[place] for place in np.flatnonzero(circle == each)] for each in range(max(circle) + 1))
    return [each for each in found if len(each) > 1]


def kinds(modules: dict[str, Module]) -> set[str]:
    """Classes of designs and response spaces: all classes that are defined in their folders."""
    return {
        node.name
        for module in modules.values()
        if module.room in INSIDE and module.room != "designs"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    } - {"Protocol", "Step", "Branch", "Chance", "Do", "Fork", "Say", "Share"}


def class_questions(modules: dict[str, Module]) -> list[tuple[str, int, str]]:
    """Where code outside their folders asks for the class of a design or response space: (module, line, class)."""
    classes = kinds(modules)
    found = []
    for module in modules.values():
        if module.room in INSIDE or module.room == "printing":
            continue
        others = {  # other rooms have classes of the same names, such as the `Table` of printing
            each.name
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and not set((node.module or "").split(".")[1:2]) & set(INSIDE)
            for each in node.names
        }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {
                    each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")
                    for each in ast.walk(node.args[1])
                }
                found += [(module.name, node.lineno, each) for each in sorted((asked & classes) - others)]
    return found


def lists_of_estimators(modules: dict[str, Module]) -> list[str]:
    """Modules with a literal that names three estimators or more, except the public list of a package."""
    found = set()
    for module in modules.values():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set | ast.Subscript):
                continue
            words = {word(each) for each in ast.walk(node)}
            if len(ESTIMATORS & words) >= 3 and not public_list(module, node):
                found.add(module.name)
    return sorted(found)


def word(node: ast.AST) -> object:
    """The name or text that a node is, if it is one."""
    return (
        getattr(node, "value", None)
        if isinstance(node, ast.Constant)
        else getattr(node, "attr", getattr(node, "id", None))
    )


def public_list(module: Module, node: ast.AST) -> bool:
    """Whether a literal is the list of a module's public names."""
    return any(
        isinstance(each, ast.Assign) and each.value is node and getattr(each.targets[0], "id", "") == "__all__"
        for each in module.tree.body
    )


def renderers(modules: dict[str, Module]) -> tuple[list[str], list[str]]:
    """Modules that make text of results (rich), and modules that draw (altair or SVG by hand)."""
    printing, drawing = [], []
    for module in modules.values():
        text = module.text
        if module.room == "cli" or module.parts[-1] in ("commands", "progress"):
            continue
        if "from rich.table" in text or "from rich.console" in text or module.parts[-1].endswith("printing"):
            printing.append(module.name)
        if 'need("altair")' in text or "<svg" in text.replace("'<svg'", ""):
            drawing.append(module.name)
    return printing, drawing


def private_functions(modules: dict[str, Module]) -> tuple[int, int]:
    """Functions and methods with a leading underscore: how many, and how many of them are used once."""
    used: Counter[str] = Counter()
    defined: list[str] = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("_") and not node.name.startswith("__"):
                    defined.append(f"{module.name}:{node.name}")
            elif isinstance(node, ast.Name):
                used[f"{module.name}:{node.id}"] += 1
            elif isinstance(node, ast.Attribute):
                used[f"{module.name}:{node.attr}"] += 1
    return len(defined), sum(used[name] <= 1 for name in defined)


def opened(root: Path) -> int:
    """Files of the package in which a line runs between `randomize` and `print(fit)`, beyond their definitions."""
    begun = ANSWER.index("said =")
    code = f"""{WATCHED}{ANSWER}
sys.setprofile(spy)
{ANSWER[begun:]}
sys.setprofile(None)
print(len(seen))"""  # a first run unwatched: what loads on first use is not on the way of an answer
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=of(root))
    return int(run.stdout.split()[-1])


def of(root: Path) -> dict[str, str]:
    """An environment that imports the package of a checkout, with compiled files as users have them."""
    return os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": ""}


def seconds(words: list[str], root: Path, runs: int = 7) -> float:
    """The least processor time of a command, over several runs."""
    least = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True, env=of(root))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def comments(modules: dict[str, Module]) -> int:
    """Lines that hold only a comment."""
    return sum(
        token.type == tokenize.COMMENT and token.line.strip().startswith("#")
        for module in modules.values()
        for token in tokenize.generate_tokens(iter(module.text.splitlines(keepends=True)).__next__)
    )


def measured(root: Path) -> Iterator[tuple[str, str, str]]:
    """(what, measured, target) for a checkout."""
    modules = package(root)
    asked, found = class_questions(modules), circles(modules)
    printing, drawing = renderers(modules)

    def lines(names: list[str]) -> int:
        return sum(code_lines(modules[name]) for name in names)

    helpers, single = private_functions(modules)
    yield "files in `src/`", f"{len(modules):,}", ""
    yield "code lines in `src/`", f"{sum(map(code_lines, modules.values())):,}", "≤ 22,000"
    yield "lines that are only a comment", f"{comments(modules):,}", ""
    yield (
        "questions for the class of a design or response space, outside their rooms",
        f"{len(asked)} in {len({name for name, *_ in asked})} files",
        "0 to 5",
    )
    yield "import circles between files", f"{len(found)} ({sum(map(len, found))} files)", "0"
    yield "modules that list the estimators by name", f"{len(lists_of_estimators(modules))}", "1"
    yield "modules that print results", f"{len(printing)} ({lines(printing):,} lines)", "one for text, one for HTML"
    yield "modules that draw", f"{len(drawing)} ({lines(drawing):,} lines)", "two or three shapes"
    yield "private functions with a single use", f"{single} of {helpers:,}", "an idea each"
    yield "files opened from `randomize` to `print(fit)`", f"{opened(root)}", "≤ 18"
    base = seconds(["-c", "pass"], root)
    yield "`python -c pass`, CPU seconds", f"{base:.2f}", ""
    for told, words, target in (
        ("`naysay --version`", ["-m", "naysay", "--version"], "≤ 0.25"),
        ("`import naysay`", ["-c", "import naysay"], "≤ 0.15"),
        ("`naysay estimate --help`", ["-m", "naysay", "estimate", "--help"], "≤ 0.4"),
    ):
        yield f"{told}, CPU seconds", f"{seconds(words, root):.2f}", target


def checkout(revision: str, folder: Path) -> None:
    """Another revision of the repository, as a work tree in a folder."""
    subprocess.run(["git", "worktree", "add", "--detach", "--quiet", folder, revision], cwd=ROOT, check=True)


def known(revision: str) -> bool:
    """Whether a revision is in this clone."""
    asked = ["git", "cat-file", "-e", f"{revision}^{{commit}}"]
    return subprocess.run(asked, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode == 0


def page(revision: str | None) -> str:
    """The table; if a revision is named, with its column first."""
    after = list(measured(ROOT))
    if revision is None:
        head, rows = "| | now | target |\n|---|--:|--:|", [f"| {a} | {b} | {c} |" for a, b, c in after]
    else:
        with tempfile.TemporaryDirectory() as folder:
            checkout(revision, Path(folder) / "before")
            try:
                before = list(measured(Path(folder) / "before"))
            finally:
                subprocess.run(["git", "worktree", "remove", "--force", f"{folder}/before"], cwd=ROOT, check=True)
        head = f"| | before ({revision[:7]}) | now | target |\n|---|--:|--:|--:|"
        rows = [f"| {a} | {b} | {c} | {d} |" for (a, b, _), (_, c, d) in zip(before, after, strict=True)]
    return "\n".join([head, *rows, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="How large and how tangled the package is.")
    parser.add_argument(
        "--before", metavar="REVISION", help=f"count this revision too (default {BEGUN}, if it is there)"
    )
    parser.add_argument(
        "--circles", action="store_true", help="only name import circles; the exit code is 1 if there is one"
    )
    parser.add_argument("--list", action="store_true", help="name the places that count, instead of the table")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    modules = package(ROOT)
    if asked.circles:
        found = circles(modules)
        for each in found:
            print("circle:", *each)
        raise SystemExit(bool(found))
    if asked.list:
        for name, line, kind in class_questions(modules):
            print(f"{name}:{line}: asks for {kind}")
        for each in circles(modules):
            print("circle:", *each)
        print("estimators:", *lists_of_estimators(modules))
        for told, names in zip(("printing", "drawing"), renderers(modules), strict=True):
            print(f"{told}:", *names)
        return
    told = page(asked.before or (BEGUN if known(BEGUN) else None))
    if asked.out:
        asked.out.write_text(told, encoding="utf-8")
    print(told, end="")


if __name__ == "__main__":
    main()
