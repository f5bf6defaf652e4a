"""Pages of surveys and drafts: what there is, and everything that is done to one.

An uploaded questionnaire: what the checker says of it, at the very cells.

Pages on what was done: the log, the receipts of deletions, backups.

A question of a draft is made private in the browser: what each design promises, and what respondents then see. The page
runs no script, so a choice is a form that is sent, and the draft has it at once. It shows the words of the respondents'
page, read from its own files; ``tests/collect/page/test_admin.py`` holds them to the real screen.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import segno
from starlette.responses import Response

from naysay import planning
from naysay._checks import several
from naysay.collect import invitations
from naysay.collect.admin import backup as backups
from naysay.collect.admin import drafts, log, plans
from naysay.collect.admin.plans import Plan
from naysay.collect.admin.visits import HOME, Visit, download
from naysay.collect.client import Client
from naysay.collect.export import packed
from naysay.collect.questionnaire import (
    Examined,
    Problem,
    Question,
    Questionnaire,
    examine,
    in_words,
    lines,
    of_form,
    write_xlsform,
)
from naysay.collect.questionnaire.arms import innocuous_of
from naysay.collect.questionnaire.kinds import Decimal, Integer, SelectMultiple, SelectOne
from naysay.collect.questionnaire.offers import bins_of, carried_out, parted, private_of
from naysay.collect.questionnaire.privacy import statements
from naysay.collect.questionnaire.xlsform_rows import number_of
from naysay.collect.questionnaire.xlsform_sheets import Sheet, read_sheets
from naysay.collect.results import findings, sharing
from naysay.collect.results import page as results_page
from naysay.collect.storage import Listed, today
from naysay.collect.survey import tallies
from naysay.collect.survey.submission import Refusal
from naysay.design import read
from naysay.errors import DataError

FORMATS = {
    ".sav": "SPSS (.sav)",
    ".dta": "Stata (.dta)",
    ".xlsx": "Excel (.xlsx)",
    ".csv": "CSV",
    ".parquet": "Parquet",
}

Askable = SelectOne | SelectMultiple | Integer | Decimal
"""A question that can be made private."""

_MOST_LINKS = 10_000  # invitations at once


def home(visit: Visit) -> Response:
    """All surveys and drafts, and a form to upload another."""
    planned_surveys = [
        (listed_survey, plans.find(visit.store, listed_survey.name)) for listed_survey in visit.store.surveys()
    ]
    planned_drafts = [
        (saved_draft, plans.find(visit.store, saved_draft.name)) for saved_draft in drafts.listed(visit.store)
    ]
    return visit.page("home.html", surveys=planned_surveys, drafts=planned_drafts, receipts=len(visit.store.receipts()))


def upload(visit: Visit) -> Response:
    """Check an uploaded questionnaire: its problems, or the draft that it has become."""
    uploaded_file = visit.files.get("questionnaire")
    if uploaded_file is None or not uploaded_file.filename:
        raise DataError("choose a file first: a questionnaire in .xlsx, .csv, .md or .json")
    examined, sheets = examine_upload(uploaded_file.filename, uploaded_file.file.read())
    if examined.questionnaire is None:
        sheet_excerpts = excerpts(examined.problems, sheets)
        other_problems = [
            problem for problem in examined.problems if problem.place is None or problem.place.sheet not in sheets
        ]
        return visit.page(
            "problems.html",
            status=422,
            file=uploaded_file.filename,
            errors=len(examined.errors),
            excerpts=sheet_excerpts,
            rest=other_problems,
        )
    return keep_draft(visit, examined.questionnaire, "uploaded")


def draft(visit: Visit) -> Response:
    """A draft: what it asks, how private each answer is, and its preview."""
    saved_draft = draft_of(visit)
    form = saved_draft.questionnaire
    return visit.page(
        "draft.html",
        draft=saved_draft,
        title=_title(form),
        questions=_questions(form),
        privacy=lines(form),
        problems=of_form(form.form()).problems,
        plain=drafts.is_plain(form),
        plan=plans.find(visit.store, visit.name),
        today=today(),
        makes={question.name for question in form.questions if isinstance(question, Askable)},
    )


def publish(visit: Visit) -> Response:
    """Open the survey of a draft; without a private question only where that is ticked."""
    _check_agreed(visit, draft_of(visit).questionnaire)
    published = drafts.publish(visit.store, visit.name, client=visit.desk.client)
    visit.desk.record("opened", visit.name, f"hash {published.hash}")
    return _done(visit, "opened")


def discard(visit: Visit) -> Response:
    """Delete a draft."""
    draft_of(visit)
    drafts.discard(visit.store, visit.name)
    visit.desk.record("discarded", visit.name)
    return visit.to(HOME, "discarded")


def survey(visit: Visit) -> Response:
    """A survey: its state, its link, and what can be done to it."""
    listed_survey = _survey(visit)
    published = visit.store.published(visit.name)
    link = f"{visit.origin}/s/{visit.name}"
    return visit.page(
        "survey.html",
        survey=listed_survey,
        title=_title(published.questionnaire),
        link=link,
        code=segno.make_qr(link, error="m").svg_inline(border=4, omitsize=True),
        plan=plans.find(visit.store, visit.name),
        today=today(),
        newer=listed_survey.closed is None and not published.has(visit.desk.client),
        languages=published.questionnaire.languages,
        formats=FORMATS,
        questions=_questions(published.questionnaire),
        privacy=lines(published.questionnaire),
        caution=tallies.OPEN_LINK,
        controlled=any(question.control is not None for question in published.questionnaire.asked),
    )


def results(visit: Visit, *, link: str = "") -> Response:
    """The answers so far: estimates with their intervals, as pictures and numbers; a fresh link is shown once."""
    listed_survey = _survey(visit)
    query_params = visit.request.query_params
    fragment = (
        results_page(visit.store, visit.name, language=query_params.get("language"), by=query_params.get("by"))
        if listed_survey.replies
        else ""
    )
    current_share = sharing.shared(visit.store, visit.name)
    return visit.page("results.html", survey=listed_survey, fragment=fragment, shared=current_share, link=link)


def live(visit: Visit) -> Response:
    """How many have replied, and each finding, for a frame that renews itself while answers come."""
    listed_survey = _survey(visit)
    survey_findings = findings(visit.store, visit.name) if listed_survey.replies else []
    return visit.framed("live.html", survey=listed_survey, findings=survey_findings)


def share(visit: Visit) -> Response:
    """A new link to the results for people who only read; it is shown on this one page."""
    _survey(visit)
    earlier_share = sharing.shared(visit.store, visit.name)
    share_path = sharing.share(visit.store, visit.name, by=earlier_share.by if earlier_share else None)
    visit.desk.record("shared the results", visit.name)
    return results(visit, link=visit.origin + share_path)


def unshare(visit: Visit) -> Response:
    """End the link to the results."""
    _survey(visit)
    sharing.revoke(visit.store, visit.name)
    visit.desk.record("ended the link to the results", visit.name)
    return visit.to(f"/admin/surveys/{visit.name}/results", "unshared")


def invite(visit: Visit) -> Response:
    """Links with which one person answers once, as a CSV file; they are stored nowhere."""
    _survey(visit)
    count_text = visit["count"]
    if not (count_text.isascii() and count_text.isdigit() and 0 < int(count_text[:9]) <= _MOST_LINKS):
        raise DataError(f"links are made 1 to {_MOST_LINKS:,} at once; got {count_text[:20]!r}")
    invitation_codes = invitations.codes(int(count_text))
    invitations.enlist(visit.store, visit.name, invitation_codes)
    visit.desk.record("invited", visit.name, several(len(invitation_codes), "link", "links"))
    visit.desk.refresh()
    invitation_links = [
        invitations.link(visit.origin, visit.name, invitation_code) for invitation_code in invitation_codes
    ]
    headers = {"content-disposition": f'attachment; filename="{visit.name}-invitations.csv"'}
    return Response("\n".join(["link", *invitation_links, ""]), media_type="text/csv; charset=utf-8", headers=headers)


def close(visit: Visit) -> Response:
    """Take no more answers."""
    return _act(visit, visit.store.close, "closed")


def reopen(visit: Visit) -> Response:
    """Take answers to a closed survey again."""
    return _act(visit, visit.store.reopen, "reopened")


def renew(visit: Visit) -> Response:
    """Give a survey the respondents' page of this naysay."""
    return _act(visit, lambda name: visit.store.renew(name, client=visit.desk.client), "renewed")


