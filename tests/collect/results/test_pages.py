"""Pages of results: their numbers are the command's, and everybody can read them, on any screen and on paper."""

import datetime
import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from naysay import estimate
from naysay.collect import Client, Published, results
from naysay.collect.app import create_app
from naysay.collect.questionnaire import sample
from naysay.collect.results import sharing
from naysay.collect.results.answered import gathered, of_database
from naysay.collect.results.fragments import _bins, _spread, section
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.estimate import PrintOptions
from tests.collect.replying import fill

FILES = {"survey.html": b"<!doctype html>"}
AREAS = ("In a city", "In a small town", "In the countryside")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    store = Store(folder / "naysay.db")
    published = Published.of(sample(), client=Client(FILES))
    store.open(published)
    for day in (3, 4, 6):
        fill(store, published, 200, seed=day, day=datetime.date(2026, 11, day))
    yield store, folder
    store.dispose()


def command(naysay, folder, *words):
    code, out, err = naysay("estimate", "--survey", "sample", "--data", folder, "--format", "json", *words)
    assert code == 0, err
    return json.loads(out)


def test_the_numbers_are_those_of_the_command(filled, naysay):
    store, folder = filled
    told = results.aggregates(store, "sample")
    found = {each["column"]: each["result"] for each in told["questions"] if each["kind"] == "private"}
    for each in command(naysay, folder)["questions"]:
        assert found.pop(each.pop("question")) | {"question": None} == each | {"question": None}
    assert not found
    for column in ("area", "age", "news/paper"):
        [plain] = [each["result"] for each in told["questions"] if each["column"] == column]
        assert plain == command(naysay, folder, "--response", column)
    grouped = results.aggregates(store, "sample", by="area")
    [smoking] = [each for each in grouped["questions"] if each["column"] == "smoking"]
    asked = command(naysay, folder, "--response", "smoking", "--by", "area")
    assert smoking["groups"] == asked["groups"]


def test_every_finding_states_a_share_within_its_interval(filled):
    """And a warning that holds for all stands once; what the numbers rest on is one tap away."""
    store, _ = filled
    page = html.unescape(results.page(store, "sample"))
    said = of_database(store.replies("sample"), names=False, language=None)
    findings = re.findall(r'<h2 id="finding-\d+"><bdi dir="auto">(.*?)</bdi></h2>', page)
    assert len(findings) == len({*said.private, *said.plain})
    for heading in findings:
        numbers = [float(number) for number in re.findall(r"(?<![\w.,])\d[\d,.]*\d|\b\d\b", heading.rpartition("”")[2])]
        assert "between" in heading, heading
        assert len(numbers) == 2 or numbers[1] <= numbers[0] <= numbers[2] or "in 100" in heading, heading
    for column in said.private:
        [fit] = said.estimates(column).values()
        shares, bounds = fit.projected().shares, fit.intervals(0.95).bounds
        for share, (low, high) in zip(shares, bounds, strict=True):
            row = [f"{round(100 * value) + 0:.0f}" for value in (min(max(share, low), high), low, high)]
            assert "".join(f"<td>{cell}</td>" for cell in row) in page
    assert page.count("Anyone who has the link can answer any number of times") == 1
    assert "anyone who has the link" not in page
    assert page.count("pooled maximum likelihood</span>") >= 2
    assert "where the share could be if up to 10 % of people did not comply" in page
    assert "1 %: 1.75 points, 5 %: 8.75 points" in page
    assert "Answers per day and level" in page
    assert "3 Nov: 200" in page
    assert re.search("3 November 2026 to 6 November 2026; \\d+ answers; 95 % intervals. People sent only answers", page)
    assert "“Cannabis”: " in page
    assert "agresti_coull" not in page
    assert "Wie alt sind Sie?" in results.page(store, "sample", language="de")


def test_what_is_shown_is_in_words(filled):
    """No reference to another answer, no name of a column, no code of a box, no minus nought."""
    store, _ = filled
    page = results.page(store, "sample")
    words = html.unescape(re.sub(r"<[^>]+>", " ", page))
    for slip in ("${", "maximum_likelihood", "-0.000", "household_size"):
        assert slip not in words
    assert not re.search(r"\d%", words)
    assert not re.search(r"(?<!\w)-\d", words)


