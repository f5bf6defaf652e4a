"""Every kind of question says all that is needed, and a new one is one class and one line in each table."""

import datetime
import json
import re
from typing import ClassVar, Literal

import polars as pl
import pytest

from naysay import collect, designs, estimate
from naysay.collect import Client, Published, Reader, respond
from naysay.collect.client import FOLDER
from naysay.collect.device.memory import marks
from naysay.collect.device.people import draw_replies
from naysay.collect.device.post import message
from naysay.collect.questionnaire import (
    Private,
    Problem,
    check,
    examine,
    load,
    of_form,
    sample,
    schema,
    write_xlsform,
    xlsform_rows,
)
from naysay.collect.questionnaire.kinds import KINDS
from naysay.collect.questionnaire.questionnaire import Group, Note, added
from naysay.collect.questionnaire.questions import Choice, Label, Question, names_of, quoted
from naysay.collect.questionnaire.xlsform import read_xlsform
from naysay.collect.questionnaire.xlsform_rows import HELP, RowKind, own_columns
from naysay.collect.storage import Reply, Store

TODAY = datetime.date(2026, 11, 20)
CLIENT = Client({"survey.html": b"<!doctype html>"})


class Pair(Question):
    """A made-up kind: the better of two, by itself or neither."""

    kind: Literal["pair"] = "pair"
    choices: tuple[Choice, ...]
    neither: Label
    private: Private | None = None

    stored: ClassVar[type] = str
    categories_in: ClassVar[str] = "choices"

    def complaint(self, value):
        return None if value in names_of(self.choices) else "must be one of the pair"

    @property
    def longest(self):
        return max(quoted(each.name) for each in self.choices)

    def value_of(self, cell):
        return cell

    def draw(self, rng):
        return str(rng.choice(names_of(self.choices)))

    def flaws(self, path):
        if len(self.choices) != 2:
            yield Problem("choices", "a pair must have two choices", path=path)


PAIR_ROWS = RowKind(
    Pair,
    ("pair",),
    listed=True,
    columns={"neither": "naysay_neither"},
    read=lambda row: {"choices": row.choices(), "neither": row.label("naysay_neither")},
    write=lambda question, list_of: [{"neither": question.neither}],
)


@pytest.fixture
def pair(monkeypatch):
    """The made-up kind among the others, as long as a test lasts."""
    monkeypatch.setattr(xlsform_rows, "ROW_KINDS", (*xlsform_rows.ROW_KINDS, PAIR_ROWS))
    with added(Pair):
        yield Pair


@pytest.fixture
def asked(pair, written):
    """The same, where the kind is known."""
    return written


@pytest.fixture
def written():
    """The JSON of a questionnaire that asks the made-up kind plainly and in private."""
    choices = [{"name": name, "label": {"en": name}} for name in ("tea", "milk")]
    plain = {
        "kind": "pair",
        "name": "drink",
        "label": {"en": "Which?"},
        "choices": choices,
        "neither": {"en": "Neither"},
    }
    design = json.loads(designs.warner(p=0.8, categories=("tea", "milk")).to_json())
    del design["drawing"]  # questionnaires leave the rules out
    private = {**plain, "name": "secret", "label": {"en": "Which in secret?"}, "private": {"design": design}}
    head = {"naysay": "questionnaire", "version": 1, "name": "pairs", "title": {"en": "Pairs"}, "languages": ["en"]}
    return head | {"items": [{"kind": "group", "name": "all", "label": {"en": "All"}, "items": [plain, private]}]}


def test_a_new_kind_is_read_checked_and_in_the_schema(asked):
    found = of_form(asked)
    assert found.problems == ()
    assert [type(each) for each in found.questionnaire.questions] == [Pair, Pair]
    assert "Pair" in schema()["$defs"]
    asked["items"][0]["items"][0]["choices"] *= 2
    asked["items"][0]["items"][0]["neither"] = {}
    told = [(each.rule, each.path) for each in of_form(asked).errors]
    assert ("choices", "items[0].items[0]") in told
    asked["items"][0]["items"][0]["neither"] = {"de": "Keines"}
    assert "items[0].items[0].neither.en" in [each.path for each in of_form(asked).errors]


