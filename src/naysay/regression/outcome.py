"""What the category goes along with: regression of a plain outcome on a randomized answer and covariates.

Nobody's category is known, so that the likelihood of a person is a mixture over the categories:
Σ_j π_j(z) M_j f(y | x_j). M_j is the chance of the answers in category j, as in `naysay.regression.likelihood`, x_j the
covariates of the outcome if the person is in j, and f normal with one σ, or logistic. One search finds all parameters:
those of the category, of who complies, and of the outcome.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.design.base import check_design, check_known
from naysay.errors import DataError, NotEstimable
from naysay.estimate.fit import number_text
from naysay.regression.fitted import Equation, Test
from naysay.regression.fitting import check_apart, compliance_formula, part_column_of, regression_of
from naysay.regression.likelihood import Evaluated, Model
from naysay.regression.reading import Data, Formula, Matrix, Roles, formulaic, parse, read
from naysay.regression.result import (
    Equations,
    Regression,
    coefficient_tables,
    reservations_of_answers,
    rests_of_answers,
    wald_rows,
)
from naysay.show import Column, Content, Note, Points, Sentence, Table

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


def regress_outcome(
    design: Answerable,
    formula: str,
    outcome: str,
    data: IntoFrame | Mapping[str, Iterable[object]],
    *,
    level: str | None = None,
    sample: str | None = None,
    count: str | None = None,
    missing: str = "error",
    reference: Label | None = None,
    compliance: str | None = None,
) -> OutcomeRegression:
    """Regression of a plain outcome on the true category, given randomized answers and covariates.

    Linear, with normal errors of one σ, for an outcome of numbers; logistic for one of two values. The category and the
    outcome are fitted in one likelihood.

    Parameters
    ----------
    design : Design, Levels or Samples
        Under which the answers were given.
    formula : str
        Of the category, such as ``cheated ~ age``: as in `regress`.
    outcome : str
        Of the outcome, such as ``score ~ cheated + age``. The column of answers on its right side stands for the true
        category, each compared with the reference; it may stand in interactions.
    data : dataframe or mapping of columns
    level, sample, count, missing, reference, compliance
        As in `regress`. People whose outcome is missing are treated as those whose covariates are.

    Returns
    -------
    OutcomeRegression

    Raises
    ------
    DataError
        As by `regress`; an outcome that is neither numbers nor two values, or a formula without the category.
    NotEstimable
        As by `regress`; an outcome without variation, or a mixture that has no finite maximum.

    References
    ----------
    Atsusaka & Stevenson (2023), Political Analysis 31, for the crosswise model with an anchor; Imai, Park & Greene
    (2015), Political Analysis 23, for lists.

    Examples
    --------
    >>> from naysay import designs
    >>> rng = np.random.default_rng(7)
    >>> cheated = rng.random(4_000) < 0.3
    >>> survey = designs.warner(p=0.8)
    >>> said = survey.randomize(np.where(cheated, "yes", "no"), rng=rng).texts()
    >>> score = rng.normal(5 - cheated)
    >>> fit = regress_outcome(survey, "cheated ~ 1", "score ~ cheated", {"cheated": said, "score": score})
    >>> fit.names, fit.coefficients.round(2), fit.standard_errors.round(2)
    (('Intercept', 'cheated[T.yes]'), array([ 5.  , -1.02]), array([0.02, 0.06]))
    """
    check_design(design)
    check_known(design, "a regression")
    trait_formula, outcome_formula = parse(formula), parse(outcome)
    trait, (name, *others) = trait_formula.response[0], outcome_formula.response
    if others or name in (*outcome_formula.variables, *trait_formula.variables, *trait_formula.response):
        raise DataError(f"the outcome must be one column that stands nowhere else; got {outcome_formula.text!r}")
    if trait not in outcome_formula.variables:
        raise DataError(f"the outcome's formula must hold {trait!r}, the column of the answers; got {outcome!r}")
    regression_data = read(
        design,
        trait_formula,
        data,
        Roles(part_column_of(design, level, sample), count=count),
        missing=missing,
        reference=reference,
        cheaters="within",
        compliance=None if compliance is None else compliance_formula(design, formula, compliance, "within"),
        beside=(name, *(column for column in outcome_formula.variables if column != trait)),
    )
    values, event = _outcome(regression_data, name)
    matrix = _matrix(regression_data, outcome_formula)
    columns = matrix.values.reshape(regression_data.model.t, len(values), -1)
    check_apart(matrix.values, matrix.columns)
    mixture = Mixture(regression_data.model, columns, values, is_normal=event is None)
    regression = regression_of(regression_data)  # of the category alone
    ends = [mixture.climb(start) for start in mixture.starts(regression.optimum.theta)]
    best = max(ends, key=lambda end: end.likelihood.value)
    mixture.check_finite(best)
    return OutcomeRegression(regression, outcome_formula, matrix, event, mixture, best, tuple(ends))


def _outcome(data: Data, name: str) -> tuple[Floats, str | None]:
    """The outcome as numbers, and what is 1 of two values; None of numbers."""
    column = data.table[name]
    is_number = column.dtype.kind in "if"
    if is_number and not np.isfinite(column).all():
        raise DataError(f"the outcome must be finite; column {name!r} has an infinite cell", column=name)
    levels = sorted({int(v) if v == int(v) else v for v in column}) if is_number else list(column.cat.categories)
    if len(levels) < 2:
        raise NotEstimable(f"the outcome {name!r} has no variation: it is {_checks.listing_text(levels)} for everybody")
    if len(levels) == 2:
        return np.asarray(column == levels[1], dtype=float), _checks.label(levels[1])
    if not is_number:
        raise DataError(
            f"the outcome must be numbers or two values; column {name!r} has {len(levels):,} texts, such as "
            f"{_checks.listing_text(levels[:3])}; for categories of an outcome join them to two",
            column=name,
        )
    return column.to_numpy(dtype=float), None


def _matrix(data: Data, formula: Formula) -> Matrix:
    """The columns of the outcome's formula if everybody is in the first category, then in the second, …: (t n, k)."""
    pandas, labels = formulaic("pandas"), [_checks.label(category) for category in data.design.categories]
    trait = data.formula.response[0]
    order = sorted(labels, key=lambda label: label != labels[data.model.reference])  # the reference first
    tables = [data.table.assign(**{trait: pandas.Categorical([label] * len(data.table), order)}) for label in labels]
    matrix = formula.matrix(tables[0])  # from each person once: poly and scale rest on their number
    return replace(matrix, values=np.concatenate([matrix.of(table) for table in tables]))


