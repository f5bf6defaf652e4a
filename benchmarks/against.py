"""Whether this tree is slower than another commit: the same few tasks in turn, in one run.

    python benchmarks/against.py [COMMIT] [--rounds 7] [--out benchmarks/against.md]

Without a commit it is the last tag. The tasks are run in pairs, now one tree first and now the other, and the least CPU
seconds of each count: a busy machine only adds. A task that takes over 10 % and 20 ms more ends the run with 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = 0.10
NOISE = 0.02  # seconds of CPU that no task can be told apart by
NEGATIVE = ("--design", "negative(discards=2)", "--categories", "low,middle,high,none")
STORING = """
import datetime, tempfile
from naysay import designs
from naysay.collect import Published
from naysay.collect.questionnaire import load
from naysay.collect.storage import Store
from naysay.collect.storage.replies import Reply
with tempfile.TemporaryDirectory() as folder:
    store, published = Store(folder + "/answers.db"), Published.of(load("survey.json"))
    store.open(published)
    for group in range(200):
        day = datetime.date(2027, 1, 1)
        replies = [Reply(published.name, published.hash, f"{group:016x}{place:016x}", "{}", day) for place in range(50)]
        assert {outcome.what for outcome in store.add(replies)} == {"stored"}
    store.dispose()
"""
PAGE = """
from naysay.collect import Published
from naysay.collect.questionnaire import load
Published.of(load("survey.json"))
"""
TASKS = {
    "start": ("-m", "naysay", "--version"),
    "help": ("-m", "naysay", "estimate", "--help"),
    "estimate": ("-m", "naysay", "estimate", "many.csv", "--response", "income", *NEGATIVE),
    "crosstab": (
        "-m",
        "naysay",
        "crosstab",
        "many.csv",
        "--row",
        "cheated",
        "--row-design",
        "warner(p=0.7)",
        "--column",
        "gender",
    ),
    "risk": (
        "-m",
        "naysay",
        "risk",
        "people.csv",
        "--keys",
        "age,gender,region",
        "--keys",
        "age,income",
        "--population",
        "1e7",
    ),
    "protect": ("-m", "naysay", "protect", "people.csv", "--keys", "age,gender,region", "--target", "k >= 3"),
    "page": (
        "-c",
        PAGE,
    ),
    "store 10,000 replies": ("-c", STORING),
}
"""What is measured, as the words after ``python``, in a folder with the files of ``naysay demo --files``."""


def cpu_seconds(words: tuple[str, ...], source: Path, folder: Path) -> float:
    """User and system seconds of one run with the package of this source."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"python {' '.join(words)} failed with {source}:\n{output}")
    return usage.ru_utime + usage.ru_stime


def least_seconds(words: tuple[str, ...], sources: list[Path], folder: Path, rounds: int) -> list[float]:
    """The least seconds with each source, the order turned around in every round."""
    best = [float("inf")] * len(sources)
    for turn in range(rounds):
        for place in range(len(sources)) if turn % 2 else reversed(range(len(sources))):
            best[place] = min(best[place], cpu_seconds(words, sources[place], folder))
    return best


def git(*words: str) -> str:
    """What git says in this repository."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """The table; 1 if a task is slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="by default the last tag")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, help="write the table there, too")
    options = parser.parse_args()
    commit = options.commit or next(iter(git("tag", "--merged=HEAD", "--sort=-creatordate").split()), None)
    if commit is None:
        raise SystemExit("there is no tag yet: name a commit")
    with tempfile.TemporaryDirectory() as name:
        other, folder = Path(name, "other"), Path(name, "files")
        folder.mkdir()
        git("worktree", "add", "--detach", str(other), commit)
        try:
            sources = [other / "src", ROOT / "src"]
            cpu_seconds(("-m", "naysay", "demo", "--files", "."), sources[1], folder)
            cpu_seconds(("-m", "naysay", "questionnaire", "new", "survey.json"), sources[1], folder)
            header, *rows = (folder / "answers.csv").read_text(encoding="utf-8").splitlines()
            (folder / "many.csv").write_text("\n".join([header, *rows * 100]), encoding="utf-8")
            lines, slower = [f"| CPU seconds | {commit} | now | |", "|---|--:|--:|--:|"], []
            for task, words in TASKS.items():
                before, now = least_seconds(words, sources, folder, options.rounds)
                lines.append(f"| {task} | {before:.2f} | {now:.2f} | {now / before - 1:+.0%} |".replace("-", "−"))
                print(lines[-1], flush=True)
                if now > before * (1 + ALLOWED) + NOISE:
                    slower.append(task)
        finally:
            git("worktree", "remove", "--force", str(other))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if slower:
        raise SystemExit(f"slower than {commit} by more than {ALLOWED:.0%}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
