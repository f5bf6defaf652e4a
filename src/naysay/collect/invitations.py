"""Invitations, so that one person answers once, and nothing stored leads from an invitation to an answer.

A code in a link is turned into a token, by a verifiable oblivious pseudorandom function (`voprf`). The token is spent
with the reply. First the server's side, then the researcher's: codes are drawn, handed out as links, and known in the
database by their hashes alone. Last the letters: a page for each person, with their link and the survey's hash as codes
to scan.
"""

from __future__ import annotations

import contextlib
import hmac
import html
import re
import secrets
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import rbcl
import segno
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from naysay.collect import voprf
from naysay.collect.storage import Store, Taking, tables
from naysay.collect.storage.replies import digest
from naysay.collect.survey import submission
from naysay.collect.survey.published import Published
from naysay.collect.survey.submission import Refusal
from naysay.errors import DataError

__all__ = ["Counts", "code_of", "codes", "counts", "enlist", "invite", "link", "replace", "untaken"]


CODE = re.compile(r"[A-Za-z0-9_-]{22}")
"""The code of an invitation: 16 random bytes, as they stand behind the # of a link."""


RANDOM_BYTES = 16
"""Random bytes that a device draws for a token."""


REQUEST_BYTES = 160
"""The most bytes in a request for a token."""


_KEYS = ("invitation", "blinded")


_ELEMENT = re.compile(f"[0-9a-f]{{{2 * voprf.ELEMENT}}}")


def data_of(survey: str, random_bytes: bytes) -> bytes:
    """What the function is computed of: chance, and the survey's name, for which alone a token is good."""
    return f"naysay token for {survey}\n".encode() + random_bytes


@dataclass(frozen=True)
class Asking:
    """A request for a token, read: the invitation's code, and what the device has blinded.

    Examples
    --------
    >>> Asking.of_body(b'{"invitation":"0123456789012345678901","blinded":"zz"}')
    Traceback (most recent call last):
    naysay.collect.survey.submission.Refusal: a request for a token must hold an invitation and what was blinded
    """

    code: str
    blinded: bytes

    @classmethod
    def of_body(cls, body: bytes) -> Asking:
        """The request that a body holds.

        Raises
        ------
        Refusal
            ``malformed``.
        """
        form = submission.read(body)
        form_texts = tuple(form.values()) if isinstance(form, dict) and tuple(form) == _KEYS else ("", "")
        has_code = all(isinstance(text, str) for text in form_texts) and CODE.fullmatch(form_texts[0])
        if not (has_code and _ELEMENT.fullmatch(form_texts[1])):
            raise Refusal("malformed", "a request for a token must hold an invitation and what was blinded")
        return cls(form_texts[0], bytes.fromhex(form_texts[1]))

    def of(self, survey: str) -> Taking:
        """What the database is told: hashes."""
        return Taking(survey, digest(self.code), digest(self.blinded))


class Issuer:
    """The holder of the key of one survey's invitations.

    It sees a code and an element that is random whatever the device drew (`issued`), and later a token that it never
    saw (`knows`). The same element gives the same answer each time, so that a device may ask again.

    Parameters
    ----------
    survey : str
        The survey's name.
    key : bytes
        The private key.

    Examples
    --------
    >>> issuer = Issuer("sample", bytes([3]) + bytes(31))
    >>> token = bytes(16) + voprf.output(bytes([3]) + bytes(31), data_of("sample", bytes(16)))
    >>> issuer.knows(token.hex()), issuer.knows("0" * 160)
    (True, False)
    """

    def __init__(self, survey: str, key: bytes) -> None:
        self._survey = survey
        self._key = key

    def issued(self, blinded: bytes) -> dict[str, str]:
        """The function of a blinded element, with the proof that it was computed with the published key.

        Raises
        ------
        Refusal
            ``malformed``: the bytes are no element.
        """
        try:
            evaluated_element = voprf.evaluated(self._key, blinded)
        except DataError as error:
            raise Refusal("malformed", str(error)) from None
        return {
            "evaluated": evaluated_element.hex(),
            "proof": voprf.proved(self._key, blinded, evaluated_element).hex(),
        }

    def knows(self, token: str) -> bool:
        """Whether a token was made with this key, for this survey."""
        token_bytes = bytes.fromhex(token)
        random_bytes, value = token_bytes[:RANDOM_BYTES], token_bytes[RANDOM_BYTES:]
        return hmac.compare_digest(value, voprf.output(self._key, data_of(self._survey, random_bytes)))


