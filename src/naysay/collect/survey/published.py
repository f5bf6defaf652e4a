"""A survey as it is published: what the page reads, byte for byte, and the hash by which everyone names it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from naysay.collect.client import FOLDER, Client
from naysay.collect.questionnaire import Question, Questionnaire, canonical, of_form, statements, together
from naysay.collect.questionnaire.questions import quoted
from naysay.errors import DataError

Content = bytes  # in the class below, `bytes` is a field
_HASH = re.compile("[0-9a-f]{64}")
STEP = 1_024
SUITE = "ristretto255-SHA512"
"""By which invitations become tokens, as RFC 9497 calls it."""
TOKEN = 32 + 128
"""Hexadecimal digits of a token: what the device has drawn, and what the key makes of it."""
_ENVELOPE = len('{"naysay":"answers","version":1,"survey":"","id":"","answers":{},"padding":""}') + 64 + 32
_TOKEN = len('"token":"",') + TOKEN


@dataclass(frozen=True)
class Published:
    """A questionnaire with its privacy statements and the hashes of the client, fixed as bytes.

    Parameters
    ----------
    bytes : bytes
        ``survey.json``: canonical JSON. It never changes once the survey is open.
    client : Client
        The files whose hashes are in it.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> client = Client({"survey.html": b"<!doctype html>"})
    >>> published = Published.of(sample(), client=client)
    >>> published.name, len(published.hash), published.body_length % 1024
    ('sample', 64, 0)
    >>> Published.read(published.bytes, client=client) == published
    True
    """

    bytes: bytes
    client: Client

    @classmethod
    def of(
        cls,
        questionnaire: Questionnaire,
        *,
        client: Client | Path = FOLDER,
        preview: bool = False,
        renewed: Sequence[str] = (),
        key: str | None = None,
    ) -> Published:
        """The questionnaire as it is published with this client, or with the client in this folder.

        A preview is marked as one and has its own hash, so it cannot be confused with the survey. A survey that was
        renewed names the hashes that it had before, the latest first. A survey that invites names the public key of its
        invitations (hexadecimal), so that nobody gets a key of their own without getting a hash of their own.
        """
        all_files = Client.of(client) if isinstance(client, Path) else client
        client_files = all_files.of_survey(questionnaire, invites=key is not None)
        survey_form = {
            "naysay": "survey",
            "version": 1,
            "questionnaire": questionnaire.form(),
            "privacy": statements(questionnaire),
            "together": together(questionnaire),
            "body_length": body_length(questionnaire, invites=key is not None),
            "client": client_files.integrity,
            **({"preview": True} if preview else {}),
            **({"renewed": list(renewed)} if renewed else {}),
            **({"invitations": {"suite": SUITE, "key": key}} if key is not None else {}),
        }
        return cls(canonical(survey_form), client_files)

    @classmethod
    def read(cls, content: Content, *, client: Client) -> Published:
        """The survey that was published as these bytes."""
        return cls(content, client)

    @cached_property
    def form(self) -> dict[str, Any]:
        """``survey.json`` as an object."""
        survey_form: dict[str, Any] = json.loads(self.bytes)
        return survey_form

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """What is asked."""
        return Questionnaire.model_validate(self.form["questionnaire"])

    @property
    def name(self) -> str:
        """The name in links."""
        return self.questionnaire.name

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the bytes, in hexadecimal: it stands on the page, in every body and on the receipt."""
        return hashlib.sha256(self.bytes).hexdigest()

    @property
    def renewed(self) -> tuple[str, ...]:
        """The hashes that the survey had before it was renewed, the latest first."""
        return tuple(self.form.get("renewed", ()))

    @property
    def key(self) -> str | None:
        """The public key of the survey's invitations; None where anybody with the link can answer."""
        invitation_form = self.form.get("invitations")
        return None if invitation_form is None else str(invitation_form["key"])

    def has(self, client: Client) -> bool:
        """Whether the survey has this client: of a newer one, it keeps its own until it is renewed."""
        return self.client.integrity == client.of_survey(self.questionnaire, invites=self.key is not None).integrity

    def renewal(self, client: Client | Path = FOLDER) -> Published:
        """The same survey with another client; itself where it has that client already.

        Raises
        ------
        DataError
            Where this version of naysay would write the questions in another way, or expect longer answers.
        """
        same_survey = Published.of(self.questionnaire, client=client, renewed=self.renewed, key=self.key)
        if same_survey.bytes == self.bytes:
            return self
        if any(same_survey.form[form_part] != self.form[form_part] for form_part in ("questionnaire", "body_length")):
            problem_text = f"survey {self.name!r} cannot be renewed"
            raise DataError(f"{problem_text}: this naysay would ask it in another form; close it")
        return Published.of(self.questionnaire, client=client, renewed=(self.hash, *self.renewed), key=self.key)

    @property
    def body_length(self) -> int:
        """Bytes of every body of answers, whatever is answered."""
        return int(self.form["body_length"])


