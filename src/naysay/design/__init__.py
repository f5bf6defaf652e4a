"""Designs: P(response | category), its algebra, its JSON form and exact drawing.

A `Design` is one channel. `Levels` offers several designs, of which each respondent picks one. `Samples` gives each
sample a design of its own. ``a * b`` puts two questions to one person: a `Product`, or a `Crossed` where a question has
levels or samples. Families of designs are functions in `naysay.designs`. Each module's ``__all__`` lists what it adds
here.
"""

from naysay.design.affine import AffineHash
from naysay.design.algebra import Both, Mixture, Product, Then, mix
from naysay.design.base import Answerable, Design, Share
from naysay.design.channels import Pattern, Table, TwoOption, relabeled
from naysay.design.crossed import Crossed
from naysay.design.devices import draw_lots
from naysay.design.drawing import RULES, ByteSource
from naysay.design.loading import load, read
from naysay.design.memory import Remembered
from naysay.design.prefixes import Prefixes
from naysay.design.protocol import Branch, Chance, Do, Fork, Protocol, Say, Step
from naysay.design.pure import Pure, SubsetSelection, Unary
from naysay.design.redraw import Redraw
from naysay.design.several import Levels
from naysay.design.stacked import Samples
from naysay.design.steps import protocols
from naysay.design.subsets import Subset, WeightedSubset
from naysay.design.window import Grouped, Hierarchy, Window

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