MOST = 1_000_000
"""The most invitations at once."""


@dataclass(frozen=True)
class Counts:
    """How far a survey has come, in numbers that name nobody.

    Parameters
    ----------
    invited : int
        Invitations that are out.
    taken : int
        How many of them have taken a token: their device has begun. Remind the others.
    replies : int
        How many have answered.
    again : int
        Invitations that were replaced although a token had been taken. So many replies, at most, may be second ones.
    """

    invited: int
    taken: int
    replies: int
    again: int


def codes(count: int) -> tuple[str, ...]:
    """Fresh codes of invitations; none can be guessed.

    Raises
    ------
    DataError
        No count, or one beyond `MOST`.

    Examples
    --------
    >>> [len(code) for code in codes(2)]
    [22, 22]
    """
    if not 1 <= count <= MOST:
        raise DataError(f"invite at least 1 person and at most {MOST:,} at once; got {count:,}")
    return tuple(secrets.token_urlsafe(16) for _ in range(count))


def link(base: str, survey: str, code: str) -> str:
    """The link of an invitation. What stands behind the # is not sent when the page is loaded, so no log has it.

    Examples
    --------
    >>> link("https://example.org/", "sample", "0123456789012345678901")
    'https://example.org/s/sample#0123456789012345678901'
    """
    return f"{base.rstrip('/')}/s/{survey}#{code}"


def code_of(text: str) -> str:
    """The code in a link, or the code itself.

    Raises
    ------
    DataError
        There is none in the text.

    Examples
    --------
    >>> code_of("https://example.org/s/sample#0123456789012345678901")
    '0123456789012345678901'
    """
    code = text.strip().rpartition("#")[2]
    if not CODE.fullmatch(code):
        raise DataError(f"an invitation ends in # and 22 letters or digits; got {text.strip()!r}")
    return code


def invite(store: Store, survey: str, count: int) -> tuple[str, ...]:
    """Codes of new invitations to a survey; hand them out as links (see `link`), for nobody can find them again.

    A survey that nobody has answered yet asks for invitations from the first ones on, and gets a new hash.

    Parameters
    ----------
    store : Store
        A database that may be changed.
    survey : str
    count : int

    Raises
    ------
    DataError
        There is no such survey, it is closed, or it was answered through an open link.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.collect import Client, Published
    >>> from naysay.collect.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/answers.db")
    ...     store.open(Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})))
    ...     drawn = invite(store, "sample", 3)
    ...     found = counts(store, "sample")
    ...     store.dispose()
    >>> found
    Counts(invited=3, taken=0, replies=0, again=0)
    """
    fresh_codes = codes(count)
    enlist(store, survey, fresh_codes)
    return fresh_codes


def enlist(store: Store, survey: str, fresh_codes: Sequence[str]) -> None:
    """Let codes in that were drawn before, for whoever must write them down first.

    Raises
    ------
    DataError
        See `invite`.
    """
    survey_row = next((candidate for candidate in store.surveys() if candidate.name == survey), None)
    if survey_row is not None and survey_row.closed is not None:
        stays_closed = any(question.control is not None for question in store.published(survey).questionnaire.asked)
        way_out = f"open it again, then invite: naysay survey open {survey}"
        raise DataError(
            f"survey {survey!r} is closed; "
            f"{'with controls it stays so: publish it under another name' if stays_closed else way_out}"
        )
    if store.published(survey).key is None:
        private_key = bytes(rbcl.crypto_core_ristretto255_scalar_random())
        with contextlib.suppress(IntegrityError):  # somebody else invites at this moment, and was first
            store.restrict(survey, private_key, voprf.public(private_key).hex())
    invitation_rows = [{"survey": survey, "code": code_digest} for code_digest in sorted(map(digest, fresh_codes))]
    with store.engine.begin() as connection:
        connection.execute(insert(tables.invitation), invitation_rows)


