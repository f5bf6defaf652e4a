"""What is released can be installed by a stranger: built twice with equal bytes, and tried in an empty environment."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def program(name):
    """A program of the release, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "release" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_image_is_built_as_hadolint_asks():
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    linted = subprocess.run(
        [shutil.which("hadolint", path=folders), ROOT / "Dockerfile"], check=False, capture_output=True, text=True
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_steps_of_the_image_can_be_run_without_a_builder():
    """``python release/container.py`` runs them; here is what it reads."""
    container = program("container")
    steps = container.instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert {word for word, _ in steps} == {
        "FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "ENV", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"
    }  # fmt: skip
    copied = [rest.split()[:-1] for word, rest in steps if word == "COPY" and "--from" not in rest]
    assert all(container.allowed(path) for paths in copied for path in paths)
    assert not container.allowed("tests")
    [making] = [rest for word, rest in steps if word == "RUN" and "useradd" in rest]
    assert ("USER", re.search(r"--uid (\d+)", making)[1]) in steps  # a number, which every host can hold against root


def test_every_component_names_its_license_and_what_is_vendored_is_listed():
    build = program("build")
    named = [{"license": {"id": "MIT"}}]
    subject = {"name": "naysay", "bom-ref": "naysay==1", "licenses": named}
    edges = [{"ref": "naysay==1", "dependsOn": ["numpy==2"]}, {"ref": "numpy==2"}, {"ref": "partd==1"}]
    bill = {"metadata": {}, "components": [{"name": "numpy", "licenses": named}, {"name": "partd"}, subject]}
    bill["dependencies"] = edges
    vendor = (ROOT / "scripts" / "vendor").read_text(encoding="utf-8")
    whole = build.complete_bill(bill, vendor)
    assert whole["metadata"] == {"component": subject}
    vendored = [part["bom-ref"] for part in whole["components"] if part["name"] in build.VENDORED]
    assert whole["dependencies"][0] == {"ref": "naysay==1", "dependsOn": ["numpy==2", *vendored]}
    assert whole["dependencies"][1:] == [*edges[1:], *({"ref": ref} for ref in vendored)]
    listed = {part["name"]: part["licenses"] for part in whole["components"]}
    assert listed == {
        "numpy": named, "partd": [{"license": {"id": "BSD-3-Clause"}}], **dict.fromkeys(build.VENDORED, named)
    }  # fmt: skip
    head = (ROOT / "src/naysay/collect/client/vendor/voprf.js").read_text(encoding="utf-8")[:400]
    assert all(name in head for name in build.VENDORED)
    assert "The MIT License" in head
    with pytest.raises(SystemExit, match="read the license of unknown"):
        build.complete_bill({**bill, "components": [subject, {"name": "unknown"}]}, vendor)


def test_the_archive_is_told_what_the_citation_says():
    """The fields are those of Zenodo's deposits; ``scripts/release`` holds CITATION.cff to its schema."""
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert archive.keys() == {
        "title", "description", "upload_type", "access_right", "license", "creators", "keywords", "related_identifiers"
    }  # fmt: skip
    assert (archive["upload_type"], archive["access_right"]) == (citation["type"], "open")
    shared = {"title": "title", "description": "abstract", "license": "license", "keywords": "keywords"}
    assert {name: archive[name] for name in shared} == {name: citation[field] for name, field in shared.items()}
    assert archive["creators"] == citation["authors"]
    cited = {reference.get("doi") for reference in citation["references"]}
    cited |= {part["value"] for reference in citation["references"] for part in reference.get("identifiers", ())}
    for related in archive["related_identifiers"]:
        assert related["relation"] == "isDerivedFrom"
        assert related["identifier"] in cited


def test_a_package_holds_what_it_needs_and_nothing_else(tmp_path, monkeypatch):
    build = program("build")
    monkeypatch.setattr(build, "tracked", lambda folder: {"a.py"})
    wheel, sdist = tmp_path / "naysay.whl", tmp_path / "naysay.tar.gz"

    def check(in_wheel, in_sdist):
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in in_wheel:
                archive.writestr(name, "")
        with tarfile.open(sdist, "w:gz") as archive:
            for name in in_sdist:
                archive.addfile(tarfile.TarInfo(f"naysay-1/{name}"))
        build.check_contents(wheel, sdist)

    right = ["naysay/a.py"], ["src/naysay/a.py", *build.SOURCE_ONLY]
    check(*right)
    for wrong in (([], right[1]), (["README.md", *right[0]], right[1]), (right[0], right[1][:-1])):
        with pytest.raises(SystemExit, match="lacks"):
            check(*wrong)


def test_only_a_whole_commit_of_one_version_is_signed(tmp_path, monkeypatch):
    build = program("build")
    changed = []
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "run", lambda *words: "".join(changed))
    for name, text in {
        "CITATION.cff": "title: naysay\nversion: 1.2.0\n",
        "src/naysay/telemetry/javascript/package.json": '{"version": "1.2.0"}',
        "CHANGELOG.md": "# Changelog\n\n## [1.2.0] - 2027-01-01\n",
        "tests/collect/released/1.2.0.sql.gz": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    build.check_signable("1.2.0")
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("1.2.0", "1.1.0"), encoding="utf-8") if text else path.unlink()
        with pytest.raises(SystemExit, match=re.escape(path.name.replace("1.2.0.sql.gz", "make_released.py"))):
            build.check_signable("1.2.0")
        path.write_text(text, encoding="utf-8")
    changed.append(" M README.md\n")
    with pytest.raises(SystemExit, match="only a commit is signed"):
        build.check_signable("1.2.0")
    monkeypatch.setattr(sys, "argv", ["build.py", "--quick", "--sign", "key"])
    with pytest.raises(SystemExit, match="2"):
        build.main()


