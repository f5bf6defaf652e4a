"""One command runs all benchmarks, and says what they found."""

import functools
import importlib.util
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SPEC = importlib.util.spec_from_file_location("all_benchmarks", FOLDER / "__main__.py")
command = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(command)

SCRIPT = '''"""How fast {name} is.

More about it.
"""
import argparse
from pathlib import Path

parser = argparse.ArgumentParser()
{argument}
parser.add_argument("--out", type=Path)
rows = ["solver | times ours | holds", "---|---|---", "us | 1.0 | yes", "EM | 5.1 | NO"]
parser.parse_args().out.write_text("".join(f"| {{row}} |\\n" for row in rows))
{end}
'''


@pytest.fixture
def folder(tmp_path):
    """A folder with four benchmarks, one of which needs data and one of which fails, and a helper that is none."""
    for name, argument, end in (
        ("alone", "", ""),
        ("data", 'parser.add_argument("data")', ""),
        ("broken", "", "raise SystemExit(1)"),
        ("second", "", ""),
    ):
        (tmp_path / f"{name}.py").write_text(SCRIPT.format(name=name, argument=argument, end=end))
    (tmp_path / "helper.py").write_text('"""Not one."""\n')
    return tmp_path


def rows(folder):
    text = (folder / "results.md").read_text()
    return {row[0]: row[1:] for row in command.tables(text)[0][1:]}


def test_all_are_run_and_told(folder, capsys):
    assert command.main([], folder) == 1
    found = rows(folder)
    assert list(found) == ["alone", "broken", "data", "second"]
    assert found["alone"][0] == "How fast alone is"
    assert found["alone"][-1] == "EM 5.1 ×; 1 of 2 hold"
    assert re.fullmatch(r"\d+\.\d", found["alone"][1])
    assert found["broken"][1].endswith("(failed)")
    assert found["data"][1] == "needs arguments"
    assert "numpy" in capsys.readouterr().out


def test_only_the_named_are_run_and_the_others_read(folder):
    (folder / "second.md").write_text("| a | times ours |\n|---|---|\n| x | 2.0 |\n")
    assert command.main(["alone"], folder) == 0
    found = rows(folder)
    assert found["second"][1:] == ["not run", "–", "–", "x 2.0 ×"]
    assert found["data"][-1] == "see its table"
    assert not (folder / "broken.md").exists()


def test_an_unknown_name_is_refused(folder, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["alon"], folder)
    assert "no benchmark is called 'alon'; there are alone, broken" in capsys.readouterr().err


def test_the_list_names_every_benchmark_of_the_project(capsys):
    assert command.main(["--list"]) == 0
    listed = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    assert {"coverage", "simulation", "speed"} <= {name for name, _, _ in listed}
    assert all(told for _, _, told in listed)


def test_ratios_are_told_with_what_was_compared():
    table = "| file | tool | seconds | times ours |\n|---|---|---|---|\n| big | us | 2 | 1 |\n| | them | 9 | 4.5 |\n"
    assert command.findings(table) == "them 4.5 ×"


def test_a_ratio_says_how_far_it_got():
    head = "| solver | seconds | times ours | gap reached |\n|---|---|---|---|\n"
    table = head + "| us | 2 | 1.0 | 0 |\n| EM | 1 | 0.5 | 1e-3 |\n"
    assert command.findings(table) == "EM 0.5 × (gap 1e-3)"


def test_the_kept_table_tells_of_benchmarks_that_there_are():
    found = rows(FOLDER)
    assert found
    assert set(found) <= {script.stem for script in command.benchmarks(FOLDER)}


STRUCTURE = importlib.util.spec_from_file_location("structure", FOLDER / "structure.py")
structure = importlib.util.module_from_spec(STRUCTURE)
STRUCTURE.loader.exec_module(structure)


@pytest.fixture
def house(tmp_path):
    """A package of a few files, with a circle that only an import for types closes, and one question for a class."""
    files = {
        "naysay/__init__.py": '"""A package."""\nfrom naysay import one\n',
        "naysay/one.py": "from naysay.two import b\n\n# a trap\ndef _a():\n    return b\n",
        "naysay/two.py": "if TYPE_CHECKING:\n    from naysay.one import _a\nb = isinstance(1, Table | int)\n",
        "naysay/design/table.py": "class Table:\n    ok = isinstance(1, Table)\n",
        "naysay/lists.py": 'names = ("moments", "pooled", "stratified")\n__all__ = ["moments", "nstops", "pooled"]\n',
    }
    for name, text in files.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    return structure.package(tmp_path)


def test_the_shape_of_a_package_is_counted(house):
    assert structure.circles(house) == [["naysay.one", "naysay.two"]]
    assert structure.class_questions(house) == [("naysay.two", 3, "Table")]
    assert structure.lists_of_estimators(house) == ["naysay.lists"]
    assert structure.private_functions(house) == (1, 1)
    assert structure.comments(house) == 1
    assert sum(map(structure.code_lines, house.values())) == 11


