"""Statements about what the documentation calls absent, and about what it calls here."""

import inspect
import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import naysay
from naysay import Sampling, designs, regression
from naysay.errors import DataError

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")])
COMPARED = ROOT / "docs/reference/rr_packages.md"

DESIGN = designs.warner(p=0.8)
PEOPLE = pl.DataFrame({"cheated": ["yes", "no"] * 20, "income": np.linspace(1, 9, 40), "school": [1, 2, 3, 4] * 10})


def number_as_response():
    with pytest.raises(DataError, match="not a response here"):
        regression.regress(DESIGN, "income ~ school", PEOPLE)


def likelihood_of_lists():
    assert not {"method", "law", "likelihood"} & set(inspect.signature(regression.regress_list).parameters)


def random_effects():
    with pytest.raises(DataError, match="cannot hold"):
        regression.regress(DESIGN, "cheated ~ income + (1 | school)", PEOPLE)


def posterior_of_coefficients():
    assert not {"prior", "draws", "posterior"} & set(inspect.signature(regression.regress).parameters)


def joint_probabilities():
    assert not any("joint" in name or "pair" in name for name in inspect.signature(Sampling).parameters)


def scrambling_designs():
    names = {name.replace("_", "") for name in designs.FAMILIES}
    assert (
        not {"barlev", "dianaperri1", "dianaperri2", "eichhornhayre", "eriksson", "saha", "chaudhurichristofides"}
        & names
    )


ABSENT = {
    "a number as the response of a formula": number_as_response,
    "method ml, with a binomial law of the counts": likelihood_of_lists,
    "random effects": random_effects,
    "a posterior of coefficients": posterior_of_coefficients,
    "`Sampling` takes weights, strata and clusters, not a matrix of joint probabilities": joint_probabilities,
    "the scrambling designs under these names": scrambling_designs,
}
"""What a page may call absent, and the attempt that shows it. A page that says more must bring an attempt."""


def claims(text):
    """What a page calls absent: the words behind each "not yet:"."""
    return re.findall(r"not yet: ([^;|\n]+?) *(?=[;|\n]|$)", text)


def test_what_the_pages_call_absent_is_absent():
    absent = {claim for page in PAGES for claim in claims(page.read_text(encoding="utf-8"))}
    assert absent == set(ABSENT)
    for attempt in ABSENT.values():
        attempt()


def test_a_claim_ends_where_its_sentence_does():
    assert claims("| RRmixed | not yet: random effects; clusters go elsewhere |") == ["random effects"]
    assert claims("| RRglmm | not yet: random effects |") == ["random effects"]


def calls(table):
    """The names in a table, dotted or those of designs, with the parameters that it shows."""
    for name, parameters in re.findall(r"`([a-z_][\w.]*|Sampling)(?:\(([^`]*?)\))?`", table):
        yield name, re.findall(r"(\w+)=", parameters)


def public(name):
    """What a name of the page stands for: a design by itself, everything else from the package."""
    start = designs if hasattr(designs, name) else naysay
    return attrgetter(name.removeprefix("design."))(DESIGN if name.startswith("design.") else start)


def test_what_a_user_of_r_is_told_is_here_is_here():
    table = "\n".join(line for line in COMPARED.read_text(encoding="utf-8").splitlines() if line.startswith("| "))
    table = re.sub(r"not yet: [^;|]+", "", table)
    shown = [(name, parameters) for name, parameters in calls(table) if name not in {"mix", "penalty", "weights"}]
    assert len(shown) > 25
    for name, parameters in shown:
        place = public(name)
        assert inspect.ismodule(place) or set(parameters) <= set(inspect.signature(place).parameters), name
