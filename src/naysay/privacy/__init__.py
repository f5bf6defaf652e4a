"""Privacy: what an answer reveals about the person who gave it.

Privacy is computed from P(response | category), the same rows that estimation uses. An ε of ∞ is allowed; it always
comes with its reason and with the categories that an answer leaves open. For a design of several levels or samples,
every function returns a dict with one entry for each. Each module's ``__all__`` lists what it adds here.
"""

# ruff: noqa: F403, PLE0604 (the modules' own lists)
from naysay.privacy.about import *
from naysay.privacy.about import __all__ as _about
from naysay.privacy.composition import *
from naysay.privacy.composition import __all__ as _composition
from naysay.privacy.measures import *
from naysay.privacy.measures import __all__ as _measures
from naysay.privacy.repeated import *
from naysay.privacy.repeated import __all__ as _waves
from naysay.privacy.schedules import *
from naysay.privacy.schedules import __all__ as _schedule
from naysay.privacy.shuffled import *
from naysay.privacy.shuffled import __all__ as _shuffled
from naysay.privacy.shuffling import *
from naysay.privacy.shuffling import __all__ as _shuffling
from naysay.privacy.statement import *
from naysay.privacy.statement import __all__ as _statement

__all__ = [*_about, *_composition, *_measures, *_schedule, *_shuffled, *_shuffling, *_statement, *_waves]
