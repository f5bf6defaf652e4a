"""Families of designs, named as the literature names them.

Each family is a function that returns a `Design`; families with levels return `Levels`, families with several samples
return `Samples`. `catalog` lists all families. Each module's ``__all__`` lists what it adds here, so that a new family
changes only its own file.
"""

from naysay.design import mix
from naysay.designs._family import ASSUMPTIONS, FAMILIES, SOURCES
from naysay.designs.catalog import catalog, parse
from naysay.designs.cheating import *  # noqa: F403
from naysay.designs.cheating import __all__ as _cheating
from naysay.designs.frequencies import *  # noqa: F403
from naysay.designs.frequencies import __all__ as _frequencies
from naysay.designs.general import *  # noqa: F403
from naysay.designs.general import __all__ as _general
from naysay.designs.heavy import *  # noqa: F403
from naysay.designs.heavy import __all__ as _heavy
from naysay.designs.hierarchies import *  # noqa: F403
from naysay.designs.hierarchies import __all__ as _hierarchies
from naysay.designs.innocuous import *  # noqa: F403
from naysay.designs.innocuous import __all__ as _innocuous
from naysay.designs.memory import *  # noqa: F403
from naysay.designs.memory import __all__ as _remembered
from naysay.designs.negative import *  # noqa: F403
from naysay.designs.negative import __all__ as _negative
from naysay.designs.negative_offers import *  # noqa: F403
from naysay.designs.negative_offers import __all__ as _offers
from naysay.designs.numbers import *  # noqa: F403
from naysay.designs.numbers import __all__ as _numbers
from naysay.designs.randomized import *  # noqa: F403
from naysay.designs.randomized import __all__ as _randomized
from naysay.designs.stacked import *  # noqa: F403
from naysay.designs.stacked import __all__ as _stacked
from naysay.designs.variants import *  # noqa: F403
from naysay.designs.variants import __all__ as _variants

__all__ = ["ASSUMPTIONS", "FAMILIES", "SOURCES", "catalog", "mix", "parse"]
__all__ += [*_general, *_negative, *_offers, *_randomized, *_innocuous, *_variants, *_stacked, *_cheating]  # noqa: PLE0604 (lists of texts)
__all__ += [*_frequencies, *_heavy, *_hierarchies, *_numbers, *_remembered]  # noqa: PLE0604 (lists of texts)
