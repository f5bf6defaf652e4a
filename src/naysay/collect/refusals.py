"""Why the server does not take a request: a code, a status, and one sentence that never repeats what was sent."""

from __future__ import annotations

from typing import Any

from naysay.errors import NaysayError

STATUS = {
    "malformed": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "unknown": 404,
    "wrong_method": 405,
    "too_slow": 408,
    "uninvited": 403,
    "used": 409,
    "spent": 409,
    "wrong_survey": 409,
    "conflict": 409,
    "closed": 410,
    "too_large": 413,
    "wrong_type": 415,
    "busy": 429,
    "internal": 500,
    "unavailable": 503,
}
"""The HTTP status of each code."""

CLOSED = "this survey is closed and takes no more answers"


class Refusal(NaysayError):
    """A request that the server does not take, and what must hold.

    Parameters
    ----------
    code : str
        One of `STATUS`.
    message : str
        What must hold, for the respondent's page and for authors of clients; never a value that was sent.
    retry_after : int, optional
        Seconds after which trying again makes sense.

    Examples
    --------
    >>> refusal = Refusal("unknown", "there is no survey of this name")
    >>> refusal.status, refusal.form()["error"]["code"]
    (404, 'unknown')
    """

    def __init__(self, code: str, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def form(self) -> dict[str, Any]:
        """The refusal as a JSON object."""
        return {"error": {"code": self.code, "message": self.message}}