class End(NamedTuple):
    """Where a search ended: the parameters, (P,), the likelihood there, and which shares are at 0 or 1, (P,)."""

    theta: Floats
    likelihood: Evaluated
    bound: NDArray[np.bool_]


_REJECTED = 0.01  # p below which a test of the model is told as a warning
_RARE = 3  # standard errors of its share within which of 0 a category is told of by a warning
_STEPS = 200
_DONE = 1e-10  # what a step can still gain of log-likelihood
_FLAT = 1e-9  # curvature, as a share of the largest, that counts as none
_FAR = 18.0  # log odds beyond which a share is 0 or 1 to all digits that matter
_TILT = 1.5  # log odds of a category for a standard deviation of the outcome, where a search begins
_LEAST = -600.0  # logarithm of the least density beside the largest


@dataclass(frozen=True, eq=False)
class Mixture:
    """The likelihood of answers and outcome; parameters are those of the model, then of the outcome, then log σ.

    Parameters
    ----------
    model : Model
        Of the answers.
    columns : (t, n, k) float
        The covariates of the outcome in each category.
    values : (n,) float
        The outcome; of two values 0 and 1.
    is_normal : bool
    """

    model: Model
    columns: Floats
    values: Floats
    is_normal: bool

    def log_density(self, outcome_theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Log f in each category, (t, n), its derivatives by η and log σ, (m, t, n), and the second ones, (m, m, t, n).

        m is 2 for an outcome of numbers, and 1 for one of two values.
        """
        if not self.is_normal:
            eta = self.columns @ outcome_theta
            chance = scipy.special.expit(eta)
            log_chance = self.values * eta - np.logaddexp(0, eta)
            return log_chance, (self.values - chance)[None], (chance * (chance - 1))[None, None]
        sigma = np.exp(outcome_theta[-1])
        error = (self.values - self.columns @ outcome_theta[:-1]) / sigma
        log_chance = -(error**2) / 2 - outcome_theta[-1] - math.log(2 * math.pi) / 2
        across = -2 * error / sigma
        second = np.array([[np.full_like(error, -1 / sigma**2), across], [across, -2 * error**2]])
        return log_chance, np.array([error / sigma, error**2 - 1]), second

    def beside(self, log_chance: Floats) -> tuple[Model, float]:
        """The model of answers that have this beside them, and what its log-likelihood lacks."""
        highest = log_chance.max(axis=0)
        beside = np.exp(np.maximum(log_chance - highest, _LEAST))
        return replace(self.model, beside=beside), float(self.model.weight @ highest)

    def evaluate(self, theta: Floats) -> Evaluated:
        """The log-likelihood, its gradient and the observed information.

        With r the chances of the categories given all that a row holds and g_j the derivatives of log f in j, the score
        is Σ_j r_j g_j = ḡ, and r_j has the derivative r_j (g_j - ḡ).
        """
        size, model = self.model.size, self.model
        log_chance, first, second = self.log_density(theta[size:])
        joint, lacking = self.beside(log_chance)
        of_answers = joint.evaluate(theta[:size])
        chances, nuisance_slopes = joint.posteriors(theta[:size])
        parts = [self.columns, *(np.ones((*log_chance.shape, 1)) for _ in first[1:])]  # the columns of η and log σ
        slopes = np.concatenate([part * slope[..., None] for part, slope in zip(parts, first, strict=True)], axis=2)
        mean = np.einsum("jn,jnk->nk", chances, slopes)
        away, weight = slopes - mean, model.weight
        of_outcome = -np.einsum("jn,jnk,jnl->kl", chances * weight, away, away, optimize=True)
        of_outcome -= np.block(
            [
                [
                    np.einsum("jn,jnk,jnl->kl", chances * weight * curvature, a, b, optimize=True)
                    for b, curvature in zip(parts, curvatures, strict=True)
                ]
                for a, curvatures in zip(parts, second, strict=True)
            ]
        )
        # ḡ has the derivative Σ_j ∂r_j (g_j - ḡ); by the log odds of k, ∂r_j = r_k (1[j = k] - r_j) leaves only j = k
        moves = [chances[[k]] for k in model.free] + list(nuisance_slopes)
        categories = [[k] for k in model.free] + [list(range(model.t))] * model.q
        cross = np.zeros((size, len(of_outcome)))
        for place, columns, move, js in zip(
            model.places, model.predictor_columns(slice(None)), moves, categories, strict=True
        ):
            cross[place] -= columns.T @ (np.einsum("jn,jnk->nk", move, away[js]) * weight[:, None])
        return Evaluated(
            of_answers.value + lacking,
            np.concatenate([of_answers.gradient, weight @ mean]),
            np.block([[of_answers.information, cross], [cross.T, of_outcome]]),
        )

    def scores(self, theta: Floats) -> Floats:
        """The score of every row, without its weight, (n, P)."""
        size = self.model.size
        log_chance, first, _ = self.log_density(theta[size:])
        joint, _ = self.beside(log_chance)
        chances, _ = joint.posteriors(theta[:size])
        of_outcome = np.einsum("jn,jnk->nk", chances * first[0], self.columns)
        of_sigma = [(chances * slope).sum(axis=0)[:, None] for slope in first[1:]]
        return np.hstack([joint.scores(theta[:size]), of_outcome, *of_sigma])

    @cached_property
    def units(self) -> Floats:
        """A length of each parameter: about one log odds, or one standard deviation of the outcome."""
        spread = float(np.std(self.values)) if self.is_normal else 1.0
        of_outcome = spread / np.sqrt(np.mean(self.columns**2, axis=(0, 1)))
        lengths = [1 / np.sqrt(np.mean(columns**2, axis=0)) for columns in self.model.predictor_columns(slice(None))]
        return np.concatenate([*lengths, of_outcome, [1.0] * self.is_normal])

    def starts(self, theta: Floats) -> Iterator[Floats]:
        """Where searches begin: from the answers alone, and with each category at a high or a low outcome."""
        chances, _ = self.model.posteriors(theta)
        height = (self.values - np.mean(self.values)) / np.std(self.values)
        for j, tilt in [(0, 0.0), *((j, sign * _TILT) for j in self.model.free for sign in (1, -1))]:
            tilted = chances.copy()
            tilted[j] *= np.exp(tilt * height)
            tilted /= tilted.sum(axis=0)
            for _ in range(20):  # steps of EM for the outcome; the category is as the answers alone say
                outcome_theta = self.weighted(tilted)
                tilted, _ = self.beside(self.log_density(outcome_theta)[0])[0].posteriors(theta)
            yield np.concatenate([theta, outcome_theta])

    def weighted(self, chances: Floats) -> Floats:
        """The outcome's parameters if people are in the categories by these chances: weighted regression."""
        weight, beta = chances * self.model.weight, np.zeros(self.columns.shape[2])
        for _ in range(1 if self.is_normal else 6):
            _, first, second = self.log_density(np.append(beta, [0.0] * self.is_normal))  # with σ = 1
            information = -np.einsum("jn,jnk,jnl->kl", weight * second[0, 0], self.columns, self.columns, optimize=True)
            ridge = 1e-9 * np.diag(np.diagonal(information))
            beta = beta + np.linalg.solve(information + ridge, np.einsum("jn,jnk->k", weight * first[0], self.columns))
        if not self.is_normal:
            return beta
        square = float((weight * (self.values - self.columns @ beta) ** 2).sum() / weight.sum())
        if square < 1e-12 * np.var(self.values):
            raise NotEstimable("the outcome follows from the covariates without error; there is nothing to estimate")
        return np.append(beta, math.log(square) / 2)

    def climb(self, theta: Floats) -> End:
        """Newton's method, towards a maximum also where the likelihood is not concave; shares stay within [0, 1]."""
        shares = slice(self.model.size - self.model.bounded, self.model.size)
        likelihood = self.evaluate(theta)
        for _ in range(_STEPS):
            bound = np.zeros(len(theta), dtype=bool)
            bound[shares] = ((theta[shares] <= 0) & (likelihood.gradient[shares] <= 0)) | (
                (theta[shares] >= 1) & (likelihood.gradient[shares] >= 0)
            )
            units, gradient = self.units[~bound], likelihood.gradient[~bound]
            curvatures, axes = np.linalg.eigh(likelihood.information[np.ix_(~bound, ~bound)] * units * units[:, None])
            bent = np.maximum(np.abs(curvatures), _FLAT * np.abs(curvatures).max())
            step = np.zeros(len(theta))
            step[~bound] = units * (axes @ ((axes.T @ (gradient * units)) / bent))
            if likelihood.gradient @ step < _DONE:
                break
            step /= max(1.0, float(np.abs(step / self.units).max()) / 4)
            for _ in range(40):
                next_theta = theta + step
                next_theta[shares] = np.clip(next_theta[shares], 0, 1)
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    next_likelihood = self.evaluate(next_theta)
                if next_likelihood.value > likelihood.value and np.isfinite(next_likelihood.information).all():
                    theta, likelihood = next_theta, next_likelihood
                    break
                step = step / 2
            else:
                break
        return End(theta, likelihood, bound)

    def check_finite(self, end: End) -> None:
        """Raise unless a search ended at a finite maximum.

        Raises
        ------
        NotEstimable
            Coefficients grow without end, σ shrinks to 0, or the likelihood is flat.
        """
        free, size = ~end.bound, self.model.size
        units = self.units[free]
        curvatures = np.linalg.eigvalsh(end.likelihood.information[np.ix_(free, free)] * units * units[:, None])
        log_odds = float(self.model.log_odds(end.theta[:size]).max())
        if not self.is_normal:
            log_odds = max(log_odds, float(np.abs(self.columns @ end.theta[size:]).max()))
        reason = ""
        if log_odds > _FAR:
            reason = "some coefficients grow without end (separation)"
        elif self.is_normal and np.exp(end.theta[-1]) < 1e-6 * np.std(self.values):
            reason = "σ shrinks to 0"
        elif curvatures[0] < 10 * _FLAT * curvatures[-1]:
            reason = "the likelihood is flat"
        elif np.abs(end.likelihood.gradient[free] * units).max() > 1e-3 * math.sqrt(float(self.model.weight.sum())):
            reason = f"{_STEPS} steps do not reach one"
        if reason:
            raise NotEstimable(
                f"the mixture of categories has no finite maximum here: {reason}; leave terms out, or ask more people"
            )


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeRegression(Equations):
    """A regression of a plain outcome on the true category; `regress_outcome` makes it.

    Parameters
    ----------
    regression : Regression
        Of the category, from the answers alone: where the search began.
    outcome : Formula
    matrix : Matrix
        The columns of the outcome's formula.
    event : str, optional
        What the log odds are of; None for an outcome of numbers.
    mixture : Mixture
    end : End
        The highest maximum that was found.
    ends : tuple of End
        Where all searches ended.
    """

    regression: Regression
    outcome: Formula
    matrix: Matrix
    event: str | None
    mixture: Mixture
    end: End
    ends: tuple[End, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What has coefficients, (k,), such as ``cheated[T.yes]``."""
        return self.matrix.columns

    @property
    def n(self) -> int:
        """People in the model."""
        return self.regression.n

    @property
    def log_likelihood(self) -> float:
        """Of answers and outcome together."""
        return self.end.likelihood.value

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 P - 2 log L."""
        return 2 * self.end.theta.size - 2 * self.log_likelihood

    @property
    def _places(self) -> slice:
        return slice(self.mixture.model.size, self.mixture.model.size + len(self.names))

    @property
    def coefficients(self) -> Floats:
        """Of the outcome, (k,): differences of its mean, or of its log odds."""
        return self.end.theta[self._places]

    @cached_property
    def whole_covariance(self) -> Floats:
        """Covariance of all parameters, (P, P), by the observed information; NaN for a share that is held at 0 or 1."""
        covariance, free = np.full(self.end.likelihood.information.shape, np.nan), np.flatnonzero(~self.end.bound)
        covariance[np.ix_(free, free)] = np.linalg.inv(self.end.likelihood.information[np.ix_(free, free)])
        return covariance

    @property
    def covariance(self) -> Floats:
        """Covariance of the coefficients, (k, k)."""
        return self.whole_covariance[self._places, self._places]

    @property
    def standard_errors(self) -> Floats:
        """Of the coefficients, (k,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def standard_error_kind(self) -> str:
        """What standard errors rest on, in words."""
        return "observed information" + ("; of least squares: sandwich" if self.event is None else "")

    @property
    def sigma(self) -> float:
        """The standard deviation of the outcome in a category; NaN for an outcome of two values."""
        return float(np.exp(self.end.theta[-1])) if self.mixture.is_normal else math.nan

    def interval(self, confidence: float = 0.95) -> Floats:
        """Wald intervals of the coefficients, (k, 2)."""
        reach = scipy.stats.norm.ppf((1 + _checks.confidence(confidence)) / 2) * self.standard_errors
        return np.column_stack([self.coefficients - reach, self.coefficients + reach])

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """Least squares, and what each person moves them by, (n, k): with their part in the chances of categories."""
        alone, mixture = self.regression, self.mixture
        model, theta, free = mixture.model, alone.optimum.theta, np.flatnonzero(~alone.optimum.bound)

        def solved(theta: Floats) -> tuple[Floats, Floats, Floats]:
            x = np.einsum("jn,jnk->nk", model.posteriors(theta)[0], mixture.columns)
            bread = np.linalg.inv((x.T * model.weight) @ x)
            return x, bread, bread @ (x.T @ (model.weight * mixture.values))

        x, bread, beta = solved(theta)
        steps = 1e-5 * np.diag(mixture.units[: model.size])[free]
        slopes = [(solved(theta + step)[2] - solved(theta - step)[2]) / (2 * step.sum()) for step in steps]
        moves = x * (mixture.values - x @ beta)[:, None] @ bread
        moves += model.scores(theta)[:, free] @ alone.whole_covariance[np.ix_(free, free)] @ slopes
        return beta, moves

    @property
    def least_squares(self) -> tuple[Floats, Floats]:
        """Coefficients and standard errors of an outcome of numbers without the assumption of normal errors.

        The mean outcome given answers and covariates is Σ_j r_j x_j·b, with r_j the chance of category j by the answers
        alone: least squares on Σ_j r_j x_j. The errors hold for unequal variances, and carry those of r_j.
        """
        return self._moments[0], np.asarray(np.sqrt(np.diagonal(self.least_squares_covariance)))

    @property
    def least_squares_covariance(self) -> Floats:
        """Covariance of the coefficients of `least_squares`, (k, k)."""
        moves = self._moments[1]
        return np.asarray((moves.T * self.mixture.model.weight) @ moves)

    @cached_property
    def normality(self) -> Test | None:
        """Hausman's test that mixture and least squares tell the same of the category; None where they must.

        It rejects where errors are not normal with one σ, as far as that moves these coefficients.
        """
        varying = np.flatnonzero(np.ptp(self.mixture.columns, axis=0).max(axis=0) > 0)
        beta, moves = self._moments
        apart = (self.coefficients - beta)[varying]
        free = np.flatnonzero(~self.end.bound)
        scores = self.mixture.scores(self.end.theta)[:, free]
        moves = scores @ self.whole_covariance[free, self._places] - moves
        covariance = (moves[:, varying].T * self.mixture.model.weight) @ moves[:, varying]
        if np.linalg.eigvalsh(covariance)[0] < 1e-9 * np.diagonal(self.covariance)[varying].min():
            return None  # answers tell the category
        return Test.of("Hausman", float(apart @ np.linalg.solve(covariance, apart)), len(varying))

    @property
    def equations(self) -> list[tuple[Equation, slice]]:
        """The equations of the outcome, the category and who complies, with the places of their parameters."""
        name = self.outcome.response[0]
        comparison = f"Mean of {name}" if self.event is None else f"Log odds of {name} “{self.event}”"
        of_answers = [
            (replace(equation, comparison=f"Log odds of {equation.comparison}"), place)
            for equation, place in zip(self.regression.equations, self.mixture.model.places, strict=False)
        ]
        return [(Equation(name, comparison, self.names), self._places), *of_answers]

    def coefficient_rows(self, confidence: float) -> Iterator[tuple[Equation, list[tuple[Any, ...]]]]:
        """The coefficients of each equation; of a mean first by least squares, which need no normal errors."""
        errors, (of_outcome, _) = np.sqrt(np.diagonal(self.whole_covariance)), self.equations[0]
        if self.event is None:
            by_squares = f"{of_outcome.comparison}, by least squares"
            equation = replace(of_outcome, label=f"{of_outcome.label}, least squares", comparison=by_squares)
            yield equation, wald_rows(self.names, *self.least_squares, confidence)
        for equation, place in self.equations:
            rows = wald_rows(equation.columns, self.end.theta[place], errors[place], confidence)
            assumed = ", by the mixture with normal errors" if equation == of_outcome and self.event is None else ""
            yield replace(equation, comparison=equation.comparison + assumed), rows

    def parts(self, confidence: float = 0.95) -> list[Content]:
        """The regression in the vocabulary of `naysay.show`."""
        data, trait = self.regression.data, self.regression.data.formula.response[0]
        kind = "linear" if self.event is None else "logistic"
        left_out = f", {data.dropped:,} left out for missing covariates or outcome" if data.dropped else ""
        compliance = "" if data.compliance is None else f"; who complies: {data.compliance[0].right_side}"
        sentences = [
            f"{self.outcome.text}, where {trait} is the true category",
            f"{data.formula.text}: {data.design.name or data.design.kind}{compliance}",
            f"{self.n:,} answers, {data.unanswered_text}{left_out}",
            f"{kind} regression; {trait} against “{_checks.label(self.regression.reference)}”; standard errors: "
            f"{self.standard_error_kind}",
            f"log-likelihood {self.log_likelihood:,.3f}, AIC {self.aic:,.1f}",
            f"{_checks.confidence(confidence):.4g} intervals: Wald",
        ]
        tables = list(coefficient_tables(self.coefficient_rows(confidence)))
        beside = [(name, *(number_text(number, 4) for number in numbers)) for name, numbers in self.beside.items()]
        if beside:
            tables.append(
                Table(
                    (Column("estimated beside", words=True, width=40), Column("value"), Column("s.e.")), tuple(beside)
                )
            )
        notes = map(Note, self.reservations)
        return [*map(Sentence, sentences), *tables, Points(tuple(self._rests(confidence))), *notes]

    @property
    def beside(self) -> dict[str, tuple[float, float]]:
        """σ, and the shares that are the same for everybody, each with its standard error."""
        errors, model = np.sqrt(np.diagonal(self.whole_covariance)), self.mixture.model
        estimates = {"σ": (self.sigma, self.sigma * float(errors[-1]))} if self.mixture.is_normal else {}
        for share, place in zip(model.within.assumptions, range(model.size - model.bounded, model.size), strict=False):
            estimates[share] = (float(self.end.theta[place]), float(errors[place]))
        return estimates

    def _rests(self, confidence: float) -> Iterator[str]:
        """What the numbers rest on."""
        yield from rests_of_answers(self.regression, confidence)
        yield (
            "assumes: among people of one category with the same covariates, the outcome has nothing to do with what "
            "they answered, nor with whether they comply"
        )
        of_outcome, of_trait = set(self.outcome.variables), set(self.regression.data.formula.variables)
        beside = sorted(of_outcome - of_trait - {self.regression.data.formula.response[0]})
        wrong = "coefficients are wrong" + (", those of least squares, too" if self.event is None else "")
        if beside:
            yield (
                f"assumes: the category has nothing to do with {', '.join(beside)}, which its formula lacks; where it "
                f"has, {wrong}"
            )
        if of_trait - of_outcome:
            yield (
                "assumes: among people of one category with the same covariates of the outcome, it has nothing to do "
                f"with {', '.join(sorted(of_trait - of_outcome))}; where it has, {wrong}"
            )
        if self.event is None:
            yield (
                "assumes: what the formula leaves of the outcome is normal, with one σ in all categories; where it is "
                "not, the mixture takes the shape of the outcome for the category, and only least squares hold"
            )
            if self.normality is not None:
                yield f"mixture against least squares, of the category: {self.normality}"
        value = self.log_likelihood
        reached = sum(value - end.likelihood.value < 1e-3 for end in self.ends)
        yield f"the highest maximum of {_checks.several(len(self.ends), 'search', 'searches')}; {reached} ended at it"

    @property
    def reservations(self) -> list[str]:
        """What a reader must be told with the numbers."""
        sentences, model = list(reservations_of_answers(self.regression)), self.mixture.model
        is_bound = self.end.bound[model.size - model.bounded : model.size]
        names = [share for share, at_end in zip(model.within.assumptions, is_bound, strict=False) if at_end]
        if names:
            sentences.append(f"at the boundary, and held there: {', '.join(names)}; standard errors are given this")
        test = self.normality if self.event is None else None
        if test is not None and test.p_value < _REJECTED:
            sentences.append(
                f"mixture and least squares tell different things of the category ({test}): the outcome is not normal "
                "with one σ within categories, so that least squares hold, or a formula lacks a covariate, and neither "
                "holds"
            )
        shares = self.regression.margins()
        rows = zip(shares.categories, shares.probabilities[0], shares.standard_errors[0], strict=True)
        if rare := [f"“{_checks.label(label)}” ({share:.3f})" for label, share, error in rows if share < _RARE * error]:
            sentences.append(
                f"shares within {_RARE} standard errors of 0: {', '.join(rare)}; few people tell of them, and "
                "intervals may be too short"
            )
        if self.n < 10 * self.end.theta.size:
            sentences.append(f"only {self.n / self.end.theta.size:.1f} answers a parameter; intervals may be too short")
        return sentences

    def numbers(self, confidence: float = 0.95) -> dict[str, object]:
        """The regression by the names of its JSON."""
        data, (names, rows) = self.regression.data, self.records(confidence)
        return {
            "outcome": self.outcome.text,
            "formula": data.formula.text,
            "compliance_formula": None if data.compliance is None else data.compliance[0].right_side,
            "design": data.design.name or data.design.kind,
            "kind": "linear" if self.event is None else "logistic",
            "event": self.event,
            "n": self.n,
            "missing": data.unanswered,
            "left_out": {"people": data.dropped, "by_column": data.missing},
            "reference": self.regression.reference,
            "coefficients": [dict(zip(names, row, strict=True)) for row in rows],
            "covariance": self.covariance,
            "least_squares_covariance": self.least_squares_covariance if self.event is None else None,
            "standard_error_kind": self.standard_error_kind,
            "confidence": confidence,
            "beside": {name: {"estimate": v, "standard_error": e} for name, (v, e) in self.beside.items()},
            "normality": None if self.event is not None or self.normality is None else asdict(self.normality),
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "rests_on": list(self._rests(confidence)),
            "warnings": self.reservations,
        }

    def __repr__(self) -> str:
        return f"<OutcomeRegression {self.outcome.text!r}: {len(self.names)} coefficients (n = {self.n:,})>"