def test_what_is_signed_is_checked_as_security_says_with_the_key_that_the_repository_names(tmp_path, monkeypatch):
    build = program("build")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "dist").mkdir()
    for name in ("key", "other"):
        build.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "somebody", "-f", tmp_path / name)
    key, sums = str(tmp_path / "key"), tmp_path / "dist" / "SHA256SUMS"
    (tmp_path / "dist" / "a.whl").write_bytes(b"a")
    sums.write_text(f"{build.digest(tmp_path / 'dist' / 'a.whl')}  a.whl\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="does not name this key; to trust it, commit the line: naysay ") as refusal:
        build.sign(key, sums)
    (tmp_path / "release" / "allowed_signers").write_text(f"{str(refusal.value).partition('line: ')[2]}\n")
    with pytest.raises(SystemExit, match="does not name this key"):
        build.sign(str(tmp_path / "other"), sums)
    assert sorted(path.name for path in sums.parent.iterdir()) == ["SHA256SUMS", "a.whl"]
    build.sign(key, sums)
    assert (sums.parent / "allowed_signers").read_bytes() == (tmp_path / "release" / "allowed_signers").read_bytes()
    [command] = re.findall(r"^ssh-keygen .*$", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)

    def checked():
        return subprocess.run(command, shell=True, cwd=sums.parent, capture_output=True, check=False).returncode == 0

    assert checked()
    (sums.parent / "a.whl").write_bytes(b"b")
    assert not checked()
    forged = f"{build.digest(sums.parent / 'a.whl')}  a.whl\n"
    sums.write_text(forged, encoding="utf-8")
    assert not checked()
    (sums.parent / "SHA256SUMS.sig").unlink()
    build.run("ssh-keygen", "-Y", "sign", "-f", tmp_path / "other", "-n", "naysay", sums)
    assert not checked()


@pytest.mark.slow
def test_packages_are_built_twice_alike_and_work_in_an_empty_environment():
    """The wheel with all extras runs the README's commands and a survey over HTTP; the npm package draws."""
    command = [sys.executable, "release/build.py", "--quick"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "built twice, equal bytes" in built.stdout
    assert len((ROOT / "dist" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()) == 3
