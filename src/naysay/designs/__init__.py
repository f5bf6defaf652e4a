"""Families of designs, named as the literature names them.

Each is a function that returns a `Design` (or, for an offer of levels, `Levels`). `catalog` lists them.
"""

from naysay.design import mix
from naysay.designs.catalog import FAMILIES, catalog, parse
from naysay.designs.general import custom, direct, levels, uniform
from naysay.designs.negative import (
    gaussian_negative,
    negative,
    negative_levels,
    negative_matrix,
    negative_sink,
    two_option,
)
from naysay.designs.randomized import k_ary, two_coins, warner

__all__ = [
    "FAMILIES",
    "catalog",
    "custom",
    "direct",
    "gaussian_negative",
    "k_ary",
    "levels",
    "mix",
    "negative",
    "negative_levels",
    "negative_matrix",
    "negative_sink",
    "parse",
    "two_coins",
    "two_option",
    "uniform",
    "warner",
]
