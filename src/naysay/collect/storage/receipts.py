"""The receipt of a deletion: which survey is gone with how many replies. It holds no answer."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, insert, select, update

from naysay.collect.storage.tables import deletion


@dataclass(frozen=True)
class Receipt:
    """What was deleted, and when.

    Parameters
    ----------
    survey, hash : str
        Its name, and the SHA-256 of what was published.
    opened, closed, deleted : date
        Days in UTC; closed is None if it still took answers.
    replies : int
        How many were deleted with it.
    database : str
        ``sqlite`` or ``postgresql``.
    overwritten : bool
        Whether the place of the replies in the database's own files was overwritten, too.

    Examples
    --------
    >>> day = datetime.date(2027, 1, 31)
    >>> print(Receipt("sample", "ab" * 32, day, None, day, 812, "sqlite", True))
    Survey sample was deleted on 2027-01-31 (UTC), with all 812 replies.
    Its hash: abab...
    It was opened on 2027-01-31 and never closed.
    The database (sqlite) overwrote the place of the replies in its files.
    Backups, exports and copies that were made before are not touched: delete them yourself.
    """

    survey: str
    hash: str
    opened: datetime.date
    closed: datetime.date | None
    deleted: datetime.date
    replies: int
    database: str
    overwritten: bool = False

    def __str__(self) -> str:
        closing_text = f"closed on {self.closed}" if self.closed else "never closed"
        replies_text = "its only reply" if self.replies == 1 else f"all {self.replies:,} replies"
        wiping_text = "overwrote" if self.overwritten else "has not yet overwritten"
        return "\n".join(
            (
                f"Survey {self.survey} was deleted on {self.deleted} (UTC), with {replies_text}.",
                f"Its hash: {self.hash}",
                f"It was opened on {self.opened} and {closing_text}.",
                f"The database ({self.database}) {wiping_text} the place of the replies in its files.",
                "Backups, exports and copies that were made before are not touched: delete them yourself.",
            )
        )

    def to_json(self) -> str:
        """The receipt as a JSON object."""
        receipt_fields = {
            field_name: value.isoformat() if isinstance(value, datetime.date) else value
            for field_name, value in asdict(self).items()
        }
        return json.dumps({"naysay": "deletion", "version": 1, **receipt_fields}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Receipt:
        """The receipt that `to_json` wrote."""
        receipt_fields = {
            field_name: value
            for field_name, value in json.loads(text).items()
            if field_name not in ("naysay", "version")
        }
        for field_name in ("opened", "closed", "deleted"):
            receipt_fields[field_name] = receipt_fields[field_name] and datetime.date.fromisoformat(
                receipt_fields[field_name]
            )
        return cls(**receipt_fields)

    def keep(self, connection: Connection) -> None:
        """Store the receipt in the transaction that deletes."""
        connection.execute(insert(deletion).values(name=self.survey, day=self.deleted, receipt=self.to_json()))


def stored_receipts(connection: Connection) -> dict[int, Receipt]:
    """All receipts by number, the last one first."""
    receipt_rows = connection.execute(select(deletion.c.id, deletion.c.receipt).order_by(deletion.c.id.desc()))
    return {receipt_number: Receipt.of_json(receipt_text) for receipt_number, receipt_text in receipt_rows}


def mark_overwritten(connection: Connection) -> None:
    """Note on every receipt that the place of the replies was overwritten."""
    for receipt_number, receipt in stored_receipts(connection).items():
        if not receipt.overwritten:
            overwritten_text = replace(receipt, overwritten=True).to_json()
            connection.execute(update(deletion).filter_by(id=receipt_number).values(receipt=overwritten_text))