def schedule(visit: Visit) -> Response:
    """Set the dates of a survey or draft."""
    plan = Plan(*(visit.day(day_name) for day_name in ("opens", "closes", "keeps")))
    is_draft = visit.name not in visit.store.standing()
    if is_draft and plan.opens is not None:
        _check_agreed(visit, draft_of(visit).questionnaire)
    plans.schedule(visit.store, visit.name, plan)
    dates_text = ", ".join(f"{day_name} {day}" for day_name, day in vars(plan).items() if day) or "no dates"
    visit.desk.record("scheduled", visit.name, dates_text)
    return visit.to(f"/admin/{'drafts' if is_draft else 'surveys'}/{visit.name}", "scheduled")


def copy(visit: Visit) -> Response:
    """A draft that asks the same under another name."""
    _survey(visit)
    return keep_draft(visit, drafts.copied(visit.store, visit.name, visit["new"]), "copied", of=visit.name)


def delete(visit: Visit) -> Response:
    """Delete a survey with its replies, if its name was typed, and show the receipt."""
    _survey(visit)
    if visit["confirmed"] != visit.name:
        raise DataError(f"nothing was deleted: to delete the survey, type its name, {visit.name}")
    try:
        visit.store.delete(visit.name, by=log.PAGE)
    finally:  # it is deleted, even if its place on disk could not be overwritten
        visit.desk.refresh()
    return visit.to("/admin/deleted", "deleted")


