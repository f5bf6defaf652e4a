"""How large and how tangled the package is: the numbers by which redesigns are judged.

    python -m benchmarks structure
    python benchmarks/structure.py [--out FILE] [--before REVISION] [--list] [--circles]

Most numbers are counted in the source, without running it; start-up times and the files opened by one answer are
measured in a run. The first table is of the first redesign, the second of the one that makes fewer, larger files with
names that are nouns. Each is counted at the commit where its redesign began, too, from a work tree that is removed
afterwards; ``--before`` names another revision for both. ``--list`` names the places that count. ``--circles`` names
import circles, and fails if there is one.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
BEGUN = "60df9b5"
"""The commit before the first redesign."""

REDRAWN = "cb216e5"
"""The commit before the second."""

VAGUE = {
    *("found", "told", "said", "asked", "kept", "own", "made", "each", "given", "taken", "shown", "drawn", "read"),
    *("written", "known", "seen", "left", "called", "chosen", "placed", "counted", "meant", "wanted", "held", "put"),
    *("got", "sent"),
}
"""Bare participles and fillers: names that do not say what a value is."""

WRITERS = {"content", "sections", "to_dict", "fields", "plain"}
"""Methods by which a result writes itself."""

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


def bound_names(module: Module) -> Iterator[str]:
    """The names that a file binds: of variables, parameters, functions and classes."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def naming(modules: dict[str, Module]) -> tuple[float, float, Counter[str]]:
    """The share of names that are vague, the words in a name, and the vague names by how often they are bound."""
    names = [name for module in modules.values() for name in bound_names(module)]
    vague = Counter(bare for name in names if (bare := name.strip("_").lower()) in VAGUE)
    words = sum(max(1, len(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name))) for name in names)
    return vague.total() / len(names), words / len(names), vague


