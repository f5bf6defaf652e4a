"""What an answer tells about the person who gave it.

The same rows P(response | category) that estimation reads, read from the other side. An ε of ∞ is legal, and always
comes with its reason and with what the answer does leave open. For an offer of levels every function answers level by
level, as a dict. A module's ``__all__`` is what it adds here.
"""

# ruff: noqa: F403, PLE0604 (the modules' own lists)
from naysay.privacy.about import *
from naysay.privacy.about import __all__ as _about
from naysay.privacy.composition import *
from naysay.privacy.composition import __all__ as _composition
from naysay.privacy.measures import *
from naysay.privacy.measures import __all__ as _measures
from naysay.privacy.statement import *
from naysay.privacy.statement import __all__ as _statement

__all__ = [*_about, *_composition, *_measures, *_statement]
