"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells.

The public names and their modules stand in ``__init__.pyi``. No subpackage has the name of a public function: once
imported, it would hide that function.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
