"""Where surveys and answers are stored: in SQLite by default, or in PostgreSQL."""

from naysay.collect.storage.replies import Outcome, Replies, Reply, Reports, Taking
from naysay.collect.storage.store import Listed, Receipt, Store, today

__all__ = ["Listed", "Outcome", "Receipt", "Replies", "Reply", "Reports", "Store", "Taking", "today"]
