"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells.

The public names and their modules stand in ``__init__.pyi``. No room has the name of a function: it would hide that
function once imported.
"""

from naysay._lazy import stubbed

__getattr__, __dir__, __all__ = stubbed(__name__, __file__)