def export(visit: Visit) -> Response:
    """The replies as a zip file: the data, its codebooks and its designs."""
    _survey(visit)
    format_suffix, language = visit["format"], visit["language"] or None
    if format_suffix not in FORMATS:
        raise DataError(f"an export is one of {', '.join(FORMATS)}; got {format_suffix[:20]!r}")
    with ExitStack() as stack:
        zip_path, exported = stack.enter_context(packed(visit.store, visit.name, format_suffix, language=language))
        visit.desk.record("exported", visit.name, f"{format_suffix}, {several(exported.replies, 'reply', 'replies')}")
        return download(stack.pop_all(), zip_path)


def questionnaire(visit: Visit) -> Response:
    """The questionnaire of a survey or draft as a file that can be edited and uploaded under another name."""
    is_survey = visit.name in visit.store.standing()
    form = visit.store.published(visit.name).questionnaire if is_survey else draft_of(visit).questionnaire
    form_stream = io.BytesIO()
    file_kind = str(visit.request.path_params["kind"])
    if file_kind == "json":
        form_stream.write(form.to_json())
    elif file_kind == "xlsx":
        with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
            write_xlsform(form, Path(folder, "form.xlsx"))
            form_stream.write(Path(folder, "form.xlsx").read_bytes())
    else:
        raise Refusal("unknown", "a questionnaire is there as json and as xlsx")
    headers = {"content-disposition": f'attachment; filename="{form.name}.{file_kind}"'}
    return Response(form_stream.getvalue(), media_type="application/octet-stream", headers=headers)


def _act(visit: Visit, act: Callable[[str], object], done: str) -> Response:
    _survey(visit)
    act(visit.name)
    visit.desk.record(done, visit.name)
    return _done(visit, done)


def _done(visit: Visit, done: str) -> Response:
    visit.desk.refresh()
    return visit.to(f"/admin/surveys/{visit.name}", done)


def keep_draft(visit: Visit, form: Questionnaire, act: str, *, of: str = "") -> Response:
    """Keep a draft, and say so if that struck out the first day of the draft that it replaces."""
    first_day = plans.find(visit.store, form.name).opens
    drafts.keep(visit.store, form)
    visit.desk.record(act, of or form.name, f"to {form.name}" if of else None)
    is_struck_out = plans.find(visit.store, form.name).opens != first_day
    return visit.to(f"/admin/drafts/{form.name}", "struck-out" if is_struck_out else act)


def _survey(visit: Visit) -> Listed:
    listed_survey = {candidate.name: candidate for candidate in visit.store.surveys()}.get(visit.name)
    if listed_survey is None:
        raise Refusal("unknown", "there is no survey of this name")
    return listed_survey


def draft_of(visit: Visit) -> drafts.Draft:
    """The draft that the address names."""
    if visit.name not in {saved_draft.name for saved_draft in drafts.listed(visit.store)}:
        raise Refusal("unknown", "there is no draft of this name")
    return drafts.find(visit.store, visit.name)


