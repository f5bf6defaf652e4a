"""Families of designs, named as the literature names them.

Each family is a function that returns a `Design`; families with levels return `Levels`, families with several samples
return `Samples`. `catalog` lists all families. ``__all__`` lists what is public.
"""

from typing import TYPE_CHECKING, NoReturn

from naysay.design import mix
from naysay.designs.calibration import calibrated, double_sampling
from naysay.designs.catalog import ASSUMPTIONS, FAMILIES, SOURCES, catalog, parse, unknown
from naysay.designs.compliance import asked_twice, controlled
from naysay.designs.frequencies import (
    affine,
    budgets,
    frequency,
    hadamard,
    heavy_hitters,
    hierarchy,
    number,
    remembered,
    subset_selection,
    unary,
    window,
)
from naysay.designs.lists import double_list, item_count, single_sample_count
from naysay.designs.negative import (
    custom,
    direct,
    gaussian_negative,
    levels,
    negative,
    negative_levels,
    negative_matrix,
    negative_sink,
    two_option,
    uniform,
)
from naysay.designs.randomized import (
    christofides,
    crosswise,
    forced_response,
    k_ary,
    kuk,
    mangat,
    mangat_singh_singh,
    singh_joarder,
    triangular,
    two_coins,
    unrelated_question,
    warner,
)
from naysay.designs.stacked import (
    abul_ela,
    anchored_crosswise,
    cheating_detection,
    cheating_detection_symmetric,
    extended_crosswise,
    one_saying,
    samples,
    stochastic_lie_detector,
    unrelated_question_unknown,
)

__all__ = [
    "ASSUMPTIONS",
    "FAMILIES",
    "SOURCES",
    "abul_ela",
    "affine",
    "anchored_crosswise",
    "asked_twice",
    "budgets",
    "calibrated",
    "catalog",
    "cheating_detection",
    "cheating_detection_symmetric",
    "christofides",
    "controlled",
    "crosswise",
    "custom",
    "direct",
    "double_list",
    "double_sampling",
    "extended_crosswise",
    "forced_response",
    "frequency",
    "gaussian_negative",
    "hadamard",
    "heavy_hitters",
    "hierarchy",
    "item_count",
    "k_ary",
    "kuk",
    "levels",
    "mangat",
    "mangat_singh_singh",
    "mix",
    "negative",
    "negative_levels",
    "negative_matrix",
    "negative_sink",
    "number",
    "one_saying",
    "parse",
    "remembered",
    "samples",
    "singh_joarder",
    "single_sample_count",
    "stochastic_lie_detector",
    "subset_selection",
    "triangular",
    "two_coins",
    "two_option",
    "unary",
    "uniform",
    "unrelated_question",
    "unrelated_question_unknown",
    "warner",
    "window",
]

if not TYPE_CHECKING:  # to type checkers, a module with this function has every name

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(unknown(name))
