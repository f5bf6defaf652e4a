"""The design that finds values which many people have, without a list of them."""

from __future__ import annotations

from typing import Any

from naysay import _checks
from naysay.design import Prefixes
from naysay.design.prefixes import bits_in_steps
from naysay.designs._family import family
from naysay.designs.frequencies import affine
from naysay.errors import DesignError

__all__ = ["heavy_hitters"]

_STEP = 6  # bits by which numbers grow from group to group; texts grow by one character
_FIRST = 8  # bits that the first group reports at least


@family("T. Wang, Li & Jha (2021), with a fresh last group")
def heavy_hitters(
    *,
    epsilon: Any,
    length: int | None = None,
    alphabet: str = "",
    bits: int | None = None,
    step: int | None = None,
    base: int | None = None,
) -> Prefixes:
    """Which values do many people have, without a list: groups by lot report beginnings of a value, bit by bit.

    Each device draws a group, and reports the first bits of its value under `affine`, with all of ε. The analyst keeps
    the most common beginnings of a group, and asks the next group how they go on. The last group reports whole values
    again, and none of its reports has chosen what is estimated from it: see `estimate.heavy_hitters`. If you have a
    list of the values, use `affine` over it: all reports then tell about all values.

    Parameters
    ----------
    epsilon : float
        ε in nats, positive; of the one report that a device sends.
    length : int, optional
        For texts: their largest length, in bytes of UTF-8, or with an alphabet in characters.
    alphabet : str, optional
        The characters that texts are made of. Fewer bits, and so fewer groups, then make a character.
    bits : int, optional
        For whole numbers: below 2^bits.
    step : int, optional
        How many bits a group reports more than the group before; by default one character, or 6 bits of a number.
    base : int, optional
        g of the affine design, a prime; by default the one with the least variance.

    Raises
    ------
    DesignError
        ε that is not positive; not one of length and bits; values of more than 1,024 bits.

    References
    ----------
    T. Wang, Li & Jha (2021).

    Examples
    --------
    >>> heavy_hitters(bits=32, epsilon=2).prefixes
    (8, 14, 20, 26, 32, 32)
    >>> heavy_hitters(length=4, epsilon=2).prefixes
    (8, 16, 24, 32, 32)
    """
    if (length is None) == (bits is None):
        raise DesignError("give the length of texts, or the bits of whole numbers: heavy_hitters(length=8, epsilon=4)")
    if bits is not None and alphabet:
        raise DesignError("an alphabet belongs to texts; give length, not bits")
    symbol = len(alphabet).bit_length() if alphabet else 8
    if length is not None:
        bits, each = _checks.whole(length, 1, 1_024 // symbol, what="length") * symbol, symbol
    else:
        bits, each = _checks.whole(bits, 1, 1_024, what="bits"), _STEP
    each = each if step is None else _checks.whole(step, 1, 16, what="step")
    channel = affine(("0",), epsilon=epsilon, base=base, names=True)
    return Prefixes.of(channel, tuple(bits_in_steps(bits, each, first=_FIRST)), length=length or 0, alphabet=alphabet)