def _check_agreed(visit: Visit, form: Questionnaire) -> None:
    if drafts.is_plain(form) and visit["plain"] != "yes":
        raise DataError(
            f"{form.name!r} is not opened: no question is private, so every answer is sent as it is; tick to agree"
        )


def _title(form: Questionnaire) -> str:
    return form.title[form.languages[0]]


def _questions(form: Questionnaire) -> list[tuple[str, str, str, bool]]:
    """The name, text and kind of each question, and whether its answer is randomized."""
    first_language = form.languages[0]
    return [
        (
            question.name,
            in_words(question.label[first_language], form, first_language),
            question.kind.replace("_", " "),
            question.privacy is not None,
        )
        for question in form.questions
    ]


_SUFFIXES = (".xlsx", ".csv", ".md", ".json")
_KNOWN_BY = ("type", "list_name", "list name", "name")
_NAME = re.compile(r"[^\w .-]+")


@dataclass(frozen=True)
class Cell:
    """A cell as it was uploaded, and whether a problem is there."""

    text: str
    wrong: bool


@dataclass(frozen=True)
class Line:
    """A row of a sheet, by the number that spreadsheets give it: the cells that matter, and what is wrong with them."""

    number: int
    columns: Sequence[str]
    cells: Sequence[Cell]
    problems: Sequence[Problem]


@dataclass(frozen=True)
class Excerpt:
    """The rows of a sheet in which there are problems, and the problems of the sheet as a whole."""

    sheet: str
    lines: Sequence[Line]
    problems: Sequence[Problem]


def examine_upload(name: str, content: bytes) -> tuple[Examined, Mapping[str, Sheet]]:
    """What is in an uploaded file, its problems, and its sheets.

    Parameters
    ----------
    name : str
        As the browser sent it; only its last part counts.
    content : bytes

    Raises
    ------
    DataError
        The file is of another kind, or must not be opened.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> examined, sheets = examine_upload("../../survey.json", sample().to_json())
    >>> examined.errors, dict(sheets)
    ((), {})
    """
    plain_name = _NAME.sub("_", PureWindowsPath(name).name)[-80:].lstrip(".") or "unnamed"
    if not plain_name.lower().endswith(_SUFFIXES):
        raise DataError(f"a questionnaire is a file in .xlsx, .csv, .md or .json; got {plain_name!r}")
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        upload_path = Path(folder, plain_name)
        upload_path.write_bytes(content)
        examined = examine(upload_path)
        is_form = upload_path.suffix.lower() != ".json"
        return examined, read_sheets(upload_path)[0] if is_form and examined.problems else {}


def excerpts(problems: Sequence[Problem], sheets: Mapping[str, Sheet]) -> list[Excerpt]:
    """The rows that have problems, sheet by sheet. Problems without a sheet are left out."""
    sheet_excerpts = []
    for sheet_name, sheet in sheets.items():
        sheet_problems = [
            problem for problem in problems if problem.place is not None and problem.place.sheet == sheet_name
        ]
        cells_of_row = dict(sheet.rows) | {1: {column_name: column_name for column_name in sheet.columns}}
        row_numbers = sorted(
            {problem.place.row for problem in sheet_problems if problem.place and problem.place.row in cells_of_row}
        )
        excerpt_lines = [
            _line(row_number, cells_of_row[row_number], sheet.columns, sheet_problems) for row_number in row_numbers
        ]
        other_problems = [
            problem for problem in sheet_problems if problem.place and problem.place.row not in cells_of_row
        ]
        if sheet_problems:
            sheet_excerpts.append(Excerpt(sheet_name, excerpt_lines, other_problems))
    return sheet_excerpts


def _line(number: int, row: Mapping[str, str], columns: Sequence[str], sheet_problems: Sequence[Problem]) -> Line:
    """The cells that are wrong, beside those by which an author finds the row again."""
    row_problems = [problem for problem in sheet_problems if problem.place and problem.place.row == number]
    wrong_columns = {problem.place.column for problem in row_problems if problem.place}
    label_column = next((column for column in columns if column.startswith("label") and column in row), None)
    known_by = [column_name for column_name in columns if column_name in _KNOWN_BY and column_name in row]
    shown_columns = [
        *dict.fromkeys(
            [
                *known_by,
                *(column_name for column_name in columns if column_name in wrong_columns),
                *([label_column] if label_column else []),
            ]
        )
    ]
    return Line(
        number,
        shown_columns,
        [Cell(row.get(column_name, ""), column_name in wrong_columns) for column_name in shown_columns],
        row_problems,
    )