def test_an_unbiased_share_below_nought_is_one_tap_away(store):
    """The picture shows the nearest possible share; the sentence says why, and the unbiased one stands there."""
    published = Published.of(sample(), client=Client(FILES))
    store.open(published)
    fill(store, published, 40, seed=3)
    answered = of_database(store.replies("sample"), names=False, language=None)
    [result] = [result for result in gathered(answered, options=PrintOptions()) if result.entry.column == "party"]
    fit = estimate.moments(result.whole.design, result.whole.tally)
    assert min(fit.proportions) < 0
    body = section(answered, replace(result, whole=fit), by=None, least=1, options=PrintOptions(), survey="S").body
    assert "Why 0 and not −" in body
    assert body.index("<td>0</td>") < body.index("<details>") < body.index("Chance takes away")


def test_the_page_of_a_survey_that_nobody_answered_says_so(store):
    store.open(Published.of(sample(), client=Client(FILES)))
    page = results.page(store, "sample")
    assert "Nobody has answered yet." in page
    assert results.aggregates(store, "sample")["replies"] == 0


def test_of_one_reply_no_mean_has_an_interval(store):
    published = Published.of(sample(), client=Client(FILES))
    store.open(published)
    fill(store, published, 1, seed=3)
    page = results.page(store, "sample")
    assert "of too few answers for an interval" in page
    assert not re.search(r"\bnan\b", page)


def test_texts_of_a_questionnaire_are_escaped(store):
    hostile = "<img src=x onerror=alert(1)>"
    form = json.loads(json.dumps(sample().form()).replace("In a city", hostile).replace("Do you smoke?", hostile))
    published = Published.of(type(sample()).model_validate(form), client=Client(FILES))
    store.open(published)
    fill(store, published, 60, seed=1)
    sharing.share(store, "sample", by="area")
    for page in (results.page(store, "sample", by="area"), sharing.shared_page(store, "sample")):
        assert "<img" not in page
        assert "&lt;img" in page


@pytest.mark.slow
def test_everybody_can_read_them(filled, browser):
    """axe, nothing beyond the edge, nothing that the content policy blocks; in light and dark, and on paper."""
    store, _ = filled
    path = sharing.share(store, "sample", by="area")
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    with background(create_app([], store, client=Client(FILES))) as server:
        page.goto(f"{server}{path}", timeout=60_000)
        assert [each for each in complaints if "404" not in each] == []  # a browser asks for an icon
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert all(page.get_by_role("heading", name=f"Where do you live? {area}").count() > 5 for area in AREAS)
        track, mark = page.locator(".quick .row svg").first, page.locator(".quick .mark.estimate").first
        page.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("details").first.get_attribute("open") is not None
        for width, scheme, ink in ((390, "dark", "rgb(86, 180, 233)"), (1280, "light", "rgb(0, 114, 178)")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            assert mark.evaluate("each => getComputedStyle(each).fill") == ink
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            whole, point = track.bounding_box(), mark.bounding_box()
            assert whole["x"] <= point["x"] + point["width"] / 2 <= whole["x"] + whole["width"]
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.querySelector('.results')).color") == "rgb(28, 32, 36)"
    context.close()


@pytest.mark.parametrize(
    ("values", "counts", "least", "names", "sums"),
    [
        ([18, 25, 33, 41, 110], [5, 30, 40, 25, 1], 20, ["< 30", "30–", "≥ 40"], [35, 40, 26]),
        ([1, 2, 3], [30, 1, 30], 20, ["1", "2", "3"], [30, 1, 30]),
        ([7.25], [3], 0, ["7.2–"], [3]),
        ([0.001, 0.5], [1, 1], 20, ["< 0.55"], [2]),
    ],
)
def test_ranges_of_numbers_are_round_and_their_ends_hold_enough_people(values, counts, least, names, sums):
    assert _bins(np.array(values, dtype=float), np.array(counts, dtype=float), least) == (names, sums)


def test_days_without_replies_are_there_and_long_surveys_are_told_by_week():
    first = datetime.date(2026, 1, 5)
    names, counts = _spread({first: 3, first + datetime.timedelta(days=3): 4})
    assert (names, counts) == (["5 Jan", "6 Jan", "7 Jan", "8 Jan"], [3, 0, 0, 4])
    names, counts = _spread({first + datetime.timedelta(days=day): 1 for day in range(140)})
    assert (len(names), set(counts)) == (20, {7})
