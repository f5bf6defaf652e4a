"""What the endpoints take and give, for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse

from naysay.collect.refusals import STATUS
from naysay.telemetry.batches import LONGEST, ONE_LINE


def _refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The responses that carry these refusals."""
    by_status: dict[int | str, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUS[code], []).append(code)
    return {status: _refusal(refusal_codes) for status, refusal_codes in by_status.items()}


def _object(**properties: Any) -> dict[str, Any]:
    """An object of exactly these properties; none may be left out."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def _refusal(codes: list[str]) -> dict[str, Any]:
    error_schema = _object(error=_object(code={"enum": codes}, message={"type": "string"}))
    response = _content("application/json", " or ".join(codes), error_schema)
    if {"busy", "unavailable"} & set(codes):
        response["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}
    return response


def _content(media_type: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}


_HTML = _content("text/html; charset=utf-8", "a page", {"type": "string"})
_UNCHANGED = {304: {"description": "not changed since it was last asked for"}}
_HEX = {"type": "string", "pattern": "^[0-9a-f]*$"}
_CODE = {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$", "description": "from the link"}
_ACKNOWLEDGED = _object(stored={"type": "boolean"}, day={"type": "string", "format": "date"})
_BODY = _object(
    naysay={"const": "answers"},
    version={"const": 1},
    survey={"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of survey.json"},
    id={"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "drawn once by the device"},
    answers={"type": "object", "description": "every question of the survey, in order; null where unanswered"},
    padding={"type": "string", "pattern": "^ *$", "description": "spaces that bring the body to body_length bytes"},
)
_BODY["properties"]["token"] = {
    "type": "string",
    "pattern": "^[0-9a-f]{160}$",
    "description": "between id and answers, in a survey that invites and in no other: what was drawn, and its function",
}
_POINT = {**_HEX, "description": "the point that a box was sealed with: an uncompressed point of P-256"}


def _json_body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


HOME: dict[str, Any] = {"response_class": HTMLResponse, "responses": {200: _HTML, **_UNCHANGED}}
PAGE: dict[str, Any] = {"response_class": HTMLResponse, "responses": {200: _HTML, **_UNCHANGED, **_refusals("unknown")}}
SURVEY: dict[str, Any] = {
    "responses": {
        200: _content("application/json", "survey.json, the bytes whose SHA-256 names the survey", {"type": "object"}),
        **_UNCHANGED,
        **_refusals("unknown", "closed"),
    }
}
_FILES = ("text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml")
FILE: dict[str, Any] = {
    "responses": {
        200: {"description": "a file", "content": {kind: {"schema": {"type": "string"}} for kind in _FILES}},
        **_UNCHANGED,
        **_refusals("unknown"),
    }
}
THREATS: dict[str, Any] = {
    "response_class": HTMLResponse,
    "responses": {200: _HTML, **_UNCHANGED, **_refusals("unknown", "malformed")},
}
STYLE: dict[str, Any] = {
    "responses": {200: _content("text/css; charset=utf-8", "a style sheet", {"type": "string"}), **_UNCHANGED}
}
SHARED: dict[str, Any] = {
    "response_class": HTMLResponse,
    "responses": {200: _HTML, **_refusals("unknown", "malformed", "busy")},
}
HEALTH: dict[str, Any] = {
    "responses": {
        200: _content(
            "application/json",
            "answers can be stored",
            {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
        ),
        **_refusals("unavailable"),
    }
}
KEY: dict[str, Any] = {
    "openapi_extra": _json_body({"type": "object", "required": ["point"], "properties": {"point": _POINT}}),
    "responses": {
        200: _content(
            "application/json",
            "the keys of days that are not over; one of them may open the box",
            _object(keys={"type": "array", "items": _HEX}),
        ),
        **_refusals("malformed", "unknown", "too_slow", "too_large", "wrong_type", "busy", "internal"),
    },
}
TOKEN: dict[str, Any] = {
    "openapi_extra": _json_body(_object(invitation=_CODE, blinded=_HEX)),
    "responses": {
        200: _content("application/json", "what the device makes its token of", _object(evaluated=_HEX, proof=_HEX)),
        **_refusals(
            "malformed", "unknown", "too_slow", "uninvited", "used", "closed", "too_large", "wrong_type", "busy",
            "internal", "unavailable",
        ),
    },
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "status_code": 201,
    "openapi_extra": _json_body(_BODY),
    "responses": {
        201: _content("application/json", "stored", _ACKNOWLEDGED),
        200: _content("application/json", "these very answers were stored before", _ACKNOWLEDGED),
        **_refusals(
            "malformed", "unknown", "too_slow", "uninvited", "wrong_survey", "conflict", "spent", "closed", "too_large",
            "wrong_type", "busy", "internal", "unavailable",
        ),
    },
}  # fmt: skip
_HEADING = {"type": ["string", "null"], "maxLength": LONGEST, "pattern": ONE_LINE}
_BATCH = {
    "type": "object",
    "required": ["naysay", "version", "design", "reports"],
    "additionalProperties": False,
    "properties": {
        "naysay": {"const": "reports"},
        "version": {"const": 1},
        "design": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "the hash of the design"},
        **dict.fromkeys(("question", "wave", "level"), _HEADING),
        "reports": {
            "type": "array",
            "items": {"type": ["integer", "string"]},
            "description": "numbers of responses, or the texts that clients draw",
        },
    },
}
_KINDS = {
    "application/json": {"schema": _BATCH},
    "application/x-ndjson": {"schema": {"type": "string", "description": "a batch on each line"}},
    "application/vnd.naysay.reports": {"schema": {"type": "string", "format": "binary"}},
}
REPORTS: dict[str, Any] = {
    "openapi_extra": {
        "requestBody": {"required": True, "content": _KINDS},
        "parameters": [
            {
                "name": "bad",
                "in": "query",
                "description": "what becomes of the others if a report is none of its design",
                "schema": {"enum": ["refuse", "keep"], "default": "refuse"},
            },
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "drawn at random for this upload; the same body under the same id is counted once",
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22,64}$"},
            },
        ],
    },
    "responses": {
        200: _content("application/json", "counted", _object(counted={"type": "integer"}, refused={"type": "integer"})),
        **_refusals(
            "malformed", "unknown", "closed", "too_slow", "too_large", "wrong_type", "busy", "internal", "unavailable"
        ),
    },
}
"""The OpenAPI description of each endpoint."""
