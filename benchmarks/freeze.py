"""Write down all that users and programs can see, so that a change of shape can be proved to change nothing else.

    python benchmarks/freeze.py FOLDER [--against OTHER] [--only WORD] [--jobs 2]

The cases stand in ``freeze.txt`` beside this file, which says how they are written, and in the recorded commands of
the tests; each is also written in all formats that its command has. What is written: commands with their help and
refusals, public names with their signatures, designs as JSON, results in every form, drawing vectors. With
``--against`` each file that differs from that of an earlier run is named with its first line that differs, and the exit
code is 1. It is 1, too, if a case fails without being told to.

Chance and clocks are fixed: bytes of the operating system come from a counter that begins anew with each case, and each
thread but the main one shares a second counter; the time is always the same. Threads of polars and linear algebra are
one, because sums depend on their order.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import datetime
import gc
import getpass
import hashlib
import inspect
import io
import json
import os
import pkgutil
import random
import re
import runpy
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CASES = HERE / "freeze.txt"
RECORDED = ROOT / "tests/reference/recorded"
VECTORS = (ROOT / "tests/reference", ROOT / "tests/collect")
MARK = "frozen.txt"
"""The file by which a folder is known as one that may be deleted."""

NOW = 1_768_478_400  # 15 January 2026, noon
PASSWORD = "correct horse battery"
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "COLUMNS": "80",
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NO_COLOR": "1",
}
FORMS = (
    ("__str__", "txt"),
    ("_repr_html_", "notebook.html"),
    ("to_html", "html"),
    ("to_markdown", "md"),
    ("to_latex", "tex"),
    ("to_csv", "csv"),
    ("to_dict", "json"),
    ("to_json", "text.json"),
    ("to_frame", "frame.txt"),
)
"""The methods by which an object writes itself, and the ends of the files."""


class Chance:
    """Bytes that only look like chance. Other threads draw from a stream of their own: who is first is not fixed."""

    def __init__(self) -> None:
        self.drawn = [0, 0]

    def restart(self) -> None:
        self.drawn = [0, 0]

    def read(self, size: int) -> bytes:
        stream = int(threading.current_thread() is not threading.main_thread())
        self.drawn[stream] += 1
        return hashlib.shake_128(f"{stream} {self.drawn[stream]}".encode()).digest(size)


CHANCE = Chance()


class Clock:
    """A clock that stands still: everywhere, or for naysay alone where servers and event loops need the real one."""

    def __init__(self, at: float, real: Callable[[], float] | None = None) -> None:
        self.at, self.real = at, real

    def __call__(self) -> float:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        return self.at if self.real is None or caller.partition(".")[0] == "naysay" else self.real()


def fix_chance_and_clocks() -> None:
    """Before anything else is imported: modules take functions of time by their names."""
    os.urandom = CHANCE.read
    vars(random)["_urandom"] = CHANCE.read  # secrets, SystemRandom, and the seeds of NumPy
    time.time, time.time_ns = Clock(NOW + 0.0), Clock(NOW * 10**9)
    time.perf_counter, time.monotonic = Clock(1_000.0), Clock(1_000.0, time.monotonic)
    fixed = datetime.datetime.fromtimestamp(NOW, datetime.UTC)
    methods = {
        "now": lambda cls, tz=None: fixed.astimezone(tz) if tz else fixed.replace(tzinfo=None),
        "utcnow": lambda cls: fixed.replace(tzinfo=None),
    }
    # A subclass would not be the type that polars and databases return: the type itself is told another time.
    namespace = gc.get_referents(datetime.datetime.__dict__)[0]
    namespace.update({name: classmethod(method) for name, method in methods.items()})
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
    getpass.getpass = lambda *_, **__: PASSWORD
    with contextlib.suppress(ImportError):
        import rbcl

        rbcl.crypto_core_ristretto255_scalar_random = lambda: CHANCE.read(31) + b"\0"


class Case(NamedTuple):
    """One case: what it is called, of which section, and what is done."""

    section: str
    name: str
    text: str


class Failure(Exception):
    """A case that did not end as it should."""


def sections(path: Path = CASES) -> tuple[list[Case], dict[str, str]]:
    """The cases of a file, and the small files that it holds."""
    cases, small, section, taking = [], {}, "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if taking and line.startswith("    "):
            small[taking] += line[4:] + "\n"
        elif line.startswith("## "):
            section, taking = line[3:].strip(), ""
        elif line.startswith("file "):
            taking = line[5:].strip()
            small[taking] = ""
        elif line.strip() and not line.startswith("#"):
            name, _, text = line.partition(": ")
            cases.append(Case(section, name.strip(), text.strip()))
            taking = ""
    return cases, small


def recorded() -> list[Case]:
    """The commands that the tests record."""
    lines = (RECORDED / "commands.txt").read_text(encoding="utf-8").splitlines()
    named = (line.partition(": ") for line in lines if not line.startswith("#"))
    # some results have no CSV: that is refused, and written down as it is
    formats = ((name, re.sub(r"^(.*)--format \w+", r"[0|2] \1--format *", words)) for name, _, words in named)
    unique = {words: Case("commands", name, words) for name, words in formats}  # one case for all formats
    return list(unique.values())


def commands() -> dict[str, Any]:
    """Every command of naysay by its words."""
    from typer.main import get_command

    from naysay.cli import app

    def below(group: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield " ".join(words), group
        for name, command in getattr(group, "commands", {}).items():
            yield from below(command, (*words, name))

    return dict(below(get_command(app), ()))


def expanded(cases: list[Case], helps: Mapping[str, str]) -> Iterator[Case]:
    """Cases with ``--format *``, once for each format that the help of their last such command names."""
    for case in cases:
        if "--format *" not in case.text:
            yield case
            continue
        step = next(step for step in reversed(case.text.split(" && ")) if "--format *" in step)
        words = command_of(step, helps)
        found = re.search(r"--format <([\w|]+)>", helps[words])
        if found is None:
            raise Failure(f"{case.name}: naysay {words} names no formats")
        for form in found[1].split("|"):
            yield case._replace(name=f"{case.name}.{form}", text=case.text.replace("--format *", f"--format {form}"))


def command_of(step: str, names: Mapping[str, Any]) -> str:
    """The words of the command that a step runs; empty if it is none."""
    words = shlex.split(re.sub(r"^(\[[\d|]+\] |served |watched )", "", step))
    for size in (2, 1):
        if " ".join(words[:size]) in names:
            return " ".join(words[:size])
    return ""


def run(words: list[str]) -> tuple[int, str, str]:
    """A command in this process: its exit code, and what it printed."""
    from naysay import cli

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            code = cli.main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except KeyboardInterrupt:
            code = 130
        except Exception:
            traceback.print_exc()
            code = 1
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return code, out, err


def lasting(text: str, folder: Path) -> str:
    """A text without what is particular to a run: where it ran, on which port, and for how long."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT")
    text = re.sub(r"(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}", r"\1:PORT", text)
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return re.sub(r"\b\d+\.\d seconds\b", "SECONDS seconds", text)


