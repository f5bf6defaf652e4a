"""Designs: P(response | category), its algebra, its JSON form and exact drawing.

`Design` is one channel, `Levels` an offer of several, `Samples` several put to samples of their own; ``a * b`` is two
questions to one person (`Product`, or `Crossed` where they have levels or samples). Families of designs are functions
in `naysay.designs`.
"""

from naysay.design.algebra import Both, Mixture, Product, Then, mix
from naysay.design.base import Answerable, Design, load, read
from naysay.design.channels import Table, TwoOption
from naysay.design.crossed import Crossed
from naysay.design.devices import draw_lots
from naysay.design.drawing import RULES, ByteSource
from naysay.design.pattern import Pattern
from naysay.design.protocol import Branch, Chance, Do, Fork, Protocol, Say, Step
from naysay.design.several import Levels
from naysay.design.shares import Share
from naysay.design.stacked import Samples
from naysay.design.steps import protocols
from naysay.design.subsets import Subset, WeightedSubset

__all__ = [
    "RULES",
    "Answerable",
    "Both",
    "Branch",
    "ByteSource",
    "Chance",
    "Crossed",
    "Design",
    "Do",
    "Fork",
    "Levels",
    "Mixture",
    "Pattern",
    "Product",
    "Protocol",
    "Samples",
    "Say",
    "Share",
    "Step",
    "Subset",
    "Table",
    "Then",
    "TwoOption",
    "WeightedSubset",
    "draw_lots",
    "load",
    "mix",
    "protocols",
    "read",
]
