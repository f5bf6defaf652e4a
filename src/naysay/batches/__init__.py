"""Batches of reports: a number for each report, under a design, a question and a wave; and nothing about who sent it.

A batch is what devices send and servers keep until they have counted it. `write` makes batches, `read` takes them out
of a stream, `count` and `tally` count them. docs/batches.md has both forms byte by byte.
"""

from naysay.batches.batch import Batch, BatchError, Heading
from naysay.batches.counting import Counted, Topic, count, tally
from naysay.batches.reading import read, write

__all__ = ["Batch", "BatchError", "Counted", "Heading", "Topic", "count", "read", "tally", "write"]
