"""What the commands of all wings share: how designs and files are written as options, and what is printed where."""

__all__: list[str] = []
"""Nothing here is for users of the library."""
