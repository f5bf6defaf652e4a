"""What the columns of a file of answers mean: the codebook that an export leaves beside it.

The values of a private column mean that categories are ruled out, or what chance made of an answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from naysay._values import JsonNode, JsonObject, Label
from naysay.errors import DataError
from naysay.files.text import text_of, unescaped
from naysay.responses import JOINER

if TYPE_CHECKING:  # most files have no column of randomized answers, and need no design
    from naysay.design import Answerable, Design

Holds = Literal["values", "sets", "flags", "numbers", "days", "texts"]
"""What a column holds: one value, sets of them such as ``a;b``, 0 and 1, numbers, days, or people's own words."""

_VERSION = 1


@dataclass(frozen=True)
class Value:
    """One value of a column.

    Parameters
    ----------
    code : int
        In files of SPSS and Stata.
    name, label : str
        In the survey, and what respondents read.
    meaning : str
        Of a private column what the value says of a person, such as ``not 10 or more``; empty where the label says it.
    """

    code: int
    name: str
    label: str
    meaning: str = ""


def arm_words(name: str) -> str:
    """The name of an arm as people read it; no two become alike, as names have no blanks.

    Examples
    --------
    >>> arm_words("long_form")
    'long form'
    """
    return name.replace("_", " ")


EVERYBODY = ""
"""The name of the arm where all people give all answers that measure something, so that there is one sample."""


