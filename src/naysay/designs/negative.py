"""The direct question, noise, any matrix; and negative surveys, in which people name categories that are not theirs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from naysay import _checks
from naysay._values import Exact, Key, Label
from naysay.design import Answerable, Design, Do, Levels, Pattern, Protocol, Subset, Table, TwoOption, WeightedSubset
from naysay.design.drawing import LIMIT, ChanceRows, as_fraction, rounded, table_weights
from naysay.designs.catalog import by_lot, call, family, of_pattern, of_probabilities, of_weights, truthfully
from naysay.errors import DesignError
from naysay.responses import Labels

Sinks: TypeAlias = Mapping[Any, Label] | Label
"""Categories that may not be named, each with the label of its sink; or one such category."""


@family("direct questioning", assumes=("people answer truthfully although everybody can see their answer",))
def direct(categories: Sequence[Label]) -> Design:
    """The direct question: the response is the true category.

    P = I. It gives no privacy; other designs are compared with it.

    Parameters
    ----------
    categories : (t,) sequence of label

    Examples
    --------
    >>> direct(("yes", "no")).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    labels = _checks.categories(categories)
    return of_pattern(1, 0, labels, truthfully(labels), notes=("this reveals your answer",))


@family("noise, for mixtures")
def uniform(categories: Sequence[Label], *, discards: int | None = None) -> Design:
    """Pure noise: every response is equally likely, whatever the truth.

    P[i, j] = 1/t. Alone, the answer says nothing, and nothing can be estimated. In a `mix`, it gives deniability.

    Parameters
    ----------
    categories : (t,) sequence of label
    discards : int, optional
        The response is a set of this many categories instead of one category. Mix it with ``negative(discards=k)``.

    Examples
    --------
    >>> uniform(("a", "b", "c", "d")).matrix[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    labels = _checks.categories(categories)
    if discards is not None:
        discards = _checks.whole_number(discards, 1, len(labels) - 1, what="discards")
        lots_step = Do(f"draw {discards} of the {len(labels)} categories by lot, and name them")
        return Subset.of(labels, discards, truthful=False, protocol=Protocol(lots_step))
    return of_pattern(1, 1, labels, by_lot(labels))


@family("any matrix")
def custom(
    matrix: ChanceRows, *, categories: Sequence[Label] | None = None, responses: Sequence[Label] | None = None
) -> Design:
    """The design with any matrix of probabilities.

    Parameters
    ----------
    matrix : (responses, t) float, str or Fraction
        P(response | category); columns sum to one. Decimals are read as written; ``"1/3"`` is exact.
    categories : (t,) sequence of label, optional
        ``1 … t`` by default.
    responses : (responses,) sequence of label, optional
        By default the categories, or ``1 … m`` if there are more or fewer responses than categories.

    Raises
    ------
    DesignError
        A column that does not sum to one, or entries outside [0, 1].

    Examples
    --------
    >>> custom([[0.8, 0.1], [0.2, 0.9]], categories=("yes", "no")).denominator
    10
    """
    try:
        matrix_rows = [list(matrix_row) for matrix_row in matrix]
    except TypeError:
        raise DesignError(
            f"the matrix must be rows of probabilities, one row for each response; got {matrix!r}"
        ) from None
    if not matrix_rows or not matrix_rows[0] or len({len(matrix_row) for matrix_row in matrix_rows}) != 1:
        raise DesignError("the matrix must have rows (responses) of one length t, the number of categories")
    labels = tuple(range(1, len(matrix_rows[0]) + 1)) if categories is None else _checks.categories(categories)
    if len(labels) != len(matrix_rows[0]):
        raise DesignError(f"the matrix has {len(matrix_rows[0])} columns; name that many categories, got {len(labels)}")
    if responses is None and len(matrix_rows) != len(labels):
        responses = tuple(range(1, len(matrix_rows) + 1))
    return of_probabilities(matrix_rows, labels, responses, name="custom()")


@family("Esponda, Huerta & Guerrero (2016)")
def levels(offer: Mapping[Key, Answerable] | None = None, **named: Answerable) -> Levels:
    """An offer of designs by name, from which each respondent chooses a level of privacy.

    Parameters
    ----------
    offer : {name: Design}
        The levels, most private first, all with the same categories.

    Raises
    ------
    DesignError
        No level, or levels with different categories.

    Examples
    --------
    >>> from naysay import designs
    >>> levels({"masked": designs.warner(p=0.7), "open": direct(("yes", "no"))}).levels
    ('masked', 'open')
    """
    designs_by_level: dict[Any, Any] = {**(offer or {}), **named}
    levels_design = Levels.of(designs_by_level)
    level_calls = ", ".join(
        f"{level_name}={level_design.name or level_design.kind}"
        for level_name, level_design in designs_by_level.items()
    )
    return replace(levels_design, name=f"levels({level_calls})")


_REJECT = "look at {} of the categories, drawn by lot, and reject one that is not yours; if several are not, draw lots"


@family("Esponda (2006); Esponda, Huerta & Guerrero (2016)")
def negative(categories: Sequence[Label], *, discards: int = 1, weights: Sequence[int] | None = None) -> Design:
    """The negative survey: each respondent names k categories that are not theirs.

    Without weights, every k-subset S that leaves out the true category j has P(S | j) = 1 / C(t-1, k). With weights,
    P(S | j) = Π_{i ∈ S} w_i / e_k(w without j), where e_k is the elementary symmetric polynomial of degree k. After an
    answer, t - k categories stay possible.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    discards : int
        k, from 1 to t - 2. With k = 1 a response is one label; with a larger k it is a set.
    weights : (t,) sequence of positive int, optional
        How readily each category is named, relative to the others.

    Raises
    ------
    DesignError
        Fewer than three categories, or k > t - 2: the answer would be the truth.

    References
    ----------
    Esponda (2006); Esponda, Huerta & Guerrero (2016), "Interviewer Defined Privacy".

    Examples
    --------
    >>> negative(("a", "b", "c", "d"), discards=2).matrix.round(3)[:2]
    array([[0.   , 0.   , 0.333, 0.333],
           [0.   , 0.333, 0.   , 0.333]])
    """
    labels = at_least_three(categories)
    t, discards = len(labels), _checked_discards(labels, discards)
    discards_argument = None if discards == 1 else discards
    weights_argument = None if weights is None else np.asarray(weights).tolist()
    design_name = call("negative", discards=discards_argument, weights=weights_argument)
    if weights is not None:
        try:
            integer_weights = tuple(w.item() if isinstance(w, np.generic) else w for w in weights)
        except TypeError:
            raise DesignError(
                f"weights must be {t} positive integers, one for each category; got {weights!r}"
            ) from None
        weighted_design = WeightedSubset.of(labels, discards, weights=integer_weights, name=design_name)
        if discards > 1:
            return weighted_design
        w = weighted_design.weights
        chance_matrix = [[Fraction(0) if i == j else Fraction(w[i], sum(w) - w[j]) for j in range(t)] for i in range(t)]
        return of_probabilities(chance_matrix, labels, name=design_name)
    if discards > 1:
        lots_step = Do(f"draw by lot {discards} of the {t - 1} categories that are not yours, and name them")
        return Subset.of(labels, discards, name=design_name, protocol=Protocol(lots_step))
    die_text = f"throw a die with {t - 1} sides; at m, name the m-th category from the top that is not yours"
    coin_text = "toss a coin; at heads name the first category from the top that is not yours, at tails the second"
    return of_pattern(0, 1, labels, Do(coin_text if t == 3 else die_text), name=design_name)


@family("Esponda (2006)")
def negative_matrix(matrix: ChanceRows, *, categories: Sequence[Label]) -> Design:
    """The negative survey with any zero-diagonal matrix: P[i, j] is the chance that a member of j names i.

    Parameters
    ----------
    matrix : (t, t) float, str or Fraction
        Columns sum to one; the diagonal is zero.
    categories : (t,) sequence of label
        At least three.

    Raises
    ------
    DesignError
        Fewer than three categories, another shape, a column that does not sum to one, or a diagonal that is not zero.

    References
    ----------
    Esponda (2006), section 3.

    Examples
    --------
    >>> negative_matrix([[0, 0.4, 0.5], [0.7, 0, 0.5], [0.3, 0.6, 0]], categories=("a", "b", "c")).denominator
    10
    """
    labels = at_least_three(categories)
    design = of_probabilities(matrix, labels, name="negative_matrix()")
    on_diagonal = np.flatnonzero(np.diagonal(design.weights))
    if len(on_diagonal):
        raise DesignError(
            f"the diagonal must be zero, as nobody names their own category; it is not for {labels[on_diagonal[0]]!r} "
            "(a design that may report the truth is custom())"
        )
    return design


@family("Xie, Kulik & Tanin (2011)")
def gaussian_negative(categories: Sequence[Label], *, sigma: float) -> Design:
    """The Gaussian negative survey: false categories near the true one are named more often.

    P[i, j] ∝ exp(-(i - j)² / 2σ²) for i ≠ j, with the categories at 1 … t. It is more precise than the uniform design,
    and less private. A category so far away that its chance is below 2**-53 is never named; a note says so.

    Parameters
    ----------
    categories : (t,) sequence of label
        In order, such as age groups.
    sigma : float
        Standard deviation, in categories.

    Raises
    ------
    DesignError
        Fewer than three categories; a σ that is not positive, or so small that only the next category would ever be
        named.

    References
    ----------
    Xie, Kulik & Tanin (2011); Bao, Luo & Zhang (2013), equation 8.

    Examples
    --------
    >>> gaussian_negative(("1", "2", "3", "4"), sigma=1).matrix[:, 0].round(3)
    array([0.   , 0.806, 0.18 , 0.015])
    """
    labels = at_least_three(categories)
    if (exact_sigma := as_fraction(sigma, what="sigma")) <= 0:
        raise DesignError(f"sigma must be positive; got {sigma!r}")
    squared_distances = np.subtract.outer(np.arange(len(labels)), np.arange(len(labels))) ** 2
    # At 1000 the second neighbor's chance is zero already; larger values change nothing.
    steepness = float(min(1 / (2 * exact_sigma**2), Fraction(1_000)))
    relative_chances = np.where(squared_distances == 0, 0.0, np.exp(-np.maximum(squared_distances - 1, 0) * steepness))
    column_chances = relative_chances / relative_chances.sum(axis=0)
    out_of_reach = (squared_distances > 0) & (column_chances < 1 / LIMIT)
    if out_of_reach[squared_distances == 4].any():
        raise DesignError(f"sigma is too small for {len(labels)} categories: only the next is named; got {sigma!r}")
    relative_chances[out_of_reach] = 0.0
    integer_weights = np.array(
        [rounded(list(map(Fraction, chance_column))) for chance_column in relative_chances.T.tolist()]
    ).T
    excluded_distance = math.isqrt(int(squared_distances[out_of_reach].min(initial=squared_distances.max())))
    reach_notes = (
        f"categories about {excluded_distance} or more places away are never named: their chance is below 2**-53",
    )
    design_name = call("gaussian_negative", sigma=sigma)
    return of_weights(integer_weights, labels, name=design_name, notes=reach_notes if out_of_reach.any() else ())


@family("Esponda (2006)")
def two_option(categories: Sequence[Label], *, shown: int = 2, preferences: ChanceRows | None = None) -> Design:
    """The two-option scheme: respondents see a few categories drawn at random, and reject a false one.

    If several are false, a fair coin (or die) decides. Then P[i, j] = 1/(t-1) for i ≠ j, as in the uniform negative
    survey. People need only a coin, and they see only some of the categories. If they ignore the coin, each entry still
    lies in [2/(t(t-1)), 2/t]. Estimates come with a band: it covers every estimate that such preferences could lead to.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three, none of them a "none of the above".
    shown : int
        s, the number of categories shown, from 2 to t - 1.
    preferences : (t, t) array, optional
        θ[i, k], the chance of rejecting i when i and k are shown and both are false; θ[i, k] + θ[k, i] = 1. One half
        everywhere by default. Only for s = 2.

    Raises
    ------
    DesignError
        Fewer than three categories; s outside 2 to t - 1; or preferences that are no such chances.

    References
    ----------
    Esponda (2006), section 3.1.1; the upper bound of its equation 12 is 2/t.

    Examples
    --------
    >>> two_option(("a", "b", "c", "d")).matrix[0].round(4)
    array([0.    , 0.3333, 0.3333, 0.3333])
    """
    labels = at_least_three(categories)
    t = len(labels)
    shown = _checks.whole_number(shown, 2, t - 1, what="shown")
    design_name = call("two_option", shown=None if shown == 2 else shown)
    integer_weights = 1 - np.eye(t, dtype=np.int64)
    if preferences is not None:
        if shown != 2:
            raise DesignError("preferences are between two categories; they need shown=2")
        preference_matrix, pair_chance = _preferences(preferences, t), Fraction(2, t * (t - 1))
        rejection_sums = [[1 + sum(preference_matrix[i]) - preference_matrix[i][j] for j in range(t)] for i in range(t)]
        chance_matrix = [
            [Fraction(0) if i == j else pair_chance * rejection_sums[i][j] for j in range(t)] for i in range(t)
        ]
        integer_weights, design_name = table_weights(chance_matrix, columns=labels), "two_option(preferences=…)"
    reject_protocol, label_space = Protocol(Do(_REJECT.format(shown))), Labels(labels)
    return TwoOption(
        categories=labels,
        space=label_space,
        weights=integer_weights,
        shown=shown,
        name=design_name,
        protocol=reject_protocol,
    )


def _preferences(preferences: ChanceRows, t: int) -> list[list[Fraction]]:
    try:
        preference_rows = [list(preference_row) for preference_row in preferences]
    except TypeError:
        raise DesignError(f"preferences must be a matrix of {t} × {t}; got {preferences!r}") from None
    if len(preference_rows) != t or any(len(preference_row) != t for preference_row in preference_rows):
        raise DesignError(f"preferences must be a matrix of {t} × {t}")
    theta = [
        [as_fraction(preference_rows[i][k], what="a preference") if i != k else Fraction(0) for k in range(t)]
        for i in range(t)
    ]
    for i, k in itertools.combinations(range(t), 2):
        if not 0 <= theta[i][k] <= 1 or abs(theta[i][k] + theta[k][i] - 1) > 1e-12:
            raise DesignError(
                "preferences must be chances with θ[i, k] + θ[k, i] = 1; "
                f"got {float(theta[i][k]):g} and {float(theta[k][i]):g} for categories {i + 1} and {k + 1}"
            )
    return theta


def at_least_three(categories: Sequence[Label]) -> tuple[Any, ...]:
    """Labels of categories, of which there must be three."""
    labels = _checks.categories(categories)
    if len(labels) < 3:
        raise DesignError(
            f"a negative survey needs at least three categories; got {len(labels)}: {_checks.listing_text(labels)}. "
            "With two, ruling one out reveals the other; use warner() or two_coins()"
        )
    return labels


def _checked_discards(labels: Sequence[Label], discards: object) -> int:
    t = len(labels)
    if isinstance(discards, bool) or not isinstance(discards, int | np.integer) or not 1 <= discards <= t - 2:
        revealed = "; ruling out all but one reveals the answer, ask directly then" if discards == t - 1 else ""
        raise DesignError(f"discards must be a whole number from 1 to t - 2 = {t - 2}; got {discards!r}{revealed}")
    return int(discards)


def is_uniform(design: object) -> bool:
    """Whether a design is the uniform negative survey with one answer: P = (11ᵀ - I)/(t-1)."""
    if isinstance(design, Pattern):
        return design.own == 0
    if not isinstance(design, Table) or len(design.categories) != len(design.space.labels):
        return False
    even = 1 - np.eye(len(design.categories), dtype=np.int64)
    return bool((design.weights * (len(even) - 1) == design.denominator * even).all())


@family("Esponda, Huerta & Guerrero (2016)")
def negative_sink(
    categories: Sequence[Label],
    *,
    sinks: Sinks,
    discards: int = 1,
    members: Exact | None = None,
    others: Exact | None = None,
) -> Design:
    """A negative survey in which some categories cannot be named, because ruling them out would reveal too much.

    To answer "0-2" when asked how many partners you have not had says a lot. Among the responses, a dummy label, the
    sink, replaces such a category. Members of the category name the sink with probability a (``members``), others with
    probability b (``others``). The remaining chance is spread evenly over the false categories. The category can be
    estimated because a ≠ b. Naming the sink changes the odds of being a member only by a/b.

    With several discards k, an answer is a set of k labels. A sink may be among them; the set then rules out one
    category fewer. Members of a sink's category toss a coin. At tails they answer as if they belonged to another
    category, drawn from those without a sink. This step is the mask M. Then everybody names k of the t - 1 other
    labels, so that P = N_k M, where N_k is the matrix of `negative`. So others name the sink with chance k/(t-1), and
    members half as often. For k = 1 this is the design above.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    sinks : {category: label}, or category
        The categories that may not be named, each with the label of its sink.
    discards : int
        k, from 1 to t - 2: how many labels an answer names.
    members : probability, optional
        a; by default one half of b.
    others : probability, optional
        b; by default 1/(t-1). Give a and b only with one discard.

    Raises
    ------
    DesignError
        Fewer than three categories; a sink for something that is no category; a = b; fewer than two categories that can
        still be named; or chances that leave nothing for those.

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "Negative Surveys", on the sink.

    Examples
    --------
    >>> design = negative_sink(("0-2", "3-5", "6+"), sinks={"0-2": "none of these"})
    >>> np.asarray(design.responses)
    array(['none of these', '3-5', '6+'], dtype='<U13')
    >>> design.matrix[0]
    array([0.25, 0.5 , 0.5 ])
    """
    category_labels = at_least_three(categories)
    sink_labels = _sinks(category_labels, sinks)
    discards = _checks.whole_number(discards, 1, len(category_labels) - 2, what="discards")
    if discards > 1 and not (members is None and others is None):
        raise DesignError("members and others are chances of a single label; leave them out where discards is above 1")
    if discards > 1:
        return _with_mask(category_labels, sink_labels, discards)
    b = Fraction(1, len(category_labels) - 1) if others is None else as_fraction(others, what="others")
    a = b / 2 if members is None else as_fraction(members, what="members")
    ordinary_count = len(category_labels) - len(sink_labels)
    if a == b:
        raise DesignError("members and others must name the sink with different chances, or nothing is learned from it")
    if (
        not 0 <= a <= 1
        or not 0 < b <= 1
        or a + (len(sink_labels) - 1) * b > 1
        or len(sink_labels) * b > 1
        or ordinary_count < 2
    ):
        raise DesignError(
            f"the chances of the sinks must leave room for {ordinary_count} categories that can be named "
            f"(at least two); got members={float(a):g}, others={float(b):g} for {len(sink_labels)} sinks"
        )
    chance_columns = []
    for true_label in category_labels:
        sink_chances = {label: a if label == true_label else b for label in sink_labels}
        false_labels = [label for label in category_labels if label not in sink_labels and label != true_label]
        false_chances = dict.fromkeys(false_labels, (1 - sum(sink_chances.values(), Fraction(0))) / len(false_labels))
        chance_columns.append([(sink_chances | false_chances).get(label, Fraction(0)) for label in category_labels])
    response_labels = tuple(sink_labels.get(label, label) for label in category_labels)
    odds_note = (
        f"a member names her sink with probability {float(a):.3g}, others name it with {float(b):.3g}: "
        f"the sink changes the odds of membership by {float(a / b):.3g}"
    )
    design_name = call("negative_sink", sinks=sink_labels, members=members, others=others)
    return of_probabilities(
        list(zip(*chance_columns, strict=True)), category_labels, response_labels, name=design_name, notes=(odds_note,)
    )


def _sinks(labels: tuple[Label, ...], sinks: Sinks) -> dict[Any, Any]:
    """The label of each sink, after checks."""
    sink_labels = dict(sinks) if isinstance(sinks, Mapping) else {sinks: f"not {sinks}: cannot say"}
    for label in sink_labels:
        if label not in labels:
            raise DesignError(f"a sink replaces one of the categories; got {label!r}, {_checks.nearest(label, labels)}")
    if not sink_labels:
        raise DesignError("sinks must name at least one category; leave them out if every category may be ruled out")
    return sink_labels


def _with_mask(labels: tuple[Label, ...], sink_labels: Mapping[Label, Label], discards: int) -> Design:
    """A negative survey after a mask: half of a sink's members answer as if they were in an ordinary category."""
    ordinary_places = [label_place for label_place, label in enumerate(labels) if label not in sink_labels]
    if len(ordinary_places) < 2:
        raise DesignError(
            f"at least two categories must not be sinks; got {_checks.listing_text(sink_labels)} as sinks"
        )
    mask_matrix = np.array([[Fraction(int(i == j)) for j in range(len(labels))] for i in range(len(labels))])
    for j in (labels.index(label) for label in sink_labels):
        mask_matrix[j, j] = Fraction(1, 2)
        mask_matrix[ordinary_places, j] = Fraction(1, 2 * len(ordinary_places))
    response_labels = tuple(sink_labels.get(label, label) for label in labels)
    masked_design = of_probabilities(mask_matrix.tolist(), labels, response_labels, name="mask")
    design_name = call("negative_sink", sinks=dict(sink_labels), discards=discards)
    return replace(masked_design.then(Subset.of(response_labels, discards)), name=design_name)