def written(path: Path) -> str:
    """The content of a file as text; of a binary one what it holds, if it tells when it was made."""
    if path.suffix == ".db":
        connection = sqlite3.connect(path)
        connection.text_factory = lambda octets: octets.decode(errors="replace")
        blob = re.compile(r"X'[0-9A-F]{200,}'")
        lines = [blob.sub(lambda hit: f"sha256 {digest(hit[0].encode())}", line) for line in connection.iterdump()]
        connection.close()
        return "\n".join(lines)
    if path.suffix in (".sav", ".zsav", ".dta"):
        import pyreadstat

        table, about = (pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav)(path)
        labels = (about.column_names_to_labels, about.variable_value_labels, about.missing_ranges, about.notes)
        return "\n".join([table.to_csv(index=False), *map(repr, labels)])
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.load_workbook(path)
        return "\n".join(f"{sheet.title} {row!r}" for sheet in book for row in sheet.iter_rows(values_only=True))
    if path.suffix == ".parquet":
        import polars as pl

        table = pl.read_parquet(path)
        return f"{table.schema}\n{table.rows()}"
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        octets = path.read_bytes()
        return f"{len(octets)} bytes, sha256 {digest(octets)}"


def digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


def changed(folder: Path, before: Mapping[str, bytes]) -> Iterator[tuple[str, Path]]:
    """The files of a folder that are new or other than before."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_file()
            and not name.endswith(("-wal", "-shm"))
            and digest(path.read_bytes()).encode() != before.get(name)
        ):
            yield name, path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): digest(path.read_bytes()).encode() for path in files}


@cache
def database() -> bytes:
    """The database of the inputs, made by an earlier naysay, brought up to date."""
    from naysay.collect.storage import Store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copyfile(RECORDED / "inputs/surveys.db", Path(folder) / "surveys.db"))
        path.chmod(0o600)
        Store(path).dispose()
        return path.read_bytes()


@contextlib.contextmanager
def place(small: Mapping[str, str]) -> Iterator[Path]:
    """An own folder with all inputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "case"
        shutil.copytree(RECORDED / "inputs", folder)
        for file, text in small.items():
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "surveys.db").write_bytes(database())
        (folder / "surveys.db").chmod(0o600)  # else commands warn that others could read it
        with contextlib.chdir(folder):
            yield folder


