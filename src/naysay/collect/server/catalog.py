"""The surveys that are served, kept up to date with the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from naysay.collect.client import Client
from naysay.collect.server.documents import Document, client_documents, page, survey_json
from naysay.collect.storage import Store
from naysay.collect.survey.published import Published
from naysay.collect.survey.submission import Reader

__all__ = ["Catalog", "Served"]


@dataclass(frozen=True)
class Served:
    """A survey with all that is served of it."""

    published: Published
    open: bool

    @cached_property
    def reader(self) -> Reader:
        """What reads the bodies that are sent to it."""
        return Reader(self.published)

    @cached_property
    def page(self) -> Document:
        """The respondent's page."""
        return page(self.published)

    @cached_property
    def json(self) -> Document:
        """The survey as the page reads it."""
        return survey_json(self.published)


class Catalog:
    """The surveys by name, and the files of their clients by hash.

    Parameters
    ----------
    surveys : sequence of Published
        What is served at first.
    store : Store, optional
        Where to look for others, and for which are open.
    client : Client
        The client of this version of naysay, for pages that belong to no survey.
    """

    def __init__(self, surveys: Sequence[Published], *, store: Store | None, client: Client) -> None:
        self._store = store
        self._client = client
        self.surveys: Mapping[str, Served] = {}
        self.clients: Mapping[str, Mapping[str, Document]] = {}
        self._serve({each.name: Served(each, open=True) for each in surveys})
        if store is not None:
            self.refresh()

    def refresh(self) -> None:
        """Look which surveys there are in the database, and which of them are open."""
        if self._store is None:
            return
        found = {
            name: self._served(self._store, name, digest, is_open=is_open)
            for name, (digest, is_open) in self._store.standing().items()
        }
        if found != self.surveys:
            self._serve(found)

    def _served(self, store: Store, name: str, digest: str, *, is_open: bool) -> Served:
        known = self.surveys.get(name)
        if known is None or known.published.hash != digest:
            return Served(store.published(name), is_open)
        return known if known.open == is_open else replace(known, open=is_open)

    def _serve(self, surveys: Mapping[str, Served]) -> None:
        clients = {each.published.client.hash: each.published.client for each in surveys.values()}
        clients[self._client.hash] = self._client
        self.clients = {
            digest: self.clients.get(digest) or client_documents(client) for digest, client in clients.items()
        }
        self.surveys = surveys
