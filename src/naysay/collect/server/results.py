"""Results that the researcher shares under a link, and the style sheet of all pages of results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from naysay.collect import results
from naysay.collect.refusals import Refusal
from naysay.collect.results import sharing
from naysay.collect.server.documents import FRESH, Catalog, Document
from naysay.collect.server.guard import Rates
from naysay.collect.storage import Store

__all__ = ["SharedResults"]

_AGE = 30.0  # seconds for which a page is not made anew, however often it is asked for
_MOST = 100  # pages that are kept


class SharedResults:
    """The endpoints of shared results. A page is made at most twice a minute, so that its readers slow nobody down.

    Parameters
    ----------
    store : Store, optional
        A preview has none, and shares nothing.
    catalog : Catalog
        The surveys, for their languages.
    rates : Rates
        How many requests are answered within a minute, with a right link or a wrong one.
    clock : callable
        Seconds that only grow.
    """

    def __init__(
        self, store: Store | None, catalog: Catalog, rates: Rates, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._rates = rates
        self._clock = clock
        self._made: dict[tuple[str, str | None], tuple[float, str]] = {}
        self._making = threading.Lock()
        self._style = Document(results.style().encode(), "text/css", {"cache-control": FRESH})

    async def style(self, request: Request) -> Response:
        """The style sheet of pages of results."""
        return self._style.response(request)

    async def page(self, request: Request, secret: str, lang: str | None = None) -> Response:
        """Results that were shared: nothing about fewer than a floor of answers, and only in steps of as many."""
        if seconds := self._rates.wait(request.client.host if request.client else ""):
            raise Refusal("busy", "too many requests come at once; load the page again later", retry_after=seconds)
        return HTMLResponse(await run_in_threadpool(self._page, secret, lang))

    def _page(self, secret: str, lang: str | None) -> str:
        store = self._store
        name = None if store is None else sharing.survey_of(store, secret)
        if store is None or name is None:
            raise Refusal("unknown", "no results are shared under this link, or not any more")
        served = self._catalog.surveys.get(name)
        if served is None or lang not in served.published.questionnaire.languages:
            lang = None
        with self._making:  # each request has a thread of its own, and two would draw the same page
            began, text = self._made.get((secret, lang), (0.0, ""))
            if not text or self._clock() - began >= _AGE:
                text = sharing.shared_page(store, name, language=lang)
                if len(self._made) >= _MOST:
                    self._made.clear()
                self._made[secret, lang] = (self._clock(), text)
        return text
