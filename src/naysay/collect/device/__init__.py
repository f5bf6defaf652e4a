"""The respondent's side without a browser: what she would answer, what leaves her device, and how it is sent.

Nothing of the server imports this package: true answers are known here, and never there.
"""
