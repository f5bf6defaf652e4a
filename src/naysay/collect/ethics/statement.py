"""The statement for an ethics board: its sections, in words and numbers of the survey at hand.

The numbers of a statement for an ethics board: those of the respondent's page, of each question at its most open.
"""

from __future__ import annotations

import datetime
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.metadata import version
from typing import Any, NamedTuple

from naysay import report
from naysay.collect.survey import repeated
from naysay.collect.survey.published import Published
from naysay.errors import DataError
from naysay.questionnaire import Questionnaire, check, in_words, statements, together
from naysay.questionnaire.statements import private_questions, times
from naysay.show import Column, Content, Note, Points, Sentence, Table, markdown, markdown_text

LANGUAGES = ("en",)
"""The languages in which the statement has words of its own; questions are quoted in any language."""

_MOST_ROWS = 10  # private questions in the table of the two pages; more have an annex
_MOST_LABELS = 12  # direct questions that are quoted
_LONGEST, _PARAGRAPH = 52, 240  # letters of a question and of a paragraph that are quoted
_MOST_WARNINGS = 2  # warnings that are quoted


@dataclass(frozen=True)
class Statement:
    """What an ethics board must know about a survey, on two pages.

    The data flow, what each private answer tells and all together, who could do harm and what holds, what invitations
    hide, and blanks for what only the researchers can say. The numbers are those of the respondent's page.

    Parameters
    ----------
    published : Published
    language : str, optional
        Of the questions, and of the words where naysay has them (see `LANGUAGES`); by default English where the
        questionnaire has it, otherwise its first language.
    until : date, optional
        When the replies will be deleted.
    smallest : int, optional
        The fewest people for whom an estimate will be published.

    Raises
    ------
    DataError
        A language that the questionnaire does not have.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.questionnaire import sample
    >>> found = Statement(Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})))
    >>> print(found.to_markdown().splitlines()[0])
    # Statement for an ethics board: A sample survey
    """

    published: Published
    language: str | None = None
    until: datetime.date | None = None
    smallest: int | None = None

    def __post_init__(self) -> None:
        form = self.published.questionnaire
        if self.language is not None and self.language not in form.languages:
            language_list = ", ".join(form.languages)
            raise DataError(f"survey {form.name!r} has no texts in {self.language!r}; it has {language_list}")

    @property
    def question_language(self) -> str:
        """The language of the questions that are quoted."""
        languages = self.published.questionnaire.languages
        english = [language for language in languages if language.partition("-")[0].lower() == "en"]
        return self.language or [*english, *languages][0]

    @property
    def words_language(self) -> str:
        """The language of its own words."""
        base = self.question_language.partition("-")[0].lower()
        return base if base in LANGUAGES else "en"

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self._words["title"]).format(
            title=_one_line(self.published.questionnaire.title[self.question_language], 2 * _LONGEST)
        )

    @property
    def lead(self) -> tuple[str, ...]:
        """Which survey it is about, by whom, and who made the statement."""
        form, words = self.published.questionnaire, self._words
        placeholders = {
            "name": form.name,
            "hash": self.published.hash,
            "contact": _one_line(form.contact.get(self.question_language, ""), _PARAGRAPH) or words["nobody"],
            "version": version("naysay"),
        }
        about = _one_line(form.about.get(self.question_language, ""), _PARAGRAPH)
        return (
            *([about] if about else []),
            *(str(words[word_name]).format(**placeholders) for word_name in ("contact", "about", "made")),
        )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The numbers that matter most, each with what it is."""
        form, words = self.published.questionnaire, self._words
        moved_points, private = repeated.most_moved_points(form), self._disclosures
        facts = [(str(len(private)), str(words["private"]).format(all=len(form.questions)))]
        if moved_points is None:
            return tuple(facts)
        most_odds = max(disclosure.odds for disclosure in private)
        odds_words = words["revealing"] if math.isinf(most_odds) else words["odds"]
        return (*facts, (f"× {rounded(most_odds)}", odds_words), (f"{moved_points:.3g}", words["moved"]))

    def sections(self) -> tuple[tuple[str, list[Content]], ...]:
        """Each heading with its content; see `naysay.show`."""
        words = self._words
        annex: list[Content] = [self._table(self._disclosures)] if len(self._disclosures) > _MOST_ROWS else []
        parts: tuple[tuple[str, list[Content]], ...] = (
            ("short", [Points(tuple(self._short()))]),
            ("flow", [self._flow()]),
            ("privacy", list(self._privacy())),
            ("threats", self._threats()),
            ("access", [Sentence(text) for text in self._access()]),
            ("board", [Points(tuple(words["board"]["items"]))]),
            ("annex", annex),
        )
        return tuple((words[name]["heading"], content) for name, content in parts if content)

    def to_html(self) -> str:
        """The statement as one page that loads nothing, and that prints on two pages.

        Raises
        ------
        ExtraMissing
            Without the extra ``plots``.
        """
        sections = [report.Section(heading, content) for heading, content in self.sections()]
        return report.html(
            self.title, sections, lead=self.lead, facts=self.facts, language=self.words_language, flow=True, dense=True
        )

    def to_markdown(self) -> str:
        """The statement in Markdown, to fill in and to change."""
        parts = [f"# {markdown_text(self.title)}", *map(markdown_text, self.lead)]
        for heading, content in self.sections():
            parts += [f"## {markdown_text(heading)}", markdown(content)]
        return "\n\n".join(parts) + "\n"

    @cached_property
    def _words(self) -> dict[str, Any]:
        return _words_of(self.words_language)

    @cached_property
    def _disclosures(self) -> list[QuestionDisclosure]:
        return disclosures_of(self.published.questionnaire, self.question_language)

    def _short(self) -> Iterator[str]:
        words, form, private = self._words["short"], self.published.questionnaire, self._disclosures
        labels = [question.label[self.question_language] for question in form.questions if question.privacy is None]
        direct = [in_words(label, form, self.question_language) for label in labels]
        if not private:
            yield words["none"]
        else:
            yield words["private"].format(private=len(private), all=len(form.questions))
            finite = [disclosure.odds for disclosure in private if not math.isinf(disclosure.odds)]
            if finite:
                yield words["suspicion"].format(after=after(max(finite)))
            revealing_labels = [disclosure.label for disclosure in private if disclosure.reveals]
            if revealing_labels:
                yield words["reveals"].format(names=self._label_list(revealing_labels))
        yield (
            words["direct"].format(direct=len(direct), names=self._label_list(direct))
            if direct
            else words["all_private"]
        )
        if private:
            yield words["purpose"]
        yield words["humans"]

    def _label_list(self, labels: Sequence[str]) -> str:
        quoted_labels = [f"“{_one_line(label)}”" for label in labels[:_MOST_LABELS]]
        omitted_count = len(labels) - len(quoted_labels)
        return ", ".join(quoted_labels) + (f" (+ {omitted_count})" if omitted_count else "")

    def _flow(self) -> Table:
        words = self._words["flow"]
        day = words["until"].format(day=self.until.isoformat()) if self.until else words["undated"]
        placeholders = {"length": f"{self.published.body_length:,}", "until": day}
        rows = [
            [cell.format(**placeholders) for cell in words[station]]
            for station in ("device", "wire", "server", "database", "export")
        ]
        return _words_table(words["columns"], rows, words["caption"])

    def _privacy(self) -> Iterator[Content]:
        words, private = self._words["privacy"], self._disclosures
        if not private:
            return
        most_telling = sorted(
            private, key=lambda disclosure: (disclosure.reveals, disclosure.odds, disclosure.bits), reverse=True
        )[:_MOST_ROWS]
        yield self._table([disclosure for disclosure in private if disclosure in most_telling])
        if len(private) > _MOST_ROWS:
            yield Sentence(words["annex"].format(shown=_MOST_ROWS, all=len(private)), small=True)
        total = together(self.published.questionnaire)
        epsilon, bits = total["epsilon"], rounded(total["bits"] or 0.0)
        sum_text = words["infinite"] if epsilon is None else words["finite"]
        yield Sentence(f"{sum_text.format(epsilon=rounded(epsilon or 0.0), bits=bits)} {words['beside']}")
        beside = [disclosure.label for disclosure in private if disclosure.innocuous]
        if beside:
            yield Sentence(words["innocuous"].format(names=self._label_list(beside)))
        yield Sentence(words["epsilon"], small=True)
        yield from self._warning_notes()

    def _table(self, private: Sequence[QuestionDisclosure]) -> Table:
        words = self._words["privacy"]
        question_heading, drawing_heading, *number_headings = words["columns"]
        columns = (
            Column(question_heading, words=True),
            Column(drawing_heading, words=True),
            *(Column(name) for name in number_headings),
        )
        return Table(columns, tuple(self._row(disclosure) for disclosure in private), words["caption"])

    def _row(self, disclosure: QuestionDisclosure) -> tuple[str, ...]:
        words, (least_left, most_left) = self._words["privacy"], disclosure.possible
        categories_left = (
            str(least_left) if least_left == most_left else words["between"].format(few=least_left, many=most_left)
        )
        drawing_text = (
            words["either"]
            if disclosure.hand and disclosure.device
            else words["hand"]
            if disclosure.hand
            else words["device"]
        )
        label = _one_line(disclosure.label)
        return (
            label if disclosure.many == 1 else words["each"].format(label=label, many=disclosure.many),
            drawing_text,
            str(disclosure.levels) if disclosure.levels > 1 else "–",
            words["possible"].format(left=categories_left, categories=disclosure.categories),
            words["certain"] if math.isinf(disclosure.odds) else words["times"].format(odds=rounded(disclosure.odds)),
            rounded(disclosure.epsilon),
            words["bits"].format(bits=rounded(disclosure.bits), most=f"{math.log2(disclosure.categories):.3g}"),
        )

    def _warning_notes(self) -> Iterator[Note]:
        words = self._words["privacy"]
        problems = check(self.published.questionnaire)
        warning_texts = [*dict.fromkeys(problem.message for problem in problems if problem.severity == "warning")]
        for warning in warning_texts[:_MOST_WARNINGS]:
            message = in_words(warning, self.published.questionnaire, self.question_language)
            yield Note(words["warned"].format(message=_one_line(message, _PARAGRAPH)))
        if not warning_texts:
            yield Note(words["unwarned"])
        elif len(warning_texts) > _MOST_WARNINGS:
            yield Note(words["more"].format(count=len(warning_texts) - _MOST_WARNINGS))

    def _threats(self) -> list[Content]:
        words, private = self._words["threats"], self._disclosures
        by_hand = sum(disclosure.hand for disclosure in private)
        kind = "none" if not by_hand else "all" if by_hand == len(private) else "some"
        placeholders = {
            "drawn": self._words["drawn"][kind].format(some=by_hand, private=len(private)),
            "once": self._words["once"]["open" if self.published.key is None else "invited"],
            "moved": repeated.moved_points_text(self.published.questionnaire) or "–",
            "smallest": "____" if self.smallest is None else f"{self.smallest:,}",
        }
        safe = [(threat["who"], threat["what"]) for threat in words["safe"]]
        unsafe = [
            [threat[cell].format(**placeholders) for cell in ("who", "what", "helps")] for threat in words["unsafe"]
        ]
        return [
            *([_words_table(words["holds_columns"], safe, words["holds"])] if private else []),
            _words_table(words["open_columns"], unsafe, words["open"]),
        ]

    def _access(self) -> Iterator[str]:
        words, moved = self._words["access"], repeated.moved_points_text(self.published.questionnaire)
        access_text = words["open"] if self.published.key is None else words["invited"]
        yield access_text.format(moved=words["moves"].format(moved=moved) if moved else "")
        yield words["hidden"]


@cache
def _words_of(language: str) -> dict[str, Any]:
    place = resources.files("naysay.collect.ethics").joinpath("words", f"{language}.toml")
    return tomllib.loads(place.read_text(encoding="utf-8"))


def _one_line(text: str, most: int = _LONGEST) -> str:
    """A text in one line, and not so long that the statement exceeds its pages."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _words_table(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> Table:
    """A table of words."""
    return Table(tuple(Column(name, words=True) for name in names), tuple(tuple(row) for row in rows), caption)