@contextlib.contextmanager
def server(data: str = "naysay-data") -> Iterator[str]:
    """A server of this process for the surveys that are open in a database."""
    from naysay.collect.app import create_app
    from naysay.collect.serving import background
    from naysay.collect.storage import Store

    Path(data).mkdir(exist_ok=True)
    store = Store(Path(data) / "naysay.db")
    with background(create_app([], store)) as link:
        yield link
    store.dispose()


def watched(words: list[str]) -> tuple[int, str, str]:
    """``naysay serve`` and ``preview`` until a page has come from it; then it is interrupted as by a keyboard."""
    import _thread
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    got: list[str] = []

    def look() -> None:
        with contextlib.suppress(OSError):
            for _ in range(600):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
                    got.append(page.read().decode())
                    break
                time.sleep(0.1)
        os.kill(os.getpid(), 2) if got else _thread.interrupt_main()

    thread = threading.Thread(target=look)
    thread.start()
    code, out, err = run([*words, "--port", str(port)])
    thread.join()
    return code, f"{out}-- GET /\n{''.join(got)}", err


def step_of(step: str, folder: Path) -> str:
    """One step of a case: what was asked, how it ended, and what it printed."""
    if step.startswith("python "):
        import naysay

        exec(step.removeprefix("python "), {"naysay": naysay})
        return f"$ {step}\n"
    expected = re.match(r"\[([\d|]+)\] ", step)
    words = shlex.split(step[expected.end() :] if expected else step)
    how = words[0] if words[0] in ("served", "watched") else ""
    if how == "served":
        with server() as link:
            code, out, err = run([word.replace("SERVER", link) for word in words[1:]])
    else:
        code, out, err = watched(words[1:]) if how else run(words)
    text = lasting(f"$ naysay {shlex.join(words)}\nexit code {code}\n{out}-- stderr\n{err}", folder)
    if str(code) not in (expected[1].split("|") if expected else ["130" if how == "watched" else "0"]):
        raise Failure(text)
    return text


def command_case(case: Case, small: Mapping[str, str]) -> str:
    """All steps of a case, and the files that they wrote."""
    with place(small) as folder:
        before = contents(folder)
        parts = [step_of(step, folder) for step in case.text.split(" && ")]
        files = list(changed(folder, before))
        parts += [f"-- {name}\n{lasting(written(path), folder)}\n" for name, path in files]
        text = "\n".join(parts)
        for name, path in files:  # a file of SPSS says by the clock of the machine when it was made
            text = text.replace(digest(path.read_bytes()), f"SHA-256 of {name}")
    return text


def form_of(value: Any, method: str) -> str:
    """An object in one form, as text."""
    told = getattr(value, method)()
    if isinstance(told, bytes):
        return told.decode()
    return told if isinstance(told, str) else json.dumps(told, indent=1, ensure_ascii=False, default=repr)


