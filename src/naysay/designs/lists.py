"""Lists: people say how many statements are true of them, and never which; arms tell the sensitive one apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from naysay import _checks
from naysay._values import Exact, Label
from naysay.design import Answerable, Both, Design, Samples, Say, Share, Step, draw_lots
from naysay.designs.catalog import YES_NO, ask, chance, family, of_steps, two
from naysay.designs.randomized import INDEPENDENT
from naysay.designs.stacked import ALIKE
from naysay.errors import DesignError

RANDOM, ZERO = "random", "zero"
_MOST_ITEMS = 12
_HOW_MANY = "How many of these statements are true of you?"
_SAY_HOW_MANY = "say how many of these statements are true of you, not which"
NO_EFFECT = "the sensitive statement does not change how people count the others"


def _types(types: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    names = (types,) if isinstance(types, str) else tuple(types)
    unknown_names = [name for name in names if name not in known]
    if unknown_names or len(set(names)) < len(names):
        raise DesignError(f"types are of {_checks.listing_text(known)}, each once; got {_checks.listing_text(names)}")
    return names


def _at_random(highest: int) -> Step:
    """Any number from 0 to the highest, with equal chance."""
    return draw_lots(*((Fraction(1, highest + 1), Say(number)) for number in range(highest + 1)))


@family("Droitcour et al. (1991); with a placebo statement Riambau & Ostwald (2019)", assumes=(NO_EFFECT, ALIKE))
def item_count(
    *, items: int, placebo: bool = False, types: Sequence[str] = (), categories: Sequence[Label] = YES_NO
) -> Samples:
    """The list experiment: one sample counts J harmless statements, another the same ones and the sensitive one.

    The difference of the mean counts is the sensitive share. A longer list alone can raise the counts of people who
    answer at random: the mean of numbers from 0 to J + 1 is 1/2 more than that from 0 to J. A third sample whose
    additional statement is true of nobody (a placebo) measures this.

    Parameters
    ----------
    items : int
        J, the number of harmless statements.
    placebo : bool
        Whether there is a sample with a placebo statement.
    types : sequence of str
        Who does not comply: "random" says any number that the list allows, with equal chance; it needs the placebo.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Fewer than one statement, or more than twelve; an unknown type; random answers without a placebo.

    References
    ----------
    Droitcour et al. (1991); Riambau & Ostwald (2019); Blair & Imai (2012).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = item_count(items=3)
    >>> counts = [8, 132, 222, 227, 19, 123, 229, 219, 34]
    >>> arms = ["control"] * 4 + ["treatment"] * 5
    >>> tally = survey.tally([0, 1, 2, 3, 0, 1, 2, 3, 4], sample=arms, count=counts)
    >>> float(estimate.moments(survey, tally).proportions[0].round(4))
    0.0678
    """
    yes, no = two(categories)
    most = _checks.whole_number(items, 1, _MOST_ITEMS, what="items")
    type_names = _types(types, (RANDOM,))
    if type_names and not placebo:
        raise DesignError(
            "without a placebo nothing tells random answers from sensitive ones: a longer list raises random counts, "
            "too; give placebo=True"
        )
    cell_counts = {f"{label}, {r} others": (label, r) for label in (yes, no) for r in range(most + 1)}
    cells = (*cell_counts, *type_names)

    def arm(extra: int, *, sensitive: bool) -> Design:
        ways = [(cell, Say(r + int(sensitive and label == yes))) for cell, (label, r) in cell_counts.items()]
        steps = [*ways, *((name, _at_random(most + extra)) for name in type_names)]
        return of_steps(
            ask(*steps, question=_HOW_MANY, instruction=_SAY_HOW_MANY), cells, tuple(range(most + extra + 1))
        )

    arms = {"control": arm(0, sensitive=False), "treatment": arm(1, sensitive=True)}
    if placebo:
        arms["placebo"] = arm(1, sensitive=False)
    complying = tuple(cell_counts)
    return Samples.of(
        arms,
        shares=[
            Share(label, tuple(cell for cell in complying if cell_counts[cell][0] == label), among=complying)
            for label in (yes, no)
        ],
        nuisance=[Share("at random", type_names)] if type_names else [],
        measures_compliance=bool(type_names),
    )


@family("Droitcour et al. (1991); Glynn (2013)", assumes=(NO_EFFECT, ALIKE))
def double_list(*, items: tuple[int, int], categories: Sequence[Label] = YES_NO) -> Samples:
    """The double list experiment: everybody counts two lists, and the sensitive statement stands in one of them by lot.

    In sample 1 it stands in list A, in sample 2 in list B. Half the difference of the samples' mean of (count A - count
    B) is the sensitive share, and everybody's answers count twice.

    Parameters
    ----------
    items : (int, int)
        The number of harmless statements in list A and in list B.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Fewer than one statement in a list, or more than twelve.

    References
    ----------
    Droitcour et al. (1991); Glynn (2013).

    Examples
    --------
    >>> double_list(items=(2, 3)).levels
    (1, 2)
    """
    yes, no = two(categories)
    given: object = items  # a sheet may hold one number
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DesignError(f"items are the lengths of two lists, such as (4, 4); got {items!r}")
    lengths = [_checks.whole_number(length, 1, _MOST_ITEMS, what="items") for length in items]
    cell_counts = {
        f"{label}, {a} and {b} others": (label, (a, b))
        for label in (yes, no)
        for a, b in itertools.product(*(range(length + 1) for length in lengths))
    }

    def answer(place: int, *, sensitive: bool) -> Design:
        ways = (
            (cell, Say(others[place] + int(sensitive and label == yes)))
            for cell, (label, others) in cell_counts.items()
        )
        steps = ask(*ways, question=_HOW_MANY, instruction=_SAY_HOW_MANY)
        return of_steps(steps, tuple(cell_counts), tuple(range(lengths[place] + int(sensitive) + 1)))

    return Samples.of(
        {
            1: Both.of(answer(0, sensitive=True), answer(1, sensitive=False)),
            2: Both.of(answer(0, sensitive=False), answer(1, sensitive=True)),
        },
        shares=[
            Share(label, tuple(cell for cell, content in cell_counts.items() if content[0] == label))
            for label in (yes, no)
        ],
    )


@family("Nepusz, Petróczi, Naughton, Epton & Norman (2014)", assumes=(INDEPENDENT,))
def single_sample_count(
    *,
    items: int = 4,
    prevalence: Exact = "1/2",
    types: Sequence[str] = (),
    categories: Sequence[Label] = YES_NO,
) -> Answerable:
    """The single sample count: people count the sensitive statement with m innocuous ones of known prevalence.

    The count is Binomial(m, p), and one more for carriers. The published estimate is the mean count minus m p; maximum
    likelihood reads the whole distribution, and is more precise.

    Parameters
    ----------
    items : int
        m, the number of innocuous statements.
    prevalence : probability
        p, the share of people of whom an innocuous statement is true.
    types : sequence of str
        Who does not comply: "zero" always says 0, "random" says any number from 0 to m + 1 with equal chance.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Fewer than one statement, or more than twelve; a prevalence of 0 or 1; an unknown type.

    References
    ----------
    Nepusz, Petróczi, Naughton, Epton & Norman (2014).

    Examples
    --------
    >>> from naysay import estimate
    >>> survey = single_sample_count(types=("zero",))
    >>> fit = estimate.maximum_likelihood(survey, survey.tally([0, 1, 2, 3, 4, 5], count=[128, 205, 315, 238, 92, 22]))
    >>> round(float(fit.proportions[0]), 4), round(fit.nuisance["always 0"].value, 4)
    (0.2395, 0.0845)
    """
    yes, no = two(categories)
    m = _checks.whole_number(items, 1, _MOST_ITEMS, what="items")
    p = chance(prevalence, name="prevalence", inside=True)
    type_names = _types(types, (ZERO, RANDOM))

    def counted(own: int) -> Step:
        return draw_lots(*((math.comb(m, k) * p**k * (1 - p) ** (m - k), Say(k + own)) for k in range(m + 1)))

    steps_of_type = {ZERO: Say(0), RANDOM: _at_random(m + 1)}
    complying = (f"complies, {yes}", f"complies, {no}") if type_names else (yes, no)
    cells = (*complying, *type_names)
    ways = [
        (complying[0], counted(1)),
        (complying[1], counted(0)),
        *((name, steps_of_type[name]) for name in type_names),
    ]
    design = of_steps(ask(*ways, question=_HOW_MANY, instruction=_SAY_HOW_MANY), cells, tuple(range(m + 2)))
    if not type_names:
        return design
    share_names = {ZERO: "always 0", RANDOM: "at random"}
    return Samples.of(
        {None: design},
        shares=[Share(label, (cell,), among=complying) for label, cell in zip((yes, no), complying, strict=True)],
        nuisance=[Share(share_names[name], (name,)) for name in type_names],
        measures_compliance=True,
    )
