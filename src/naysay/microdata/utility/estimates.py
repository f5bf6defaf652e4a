"""What an analyst would report from the original and from the release, side by side.

A regression of the original and of the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, designs, regression
from naysay.design import Answerable
from naysay.errors import DataError, NaysayError
from naysay.microdata.attack.register import texts
from naysay.microdata.keys.table import check_names
from naysay.microdata.risk.written import DASH, grid
from naysay.microdata.utility.estimated import Estimated
from naysay.microdata.utility.paired import Pair, Variable, cells_as_labels
from naysay.regression.reading import Formula, parse, table_of
from naysay.show import Column, Content, Note, Sentence, Table

Floats = NDArray[np.float64]

_CATEGORIES = 20  # of a variable whose shares are compared
_ROWS_IN_TABLE = 15
_WEIGHT = "naysay weight"


@dataclass(frozen=True)
class Estimates:
    """Numbers from both files.

    Parameters
    ----------
    plain : tuple of Estimated
        Means and shares.
    named : tuple of Estimated
        Coefficients of the formulas that were named.
    undone : tuple of (Estimated, Estimated)
        Shares of variables with a design: read as they are in the release, and with the design undone.
    failed : tuple of str
        Formulas that one of the files does not allow, with the reason.
    """

    name = "estimates"
    plain: tuple[Estimated, ...]
    named: tuple[Estimated, ...] = ()
    undone: tuple[tuple[Estimated, Estimated], ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def mean_overlap(self) -> float:
        """Mean overlap of the intervals of what was named, or else of means and shares."""
        return float(np.mean([estimate.overlap for estimate in self.named or self.plain] or [np.nan]))

    def content(self) -> list[Content]:
        worst = sorted(self.plain, key=lambda estimate: -abs(np.nan_to_num(estimate.difference, nan=np.inf)))
        count_text = f"{min(len(worst), _ROWS_IN_TABLE)} of {len(worst)}, those that moved most"
        parts: list[Content] = [_table(f"Means and shares, {count_text}", worst[:_ROWS_IN_TABLE])] if worst else []
        groups = dict.fromkeys(estimate.group for estimate in self.named)
        parts += [
            _table(name, [estimate for estimate in self.named if estimate.group == name], tested=True)
            for name in groups
        ]
        if self.undone:
            rows = [
                (
                    raw.name,
                    *(
                        f"{value:.4f}"
                        for value in (raw.before, raw.after, undone_estimate.after, undone_estimate.after_error)
                    ),
                    f"{(undone_estimate.after - undone_estimate.before) / undone_estimate.after_error:+.2f}"
                    if undone_estimate.after_error
                    else DASH,
                )
                for raw, undone_estimate in self.undone
            ]
            names = ("category", "original", "read as it is", "undone", "s.e.", "difference / s.e.")
            parts.append(grid("Shares of variables that were released under a design", names, rows))
        parts += [Note(failure) for failure in self.failed]
        explanation = (
            "Difference: how far an estimate moved, in standard errors of the original. Overlap: of the 95 % "
            "intervals, 1 where they are the same, negative where they do not touch."
        )
        return [*parts, Sentence(explanation, small=True)]

    def fields(self) -> dict[str, Any]:
        return {
            "mean_overlap": self.mean_overlap,
            "plain": [estimate.fields() for estimate in self.plain],
            "named": [estimate.fields() for estimate in self.named],
            "undone": [
                {"raw": raw.fields(), "undone": undone_estimate.fields()} for raw, undone_estimate in self.undone
            ],
            "failed": list(self.failed),
        }


def _table(caption: str, rows: Sequence[Estimated], *, tested: bool = False) -> Table:
    names = ("estimate", "original", "s.e.", "release", "s.e. (release)", "difference", "overlap")
    heads = (Column(names[0], words=True, width=40), *map(Column, names[1:]))
    cells = [
        (
            estimate.name,
            *(
                f"{value:.4g}"
                for value in (estimate.before, estimate.before_error, estimate.after, estimate.after_error)
            ),
            *(f"{estimate.difference:+.2f}", f"{estimate.overlap:.3f}"),
            *([estimate.verdict] if tested else []),
        )
        for estimate in rows
    ]
    return Table((*heads, *([Column("verdict", words=True)] if tested else [])), tuple(cells), caption)


def estimates(pair: Pair, formulas: Sequence[str] = (), designs: Mapping[str, Answerable] | None = None) -> Estimates:
    """All means and shares, the regressions that are named, and shares under a design with the design undone.

    Parameters
    ----------
    pair : Pair
    formulas : sequence of str
        Such as ``income ~ age + C(region)``: linear regression of a number, logistic regression of a variable with two
        categories, multinomial of one with more.
    designs : mapping of variable to design
        What the release was randomized under, such as PRAM or a negative question.

    Raises
    ------
    DataError
        A design or a formula that names no variable.
    """
    private = dict(designs or {})
    variable_names = [variable.name for variable in pair.variables]
    check_names(list(private), variable_names, what="variable")
    plain = [
        estimate
        for variable in pair.variables
        if variable.name not in private
        for estimate in _plain(variable, pair.weights)
    ]
    undone_pairs = [
        estimate_pair for name, design in private.items() for estimate_pair in shares_undone(pair, name, design)
    ]
    named: list[Estimated] = []
    failed = []
    for formula in formulas:
        try:
            named += coefficient_estimates(pair, formula, private)
        except NaysayError as error:
            failed.append(f"{formula}: {error}")
    return Estimates(tuple(plain), tuple(named), tuple(undone_pairs), tuple(failed))


def _plain(variable: Variable, weights: tuple[Floats, Floats]) -> Iterator[Estimated]:
    """The mean of a variable of numbers; the share of each category of another."""
    if variable.numeric and len(variable.labels) > 2:
        yield Estimated(
            f"mean of {variable.name}", *_mean(variable.numbers[0], weights[0]), *_mean(variable.numbers[1], weights[1])
        )
        return
    x, y, labels = variable.alike
    if len(labels) > _CATEGORIES:
        return
    for place, label in enumerate(labels):
        cells = [np.where(codes < 0, np.nan, codes == place) for codes in (x, y)]
        yield Estimated(f"{variable.name} = {label}", *_mean(cells[0], weights[0]), *_mean(cells[1], weights[1]))


def _mean(cells: Floats, weight: Floats) -> tuple[float, float]:
    """A weighted mean of what is known, and its linearized standard error."""
    is_known = ~np.isnan(cells)
    n = int(is_known.sum())
    if n < 2:
        return float("nan"), float("nan")
    known_weights, known_cells = weight[is_known], cells[is_known]
    mean = float(known_weights @ known_cells / known_weights.sum())
    return mean, float(np.sqrt(n / (n - 1) * (known_weights**2 @ (known_cells - mean) ** 2)) / known_weights.sum())


def shares_undone(pair: Pair, name: str, design: Answerable) -> Iterator[tuple[Estimated, Estimated]]:
    """Shares of a variable that was released under a design: as they stand in the release, and undone.

    The records are fixed and only the randomization is random (target file).
    """
    from naysay import estimate

    labels = list(map(str, design.categories))
    truth, released_labels = cells_as_labels(pair.before[name], labels), cells_as_labels(pair.after[name], labels)
    table = pl.DataFrame({name: released_labels, _WEIGHT: pair.weights[1]})
    tally = design.tally(table, name, weights=_WEIGHT if pair.weighted else None)
    fit = estimate.moments(design, tally, target="file")
    for label, value, error in zip(labels, fit.proportions.tolist(), fit.standard_errors.tolist(), strict=True):
        share, raw = (
            _mean(_indicator(truth, label), pair.weights[0]),
            _mean(_indicator(released_labels, label), pair.weights[1]),
        )
        estimate_name = f"{name} = {label}"
        yield Estimated(estimate_name, *share, *raw), Estimated(estimate_name, *share, value, error)


def _indicator(cells: pl.Series, label: str) -> Floats:
    """1 where a cell is this label, NaN where it is missing."""
    return (cells == label).cast(pl.Float64).fill_null(float("nan")).to_numpy()


Coefficients = dict[str, tuple[float, float]]


def coefficient_estimates(pair: Pair, text: str, private: Mapping[str, Answerable]) -> list[Estimated]:
    """The coefficients of a formula in both files; people with a gap are left out of each.

    A response with a design is randomized in the release only, and its regression undoes that.

    Raises
    ------
    DataError
        A formula that the files do not allow.
    """
    formula = parse(text)
    if len(formula.response) != 1:
        raise DataError(
            f"a formula must have one variable on its left side; got {_checks.listing_text(formula.response)}"
        )
    [response] = formula.response
    variable_of = {variable.name: variable for variable in pair.variables}
    for name in (response, *formula.variables):
        if name not in variable_of:
            raise DataError(f"there is no variable {name!r} in both files ({_checks.nearest(name, variable_of)})")
        if name in private and name != response:
            raise DataError(f"{name!r} was randomized; a randomized variable can only stand on the left side")
    files = [_analysis_frame(variable_of, (response, *formula.variables), side, pair, private) for side in (0, 1)]
    if variable_of[response].numeric and response not in private and files[0][response].n_unique() > 2:
        fits = [_linear(formula, file, weighted=pair.weighted) for file in files]
    else:
        labels = sorted({value for file in files for value in file[response].drop_nulls().to_list()})
        if response in private:
            labels = list(map(str, private[response].categories))
        plain = designs.direct(labels)
        under = [plain, private.get(response, plain)]
        weights = _WEIGHT if pair.weighted else None
        fits = [_logistic(design, text, file, weights) for design, file in zip(under, files, strict=True)]
    return [
        Estimated(name, *fits[0][name], *fits[1].get(name, (float("nan"), float("nan"))), group=text, tested=True)
        for name in fits[0]
    ]


def _analysis_frame(
    variable_of: Mapping[str, Variable],
    names: tuple[str, ...],
    side: int,
    pair: Pair,
    private: Mapping[str, Answerable],
) -> pl.DataFrame:
    """The columns of a file as both files can show them: numbers where numbers went in, otherwise shared categories."""
    columns: dict[str, Any] = {}
    for name in names:
        variable = variable_of[name]
        if name in private:
            columns[name] = cells_as_labels(
                (variable.before, variable.after)[side], list(map(str, private[name].categories))
            )
        elif variable.numeric:
            columns[name] = pl.Series(variable.numbers[side], nan_to_null=True)
        else:
            codes, labels = variable.alike[:2][side], pl.Series(variable.alike[2], dtype=pl.String)
            columns[name] = labels.gather(pl.Series(np.where(codes < 0, 0, codes)))
            columns[name] = columns[name].zip_with(pl.Series(codes >= 0), pl.Series([None], dtype=pl.String))
    if names[0] not in private and variable_of[names[0]].numeric:
        response_cells = pl.Series(columns[names[0]])
        columns[names[0]] = (
            texts(response_cells)
            if response_cells.n_unique() - int(response_cells.null_count() > 0) <= 2
            else response_cells
        )
    columns[_WEIGHT] = pair.weights[side]
    return pl.DataFrame(columns)


def _logistic(design: Answerable, text: str, file: pl.DataFrame, weights: str | None) -> Coefficients:
    fit = regression.regress(design, text, file, weights=weights, missing="drop")
    values = zip(fit.coefficients.tolist(), fit.standard_errors.tolist(), strict=True)
    return dict(zip((": ".join(map(str, name)) for name in fit.names), values, strict=True))


def _linear(formula: Formula, file: pl.DataFrame, *, weighted: bool) -> Coefficients:
    """Weighted least squares; standard errors by the sandwich with weights, classical without."""
    import narwhals as nw

    complete_rows = file.drop_nulls()
    if complete_rows.height < 2:
        raise DataError(f"only {complete_rows.height} people have all variables of {formula.text!r}")
    frame = nw.from_native(complete_rows)
    matrix = formula.matrix(
        table_of({name: frame[name] for name in formula.variables}, np.arange(complete_rows.height))
    )
    x, y, weight = matrix.values, complete_rows[formula.response[0]].to_numpy(), complete_rows[_WEIGHT].to_numpy()
    bread = np.linalg.pinv(x.T @ (x * weight[:, None]))
    beta = bread @ (x.T @ (weight * y))
    residuals, degrees_of_freedom = y - x @ beta, len(y) - x.shape[1]
    if np.linalg.matrix_rank(x) < x.shape[1] or degrees_of_freedom < 1:
        raise DataError(f"the columns of {formula.text!r} are collinear, or more than the people")
    if weighted:
        scores = x * (weight * residuals)[:, None]
        covariance = bread @ (scores.T @ scores) @ bread * len(y) / degrees_of_freedom
    else:
        covariance = bread * float(residuals @ residuals) / degrees_of_freedom
    errors = np.sqrt(covariance.diagonal())
    return dict(zip(matrix.columns, zip(beta.tolist(), errors.tolist(), strict=True), strict=True))
