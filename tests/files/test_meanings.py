"""What the values of a private column say of a person, in every language, level and length."""

import json
import re
from importlib import resources

import polars as pl
import pyreadstat
import pytest

from naysay import designs
from naysay.files import Asked, Codebook, Entry, Value, explained, write_pieces
from naysay.files.codebook import PHRASES, codebook_of, is_randomized, place_of

NAMES = ("few", "some", "many")


def entry(design, *, holds="values", labels=("0-2", "3-9", "10+"), level=None):
    named = dict(zip(NAMES, labels, strict=True)) | {"sink": "None of these", "same": "Same", "different": "Different"}
    spaces = [part.space for part in design.parts.values()]
    names = dict.fromkeys([*map(str, design.categories), *(str(label) for each in spaces for label in each.labels)])
    values = tuple(Value(code, name, named.get(name, name)) for code, name in enumerate(names, start=1))
    return Entry("q", "q", "How many?", holds, values, asked=Asked(design, level))


def meanings(design, **asked):
    found = explained(entry(design, **asked))
    return found.label, {value.name: value.meaning for value in found.values}


def test_a_category_that_is_ruled_out_is_never_called_by_its_bare_name():
    for design in (designs.negative(NAMES), designs.two_option(NAMES), designs.negative_levels(NAMES)):
        assert meanings(design) == ("RULED OUT: How many?", {"few": "not 0-2", "some": "not 3-9", "many": "not 10+"})


def test_a_sink_rules_nothing_out_and_its_category_is_never_sent():
    label, said = meanings(designs.negative_sink(NAMES, sinks={"few": "sink"}))
    assert label == "RULED OUT: How many?"
    assert said == {
        "few": "0-2 (never sent)",
        "some": "not 3-9",
        "many": "not 10+",
        "sink": "None of these (after randomization)",
    }


@pytest.mark.parametrize(
    "design",
    [
        designs.k_ary(NAMES, epsilon=1),
        designs.warner(p=0.7),
        designs.subset_selection(NAMES, epsilon=1),
        designs.gaussian_negative(NAMES, sigma=1.5),
    ],
)
def test_what_does_not_rule_out_its_own_category_is_called_randomized(design):
    ruled_out = {label for label, row in zip(design.categories, design.expected_statistic, strict=True)
                 if row[design.categories.index(label)] == 0}  # fmt: skip
    label, said = meanings(design)
    for name, meaning in said.items():
        assert meaning.startswith("not ") == (name in ruled_out)
        assert meaning.endswith(" (after randomization)") == (name not in ruled_out)
    assert label.startswith("RULED OUT") == bool(ruled_out)


def test_the_crosswise_model_sends_no_category_at_all():
    label, said = meanings(designs.crosswise(prevalence=0.25))
    assert label == "After randomization: How many?"
    assert (
        sorted(text.partition("(")[2] for text in said.values()) == ["after randomization)"] * 2 + ["never sent)"] * 2
    )


def test_levels_that_rule_out_and_levels_that_do_not_are_told_apart():
    offer = designs.levels({"open": designs.negative(NAMES), "coin": designs.k_ary(NAMES, epsilon=1)})
    label, said = meanings(offer, level="q_level")
    assert label == "RULED OUT or after randomization: How many?"
    assert said["many"] in (
        "level open: not 10+; level coin: 10+ (after randomization)",
        "level coin: 10+ (after randomization); level open: not 10+",
    )


def test_a_direct_level_is_not_called_randomized():
    offer = designs.levels({"all": designs.direct(NAMES), "coin": designs.k_ary(NAMES, epsilon=1)})
    label, said = meanings(offer, level="q_level")
    assert label == "After randomization or sent as it is: How many?"
    assert set(said["many"].split("; ")) == {"level all: 10+", "level coin: 10+ (after randomization)"}
    assert meanings(designs.direct(NAMES)) == ("Sent as it is: How many?", {"few": "0-2", "some": "3-9", "many": "10+"})