@dataclass(frozen=True)
class Asked:
    """How the answers in a column were randomized, and which other columns say more about them.

    Parameters
    ----------
    design : Design, Levels or Samples
    level : str, optional
        The column with the levels that respondents chose.
    beside : tuple of str
        The columns with the answers of the same people to controls, in the order of the design.
    sample : tuple of str
        The columns that name the sample of a design of several samples, such as the truth of a control; the names of
        several are joined by "; ".
    arms : {sample: columns}
        The columns that are the samples, where each stands in a column of its own; several where people gave several
        answers, in the order of the design's. The single sample of all people is called `EVERYBODY`.
    """

    design: Answerable
    level: str | None = None
    beside: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    arms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The other columns that an estimate reads."""
        return tuple(filter(None, dict.fromkeys((self.level, *self.beside, *self.sample))))

    @property
    def is_of_everybody(self) -> bool:
        """Whether there are columns of samples, and they are those of one: all people gave all of the answers."""
        return EVERYBODY in self.arms

    def answer_names(self, measure: str) -> list[str]:
        """What the answers of a person are called where all arms stand in the same columns: ``drugs, drugs 2, …``."""
        answers = len(next(iter(self.arms.values())))
        return [measure, *(f"{measure} {place}" for place in range(2, answers + 1))]


@dataclass(frozen=True)
class Entry:
    """One column.

    Parameters
    ----------
    column : str
        Its name in the file.
    question : str
        The question that it belongs to.
    label : str
        What was asked; of a private column with what its values are before it.
    holds : Holds
    values : tuple of Value
        Those that it may hold; of a scale of numbers those that have a label.
    measure : {"nominal", "ordinal", "scale"}
    asked : Asked, optional
        Where the answers are private: how they were randomized, about the names of the values.
    wording : str
        What was asked, as respondents read it; empty where the label is that.
    meaning : str
        Of a private column, one sentence on what its values are.
    weights : tuple of int
        The chances of the values, where the device drew them by lot.
    strata : str
        The column within whose values the sizes are compared with that lot; empty for none.

    Examples
    --------
    >>> values = (Value(1, "yes", "Ja"), Value(2, "no", "Nein"))
    >>> Entry("smoking", "smoking", "Rauchen Sie?", "values", values).words(coded=True)
    {'1': 'Ja', '2': 'Nein'}
    """

    column: str
    question: str
    label: str
    holds: Holds
    values: tuple[Value, ...] = ()
    measure: Literal["nominal", "ordinal", "scale"] = "nominal"
    asked: Asked | None = None
    wording: str = ""
    meaning: str = ""
    weights: tuple[int, ...] = ()
    strata: str = ""

    @property
    def listed(self) -> bool:
        """Whether its cells are values of a list, or sets of them."""
        return self.holds in ("values", "sets")

    @property
    def labels(self) -> dict[str, str]:
        """What each value is called where people read it, by name; values whose labels are alike keep their names."""
        label_texts = [
            value.label.replace(JOINER, ",") if self.holds == "sets" else value.label for value in self.values
        ]
        value_names = {value.name for value in self.values}
        unique_labels = {
            value.name: label_text
            for value, label_text in zip(self.values, label_texts, strict=True)
            if label_text.strip()
            and label_texts.count(label_text) == 1
            and label_text not in value_names - {value.name}
        }
        return {value.name: unique_labels.get(value.name, value.name) for value in self.values}

    def words(self, *, coded: bool, names: bool = False) -> dict[str, str]:
        """What stands for each cell where it is read: labels, or names; cells hold codes, or names."""
        label_of = {value.name: value.name for value in self.values} if names else self.labels
        return {str(value.code) if coded else value.name: label_of[value.name] for value in self.values}

    def worded(self, *, names: bool = False) -> Asked | None:
        """How its answers were randomized, about the words that `words` gives."""
        if self.asked is None or names:
            return self.asked
        from naysay.design import Samples, relabeled

        label_of, design = self.labels, relabeled(self.asked.design, self.labels)
        if self.asked.sample and isinstance(design, Samples):  # the truths in the other column have labels, too
            pieces = [str(name).split("; ") for name in design.levels if name is not None]
            labeled_names = tuple("; ".join(label_of.get(piece, piece) for piece in name) for name in pieces)
            design = replace(design, names=labeled_names or design.levels)
        arms = {arm_words(arm): column for arm, column in self.asked.arms.items()}
        if arms and isinstance(design, Samples) and not design.single:
            design = replace(design, names=tuple(arm_words(str(name)) for name in design.names))
        return replace(self.asked, design=design, arms=arms)

    def form(self) -> JsonObject:
        """The entry as a JSON object."""
        json_fields: JsonObject = {name: getattr(self, name) for name in ("column", "question", "label", "holds")}
        json_fields |= {"wording": self.wording, "meaning": self.meaning}
        json_fields |= {"measure": self.measure, "values": [vars(value) for value in self.values]}
        json_fields |= {"weights": list(self.weights)} if self.weights else {}
        json_fields |= {"strata": self.strata} if self.strata else {}
        if self.asked is not None:
            json_fields |= {"level": self.asked.level, "design": json.loads(self.asked.design.to_json())}
            others = {
                "beside": list(self.asked.beside),
                "sample": list(self.asked.sample),
                "arms": {arm: columns[0] if len(columns) == 1 else columns for arm, columns in self.asked.arms.items()},
            }
            json_fields |= {name: content for name, content in others.items() if content}
        return json_fields

    @classmethod
    def of_form(cls, node: JsonNode) -> Entry:
        """The entry that a JSON object describes."""
        plain_fields = {name: node[name] for name in ("column", "question", "label", "holds", "measure")}
        plain_fields |= {"meaning": node.get("meaning", ""), "wording": node.get("wording", "")}  # older ones have none
        randomization = None
        if "design" in node:
            from naysay.design import read

            beside, sample = (tuple(map(str, node.get(name, ()))) for name in ("beside", "sample"))
            arms = {
                arm: (columns,) if isinstance(columns, str) else tuple(columns)
                for arm, columns in node.get("arms", {}).items()
            }
            randomization = Asked(read(node["design"]), node["level"], beside, sample, arms)
        return cls(
            **plain_fields,
            values=tuple(Value(**value_fields) for value_fields in node["values"]),
            asked=randomization,
            weights=tuple(node.get("weights", ())),
            strata=node.get("strata", ""),
        )


@dataclass(frozen=True)
class Codebook:
    """What the columns of a file mean, and of which survey they are.

    Parameters
    ----------
    survey, title, hash : str
        The survey's name, its title, and the hash under which it was published.
    language : str
        Of the labels.
    entries : tuple of Entry
        The columns, in order.
    coded : bool
        Whether cells hold codes, as in files of SPSS and Stata, and not names.
    about : str
        Why it was asked, and by whom.
    measures : tuple of Entry
        What several columns measure together, each in its arm; these are no columns themselves.
    count : str
        The column with how many people each row stands for; empty where each row is one.

    Examples
    --------
    >>> entry = Entry("age", "age", "How old are you?", "numbers", measure="scale")
    >>> book = Codebook("sample", "A sample", "0" * 64, "en", (entry,))
    >>> Codebook.of_form(book.form()) == book
    True
    """

    survey: str
    title: str
    hash: str
    language: str
    entries: tuple[Entry, ...]
    coded: bool = False
    about: str = ""
    measures: tuple[Entry, ...] = ()
    count: str = ""

    @property
    def columns(self) -> dict[str, Entry]:
        """The entries by the name of their column, and those of measures by theirs."""
        return {entry.column: entry for entry in (*self.entries, *self.measures)}

    def asked(self, *, names: bool = False) -> dict[str, Asked]:
        """How the answers in each private column were randomized, about labels, or on request about names."""
        randomization_of = {entry.column: entry.worded(names=names) for entry in self.entries}
        return {
            column: randomization for column, randomization in randomization_of.items() if randomization is not None
        }

    def read(self, frame: pl.LazyFrame, *, names: bool = False, escaped: bool = False) -> pl.LazyFrame:
        """The frame with labels, or on request names, in place of what the file holds; numbers and days as such.

        Columns without an entry stay as they are.
        """
        schema = frame.collect_schema()
        return frame.with_columns(
            unescaped(entry.column) if entry.holds == "texts" else self._cells(entry, schema[entry.column], names=names)
            for entry in self.entries
            if entry.column in schema and (entry.holds != "texts" or escaped)
        )

    def _cells(self, entry: Entry, dtype: pl.DataType, *, names: bool) -> pl.Expr:
        """The cells of a column as words, or as the numbers or days that they are."""
        if not entry.listed:
            cell = pl.col(entry.column)
            if entry.holds != "days":
                return cell.cast(pl.Float64)
            return cell.str.to_date() if dtype == pl.String else cell.cast(pl.Date)
        words = entry.words(coded=self.coded and entry.holds == "values", names=names)
        cell = text_of(entry.column, dtype)
        if entry.holds == "values":
            return cell.replace(words).alias(entry.column)
        return cell.str.split(JOINER).list.eval(pl.element().replace(words)).list.join(JOINER).alias(entry.column)

    def form(self) -> JsonObject:
        """The codebook as a JSON object, complete with every design."""
        head_fields = {name: getattr(self, name) for name in ("survey", "title", "about", "hash", "language", "coded")}
        entry_forms = [entry.form() for entry in self.entries]
        others = {"measures": [entry.form() for entry in self.measures], "count": self.count}
        others = {name: content for name, content in others.items() if content}
        return {"naysay": "codebook", "version": _VERSION, **head_fields, **others, "columns": entry_forms}

    @classmethod
    def of_form(cls, node: JsonNode) -> Codebook:
        """The codebook that a JSON object describes."""
        plain = {name: node[name] for name in ("survey", "title", "about", "hash", "language", "coded")}
        entries, measures = (tuple(map(Entry.of_form, node.get(name, ()))) for name in ("columns", "measures"))
        return cls(**plain, entries=entries, measures=measures, count=node.get("count", ""))


def place_of(path: Path) -> Path:
    """Where the codebook of a file is.

    Examples
    --------
    >>> place_of(Path("study/data.sav")).name
    'data.sav.designs.json'
    """
    return path.with_name(f"{path.name}.designs.json")  # data.csv and data.sav hold other cells


def codebook_of(path: Path) -> Codebook | None:
    """The codebook that an export left beside a file; None where there is none.

    Raises
    ------
    DataError
        One that cannot be read.
    """
    if not path.name:  # a folder, such as ".": whoever reads the file says so
        return None
    codebook_path = place_of(path)
    try:
        codebook_text = codebook_path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {str(codebook_path)!r}, the codebook of {str(path)!r}: {error}") from None
    try:
        node = json.loads(codebook_text)
        if (node["naysay"], node["version"]) != ("codebook", _VERSION):
            raise ValueError(f"this naysay reads codebooks of version {_VERSION}")
        return Codebook.of_form(node)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{str(codebook_path)!r} is not the codebook of an export ({error})"
        raise DataError(f"{problem}; export the survey again, or move that file away from {path.name!r}") from None


def designs_of(path: Path, *, codes: bool = False) -> dict[str, Asked]:
    """How the answers in each private column of a survey's export were randomized; empty for any other file.

    The designs are about the words that `naysay.files.scan` reads there, so that both fit together.

    Parameters
    ----------
    path : Path
        The file of data.
    codes : bool
        As for `naysay.files.scan`: the names in the questionnaire instead of labels.

    Raises
    ------
    DataError
        A codebook beside the file that cannot be read.

    Examples
    --------
    >>> designs_of(Path("no-export.csv"))
    {}
    """
    book = codebook_of(path)
    return {} if book is None else book.asked(names=codes)


class Phrases(NamedTuple):
    """How the meaning of a value, and of a whole column, is said in one language."""

    ruled_out: str
    randomized: str
    never_sent: str
    at_levels: str
    heads: Mapping[str, str]
    """What the label of a private column begins with, by what its values are."""
    sentences: Mapping[str, str]
    either: str
    by_value: str
    as_it_is: str = "{option}"

    def head(self, kinds: Iterable[str]) -> str:
        """The beginning of a label, where values are of one kind or of several."""
        first_head, *other_heads = (self.heads[kind] for kind in kinds)
        other_heads = [word if word.isupper() else word[:1].lower() + word[1:] for word in other_heads]
        return f" {self.either} ".join([first_head, *other_heads])


_KINDS = ("ruled_out", "randomized", "as_it_is")


def _phrases(
    values: tuple[str, str, str, str], heads: Sequence[str], sentences: Sequence[str], either: str, by_value: str
) -> Phrases:
    of_labels, of_columns = (dict(zip(_KINDS, words, strict=True)) for words in (heads, sentences))
    return Phrases(*values, heads=of_labels, sentences=of_columns, either=either, by_value=by_value)


PHRASES = {
    "en": _phrases(
        ("not {option}", "{option} (after randomization)", "{option} (never sent)", "level {levels}: {words}"),
        ("RULED OUT", "After randomization", "Sent as it is"),
        (
            "not the person's answer: the person says that they are NOT in any category that is named here",
            "not the person's answer: chance had a part in what was sent, and it may equal the answer or not",
            "the design changes no answer",
        ),
        "or",
        "the meaning of each value says which",
    ),
    "de": _phrases(
        ("nicht {option}", "{option} (nach Randomisierung)", "{option} (nie gesendet)", "Stufe {levels}: {words}"),
        ("AUSGESCHLOSSEN", "Nach Randomisierung", "Unverändert gesendet"),
        (
            "nicht die Antwort der Person: Sie sagt, dass sie zu KEINER der hier genannten Kategorien gehört",
            "nicht die Antwort der Person: Was gesendet wurde, hat der Zufall mitbestimmt. Es kann die Antwort sein",
            "das Verfahren ändert keine Antwort",
        ),
        "oder",
        "Was zutrifft, sagt die Bedeutung jedes Werts",
    ),
    "es": _phrases(
        ("no {option}", "{option} (tras la aleatorización)", "{option} (nunca enviado)", "nivel {levels}: {words}"),
        ("DESCARTADO", "Tras la aleatorización", "Enviado tal cual"),
        (
            "no es la respuesta de la persona: dice que NO está en ninguna de las categorías que se nombran aquí",
            "no es la respuesta de la persona: el azar intervino en lo que se envió, que puede coincidir o no con ella",
            "el diseño no cambia ninguna respuesta",
        ),
        "o",
        "el significado de cada valor dice cuál",
    ),
    "ar": _phrases(
        ("ليس {option}", "{option} (بعد القرعة)", "{option} (لا يُرسل أبدًا)", "المستوى {levels}: {words}"),
        ("مُستبعَد", "بعد القرعة", "مُرسَل كما هو"),
        (
            "ليست إجابة الشخص: يقول إنه لا ينتمي إلى أي فئة مذكورة هنا",
            "ليست إجابة الشخص: كان للقرعة دور فيما أُرسل، وقد يطابق الإجابة أو لا يطابقها",
            "لا يغيّر التصميم أي إجابة",
        ),
        "أو",
        "يبيّن معنى كل قيمة أيّهما",
    ),
}
"""By language. What is ruled out is said as on the respondent's page; other languages get the English words."""