def forms(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """An object in every form that it has; as `repr` if it has no other."""
    written_in = [
        (method, end)
        for method, end in FORMS
        if getattr(type(value), method, None) not in (None, getattr(object, method, None))
    ]
    for method, end in written_in or [("__repr__", "txt")]:
        yield f"{name}.{end}", form_of(value, method)


def object_cases(cases: list[Case], only: str, small: Mapping[str, str]) -> Iterator[tuple[str, Callable[[], str]]]:
    """Results of the library in every form. A line without a colon only prepares the next ones."""
    import naysay

    names: dict[str, Any] = {"naysay": naysay}
    with place(small) as folder:
        for case in cases:
            if not case.text:
                exec(case.name, names)
                continue
            if only not in f"objects/{case.name}":
                continue
            CHANCE.restart()
            try:
                value = names[case.name] = eval(case.text, names)
                files = list(forms(case.name, value))
            except Exception:
                files = [(case.name, Failure(traceback.format_exc()))]
            for name, text in files:
                yield f"objects/{name}", partial(text_or_failure, text, folder)


def text_or_failure(text: str | Failure, folder: Path) -> str:
    if isinstance(text, Failure):
        raise text
    return lasting(text, folder)


def design_cases(cases: list[Case]) -> Iterator[tuple[str, Callable[[], str]]]:
    """Designs of all families as JSON and as text."""
    import naysay

    names = {name: getattr(naysay.designs, name) for name in naysay.designs.__all__}
    letters = "abcdefghijklmnopqrstuvwxyz"
    for size in (2, 3, 4, 5, 8, 20):
        names[f"c{size}"] = tuple(letters[:size])
    names["c70"], names["c300"] = (tuple(f"c{place:03}" for place in range(1, size + 1)) for size in (70, 300))

    def text(call: str) -> str:
        design = eval(call, names)
        return f"{design!r}\n{design}\n{design.to_json(indent=1)}\n"

    for case in cases:
        yield f"designs/{case.name}.txt", lambda case=case: text(case.text)


def public_names() -> str:
    """Every public name of every public module, with its signature and, of a class, its public members."""
    import naysay

    modules = [naysay]
    names = [name for _, name, _ in pkgutil.iter_modules(naysay.__path__) if not name.startswith("_")]
    modules += [import_module(f"naysay.{name}") for name in names]
    lines = []
    for module in modules:  # grows: a public name may be a module
        for name in sorted(module.__all__):
            value = getattr(module, name)
            lines.append(f"{module.__name__}.{name}{signature(value)}")
            if inspect.ismodule(value) and value not in modules:
                modules.append(value)
            elif inspect.isclass(value):
                members = (member for member in dir(value) if not member.startswith("_"))
                lines += [f"    .{member}{signature(getattr(value, member, None))}" for member in members]
    return "\n".join(lines) + "\n"


def signature(value: Any) -> str:
    """How something is called; empty for what is not."""
    if not callable(value) or (inspect.isclass(value) and value.__module__ == "builtins"):
        return ""
    try:
        return re.sub(r" at 0x\w+", "", str(inspect.signature(value))).replace(str(ROOT), "ROOT")
    except (TypeError, ValueError):
        return "(…)"


def vector_cases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Drawing vectors, drawn again by the scripts that made them."""

    def text(script: Path) -> str:
        made = runpy.run_path(str(script))["main"]()
        return json.dumps(made, ensure_ascii=False, indent=1) + "\n"

    for script in sorted(VECTORS[0].glob("make_*_vectors.py")):
        yield f"vectors/{script.stem.removeprefix('make_')}.json", lambda script=script: text(script)


def all_cases(only: str, *, objects: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    """Every file that is written, and the function that gives its text."""
    cases, small = sections()
    tree = commands()
    helps = {}
    for words in tree:
        code, out, err = run([*words.split(), "--help"])
        helps[words] = f"exit code {code}\n{out}-- stderr\n{err}"
    covered = {command_of(step, tree) for case in [*cases, *recorded()] for step in case.text.split(" && ")}
    missing = [
        words for words, command in tree.items() if words not in covered and not getattr(command, "commands", None)
    ]
    if missing:
        raise Failure(f"no case in {CASES.name} runs naysay {', '.join(missing)}")
    for words, text in helps.items():
        yield f"help/{words.replace(' ', '-') or 'naysay'}.txt", lambda text=text: text
    given = [case for case in cases if case.section in ("commands", "refusals")]
    for case in expanded([*recorded(), *given], helps):
        yield f"{case.section}/{case.name}.txt", lambda case=case: command_case(case, small)
    yield "names.txt", public_names
    families = import_module("naysay").designs.FAMILIES
    made = [case for case in cases if case.section == "designs"]
    unmade = families.keys() - {re.match(r"\w+", case.text)[0] for case in made if case.text}
    if unmade:
        raise Failure(f"no case in {CASES.name} makes a design of {', '.join(sorted(unmade))}")
    yield from design_cases(made)
    yield from vector_cases()
    if objects:
        yield from object_cases([case for case in cases if case.section == "objects"], only, small)


def write(folder: Path, only: str, part: int, parts: int) -> list[str]:
    """Write all files of one part; the cases that failed."""
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, category, *_, **__: print(f"{category.__name__}: {message}", file=sys.stderr)
    sys.stdin = io.StringIO("y\n" * 100)
    failed, place = [], 0
    for name, text_of in all_cases(only, objects=part == 0):
        if only not in name:
            continue
        if not name.startswith("objects/"):
            place += 1
            if place % parts != part:
                continue
        CHANCE.restart()
        begun = os.times()
        try:
            text = text_of()
        except Exception as error:
            told = str(error) if isinstance(error, Failure) else traceback.format_exc()
            failed.append(f"{name}: {told}")
            continue
        spent = os.times()
        if os.environ.get("FREEZE_SECONDS"):
            print(f"{spent.user - begun.user + spent.system - begun.system:.2f} {name}", file=sys.stderr)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return failed


def differences(folder: Path, other: Path) -> Iterator[str]:
    """Each file that differs between two folders, with the first line that does."""
    both = [{path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()} for top in (folder, other)]
    for name in sorted(both[0] | both[1]):
        if name not in both[0] or name not in both[1]:
            yield f"{name}: only in {folder if name in both[0] else other}"
            continue
        now, before = ((top / name).read_bytes() for top in (folder, other))
        if now != before:
            lines = zip(now.decode().split("\n"), before.decode().split("\n"), strict=False)
            at, pair = next(((at, pair) for at, pair in enumerate(lines, 1) if pair[0] != pair[1]), (0, ("", "")))
            yield f"{name}:{at}\n  before: {pair[1]}\n  now:    {pair[0]}" if at else f"{name}: one is longer"


def emptied(folder: Path) -> None:
    """Delete what an earlier run wrote, and nothing else: a run that crashes must leave nothing old to compare."""
    if folder.exists():
        if any(folder.iterdir()) and not (folder / MARK).exists():
            raise SystemExit(f"{folder} holds files that no freeze wrote; name another folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).write_text("Written by benchmarks/freeze.py, which deletes this folder.\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Write all that users and programs can see.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, metavar="OTHER", help="compare with an earlier folder")
    parser.add_argument("--only", default="", metavar="WORD", help="only files with this in their names")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.part is not None:
        failed = write(folder, options.only, options.part, options.jobs)
        print("\n".join(failed), file=sys.stderr)
        return int(bool(failed))
    emptied(folder)
    own = {name: value for name, value in os.environ.items() if not name.startswith("NAYSAY_")} | ENVIRONMENT
    words = [sys.executable, __file__, str(folder), "--only", options.only, "--jobs", str(options.jobs), "--part"]
    running = [subprocess.Popen([*words, str(part)], env=own, cwd=ROOT) for part in range(options.jobs)]
    failed = [process.wait() for process in running]
    different = []
    if options.against is not None:
        different = [line for line in differences(folder, options.against.resolve()) if options.only in line]
        print("\n".join(different) if different else "every file is the same")
    return int(any(failed) or bool(different))


if __name__ == "__main__":
    sys.path.remove(str(HERE))  # its files have names of libraries, such as coverage
    if "--part" in sys.argv:
        fix_chance_and_clocks()
    raise SystemExit(main())