def log_page(visit: Visit) -> Response:
    """The log."""
    return visit.page("log.html", entries=log.entries(visit.store))


def deleted(visit: Visit) -> Response:
    """The receipts of all deletions."""
    return visit.page("deleted.html", receipts=visit.store.receipts())


def backup_page(visit: Visit) -> Response:
    """Backups: a form that writes one, and where there is no survey, one that restores one."""
    return visit.page("backup.html", is_empty=not visit.store.standing())


def backup(visit: Visit) -> Response:
    """Everything in the database, as one file."""
    with ExitStack() as stack:
        backup_path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="naysay-")), f"naysay-{today()}.db")
        copy_counts = backups.backup(visit.store, backup_path)
        visit.desk.record("took a backup", detail=str(copy_counts))
        return download(stack.pop_all(), backup_path)


def restore(visit: Visit) -> Response:
    """Restore an uploaded backup into a database without surveys."""
    uploaded_file = visit.files.get("backup")
    if uploaded_file is None or not uploaded_file.filename:
        raise DataError("choose a file first: a backup that naysay wrote")
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        backup_path = Path(folder, "uploaded.db")
        with backup_path.open("xb") as backup_file:
            while chunk := uploaded_file.file.read(1 << 20):
                backup_file.write(chunk)
        copy_counts = backups.restore(visit.store, backup_path, client=visit.desk.client)
    visit.desk.record("restored a backup", detail=str(copy_counts))
    for survey_name in copy_counts.renewed:
        visit.desk.record("renewed", survey_name, backups.hashes(visit.store, survey_name))
    for draft_name in copy_counts.undated:
        visit.desk.record("struck out a first day", draft_name, "it has no private question")
    visit.desk.refresh()
    names_of_notice = {"renewed-pages": copy_counts.renewed, "undated": copy_counts.undated}
    return visit.to(
        HOME, ".".join(["restored", *(notice for notice, changed_names in names_of_notice.items() if changed_names)])
    )


PLAIN = "plain"
"""The choice of no design: the answer is sent as it is."""

_BOUNDS = "20, 40, 60"  # an example of where ranges end


@dataclass(frozen=True)
class Promise:
    """A design, chosen by what it promises.

    Parameters
    ----------
    key : str
        What the form sends.
    title : str
        What is promised to respondents.
    sentence : str
        The key of the sentence on the respondents' page.
    design, levels, mode : str
        The cells of a sheet.
    """

    key: str
    title: str
    sentence: str
    design: str
    levels: str = ""
    mode: str = ""


@dataclass(frozen=True)
class Offer:
    """A promise, made of one question.

    Parameters
    ----------
    promise : Promise
    questionnaire : Questionnaire
        As it is then.
    fold : float or None
        How far the odds of an answer grow at most, for a reader who knew nothing; None for ∞.
    possible : sequence of int
        How many answers stay possible at least, and how many there are.
    answers : float
        How many times as many answers as the direct question the same precision takes, where all are equally common.
    """

    promise: Promise
    questionnaire: Questionnaire
    fold: float | None
    possible: Sequence[int]
    answers: float


@dataclass(frozen=True)
class Screen:
    """What respondents see of a question before they tap.

    Parameters
    ----------
    label : str
    second : str
        The innocuous question; empty where there is none.
    options : sequence of str
        What is tapped; empty where a number is written.
    boxes : bool
        Whether several can be tapped.
    levels : sequence of str
        The two ends of the control of how much to tell; empty where there is none.
    sentence : str
        What the bar says.
    """

    label: str
    second: str
    options: Sequence[str]
    boxes: bool
    levels: Sequence[str]
    sentence: str


