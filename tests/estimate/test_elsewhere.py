"""Reports that others aggregated: their numbers become tallies, and their estimates are ours."""

import json
from pathlib import Path

import numpy as np
import pytest

from naysay import Design, designs, estimate
from naysay.errors import DataError
from naysay.tally import counts_of_points

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "tests" / "reference"
PEERS = json.loads((REFERENCE / "peers.json").read_text(encoding="utf-8"))
PRIO3 = json.loads((REFERENCE / "prio3.json").read_text(encoding="utf-8"))
FIELD128 = 2**66 * (2**62 - 7) + 1
SHOWN = ("how-to/migration.md", "reference/peers.md", "how-to/prio3.md")
PAGES = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in SHOWN}


def tallied(design, each):
    return design.tally(count=each["counts"]) if "counts" in each else design.tally_of_sums(each["named"], n=each["n"])


@pytest.mark.parametrize("each", PEERS, ids=lambda each: each["client"])
def test_reports_of_other_packages_give_their_estimates(each):
    """Only multi-freq-ldpy clips at zero, and divides by the sum. See benchmarks/peers.py."""
    design = getattr(designs, each["design"])(8, **each["options"])
    found = estimate.moments(design, tallied(design, each)).proportions
    if each["package"] == "multi-freq-ldpy":
        assert (found < 0).any()
        found = found.clip(0) / found.clip(0).sum()
    np.testing.assert_allclose(found, each["estimate"], atol=1e-6)
    numbers = str(each.get("counts", each.get("named")))
    assert (numbers in PAGES["how-to/migration.md"]) == (each is PEERS[0])
    assert (numbers in PAGES["reference/peers.md"]) == (each is PEERS[3])


@pytest.mark.parametrize("each", PRIO3, ids=lambda each: f"{each['vdaf']} {each['design']['design']['kind']}")
def test_the_result_of_a_prio3_collector_is_a_tally(each):
    """From the two aggregators' shares to the very estimate that the reports themselves give."""
    design = Design.from_json(json.dumps(each["design"]))
    shares = [np.array(list(elements(bytes.fromhex(share))), dtype=object) for share in each["agg_shares"]]
    collected = (sum(shares) % FIELD128).tolist()
    assert collected == each["agg_result"] == np.sum(encoded(each), axis=0).tolist()
    assert all((share > 2**64).any() for share in shares)  # one share alone is noise
    counted = each["vdaf"] == "Prio3Histogram"
    assert each["length"] == (design.space.size if counted else len(design.categories))
    n = len(each["measurements"])
    tally = design.tally(count=collected) if counted else design.tally_of_sums(collected, n=n)
    said = each["measurements"] if counted else np.array(each["measurements"], dtype=bool)
    fit, direct = (estimate.moments(design, one) for one in (tally, design.tally(said)))
    np.testing.assert_allclose(fit.proportions, direct.proportions, atol=1e-12)
    np.testing.assert_allclose(fit.standard_errors, direct.standard_errors, atol=1e-12)
    assert str(collected) in PAGES["how-to/prio3.md"]


def elements(octets):
    return (int.from_bytes(octets[place : place + 16], "little") for place in range(0, len(octets), 16))


def encoded(each):
    """What was shared: a one in the bucket of a histogram, or the bits."""
    if each["vdaf"] == "Prio3SumVec":
        return each["measurements"]
    return np.eye(each["length"], dtype=int)[each["measurements"]]


@pytest.mark.parametrize("family", ["unary", "subset_selection"])
def test_sums_are_the_tally_of_the_reports(family):
    design, rng = getattr(designs, family)(70, epsilon=1), np.random.default_rng(1)
    tally = design.tally(design.randomize(rng.integers(0, 70, 500), rng=rng))
    added = design.tally_of_sums(tally.parts[0].said, n=500)
    for one, other in ((added, tally), (added + tally, tally + tally)):
        mine, theirs = (estimate.moments(design, each) for each in (one, other))
        np.testing.assert_array_equal(mine.proportions, theirs.proportions)
        np.testing.assert_array_equal(mine.interval(), theirs.interval())


@pytest.mark.parametrize(
    ("named", "n", "told"),
    [
        ([3, 2, 4, 1], 4, "each report speaks for 2 categories, so that 4 reports add up to 8; these add up to 10"),
        ([5, 1, 1, 1], 4, "5 reports speak for 'a', and there are only 4"),
        ([1.5, 1.5, 1, 0], 2, "whole numbers; got 1.5 in place 1"),
        ([1, 1, 1], 2, "one number for each of the 4"),
        ([1, -1, 1, 1], 2, "not negative; got -1 in place 2"),
        ([0, 0, 0, 0], 0, "n must be a whole number from 1"),
    ],
)
def test_sums_that_no_reports_add_up_to(named, n, told):
    design = designs.subset_selection(tuple("abcd"), epsilon=0.5)
    with pytest.raises((DataError, ValueError), match=told):
        design.tally_of_sums(named, n=n)


ABOUT = {"question": "crash", "design": "4f1c"}
GOOD = ({**ABOUT, "y": "7"}, 3)


def test_points_about_other_questions_and_waves_are_passed_over():
    points = [GOOD, ({**ABOUT, "question": "site", "y": "7"}, 5), ({**ABOUT, "wave": 2, "y": "7"}, 9), GOOD]
    assert counts_of_points(points, **ABOUT, n=6) == {"7": 6}
    assert counts_of_points(points, **ABOUT, wave=2, n=9) == {"7": 9}
    with pytest.raises(DataError, match=r"about 'crash' in wave '2'; there are points about .*'crash' in wave 2"):
        counts_of_points(points, **ABOUT, wave="2")


@pytest.mark.parametrize(
    ("point", "told"),
    [
        (({"otel.metric.overflow": True}, 1_234), "point 2 holds 1,234 reports under otel.metric.overflow"),
        (({**ABOUT, "y": "7", "host.id": "a"}, 1), "point 2 has the attribute 'host.id', which can link"),
        (({**ABOUT, "y": "7", "design": "older"}, 1), "point 2 is of design 'older', not '4f1c'"),
        ((ABOUT, 1), "point 2 must have a response, y"),
        (({**ABOUT, "y": "7"}, 1.5), "point 2 must have a response, y, and count reports of it; got .* and 1.5"),
        (({**ABOUT, "y": "7"}, -1), "and -1"),
        (GOOD, "hold 6 reports about 'crash', and 3 were recorded: .* delta temporality"),
    ],
)
def test_points_that_are_no_counts_are_refused(point, told):
    with pytest.raises(DataError, match=told):
        counts_of_points([GOOD, point], **ABOUT, n=3)
