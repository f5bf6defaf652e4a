"""A survey's replies as data: every kind of file holds the same answers, labels and designs."""

import json
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import polars as pl
import pyreadstat
import pytest

from naysay import estimate, files
from naysay.collect import Published
from naysay.collect.export import NAMESPACE, Columns, export, places
from naysay.collect.questionnaire import sample
from naysay.collect.storage import Store
from naysay.errors import DataError
from tests.collect.replying import fill

N = 600
KINDS = (".sav", ".zsav", ".dta", ".csv", ".parquet", ".jsonl", ".xlsx")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    found = Store(tmp_path_factory.mktemp("data") / "naysay.db")
    published = Published.of(sample())
    found.open(published)
    fill(found, published, N, missing=0.1)
    yield found
    found.dispose()


@pytest.fixture(scope="module")
def exported(store, tmp_path_factory):
    """The survey in every kind of file, labels in German."""
    folder = tmp_path_factory.mktemp("exports")
    for kind in KINDS:
        export(store, "sample", folder / f"as{kind[1:]}{kind}", language="de")
    return {kind: folder / f"as{kind[1:]}{kind}" for kind in KINDS}


def texts(path, **asked):
    """The rows of a file, its cells as texts, in an order of their own; its columns in theirs."""
    frame = files.scan(path, **asked)
    names = [entry.column for entry in files.codebook_of(path).entries]  # readers of JSON lines forget their order
    return files.as_text(frame.select(names), names).collect()


def rows(frame):
    return Counter(frame.fill_null("").rows())


@pytest.mark.parametrize("codes", [False, True])
def test_every_kind_of_file_holds_the_same(exported, codes):
    found = [rows(texts(path, codes=codes)) for path in exported.values()]
    assert sum(found[0].values()) == N
    assert all(each == found[0] for each in found[1:])


def test_it_holds_what_was_sent(store, exported):
    replies = store.replies("sample")
    sent = Columns(replies.published).table(replies)
    found = texts(exported[".csv"], codes=True)
    assert found.columns == sent.columns
    assert rows(found) == rows(files.as_text(sent.lazy(), sent.columns).collect())


@pytest.mark.parametrize(("kind", "read"), [(".sav", pyreadstat.read_sav), (".dta", pyreadstat.read_dta)])
def test_other_programs_find_labels_and_missing_values(exported, kind, read):
    cells, told = read(exported[kind], output_format="dict")
    labels = told.column_names_to_labels
    assert labels["area"] == "Wo wohnen Sie?"
    assert labels["smoking"].startswith("Nach Randomisierung: ")
    assert labels["income_level"].startswith("Level of privacy")
    assert labels["drugs_cocaine"].startswith("Nach Randomisierung: ")
    assert told.variable_value_labels["area"] == {1: "In einer Stadt", 2: "In einer Kleinstadt", 3: "Auf dem Land"}
    assert set(cells["area"]) == {1, 2, 3, None}
    assert set(cells["news_paper"]) == {0, 1, None}
    assert set(cells["health"]) == {1, 2, 3, 4, 5, None}
    if kind == ".sav":
        assert told.notes[1] == f"hash {files.codebook_of(exported[kind]).hash}"
        assert told.variable_measure["area"] == "nominal"
        assert told.variable_measure["health"] == "ordinal"
        assert told.variable_measure["age"] == "scale"
    else:
        assert files.codebook_of(exported[kind]).hash in told.file_label


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_estimates_from_an_export_are_those_from_the_database(store, exported, kind, codes):
    replies = store.replies("sample")
    asked = files.designs_of(exported[kind], codes=codes)
    assert len(asked) == len(replies.private)
    frame = files.scan(exported[kind], codes=codes)
    for (column, each), (name, design) in zip(asked.items(), replies.private.items(), strict=True):
        if codes:
            assert each.design == design
        fit = estimate.maximum_likelihood(each.design, each.design.tally(frame, column, level=each.level))
        other = design.tally(replies.frame, name, level=replies.level_of(name))
        np.testing.assert_allclose(fit.proportions, estimate.maximum_likelihood(design, other).proportions, atol=1e-6)


def test_rows_of_two_exports_cannot_be_matched(store, tmp_path):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    orders = []
    for path in (first, second):
        export(store, "sample", path)
        orders.append(texts(path).fill_null("").rows())
    assert Counter(orders[0]) == Counter(orders[1])
    kept = [text for _, text in store.replies("sample").rows]
    assert len(set(orders[0])) == len(set(kept)) == N
    places_ = {row: place for place, row in enumerate(orders[1])}
    again = [places_[row] for row in orders[0]]
    # Spearman's ρ of two random orders has standard deviation 1 / √(n - 1); 5 of them
    assert abs(np.corrcoef(again, range(N))[0, 1]) < 5 / np.sqrt(N - 1)


def test_formulas_are_texts_and_come_back(exported):
    path = exported[".csv"]
    said = set(pl.read_csv(path, infer_schema=False)["remarks"].drop_nulls())
    assert {"'=1+1", "''=1+1", "'@SUM(A1)"} <= said
    assert not any(text.lstrip()[:1] in ("=", "+", "-", "@") for text in said)
    assert {"=1+1", "'=1+1", "@SUM(A1)", "\t=x"} <= set(texts(path)["remarks"].drop_nulls())


