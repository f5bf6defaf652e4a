"""What the commands of all wings share: how designs and files are written as options, and what is printed where.

Nothing here is for users of the library.
"""
