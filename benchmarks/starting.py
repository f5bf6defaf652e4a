"""How long commands take to start, beside Python alone.

    python benchmarks/starting.py [--repeats 9] [--out benchmarks/starting.md]

CPU seconds of the whole process, system time included: the median of several runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

CASES = {
    "python -c pass": ["-c", "pass"],
    "import naysay": ["-c", "import naysay"],
    "from naysay import designs": ["-c", "from naysay import designs"],
    "from naysay import estimate": ["-c", "from naysay import estimate"],
    "naysay --version": ["-m", "naysay", "--version"],
    "naysay --help": ["-m", "naysay", "--help"],
    "naysay designs": ["-m", "naysay", "designs"],
    "naysay estimate --help": ["-m", "naysay", "estimate", "--help"],
    "naysay risk --help": ["-m", "naysay", "risk", "--help"],
    "naysay serve --help": ["-m", "naysay", "serve", "--help"],
}


def seconds(arguments: list[str]) -> float:
    """CPU seconds of one run of Python with these arguments."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} exits with {process.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    found = {case: statistics.median(seconds(words) for _ in range(options.repeats)) for case, words in CASES.items()}
    base = found["python -c pass"]
    lines = ["| what | CPU seconds | more than Python alone |", "|---|--:|--:|"]
    lines += [f"| `{case}` | {taken:.2f} | {taken - base:.2f} |" for case, taken in found.items()]
    lines += ["", f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}."]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