@pytest.mark.parametrize(
    ("language", "ruled_out", "randomized"),
    [
        ("de", "AUSGESCHLOSSEN", "Nach Randomisierung"),
        ("es", "DESCARTADO", "Tras la aleatorización"),
        ("ar", "مُستبعَد", "بعد القرعة"),
        ("fr", "RULED OUT", "After randomization"),
    ],
)
def test_labels_begin_in_the_language_of_the_survey_and_are_known_again(language, ruled_out, randomized):
    kary, direct = designs.k_ary(NAMES, epsilon=1), designs.direct(NAMES)
    negative = explained(entry(designs.negative(NAMES)), language=language)
    said = explained(entry(kary), language=language)
    assert (negative.label, said.label) == (f"{ruled_out}: How many?", f"{randomized}: How many?")
    assert said.meaning.startswith(f"{randomized}, ")
    offer = designs.levels({"all": direct, "open": designs.negative(NAMES), "coin": kary})
    several = explained(entry(offer, level="q_level"), language=language)
    assert several.label.startswith(f"{ruled_out} {PHRASES.get(language, PHRASES['en']).either} ")
    assert all(is_randomized(each.label) for each in (negative, said, several))
    assert not is_randomized(explained(entry(direct), language=language).label)


def test_plain_columns_stay_as_they_are():
    plain = Entry("q", "q", "How many?", "values", (Value(1, "few", "0-2"),))
    assert explained(plain) is plain


@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_what_is_ruled_out_is_said_as_on_the_page(language):
    page = resources.files("naysay.collect").joinpath("client", "words", f"{language}.js").read_text(encoding="utf-8")
    assert re.search(r'^ *not: "(.*)",$', page, re.MULTILINE)[1] == PHRASES[language].ruled_out


@pytest.mark.parametrize(("suffix", "most"), [(".sav", 120), (".dta", 30_000)])
@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
def test_a_label_that_is_cut_still_says_not(tmp_path, suffix, most, language):
    long = "größer als " * (most // 9)
    read = pyreadstat.read_sav if suffix == ".sav" else pyreadstat.read_dta
    for design, words in (
        (designs.negative(NAMES), PHRASES[language].ruled_out),
        (designs.k_ary(NAMES, epsilon=1), PHRASES[language].randomized),
    ):
        found = explained(entry(design, labels=(f"1 {long}", f"2 {long}", f"3 {long}")), language=language)
        book = Codebook("s", "S", "0" * 64, language, (found,), coded=True)
        path = tmp_path / f"data{suffix}"
        write_pieces([pl.DataFrame({"q": [1, 2, 3]})], path, book=book)
        _, told = read(path)
        for code, text in told.variable_value_labels["q"].items():
            before, after = words.split("{option}")
            assert text.startswith(f"{before}{code:g} größer")
            assert text.endswith(f"…{after}")
            assert len(text.encode()) <= most


@pytest.mark.parametrize("length", [20, 60, 90, 200])
@pytest.mark.parametrize("language", ["en", "de", "es", "ar"])
@pytest.mark.parametrize(
    "names", [("open", "coin"), ("a level of which much is said", "another, of which even more is")]
)
def test_a_label_that_is_cut_says_what_a_value_means_at_every_level(tmp_path, length, language, names):
    first, second = names
    offer = designs.levels({first: designs.negative(NAMES), second: designs.k_ary(NAMES, epsilon=1)})
    labels = tuple(f"{number} " + "ä" * (length // 2) for number in range(3))
    found = explained(entry(offer, labels=labels, level="q_level"), language=language)
    path = tmp_path / "data.sav"
    write_pieces(
        [pl.DataFrame({"q": [1, 2, 3]})], path, book=Codebook("s", "S", "0" * 64, language, (found,), coded=True)
    )
    phrases = PHRASES[language]
    words = [phrases.ruled_out.partition("{option}")[0], phrases.randomized.partition("{option}")[2], first, second]
    for text in pyreadstat.read_sav(path)[1].variable_value_labels["q"].values():
        assert len(text.encode()) <= 120
        assert all(each in text for each in words) or text.startswith("see the codebook: ")


def test_a_codebook_that_an_older_naysay_wrote_is_still_read(tmp_path):
    found = explained(entry(designs.negative(NAMES)))
    node = Codebook("s", "S", "0" * 64, "en", (found,)).form()
    for column in node["columns"]:
        del column["meaning"], column["wording"]
        for value in column["values"]:
            del value["meaning"]
    path = tmp_path / "data.csv"
    place_of(path).write_text(json.dumps(node), encoding="utf-8")
    assert codebook_of(path).columns["q"].asked.design == found.asked.design