_BY_CHANCE = frozenset(
    words.head(kinds)
    for words in PHRASES.values()
    for size in range(1, len(_KINDS) + 1)
    for kinds in itertools.combinations(_KINDS, size)
    if kinds != ("as_it_is",)
)


def is_randomized(label: str) -> bool:
    """Whether the label of a variable says that chance had a part in its values.

    Examples
    --------
    >>> is_randomized("RULED OUT: How many?"), is_randomized("Nach Randomisierung: Rauchen Sie?")
    (True, True)
    >>> is_randomized("Sent as it is: How many?"), is_randomized("After randomization of clinics: which one?")
    (False, False)
    """
    return label.partition(": ")[0] in _BY_CHANCE


def explained(entry: Entry, *, language: str = "en") -> Entry:
    """The entry with what its values mean; that of a plain column is as it was.

    A label stays what the design calls it, so that estimates are about the categories. The meaning stands beside it.

    Parameters
    ----------
    entry : Entry
        Its label is what was asked.
    language : str
        Of the labels.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.files import Asked
    >>> values = tuple(Value(code, name, name) for code, name in enumerate(("0-2", "3-9", "10+"), start=1))
    >>> partners = Entry("partners", "partners", "How many?", "values", values)
    >>> negative = explained(replace(partners, asked=Asked(designs.negative(("0-2", "3-9", "10+")))))
    >>> negative.label, [value.meaning for value in negative.values]
    ('RULED OUT: How many?', ['not 0-2', 'not 3-9', 'not 10+'])
    >>> randomized = explained(replace(partners, asked=Asked(designs.k_ary(("0-2", "3-9", "10+"), epsilon=1))))
    >>> randomized.values[2].meaning
    '10+ (after randomization)'
    """
    if entry.asked is None:
        return entry
    design = entry.asked.design
    kinds_of_level = {level: _kinds(channel) for level, channel in design.parts.items()}
    phrases = PHRASES.get(language.partition("-")[0].lower(), PHRASES["en"])
    values = tuple(replace(value, meaning=_meaning(value, kinds_of_level, phrases)) for value in entry.values)
    categories = set(map(str, design.categories))
    of_categories = {
        kind for labels in kinds_of_level.values() for label, kind in labels.items() if label in categories
    }
    category_kinds = [kind for kind in _KINDS if kind in of_categories] or ["randomized"]  # others name no category
    label_head = phrases.head(category_kinds)
    meaning_text = (
        f"{label_head}, {phrases.sentences[category_kinds[0]]}."
        if len(category_kinds) == 1
        else f"{label_head}: {phrases.by_value}."
    )
    wording = entry.wording or entry.label
    return replace(entry, label=f"{label_head}: {wording}", wording=wording, meaning=meaning_text, values=values)


