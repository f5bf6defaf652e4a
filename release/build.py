"""Build what is released, look into it, and install it into empty environments.

    scripts/release           everything that this machine can run: each Python from 3.11 on, each extra alone, the
                              oldest and the newest dependencies that are allowed; about ten minutes
    scripts/release --quick   this Python, the core and all extras together, the newest dependencies; under a minute
    scripts/release --sign ~/.ssh/id_ed25519   signs the checksums, too

What it leaves in dist/: the wheel, the source distribution, the npm package, a list of what is in an installation with
all extras (CycloneDX), and checksums. release/README.md lists what a person looks at besides.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SOURCE_ONLY = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    ".gitignore",
    "pyproject.toml",
)
LICENSES = {"partd": "BSD-3-Clause", "pyxform": "BSD-2-Clause"}
"""Of components whose metadata name none that a program reads: by the words of the file LICENSE in their wheels."""
VENDORED = ("@noble/curves", "@noble/hashes")
"""Parts of client/vendor/voprf.js, with the license at its head; scripts/vendor has their versions."""
UV = Path(sys.executable).with_name("uv")


def fail(problem: str) -> NoReturn:
    """End with one line."""
    raise SystemExit(f"scripts/release: {problem}")


class Failure(Exception):
    """A command that had to succeed did not."""


def run(*words: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """The output of a command that has to succeed."""
    command = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if command.returncode:
        raise Failure(f"{' '.join(map(str, words))}\n{command.stdout}{command.stderr}")
    return command.stdout


def tracked(folder: str) -> set[str]:
    """The files of a folder of the repository that git knows, by their path in that folder."""
    paths = run("git", "ls-files", "--cached", "--others", "--exclude-standard", folder).splitlines()
    return {path.removeprefix(f"{folder}/") for path in paths if (ROOT / path).exists()}


def build(folder: Path) -> list[Path]:
    """The wheel and the source distribution, dated like the last commit, so that anybody builds the same bytes."""
    commit_time = run("git", "log", "-1", "--format=%ct").strip()
    run(UV, "build", "--quiet", "--out-dir", folder, ROOT, SOURCE_DATE_EPOCH=commit_time)
    return sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel holds the package and nothing else; the source distribution what makes the wheel."""
    package_files = {f"naysay/{name}" for name in tracked("src/naysay")}
    with zipfile.ZipFile(wheel) as archive:
        wheel_files = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        sdist_files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    source_files = {*SOURCE_ONLY, *(f"src/{name}" for name in package_files)}
    expected = {wheel: (wheel_files, package_files), sdist: (sdist_files, source_files)}
    for path, (held, wanted) in expected.items():
        missing, surplus = sorted(wanted - held), sorted(held - wanted)
        if missing or surplus:
            fail(f"{path.name} lacks {missing or 'nothing'} and holds besides {surplus or 'nothing'}")


def check_signable(version: str) -> None:
    """What is signed is a commit that says one version everywhere, and that every later version has to open."""
    if run("git", "status", "--porcelain").strip():
        fail("the files are not those of the last commit; only a commit is signed")
    said = {
        "CITATION.cff": f"version: {version}\n",
        "src/naysay/telemetry/javascript/package.json": f'"version": "{version}"',
        "CHANGELOG.md": f"\n## [{version}]",
    }
    for name, words in said.items():
        if words not in (ROOT / name).read_text(encoding="utf-8"):
            fail(f"{name} does not say {words.strip()}")
    if not (ROOT / "tests" / "collect" / "released" / f"{version}.sql.gz").exists():
        fail(f"no database of {version} is kept; run: python tests/collect/make_released.py")


def check_signer(key: str) -> str:
    """The line of `allowed_signers` for a private key, which the repository must hold, so that both say the same."""
    kind, public = run("ssh-keygen", "-y", "-f", key).split()[:2]
    line = f'naysay namespaces="naysay" {kind} {public}'
    committed = ROOT / "release" / "allowed_signers"
    if not committed.exists() or line not in committed.read_text(encoding="utf-8").splitlines():
        fail(f"release/allowed_signers does not name this key; to trust it, commit the line: {line}")
    return f"{line}\n"


