"""From an invitation to a token, on the device: a number is drawn and blinded, and the server's proof is checked."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from naysay.collect.survey.published import Published
from naysay.errors import DataError


@dataclass(frozen=True)
class Draft:
    """What a device has drawn for an invitation. It is kept before anything is sent, so that a retry asks for the same.

    Parameters
    ----------
    code : str
        Of the invitation.
    token_number, blind : str
        In hexadecimal: the number that will be in the token, and the scalar that hides it until then.
    """

    code: str
    token_number: str
    blind: str

    @classmethod
    def of(cls, code: str) -> Draft:
        """A fresh draw."""
        import rbcl

        from naysay.collect.invitations.issuing import RANDOM_BYTES

        return cls(code, secrets.token_hex(RANDOM_BYTES), bytes(rbcl.crypto_core_ristretto255_scalar_random()).hex())

    def asking(self, survey: Published) -> bytes:
        """The request for the token: the code, and a blinded element that tells nothing about what was drawn."""
        from naysay.collect.invitations import voprf

        element = voprf.blinded(self._data(survey), bytes.fromhex(self.blind))
        return json.dumps({"invitation": self.code, "blinded": element.hex()}, separators=(",", ":")).encode()

    def token(self, survey: Published, content: dict[str, Any]) -> str:
        """The token, from the server's response.

        Raises
        ------
        DataError
            The server did not use the key that the survey publishes.
        """
        from naysay.collect.invitations import voprf

        try:
            value, proof = (bytes.fromhex(content[name]) for name in ("evaluated", "proof"))
        except (KeyError, TypeError, ValueError):
            raise DataError("the server's response to an invitation is none; do not answer this survey") from None
        key = bytes.fromhex(survey.key or "")
        return (
            self.token_number + voprf.finalized(self._data(survey), bytes.fromhex(self.blind), value, proof, key).hex()
        )

    def _data(self, survey: Published) -> bytes:
        from naysay.collect.invitations.issuing import data_of

        return data_of(survey.name, bytes.fromhex(self.token_number))


def check_invitations(survey: Published, invitation_count: int | None, people: int) -> None:
    """Raise unless a survey that invites gets an invitation for each of these people, and another one gets none."""
    if survey.key is None and invitation_count is not None:
        raise DataError(f"anybody can answer {survey.name!r}; leave the invitations out")
    if survey.key is not None and invitation_count is None:
        raise DataError(f"{survey.name!r} asks for invitations; give one for each of the {people:,} people")
    if invitation_count is not None and invitation_count != people:
        raise DataError(f"there must be an invitation for each of the {people:,} people; got {invitation_count:,}")
