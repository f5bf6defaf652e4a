"""Statements about the project's own files."""

import ast
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import naysay
from naysay.design import RULES

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "scripts").iterdir())

EXTRAS = {
    "collect": (
        "alembic argon2-cffi brotli cryptography fastapi httpx2 jinja2 lark openpyxl psycopg pyotp python-multipart "
        "pyxform rbcl rjsmin segno sqlalchemy uvicorn"
    ),
    "files": "openpyxl pyarrow pyreadstat",
    "plots": "altair jinja2 vl-convert-python",
    "regression": "formulaic",
    "fast": "cryptography numba",
    "protect": "scikit-learn",
    "linkage": "splink",
    "duckdb": "duckdb pyarrow",
    "spark": "pyspark",
    "dask": "dask",
}

# In two parts each, so that this file does not hold what it forbids.
MACHINE_PATHS = ["/" + folder + "/" for folder in ("home", "opt", "root", "tmp", "Users", "work")]
REGISTRY_HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]


def repository_files():
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def distribution(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_vision_is_short():
    assert len((ROOT / "VISION.md").read_text(encoding="utf-8").splitlines()) <= 10


def test_constraints_are_exact_versions():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert re.fullmatch(r"hatchling==[\d.]+", *metadata["build-system"]["requires"])  # its version is in the wheel
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)]


def test_everything_that_all_and_dev_ask_for_is_constrained():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constrained = {canonical(line.partition("==")[0]) for line in lines}
    extras = project()["optional-dependencies"]
    wanted = [*project()["dependencies"], *extras["dev"]]
    wanted += [each for extra in EXTRAS.keys() - {"spark", "dask"} for each in extras[extra]]
    assert {canonical(distribution(each)) for each in wanted} <= constrained


def test_the_extras_bring_what_they_promise():
    extras = project()["optional-dependencies"]
    brought = {extra: {distribution(each) for each in extras[extra]} for extra in EXTRAS}
    assert brought == {extra: set(names.split()) for extra, names in EXTRAS.items()}


def test_all_is_everything_but_the_big_engines():
    (everything,) = project()["optional-dependencies"]["all"]
    included = set(re.fullmatch(r"naysay\[(.*)\]", everything)[1].split(","))
    assert included == EXTRAS.keys() - {"spark", "dask"}


@pytest.mark.parametrize("script", [*SCRIPTS, ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_scripts_can_be_executed(script):
    assert script.stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_posix_shell(script):
    assert script.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    subprocess.run([shutil.which("sh"), "-n", script], check=True)


@pytest.mark.parametrize("script", sorted((ROOT / "tests").rglob("make_*.py")), ids=lambda path: path.name)
def test_what_records_references_records_none_when_it_is_imported(script):
    body = ast.parse(script.read_text(encoding="utf-8")).body  # pytest imports it, to look for doctests
    assert not [node for node in body if isinstance(node, ast.For | ast.While | ast.With | ast.Try)]
    assert "__main__" in ast.unparse(body[-1])


@pytest.mark.parametrize("needle", [*MACHINE_PATHS, *REGISTRY_HOSTS])
def test_no_file_names_a_machine_or_a_registry(needle):
    holders = [path.name for path in repository_files() if needle.encode() in path.read_bytes()]
    assert not holders


def test_the_page_on_drawing_holds_every_rule_word_for_word():
    page = " ".join((ROOT / "docs" / "reference" / "drawing.md").read_text(encoding="utf-8").split())
    for name, rule in RULES.items():
        assert f"`{name}`: {rule}" in page


def test_an_archive_is_told_what_a_citation_says_and_all_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert archived["description"] == citation["abstract"]
    assert {name: archived[name] for name in ("title", "license", "keywords")} == {
        name: citation[name] for name in ("title", "license", "keywords")
    }
    sources = [source["value"] for each in citation["references"] for source in each.get("identifiers", ())]
    sources += [each["doi"] for each in citation["references"] if "doi" in each]
    assert [each["identifier"] for each in archived["related_identifiers"]] == sources
    package = ROOT / "src" / "naysay" / "telemetry" / "javascript" / "package.json"
    assert citation["version"] == naysay.__version__ == json.loads(package.read_text(encoding="utf-8"))["version"]


def test_what_others_wrote_keeps_its_license():
    """Files of others stand in folders called vendor; none stands elsewhere, as far as a license shows."""
    texts = {path: path.read_text(encoding="utf-8", errors="ignore") for path in repository_files()}
    licensed = {
        path for path, text in texts.items() if re.search(r"^ ?\*? ?Copyright \(c\) \d{4} ", text, re.MULTILINE)
    }
    vendored = {path for path in texts if "vendor" in path.parent.parts}
    assert licensed == vendored
    for path in vendored:
        banner = texts[path].partition("*/")[0]
        assert re.match(r"/\*! @?[\w/-]+ \d+\.\d+\.\d+ ", banner), f"{path} does not say what it is made of"
        assert "Permission is hereby granted" in banner and "THE SOFTWARE" in banner, f"{path} lacks its license"
