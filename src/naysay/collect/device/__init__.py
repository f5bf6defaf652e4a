"""The respondent's side without a browser: true answers, what leaves the device, and how it is sent.

No module of the server imports this package: true answers are known here, and never there.
"""
