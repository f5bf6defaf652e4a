"""The report for the board: its numbers are the JSON's, it names no value, and it stands alone."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from naysay import microdata
from naysay.errors import DataError
from naysay.microdata import charts as risk_charts
from naysay.microdata.combinations.search import everywhere
from naysay.microdata.report import risk_html
from naysay.show.finish import FILLS, INKS

PLANTED = ("Zwollezee", "Appelscha-Noord", "vuurtorenwachter", "klokkenluider", "19713", "19684", "<script>alert(7)")
NAMES = ("<b>town</b>", "job", "born", "sex")


def people(n=240, seed=2):
    rng = np.random.default_rng(seed)
    towns = [PLANTED[0], PLANTED[1], "Assen-Oost", PLANTED[6]]
    return {
        "<b>town</b>": [towns[place] if rng.random() > 0.1 else None for place in rng.integers(0, 4, n)],
        "job": [[PLANTED[2], PLANTED[3]] if rng.random() < 0.2 else f"baan-{place}" for place in rng.integers(0, 9, n)],
        "born": [None if rng.random() < 0.1 else 19_680 + int(year) for year in rng.integers(0, 40, n)],
        "sex": rng.choice(["manlijk", "vrouwlijk"], n).tolist(),
    }


@pytest.fixture(scope="module")
def parts():
    table = people()
    keys = microdata.Keys(table, NAMES, missing={"born": "category"})
    asked = [NAMES[:2], NAMES[1:], NAMES]
    risk = microdata.risk_table(table, asked, population=50_000, missing={"born": "category"})
    tried = [
        [microdata.identification(row, name, attempt=0.25) for name in ("acquaintance", "register")]
        for row in risk.quasi_identifiers
    ]
    search = microdata.search(keys, size=3, population=50_000)
    return {
        "found": risk,
        "keys": keys,
        "identifications": tried,
        "search": search,
        "contributions": microdata.contributions(search),
        "recodings": microdata.recodings(keys.only(search.combinations[0].keys)),
    }


def page_of(parts, **changes):
    parts = parts | changes
    return risk_html(parts["found"], **{name: value for name, value in parts.items() if name != "found"})


@pytest.fixture(scope="module")
def page(parts):
    return page_of(parts)


class Read(HTMLParser):
    """The tables of a page, by caption, and all its text."""

    def __init__(self):
        super().__init__()
        self.tables, self.caption, self.text, self._cell = {}, None, [], None

    def handle_starttag(self, tag, attrs):
        if tag == "caption":
            self.caption = ""
        elif tag == "tr":
            self.tables[self.caption].append([])
        elif tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[self.caption] = []
        elif tag in ("td", "th"):
            self.tables[self.caption][-1].append(self._cell)
            self._cell = None
        elif tag == "table":
            self.caption = None

    def handle_data(self, data):
        self.text.append(data)
        if self._cell is not None:
            self._cell += data
        elif self.caption is not None and self.caption not in self.tables:
            self.caption += data


def tables(page):
    reader = Read()
    reader.feed(page)
    return reader.tables


def share(value, digits=2):
    return "–" if value is None else f"{100 * value:.{digits}f}\u00a0%"


def test_the_tables_are_those_of_the_json(parts, page):
    found = parts["found"].to_dict()["quasi_identifiers"]
    shown = tables(page)
    kept = shown["People with the same keys (k), those with a gap set aside"][1:]
    every = shown["People who may be the same (m), gaps allowed for"][1:]
    success = shown["How often an attempt succeeds"][1:]
    assert len(kept) == len(every) == len(success) == 3
    for row, k, m, hit in zip(found, kept, every, success, strict=True):
        one, two = row["listwise"], row["matches"]
        counts = [f"{one[name]:,}" for name in ("deleted", "kept", "k1", "k_lt_5", "k_lt_10")]
        shares = [share(one[name]) for name in ("pr_su_kept", "pr_su_all", "prosecutor_mean")]
        assert k[1:] == [*counts, *shares, share(None if one["theta_withheld"] else one["theta"], 3)]
        counts = [f"{two[name]:,}" for name in ("records", "m1", "m_lt_5", "m_lt_10")]
        shares = [share(two[name]) for name in ("pr_su", "prosecutor_mean")]
        low, high = (share(two[name]) for name in ("informed_least", "informed_most"))
        pick = low if low == high else f"{low} to {high}"
        assert m[1:] == [*counts, *shares, pick, share(None if two["theta_withheld"] else two["theta"], 3)]
        assert hit[1] == pick
        assert k[0] == m[0] == hit[0]
        assert k[0].startswith(" + ".join(row["keys"]))


def test_the_combinations_contributions_and_recodings_are_those_of_the_json(parts, page):
    shown = tables(page)
    search = parts["search"].to_dict()
    rows = shown[f"The {search['finished']} most dangerous"][1:]
    for place, (row, each) in enumerate(zip(rows, search["combinations"], strict=True), start=1):
        one, two = each["listwise"], each["matches"]
        assert row == [
            f"{place}. {' + '.join(each['keys'])}",
            *(f"{two[name]:,}" for name in ("m1", "m_lt_5")),
            *(share(each) for each in (two["pr_su"], one["informed_exact"])),
            share(None if two["theta_withheld"] else two["theta"], 3),
            *(f"{one[name]:,}" for name in ("deleted", "k1", "k_lt_5")),
            share(one["pr_su_all"]),
            share(None if one["theta_withheld"] else one["theta"], 3),
        ]
    told = parts["contributions"].to_dict()["keys"]
    rows = shown["Added to the share of people who stand out"][1:]
    assert rows == [[each["key"], *(share(each[name]) for name in ("alone", "last", "averaged"))] for each in told]
    recodings = parts["recodings"].to_dict()["recodings"]
    told = [each for place, each in enumerate(recodings) if place < 25 or each["free"]]
    rows = shown["One change at a time, those that help most first"][1:]
    assert rows == [
        [
            f"{each['key']}: {each['told']}",
            f"{each['values_before']:,}",
            f"{each['values_after']:,}" if each["values_after"] else "–",
            f"{each['after']['matches']['m1']:,}",
            f"{each['after']['listwise']['k1']:,}",
            f"{each['bought']:,}",
            f"{share(each['lost'], 1)}{', free' if each['free'] else ''}",
        ]
        for each in told
    ]
    judged = shown["With the probability that somebody tries, as it was judged"][1:]
    first = parts["identifications"][0][0]
    shown = [(first.success, first.most, 2), (first.probability, first.highest, 4)]
    assert first.most > first.success
    assert judged[0][1:] == ["0.25", *(f"{share(low, places)} to {share(high, places)}" for low, high, places in shown)]
    assert len(judged) == 6


def test_what_is_missing_and_uncertain_is_counted(parts, page):
    rows = {row[0]: row for row in tables(page)["The keys"][1:]}
    table = people()
    assert rows["born"][1] == "an answer of its own: it fits only others without one"
    assert rows["<b>town</b>"][3] == f"{table['<b>town</b>'].count(None)}"
    assert rows["job"][4] == f"{sum(isinstance(cell, list) for cell in table['job'])}"
    assert "least over them" in page


def test_no_value_of_a_respondent_is_in_it(parts, page):
    values = {
        str(each) for cells in people().values() for cell in cells for each in np.atleast_1d(np.array(cell)).tolist()
    }
    values -= {"None"}
    assert set(PLANTED) & values
    text = re.sub(r"[\d.,]+", lambda number: number[0].replace(",", ""), page)
    for value in values:
        assert value not in page
        assert not re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.])", text)
    assert "alert(7)" not in page


def test_it_stands_alone_and_escapes_what_users_wrote(page):
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    assert "<script" not in page
    assert "<b>town" not in page
    assert "&lt;b&gt;town&lt;/b&gt;" in page
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", page)
    for image in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        assert ET.fromstring(image).get("role") == "img"


def test_sections_are_left_out_where_nothing_was_asked(parts):
    plain = risk_html(parts["found"])
    headings = re.findall(r'<h2 id="heading-\d+"><bdi dir="auto">(.*?)</bdi>', plain)
    assert headings == [
        "In short",
        "What is assumed about the intruder",
        "Who stands out",
        "Missing and uncertain answers",
        "What these numbers do not say",
    ]
    assert "The keys" not in tables(plain)
    assert "as it was judged" not in plain


def test_a_search_by_k_says_who_is_alone_and_without_a_population_nothing_of_theta(parts):
    search = microdata.search(parts["keys"], size=2, measure="anonymity")
    worst = parts["keys"].only(search.combinations[0].keys)
    recoded = microdata.recodings(worst, measure="anonymity")
    page = page_of(parts, search=search, contributions=microdata.contributions(search), recodings=recoded)
    alone = search.combinations[0].k.unique
    assert f"{alone:,} of {search.n:,} people ({share(alone / search.n)}) are alone (k\u00a0=\u00a01) on it" in page
    assert "how many fewer would be alone (k\u00a0=\u00a01) on all keys" in page
    shown = tables(page)
    assert shown["By the number of keys"][0][2] == "worst: are alone (k = 1)"
    assert [int(row[-2].replace(",", "")) for row in shown["One change at a time, those that help most first"][1:]] == [
        recoded.bought(each) for place, each in enumerate(recoded.recodings) if place < 25 or recoded.is_free(each)
    ]
    assert not any("θ" in name for name in shown[f"The {len(search.combinations)} most dangerous"][0])


def test_an_unfinished_search_says_so(parts):
    part = microdata.search(parts["keys"], size=3, most=5)
    text = page_of(parts, search=part, contributions=microdata.contributions(part), recodings=None)
    assert text.count("9 of 14 combinations were not counted (as many as were asked for)") == 2
    none = microdata.search(parts["keys"], size=3, minutes=1e-9)
    text = page_of(parts, search=none, contributions=None, recodings=None)
    assert "The most dangerous combinations" not in text
    with pytest.raises(DataError, match="has finished no combination"):
        risk_charts.growth(none)


def test_the_ranking_names_every_key_and_its_legend_fits_a_phone():
    names = [f"quite a long key {place}" for place in range(6)]
    rng = np.random.default_rng(3)
    keys = microdata.Keys({name: rng.integers(0, 4, 60).tolist() for name in names}, names)
    phone = risk_charts.ranking(microdata.search(keys, size=6), size=340, room=17)
    assert "…" not in phone
    first, second = (phone.index(text) for text in ("alone (k = 1)</text>", "stand out (m = 1)</text>"))
    assert 'translate(0,16)"' in phone[first:second]


def test_every_class_has_a_line_of_the_legend_on_a_phone(parts):
    phone = risk_charts.alone(parts["found"], size=340, room=17)
    places = [phone.index(f"{name}</text>") for name in risk_charts.CLASSES.values()]
    lines = [re.search(r'"translate\(0,(\d+)', phone[start:stop])[1] for start, stop in pairwise(places)]
    assert len({*lines}) == 4


@pytest.mark.parametrize(("alone", "top"), [(0, "1%"), (1, "0.05%"), (7, "0.35%"), (90, "4.5%"), (400, "20%")])
def test_the_axis_of_the_curve_ends_near_its_largest_value(alone, top):
    cells = [*range(alone), *[-1] * (2_000 - alone)]
    svg = risk_charts.growth(microdata.search(microdata.Keys({"a": cells}, ["a"]), size=1))
    ticks = [float(share) for share in re.findall(r">([\d.]+)\u00a0%</text>", svg)]
    assert len(ticks) == len({*ticks}) >= 4
    assert float(top[:-1]) <= max(ticks) * 1.2
    assert max(ticks) <= float(top[:-1]) * 1.2


def test_the_headline_on_recodings_speaks_of_all_combinations_that_were_searched(parts, page):
    search, told = parts["search"], parts["recodings"]
    best = told.best
    again = microdata.search(search.keys.merged(best.key, best.into), size=3)
    worst = everywhere(search, told)
    assert worst.m.unique == again.combinations[0].m.unique
    text = page_of(parts, recodings=replace(told, worst=worst))
    assert f"{best.after.m.unique:,} people would stand out on these keys instead of {told.before.m.unique:,}." in text
    then = f"worst: {worst.m.unique:,} people would stand out on it."
    assert f"Of all {len(search.combinations)} combinations that were counted," in text
    assert then in text
    assert "That is about this combination alone; the others were not counted again." in page
    assert everywhere(search, told, most=0) is None


def drawn(parts):
    return {
        "alone": risk_charts.alone(parts["found"]),
        "phone": risk_charts.alone(parts["found"], size=340, room=17),
        "growth": risk_charts.growth(parts["search"]),
        "ranking": risk_charts.ranking(parts["search"]),
        "added": risk_charts.added(parts["contributions"]),
    }


def test_every_chart_speaks_for_itself_and_takes_the_inks_of_the_page(parts):
    for svg in drawn(parts).values():
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == root[0].text
        assert root[1].text
        plain = re.sub(r"var\([^)]*\)", "", svg)
        assert set(re.findall(r"#[0-9a-f]{6}\b", plain)) <= {light for light, _ in (INKS | FILLS).values()}


def test_the_charts_tell_the_numbers(parts):
    charts = drawn(parts)
    n, told = parts["found"].n, {name: ET.fromstring(svg)[1].text for name, svg in charts.items()}
    for row in parts["found"].quasi_identifiers:
        if row.matches.sizes.unique:
            assert f"{row.matches.sizes.unique} of {n} alone" in told["alone"]
        few = row.listwise.sizes.below_5 - row.listwise.sizes.unique
        assert not few or f"k: {few} of {n} with 1 to 3 others" in told["alone"]
        assert not row.listwise.deleted or f"k: {row.listwise.deleted} of {n} left out" in told["alone"]
    worst = [parts["search"].of(size)[0].m.unique / n for size in (1, 2, 3)]
    assert told["growth"].startswith(f"1 key: {100 * worst[0]:.2f}\u00a0% on the worst combination")
    assert f"3 keys: {100 * worst[2]:.2f}\u00a0% on the worst combination" in told["growth"]
    best = parts["search"].combinations[0]
    assert f"stand out (m = 1) {100 * best.m.unique / n:.1f}\u00a0%" in told["ranking"]
    first = parts["contributions"].keys[0]
    assert f"on average {100 * first.averaged:.1f}\u00a0%" in told["added"]


def test_the_bars_are_as_long_as_their_shares(parts):
    root = ET.fromstring(risk_charts.alone(parts["found"]))
    widths = {}
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        title = path.find("{http://www.w3.org/2000/svg}title")
        shape = re.match(r"M([\d.]+),([\d.]+)h(-?[\d.]+)v", path.get("d", ""))
        if title is not None and shape:
            count = int(re.search(r": ([\d,]+) of", title.text)[1].replace(",", ""))
            widths[title.text] = (count, float(shape[3]))
    assert len(widths) > 6
    ratios = [width / count for count, width in widths.values()]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=0.02)


def test_areas_grow_paler_from_who_is_alone_to_who_is_not_and_stand_apart_in_gray():
    def gray(color):
        red, green, blue = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2

    light, dark = zip(*(FILLS[role] for role in ("alone", "few", "some", "many")), strict=True)
    assert np.all(np.diff([gray(color) for color in light]) > 0.05)
    assert np.all(np.diff([gray(color) for color in dark[:3]]) < -0.05)
    assert set(FILLS) == set(risk_charts.CLASSES)
    assert not set(FILLS) & set(INKS)


def test_respondents_are_they(page):
    assert "find their record" in page
    assert "that they took part" in page
    assert "her record" not in page
