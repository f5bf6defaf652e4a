"""Who the sensitive statement of a list is true of: counts regressed on covariates by nonlinear least squares.

Nobody says which statements are true of them, but means add up: with covariates x, the J other statements of a list
have the mean J h(x·γ), and the sensitive one adds h(x·δ) where it stands, with h the inverse of the logit (Imai 2011).
γ is found where it does not stand, and then δ where it does. Nothing but the means must be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Samples
from naysay.design.base import check_design
from naysay.errors import DataError, NotEstimable
from naysay.estimate.fit import number_text
from naysay.regression.fitted import Equation
from naysay.regression.fitting import check_apart, part_column_of
from naysay.regression.likelihood import Within
from naysay.regression.reading import Data, Roles, parse, read
from naysay.regression.result import Equations, coefficient_tables, wald_rows
from naysay.show import Column, Content, Note, Points, Sentence, Table

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


def is_list(design: Answerable) -> bool:
    """Whether people count statements, of which the sensitive one stands in the lists of some samples only."""
    return _lists(design) is not None


def _lists(design: Answerable) -> tuple[NDArray[np.bool_], NDArray[np.intp]] | None:
    """Where the sensitive statement stands, (samples, lists), beside how many others, (lists,); None: other designs."""
    if not isinstance(design, Samples) or design.nuisance or len(design.shares) != 2:
        return None
    members, others = ([design.cells.index(cell) for cell in share.of] for share in design.shares)
    if len(members) != len(others) or len(members) < 2:  # each kind of others has a carrier of whom the same is true
        return None
    stands: list[NDArray[np.bool_]] = []
    lengths = np.zeros(1, dtype=np.intp)
    for channel in design.parts.values():
        if not channel.space.listable or not np.isin(channel.matrix, (0, 1)).all():
            return None
        counts = channel.space.listing()[channel.matrix.argmax(axis=0)]
        added = counts[members] - counts[others]
        if not np.isin(added[0], (0, 1)).all() or (added != added[0]).any():
            return None
        stands, lengths = [*stands, added[0] == 1], counts[others].max(axis=0)
    table = np.array(stands)
    return (table, lengths) if (table.any(axis=0) & ~table.all(axis=0)).all() else None


def regress_list(
    design: Answerable,
    formula: str,
    data: IntoFrame | Mapping[str, Iterable[object]],
    *,
    sample: str | None = None,
    count: str | None = None,
    missing: str = "error",
    reference: Label | None = None,
) -> ListRegression:
    """Regression of the sensitive statement of a list on covariates, by nonlinear least squares in two steps.

    Parameters
    ----------
    design : Samples
        `designs.item_count` or `designs.double_list`, without types of people who do not comply.
    formula : str
        Such as ``count ~ age``; of a double list ``a + b ~ age``.
    data : dataframe or mapping of columns
    sample, count, missing, reference
        As in `regress`; the reference is the category of whom the sensitive statement is not true.

    Returns
    -------
    ListRegression

    Raises
    ------
    DataError
        As by `regress`; another design; somebody who answered one of two lists.
    NotEstimable
        Columns that are collinear in some sample, or coefficients without end: counts that are not higher where the
        sensitive statement stands.

    References
    ----------
    Imai (2011), Journal of the American Statistical Association 106; Blair & Imai (2012), Political Analysis 20: the
    method "nls" of the R package list.

    Examples
    --------
    >>> from naysay import designs
    >>> rng = np.random.default_rng(5)
    >>> old, long = rng.random(8_000) < 0.5, rng.random(8_000) < 0.5
    >>> others = rng.binomial(3, np.where(old, 0.6, 0.4))
    >>> counts = others + (long & (rng.random(8_000) < np.where(old, 0.5, 0.2)))
    >>> table = {"counts": counts, "arm": np.where(long, "treatment", "control"), "old": old * 1}
    >>> fit = regress_list(designs.item_count(items=3), "counts ~ old", table, sample="arm")
    >>> fit.names, fit.coefficients.round(1), fit.standard_errors.round(1)
    (('Intercept', 'old'), array([-1.4,  1.4]), array([0.2, 0.2]))
    """
    check_design(design)
    lists = _lists(design)
    if lists is None:
        raise DataError(
            f"{design.name or design.kind} is no list whose sensitive statement stands in some samples only, such as "
            "item_count or double_list; compare groups: naysay estimate --by COLUMN"
        )
    cells = Within((), {}, (len(design.cells), len(design.categories)), ())
    roles = Roles(part_column_of(design, None, sample), count=count)
    data_read = read(
        design, parse(formula), data, roles, missing=missing, reference=reference, cheaters="within", cells=cells
    )
    if data_read.model.reference != len(design.categories) - 1:
        raise DataError("the log odds are those of the sensitive statement; leave reference out")
    counts, places = _counts(data_read)
    (sensitive, lengths), x, weight = lists, data_read.matrix.values, data_read.model.weight
    stands = sensitive[places]
    for at, what in [(~stands[:, j], "short") for j in range(len(lengths))] + [(stands.any(axis=1), "long")]:
        if not weight[at].sum() > x.shape[1]:
            raise NotEstimable(f"too few people counted the {what} list; leave terms out, or ask more people")
        check_apart(x[at & (weight > 0)], data_read.matrix.columns)
    gammas = [
        _fitted(x[short], counts[short, j] / length, weight[short], data_read.matrix.columns, _OTHERS)
        for j, length in enumerate(lengths)
        for short in [~stands[:, j]]
    ]
    added = counts - np.column_stack([n * scipy.special.expit(x @ g) for n, g in zip(lengths, gammas, strict=True)])
    people, columns = np.nonzero(stands)
    delta = _fitted(x[people], added[people, columns], weight[people], data_read.matrix.columns, _SENSITIVE)
    return ListRegression(data_read, counts, stands, lengths, delta, np.array(gammas))


def _counts(data: Data) -> tuple[Floats, NDArray[np.intp]]:
    """What each person counted, (n, lists), and the place of their sample, (n,)."""
    answers, places = data.model.answers, data.model.answer
    counts = {}
    for place in set(places.tolist()):  # not of those who said nothing
        row, channel = answers.rows[place], answers.channels[answers.part[place]]
        code = int(channel.matrix[:, int(row.argmax())].argmax())
        if not np.array_equal(channel.matrix[code], row):
            raise DataError("somebody answered one of two lists; leave them out, as their count alone tells nothing")
        counts[place] = channel.space.listing()[code]
    return np.array([counts[place] for place in places.tolist()], dtype=float), answers.part[places]


_OTHERS = ("the other statements", "they count none or all of them")
_SENSITIVE = ("the sensitive one", "counts where it stands are no higher, or higher by one or more")
_FAR = 15.0  # log odds beyond which a share is 0 or 1 to all digits that matter
_MOST = 0.9  # of the people: one income of millions is far from others, and has finite coefficients
_FLAT = 1e-8


def _fitted(x: Floats, y: Floats, weight: Floats, names: tuple[str, ...], what: tuple[str, str]) -> Floats:
    """The θ of least squares of y on h(x·θ), of several starts the best."""
    root, scale = np.sqrt(weight), 1 / np.sqrt(np.mean(x**2, axis=0))
    z = x * scale

    def errors(theta: Floats) -> Floats:
        return np.asarray(root * (scipy.special.expit(z @ theta) - y))

    def slopes(theta: Floats) -> Floats:
        share = scipy.special.expit(z @ theta)
        return np.asarray((root * share * (1 - share))[:, None] * z)

    mean = float(np.clip(np.average(y, weights=weight), 0.02, 0.98))
    level = np.linalg.lstsq(z, np.full(len(y), scipy.special.logit(mean)))[0]
    tilt = np.linalg.lstsq(z * root[:, None], root * (y - mean))[0] / (mean * (1 - mean))
    with np.errstate(divide="ignore"):  # on the way to coefficients without end
        ends = [
            scipy.optimize.least_squares(errors, level + much * tilt, slopes, xtol=1e-12, ftol=1e-12, gtol=1e-12)
            for much in (0, 1, 3)
        ]
    best = min(ends, key=lambda end: float(end.cost))
    curvature = np.linalg.eigvalsh(slopes(best.x).T @ slopes(best.x))
    if np.quantile(np.abs(z @ best.x), _MOST) > _FAR or curvature[0] < _FLAT * curvature[-1]:
        raise NotEstimable(
            f"no finite coefficients of {_checks.listing_text(names)} for {what[0]}: their share is estimated as 0 or "
            f"1 for some people, as {what[1]}; leave terms out, or ask more people"
        )
    return np.asarray(best.x * scale)


@dataclass(frozen=True, eq=False, repr=False)
class ListRegression(Equations):
    """A regression of the sensitive statement of a list; `regress_list` makes it.

    Parameters
    ----------
    data : Data
    counts : (n, lists) float
    stands : (n, lists) bool
        Where the sensitive statement stood.
    lengths : (lists,) int
        How many other statements each list has.
    coefficients : (p,) float
        Log odds of the sensitive statement.
    others : (lists, p) float
        Log odds of one of the other statements, on average over those of a list.
    """

    data: Data
    counts: Floats
    stands: NDArray[np.bool_]
    lengths: NDArray[np.intp]
    coefficients: Floats
    others: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """What has coefficients, (p,)."""
        return self.data.matrix.columns

    @property
    def n(self) -> int:
        """People in the model."""
        return self.data.n

    @cached_property
    def whole_covariance(self) -> Floats:
        """Covariance of all coefficients, those of the other statements first: the sandwich of both steps' moments."""
        x, weight, p = self.data.matrix.values, self.data.model.weight, len(self.names)
        share, size = scipy.special.expit(x @ self.coefficients), p * (len(self.lengths) + 1)
        of_delta, last = (share * (1 - share))[:, None] * x, slice(size - p, size)
        moments, bread = np.zeros((len(x), size)), np.zeros((size, size))
        for j, (length, gamma) in enumerate(zip(self.lengths, self.others, strict=True)):
            other = scipy.special.expit(x @ gamma)
            of_gamma, stood = (length * other * (1 - other))[:, None] * x, self.stands[:, [j]]
            error, place = self.counts[:, [j]] - length * other[:, None], slice(j * p, (j + 1) * p)
            moments[:, place] = ~stood * error * of_gamma
            moments[:, last] += stood * (error - share[:, None]) * of_delta
            bread[place, place] = (of_gamma * ~stood * weight[:, None]).T @ of_gamma
            bread[last, place] = (of_delta * stood * weight[:, None]).T @ of_gamma
            bread[last, last] += (of_delta * stood * weight[:, None]).T @ of_delta
        inverse = np.linalg.inv(bread)
        return np.asarray(inverse @ ((moments.T * weight) @ moments) @ inverse.T) * (self.n / (self.n - 1))

    @property
    def covariance(self) -> Floats:
        """Covariance of the coefficients, (p, p)."""
        return np.asarray(self.whole_covariance[-len(self.names) :, -len(self.names) :])

    @property
    def standard_errors(self) -> Floats:
        """Of the coefficients, (p,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def share(self) -> tuple[float, float]:
        """The share of whom the sensitive statement is true, on average over these people, and its standard error."""
        x, weight = self.data.matrix.values, self.data.model.weight / self.data.model.weight.sum()
        share = scipy.special.expit(x @ self.coefficients)
        slope = (weight * share * (1 - share)) @ x
        return float(weight @ share), float(np.sqrt(slope @ self.covariance @ slope))

    def coefficient_rows(self, confidence: float) -> Iterator[tuple[Equation, list[tuple[Any, ...]]]]:
        """The coefficients of each equation, of the sensitive statement first."""
        yes, no = map(_checks.label, self.data.design.categories)
        errors = np.sqrt(np.diagonal(self.whole_covariance)).reshape(-1, len(self.names))
        sensitive = Equation(yes, f"Log odds of “{yes}” against “{no}”", self.names)
        yield sensitive, wald_rows(self.names, self.coefficients, errors[-1], confidence)
        columns = self.data.formula.response
        for j, (length, gamma) in enumerate(zip(self.lengths, self.others, strict=True)):
            of_list = f" in {columns[j]}" if len(self.lengths) > 1 else ""
            comparison = f"Log odds of one of the {length} other statements{of_list}, on average"
            yield (
                Equation(f"others{of_list}", comparison, self.names),
                wald_rows(self.names, gamma, errors[j], confidence),
            )

    def parts(self, confidence: float = 0.95) -> list[Content]:
        """The regression in the vocabulary of `naysay.show`."""
        data, (share, error) = self.data, self.share
        left_out = f", {data.dropped:,} left out for missing covariates" if data.dropped else ""
        sentences = [
            f"{data.formula.text}: {data.design.name or data.design.kind}",
            f"{self.n:,} answers, {data.unanswered_text}{left_out}",
            "nonlinear least squares of counts; standard errors: sandwich of both steps",
            f"{_checks.confidence(confidence):.4g} intervals: Wald",
        ]
        tables = list(coefficient_tables(self.coefficient_rows(confidence)))
        heads = (Column("average over these people", words=True, width=40), Column("share"), Column("s.e."))
        label = _checks.label(data.design.categories[0])
        tables.append(Table(heads, ((label, number_text(share, 4), number_text(error, 4)),)))
        return [*map(Sentence, sentences), *tables, Points(tuple(self.rests_on)), *map(Note, self.reservations)]

    @property
    def rests_on(self) -> list[str]:
        """What the numbers assume."""
        return [
            "assumes: the mean of the other statements, and the share of the sensitive one, depend on the covariates "
            "as the formula says, by log odds; where a term is missing, both are wrong",
            "assumes: lot drew the samples, and the sensitive statement does not change how people count the others",
            "people who deny the sensitive statement count as those of whom it is not true; no number here sees them",
        ]

    @property
    def reservations(self) -> list[str]:
        """What a reader must be told with the numbers."""
        share, error = self.share
        sentences = []
        if share < 3 * error:
            sentences.append("the average share is within 3 standard errors of 0; intervals may be too short")
        if self.n < 50 * len(self.names) * (len(self.lengths) + 1):
            sentences.append("fewer than 50 answers a coefficient; intervals of a list may be too short")
        return sentences

    def numbers(self, confidence: float = 0.95) -> dict[str, object]:
        """The regression by the names of its JSON."""
        data, (names, rows), (share, error) = self.data, self.records(confidence), self.share
        return {
            "formula": data.formula.text,
            "design": data.design.name or data.design.kind,
            "kind": "list",
            "n": self.n,
            "missing": data.unanswered,
            "left_out": {"people": data.dropped, "by_column": data.missing},
            "reference": data.design.categories[1],
            "coefficients": [dict(zip(names, row, strict=True)) for row in rows],
            "covariance": self.covariance,
            "standard_error_kind": "sandwich",
            "confidence": confidence,
            "share": {"estimate": share, "standard_error": error},
            "rests_on": self.rests_on,
            "warnings": self.reservations,
        }

    def __repr__(self) -> str:
        return f"<ListRegression {self.data.formula.text!r}: {len(self.names)} coefficients (n = {self.n:,})>"
