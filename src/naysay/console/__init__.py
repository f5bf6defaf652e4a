"""What all commands share: the options for designs and files, and where output goes.

Nothing here is for users of the library.
"""

__all__: list[str] = []
