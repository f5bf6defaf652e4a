import re
import xml.etree.ElementTree as ET

import pytest

from naysay import designs, planning, simulate
from naysay.errors import DataError
from naysay.planning import comparison as planning_charts
from naysay.planning.comparison import comparison_html
from naysay.show.finish import INKS
from naysay.simulate import result as simulation_charts
from naysay.simulate.result import simulation_html

SVG = "{http://www.w3.org/2000/svg}"
LABELS = ("never", "نادرًا (أقل من 25%)", "不想回答這個問題", "on and on, " * 18, "<script>alert(1)</script>")
PI = (0.3, 0.25, 0.2, 0.15, 0.1)
OFFER = [designs.warner(p=p) for p in (0.6, 0.7, 0.8, 0.9)]


@pytest.fixture(scope="module")
def compared():
    return planning.compare(OFFER, (0.1, 0.9), standard_error=0.02, liars=planning.Liars(0.4))


@pytest.fixture(scope="module")
def simulated():
    choice = designs.negative_levels(LABELS)
    names = ["stratified", "stratified_equal", "stratified_variance", "pooled"]
    return simulate.replicate(choice, PI, n=500, replicates=30, seed=1, estimators=names)


def drawn(compared, simulated):
    return [
        planning_charts.errors(compared),
        *(planning_charts.tradeoff(compared, measure=each) for each in planning_charts.MEASURES),
        *(simulation_charts.measure(simulated, each) for each in ("bias", "rmse", "coverage", "width")),
        simulation_charts.spread(simulated, "pooled"),
    ]


def points(svg):
    """Where the marks with words stand: {words: (x, y)}."""
    found = {}
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        told = path.find(f"{SVG}title")
        place = re.search(r"translate\(([\d.-]+),([\d.-]+)\)", path.get("transform", ""))
        if told is not None and place:
            found[told.text] = tuple(map(float, place.groups()))
    return found


def test_every_chart_speaks_for_itself_and_takes_the_inks_of_the_page(compared, simulated):
    for svg in drawn(compared, simulated):
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == root[0].text
        assert root[1].text
        plain = re.sub(r"var\([^)]*\)", "", svg)
        assert set(re.findall(r"#[0-9a-f]{6}\b", plain)) <= {light for light, _ in INKS.values()}
        assert "<script" not in svg


def test_a_tradeoff_stands_where_its_numbers_are(compared):
    found = points(planning_charts.tradeoff(compared, measure="epsilon"))
    assert len(found) == len(OFFER)
    options = compared.options[1:]
    xs = [next(x for told, (x, _) in found.items() if told.startswith(each.name)) for each in options]
    slopes = [
        (b - a) / (other.epsilon - each.epsilon)
        for a, b, each, other in zip(xs, xs[1:], options, options[1:], strict=False)
    ]
    assert slopes == pytest.approx([slopes[0]] * len(slopes), rel=0.01)


def test_labels_of_a_tradeoff_do_not_cover_each_other():
    close = planning.compare(
        {f"a design with {k} to name": designs.warner(p=0.7 + k / 1e4) for k in range(12)}, (0.1, 0.9)
    )
    places = [
        tuple(map(float, re.search(r"translate\(([\d.-]+),([\d.-]+)\)", text.get("transform")).groups()))
        for text in ET.fromstring(planning_charts.tradeoff(close)).iter(f"{SVG}text")
        if text.text and "design" in text.text
    ]
    assert len(places) == 12
    wide = 6 * len("a design with 0 to name")
    for i, (x, y) in enumerate(places):
        assert all(abs(x - other) > wide or abs(y - height) >= 14 for other, height in places[:i])


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((1.4, 9.9), [2, 3, 5, 7]),
        ((0.003, 0.8), [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
        ((10, 37_000), [10, 100, 1_000, 10_000]),
    ],
)
def test_logarithmic_axes_have_a_few_round_ticks(ends, ticks):
    assert planning_charts._ticks(*ends) == pytest.approx(ticks)


def test_the_direct_question_is_dashed_and_levels_off(compared):
    svg = planning_charts.errors(compared)
    assert "stroke-dasharray" in svg
    assert "direct(): 0.0407 with 1,000 respondents" in svg
    assert "warner(p=0.7): 0.0374 with 1,000 respondents, pays from 842 respondents" in svg


def test_coverage_stands_where_its_numbers_are(simulated):
    found = points(simulation_charts.measure(simulated, "coverage"))
    assert len(found) == 4 * len(LABELS)
    names = simulated.summaries
    for place in range(len(LABELS)):
        own = [(each.coverage.values[place], each.estimator) for each in names]
        for value, estimator in own:
            assert any(f"{estimator} {100 * value:.1f}\u00a0%" in told for told in found)


def test_estimators_differ_in_shape_or_color(simulated):
    marks = [
        (path.get("d"), path.get("fill"))
        for path in ET.fromstring(simulation_charts.measure(simulated, "rmse")).iter(f"{SVG}path")
        if path.find(f"{SVG}title") is not None and "translate" in path.get("transform", "")
    ]
    assert len(set(marks)) == 4


def test_the_pages_are_whole_and_safe(compared, simulated):
    for page in (comparison_html(compared), simulation_html(simulated)):
        assert page.startswith("<!doctype html>")
        assert "<script" not in page
        assert "http://" not in page.replace("http://www.w3.org", "")
    assert "842" in comparison_html(compared)
    assert "&lt;script&gt;" in simulation_html(simulated)


def test_a_page_of_one_design_has_no_tradeoff():
    page = comparison_html(planning.compare(OFFER[:1], (0.1, 0.9)))
    assert "Precision against privacy" not in page
    assert "Error and number of respondents" in page


def test_a_measure_that_is_infinite_everywhere_or_unknown():
    found = planning.compare([designs.negative(tuple("abc"))], (0.2, 0.3, 0.5), category="a")
    with pytest.raises(DataError, match="epsilon is infinite for all"):
        planning_charts.tradeoff(found, measure="epsilon")
    with pytest.raises(DataError, match="a trade-off is drawn against bits"):
        planning_charts.tradeoff(found, measure="privacy")


def test_unknown_measures_and_estimators(simulated):
    with pytest.raises(DataError, match="the measures are bias"):
        simulation_charts.measure(simulated, "variance")
    with pytest.raises(DataError, match="was not simulated"):
        simulation_charts.spread(simulated, "moments")
