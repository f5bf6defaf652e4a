"""How many respondents have each size of anonymity set, or each number of matches: all that tables of risk need."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.engines import AMOUNT, COUNT, Frame, Remote, digit
from naysay.microdata.keys.table import check_choice
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.join import Algebra, pattern_of, patterns_in, symbol
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.matching.question import RULES
from naysay.microdata.population.theta import by_size

MEASURES = ("anonymity", "matches")


class Histogram(NamedTuple):
    """Sizes, rising, and how many respondents have each."""

    sizes: NDArray[Any]
    respondents: NDArray[np.int64]


def histogram(
    keys: Keys,
    *,
    measure: str = "matches",
    rule: str = "worst",
    weights: str | None = None,
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> Histogram:
    """How many respondents have each size k, or each number of matches m, without those who are deleted.

    It works wherever the table is. From DuckDB and Spark it collects the distinct tuples, not the rows. With
    ``algorithm="join"`` it collects neither, and the engine does all the work.

    Parameters
    ----------
    keys : Keys
    measure : {"matches", "anonymity"}
    rule, weights, algorithm, progress
        As in `matches`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, None, 23, 23]}, ["age"])
    >>> microdata.histogram(keys, measure="anonymity")
    Histogram(sizes=array([1, 2]), respondents=array([2, 2]))
    """
    check_choice(measure, MEASURES, what="measure")
    if keys.remote is not None and algorithm == "join" and measure == "matches":
        engine_matches = matches_on_engine(keys, keys.remote, rule, weighted=weights is not None)
        table = engine_matches.group_by(AMOUNT).agg(nw.col(COUNT).sum())
        size_rows = keys.remote.engine.collected(table).sort(AMOUNT)
        return Histogram(size_rows[AMOUNT].to_numpy(), size_rows[COUNT].to_numpy().astype(np.int64))
    weight = keys.weight(weights)
    amount, is_counted = keys.tuples.count if weight is None else weight, keys.complete
    if measure == "matches":
        amount, is_counted = (
            matches_of_tuples(keys, weight, rule=rule, algorithm=algorithm, progress=progress),
            keys.kept,
        )
    return Histogram(*by_size(amount[is_counted], keys.tuples.count[is_counted]))


def attached(keys: Keys, *, rule: str = "worst", algorithm: str | None = None) -> Any:
    """The table of keys on DuckDB or Spark with two more columns, k and m of each respondent, on the same engine.

    k is null where a key is missing or uncertain, m where the policy "drop" deletes the respondent.

    Parameters
    ----------
    keys : Keys
        Of a DuckDB relation or a Spark dataframe. (For a table in memory `anonymity` and `matches` are in row order.)
    rule, algorithm
        As in `matches`; ``algorithm="join"`` never collects the distinct tuples.

    Returns
    -------
    DuckDB relation or Spark dataframe
    """
    remote = keys.remote
    if remote is None:
        raise DataError("a table in memory keeps its order: add microdata.anonymity(keys) and matches(keys) to it")
    names = [digit(place) for place in remote.places]
    if algorithm == "join":
        digit_names = {digit(number): name for number, name in enumerate(names)}
        engine_matches = matches_on_engine(keys, remote, rule, weighted=False).rename(digit_names | {AMOUNT: "m"})
        certain_cells = [
            nw.col(n).is_between(1, len(v.cells.values)) for n, v in zip(names, keys.variables, strict=True)
        ]
        anonymity_column = nw.when(nw.all_horizontal(*certain_cells, ignore_nulls=False)).then(nw.col(COUNT)).alias("k")
        table = remote.tally.select(*names, anonymity_column).join(
            engine_matches.select(*names, "m"), on=names, how="left"
        )
    else:
        cells = {name: column.astype(np.int64) for name, column in zip(names, keys.tuples.columns, strict=True)}
        k, m = pl.Series(keys.tuples.count), pl.Series(matches_of_tuples(keys, rule=rule, algorithm=algorithm))
        complete, is_kept = pl.Series(keys.complete), pl.Series(keys.kept)
        sized_tuples = pl.DataFrame(cells).with_columns(k=pl.when(complete).then(k), m=pl.when(is_kept).then(m))
        table = remote.engine.lift(sized_tuples)
    naysay_columns = [name for name in remote.rows.collect_schema().names() if name.startswith("naysay_")]
    return remote.rows.join(table, on=names, how="left").drop(*naysay_columns).to_native()


def matches_on_engine(keys: Keys, remote: Remote, rule: str, *, weighted: bool) -> Frame:
    """M of each distinct tuple, computed by its engine: digits, respondents and the amount that matches."""
    check_choice(rule, RULES, what="rule")
    file = remote.file(weighted=weighted)
    for place, variable in enumerate(keys.variables):
        if variable.policy == "drop":
            file = file.filter(nw.col(digit(place)) > 0)
    cells = [variable.cells for variable in keys.variables]
    uncertain = [not cell_set.certain for cell_set in cells]
    places = range(len(cells))
    algebra = Algebra.of(cells, uncertain, remote.engine.lift, by_value=rule != "intersect")
    pattern_table = remote.engine.collected(file.select(*pattern_of(map(digit, places))).unique())
    patterns = patterns_in(pattern_table, len(cells))
    identity = [*map(digit, places), COUNT]
    questions = file.select(*identity, *(nw.col(digit(place)).alias(symbol(place)) for place in places))
    for place in places:
        if uncertain[place] and rule != "intersect":
            questions = algebra.with_other_symbols(questions, place, *cells[place].known_pairs(rule))
    question_columns = [*identity, *map(symbol, places)]
    question_amounts = algebra.matching_amounts(
        file, questions, identity=question_columns, patterns=patterns, asked_patterns=patterns
    )
    return question_amounts.group_by(*identity).agg(nw.col(AMOUNT).min())