def rarely_used(modules: dict[str, Module]) -> tuple[list[str], list[str]]:
    """Functions whose names are used at most once in their room; and those of them that are no door to it.

    A door is used in another room, or named in an ``__all__`` or a stub. Methods with two underscores on each side are
    left out.
    """
    uses: dict[str, Counter[str]] = {}
    doors: set[str] = set()
    functions: list[tuple[str, str, str]] = []
    for module in modules.values():
        room = uses.setdefault(module.room, Counter())
        for node in chain.from_iterable(map(ast.walk, module.imported)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                functions.append((module.room, module.name, node.name))
            elif isinstance(node, ast.Name):
                room[node.id] += 1
            elif isinstance(node, ast.Attribute):
                room[node.attr] += 1
        for node in chain.from_iterable(stub.body for stub in module.imported[1:]):
            if isinstance(node, ast.ImportFrom):
                doors |= {name.name for name in node.names}
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                doors |= {str(word(name)) for name in ast.walk(node.value)}
    rare = [function for function in functions if uses[function[0]][function[2]] <= 1]
    elsewhere = {name: sum(room[name] for room in uses.values()) - uses[own_room][name] for own_room, _, name in rare}
    inside = [function for function in rare if function[2] not in doors and not elsewhere[function[2]]]
    return [f"{module}:{name}" for _, module, name in rare], [f"{module}:{name}" for _, module, name in inside]


def parameters_of_any_type(modules: dict[str, Module]) -> tuple[int, int]:
    """How many parameters have `Any` in their type, and how many parameters there are."""
    annotations = [
        ast.unparse(parameter.annotation) if parameter.annotation else ""
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if parameter.arg not in ("self", "cls")
    ]
    return sum(bool(re.search(r"\bAny\b", annotation)) for annotation in annotations), len(annotations)


def classes(modules: dict[str, Module], holds: Callable[[ast.ClassDef], bool]) -> list[str]:
    """The classes of which something holds."""
    return [
        f"{module.name}:{node.name}"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and holds(node)
    ]


def writes_itself(node: ast.ClassDef) -> bool:
    """Whether a class defines how it is written."""
    return bool(WRITERS & {item.name for item in node.body if isinstance(item, ast.FunctionDef)})


def star_imports(modules: dict[str, Module]) -> list[str]:
    """Imports of all that a module names."""
    return [
        f"{module.name}:{node.lineno}"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]


def late_modules(modules: dict[str, Module]) -> list[tuple[Module, str]]:
    """Calls of `import_module` for modules of the package: the file of each, and the text of what is loaded.

    Libraries are loaded so, too, by names that do not begin with the package's.
    """
    return [
        (module, ast.unparse(node.args[0]))
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and str(word(node.func)) == "import_module"
        and ("naysay" in ast.unparse(node.args[0]) or module.parts[-1] == "_lazy")
    ]


def filled_from_elsewhere(modules: dict[str, Module]) -> dict[str, list[str]]:
    """Dictionaries of one file that others fill when they are imported: each with those others."""
    found: dict[str, list[str]] = {}
    for module in modules.values():
        homes = {
            name.asname or name.name: f"{node.module}.{name.name}"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("naysay")
            for name in node.names
            if name.name.isupper()
        }
        for node in ast.walk(module.tree):
            filled: object = None
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                filled = word(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
                filled = word(node.func.value)
            if filled in homes:
                found.setdefault(homes[str(filled)], []).append(module.name)
    return found


def room_of(name: str) -> str:
    """The room of a module: its part below the package."""
    return [*name.split("."), ""][1]


def arrows(modules: dict[str, Module]) -> set[tuple[str, str]]:
    """Which room imports which, with package files, imports inside functions and `import_module` counted.

    The package itself is no room: it loads what is asked of it.
    """
    found = set()
    for module in modules.values():
        for node in chain.from_iterable(map(ast.walk, module.imported)):
            if isinstance(node, ast.Import):
                found |= {(module.room, room_of(name.name)) for name in node.names if name.name.startswith("naysay.")}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "naysay":
                names = (
                    [f"naysay.{name.name}" for name in node.names] if node.module == "naysay" else [str(node.module)]
                )
                found |= {(module.room, room_of(name)) for name in names if name in modules}
    for module, text in late_modules(modules):
        found |= {(module.room, room) for room in re.findall(r"^'naysay\.(\w+)", text)}
    return {(start, end) for start, end in found if start and end and start != end}


def circles_of_rooms(modules: dict[str, Module]) -> list[list[str]]:
    """Rooms that import each other in a circle."""
    pairs = arrows(modules)
    rooms = sorted({room for pair in pairs for room in pair})
    ties = np.zeros((len(rooms), len(rooms)), dtype=bool)
    for start, end in pairs:
        ties[rooms.index(start), rooms.index(end)] = True
    _, circle = connected_components(ties, connection="strong")
    found = [
        [rooms[place] for place in np.flatnonzero(circle == number)] for number in range(max(circle, default=-1) + 1)
    ]
    return [rooms for rooms in found if len(rooms) > 1]


def upward_arrows(modules: dict[str, Module], root: Path) -> list[tuple[str, str]]:
    """Rooms that import one above them, or beside them, in the layers that the project names."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    height = {room.strip(" ()"): -place for place, layer in enumerate(layers) for room in layer.split("|")}
    return sorted(
        (start, end) for start, end in arrows(modules) if {start, end} <= set(height) and height[start] <= height[end]
    )


def entered(root: Path) -> dict[str, int]:
    """How many files of the package each trip enters; see ``_walks.py``."""
    run = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/_walks.py")], capture_output=True, text=True, check=True, env=of(root)
    )
    return {trip: len(files) for trip, files in json.loads(run.stdout).items()}


RUNNING = """
import io, json, sys, contextlib
from pathlib import Path
{code}
mine = [name for name in sys.modules if name.split(".")[0] == "naysay"]
print(json.dumps({result}))
"""


def told_by(root: Path, code: str, result: str) -> list[int]:
    """Numbers that a run of some code gives."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", RUNNING.format(code=code, result=result)]
        run = subprocess.run(words, capture_output=True, text=True, check=True, env=of(root), cwd=folder)
    return list(json.loads(run.stdout.splitlines()[-1]))


def loaded(root: Path) -> list[int]:
    """Modules that ``naysay risk`` loads, and how many of them estimate."""
    code = """
from naysay import cli
Path("people.csv").write_text("age,gender\\n30,f\\n30,m\\n41,f\\n")
with contextlib.redirect_stdout(io.StringIO()):
    assert cli.main(["risk", "people.csv", "--keys", "age,gender"]) == 0
"""
    return told_by(root, code, "[len(mine), sum(name.startswith('naysay.estimate') for name in mine)]")


def commands_and_designs(root: Path) -> list[int]:
    """Options and arguments of all commands, and public members of a design."""
    code = """
from typer.main import get_command
from naysay import Design
from naysay.cli import app
def declared(group):
    children = getattr(group, "commands", None)
    return sum(map(declared, dict(children.items()).values())) if children else len(group.params)
members = [name for name in dir(Design) if not name.startswith("_")]
"""
    return told_by(root, code, "[declared(get_command(app)), len(members)]")


def redrawn(root: Path) -> Iterator[tuple[str, str, str]]:
    """(what, measured, target) of the second redesign, for a checkout."""
    modules = package(root)
    share, words, _ = naming(modules)
    rare, inside = rarely_used(modules)
    vaguely, parameters = parameters_of_any_type(modules)
    options, members = commands_and_designs(root)
    files = entered(root)
    all_modules, estimating = loaded(root)
    yield "names that are a bare participle or filler", f"{100 * share:.1f} %", "≤ 1 %"
    yield "words per name", f"{words:.2f}", "≥ 1.35"
    yield "Python files in `src/`", f"{len(modules):,}", "≤ 260"
    yield "code lines in `src/`", f"{sum(map(code_lines, modules.values())):,}", "≤ 44,000"
    yield (
        "functions used at most once in their room; of them no door (used in no other room, in no `__all__`)",
        f"{len(rare):,}; {len(inside):,}",
        "≤ 400 of all",
    )
    for trip, title, target in (
        ("answer", "files entered by one answer", "≤ 16"),
        ("print", "by its print alone", "≤ 8"),
        ("file", "by one risk file", "≤ 18"),
        ("reply", "by one reply, from its POST until it is counted", "≤ 22"),
        ("counted", "by an estimate of the replies to one question", ""),
        ("short", "the short examples: by one answer", "≤ 11"),
        ("short print", "with its print", "≤ 16"),
        ("reports", "by 64 reports of devices", "≤ 11"),
        ("table", "by one table of risk", "≤ 13"),
    ):
        yield title, f"{files[trip]}", target
    yield "modules that `naysay risk` loads; of them `estimate`", f"{all_modules}; {estimating}", "≤ 90; 0"
    yield "result classes that write themselves", f"{len(classes(modules, writes_itself))}", "one `Result`"
    yield "classes called `Options`", f"{len(classes(modules, lambda node: node.name == 'Options'))}", "0"
    yield "options and arguments of all commands", f"{options}", "what only a command line has, by hand"
    yield "public members of a design", f"{members}", "≤ 30"
    yield "parameters with `Any` in their type", f"{vaguely:,} of {parameters:,}", "≤ 150"
    yield (
        "star imports; `import_module` of our own; registries filled from other files",
        f"{len(star_imports(modules))}; {len(late_modules(modules))}; {len(filled_from_elsewhere(modules))}",
        "0; 0; 0",
    )
    yield (
        "circles among rooms; upward arrows (package files and late imports counted)",
        f"{len(circles_of_rooms(modules))}; {len(upward_arrows(modules, root))}",
        "0; 0",
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


def table(rows_of: Callable[[Path], Iterator[tuple[str, str, str]]], revision: str | None) -> str:
    """One table; if a revision is named, with its column first."""
    after = list(rows_of(ROOT))
    if revision is None:
        head, rows = "| | now | target |\n|---|--:|--:|", [f"| {a} | {b} | {c} |" for a, b, c in after]
    else:
        with tempfile.TemporaryDirectory() as folder:
            checkout(revision, Path(folder) / "before")
            try:
                before = list(rows_of(Path(folder) / "before"))
            finally:
                subprocess.run(["git", "worktree", "remove", "--force", f"{folder}/before"], cwd=ROOT, check=True)
        head = f"| | before ({revision[:7]}) | now | target |\n|---|--:|--:|--:|"
        rows = [f"| {a} | {b} | {c} | {d} |" for (a, b, _), (_, c, d) in zip(before, after, strict=True)]
    return "\n".join([head, *rows, ""])


def page(revision: str | None) -> str:
    """Both tables, each beside the commit where its redesign began, or beside one revision."""
    begun, again = (revision or (commit if known(commit) else None) for commit in (BEGUN, REDRAWN))
    return f"{table(measured, begun)}\nThe house, redrawn:\n\n{table(redrawn, again)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="How large and how tangled the package is.")
    parser.add_argument(
        "--before",
        metavar="REVISION",
        help=f"count this revision too (default {BEGUN} and {REDRAWN}, if they are there)",
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
        print("vague names:", *(f"{name} {count}" for name, count in naming(modules)[2].most_common()))
        print("used at most once in their room, and no door:", *rarely_used(modules)[1])
        print("star imports:", *star_imports(modules))
        print("late modules:", *(f"{module.name}: {text}" for module, text in late_modules(modules)))
        for name, fillers in filled_from_elsewhere(modules).items():
            print(f"{name} is filled by", *fillers)
        for rooms in circles_of_rooms(modules):
            print("circle of rooms:", *rooms)
        for start, end in upward_arrows(modules, ROOT):
            print(f"upward: {start} imports {end}")
        return
    told = page(asked.before)
    if asked.out:
        asked.out.write_text(told, encoding="utf-8")
    print(told, end="")


if __name__ == "__main__":
    main()
