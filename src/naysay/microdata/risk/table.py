"""The table of risk: who stands out on each quasi-identifier, and how sure an intruder could be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, show
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.codes import Form, Table, check_choice
from naysay.microdata.keys.matches import anonymity
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.diversity import Closeness, Diversity, OrderedCloseness, Presence
from naysay.microdata.risk.individual import Households, Individual, Special
from naysay.microdata.risk.loglinear import LogLinearModel
from naysay.microdata.risk.measure import Case, LeastReadings, Listwise, Matches, Measure, OnRequest, People
from naysay.microdata.risk.theta import FEWEST, Scale, sampling_fraction
from naysay.microdata.risk.uniques import Pitman, Snb, Zayatz
from naysay.show import Content, Heading, Note, plain
from naysay.show.result import DASH, Printed, csv_text, explained, grid

Policies = str | Mapping[str, str]
Progress = Callable[[str, float], None]
Kind = TypeVar("Kind", bound=Measure)


MEASURES: tuple[type[Measure], ...] = (
    *(Listwise, Matches, LeastReadings, People, Diversity, Closeness, OrderedCloseness, Presence),
    *(Pitman, Zayatz, Snb, LogLinearModel, Individual, Households, Special),
)
"""What a table of risk measures, in the order of the table. A new measure is a file, and a name here."""


@dataclass(frozen=True, eq=False)
class Records:
    """k and m of every respondent on one quasi-identifier, held once for each distinct tuple of keys.

    Parameters
    ----------
    keys : Keys
    m : (distinct,) int
    """

    keys: Keys
    m: NDArray[np.int64]

    @property
    def anonymity(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]:
        """k, (n,), masked where a respondent is deleted."""
        return anonymity(self.keys)

    @property
    def matches(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]:
        """m, (n,), masked where a policy leaves a respondent out."""
        return np.ma.MaskedArray(self.m[self.keys.owner], mask=~self.keys.kept[self.keys.owner])


@dataclass(frozen=True)
class QuasiIdentifier:
    """One row of the table.

    Parameters
    ----------
    keys : tuple of str
    missing : {key: policy}
        Where the policy is not the default, ``wildcard``.
    measures : tuple of Measure
        What was measured, in the order of `MEASURES`.
    warnings : tuple of StatisticalWarning
    records : Records, optional
        k and m of every respondent, where they were asked for.
    """

    keys: tuple[str, ...]
    missing: Mapping[str, str]
    measures: tuple[Measure, ...]
    warnings: tuple[StatisticalWarning, ...] = ()
    records: Records | None = field(default=None, repr=False)

    @classmethod
    def of(cls, case: Case, *, records: bool) -> QuasiIdentifier:
        """The row of a case, with every measure that was asked for."""
        return cls(
            case.keys.columns,
            {variable.name: variable.policy for variable in case.keys.variables if variable.policy != "wildcard"},
            tuple(
                measure
                for kind in MEASURES
                if all(getattr(case, need) is not None for need in kind.needs)
                and (measure := kind.of(case)) is not None
            ),
            case.keys.warnings,
            Records(case.keys, case.m) if records else None,
        )

    @property
    def label(self) -> str:
        """The keys with the policies that are not the default: ``age + gender (age: drop)``."""
        policies_text = ", ".join(f"{key_name}: {policy}" for key_name, policy in self.missing.items())
        return " + ".join(self.keys) + (f" ({policies_text})" if policies_text else "")

    def measure(self, kind: type[Kind]) -> Kind | None:
        """The measure of one kind; None where it was not asked for."""
        return next((measure for measure in self.measures if isinstance(measure, kind)), None)

    @property
    def listwise(self) -> Listwise:
        """Anonymity sets after listwise deletion."""
        return next(measure for measure in self.measures if isinstance(measure, Listwise))

    @property
    def matches(self) -> Matches:
        """Numbers of matches of everybody."""
        return next(measure for measure in self.measures if isinstance(measure, Matches))

    @property
    def diversity(self) -> Diversity | None:
        """Of a sensitive variable, where one was named."""
        return self.measure(Diversity)

    def to_dict(self) -> dict[str, Any]:
        """The row as one JSON object with stable names; undefined numbers are None."""
        numbers_by_measure = [(measure.name, measure.numbers(), measure.everywhere) for measure in self.measures]
        row_fields: dict[str, Any] = plain(
            {
                "keys": self.keys,
                "missing": self.missing,
                **{name: numbers for name, numbers, everywhere in numbers_by_measure if everywhere},
                "warnings": [str(warning) for warning in self.warnings],
                **{name: numbers for name, numbers, everywhere in numbers_by_measure if numbers and not everywhere},
            }
        )
        return row_fields


@dataclass(frozen=True)
class RiskTable(Printed):
    """Who stands out on each quasi-identifier: tables 3 and 4 of Mulder, for any list of them.

    Parameters
    ----------
    n : int
        Records in the file.
    population : float, optional
        The size of the population from which they are a sample; None if it is not known.
    quasi_identifiers : tuple of QuasiIdentifier
    confidence : float
        Of θ's intervals.
    weighted : bool
        Whether sampling weights entered.
    warnings : tuple of StatisticalWarning
        About the whole.
    titles : {key: text}
        What keys are called, where their file says it.
    """

    n: int
    population: float | None
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    confidence: float = 0.95
    weighted: bool = False
    warnings: tuple[StatisticalWarning, ...] = field(default=())
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[type[Measure], ...]:
        """The measures that some row holds."""
        return tuple(dict.fromkeys(type(measure) for row in self.quasi_identifiers for measure in row.measures))

    def rows_of(self, kind: type[Kind]) -> list[tuple[str, Kind]]:
        """One measure of each row that holds it, with the label of the row."""
        labeled_measures = ((row.label, row.measure(kind)) for row in self.quasi_identifiers)
        return [(label, measure) for label, measure in labeled_measures if measure is not None]

    def numbers(self) -> dict[str, object]:
        """The table under the stable names of its JSON."""
        return {
            "n": self.n,
            "population": self.population,
            "confidence": self.confidence,
            "weighted": self.weighted,
            "quasi_identifiers": [row.to_dict() for row in self.quasi_identifiers],
            "warnings": [str(warning) for warning in self.warnings],
            **({"labels": self.called} if self.called else {}),
        }

    def records(self) -> show.Records:
        """A row for each quasi-identifier: keys, policies, and each number of a measure as ``measure.number``."""
        csv_rows = []
        for row in self.quasi_identifiers:
            row_fields = row.to_dict()
            policy_texts = [f"{key_name}={policy}" for key_name, policy in row_fields["missing"].items()]
            flat_row: dict[str, object] = {"keys": csv_text([row_fields["keys"]]), "missing": csv_text([policy_texts])}
            flat_row |= {"n": self.n, "population": self.population}
            for kind in self.kinds:
                for number_name, value in row_fields.get(kind.name, {}).items():
                    column_name = f"{kind.name}.{number_name}"
                    if number_name.endswith("_interval"):
                        stem = column_name.removesuffix("_interval")
                        flat_row |= dict(zip((f"{stem}_low", f"{stem}_high"), value, strict=True))
                    elif isinstance(value, dict):
                        flat_row |= {f"{column_name}.{inner_name}": number for inner_name, number in value.items()}
                    else:
                        flat_row[column_name] = csv_text([value]) if isinstance(value, list) else value
            csv_rows.append(flat_row)
        # a measure may tell of some keys only
        column_names = list(dict.fromkeys(column_name for csv_row in csv_rows for column_name in csv_row))
        return show.Records(column_names, [[csv_row.get(name) for name in column_names] for csv_row in csv_rows])

    def parts(self) -> list[Content]:
        """The content of the table: numbers by measure, what the columns mean, and warnings."""
        heading_text = f"Risk of re-identification: {self.n:,} records"
        if self.population:
            heading_text += f" of a population of {self.population:,.12g} ({self.n / self.population:.3g} of it)"
        if self.weighted:
            heading_text += "; weighted"
        meaning_sentences = [sentence for kind in self.kinds for sentence in kind.explanation]
        theta_text = (
            "θ: how often a person met by chance who fits exactly one record is the one it is about, with its"
            f" {self.confidence:.4g} interval; on m a heuristic. {DASH}: none, or withheld."
        )
        return [
            Heading(heading_text),
            *map(self.table_of, self.kinds),
            explained([*meaning_sentences, theta_text]),
            *(Note(f"{key_name}: {key_title}") for key_name, key_title in self.called.items()),
            *map(Note, self.reservations),
        ]

    @property
    def called(self) -> dict[str, str]:
        """The titles of the keys of all rows, where they have one."""
        key_names = dict.fromkeys(chain.from_iterable(row.keys for row in self.quasi_identifiers))
        return {key_name: self.titles[key_name] for key_name in key_names if key_name in self.titles}

    def table_of(self, kind: type[Measure], *, page: bool = False) -> show.Table:
        """The table of one measure; on the page in its words, where the measure has words for it."""
        labeled_measures = self.rows_of(kind)
        table_title, column_titles = (kind.page_title, kind.page_columns) if page else ("", ())
        table_title = table_title or kind.title([measure for _, measure in labeled_measures], policies=self.policies)
        row_cells = (
            (row_label, *(measure.page_cells() if page else measure.cells())) for row_label, measure in labeled_measures
        )
        return grid(table_title, ("quasi-identifier", *(column_titles or kind.columns)), row_cells)

    @property
    def policies(self) -> bool:
        """Whether some missing cells do not match everything."""
        return any(row.missing for row in self.quasi_identifiers)

    @property
    def reservations(self) -> list[str]:
        """Warnings of the table and of its rows, and where θ is withheld."""
        rows = self.quasi_identifiers
        sentences = [*map(str, self.warnings), *(str(warning) for row in rows for warning in row.warnings)]
        sentences += [
            f"{row.label}: {measure.reservation}" for row in rows for measure in row.measures if measure.reservation
        ]
        if self.population is None:
            sentences.append("θ is withheld: it needs the size of the population (--population)")
            rows = ()
        on_k = [row.label for row in rows if row.listwise.theta.withheld]
        on_m = [row.label for row in rows if row.matches.theta.withheld]
        for sign, withheld_labels in (("k", on_k), ("m", on_m)):
            if withheld_labels:
                sentences.append(
                    f"θ on {sign} is withheld below {FEWEST} unique records or pairs: {'; '.join(withheld_labels)}"
                )
        return list(dict.fromkeys(sentences))


def risk_table(
    table: object,
    quasi_identifiers: Sequence[Sequence[str]],
    *,
    population: float | None = None,
    rule: str = "worst",
    missing: Policies | Sequence[Policies] = "wildcard",
    cells: Mapping[str, Form] | None = None,
    weights: str | ArrayLike | None = None,
    sensitive: str | None = None,
    also: Sequence[str] = (),
    households: str | Sequence[object] | None = None,
    confidence: float = 0.95,
    records: bool = False,
    progress: Progress | None = None,
) -> RiskTable:
    """Who stands out, on which key variables, and how sure an intruder could be.

    For each quasi-identifier the table shows three things. After listwise deletion: how many records are alone in their
    anonymity set (k = 1), or in sets below 5 and 10, as shares of the kept and of all. Over everybody: the same for the
    number of matches m, where missing cells match everything. And θ: the probability that a match with a unique record
    is the right person.

    Parameters
    ----------
    table : dataframe or mapping of columns, (n,) rows, or Keys
        One row a respondent. Keys have their policies, cells and weights already, and are not read again.
    quasi_identifiers : sequence of sequences of str
        The key variables of each.
    population : float, optional
        The size of the population from which the respondents are a sample. Only θ and weights need it. Without it θ is
        withheld.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    missing : str, {key: str}, or a sequence of these
        "wildcard" (matches everything; the default), "category", "drop" or "impute", for all keys or for some. With a
        sequence the results under each stand side by side.
    cells : {key: form}
        How sets of candidates are written, see `Keys`.
    weights : str or (n,) float, optional
        How many people each respondent stands for: numbers in people of the population beside those in records, and θ
        for unequal chances to be in the file.
    sensitive : str, optional
        A variable for which diversity within anonymity sets is measured, see `diversity`.
    also : sequence of str
        Measures on request: "readings" (the least k, c and m), the models of the population "pitman", "zayatz", "snb"
        and "loglinear", "individual" and "household" risk, "suda"; with a sensitive variable
        "closeness", "ordered_closeness" (of numbers) and "presence" (of two values).
    households : str or (n,) labels, optional
        The household of each respondent, for "household".
    confidence : float
        Of the intervals of θ and of models.
    records : bool
        Whether each quasi-identifier keeps k and m of every respondent.
    progress : callable, optional
        Called with a quasi-identifier, such as ``age + gender``, and the share of its work that is done, from 0 to 1.

    Raises
    ------
    DataError
        Keys that the table does not have or that are named twice, no quasi-identifier, a population smaller than the
        file, weights that are not positive or come without a population, and what `Keys` raises.

    Examples
    --------
    >>> people = {"age": [40, 36, None, 40, 23, 23], "gender": ["Male", "Female", "Male", None, "Male", "Male"]}
    >>> found = risk_table(people, [["age"], ["age", "gender"]], population=1_000)
    >>> both = found.quasi_identifiers[1]
    >>> both.listwise.deleted, both.listwise.sizes.unique, both.matches.sizes.unique
    (2, 2, 1)
    >>> both.listwise.theta.withheld
    True

    Notes
    -----
    Mulder, Ensuring anonymity in survey panel research, tables 3 and 4; Skinner & Elliot (2002).
    """
    key_lists = lists(quasi_identifiers)
    _checks.confidence(confidence)
    raw_population: Any = population
    population_size: float | None = raw_population.item() if isinstance(raw_population, np.generic) else raw_population
    if population_size is None and weights is not None:
        raise DataError("weights count people of a population; give population= (--population) beside them")
    check_also(also, population=population_size, sensitive=sensitive)
    household_column = members(table, also, households)
    policies = [missing] if isinstance(missing, str | Mapping) else list(missing)
    if not policies:
        raise DataError("at least one policy for missing cells is needed, such as 'wildcard'; got none")
    risk_rows: list[QuasiIdentifier] = []
    for policy in policies:
        all_keys = encoded(table, key_lists, policy, cells, weights, sensitive)
        if population_size is not None:
            sampling_fraction(all_keys.n, population_size)
        scale = (
            None if weights is None or population_size is None else Scale.between(all_keys, weights, population_size)
        )
        for key_names in key_lists:
            sensitive_pair = None if sensitive is None else (all_keys.only([*key_names, sensitive]), sensitive)
            row_progress = None if progress is None else partial(progress, " + ".join(key_names))
            if row_progress is not None:
                row_progress(0.0)
            case = Case(
                all_keys.only(key_names),
                rule,
                population_size,
                scale,
                confidence,
                sensitive_pair,
                row_progress,
                tuple(also),
                household_column,
            )
            risk_rows.append(QuasiIdentifier.of(case, records=records))
    scale_warnings = () if scale is None else scale.warnings
    return RiskTable(all_keys.n, population_size, tuple(risk_rows), confidence, weights is not None, scale_warnings)


def check_also(also: Sequence[str], *, population: float | None, sensitive: str | None) -> None:
    """Raise for measures on request that are not known, or that need what is not given."""
    if isinstance(also, str):
        raise DataError(f"measures on request are a list of names, such as ['pitman']; got {also!r}")
    kind_of_name = {measure_kind.name: measure_kind for measure_kind in MEASURES if issubclass(measure_kind, OnRequest)}
    given_inputs = {"population": population, "sensitive": sensitive}
    for measure_name in also:
        check_choice(measure_name, [*kind_of_name], what="a measure on request (--also)")
        for needed_input in kind_of_name[measure_name].needs:
            if given_inputs.get(needed_input, "") is None:
                raise DataError(f"{measure_name!r} needs {needed_input}= (--{needed_input}) beside it")


def lists(quasi_identifiers: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The keys of each quasi-identifier."""
    if isinstance(quasi_identifiers, str) or any(isinstance(names, str) for names in quasi_identifiers):
        raise DataError(
            f"quasi-identifiers are lists of keys, such as [['age'], ['age', 'gender']]; got {quasi_identifiers!r}"
        )
    key_lists = [tuple(names) for names in quasi_identifiers]
    if not key_lists:
        raise DataError("at least one quasi-identifier is needed, such as [['age', 'gender']]; got none")
    return key_lists


