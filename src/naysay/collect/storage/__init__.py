"""Where surveys and answers are kept: SQLite by default, PostgreSQL by its address."""

from naysay.collect.storage.replies import Replies
from naysay.collect.storage.store import Listed, Outcome, Reply, Store, today

__all__ = ["Listed", "Outcome", "Replies", "Reply", "Store", "today"]