def complaint(form: Any) -> str | None:
    """Why a survey must not be trusted that another server published; None where nothing is wrong.

    Its questionnaire holds what `naysay.collect.questionnaire.check` asks for, and what it states of privacy is no
    better than what its designs give. The respondent's page holds it to the same
    (``tests/collect/survey_vectors.json``).

    Parameters
    ----------
    form : object
        ``survey.json``, read.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> form = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})).form
    >>> complaint(form)
    >>> form["privacy"]["smoking"][0]["epsilon"] = 0.1
    >>> complaint(form)
    "it states less for 'smoking' than its design tells: epsilon 0.1 in place of 0.847..."
    """
    try:
        is_survey = (form["naysay"], form["version"]) == ("survey", 1) and form["version"] is not True
        is_survey &= type(form["body_length"]) is int and abs(form["body_length"]) < 2**53
        earlier_hashes = form.get("renewed", [])
        is_survey &= type(earlier_hashes) is list and all(_HASH.fullmatch(digest) for digest in earlier_hashes)
        invitation_form = form.get("invitations", {"suite": SUITE, "key": "0" * 64})
        is_survey &= (
            set(invitation_form) == {"suite", "key"}
            and invitation_form["suite"] == SUITE
            and bool(_HASH.fullmatch(invitation_form["key"]))
        )
        examination = of_form(form["questionnaire"])
        if examination.questionnaire is not None and is_survey:
            if not _is_published_form(form["questionnaire"], examination.questionnaire.form()):
                return "its questionnaire is not written as naysay publishes one"
            longest = body_length(examination.questionnaire, invites="invitations" in form)
            if form["body_length"] < longest:
                return f"its messages have {form['body_length']:,} bytes, and answers may need {longest:,}"
            return _first_understatement(form, examination.questionnaire)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError):
        is_survey = False
    return str(examination.errors[0]) if is_survey else "it is no survey of this version of naysay"


_PUBLISHED = {"naysay", "version", "responses", "by_hand", "below"}
"""Fields that a page needs although a file may leave them out."""


_COMPLETED = {"private", "choices", "bins", "label"}
"""Fields that a control in a file may have from its question; in a survey they must be there."""


_EMPTY = {"arms", "order"}
"""Fields that a page reads as a promise: where they say nothing, they must not be there."""


_LABELS = ("categories", "responses")
"""Fields of a design's JSON with labels; in a survey each is one text, number or flag, and no pair."""


def _is_published_form(given: Any, canonical: Any) -> bool:
    """Whether a page reads the values that were checked: nothing was converted, and nothing it needs is missing."""
    if isinstance(given, dict) and isinstance(canonical, dict):
        shared_fields = given.keys() & canonical.keys()
        needed_fields = _PUBLISHED & canonical.keys() | {name for name in _COMPLETED if canonical.get(name)}
        is_whole = needed_fields <= given.keys() and not _EMPTY & given.keys() - canonical.keys()
        return is_whole and all(
            _is_published_form(given[field_name], canonical[field_name])
            and not (field_name in _LABELS and _holds_list(given[field_name]))
            for field_name in shared_fields
        )
    if isinstance(given, list) and isinstance(canonical, list):
        return len(given) == len(canonical) and all(map(_is_published_form, given, canonical))
    return bool(given == canonical) and isinstance(given, bool) == isinstance(canonical, bool)


def _holds_list(labels: Any) -> bool:
    return isinstance(labels, list) and any(isinstance(label, list) for label in labels)


_OF_ONE_QUESTION = {"level", "by_hand", "categories", "still_possible", "reveals"}


def _first_understatement(form: dict[str, Any], questionnaire: Questionnaire) -> str | None:
    """The first statement that promises more privacy than the designs give."""
    for name, level_rows in statements(questionnaire).items():
        if len(form["privacy"][name]) != len(level_rows):
            return f"it states other levels for {name!r} than it offers"
        for stated, real in zip(form["privacy"][name], level_rows, strict=True):
            for key, value in real.items():
                if not _enough(stated[key], value):
                    return f"it states less for {name!r} than its design tells: {key} {stated[key]} in place of {value}"
    if misplaced_fields := _OF_ONE_QUESTION & form["together"].keys():
        return f"it states of all answers what is told of one: {min(misplaced_fields)}"
    for key, value in together(questionnaire).items():
        if not _enough(form["together"][key], value):
            return f"it states less for all answers than they tell: {key} {form['together'][key]} in place of {value}"
    return None


def _enough(stated: Any, real: Any) -> bool:
    """Whether a number is at least what it must be, and all else the same; None stands for ∞."""
    if isinstance(stated, bool) != isinstance(real, bool):
        return False
    if isinstance(real, float) or real is None:
        return stated is None or (real is not None and bool(stated * (1 + 1e-9 + 1e-15 * real) + 1e-9 >= real))
    return bool(stated == real)


def body_length(questionnaire: Questionnaire, *, invites: bool = False) -> int:
    """Bytes of the longest possible body, rounded up to a multiple of `STEP`.

    Every body is padded to it, so that the size of what leaves the device tells nothing.

    Examples
    --------
    >>> from naysay.collect.questionnaire import Questionnaire, Text
    >>> one = Text(name="why", label={"en": "Why?"}, max_length=500)
    >>> body_length(Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(one,)))
    3072
    """
    entry_lengths = (quoted(question.name) + 2 + _longest(question) for question in questionnaire.questions)
    return -(-(_ENVELOPE + invites * _TOKEN + sum(entry_lengths)) // STEP) * STEP


def _longest(question: Question) -> int:
    """Bytes of the longest answer to a question, as compact JSON; null has 4."""
    private = question.privacy
    if private is None:
        return max(4, question.longest)
    level_length = max(4 if name is None else quoted(name) for name in private.levels)
    response_labels = {str(label) for channel in private.offer.parts.values() for label in channel.space.labels}
    response_length = 2 + sum(quoted(label) - 1 for label in response_labels)  # a set may hold all labels
    one_response = len('{"level":,"response":}') + level_length + response_length
    return 2 + sum(quoted(name) + 2 + one_response for name in question.parts) if question.parts else one_response
