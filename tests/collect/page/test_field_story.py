"""A whole survey: from the upload to the last byte that is overwritten, in a browser and on the command line."""

import io
import json
import re
import zipfile
from urllib.request import urlopen

import numpy as np
import polars as pl
import pyreadstat
import pytest
from browsing import Respondent, running

from naysay.cli import main
from naysay.collect.admin.account import Account
from naysay.collect.app import create_app
from naysay.collect.questionnaire import Questionnaire, sample
from naysay.collect.storage import Store
from naysay.estimate import projected

PASSWORD = "correct horse battery"
SECRET = "eleven herons over the harbor"
ASKED = ("age", "area", "smoking", "income", "remarks")
BY_SCRIPT = 1_000
THREE = [
    {"age": 30, "area": "city", "smoking": "yes", "income": "to_3000", "remarks": SECRET},
    {"age": 44, "area": "town", "smoking": "no", "income": "to_2000", "remarks": SECRET},
    {"age": 61, "area": "country", "smoking": "no", "income": "below_1000", "remarks": SECRET},
]


def field():
    """Five questions of the sample survey, two of them private."""
    items = [each.model_copy(update={"relevant": None}) for each in sample().questions if each.name in ASKED]
    return Questionnaire.model_validate(
        {**sample().form(), "name": "field", "items": [each.model_dump() for each in items]}
    )


def people():
    """Two thousand whose truth is known: a third smokes, and older people more."""
    rng = np.random.default_rng(18)
    age = rng.integers(18, 90, BY_SCRIPT)
    smokes = rng.random(BY_SCRIPT) < 1 / (1 + np.exp(-(-2.7 + 0.04 * age)))
    incomes = ("below_1000", "to_2000", "to_3000", "to_5000", "from_5000")
    columns = {
        "age": age,
        "area": rng.choice(("city", "town", "country"), BY_SCRIPT),
        "smoking": np.where(smokes, "yes", "no"),
        "income": rng.choice(incomes, BY_SCRIPT, p=(0.15, 0.3, 0.25, 0.2, 0.1)),
        "income_level": rng.choice(("1", "2", "3"), BY_SCRIPT),
        "remarks": [SECRET] * BY_SCRIPT,
    }
    return pl.DataFrame(columns), float(smokes.mean())


