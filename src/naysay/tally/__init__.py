"""What was said: distinct answers and how often, all that estimation needs.

A `Tally` is a tuple of parts, one for each design (or level) under which people answered. Two tallies add, so answers
can be counted where they are, in batches, on any table engine.
"""

from naysay.tally.part import Channel, Part
from naysay.tally.tally import Asked, Tally

__all__ = ["Asked", "Channel", "Part", "Tally"]
