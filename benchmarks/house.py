"""A drawing of the package: a strip for each room, in the order of the layers, with a box for each of its files.

    python benchmarks/house.py FILE [--revision REVISION]

A box is as long as its file has lines of code; the boxes of one folder have one shade. Beside a room stands how many
rooms it imports, and under the rooms who imports upward. Another revision is read in a work tree that is removed
afterwards.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

from structure import ROOT, Module, arrows, checkout, code_lines, package, upward_arrows

WIDTH, LABELS, BOX, GAP = 820, 210, 9, 3
SCALE = 9
"""Lines of code in one unit of a box's length."""

SHADES = ("#5b8c8a", "#8fb3a9", "#3f5f73")
"""Of folders in turn, and of files that stand in the room itself."""
STYLE = f"font: 12px sans-serif; fill: currentColor; max-width: {WIDTH}px; width: 100%; height: auto"


def rooms(modules: dict[str, Module], root: Path) -> Iterator[tuple[str, list[Module]]]:
    """The rooms from the top to the bottom, each with its files; single files in the package's folder are one room."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    order = [room.strip(" ()") for layer in layers for room in layer.split("|")]
    of_room = {room: [module for module in modules.values() if module.room == room] for room in order}
    single = [room for room in order if len(of_room[room]) == 1 and len(of_room[room][0].parts) == 2]
    yield from ((room, of_room[room]) for room in order if of_room[room] and room not in single)
    yield "single files", [modules["naysay"], *(of_room[room][0] for room in single)]


def strip(files: list[Module], top: float) -> tuple[list[str], float]:
    """The boxes of a room's files from this height on, and the height at which the next room begins."""
    boxes, left = [], float(LABELS)
    folders = {module.parts[2] for module in files if len(module.parts) > 3}
    shade_of = {name: place % 2 for place, name in enumerate(sorted(folders))}
    by_folder = groupby(files, lambda module: module.parts[2] if {*module.parts[2:3]} & folders else "")
    for name, folder in by_folder:
        for module in folder:
            lines = code_lines(module)
            length = max(lines / SCALE, 1.5)
            if left + length > WIDTH and left > LABELS:
                left, top = LABELS, top + BOX + 1
            fill = SHADES[shade_of.get(name, 2)]
            boxes.append(
                f'<rect x="{left:.1f}" y="{top:g}" width="{length:.1f}" height="{BOX}" fill="{fill}">'
                f"<title>{escape('/'.join(module.parts[1:]) or 'naysay')}: {lines}</title></rect>"
            )
            left += length + 0.8
    return boxes, top + BOX + GAP + 4


def drawing(root: Path, name: str) -> str:
    """The package in a checkout, as SVG."""
    modules = package(root)
    ties = arrows(modules)
    parts, top = [], 24.0
    for room, files in rooms(modules, root):
        lines, below = sum(map(code_lines, files)), len({end for start, end in ties if start == room})
        label = f"{room}: {len(files)} files, {lines:,}" + (f" → {below}" if below else "")
        parts.append(f'<text x="0" y="{top + BOX}">{escape(label)}</text>')
        boxes, top = strip(files, top)
        parts += boxes
    upward = ", ".join(f"{start} → {end}" for start, end in upward_arrows(modules, root)) or "nobody"
    total = f"{name}: {len(modules)} files, {sum(map(code_lines, modules.values())):,} lines of code"
    parts += [
        f'<text x="0" y="12" font-weight="bold">{escape(total)}</text>',
        f'<text x="0" y="{top + BOX}">imports upward: {escape(upward)}</text>',
    ]
    title = f"<title>{escape(total)}, a strip for each room and a box for each file</title>"
    size = f'viewBox="0 0 {WIDTH} {top + 16:g}"'
    return f'<svg role="img" {size} xmlns="http://www.w3.org/2000/svg" style="{STYLE}">{title}{"".join(parts)}</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description="A drawing of the package.")
    parser.add_argument("out", type=Path, help="an SVG")
    parser.add_argument("--revision", help="another one than that of this checkout")
    request = parser.parse_args()
    if request.revision is None:
        request.out.write_text(drawing(ROOT, "now"), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        checkout(request.revision, other)
        try:
            request.out.write_text(drawing(other, request.revision), encoding="utf-8")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
