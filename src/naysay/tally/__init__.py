"""Tallies: distinct answers and how often each was given. Estimation needs nothing else.

A `Tally` is a tuple of parts, one for each design (or level) under which people answered. Two tallies can be added. So
answers can be counted in batches, by any table engine, in the place where they are stored.
"""

from naysay.tally.part import Channel, Part
from naysay.tally.sums import Sums, counts_of_points
from naysay.tally.tally import Asked, Tally

__all__ = ["Asked", "Channel", "Part", "Sums", "Tally", "counts_of_points"]
