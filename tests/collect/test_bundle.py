"""The page's modules as one file."""

import re

import pytest

from naysay.collect import Client, Published
from naysay.collect.client import DRAWING, FOLDER, bundle
from naysay.collect.questionnaire import sample
from naysay.errors import DataError


@pytest.fixture(scope="module")
def modules():
    paths = {path.name: path for path in FOLDER.glob("*.js")} | {DRAWING: FOLDER / DRAWING}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def test_every_module_of_the_page_is_in_it_once(modules):
    code, parts = bundle(modules, "survey.js")
    assert sorted(parts) == sorted(modules)
    assert parts[-1] == "survey.js"
    for name in modules:
        for declared in re.findall(r"^(?:async )?function (\w+)\(", modules[name], re.MULTILINE):
            assert f"function {declared}(" in code, name
    assert len(code) < sum(map(len, modules.values()))


def test_a_client_serves_it_instead_of_its_modules():
    files = Client.of(FOLDER).files
    scripts = {name for name in files if name.endswith(".js")}
    languages = {f"words/{tag}.js" for tag in ("en", "de", "es", "ar")}
    assert scripts == {
        "survey.js",
        *languages,
        *(name.replace("words", "extras") for name in languages),
        "extras/beside.js",
        "invited/invitation.js",
        "vendor/voprf.js",
        "lots/lots.js",
    }


def test_a_survey_has_what_invitations_need_only_where_it_invites():
    plain, invites = (Published.of(sample(), key=key).client.files for key in (None, "ab" * 32))
    assert set(invites) - set(plain) == {"invited/invitation.js", "vendor/voprf.js"}


def test_what_others_wrote_is_served_with_its_license():
    assert b"Permission is hereby granted" in Client.of(FOLDER).files["vendor/voprf.js"]


def test_no_code_is_looked_for_by_another_address(modules):
    code, _ = bundle(modules, "survey.js")
    imports = {
        "import(`./words/${spoken(l",
        "import(`./extras/${spoken(",
        'import("./extras/beside.js',
        'import("./lots/lots.js").c',
        'import("./invited/invitatio',
    }
    assert {each[:26] for each in re.findall(r"\bimport\b[^;]{0,20}", code)} == {each[:26] for each in imports}


def test_a_survey_has_what_lots_need_only_where_it_leaves_something_to_lot():
    arms = {"arms": [{"name": name, "share": 1} for name in ("a", "b")]}
    plain, drawn = (Published.of(type(sample()).model_validate(sample().form() | more)) for more in ({}, arms))
    assert set(drawn.client.files) - set(plain.client.files) == {"lots/lots.js"}


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({}, "the module 'a.js' is missing; it is imported by the page"),
        ({"a.js": 'import { b } from "./b.js";\n'}, "the module 'b.js' is missing; it is imported by a.js"),
        (
            {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\nexport const b = a;'},
            "the module 'a.js' imports itself through others; it is imported by b.js",
        ),
        ({"a.js": 'import b from "./b.js";'}, "must import and export as naysay's own do; got 'import b from"),
        ({"a.js": "export default 1;"}, "got 'export default 1;'"),
        (
            {
                "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\n',
                "b.js": "export const b = 1;\nexport const one = 1;",
                "c.js": "export const c = 2;\nexport const one = 2;",
            },
            "'one' is exported by b.js and c.js",
        ),
    ],
)
def test_what_cannot_be_made_one_is_said(modules, said):
    with pytest.raises(DataError, match=re.escape(said)):
        bundle(modules, "a.js")