def counts(store: Store, survey: str) -> Counts | None:
    """How many are invited, have taken a token, and have answered; None where anybody with the link can answer.

    Raises
    ------
    DataError
        There is no such survey.
    """
    survey_row = next((candidate for candidate in store.surveys() if candidate.name == survey), None)
    if survey_row is None or survey_row.invited is None or survey_row.taken is None:
        store.published(survey)  # says which surveys there are
        return None
    with store.reading() as connection:
        again_count = connection.execute(select(tables.issuer.c.again).filter_by(survey=survey)).scalar_one()
    return Counts(survey_row.invited, survey_row.taken, survey_row.replies, again_count)


def untaken(store: Store, survey: str, invitation_codes: Sequence[str]) -> list[bool]:
    """Whether each of these invitations still waits for its person to begin.

    Raises
    ------
    DataError
        One of them was not made for this survey, or was replaced.
    """
    invitation_columns = tables.invitation.c
    with store.reading() as connection:
        invitation_rows = connection.execute(
            select(invitation_columns.code, invitation_columns.taken).where(invitation_columns.survey == survey)
        )
        waits_by_digest = {code_digest: blinded_digest is None for code_digest, blinded_digest in invitation_rows}
    for invitation_code in invitation_codes:
        if digest(invitation_code) not in waits_by_digest:
            raise DataError(f"the invitation {invitation_code!r} is not one of {survey!r}, or was replaced")
    return [waits_by_digest[digest(invitation_code)] for invitation_code in invitation_codes]


def replace(store: Store, survey: str, code: str, *, although_taken: bool = False) -> str:
    """The code of a new invitation in place of a lost one, which is good no more.

    Nobody can know which reply came with a token. So whoever took a token with the lost invitation may have answered,
    and may answer once more with the new one. This is refused unless `although_taken` allows it. It is counted as
    `again`.

    Raises
    ------
    DataError
        The invitation is not known, or a token was taken with it.
    """
    invitation_columns = tables.invitation.c
    conditions = invitation_columns.survey == survey, invitation_columns.code == digest(code)
    [fresh_code] = codes(1)
    with store.engine.begin() as connection:
        invitation_row = connection.execute(
            select(invitation_columns.taken).where(*conditions).with_for_update()
        ).first()
        if invitation_row is None:
            raise DataError(f"the invitation {code!r} is not one of {survey!r}, or was replaced already")
        if invitation_row.taken is not None and not although_taken:
            raise DataError(
                "a token was taken with this invitation, and nobody can tell whether an answer has come with it; a new "
                "invitation may so mean a second answer: allow it with --taken, and it is counted"
            )
        connection.execute(delete(tables.invitation).where(*conditions))
        connection.execute(insert(tables.invitation).values(survey=survey, code=digest(fresh_code)))
        again_count = tables.issuer.c.again + int(invitation_row.taken is not None)
        connection.execute(update(tables.issuer).where(tables.issuer.c.survey == survey).values(again=again_count))
    store.settle()
    return fresh_code


_RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi")

# The address stands where windows of long envelopes are (DIN 5008, form B).
_HEAD = """<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
@page {{ size: A4; margin: 20mm 20mm 15mm; }}
body {{ font: 11.5pt/1.45 system-ui, sans-serif; color: #000; background: #fff; margin: 0 auto; max-width: 170mm; }}
section {{ break-after: page; break-inside: avoid; position: relative; }}
section:last-of-type {{ break-after: auto; }}
address {{ font-style: normal; min-height: 62mm; padding-top: 25mm; box-sizing: border-box; white-space: pre-line; }}
h1 {{ font-size: 17pt; line-height: 1.25; margin: 0 0 4mm; }}
p {{ margin: 0 0 3mm; }}
.code {{ display: flex; gap: 6mm; align-items: center; margin: 4mm 0; break-inside: avoid; }}
.code svg {{ flex: none; width: 42mm; height: 42mm; }}
.code.hash svg {{ width: 34mm; height: 34mm; }}
code {{ font: 10.5pt/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }}
code {{ direction: ltr; display: block; text-align: left; }}
code b {{ font-weight: inherit; white-space: nowrap; }}
footer {{ display: flex; justify-content: space-between; gap: 6mm; font-size: 9.5pt; margin-top: 5mm; }}
@media screen {{ section {{ padding: 10mm; margin: 8mm 0; border: 1px solid #999; }} }}
</style>
</head>
<body>
"""


