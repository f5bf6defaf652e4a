"""Designs: P(response | category), its algebra, its JSON form and exact drawing.

A `Design` is one channel. `Levels` offers several designs, of which each respondent picks one. `Samples` gives each
sample a design of its own. ``a * b`` puts two questions to one person: a `Product`, or a `Crossed` where a question has
levels or samples. Families of designs are functions in `naysay.designs`. Each module's ``__all__`` lists what it adds
here.
"""

from naysay.design.algebra import Both, Crossed, Mixture, Redraw, Remembered, mix
from naysay.design.base import RULES, Answerable, Design, Product, Share, Then, load, read
from naysay.design.channels import Pattern, Subset, Table, TwoOption, WeightedSubset, relabeled
from naysay.design.drawing import ByteSource
from naysay.design.flowchart import protocols
from naysay.design.lot import Grouped, Hierarchy, Prefixes
from naysay.design.protocol import Branch, Chance, Do, Fork, Protocol, Say, Step, draw_lots
from naysay.design.pure import AffineHash, Pure, SubsetSelection, Unary
from naysay.design.several import Levels, Samples
from naysay.design.window import Window

__all__ = [
    "RULES",
    "AffineHash",
    "Answerable",
    "Both",
    "Branch",
    "ByteSource",
    "Chance",
    "Crossed",
    "Design",
    "Do",
    "Fork",
    "Grouped",
    "Hierarchy",
    "Levels",
    "Mixture",
    "Pattern",
    "Prefixes",
    "Product",
    "Protocol",
    "Pure",
    "Redraw",
    "Remembered",
    "Samples",
    "Say",
    "Share",
    "Step",
    "Subset",
    "SubsetSelection",
    "Table",
    "Then",
    "TwoOption",
    "Unary",
    "WeightedSubset",
    "Window",
    "draw_lots",
    "load",
    "mix",
    "protocols",
    "read",
    "relabeled",
]