class QuestionDisclosure(NamedTuple):
    """What an answer to one private question tells, at the level that tells most."""

    name: str
    label: str
    many: int
    levels: int
    hand: bool
    device: bool
    innocuous: bool
    possible: tuple[int, int]
    categories: int
    odds: float
    epsilon: float
    bits: float

    @property
    def reveals(self) -> bool:
        """Whether an answer may show the true category."""
        return self.possible[0] == 1


def disclosures_of(form: Questionnaire, language: str) -> list[QuestionDisclosure]:
    """Every private question in the order in which it is asked; see `naysay.questionnaire.statements`.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [(each.name, each.odds) for each in disclosures_of(sample(), "en")][:2]
    [('income', 4.0), ('smoking', 2.333...)]
    """
    level_statements = statements(form)
    disclosures = []
    for question, private in private_questions(form):
        levels = level_statements[question.name]
        device_levels = {level_row["level"] for level_row in levels} - set(private.by_hand)
        disclosures.append(
            QuestionDisclosure(
                question.name,
                in_words(question.label[language], form, language),
                times(question),
                len(levels),
                hand="hand" in private.modes or bool(private.by_hand),
                device="device" in private.modes and bool(device_levels),
                innocuous=bool(private.innocuous),
                possible=(min(_possible_counts(levels, 0)), max(_possible_counts(levels, 1))),
                categories=levels[0]["categories"],
                odds=max(_finite(level_row["odds"]) for level_row in levels),
                epsilon=max(_finite(level_row["epsilon"]) for level_row in levels),
                bits=max(level_row["bits"] for level_row in levels),
            )
        )
    return disclosures


def _possible_counts(levels: list[dict[str, Any]], end: int) -> list[int]:
    fewest_possible = min(level_row["still_possible"][0] for level_row in levels)
    return [
        level_row["still_possible"][end] for level_row in levels if level_row["still_possible"][0] == fewest_possible
    ]


def _finite(value: float | None) -> float:
    return math.inf if value is None else value


def after(odds: float, before: float = 0.1) -> int:
    """What a suspicion, of 10 in 100, may become after an answer that changes the odds by this factor; rounded up.

    Examples
    --------
    >>> after(3.0), after(math.inf)
    (25, 100)
    """
    return 100 if math.isinf(odds) else math.ceil(100 * before * odds / (1 - before + before * odds) - 1e-9)


def rounded(value: float, digits: int = 3) -> str:
    """A number with a few digits that is never less than the value: what a statement promises must hold.

    Examples
    --------
    >>> rounded(2.33333), rounded(math.inf), rounded(4.0), rounded(1234.5)
    ('2.34', '∞', '4', '1240')
    """
    if math.isinf(value) or value == 0:
        return "∞" if value else "0"
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    up = math.ceil(value / unit - 1e-9) * unit
    return f"{up:.{digits}g}" if up < 10**digits else f"{up:.0f}"
