"""A survey as it is published: what the page reads, byte for byte, and the hash by which everyone names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from naysay.collect.client import FOLDER, Client
from naysay.collect.lengths import body_length
from naysay.errors import DataError
from naysay.questionnaire import Questionnaire, canonical, statements, together

__all__ = ["Published"]

Content = bytes  # in the class below, `bytes` is a field


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
    >>> from naysay.questionnaire import sample
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
    ) -> Published:
        """The questionnaire as it is published with this client, or with the client in this folder.

        A preview says so, and has a hash of its own: nobody takes it for the survey, nor the survey for a preview. A
        survey that was renewed names the hashes that it had before, the latest first.
        """
        files = Client.of(client) if isinstance(client, Path) else client
        content = {
            "naysay": "survey",
            "version": 1,
            "questionnaire": questionnaire.form(),
            "privacy": statements(questionnaire),
            "together": together(questionnaire),
            "body_length": body_length(questionnaire),
            "client": files.integrity,
            **({"preview": True} if preview else {}),
            **({"renewed": list(renewed)} if renewed else {}),
        }
        return cls(canonical(content), files)

    @classmethod
    def read(cls, content: Content, *, client: Client) -> Published:
        """The survey that was published as these bytes."""
        return cls(content, client)

    @cached_property
    def form(self) -> dict[str, Any]:
        """``survey.json`` as an object."""
        found: dict[str, Any] = json.loads(self.bytes)
        return found

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

    def renewal(self, client: Client | Path = FOLDER) -> Published:
        """The same survey with another client; itself where it has that client already.

        Raises
        ------
        DataError
            Where this version of naysay would write the questions in another way, or expect longer answers.
        """
        same = Published.of(self.questionnaire, client=client, renewed=self.renewed)
        if same.bytes == self.bytes:
            return self
        if any(same.form[part] != self.form[part] for part in ("questionnaire", "body_length")):
            raise DataError(
                f"survey {self.name!r} cannot be renewed: this naysay would ask it in another form; close it"
            )
        return Published.of(self.questionnaire, client=client, renewed=(self.hash, *self.renewed))

    @property
    def body_length(self) -> int:
        """Bytes of every body of answers, whatever is answered."""
        return int(self.form["body_length"])
