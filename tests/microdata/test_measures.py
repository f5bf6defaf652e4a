"""A measure of risk is one class and one name in a tuple: text, JSON, CSV and the page read the rest from it."""

import csv
import html
import json
from dataclasses import dataclass

import pytest

from naysay import microdata
from naysay.microdata.commands.request import Answers
from naysay.microdata.report import risk_html
from naysay.microdata.risk import table
from naysay.microdata.risk.measure import Measure, OnRequest

PEOPLE = {"age": [40, 36, 36, 23], "gender": ["f", "m", "m", "m"], "illness": [1, 0, 0, 1]}


@dataclass(frozen=True)
class Largest(Measure):
    """The largest anonymity set."""

    name = "largest"
    columns = ("most alike",)
    explanation = ("Most alike: records in the largest anonymity set.",)

    records: int
    span: tuple[float, float] = (0.25, 0.5)

    @classmethod
    def of(cls, case):
        return cls(int(case.k.max()))

    @classmethod
    def title(cls, found, *, policies):
        return f"The largest of {len(found)} quasi-identifiers"

    def cells(self):
        return (f"{self.records:,}",)

    def numbers(self):
        return {"records": self.records, "share_interval": list(self.span), "parts": {"half": self.records / 2}}


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(table, "MEASURES", (*table.MEASURES, Largest))


def test_text_has_its_table_and_its_explanation(made_up):
    found = microdata.risk_table(PEOPLE, [["age"], ["gender"]])
    text = str(found)
    assert (
        "\n\nThe largest of 2 quasi-identifiers\nquasi-identifier  most alike\nage                        2\n" in text
    )
    assert "Most alike: records in the largest anonymity set. θ:" in " ".join(text.split())


def test_json_has_its_fields(made_up, capsys):
    Answers(microdata.risk_table(PEOPLE, [["age"]]), [[]]).json()
    (row,) = json.loads(capsys.readouterr().out)["quasi_identifiers"]
    assert row["largest"] == {"records": 2, "share_interval": [0.25, 0.5], "parts": {"half": 1.0}}
    assert list(row) == ["keys", "missing", "listwise", "matches", "warnings", "largest"]


def test_csv_has_its_columns(made_up, capsys):
    Answers(microdata.risk_table(PEOPLE, [["age"]]), [[]]).csv()
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    named = {name: value for name, value in row.items() if name.startswith("largest.")}
    assert named == {
        "largest.records": "2",
        "largest.share_low": "0.25",
        "largest.share_high": "0.5",
        "largest.parts.half": "1.0",
    }


def test_the_page_has_its_row(made_up):
    page = risk_html(microdata.risk_table(PEOPLE, [["age"]]))
    assert "The largest of 1 quasi-identifiers" in page
    assert '<th scope="col">most alike</th>' in page


def everything():
    """A table with every measure."""
    people = PEOPLE | {"weight": [25.0, 25.0, 25.0, 25.0], "house": ["a", "a", "b", None]}
    also = [kind.name for kind in table.MEASURES if issubclass(kind, OnRequest)]
    others = {"weights": "weight", "sensitive": "illness", "households": "house"}
    return microdata.risk_table(people, [["age"]], population=100, also=also, **others)


def test_no_measure_is_forgotten_on_the_page():
    found = everything()
    page = html.unescape(risk_html(found))
    assert found.kinds == table.MEASURES
    for kind in table.MEASURES:
        assert all(f'<th scope="col">{name}</th>' in page for name in kind.page_columns or kind.columns)


def test_every_measure_tells_as_many_cells_as_columns():
    found = everything()
    for each in found.quasi_identifiers[0].measures:
        assert len(each.cells()) == len(each.columns)
        assert len(each.page_cells()) == len(each.page_columns or each.columns)
