"""Attacks on a release: what an intruder who holds a register, or the original, achieves."""

from naysay.microdata.attack.inference import Inference, Replicated, infer, replicated
from naysay.microdata.attack.linkage import ATTACKS, Linkage, link
from naysay.microdata.attack.register import Linked, Register, Share, Success, share_of

__all__ = [
    "ATTACKS",
    "Inference",
    "Linkage",
    "Linked",
    "Register",
    "Replicated",
    "Share",
    "Success",
    "infer",
    "link",
    "replicated",
    "share_of",
]