def test_a_new_kind_is_answered_stored_tallied_and_exported(asked, tmp_path):
    published = Published.of(of_form(asked).questionnaire, client=CLIENT)
    people = respond.anybody(published.questionnaire, 200, seed=1)
    given = respond.checked(published.questionnaire, {"drink": ["tea", ""], "secret": ["milk", "milk"]})
    assert given.column("drink") == ["tea", None]
    assert len(marks(published.questionnaire)) == 1
    store = Store(tmp_path / "answers.db")
    store.open(published)
    for number, answers in enumerate(draw_replies(published.questionnaire, people, today=TODAY).answers):
        body = message(published, f"{number:032x}", answers)
        assert len(body) == published.body_length
        said = Reader(published).read(body, today=TODAY)
        [outcome] = store.add([Reply("pairs", published.hash, said.id, said.text, TODAY)])
        assert outcome.what == "stored"
    store.dispose()
    replies = collect.replies(tmp_path / "answers.db", "pairs")
    assert replies.frame.schema == {"day": pl.Date, "drink": pl.String, "secret": pl.String}
    assert set(replies.frame["drink"]) == {"tea", "milk"}
    fit = estimate.moments(replies.private["secret"], collect.tally(replies, "secret"))
    assert fit.proportions.sum() == pytest.approx(1)
    grouped = collect.tally(replies, "secret", by="drink")
    assert set(grouped) == {"tea", "milk"}


def test_a_new_kind_goes_through_a_workbook(asked, tmp_path):
    form = of_form(asked).questionnaire
    write_xlsform(form, tmp_path / "pairs.xlsx")
    again = examine(tmp_path / "pairs.xlsx")
    # pyxform knows no pair, and says so; our own reading is that of the questionnaire
    assert {each.rule for each in again.errors} == {"pyxform"}
    assert of_form(read_xlsform(tmp_path / "pairs.xlsx").form).questionnaire == form


def test_without_its_line_a_kind_is_an_error(written):
    assert "kind must be one of those that there are; got 'pair'" in str(of_form(written).errors[0])


def test_a_kind_that_leaves_something_out_is_an_error():
    class Half(Question):
        kind: Literal["half"] = "half"
        stored: ClassVar[type] = str

        def complaint(self, value):
            return None

    with pytest.raises(TypeError, match="'half' does not say: draw, longest, value_of"), added(Half):
        pass
    assert "half" not in KINDS


def test_a_kind_needs_a_name_of_its_own():
    taken = KINDS["integer"]
    with pytest.raises(TypeError, match="there is a kind 'integer' already"), added(taken):
        pass
    assert KINDS["integer"] is taken


def test_the_sample_asks_every_kind_and_the_help_sheet_explains_every_column():
    assert {type(each) for each in sample().questions} == set(KINDS.values())
    explained = {row[0].partition("::English")[0].removeprefix("bind::") for row in HELP}
    assert set(own_columns()) <= explained


def test_every_kind_goes_through_a_workbook_and_back(tmp_path):
    write_xlsform(sample(), tmp_path / "all.xlsx")
    assert load(tmp_path / "all.xlsx") == sample()
    assert check(sample()) == ()


def test_the_page_knows_every_kind_and_no_other():
    script = (FOLDER / "inputs.js").read_text(encoding="utf-8")
    lines = re.findall(r'^  (\w+): \{ fields: "(.*?)", asks: \w+(, wrong: )?', script, re.MULTILINE)
    common = set(Question.model_fields) | {"kind"}
    assert {kind: set(fields.split()) for kind, fields, _ in lines} == {
        name: set(model.model_fields) - common for name, model in KINDS.items()
    }
    assert {kind for kind, _, wrong in lines if not wrong} == {"select_one", "rating"}  # inputs that give nothing wrong
    assert set(Group.model_fields) - set(Note.model_fields) == {"items"}  # as trust.js has it
