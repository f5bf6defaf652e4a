"""A regression of the original and of the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks, designs, regression
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.microdata.attack.aligned import texts
from naysay.microdata.utility.estimated import Estimated
from naysay.microdata.utility.paired import Pair, Variable, labelled
from naysay.regression.reading import Formula, parse, table_of

__all__ = ["regressed"]

Floats = NDArray[np.float64]
Coefficients = dict[str, tuple[float, float]]

_WEIGHT = "naysay weight"


def regressed(pair: Pair, text: str, private: Mapping[str, Answerable]) -> list[Estimated]:
    """The coefficients of a formula in both files; people with a gap are left out of each.

    A response with a design is randomized in the release only, and its regression undoes that.

    Raises
    ------
    DataError
        A formula that the files do not allow.
    """
    formula = parse(text)
    if len(formula.response) != 1:
        raise DataError(f"a formula must have one variable on its left side; got {_checks.shown(formula.response)}")
    [response] = formula.response
    known = {each.name: each for each in pair.variables}
    for name in (response, *formula.variables):
        if name not in known:
            raise DataError(f"there is no variable {name!r} in both files ({_checks.nearest(name, known)})")
        if name in private and name != response:
            raise DataError(f"{name!r} was randomized; a randomized variable can only stand on the left side")
    files = [_analyzed(known, (response, *formula.variables), side, pair, private) for side in (0, 1)]
    if known[response].numeric and response not in private and files[0][response].n_unique() > 2:
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


def _analyzed(
    known: Mapping[str, Variable], names: tuple[str, ...], side: int, pair: Pair, private: Mapping[str, Answerable]
) -> pl.DataFrame:
    """The columns of a file as both files can show them: numbers where numbers went in, otherwise shared categories."""
    columns: dict[str, Any] = {}
    for name in names:
        each = known[name]
        if name in private:
            columns[name] = labelled((each.before, each.after)[side], list(map(str, private[name].categories)))
        elif each.numeric:
            columns[name] = pl.Series(each.numbers[side], nan_to_null=True)
        else:
            codes, labels = each.alike[:2][side], pl.Series(each.alike[2], dtype=pl.String)
            columns[name] = labels.gather(pl.Series(np.where(codes < 0, 0, codes)))
            columns[name] = columns[name].zip_with(pl.Series(codes >= 0), pl.Series([None], dtype=pl.String))
    if names[0] not in private and known[names[0]].numeric:
        own = pl.Series(columns[names[0]])
        columns[names[0]] = texts(own) if own.n_unique() - int(own.null_count() > 0) <= 2 else own
    columns[_WEIGHT] = pair.weights[side]
    return pl.DataFrame(columns)


def _logistic(design: Answerable, text: str, file: pl.DataFrame, weights: str | None) -> Coefficients:
    fit = regression.regress(design, text, file, weights=weights, missing="drop")
    values = zip(fit.coefficients.tolist(), fit.standard_errors.tolist(), strict=True)
    return dict(zip((": ".join(map(str, name)) for name in fit.names), values, strict=True))


def _linear(formula: Formula, file: pl.DataFrame, *, weighted: bool) -> Coefficients:
    """Weighted least squares; standard errors by the sandwich with weights, classical without."""
    import narwhals as nw

    whole = file.drop_nulls()
    if whole.height < 2:
        raise DataError(f"only {whole.height} people have all variables of {formula.text!r}")
    frame = nw.from_native(whole)
    matrix = formula.matrix(table_of({name: frame[name] for name in formula.variables}, np.arange(whole.height)))
    x, y, weight = matrix.values, whole[formula.response[0]].to_numpy(), whole[_WEIGHT].to_numpy()
    bread = np.linalg.pinv(x.T @ (x * weight[:, None]))
    beta = bread @ (x.T @ (weight * y))
    left, free = y - x @ beta, len(y) - x.shape[1]
    if np.linalg.matrix_rank(x) < x.shape[1] or free < 1:
        raise DataError(f"the columns of {formula.text!r} are collinear, or more than the people")
    if weighted:
        scores = x * (weight * left)[:, None]
        covariance = bread @ (scores.T @ scores) @ bread * len(y) / free
    else:
        covariance = bread * float(left @ left) / free
    errors = np.sqrt(covariance.diagonal())
    return dict(zip(matrix.columns, zip(beta.tolist(), errors.tolist(), strict=True), strict=True))
