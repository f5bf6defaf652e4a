"""Whether this tree is slower than another commit: the same few tasks in turn, in one run.

    python benchmarks/against.py [COMMIT] [--rounds 7] [--out benchmarks/against.md]

Without a commit it is the last tag. The tasks are run in pairs, now one tree first and now the other, and the least CPU
seconds of each count: a busy machine only adds. A task that takes over 10 % and 20 ms more ends the run with 1.
"publish" makes a survey ready to be shown, "server" takes 1,000 replies over HTTP (on Linux), and "page" is opened ten
times in Chromium, up to an answer; all others are commands, from start to end.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Measure = Callable[[Path, Path], float]
ROOT = Path(__file__).parents[1]
ALLOWED = 0.10
NOISE = 0.02  # seconds of CPU that no task can be told apart by
NEGATIVE = ("--design", "negative(discards=2)", "--categories", "low,middle,high,none")
PUBLISHING = """
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
    "publish": ("-c", PUBLISHING),
}
"""What is measured, as the words after ``python``, in a folder with the files of ``naysay demo --files``."""
OPENED = """
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (how) { return attach.call(this, { ...how, mode: "open" }); };
"""
"""Opens the tree that the page keeps closed, for what is pressed here."""


def started(words: tuple[str, ...], source: Path, folder: Path) -> subprocess.Popen[str]:
    """``python`` with the package of this source, and what it says."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def cpu_seconds(words: tuple[str, ...], source: Path, folder: Path) -> float:
    """User and system seconds of one run with the package of this source."""
    process = started(words, source, folder)
    with process.stdout:
        output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status  # nobody else waits for it
    if status:
        raise SystemExit(f"python {' '.join(words)} failed with {source}:\n{output}")
    return usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def served(source: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """``naysay serve`` on a free port, with an empty database: the survey's link, and the number of the process."""
    with tempfile.TemporaryDirectory(dir=folder) as data:
        options = ("--port", "0", "--rate", "0", "--data", data, "--yes")
        process = started(("-m", "naysay", "serve", "survey.json", *options), source, folder)
        try:
            lines = []
            while not any("/s/" in line for line in lines):
                lines.append(process.stdout.readline())
                if not lines[-1]:
                    raise SystemExit(f"naysay serve failed with {source}:\n{''.join(lines)}")
            yield next(word for word in lines[-1].split() if "/s/" in word), process.pid
        finally:
            process.terminate()
            process.communicate()


def server(source: Path, folder: Path, *, replies: int = 1000) -> float:
    """CPU seconds of a server that is sent this many replies over HTTP, once it is warm: the least of three times."""
    spent = []
    with served(source, folder) as (link, process):
        clock = ~process << 3 | 2  # of the CPU that a process has used, on Linux
        for number in (1, *[replies] * 3):
            before = time.clock_gettime(clock)
            with tempfile.TemporaryDirectory(dir=folder) as kept:
                options = ("--random", str(number), "--state", f"{kept}/state")
                cpu_seconds(("-m", "naysay", "respond", link, *options), source, folder)
            spent.append(time.clock_gettime(clock) - before)
    return min(spent[1:])


def page(source: Path, folder: Path, *, times: int = 10) -> float:
    """CPU seconds that Chromium counts for the page, up to an answer to its first question: so many times the least."""
    from playwright.sync_api import sync_playwright

    spent = []
    with served(source, folder) as (link, _), sync_playwright() as playwright:
        chromium = shutil.which("chromium") or os.environ.get("CHROMIUM")
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for _ in range(times):
            opened = browser.new_page(locale="en-US")
            opened.add_init_script(OPENED)
            counting = opened.context.new_cdp_session(opened)
            counting.send("Performance.enable", {"timeDomain": "threadTicks"})  # of the thread, not of the clock
            opened.goto(link)
            opened.locator(".welcome .actions .main").click()
            opened.locator(".step .question input").first.fill("44")
            counted = {each["name"]: each["value"] for each in counting.send("Performance.getMetrics")["metrics"]}
            spent.append(counted["TaskDuration"])
            opened.close()
        browser.close()
    return times * min(spent)


def least_seconds(measure: Measure, sources: list[Path], folder: Path, rounds: int) -> list[float]:
    """The least seconds with each source, the order turned around in every round."""
    best = [float("inf")] * len(sources)
    for turn in range(rounds):
        for place in range(len(sources)) if turn % 2 else reversed(range(len(sources))):
            best[place] = min(best[place], measure(sources[place], folder))
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
            measures = {task: functools.partial(cpu_seconds, words) for task, words in TASKS.items()}
            for task, measure in (measures | {"server": server, "page": page}).items():
                before, now = least_seconds(measure, sources, folder, options.rounds)
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