def test_what_the_second_redesign_is_judged_by_is_counted(tmp_path):
    """A room that others must not import loads one above it late, and one file fills the registry of another."""
    files = {
        "pyproject.toml": '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["design", "tally"]\n',
        "src/naysay/__init__.py": "",
        "src/naysay/tally.py": (
            "from importlib import import_module\nKINDS = {}\n__all__ = ['door']\n"
            "def door(found: Any, told_by: int):\n    return import_module('naysay.design')\n"
            "def _once():\n    return _once\ndef loaded():\n    return import_module('numpy')\n"
        ),
        "src/naysay/design.py": (
            "from naysay.tally import KINDS\nfrom naysay.tally import *\nKINDS['a'] = loaded()\n"
            "class Options:\n    def content(self): ...\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    modules = structure.package(tmp_path)
    share, words, vague = structure.naming(modules)
    assert vague == {"found": 1}  # `told_by` says by whom
    assert (round(share, 2), round(words, 2)) == (0.1, 1.1)
    assert structure.rarely_used(modules) == (
        ["naysay.design:content", "naysay.tally:door", "naysay.tally:_once", "naysay.tally:loaded"],
        ["naysay.design:content", "naysay.tally:_once"],
    )
    assert structure.parameters_of_any_type(modules) == (1, 2)
    assert structure.star_imports(modules) == ["naysay.design:2"]
    assert [text for _, text in structure.late_modules(modules)] == ["'naysay.design'"]
    assert structure.filled_from_elsewhere(modules) == {"naysay.tally.KINDS": ["naysay.design"]}
    assert structure.circles(modules) == []
    assert structure.circles_of_rooms(modules) == [["design", "tally"]]
    assert structure.upward_arrows(modules, tmp_path) == [("tally", "design")]
    assert structure.classes(modules, structure.writes_itself) == ["naysay.design:Options"]


def test_the_drawing_has_a_box_for_each_file_of_each_room(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    files = {
        "pyproject.toml": '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["rooms | other", "errors"]\n',
        "src/naysay/__init__.py": "",
        "src/naysay/errors.py": "from naysay.rooms import a\n",
        "src/naysay/other.py": "a = 1\n",
        "src/naysay/rooms/__init__.py": "",
        "src/naysay/rooms/inner/a.py": "from naysay import errors\n" * 3,
        "src/naysay/rooms/b.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    drawn = importlib.import_module("house").drawing(tmp_path, "now")
    assert drawn.count("<rect") == 6
    told = ("now: 6 files, 5 lines", "rooms: 3 files, 3 → 1<", "single files: 3 files, 2<", "errors → rooms")
    assert [each for each in told if each not in drawn] == []


def test_the_names_in_the_package_say_what_things_are():
    """Bare participles and fillers do not; those that are left are public, or leave Python in JSON."""
    share, _, vague = structure.naming(structure.package(FOLDER.parent))
    assert share < 0.01, vague.most_common(10)


def test_the_page_of_all_benchmarks_says_what_their_tables_say_now():
    """ "128 of 128 hold" stood there when 298 of 300 cells did; `python -m benchmarks --read` writes it anew."""
    page = (command.HERE / "results.md").read_text(encoding="utf-8")
    assert command.reread(page, command.benchmarks(command.HERE)) == page


def test_a_table_of_the_worst_cells_is_not_taken_for_all(folder):
    text = "300 cells; 298 of 300 cells hold.\n\n| cell | holds |\n|---|---|\n| 1 | NO |\n| 2 | yes |\n"
    assert command.findings(text) == "298 of 300 cells hold"
    (folder / "results.md").write_text("| alone | what | 3.1 | 9 | 10 | 128 of 128 hold |\n")
    (folder / "alone.md").write_text(text)
    assert command.main(["--read"], folder) == 0
    assert (folder / "results.md").read_text() == "| alone | what | 3.1 | 9 | 10 | 298 of 300 cells hold |\n"


def program():
    """``benchmarks/against.py``, as a module."""
    spec = importlib.util.spec_from_file_location("against", FOLDER / "against.py")
    against = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(against)
    return against


def test_a_comparison_without_a_tag_asks_for_a_commit(tmp_path, monkeypatch):
    against = program()
    monkeypatch.setattr(against, "ROOT", tmp_path)
    against.git("init", "--quiet")
    against.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--allow-empty", "--message=first")
    monkeypatch.setattr("sys.argv", ["against.py"])
    with pytest.raises(SystemExit, match="there is no tag yet: name a commit"):
        against.main()


@pytest.mark.slow
def test_a_slower_server_and_a_slower_page_are_measured_as_such(tmp_path):
    """The server's reply path, and the script of the page that a browser opens; not what lies beside them."""
    against = program()
    source, slow = FOLDER.parent / "src", shutil.copytree(FOLDER.parent / "src", tmp_path / "src")
    against.cpu_seconds(("-m", "naysay", "questionnaire", "new", "survey.json"), source, tmp_path)
    for name, old, new in (
        ("app.py", "client_address = _address(request)\n", "sum(range(10**7)); client_address = _address(request)\n"),
        (
            "client/survey.js",
            "const root = ",
            "for (const at = Date.now(); Date.now() < at + 400; ) continue;\nconst root = ",
        ),
    ):
        path = slow / "naysay" / "collect" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with ThreadPoolExecutor(1) as alone:  # a thread that no other test's browser lives in
        for measure in (functools.partial(against.server, replies=5), functools.partial(against.page, times=1)):
            slow_seconds, seconds = (alone.submit(measure, each, tmp_path).result() for each in (slow, source))
            assert slow_seconds > seconds + 0.15