def _kinds(channel: Design) -> dict[str, str]:
    """What it says of a person that a response names a label, for each label that some response names."""
    space = channel.space
    if not (space.one_label or space.sets):
        return {}
    category_places = {str(category): place for place, category in enumerate(channel.categories)}
    label_texts = list(map(str, space.labels))
    if channel.structure.even_mean is not None:  # the same for all categories, which may be too many for a table
        alpha, beta = channel.structure.even_mean
        return {label: _kind(alpha + beta, beta) if label in category_places else "randomized" for label in label_texts}
    kind_of_label = {}
    # the chances that a label is named, by true category
    for label, naming_chances in zip(label_texts, channel.expected_statistic, strict=True):
        own_place = category_places.get(label)
        if naming_chances.any():
            kind_of_label[label] = (
                "randomized"
                if own_place is None
                else _kind(naming_chances[own_place], np.delete(naming_chances, own_place).max(initial=0.0))
            )
    return kind_of_label


def _kind(own_chance: float, other_chance: float) -> str:
    """What a label says that people in its category name with this chance, and others with that one at most."""
    if own_chance == 0:
        return "ruled_out"
    return "as_it_is" if (own_chance, other_chance) == (1, 0) else "randomized"


def _meaning(value: Value, kinds: Mapping[Label, Mapping[str, str]], phrases: Phrases) -> str:
    option_text = value.label.strip() or value.name
    levels_of_words: dict[str, list[str]] = {}
    for level, labels in kinds.items():
        if value.name in labels:
            meaning_words = getattr(phrases, labels[value.name]).format(option=option_text)
            levels_of_words.setdefault(meaning_words, []).append(str(level))
    if len(levels_of_words) <= 1:
        return next(iter(levels_of_words), phrases.never_sent.format(option=option_text))
    return "; ".join(
        phrases.at_levels.format(levels=", ".join(level_names), words=meaning_words)
        for meaning_words, level_names in levels_of_words.items()
    )
