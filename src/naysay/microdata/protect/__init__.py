"""Methods that protect a file before its release, and plans of them.

Each method is a frozen value with a name, parameters and a promise; ``apply(table)`` gives the new table, and a log
that repeats it. The public names and their modules stand in ``__init__.pyi``.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