@family("Esponda, Huerta & Guerrero (2016)")
def negative_levels(
    categories: Sequence[Label],
    *,
    least: int = 1,
    most: int | None = None,
    sinks: Sinks | None = None,
) -> Levels:
    """The offer in which each respondent chooses how many categories to discard.

    Level k is ``negative(discards=k)``: the more discards, the more an answer says. Level t - 1 leaves one category. It
    is a direct answer, and a note says so. With sinks, level k is ``negative_sink(discards=k)``: some categories are
    never ruled out, and the last level, t - 2, leaves two.

    Parameters
    ----------
    categories : (t,) sequence of label
        At least three.
    least, most : int
        The levels on offer. By default from 1, the most private, to t - 1, the most open (t - 2 with sinks).
    sinks : {category: label}, or category, optional
        The categories that may not be ruled out, each with the label of its sink.

    Raises
    ------
    DesignError
        Fewer than three categories; levels outside 1 to t - 1 (t - 2 with sinks); or a sink for something that is no
        category.

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "Individual Defined Privacy".

    Examples
    --------
    >>> choice = negative_levels(("a", "b", "c", "d"))
    >>> choice.levels, choice.channel(3).notes
    ((1, 2, 3), ('this reveals your answer',))
    """
    labels = at_least_three(categories)
    t = len(labels)
    sink_labels = None if sinks is None else _sinks(labels, sinks)
    most_allowed = t - 1 if sink_labels is None else t - 2
    least = _checks.whole_number(least, 1, most_allowed, what="least")
    most_discards = _checks.whole_number(most_allowed if most is None else most, least, most_allowed, what="most")
    designs_by_discards: dict[Any, Design] = {}
    for k in range(least, most_discards + 1):
        level_notes = ("this reveals your answer",) if k == t - 1 else ()
        plain_name = call("negative", discards=k)
        designs_by_discards[k] = (
            _with_mask(labels, sink_labels, k)
            if sink_labels
            else Subset.of(labels, k, name=plain_name, notes=level_notes)
        )
    range_arguments = {
        "least": None if least == 1 else least,
        "most": None if most_discards == most_allowed else most_discards,
    }
    design_name = call("negative_levels", **range_arguments, sinks=sink_labels)
    sink_notes = () if sink_labels is None else ("members name their sink half as often as others do, at every level",)
    return Levels.of(designs_by_discards, name=design_name, notes=sink_notes)
