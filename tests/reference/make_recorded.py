"""Record what commands print and write, for programs that read it: ``python tests/reference/make_recorded.py``.

The commit 60df9b5 made the records in ``recorded/``. Record a case anew only where its output is meant to change, by
its name on the command line.
"""

import sys
from contextlib import chdir, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from naysay import cli

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from recording import HERE, cases, record


def main() -> None:
    for name, words in cases().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        printed = TextIOWrapper(BytesIO(), "utf-8", write_through=True)
        with TemporaryDirectory() as folder:
            copytree(HERE / "inputs", folder, dirs_exist_ok=True)
            Path(folder, "surveys.db").chmod(0o600)  # else commands warn that others could read it
            with chdir(folder), redirect_stdout(printed):
                code = cli.main(words)
            text = record(code, printed.buffer.getvalue().decode(), Path(folder))
        (HERE / f"{name}.txt").write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":  # pytest imports this file to look for doctests, and must record nothing
    main()