def sign(key: str, sums: Path) -> None:
    """Sign the checksums, and put beside them who may."""
    sums.with_name("allowed_signers").write_text(check_signer(key), encoding="utf-8")
    run("ssh-keygen", "-Y", "sign", "-f", key, "-n", "naysay", sums)


def python_paths() -> Iterator[str]:
    """The interpreters from Python 3.11 on that this machine offers."""
    for version in PYTHONS:
        find = [UV, "python", "find", "--no-python-downloads", "--system", version]
        found = subprocess.run(find, cwd=ROOT.parent, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            yield found.stdout.strip()
        else:
            print(f"no Python {version} here: not tried", flush=True)


def install(python: str, wheel: Path, extras: Sequence[str], resolution: str, folder: Path) -> Path:
    """The interpreter of an empty environment with the wheel and the dependencies of these extras."""
    run(UV, "venv", "--quiet", "--python", python, folder)
    interpreter = folder / "bin" / "python"
    extra_words = [word for extra in extras for word in ("--extra", extra)]
    # the bounds are those of the wheel: the resolver takes the lowest of what is named directly, and wheels alone
    run(UV, "pip", "install", "--quiet", "--python", interpreter, "--only-binary", ":all:", "--resolution", resolution,
        "--requirement", ROOT / "pyproject.toml", *extra_words)  # fmt: skip
    run(UV, "pip", "install", "--quiet", "--python", interpreter, "--no-deps", wheel)
    return interpreter


def smoke(interpreter: Path, extras: Sequence[str]) -> None:
    """Try each door of an installation, in an empty folder, far from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PYTHONPATH": "", "PYTHONWARNINGS": "default"}
        script = shutil.copy(ROOT / "release" / "smoke.py", folder)
        run(interpreter, "-I", script, *extras, folder=Path(folder), **environment)


def complete_bill(bill: dict, vendor_script: str) -> dict:
    """The list of what naysay needs, with the licenses that we read ourselves, and with what is vendored."""
    [subject] = [component for component in bill["components"] if component["name"] == "naysay"]
    components = [component for component in bill["components"] if component is not subject]
    dependencies = {entry["ref"]: entry for entry in bill["dependencies"]}
    needs = list(dependencies[subject["bom-ref"]].get("dependsOn", ()))
    for name in VENDORED:
        [version] = set(re.findall(rf'"{name}": "([\d.]+)"', vendor_script))
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        licenses = [{"license": {"id": "MIT"}}]
        components.append(
            {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licenses}
        )
        dependencies[purl] = {"ref": purl}
        needs.append(purl)
    dependencies[subject["bom-ref"]] = {"ref": subject["bom-ref"], "dependsOn": needs}
    components = [
        {**component, "licenses": [{"license": {"id": LICENSES[component["name"]]}}]}
        if not component.get("licenses") and component["name"] in LICENSES
        else component
        for component in components
    ]
    nameless = [component["name"] for component in components if not component.get("licenses")]
    if nameless:
        fail(f"read the license of {', '.join(nameless)}, and name it in release/build.py")
    metadata = {**bill["metadata"], "component": subject}
    return {**bill, "metadata": metadata, "components": components, "dependencies": list(dependencies.values())}


def pack_javascript(folder: Path) -> Path:
    """The npm package: what its package.json lists, tried from the packed file."""
    scripts_folder = UV.parent
    path = f"{scripts_folder}{os.pathsep}{os.environ['PATH']}"
    source = ROOT / "src" / "naysay" / "telemetry" / "javascript"
    packed = folder / run("npm", "pack", "--silent", "--pack-destination", folder, folder=source, PATH=path).strip()
    with tempfile.TemporaryDirectory() as empty:
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--offline", packed, folder=Path(empty), PATH=path)
        design = run(
            sys.executable, "-c", "from naysay import designs; print(designs.k_ary(['a', 'b'], epsilon=1).to_json())"
        )
        program = (
            f"import {{ draw }} from 'naysay-draw'; if (!'ab'.includes(draw(({design}).design, 'a'))) process.exit(1);"
        )
        run("node", "--input-type=module", "--eval", program, folder=Path(empty), PATH=path)
    return packed


def main() -> None:
    """Everything in order; what fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="this Python and the newest dependencies only")
    parser.add_argument("--sign", metavar="KEY", help="the private SSH key that signs the checksums")
    parser.add_argument("--python", metavar="PATH", action="append", help="an interpreter to try; repeat for more")
    options = parser.parse_args()
    if options.sign and options.quick:
        parser.error("--sign is for the whole run")
    start = time.monotonic()
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(DIST)
        again = build(folder / "again")
        if [digest(path) for path in (wheel, sdist)] != [digest(path) for path in again]:
            fail("two builds of one commit differ")
        check_contents(wheel, sdist)
        if options.sign:
            check_signable(wheel.name.split("-")[1])
            check_signer(options.sign)
        print(f"built twice, equal bytes: {wheel.name}, {sdist.name}", flush=True)
        packed = pack_javascript(DIST)
        print(f"packed, installed and imported: {packed.name}", flush=True)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = [extra for extra in project["optional-dependencies"] if extra not in ("all", "dev", "spark")]
        if options.quick:
            cases = [(sys.executable, extras, "highest")]
        else:
            cases = [
                (path, chosen, resolution)
                for path in options.python or python_paths()
                for chosen in ((), *((extra,) for extra in extras), extras)
                for resolution in ("lowest-direct", "highest")  # the last one is listed: all extras, newest
            ]
        failed_cases = []
        for number, (python, chosen, resolution) in enumerate(cases):
            version = run(python, "-c", "import platform; print(platform.python_version())").strip()
            title = f"Python {version}, {resolution} dependencies, {', '.join(chosen) or 'the core'}"
            try:
                interpreter = install(python, wheel, chosen, resolution, folder / str(number))
                smoke(interpreter, chosen)
            except Failure as failure:  # the others are tried, so that one run shows all
                failed_cases.append(title)
                print(failure, file=sys.stderr, flush=True)
            shown = "FAILED, " if title in failed_cases else ""
            print(f"{number + 1} of {len(cases)}: {shown}{title}", flush=True)
            if number + 1 < len(cases):  # the last one is listed below
                shutil.rmtree(folder / str(number), ignore_errors=True)
        if failed_cases:
            fail(f"{len(failed_cases)} of {len(cases)} environments failed: {'; '.join(failed_cases)}")
        if not options.quick:
            bill = DIST / f"naysay-{wheel.name.split('-')[1]}.cdx.json"
            run(UV, "tool", "run", "--from", "cyclonedx-bom", "cyclonedx-py", "environment", "--output-reproducible",
                "--output-file", bill, interpreter)  # fmt: skip
            vendor_script = (ROOT / "scripts" / "vendor").read_text(encoding="utf-8")
            listed = complete_bill(json.loads(bill.read_text(encoding="utf-8")), vendor_script)
            bill.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
            listed_count = len(listed["components"])
            print(f"listed what naysay needs, {listed_count} parts, each with its license: {bill.name}", flush=True)
            run(
                UV,
                "tool",
                "run",
                "--from",
                "cffconvert==2.0.0",
                "cffconvert",
                "--validate",
                "-i",
                ROOT / "CITATION.cff",
            )
            print(run(sys.executable, "release/container.py").splitlines()[-2], flush=True)
    sums = DIST / "SHA256SUMS"
    released = sorted(path for path in DIST.iterdir() if path.suffix in (".whl", ".gz", ".tgz", ".json"))
    sums.write_text("".join(f"{digest(path)}  {path.name}\n" for path in released), encoding="utf-8")
    if options.sign:
        sign(options.sign, sums)
    print(f"{sums.relative_to(ROOT)}: {len(released)} files, {time.monotonic() - start:.0f} seconds")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        fail(str(failure))
