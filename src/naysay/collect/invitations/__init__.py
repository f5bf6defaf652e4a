"""Invitations, so that one person answers once, and nothing stored leads from an invitation to an answer.

A code in a link is turned into a token, by a verifiable oblivious pseudorandom function. The token is spent with the
reply. `inviting` is the researcher's side, `issuing` the server's, `voprf` the function itself (RFC 9497).
"""

from naysay.collect.invitations.inviting import Counts, code_of, codes, counts, enlist, invite, link, replace, untaken

__all__ = ["Counts", "code_of", "codes", "counts", "enlist", "invite", "link", "replace", "untaken"]
