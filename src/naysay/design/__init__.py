"""Designs: P(response | category), its algebra, its JSON form and exact drawing.

`Design` is one channel, `Levels` an offer of several. Families of designs are functions in `naysay.designs`.
"""

from naysay.design.algebra import Mixture, Product, Then, mix
from naysay.design.base import Answerable, Design
from naysay.design.channels import Subset, Table, TwoOption, WeightedSubset
from naysay.design.drawing import RULES, ByteSource
from naysay.design.form import load, read
from naysay.design.offer import Levels

__all__ = [
    "RULES",
    "Answerable",
    "ByteSource",
    "Design",
    "Levels",
    "Mixture",
    "Product",
    "Subset",
    "Table",
    "Then",
    "TwoOption",
    "WeightedSubset",
    "load",
    "mix",
    "read",
]
