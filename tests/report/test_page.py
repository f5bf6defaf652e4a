import html
import importlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from naysay import designs, estimate, report, show
from naysay.errors import DataError
from naysay.estimate.fit import shares_finding
from naysay.estimate.intervals import nuisance_intervals
from naysay.estimate.page import typeset

VOID = {"meta", "br", "img", "link", "hr", "input"}


class Reader(HTMLParser):
    """Reads a page strictly: what is opened is closed, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.cells, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and {"td", "th"} & set(self.open):
            self.cells[-1] += data


def loads_nothing(text):
    """Whether a page asks nobody for anything."""
    reader = Reader(text)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(reader.tags)
    addressed = [value for _, name, value in reader.attributes if name in ("src", "href", "srcset", "xlink:href")]
    assert all(value.startswith("#") for value in addressed)
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    return not re.search(r"url\(|@import", text)


@pytest.fixture(scope="module")
def page(difficult):
    return report.estimate_html(difficult, truth=np.full(8, 1 / 8))


@pytest.fixture(scope="module")
def simple():
    survey = designs.negative(("a", "b", "c", "d"))
    return estimate.moments(survey, survey.tally(count=[280, 240, 260, 220]))


def test_a_page_is_well_formed_and_loads_nothing(page):
    assert loads_nothing(page)


def test_a_page_has_one_title_a_language_and_a_width_for_phones(page):
    reader = Reader(page)
    assert reader.tags.count("h1") == 1
    assert ("html", "lang", "en") in reader.attributes
    assert ("meta", "name", "viewport") in reader.attributes


def test_what_users_wrote_is_text(page):
    assert "<script" not in page.lower()
    assert "<i>كم" not in page
    assert "{{ this }}" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_every_label_finds_its_own_direction(page, difficult):
    directed = re.findall(r'<th scope="row"><bdi dir="auto">', page)
    assert len(directed) == len(difficult.categories) + len(difficult.privacy)


def test_every_label_stands_there_in_full(page, difficult):
    assert {label.strip() for label in difficult.categories} <= set(Reader(page).cells)


def test_the_numbers_are_those_of_the_estimate(page, difficult):
    cells = [cell.replace("−", "-") for cell in Reader(page).cells]
    bounds = difficult.interval()
    for place, label in enumerate(difficult.categories):
        row = cells[cells.index(label.strip()) :][:10]
        assert row[1] == "12.5"
        assert row[2] == f"{100 * difficult.proportions[place]:.1f}"
        assert row[3] == f"{100 * difficult.standard_errors[place]:.1f}"
        assert row[4] == f"{100 * bounds[place, 0]:.1f} to {100 * bounds[place, 1]:.1f}"
        assert row[5] == ("yes" if bounds[place, 0] <= 1 / 8 <= bounds[place, 1] else "no")
        assert row[6] == f"{100 * difficult.comparison.pooled.proportions[place]:.1f}"
        assert row[8] == f"{100 * difficult.comparison.difference[place]:.1f}"
        assert row[9] == f"{100 * difficult.comparison.standard_errors[place]:.1f}"


def test_difficult_labels_print_in_the_terminal_as_they_are(difficult):
    told = str(difficult)
    assert "[/red] & \"quoted\" 'so' {{ this }}" in told
    assert "לעתים קרובות 50-74" in told
    assert max(map(len, told.splitlines()[5:14])) <= 120


def test_the_confidence_is_the_one_asked_for(simple):
    cells = Reader(report.estimate_html(simple, confidence=0.9)).cells
    low, high = simple.interval(0.9)[0]
    assert "90 % interval" in cells
    assert f"{100 * low:.1f} to {100 * high:.1f}" in cells


def test_levels_bring_the_test_and_a_line_of_privacy_each(page, difficult):
    assert str(difficult.comparison.test)[1:] in page
    assert [f"{left} of 8" in page for left in range(1, 8)] == [True] * 7
    assert "this reveals your answer" in page


def test_one_design_brings_neither_levels_nor_pooled(simple):
    page = report.estimate_html(simple)
    assert loads_nothing(page)
    assert "pooled" not in Reader(page).cells
    assert "3 of 4" in page
    assert "16.0" in Reader(page).cells


def test_an_iteration_brings_its_path():
    survey = designs.negative(("a", "b", "c", "d"))
    fit = estimate.nstops_i(survey, survey.tally(count=[280, 240, 260, 220]))
    assert "Convergence" in report.estimate_html(fit)


def test_reservations_stand_below_the_numbers():
    choice = designs.negative_levels(("a", "b", "c", "d"))
    fit = estimate.stratified(choice, choice.tally(["a", "b", "c", "d"] * 20, level=[1] * 80))
    assert "nobody chose level 2, 3" in report.estimate_html(fit)


@pytest.fixture(scope="module")
def lies():
    survey = designs.stochastic_lie_detector(p=("2/12", "10/12"), categories=("<b>yes</b>", "לא"))
    said = ["<b>yes</b>", "לא"] * 2
    return estimate.maximum_likelihood(survey, survey.tally(said, sample=[1, 1, 2, 2], count=[373, 191, 398, 294]))


def rests_on(page):
    """What stands under "What the estimate rests on", line by line."""
    listed = re.search(r'What the estimate rests on</h3>\s*<ul class="notes">(.*?)</ul>', page, re.DOTALL)
    return [html.unescape(line) for line in re.findall(r'<li><bdi dir="auto">(.*?)</bdi></li>', listed[1])]


def test_nuisance_parameters_stand_below_the_categories(lies):
    page = report.estimate_html(lies)
    cells = Reader(page).cells
    row = cells[cells.index("truth-tellers") :][:4]
    low, high = nuisance_intervals(lies)["truth-tellers"]
    assert row == ["truth-tellers", "63.6", "1.7", f"{100 * low:.1f} to {100 * high:.1f}"]
    assert cells.index("truth-tellers") > cells.index("לא")
    assert loads_nothing(page)
    assert "Below the line" in page


def test_samples_are_called_samples_and_bits_are_those_of_the_sensitive_category(lies):
    cells = Reader(report.estimate_html(lies)).cells
    assert "sample" in cells
    assert "level" not in cells
    assert "bits, of 1.00" in cells
    assert cells.count("2 of 2") == 2


def test_what_the_estimate_rests_on_is_what_the_terminal_says(lies):
    for fit in (lies, crosswise()):
        page, said = report.estimate_html(fit), estimate.result.checks(fit, estimate.PrintOptions(percent=True))
        assert [line.lower() for line in rests_on(page)] == [typeset(line).lower() for line in said]


def crosswise():
    survey = designs.extended_crosswise(prevalence=0.2, between=(0.18, 0.22))
    said = survey.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=[173, 191, 198, 294])
    return estimate.maximum_likelihood(survey, said)


def test_samples_bring_fit_and_bands(lies):
    told = "\n".join(rests_on(report.estimate_html(crosswise())))
    for part in (
        "by sample (s.e.): 1 54.1 % (4.4 %)",
        "Fit: Pearson X² = 12.62",
        "If up to 10 of 100",
        "Over the stated range",
    ):
        assert part in told
    assert "“yes” from 41.9 % to 42.9 % (around the estimate" in told
    assert "If up to 20 of 100" in report.estimate_html(crosswise(), noncompliance=0.2)
    assert "Assumes: everybody outside the sensitive category is honest" in "\n".join(
        rests_on(report.estimate_html(lies))
    )


def test_at_the_boundary_the_unbounded_estimate_stands_beside():
    survey = designs.forced_response(forced_yes="1/6", forced_no="1/12")
    fit = estimate.maximum_likelihood(survey, survey.tally(count=[248, 1278]))
    cells = Reader(report.estimate_html(fit)).cells
    row = cells[cells.index("yes") :][:6]
    assert row[2] == "–", "the standard error at the boundary is unreliable"
    assert (row[0], row[1], row[4], row[5]) == ("yes", "0.0", "−0.6", "1.3")
    assert "moments, without bounds" in cells
    assert "moments, without bounds" not in Reader(report.estimate_html(crosswise())).cells


def test_truth_must_fit_the_categories(simple):
    with pytest.raises(DataError, match="4 categories"):
        report.estimate_html(simple, truth=(0.5, 0.5))


def test_sections_are_reached_from_the_top():
    page = report.html("t", [report.Section("one", "<p>1</p>"), report.Section("<two>", "<p>2</p>")])
    assert 'href="#section-2"' in page
    assert "&lt;two&gt;" in page
    assert loads_nothing(page)


def test_facts_and_footnotes_are_text():
    page = report.html("t", [], facts=[("<1>", "<of>")], footnotes=[("<a>", "<b>")], lead=["<c>"])
    assert not {"1", "of", "c"} & set(Reader(page).tags)
    assert loads_nothing(page)


@pytest.mark.parametrize("library", ["altair", "jinja2", "vl_convert"])
def test_a_missing_extra_is_named_with_the_way_to_get_it(simple, library, monkeypatch):
    without(library, monkeypatch)
    with pytest.raises(report.ExtraMissing, match=r"pip install 'naysay\[plots\]'"):
        report.estimate_html(simple)


def without(library, monkeypatch):
    """Let a library be missing."""
    found = importlib.import_module

    def missing(name, package=None):
        if name == library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)


def test_a_minus_is_the_same_sign_in_every_table_of_a_page_and_words_stay_as_they_are():
    columns = (show.Column("code", words=True), show.Column("error"), show.Column("label", words=True))
    page = show.html([show.Table(columns, (("-1", "-0.25", "-9"), ("two", "–", "a-b")))])
    assert Reader(page).cells[3:] == ["-1", "−0.25", "-9", "two", "–", "a-b"]


def test_the_finding_names_no_first_among_equals_and_its_ends_hold_for_all_that_may_be():
    design, held = designs.k_ary(tuple(f"c{place}" for place in range(40)), epsilon=3), 0
    rng, chances = np.random.default_rng(5), np.asarray(design.matrix) @ np.full(40, 1 / 40)
    for _ in range(40):  # the interval of the largest share alone held in 28 of 100
        fit = estimate.moments(design, design.tally(count=rng.multinomial(1600, chances / chances.sum()).tolist()))
        found = shares_finding(design.categories, fit.proportions, np.asarray(fit.intervals(0.95).bounds))
        low, high = map(int, re.findall(r"between (\d+) and (\d+)", found)[0])
        held += found.startswith("No clear first") and low <= 2.5 <= high
    assert held >= 38


def test_the_finding_is_the_share_of_the_table_where_another_share_is_below_0():
    survey = designs.negative(("a", "b", "c", "d"))
    page = report.estimate_html(estimate.moments(survey, survey.tally(count=[600, 200, 150, 50])))
    assert "“d”: about 85 in 100, between 80 and 89" in html.unescape(page)


def test_a_finding_of_few_in_a_hundred_has_digits():
    found = shares_finding(("yes", "no"), (0.003, 0.997), np.array([[0.002, 0.004], [0.996, 0.998]]))
    assert found == "“yes”: about 0.3 in 100, between 0.2 and 0.4"


def test_of_many_categories_a_sentence_says_how_far_one_could_move_and_pages_tell_shares_in_percent():
    survey = designs.k_ary(40, epsilon=2)
    fit = estimate.moments(survey, survey.tally(count=np.r_[100, np.full(39, 40)]))
    [line] = [line for line in estimate.result.checks(fit) if line.startswith("if up to 10 of 100 did not comply")]
    band = fit.noncompliance()
    falls, rises = fit.proportions - band[:, 0], band[:, 1] - fit.proportions
    assert f"a share could be up to {falls.max():.3f} lower or {rises.max():.3f} higher; most of all “" in line
    assert len(line) < 250
    told = "\n".join(rests_on(report.estimate_html(fit)))
    assert f"up to {100 * falls.max():.1f} points lower or {100 * rises.max():.1f} points higher" in told
    assert not re.search(r"“ from 0\.|by 0\.\d|interval 0\.", told)
