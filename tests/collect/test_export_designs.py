"""An export says what is ruled out and what chance made, and its estimates are still those of the database."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import openpyxl
import pyreadstat
import pytest

from naysay.cli import main
from naysay.collect import Published
from naysay.collect.ethics import Statement
from naysay.collect.export import NAMESPACE, Columns, export, places
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne, in_words, sample
from naysay.collect.questionnaire.offers import carried_out, private_of
from naysay.collect.questionnaire.questionnaire import ANSWER_TO
from naysay.collect.storage import Store
from tests.collect.replying import fill

KINDS = (".sav", ".zsav", ".dta", ".xlsx", ".parquet", ".jsonl")
FEW, YES = ("few", "some", "many", "most"), ("yes", "no")
LABELS = {"few": "0 to 2", "some": "3 to 5", "many": "6 to 9", "most": "10 or more", "yes": "Yes", "no": "No"}
DESIGNS = {
    "negative": ("negative(discards=1)", "", FEW),
    "sets": ("negative(discards=2)", "", FEW),
    "levels": ("negative", "1..2, coin", FEW),
    "warner": ("warner(p=0.7)", "", YES),
    "crosswise": ("crosswise(prevalence=1/4)", "", YES),
    "k_ary": ("k_ary(epsilon=1)", "", FEW),
}


def question(name, design, levels, categories):
    form = private_of(categories, design=design, levels=levels)
    how = carried_out(form, ("en",), mode="device, hand" if name == "crosswise" else "")
    choices = tuple(Choice(name=each, label={"en": LABELS[each]}) for each in categories)
    return SelectOne(name=name, label={"en": f"How, {name}?"}, choices=choices, private=Private(**how))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("designs")
    items = tuple(question(name, *asked) for name, asked in DESIGNS.items())
    form = Questionnaire(name="designs", title={"en": "Designs"}, languages=("en",), items=items)
    store = Store(folder / "naysay.db")
    published = Published.of(form)
    store.open(published)
    fill(store, published, 300)
    for kind in (*KINDS, ".csv"):
        export(store, "designs", folder / f"as{kind[1:]}{kind}")
    store.dispose()
    found_in = f"sqlite:///{folder / 'naysay.db'}"
    return {"database": found_in} | {kind: folder / f"as{kind[1:]}{kind}" for kind in (*KINDS, ".csv")}


def estimated(capsys, path, name):
    assert main(["estimate", str(path), "--response", name, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", DESIGNS)
def test_naysay_estimates_the_same_categories_from_every_kind_of_file(capsys, exported, name):
    found = estimated(capsys, exported[".csv"], name)
    assert found["categories"] == list(DESIGNS[name][2])
    for kind in KINDS:
        other = estimated(capsys, exported[kind], name)
        assert other["categories"] == found["categories"]
        assert other["n"] == found["n"]
        for field in ("proportions", "standard_errors"):
            assert other[field] == pytest.approx(found[field], rel=1e-12, abs=1e-12), kind
        for interval, expected in zip(other["intervals"], found["intervals"], strict=True):
            assert interval == pytest.approx(expected, rel=1e-9, abs=1e-12), kind


@pytest.mark.parametrize("kind", [*KINDS, ".csv"])
def test_a_table_for_people_calls_categories_by_their_bare_labels(capsys, exported, kind):
    assert main(["estimate", str(exported[kind]), "--response", "negative"]) == 0
    told = capsys.readouterr().out
    assert "negative: How, negative?" in told
    assert all(LABELS[each] in told for each in FEW)
    assert not any(words in told for words in ("not 0 to 2", "not 10 or more", "RULED OUT"))


def crossed(capsys, *asked):
    given = [*asked, "--row", "k_ary", "--column", "negative", "--bootstrap", "0", "--format", "json"]
    assert main(["crosstab", *given]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", [*KINDS, ".csv"])
def test_a_crosstab_takes_designs_from_an_export_and_never_reads_private_answers_as_they_are(capsys, exported, kind):
    expected = crossed(capsys, "--survey", "designs", "--db", exported["database"])
    found = crossed(capsys, str(exported[kind]))
    assert [each["design"] for each in found["variables"]] == [each["design"] for each in expected["variables"]]
    shares, published = np.array(found["proportions"]), np.array(expected["proportions"])
    assert shares == pytest.approx(published, abs=1e-6)
    levels = ["crosstab", str(exported[kind]), "--row", "warner", "--column", "levels", "--bootstrap", "0"]
    assert main(levels) == 0
    assert "warner(p=0.7) × levels" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [".sav", ".csv"])
def test_a_private_column_of_an_export_is_no_covariate(capsys, exported, kind):
    assert main(["regress", "warner ~ k_ary", str(exported[kind]), "--missing", "drop"]) == 2
    assert "'k_ary' is private, so its cells are no answers" in capsys.readouterr().err


def labels_of(path):
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    told = read(str(path), metadataonly=True)[1]
    return told.column_names_to_labels, told.variable_value_labels


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".dta"])
def test_spss_and_stata_read_what_was_ruled_out_as_ruled_out(exported, kind):
    called, values = labels_of(exported[kind])
    assert values["negative"] == {1: "not 0 to 2", 2: "not 3 to 5", 3: "not 6 to 9", 4: "not 10 or more"}
    for name in ("negative", "sets", "levels"):
        assert called[name] == f"RULED OUT: How, {name}?"
    for name in ("warner", "k_ary"):
        assert called[name] == f"After randomization: How, {name}?"
        assert all(label.endswith(" (after randomization)") for label in values[name].values())
    assert {label for label in values["crosswise"].values() if "never sent" not in label} == {
        label for label in values["crosswise"].values() if label.endswith(" (after randomization)")
    }


def test_every_codebook_says_it_in_the_first_line_and_in_a_column(exported):
    for kind in (*KINDS, ".csv"):
        _, readable, archived, designs = places(exported[kind])
        parts = readable.read_text(encoding="utf-8").split("\n## ")[1:]
        entries = {part.partition("\n")[0].strip("`"): part.partition("\n")[2].strip() for part in parts}
        columns = {each["column"]: each for each in json.loads(designs.read_text(encoding="utf-8"))["columns"]}
        variables = {each.get("name"): each for each in ET.parse(archived).iter(f"{{{NAMESPACE}}}var")}
        for name, (_, _, categories) in DESIGNS.items():
            negative = categories == FEW and name != "k_ary"
            begun = "RULED OUT" if negative else "After randomization"
            assert entries[name].startswith(f"{begun}: How, {name}?\n\n**{begun}, not the person's answer: ")
            assert " | meaning |" in entries[name]
            assert columns[name]["meaning"].startswith(f"{begun}, not the person's answer: ")
            assert columns[name]["wording"] == f"How, {name}?"
            said = {each["name"]: each["meaning"] for each in columns[name]["values"]}
            if negative:
                assert said["most"] == "not 10 or more"
                assert " | 10 or more | not 10 or more |" in entries[name]
            told = [each.text for each in variables[name].iter(f"{{{NAMESPACE}}}labl")]
            assert told == [f"{begun}: How, {name}?", *said.values()]
            assert variables[name].find(f".//{{{NAMESPACE}}}qstnLit").text == f"How, {name}?"


def test_the_workbook_has_a_column_with_the_meanings(exported):
    book = openpyxl.load_workbook(exported[".xlsx"], read_only=True)
    sheets = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    book.close()
    assert sheets["values"][0] == ("column", "value", "label", "meaning")
    assert ("negative", "most", "10 or more", "not 10 or more") in sheets["values"]
    place = sheets["variables"][0].index("meaning")
    said = {row[0]: row[place] for row in sheets["variables"] if row and row[0] in DESIGNS}
    assert said["negative"].startswith("RULED OUT, not the person's answer")
    assert said["warner"].startswith("After randomization, not the person's answer")


@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_without_its_codebook_what_was_ruled_out_is_refused_as_a_category(capsys, exported, tmp_path, kind):
    alone = tmp_path / f"alone{kind}"
    alone.write_bytes(exported[kind].read_bytes())
    asked = ["--design", "k_ary(epsilon=1)", "--categories", ",".join(LABELS[each] for each in FEW)]
    assert main(["estimate", str(alone), "--response", "negative", *asked]) == 2
    assert "not 10 or more" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_no_text_for_researchers_shows_the_name_of_a_repeated_question(language):
    form, published = sample(), Published.of(sample())
    asked = next(each for each in form.questions if each.name == "household_size").label[language]
    answer = ANSWER_TO[language].format(question=asked)
    book = Columns(published, language=language).book
    assert answer in book.columns["children"].label
    assert "${" not in json.dumps(book.form())
    found = Statement(published, language=language)
    assert "${" not in found.to_markdown()
    assert answer in in_words(published.questionnaire.questions[3].label[language], form, language)


def test_a_repeated_question_that_repeats_another_is_quoted_without_end():
    asked = [("a", "First?"), ("b", "And ${a}?"), ("c", "So ${ b }, ${a}?")]
    items = [{"kind": "text", "name": name, "label": {"fr": text}} for name, text in asked]
    form = Questionnaire(name="x", title={"fr": "X"}, languages=("fr",), items=items)
    assert in_words(form.questions[2].label["fr"], form, "fr") == "So [answer to: And …?], [answer to: First?]?"
    assert not re.search(r"\$\{", in_words("${unknown}", form, "fr"))


@pytest.mark.parametrize(
    ("kind", "alone"), [(".csv", False), (".parquet", False), *((each, True) for each in (".sav", ".dta", ".xlsx"))]
)
def test_risk_says_which_columns_of_an_export_hold_randomized_answers(capsys, exported, tmp_path, kind, alone):
    path = exported[kind]
    if alone:  # without its codebook: the labels in the file say it
        path = tmp_path / f"alone{kind}"
        path.write_bytes(exported[kind].read_bytes())
    assert main(["risk", str(path), "--keys", "warner,k_ary", "--sensitive", "negative"]) == 0
    told = capsys.readouterr().err
    assert f"randomized answers, not people's own: {', '.join(DESIGNS)}\n" in told
    assert ("warner, k_ary: counted as if they were people's own answers" in told) == alone
    assert "negative: what is told of it is about the values that were sent" in told


def test_tables_and_crosstabs_of_an_export_say_that_answers_are_counted_as_they_were_sent(capsys, exported, tmp_path):
    path = tmp_path / "alone.sav"
    path.write_bytes(exported[".sav"].read_bytes())
    for command in (["table", "--by", "k_ary"], ["crosstab", "--row", "k_ary", "--column", "warner"]):
        main([command[0], str(path), *command[1:]])
        told = " ".join(capsys.readouterr().err.split())
        assert "randomized answers, not people's own, and counted as they were sent: " in told
        assert "k_ary" in told
    plain = tmp_path / "plain.csv"
    plain.write_text("k_ary,warner\n" + "a,x\nb,y\n" * 20)
    assert main(["table", str(plain), "--by", "k_ary"]) == 0
    assert "randomized answers" not in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_question_that_is_repeated_in_choices_or_in_a_private_label_is_never_shown_by_its_name(language):
    def words(text):
        return {"en": f"{text} (en)", "de": f"{text} (de)"}

    where = [Choice(name=each, label=words(each)) for each in ("here", "there")]
    beside = [Choice(name=each, label=words(f"{each} in ${{area}}")) for each in ("work", "play")]
    private = question("warner", *DESIGNS["warner"])
    known = [Choice(name=each, label=words(f"{each}, in ${{area}}")) for each in YES]
    items = (
        SelectOne(name="area", label=words("Where?"), choices=tuple(where)),
        SelectOne(name="what", label=words("What in ${ area }?"), choices=tuple(beside)),
        SelectOne(name="secret", label=words("Ever in ${area}?"), choices=tuple(known), private=private.private),
    )
    form = Questionnaire(name="x", title=words("X"), languages=("en", "de"), items=items)
    answer = ANSWER_TO[language].format(question=f"Where? ({language})")
    book, statement = (
        Columns(Published.of(form), language=language).book,
        Statement(Published.of(form), language=language),
    )
    for entry in book.entries[2:]:
        assert answer in entry.label
        assert all(answer in value.label for value in entry.values)
    assert "${" not in json.dumps(book.form())
    assert answer.strip("[]").partition(":")[0] in statement.to_markdown()
    assert not re.search(r"\$\\?\{", statement.to_markdown())
