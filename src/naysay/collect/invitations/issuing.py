"""What a server does for those who are invited: it evaluates what a device has blinded, and knows a token again."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from naysay.collect.invitations import voprf
from naysay.collect.refusals import Refusal
from naysay.collect.storage import Taking
from naysay.collect.storage.invited import digest
from naysay.collect.survey import submission
from naysay.errors import DataError

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
    naysay.collect.refusals.Refusal: a request for a token must hold an invitation and what was blinded
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
        texts = tuple(form.values()) if isinstance(form, dict) and tuple(form) == _KEYS else ("", "")
        has_code = all(isinstance(text, str) for text in texts) and CODE.fullmatch(texts[0])
        if not (has_code and _ELEMENT.fullmatch(texts[1])):
            raise Refusal("malformed", "a request for a token must hold an invitation and what was blinded")
        return cls(texts[0], bytes.fromhex(texts[1]))

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
            value = voprf.evaluated(self._key, blinded)
        except DataError as error:
            raise Refusal("malformed", str(error)) from None
        return {"evaluated": value.hex(), "proof": voprf.proved(self._key, blinded, value).hex()}

    def knows(self, token: str) -> bool:
        """Whether a token was made with this key, for this survey."""
        content = bytes.fromhex(token)
        random_bytes, value = content[:RANDOM_BYTES], content[RANDOM_BYTES:]
        return hmac.compare_digest(value, voprf.output(self._key, data_of(self._survey, random_bytes)))
