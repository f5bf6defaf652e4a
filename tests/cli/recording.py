"""What commands print and write, as text that can be compared: see tests/reference/recorded/commands.txt."""

import json
import shlex
from pathlib import Path

HERE = Path(__file__).parents[1] / "reference/recorded"
PASSING = {"seconds"}
"""What differs between two runs of a simulation."""


def cases():
    """The words of each command by its name."""
    lines = HERE.joinpath("commands.txt").read_text(encoding="utf-8").splitlines()
    named = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {name: shlex.split(words) for name, _, words in named}


def record(code, out, folder):
    """The exit code, what was printed, and the files that were not there before, one after the other."""
    kept = {path.name for path in (HERE / "inputs").iterdir()} | {"surveys.db-shm", "surveys.db-wal"}
    written = sorted(path for path in folder.iterdir() if path.name not in kept)
    texts = [f"exit code {code}\n{lasting(out)}", *(f"{each.name}\n{each.read_text('utf-8')}" for each in written)]
    return "\n----\n".join(texts)


def lasting(out):
    """What is printed, without what passes."""
    try:
        told = json.loads(out)
    except ValueError:
        return out
    if not isinstance(told, dict) or not PASSING & told.keys():
        return out
    return json.dumps(
        {name: value for name, value in told.items() if name not in PASSING}, ensure_ascii=False, indent=1
    )