def letters(
    published: Published, links: Sequence[str], addresses: Sequence[str], *, language: str | None = None
) -> str:
    """One HTML page to print, with a sheet for each person.

    Parameters
    ----------
    published : Published
        A survey that invites.
    links : (people,) sequence of str
        As `link` wrote them: all of this survey, under one address of the server.
    addresses : (people,) sequence of str
        What stands above each letter, line by line.
    language : str, optional
        Of the survey's texts, and of the letter's own words where naysay has them, otherwise English. The
        questionnaire's first by default.

    Raises
    ------
    DataError
        The survey does not have this language, or a link is not one that was written, or is there twice.

    Examples
    --------
    >>> from naysay.collect import Client
    >>> from naysay.collect.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}), key="ab" * 32)
    >>> text = letters(published, ["https://example.org/s/sample#0123456789012345678901"], ["Ada"])
    >>> text.count("<section>"), "Letter 1 of 1" in text
    (1, True)
    """
    _check_links(published.name, links)
    form = published.questionnaire
    text_language = form.language(language)
    words_by_language = tomllib.loads(Path(__file__).with_name("letters.toml").read_text(encoding="utf-8"))
    base = text_language.partition("-")[0].lower()
    words = {name: html.escape(text) for name, text in words_by_language.get(base, words_by_language["en"]).items()}
    title, about, contact = (
        html.escape(label.get(text_language, "").strip()) for label in (form.title, form.about, form.contact)
    )
    contact_line = words["contact"].format(contact=contact) if contact else ""
    after_code = (
        f'<p>{words["once"]}</p>\n<div class="code hash">{_qr_svg(published.hash.upper())}'
        f"<div><p>{words['check']}</p><code>{published.hash}</code></div></div>\n<footer><span>{contact_line}</span>"
    )
    head = _HEAD.format(
        language=text_language if base in words_by_language else "en",
        direction="rtl" if base in _RIGHT_TO_LEFT else "ltr",
        title=title,
    )
    sheets = (
        f'<section>\n<address dir="auto">{html.escape(address)}</address>\n<h1 dir="auto">{title}</h1>\n'
        f'<p dir="auto">{about}</p>\n<p>{words["invited"]}</p>\n'
        f'<div class="code">{_qr_svg(letter_link)}<code>{_typed(letter_link)}</code></div>\n{after_code}'
        f"<span>{words['number'].format(number=f'{number:,}', count=f'{len(links):,}')}</span></footer>\n</section>\n"
        for number, (letter_link, address) in enumerate(zip(links, addresses, strict=True), start=1)
    )
    return f"{head}{''.join(sheets)}</body>\n</html>\n"


def _qr_svg(text: str) -> str:
    return segno.make_qr(text, error="m").svg_inline(border=4, omitsize=True)


def _typed(letter_link: str) -> str:
    """A link to type: no line ends within the code, where a hyphen of it would look like one that divides a word."""
    base, _, code = html.escape(letter_link).partition("#")
    return f"{base}<wbr><b>#{code}</b>"


def _check_links(survey: str, links: Sequence[str]) -> None:
    """Raise unless all links are those of one server to this survey, each once: a code is scanned and not read."""
    base = links[0].partition("/s/")[0]
    if not base.startswith(("http://", "https://")) or any(letter in base for letter in "#?@ \\"):
        raise DataError(f"a link begins with the address of a server, such as https://example.org; got {links[0]!r}")
    row_of_link: dict[str, int] = {}
    for row, letter_link in enumerate(links, start=1):
        if letter_link != link(base, survey, code_of(letter_link)):
            expected = link(base, survey, "…")
            raise DataError(
                f"row {row}: a link must be as it was written, {expected}; got {letter_link!r}", row=row - 1
            )
        if letter_link in row_of_link:
            same_rows = f"rows {row_of_link[letter_link]} and {row}"
            raise DataError(f"{same_rows} have the same link; each person needs their own", row=row - 1)
        row_of_link[letter_link] = row
