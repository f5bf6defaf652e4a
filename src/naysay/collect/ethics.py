"""A two-page statement for an ethics board, in words and numbers of the survey at hand.

The numbers are those of the respondent's page, of each question at its most open.
"""

from __future__ import annotations

import datetime
import html
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import segno

from naysay import report
from naysay.collect.questionnaire import Questionnaire, check, in_words, statements, together
from naysay.collect.questionnaire.arms import counts_only
from naysay.collect.questionnaire.privacy import private_questions, times
from naysay.collect.survey import tallies
from naysay.collect.survey.published import Published
from naysay.show import Column, Content, Note, Points, Sentence, Table, markdown, markdown_text
from naysay.show.result import rounded_up

__all__ = ["LANGUAGES", "Statement"]

LANGUAGES = tuple(sorted(path.name.split(".")[1] for path in Path(__file__).parent.glob("ethics.*.toml")))
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
    >>> from naysay.collect.questionnaire import sample
    >>> found = Statement(Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})))
    >>> print(found.to_markdown().splitlines()[0])
    # Statement for an ethics board: A sample survey
    """

    published: Published
    language: str | None = None
    until: datetime.date | None = None
    smallest: int | None = None

    def __post_init__(self) -> None:
        self.published.questionnaire.language(self.language)

    @property
    def question_language(self) -> str:
        """The language of the questions that are quoted."""
        languages = self.published.questionnaire.languages
        english_languages = [language for language in languages if language.partition("-")[0].lower() == "en"]
        return self.language or [*english_languages, *languages][0]

    @property
    def words_language(self) -> str:
        """The language of its own words."""
        base_language = self.question_language.partition("-")[0].lower()
        return base_language if base_language in LANGUAGES else "en"

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
        about_line = _one_line(form.about.get(self.question_language, ""), _PARAGRAPH)
        contact, about, made = (str(words[name]).format(**placeholders) for name in ("contact", "about", "made"))
        change = words["changes" if self.published.key is None else "renewal"]
        return (*([about_line] if about_line else []), contact, f"{about} {change}", made)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The numbers that matter most, each with what it is."""
        form, words = self.published.questionnaire, self._words
        moved_points, private_disclosures = tallies.most_moved_points(form), self._disclosures
        facts = [(str(len(private_disclosures)), str(words["private"]).format(all=len(form.asked)))]
        if private_disclosures:
            most_odds = max(disclosure.odds for disclosure in private_disclosures)
            facts.append((f"× {rounded_up(most_odds)}", words["revealing" if math.isinf(most_odds) else "odds"]))
        if moved_points is not None:
            facts.append((rounded_up(moved_points), words["moved"]))
        return tuple(facts)

    def sections(self) -> tuple[tuple[str, list[Content]], ...]:
        """Each heading with its content; see `naysay.show`."""
        words = self._words
        annex_content: list[Content] = [self._table(self._disclosures)] if len(self._disclosures) > _MOST_ROWS else []
        flow_words = words["flow"]
        until_text = flow_words["until"].format(day=self.until.isoformat()) if self.until else flow_words["undated"]
        placeholders = {"length": f"{self.published.body_length:,}", "until": until_text}
        station_rows = [
            [cell_template.format(**placeholders) for cell_template in flow_words[station]]
            for station in ("device", "wire", "server", "database", "export")
        ]
        points_text = tallies.moved_points_text(self.published.questionnaire)
        moved_text = words["access"]["moves"].format(moved=points_text) if points_text else ""
        access_text = words["access"]["open" if self.published.key is None else "invited"].format(moved=moved_text)
        section_parts: tuple[tuple[str, list[Content]], ...] = (
            ("short", [Points(tuple(self._short()))]),
            ("flow", [_words_table(flow_words["columns"], station_rows, flow_words["caption"])]),
            ("privacy", list(self._privacy())),
            ("threats", self._threats()),
            ("access", [Sentence(access_text), Sentence(words["access"]["hidden"])]),
            ("board", [Points(tuple(words["board"]["items"]))]),
            ("annex", annex_content),
        )
        return tuple((words[section_name]["heading"], content) for section_name, content in section_parts if content)

    def to_html(self) -> str:
        """The statement as one page that loads nothing, and that prints on two pages.

        Raises
        ------
        ExtraMissing
            Without the extra ``plots``.
        """
        sections = [report.Section(heading, content) for heading, content in self.sections()]
        hash_code = segno.make_qr(self.published.hash.upper(), error="m").svg_inline(border=4, omitsize=True)
        words = html.escape(str(self._words["scan"]))
        figure = (
            f'<span title="{words}" style="float:inline-end;width:4rem;background:#fff;color:#000">{hash_code}</span>\n'
        )
        sections[0] = report.Section(sections[0].heading, figure + sections[0].body)
        return report.html(
            self.title, sections, lead=self.lead, facts=self.facts, language=self.words_language, flow=True, dense=True
        )

    def to_markdown(self) -> str:
        """The statement in Markdown, to fill in and to change."""
        markdown_parts = [f"# {markdown_text(self.title)}", *map(markdown_text, self.lead)]
        for heading, content in self.sections():
            markdown_parts += [f"## {markdown_text(heading)}", markdown(content)]
        return "\n\n".join(markdown_parts) + "\n"

    @cached_property
    def _words(self) -> dict[str, Any]:
        words_file = Path(__file__).with_name(f"ethics.{self.words_language}.toml")
        return tomllib.loads(words_file.read_text(encoding="utf-8"))

    @cached_property
    def _disclosures(self) -> list[QuestionDisclosure]:
        return disclosures_of(self.published.questionnaire, self.question_language)

    def _short(self) -> Iterator[str]:
        words, form, private_disclosures = self._words["short"], self.published.questionnaire, self._disclosures
        direct_labels = [question.label[self.question_language] for question in form.asked if question.privacy is None]
        direct_texts = [in_words(label, form, self.question_language) for label in direct_labels]
        if not private_disclosures:
            yield words["none"]
        else:
            yield words["private"].format(private=len(private_disclosures), all=len(form.asked))
            finite_odds = [disclosure.odds for disclosure in private_disclosures if not math.isinf(disclosure.odds)]
            if finite_odds:
                yield words["suspicion"].format(after=after(max(finite_odds)))
            revealing_labels = [disclosure.label for disclosure in private_disclosures if disclosure.reveals]
            if revealing_labels:
                yield words["reveals"].format(names=self._label_list(revealing_labels))
        yield (
            words["direct"].format(direct=len(direct_texts), names=self._label_list(direct_texts))
            if direct_texts
            else words["all_private"]
        )
        if count := sum(question.measures is not None and counts_only(question) for question in form.asked):
            yield words["counts"].format(counts=count)
        if form.arms:
            yield words["arms"].format(arms=len(form.arms))
        if control_count := sum(question.control is not None for question in form.asked):
            yield words["controls"].format(controls=control_count)
        if private_disclosures:
            yield words["purpose"]
        yield words["humans"]

    def _label_list(self, labels: Sequence[str]) -> str:
        quoted_labels = [f"“{_one_line(label)}”" for label in labels[:_MOST_LABELS]]
        omitted_count = len(labels) - len(quoted_labels)
        return ", ".join(quoted_labels) + (f" (+ {omitted_count})" if omitted_count else "")

    def _privacy(self) -> Iterator[Content]:
        words, private_disclosures = self._words["privacy"], self._disclosures
        if not private_disclosures:
            return
        most_telling = sorted(
            private_disclosures,
            key=lambda disclosure: (disclosure.reveals, disclosure.odds, disclosure.bits),
            reverse=True,
        )[:_MOST_ROWS]
        yield self._table([disclosure for disclosure in private_disclosures if disclosure in most_telling])
        if len(private_disclosures) > _MOST_ROWS:
            yield Sentence(words["annex"].format(shown=_MOST_ROWS, all=len(private_disclosures)), small=True)
        total_privacy = together(self.published.questionnaire)
        total_epsilon, bits_text = total_privacy["epsilon"], rounded_up(total_privacy["bits"] or 0.0)
        sum_text = words["infinite"] if total_epsilon is None else words["finite"]
        yield Sentence(f"{sum_text.format(epsilon=rounded_up(total_epsilon or 0.0), bits=bits_text)} {words['beside']}")
        innocuous_labels = [disclosure.label for disclosure in private_disclosures if disclosure.innocuous]
        if innocuous_labels:
            yield Sentence(words["innocuous"].format(names=self._label_list(innocuous_labels)))
        yield Sentence(words["epsilon"], small=True)
        problems = check(self.published.questionnaire)
        warning_texts = [*dict.fromkeys(problem.message for problem in problems if problem.severity == "warning")]
        for warning_text in warning_texts[:_MOST_WARNINGS]:
            message_text = in_words(warning_text, self.published.questionnaire, self.question_language)
            yield Note(words["warned"].format(message=_one_line(message_text, _PARAGRAPH)))
        if not warning_texts:
            yield Note(words["unwarned"])
        elif len(warning_texts) > _MOST_WARNINGS:
            yield Note(words["more"].format(count=len(warning_texts) - _MOST_WARNINGS))

    def _table(self, private: Sequence[QuestionDisclosure]) -> Table:
        words = self._words["privacy"]
        question_heading, drawing_heading, *number_headings = words["columns"]
        columns = (
            Column(question_heading, words=True),
            Column(drawing_heading, words=True),
            *(Column(number_heading) for number_heading in number_headings),
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
        label_line = _one_line(disclosure.label)
        return (
            label_line if disclosure.many == 1 else words["each"].format(label=label_line, many=disclosure.many),
            drawing_text,
            str(disclosure.levels) if disclosure.levels > 1 else "–",
            words["possible"].format(left=categories_left, categories=disclosure.categories),
            words["certain"]
            if math.isinf(disclosure.odds)
            else words["times"].format(odds=rounded_up(disclosure.odds)),
            rounded_up(disclosure.epsilon),
            words["bits"].format(bits=rounded_up(disclosure.bits), most=f"{math.log2(disclosure.categories):.3g}"),
        )

    def _threats(self) -> list[Content]:
        words, private_disclosures = self._words["threats"], self._disclosures
        by_hand = sum(disclosure.hand for disclosure in private_disclosures)
        hand_extent = "none" if not by_hand else "all" if by_hand == len(private_disclosures) else "some"
        placeholders = {
            "drawn": self._words["drawn"][hand_extent].format(some=by_hand, private=len(private_disclosures)),
            "once": self._words["once"]["open" if self.published.key is None else "invited"],
            "moved": tallies.moved_points_text(self.published.questionnaire) or "–",
            "smallest": "____" if self.smallest is None else f"{self.smallest:,}",
        }
        safe_rows = [(threat["who"], threat["what"]) for threat in words["safe"]]
        unsafe_rows = [
            [threat[cell_name].format(**placeholders) for cell_name in ("who", "what", "helps")]
            for threat in words["unsafe"]
        ]
        return [
            *([_words_table(words["holds_columns"], safe_rows, words["holds"])] if private_disclosures else []),
            _words_table(words["open_columns"], unsafe_rows, words["open"]),
        ]


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
    """Every private question in the order in which it is asked; see `naysay.collect.questionnaire.privacy`.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> [(each.name, each.odds) for each in disclosures_of(sample(), "en")][:2]
    [('income', 4.0), ('smoking', 2.333...)]
    """
    level_statements = statements(form)
    question_disclosures = []
    for question, private in private_questions(form):
        level_rows = level_statements[question.name]
        device_levels = {level_row["level"] for level_row in level_rows} - set(private.by_hand)
        question_disclosures.append(
            QuestionDisclosure(
                question.name,
                in_words(question.label[language], form, language),
                times(question),
                len(level_rows),
                hand="hand" in private.modes or bool(private.by_hand),
                device="device" in private.modes and bool(device_levels),
                innocuous=bool(private.innocuous),
                possible=(min(_possible_counts(level_rows, 0)), max(_possible_counts(level_rows, 1))),
                categories=level_rows[0]["categories"],
                odds=max(_finite(level_row["odds"]) for level_row in level_rows),
                epsilon=max(_finite(level_row["epsilon"]) for level_row in level_rows),
                bits=max(level_row["bits"] for level_row in level_rows),
            )
        )
    return question_disclosures


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
