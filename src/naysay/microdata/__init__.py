"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells.

The public names and their modules stand in ``__init__.pyi``. No room has the name of a function: it would hide that
function once imported.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
