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

_SHOWN = 10  # private questions in the table of the two pages; more have an annex
_NAMED = 12  # direct questions that are quoted
_LONGEST, _PARAGRAPH = 52, 240  # letters of a question and of a paragraph that are quoted
_WARNED = 2  # warnings that are quoted


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
            known = ", ".join(form.languages)
            raise DataError(f"survey {form.name!r} has no texts in {self.language!r}; it has {known}")

    @property
    def spoken(self) -> str:
        """The language of the questions that are quoted."""
        languages = self.published.questionnaire.languages
        english = [each for each in languages if each.partition("-")[0].lower() == "en"]
        return self.language or [*english, *languages][0]

    @property
    def written(self) -> str:
        """The language of its own words."""
        base = self.spoken.partition("-")[0].lower()
        return base if base in LANGUAGES else "en"

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self._words["title"]).format(
            title=_cut(self.published.questionnaire.title[self.spoken], 2 * _LONGEST)
        )

    @property
    def lead(self) -> tuple[str, ...]:
        """Which survey it is about, by whom, and who made the statement."""
        form, words = self.published.questionnaire, self._words
        known = {
            "name": form.name,
            "hash": self.published.hash,
            "contact": _cut(form.contact.get(self.spoken, ""), _PARAGRAPH) or words["nobody"],
            "version": version("naysay"),
        }
        about = _cut(form.about.get(self.spoken, ""), _PARAGRAPH)
        return (
            *([about] if about else []),
            *(str(words[each]).format(**known) for each in ("contact", "about", "made")),
        )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The numbers that matter most, each with what it is."""
        form, words = self.published.questionnaire, self._words
        moved, private = repeated.most_moved(form), self._told
        facts = [(str(len(private)), str(words["private"]).format(all=len(form.questions)))]
        if moved is None:
            return tuple(facts)
        most = max(each.odds for each in private)
        said = words["revealing"] if math.isinf(most) else words["odds"]
        return (*facts, (f"× {rounded(most)}", said), (f"{moved:.3g}", words["moved"]))

    def sections(self) -> tuple[tuple[str, list[Content]], ...]:
        """Each heading with its content; see `naysay.show`."""
        words = self._words
        annex: list[Content] = [self._table(self._told)] if len(self._told) > _SHOWN else []
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
            self.title, sections, lead=self.lead, facts=self.facts, language=self.written, flow=True, dense=True
        )

    def to_markdown(self) -> str:
        """The statement in Markdown, to fill in and to change."""
        parts = [f"# {markdown_text(self.title)}", *map(markdown_text, self.lead)]
        for heading, content in self.sections():
            parts += [f"## {markdown_text(heading)}", markdown(content)]
        return "\n\n".join(parts) + "\n"

    @cached_property
    def _words(self) -> dict[str, Any]:
        return _read(self.written)

    @cached_property
    def _told(self) -> list[Told]:
        return told(self.published.questionnaire, self.spoken)

    def _short(self) -> Iterator[str]:
        words, form, private = self._words["short"], self.published.questionnaire, self._told
        labels = [question.label[self.spoken] for question in form.questions if question.privacy is None]
        direct = [in_words(label, form, self.spoken) for label in labels]
        if not private:
            yield words["none"]
        else:
            yield words["private"].format(private=len(private), all=len(form.questions))
            finite = [each.odds for each in private if not math.isinf(each.odds)]
            if finite:
                yield words["suspicion"].format(after=after(max(finite)))
            shown = [each.label for each in private if each.reveals]
            if shown:
                yield words["reveals"].format(names=self._listed(shown))
        yield words["direct"].format(direct=len(direct), names=self._listed(direct)) if direct else words["all_private"]
        if private:
            yield words["purpose"]
        yield words["humans"]

    def _listed(self, labels: Sequence[str]) -> str:
        shown = [f"“{_cut(label)}”" for label in labels[:_NAMED]]
        rest = len(labels) - len(shown)
        return ", ".join(shown) + (f" (+ {rest})" if rest else "")

    def _flow(self) -> Table:
        words = self._words["flow"]
        day = words["until"].format(day=self.until.isoformat()) if self.until else words["undated"]
        known = {"length": f"{self.published.body_length:,}", "until": day}
        rows = [
            [cell.format(**known) for cell in words[each]]
            for each in ("device", "wire", "server", "database", "export")
        ]
        return _worded(words["columns"], rows, words["caption"])

    def _privacy(self) -> Iterator[Content]:
        words, private = self._words["privacy"], self._told
        if not private:
            return
        most = sorted(private, key=lambda each: (each.reveals, each.odds, each.bits), reverse=True)[:_SHOWN]
        yield self._table([each for each in private if each in most])
        if len(private) > _SHOWN:
            yield Sentence(words["annex"].format(shown=_SHOWN, all=len(private)), small=True)
        total = together(self.published.questionnaire)
        epsilon, bits = total["epsilon"], rounded(total["bits"] or 0.0)
        summed = words["infinite"] if epsilon is None else words["finite"]
        yield Sentence(f"{summed.format(epsilon=rounded(epsilon or 0.0), bits=bits)} {words['beside']}")
        beside = [each.label for each in private if each.innocuous]
        if beside:
            yield Sentence(words["innocuous"].format(names=self._listed(beside)))
        yield Sentence(words["epsilon"], small=True)
        yield from self._warned()

    def _table(self, private: Sequence[Told]) -> Table:
        words = self._words["privacy"]
        first, drawn, *numbers = words["columns"]
        columns = (Column(first, words=True), Column(drawn, words=True), *(Column(name) for name in numbers))
        return Table(columns, tuple(self._row(each) for each in private), words["caption"])

    def _row(self, each: Told) -> tuple[str, ...]:
        words, (few, many) = self._words["privacy"], each.possible
        left = str(few) if few == many else words["between"].format(few=few, many=many)
        by = words["either"] if each.hand and each.device else words["hand"] if each.hand else words["device"]
        label = _cut(each.label)
        return (
            label if each.many == 1 else words["each"].format(label=label, many=each.many),
            by,
            str(each.levels) if each.levels > 1 else "–",
            words["possible"].format(left=left, categories=each.categories),
            words["certain"] if math.isinf(each.odds) else words["times"].format(odds=rounded(each.odds)),
            rounded(each.epsilon),
            words["bits"].format(bits=rounded(each.bits), most=f"{math.log2(each.categories):.3g}"),
        )

    def _warned(self) -> Iterator[Note]:
        words = self._words["privacy"]
        problems = check(self.published.questionnaire)
        found = [*dict.fromkeys(each.message for each in problems if each.severity == "warning")]
        for warning in found[:_WARNED]:
            message = in_words(warning, self.published.questionnaire, self.spoken)
            yield Note(words["warned"].format(message=_cut(message, _PARAGRAPH)))
        if not found:
            yield Note(words["unwarned"])
        elif len(found) > _WARNED:
            yield Note(words["more"].format(count=len(found) - _WARNED))

    def _threats(self) -> list[Content]:
        words, private = self._words["threats"], self._told
        by_hand = sum(each.hand for each in private)
        kind = "none" if not by_hand else "all" if by_hand == len(private) else "some"
        known = {
            "drawn": self._words["drawn"][kind].format(some=by_hand, private=len(private)),
            "once": self._words["once"]["open" if self.published.key is None else "invited"],
            "moved": repeated.moved(self.published.questionnaire) or "–",
            "smallest": "____" if self.smallest is None else f"{self.smallest:,}",
        }
        safe = [(each["who"], each["what"]) for each in words["safe"]]
        unsafe = [[each[cell].format(**known) for cell in ("who", "what", "helps")] for each in words["unsafe"]]
        return [
            *([_worded(words["holds_columns"], safe, words["holds"])] if private else []),
            _worded(words["open_columns"], unsafe, words["open"]),
        ]

    def _access(self) -> Iterator[str]:
        words, moved = self._words["access"], repeated.moved(self.published.questionnaire)
        told = words["open"] if self.published.key is None else words["invited"]
        yield told.format(moved=words["moves"].format(moved=moved) if moved else "")
        yield words["hidden"]


@cache
def _read(language: str) -> dict[str, Any]:
    place = resources.files("naysay.collect.ethics").joinpath("words", f"{language}.toml")
    return tomllib.loads(place.read_text(encoding="utf-8"))


def _cut(text: str, most: int = _LONGEST) -> str:
    """A text in one line, and not so long that the statement exceeds its pages."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _worded(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> Table:
    """A table of words."""
    return Table(tuple(Column(name, words=True) for name in names), tuple(tuple(row) for row in rows), caption)


class Told(NamedTuple):
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


def told(form: Questionnaire, language: str) -> list[Told]:
    """Every private question in the order in which it is asked; see `naysay.questionnaire.statements`.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [(each.name, each.odds) for each in told(sample(), "en")][:2]
    [('income', 4.0), ('smoking', 2.333...)]
    """
    measured = statements(form)
    found = []
    for question, private in private_questions(form):
        levels = measured[question.name]
        own = {each["level"] for each in levels} - set(private.by_hand)
        found.append(
            Told(
                question.name,
                in_words(question.label[language], form, language),
                times(question),
                len(levels),
                hand="hand" in private.modes or bool(private.by_hand),
                device="device" in private.modes and bool(own),
                innocuous=bool(private.innocuous),
                possible=(min(_all(levels, 0)), max(_all(levels, 1))),
                categories=levels[0]["categories"],
                odds=max(_finite(each["odds"]) for each in levels),
                epsilon=max(_finite(each["epsilon"]) for each in levels),
                bits=max(each["bits"] for each in levels),
            )
        )
    return found


def _all(levels: list[dict[str, Any]], end: int) -> list[int]:
    most = min(each["still_possible"][0] for each in levels)
    return [each["still_possible"][end] for each in levels if each["still_possible"][0] == most]


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