def promises(question: Question, categories: int) -> tuple[Promise, ...]:
    """The designs on offer for a question with so many categories.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> question = {question.name: question for question in sample().questions}
    >>> [promise.key for promise in promises(question["smoking"], 2)]
    ['swapped', 'coins', 'crosswise']
    >>> [promise.key for promise in promises(question["party"], 5)]
    ['struck', 'chosen', 'swapped']
    """
    if isinstance(question, SelectMultiple):
        title = "Chance may change each line, so that nobody can be sure of it."
        return (Promise("swapped", title, "does.each", "warner(p=0.7)"),)
    is_number = isinstance(question, Integer | Decimal)
    title = "Chance may change the answer, so that nobody can be sure."
    sentence = "does.range" if is_number else "does.noise"
    if categories == 2:
        swapped = Promise("swapped", title, sentence, "warner(p=0.7)")
        coins = "Respondents toss a coin themselves. Their device need not learn the answer."
        second = "A harmless second question hides the answer. Their device need not learn it."
        by_hand = (
            Promise("coins", coins, "hand.coins", "two_coins", mode="hand, device"),
            Promise("crosswise", second, "beside.crosswise", "crosswise(prevalence=1/4)", mode="hand, device"),
        )
        return (swapped,) if is_number else (swapped, *by_hand)
    struck = "does.ranges" if is_number else "does.strikes"
    true = "Only what is true is sent: that one answer is not theirs."
    choice = "The same, and respondents choose how many answers are ruled out."
    chosen = Promise("chosen", choice, struck, "negative", levels=f"1..{categories - 2}")
    return (
        Promise("struck", true, struck, "negative(discards=1)"),
        *((chosen,) if categories > 3 else ()),
        Promise("swapped", title, sentence, "k_ary(epsilon=1)"),
    )


def private_page(visit: Visit) -> Response:
    """The designs for a question of a draft, what each promises, and the screen of the one that it has."""
    form, question = _asked(visit, visit.request.query_params.get("question", ""))
    bounds = ", ".join(f"{one.below:g}" for one in getattr(question, "bins", ()) if one.below is not None)
    offers = _offers(form, question, bounds or _BOUNDS)
    is_private = question.privacy is not None
    chosen = next((offer.promise for offer in offers if offer.questionnaire == form), None)
    return visit.page(
        "private.html",
        draft=draft_of(visit),
        question=question,
        text=question.label[form.languages[0]],
        offers=offers,
        chosen=chosen.key if chosen else "" if is_private else PLAIN,
        bounds=bounds or _BOUNDS,
        is_number=isinstance(question, Integer | Decimal),
        dropped=[name for name in ("low", "high", "constraint") if getattr(question, name, None) is not None],
        screen=_screen(form, question, chosen, visit.desk.client),
        is_private=is_private,
        plain=PLAIN,
    )


def make_private(visit: Visit) -> Response:
    """Make a question of a draft private, or plain again."""
    form, question = _asked(visit, visit["question"])
    key = visit["design"]
    if key == PLAIN:
        bins: dict[str, Any] = {"bins": []} if isinstance(question, Integer | Decimal) else {}
        made = _changed(form, question, {"private": None, **bins})
    else:
        made_by = {offer.promise.key: offer.questionnaire for offer in _offers(form, question, visit["bounds"])}
        if key not in made_by:
            raise DataError("choose one of the designs first")
        made = made_by[key]
    keep_draft(visit, made, "made plain" if key == PLAIN else "made private")
    return visit.to(f"/admin/drafts/{visit.name}/private", f"made&question={question.name}")


def _asked(visit: Visit, name: str) -> tuple[Questionnaire, Askable]:
    form = draft_of(visit).questionnaire
    for question in form.questions:
        if question.name == name and isinstance(question, Askable):
            return form, question
    raise Refusal("unknown", "the draft has no question of this name that can be made private")


def _offers(form: Questionnaire, question: Askable, bounds: str) -> list[Offer]:
    """Each promise, with its numbers."""
    fields: dict[str, Any] = {"constraint": None}
    if isinstance(question, Integer | Decimal):
        fields |= {"bins": _bins(form, question, bounds), "low": None, "high": None}
        names = tuple(one["name"] for one in fields["bins"])
    else:
        is_several = isinstance(question, SelectMultiple)
        names = ("yes", "no") if is_several else tuple(choice.name for choice in question.choices)
    share = 1 / len(names)
    offers: list[Offer] = []
    refusals: list[DataError] = []
    for promise in promises(question, len(names)):
        cells = private_of(names, design=promise.design, levels=promise.levels)
        private: Mapping[str, Any] = carried_out(
            cells, form.languages, mode=promise.mode, several=isinstance(question, SelectMultiple)
        )
        another = innocuous_of(private, form.languages)  # where this one protects another question already
        try:
            made = _first_of(form, question, [fields | {"private": {**private, **words}} for words in ({}, another)])
        except DataError as refusal:
            refusals.append(refusal)
            continue
        levels = statements(made)[question.name]
        folds = [level["odds"] for level in levels]
        variance = planning.variance(read(private["design"]), np.full(len(names), share)).standard_errors(1)[0] ** 2
        offers.append(
            Offer(
                promise,
                made,
                fold=None if None in folds else max(folds),
                possible=(min(level["still_possible"][0] for level in levels), len(names)),
                answers=float(variance / (share * (1 - share))),
            )
        )
    if not offers:
        raise refusals[0]
    return offers


