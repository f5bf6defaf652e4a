"""Where surveys and answers are stored: in SQLite by default, or in PostgreSQL."""

from naysay.collect.storage.arrivals import Outcome, Reply, Reports, Taking
from naysay.collect.storage.replies import Replies
from naysay.collect.storage.store import Listed, Receipt, Store, today

__all__ = ["Listed", "Outcome", "Receipt", "Replies", "Reply", "Reports", "Store", "Taking", "today"]