@pytest.fixture
def naysay(capsys, tmp_path, monkeypatch):
    """Run one command on the survey's database, and give what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAYSAY_DB", f"sqlite:///{tmp_path}/naysay.db")

    def run(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        assert code == 0, told.err
        return told.out

    return run


@pytest.fixture
def office(tmp_path):
    """A server with admin pages, and its database."""
    store = Store(tmp_path / "naysay.db")
    Account(store).set_password(PASSWORD)
    with running(create_app(store=store, each=0, everybody=0, admin=True)) as address:
        yield address
    store.dispose()


def shares(table):
    """The first and the second column of a table on a page."""
    rows = table.locator("tbody tr").all()
    return {row.locator("th").text_content().strip(): row.locator("td").first.text_content().strip() for row in rows}


@pytest.mark.slow
def test_a_survey_is_fielded_watched_exported_and_forgotten(whole_browser, office, naysay, tmp_path, until):
    context = whole_browser.new_context(accept_downloads=True, locale="en-US")
    admin = context.new_page()
    admin.set_default_timeout(30_000)

    # The researcher uploads and opens.
    (tmp_path / "field.json").write_bytes(field().to_json())
    admin.goto(f"{office}/admin/login")
    admin.get_by_label("Password").fill(PASSWORD)
    admin.get_by_role("button", name="Log in").click()
    admin.locator("#questionnaire").set_input_files(tmp_path / "field.json")
    admin.locator("form[action='/admin/upload'] button").click()
    admin.get_by_role("button", name="Open the survey now").click()
    admin.get_by_role("heading", name="The link for respondents").wait_for()

    # They invite: the links are theirs alone.
    naysay("survey", "invite", "field", "--count", BY_SCRIPT + 3, "--at", office, "--to", "links.csv")
    links = pl.read_csv("links.csv")["link"].to_list()
    until(lambda: b'"invitations"' in urlopen(f"{office}/s/field/survey.json").read())  # the server notices in a second

    # Three respondents answer in the browser, and two thousand by script.
    for link, answers in zip(links, THREE, strict=False):
        own = whole_browser.new_context(locale="en-US")
        own.set_default_timeout(30_000)
        person = Respondent(own.new_page(), link)
        person.start().to_review(answers, levels={"income": 1})
        person.confirm()
        assert SECRET in person.bodies()[0]
        assert person.problems == []
        own.close()
    truth, smoking = people()
    truth.write_csv("people.csv")
    pl.DataFrame({"link": links[3:]}).write_csv("rest.csv")
    link = f"{office}/s/field"
    naysay("respond", link, "people.csv", "--invitations", "rest.csv")
    told = naysay("survey", "invite", "field")
    assert re.findall(r"[\d,]+", told).count(f"{BY_SCRIPT + 3:,}") == 3  # invited, have begun, have answered

    # What is shown is what the command line computes; where it falls below 0, the nearest possible shares.
    estimates = {}
    for column in ("smoking", "income", "area"):
        printed = naysay("estimate", "--survey", "field", "--response", column, "--format", "json")
        estimates[column] = json.loads(printed)
    [shared] = re.findall(r"/results/\S+", naysay("survey", "share", "field"))
    for path in ("/admin/surveys/field/results", shared):  # the researcher's own page, and the one for others
        admin.goto(f"{office}{path}")
        assert f"{BY_SCRIPT + 3:,}" in admin.locator("body").text_content()
        tables = [shares(table) for table in admin.locator("table").all()]
        for column, printed in estimates.items():
            percent = [f"{100 * share:.0f}" for share in projected(printed["proportions"])]
            assert percent in [[*found.values()] for found in tables], (path, column, percent, tables)
    fit = estimates["smoking"]
    assert fit["categories"] == ["yes", "no"]
    assert abs(fit["proportions"][0] - smoking) < 4.5 * fit["standard_errors"][0]

    # The export, downloaded from the page, reads back with labels; estimates and a regression come out of it.
    admin.goto(f"{office}/admin/surveys/field")
    admin.locator("#format").select_option(".sav")
    with admin.expect_download() as downloading:
        admin.get_by_role("button", name="Download", exact=True).click()
    with zipfile.ZipFile(io.BytesIO(downloading.value.path().read_bytes())) as packed:
        packed.extractall(tmp_path)
        [data] = [name for name in packed.namelist() if name.endswith(".sav")]
    frame, meta = pyreadstat.read_sav(tmp_path / data)
    assert len(frame) == BY_SCRIPT + 3
    assert meta.column_names_to_labels["smoking"] == "After randomization: Do you smoke?"
    labels = set(meta.variable_value_labels["smoking"].values())
    assert labels == {"Yes (after randomization)", "No (after randomization)"}
    again = json.loads(naysay("estimate", data, "--response", "smoking", "--format", "json", "--codes"))
    assert again["proportions"] == pytest.approx(fit["proportions"])
    model = naysay(
        "regress", "smoking ~ age", data, "--design", "warner(p=0.7)", "--categories", "Yes,No", "--format", "json"
    )
    [slope] = [each for each in json.loads(model)["coefficients"] if each["term"] == "age"]
    assert abs(slope["estimate"] - 0.04) < 4.5 * slope["standard_error"]

    # Closed, deleted, and gone.
    admin.goto(f"{office}/admin/surveys/field")
    admin.get_by_role("button", name="Close the survey now").click()
    admin.get_by_role("button", name="Take answers again").wait_for()
    before = (tmp_path / "naysay.db").read_bytes()
    assert SECRET.encode() in before
    admin.get_by_label("Type “field” to confirm").fill("field")
    admin.get_by_role("button", name="Delete for good").click()
    admin.get_by_role("heading", name="Receipts of deleted surveys").wait_for()
    left = b"".join(path.read_bytes() for path in tmp_path.glob("naysay.db*"))
    for text in (SECRET, '"response"', "to_3000", "below_1000"):
        assert text.encode() not in left
    context.close()