def test_the_codebook_says_what_every_column_is(exported):
    text = places(exported[".sav"])[1].read_text(encoding="utf-8")
    book = files.codebook_of(exported[".sav"])
    assert book.hash in text
    assert "Anyone who has the link" in text
    for entry in book.entries:
        assert f"## `{entry.column}`" in text
    assert "| 1 | city | In einer Stadt |" in text
    assert "naysay estimate assav.sav --response smoking" in text


# DDI-Codebook 2.5: the children that each element may have, in the order that its sequence demands.
SEQUENCES = {
    "codeBook": "docDscr stdyDscr fileDscr dataDscr otherMat",
    "stdyDscr": "citation studyAuthorization stdyInfo studyDevelopment method dataAccs othrStdyMat notes",
    "citation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "titlStmt": "titl subTitl altTitl parTitl IDNo",
    "stdyInfo": "studyBudget subject abstract sumDscr qualityStatement notes exPostEvaluation",
    "fileDscr": "fileTxt locMap notes",
    "fileTxt": "fileName fileCitation fileCont fileStrc dimensns fileType format filePlac dataChck "
    "ProcStat dataMsng software verStmt",
    "dimensns": "caseQnty varQnty logRecL recPrCas recNumTot",
    "dataDscr": "varGrp nCubeGrp var nCube notes",
    "var": "location labl imputation security embargo respUnit anlysUnit qstn valrng invalrng undocCod universe "
    "TotlResp sumStat txt stdCatgry catgryGrp catgry codInstr verStmt concept derivation varFormat geoMap catLevel "
    "notes",
    "qstn": "preQTxt qstnLit postQTxt forward backward ivuInstr",
    "catgry": "catValu labl txt catStat mrow",
}
ALLOWED = {
    "intrvl": {"contin", "discrete"},
    "nature": {"nominal", "ordinal", "interval", "ratio", "percent", "other"},
    "representationType": {"text", "numeric", "code", "datetime", "other"},
    "type": {"character", "numeric", "fingerprint", "design"},
    "category": {"date", "time", "currency", "other"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_codebook_for_archives_has_the_structure_of_its_schema(exported, kind):
    path = places(exported[kind])[2]
    root = ET.parse(path).getroot()
    assert root.tag == f"{{{NAMESPACE}}}codeBook"
    for element in root.iter():
        name = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        children = [child.tag.removeprefix(f"{{{NAMESPACE}}}") for child in element]
        order = SEQUENCES.get(name, "").split()
        assert set(children) <= set(order), name
        assert children == sorted(children, key=order.index), name
        for attribute, allowed in ALLOWED.items():
            assert element.get(attribute, next(iter(allowed))) in allowed
    marks = [element.get("ID") for element in root.iter() if element.get("ID")]
    assert len(set(marks)) == len(marks)
    names = [element.get("name") for element in root.iter(f"{{{NAMESPACE}}}var")]
    assert names == [entry.column for entry in files.codebook_of(exported[kind]).entries]
    digest = root.find(f".//{{{NAMESPACE}}}fileDscr/{{{NAMESPACE}}}notes").text
    import hashlib

    assert digest == hashlib.sha256(exported[kind].read_bytes()).hexdigest()


def test_designs_are_the_published_ones(store, exported):
    node = json.loads(places(exported[".sav"])[3].read_text(encoding="utf-8"))
    published = store.published("sample")
    assert (node["hash"], node["survey"]) == (published.hash, "sample")
    private = {each["question"]: each["design"] for each in node["columns"] if "design" in each}
    for question in published.questionnaire.questions:
        if question.privacy is not None:
            assert private[question.name]["design"] == json.loads(question.privacy.offer.to_json())["design"]


def test_what_cannot_be_exported(store, tmp_path):
    with pytest.raises(DataError, match="has no texts in 'fr'; it has en, de, es, ar"):
        export(store, "sample", tmp_path / "x.csv", language="fr")
    silent = sample().model_copy(update={"name": "silent"})
    store.open(Published.of(silent))
    with pytest.raises(DataError, match="nobody has answered 'silent' yet"):
        export(store, "silent", tmp_path / "x.csv")
    with pytest.raises(DataError, match="there is no survey 'nothing'"):
        export(store, "nothing", tmp_path / "x.csv")
    with pytest.raises(DataError, match="must end in"):
        export(store, "sample", tmp_path / "x.por")
    assert not list(tmp_path.iterdir())


def test_replies_come_in_pieces_each_once(store):
    published = store.published("sample")
    pieces = list(store.shuffled(published, size=7))
    assert [len(piece.rows) for piece in pieces] == [7] * (N // 7) + [N % 7]
    assert Counter(row for piece in pieces for row in piece.rows) == Counter(store.replies("sample").rows)


def test_a_survey_that_is_closed_meanwhile_is_not_exported_in_part(tmp_path):
    store = Store(tmp_path / "naysay.db")
    published = Published.of(sample())
    store.open(published)
    fill(store, published, 20)
    pieces = store.shuffled(published, size=5)
    next(pieces)
    rest = list(pieces)  # a reader sees the database as it was when it began
    assert sum(len(each.rows) for each in rest) == 15
    store.dispose()