def _first_of(form: Questionnaire, question: Question, changes: Sequence[Mapping[str, Any]]) -> Questionnaire:
    """The questionnaire with the first of these changes with which it can be fielded."""
    *others, last = changes
    for fields in others:
        with suppress(DataError):
            return _changed(form, question, fields)
    return _changed(form, question, last)


def _bins(form: Questionnaire, question: Integer | Decimal, bounds: str) -> list[dict[str, Any]]:
    numbers = [number_of(piece) for piece in parted(bounds)]
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers) or known != sorted(set(known)):
        raise DataError(
            f"write where one range ends and the next begins, rising, such as {_BOUNDS}; got {bounds[:60]!r}"
        )
    is_whole = isinstance(question, Integer)
    current = [one.below for one in question.bins if one.below is not None]
    if current == known:  # their words may be the author's
        return [one.model_dump(mode="json") for one in question.bins]
    return bins_of([int(number) if is_whole else number for number in known], form.languages, whole=is_whole)


def _changed(form: Questionnaire, question: Question, fields: Mapping[str, Any]) -> Questionnaire:
    """The questionnaire with other fields of one question.

    Raises
    ------
    DataError
        It cannot be fielded so, such as where another question depends on the answer.
    """
    document = form.form()
    item = next(item for item in _items(document["items"]) if item["name"] == question.name)
    item.update(json.loads(json.dumps(fields)))
    examined = of_form(document)
    if examined.questionnaire is None:
        problem = examined.errors[0]
        raise DataError(f"{question.name!r} is not made private: {problem.message} ({problem.way_out})")
    return examined.questionnaire


def _items(items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield item
        yield from _items(item.get("items", ()))


def _screen(form: Questionnaire, question: Askable, chosen: Promise | None, client: Client) -> Screen:
    language = form.languages[0]
    say = _Words(client, language)
    options = [choice.label[language] for choice in getattr(question, "choices", ())]
    private = question.privacy
    second = private.innocuous.get(language, "") if private is not None else ""
    if private is not None and private.responses and second:
        options = [
            private.responses[name][language] for name in private.offer.space.labels if name in private.responses
        ]
    sentence = ""
    if chosen is not None:
        gaps = dict(zip(("yes", "no"), (say("quoted", text=option) for option in options), strict=False))
        sentence = say(chosen.sentence, **gaps)
    elif private is None:
        sentence = say("asked.plain")
    ends = (say("levels.private"), say("levels.useful"))
    has_levels = chosen is not None and bool(chosen.levels)
    is_several = isinstance(question, SelectMultiple)
    if is_several and private is not None:
        options.append(say("asked.none"))
    return Screen(question.label[language], second, options, is_several, ends if has_levels else (), sentence)


class _Words:
    """The words of the respondents' page in a language, or in English."""

    def __init__(self, client: Client, language: str) -> None:
        tag = language.lower().partition("-")[0]
        tag = tag if f"words/{tag}.js" in client.files else "en"
        self._code = "".join(client.files.get(f"{folder}/{tag}.js", b"").decode() for folder in ("words", "extras"))

    def __call__(self, key: str, **gaps: str) -> str:
        """A text with its gaps filled; empty where the page has none of this key."""
        *sections, last = key.split(".")
        code = self._code
        for section in sections:
            code = code.partition(f"{section}:{{")[2]
        found = re.search(rf'[{{,]{last}:"((?:[^"\\]|\\.)*)"', "{" + code)
        text = json.loads(f'"{found[1]}"') if found else ""
        return re.sub(r"\{(\w+)\}", lambda gap: gaps.get(gap[1], ""), text)
