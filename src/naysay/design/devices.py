"""Devices that respondents draw lots with: coins, dice, numbered cards."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from naysay import _checks
from naysay.design.exact import as_fraction
from naysay.design.protocol import LOT, Branch, Chance, Step, fraction_text
from naysay.errors import DesignError


def draw_lots(*branches: tuple[Any, Step], again: bool = False) -> Chance:
    """A chance step with a device that suits its probabilities: a coin, a die, or numbered cards.

    Parameters
    ----------
    *branches : (probability, Step)
        Probabilities are read as written and sum to one. Branches of probability 0 are left out.
    again : bool
        Whether the respondent has used the device before on this path.

    Raises
    ------
    DesignError
        Probabilities that are negative or do not sum to one.

    Examples
    --------
    >>> from naysay.design import Say
    >>> lots = draw_lots(("2/3", Say("yes")), ("1/3", Say("no")))
    >>> lots.device, [branch.event for branch in lots.branches]
    ('throw a die', ['1 to 4', '5 or 6'])
    """
    chances = [as_fraction(chance) for chance, _ in branches]
    if any(chance < 0 for chance in chances) or sum(chances) != 1:
        raise DesignError(
            f"probabilities must be in [0, 1] and sum to one; got {_checks.listing_text(map(str, chances))}"
        )
    sides = math.lcm(*(chance.denominator for chance in chances))
    device, events = _device(sides, again=again)
    ways, start = [], 1
    for chance, (_, step) in zip(chances, branches, strict=True):
        width = int(chance * sides)
        if width:
            ways.append(Branch(events(start, start + width - 1), step, chance=chance))
        start += width
    return Chance(device, tuple(ways))


def _device(sides: int, *, again: bool) -> tuple[str, Any]:
    """The instruction for a device with this many equally likely outcomes, and the name for a range of outcomes."""
    if sides == 1:
        return "without any chance", lambda first, last: "always"
    if sides == 2:
        toss = "toss it again" if again else "toss a coin"
        return toss, lambda first, last: "heads" if first == last == 1 else "tails" if first == last else "either"
    if sides in (3, 6):
        face = 6 // sides
        return "throw a die", lambda first, last: _range(face * (first - 1) + 1, face * last)
    if sides <= 100:
        return f"draw one of {sides} numbered cards", lambda first, last: f"card {_range(first, last)}"
    return "let the device draw lots", lambda first, last: LOT + fraction_text(Fraction(last - first + 1, sides))


def _range(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first} or {last}" if last == first + 1 else f"{first} to {last}"