def members(table: object, also: Sequence[str], households: str | Sequence[object] | None) -> pl.Series | None:
    """The household of each respondent."""
    if ("household" in also) != (households is not None):
        raise DataError("household risk needs to know the households: name both 'household' and their column")
    if households is None:
        return None
    household_cells = Table.of(table).column(households) if isinstance(households, str) else households
    return household_cells if isinstance(household_cells, pl.Series) else pl.Series(household_cells)


def encoded(
    table: object,
    key_lists: Sequence[Sequence[str]],
    policy: str | Mapping[str, str],
    cells: Mapping[str, Form] | None,
    weights: str | ArrayLike | None,
    sensitive: str | None,
) -> Keys:
    """All keys that are asked for, and the sensitive variable, encoded once."""
    key_names = list(dict.fromkeys(chain.from_iterable(key_lists)))
    if sensitive in key_names:
        raise DataError(f"the sensitive variable must not be a key; {sensitive!r} is both", column=sensitive)
    all_names = key_names if sensitive is None else [*key_names, sensitive]
    if isinstance(table, Keys):
        if policy != "wildcard" or cells or not isinstance(weights, str | None):
            raise DataError("keys that are read have their policies, cells and weights; give them to Keys(...) instead")
        return table.only(all_names)
    policies = dict.fromkeys(key_names, policy) if isinstance(policy, str) else policy
    return Keys(table, all_names, missing=policies, cells=cells, weights=weights)
