"""A server that lies: the genuine page, served by the real application, with any survey and any refusals."""

import json
from contextlib import contextmanager

from browsing import Served, running

from naysay.collect.app import create_app
from naysay.collect.client import FOLDER
from naysay.collect.questionnaire import canonical
from naysay.collect.storage import Store

DAY = "2026-11-20"
STORED = (201, {"stored": True, "day": DAY})


def refused(code="wrong_survey", status=409):
    """What a server answers that does not take a message, for `Liar.replies`."""
    return status, {"error": {"code": code, "message": code}}


class Liar(Served):
    """A server whose every answer but the files of the page can be a lie.

    Parameters
    ----------
    app : ASGI application
        The genuine one.

    Notes
    -----
    ``lie`` makes another ``survey.json`` of the genuine bytes; it can be changed between two loads. ``replies`` are
    what the next messages are answered with, one after the other, as (status, object); when they are used up,
    messages are acknowledged. ``bodies`` are the messages that came.
    """

    def __init__(self, app):
        super().__init__(None, None)
        self._app = app
        self.truth()

    def truth(self):
        """Forget all lies."""
        self.lie = lambda content: content
        self.replies, self.bodies = [], []

    def tell(self, change):
        """Serve what `change(form)` makes of the survey: it may change the object, or give another one."""

        def lie(content):
            form = json.loads(content)
            told = change(form)
            return canonical(form if told is None else told)

        self.lie = lie

    async def __call__(self, scope, receive, send):
        path = scope.get("path", "")
        if path.endswith("/survey.json"):
            await self._survey(scope, receive, send)
        elif path.endswith("/answers"):
            await self._answers(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _survey(self, scope, receive, send):
        skipped = (b"accept-encoding", b"if-none-match")
        asked = {**scope, "headers": [each for each in scope["headers"] if each[0] not in skipped]}
        said = []

        async def note(message):
            said.append(message)

        await self._app(asked, receive, note)
        content = self.lie(b"".join(message.get("body", b"") for message in said[1:]))
        headers = [each for each in said[0]["headers"] if each[0] not in (b"content-length", b"etag")]
        await send({**said[0], "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _answers(self, scope, receive, send):
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        self.bodies.append(body)
        status, said = self.replies.pop(0) if self.replies else STORED
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})


@contextmanager
def lying(surveys, folder, *, client=FOLDER):
    """A server that lies about these surveys; see `Liar`."""
    store = Store(folder / "answers.sqlite")  # without one it would be a preview
    liar = Liar(create_app(surveys, store, client=client, each=0, everybody=0))
    with running(liar) as address:
        liar.address = address
        yield liar
