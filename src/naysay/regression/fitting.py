"""Regression of randomized answers: the one function that reads, checks and fits.

Why some coefficients cannot be estimated, in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.design.base import check_design, check_known
from naysay.design.several import Samples
from naysay.errors import DataError, NotEstimable
from naysay.estimate.compliance import about_share, behavior_text, complete
from naysay.estimate.compliance import compliance as estimated_compliance
from naysay.estimate.likelihood import KINDS, check_identified
from naysay.estimate.samples import controls_of, stacked
from naysay.regression.fitted import equations
from naysay.regression.likelihood import collapse_rows, within
from naysay.regression.reading import Data, Formula, Roles, parse, parse_right, read
from naysay.regression.result import Regression
from naysay.regression.solving import Optimum, Penalty, solve
from naysay.sampling import Sampling

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


def regress(
    design: Answerable,
    formula: str,
    data: IntoFrame | Mapping[str, Iterable[object]],
    *,
    level: str | None = None,
    sample: str | None = None,
    weights: str | None = None,
    count: str | None = None,
    offset: str | None = None,
    sampling: Sampling | None = None,
    missing: str = "error",
    reference: Label | None = None,
    standard_errors: str | None = None,
    penalty: float = 0.0,
    cheaters: str = "within",
    compliance: str | None = None,
) -> Regression:
    """Who is in which category: a logistic regression of the true category, from randomized answers.

    log(π_j / π_ref) = x·β_j for each respondent with covariates x; the answer then comes with probability L·π, L its
    row of the design. Two categories give logistic regression, more of them multinomial. Where the design has nuisance
    parameters, such as the share of carriers who lie, they are estimated with the coefficients, the same for everyone
    in a category.

    Parameters
    ----------
    design : Design, Levels or Samples
        Under which the answers were given. For levels the choice of level is taken to have nothing to do with the
        category among people with the same covariates.
    formula : str
        Such as ``cheated ~ age + C(region)*gender``, with the column of answers on the left: a column of sets, or one
        column for each category joined by ``+``. Texts are categories, each compared with the first one in the
        alphabet; numbers are numbers.
    data : dataframe or mapping of columns
        Any that narwhals takes. Missing answers are left out and counted.
    level : str, optional
        The level that each respondent chose.

        A column.
    sample : str, optional
        The sample that each respondent was in, for several samples.

        A column.
    weights : str, optional
        The column of survey weights.
    count : str, optional
        The column that says how many people a row stands for.
    offset : str, optional
        Added to each linear predictor.

        A column of numbers.
    sampling : Sampling, optional
        How the sample was drawn: weights, strata, clusters, finite population, replicate weights, known totals. People
        who are left out stay in the sample, and count zero.
    missing : {"error", "drop"}
        People whose covariates have gaps: an error, or left out.
    reference : label, optional
        The category with which the others are compared; by default the last.
    standard_errors : {"observed", "expected", "outer_product", "sandwich"}, optional
        observed by default, sandwich with weights.

        What standard errors rest on.
    penalty : float
        m of log-F(m, m) priors, which keep coefficients finite; 1 is usual.

        The remedy for separation; 0 is none.
    cheaters : {"within", "CDM"}
        The same share of those without an honest yes, or of everybody: the CDM of RRreg.

        For cheating detection.
    compliance : str, optional
        Covariates of who complies, such as ``age + gender``: the right side of a formula.

        The share of those who do not comply is then a logistic regression of its own, in the same likelihood; it needs
        a control. By default it is the same for everybody.

    Returns
    -------
    Regression

    Raises
    ------
    DataError
        A formula that is none or names a column that is not there, answers that the design cannot produce, missing
        covariates, weights that are all zero, a categorical column with one level.
    NotEstimable
        More coefficients than people, collinear columns, an empty combination of categories, separation: says which.
    NaysayError
        Without the extra ``regression``.

    References
    ----------
    Maddala (1983, section 2.11) and Scheers & Dayton (1988) for covariates of randomized answers; Moshagen, Musch &
    Erdfelder (2012) for nuisance parameters; Heck & Moshagen (2018), Journal of Statistical Software 85(2), for the
    CDM; Greenland & Mansournia (2015) for the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> rng = np.random.default_rng(7)
    >>> age = rng.uniform(18, 80, 4_000).round()
    >>> truth = np.where(rng.random(4_000) < 1 / (1 + np.exp(2 - 0.03 * age)), "yes", "no")
    >>> survey = designs.warner(p=0.8)
    >>> fit = regress(survey, "cheated ~ age", {"cheated": survey.randomize(truth, rng=rng).texts(), "age": age})
    >>> fit.coefficients.round(3), fit.standard_errors.round(3)
    (array([-1.89 ,  0.028]), array([0.185, 0.003]))
    """
    check_design(design)
    check_known(design, "a regression")
    if standard_errors is not None and standard_errors not in KINDS:
        raise DataError(f"standard_errors must be one of {', '.join(KINDS)}; got {standard_errors!r}")
    if sampling is not None:
        sampling = sampling if weights is None else sampling.weighted(weights)
        weights = sampling.weights
    has_sampling = weights is not None or sampling is not None
    if has_sampling and standard_errors not in (None, "sandwich"):
        raise DataError(f"with survey weights only the sandwich is valid; got standard_errors={standard_errors!r}")
    if isinstance(penalty, bool) or not 0 <= penalty < np.inf:
        raise DataError(f"penalty must be 0 (none) or above; got {penalty!r}")
    column_roles = Roles(part_column_of(design, level, sample), weights, count, offset, sampling)
    regression_data = read(
        design,
        parse(formula),
        data,
        column_roles,
        missing=missing,
        reference=reference,
        cheaters=cheaters,
        compliance=None if compliance is None else compliance_formula(design, formula, compliance, cheaters),
    )
    return regression_of(regression_data, standard_errors or ("sandwich" if has_sampling else "observed"), penalty)


def regression_of(regression_data: Data, standard_error_name: str = "observed", penalty: float = 0.0) -> Regression:
    """The regression of those who answered; see `regress` for what is raised."""
    design = regression_data.design
    if design.structure.stacked:  # the design must tell the categories apart, whatever the covariates
        stacked(design, regression_data.tally, "population")
    else:
        check_identified(regression_data.tally)
    check_columns(regression_data)
    model, squared_weights = (
        (regression_data.model, regression_data.squared)
        if regression_data.sampled is not None
        else collapse_rows(regression_data.model, regression_data.squared)
    )
    prior = Penalty.of(penalty, model) if penalty else None
    optimum = solve(model, prior)
    if isinstance(design, Samples) and controls_of(design, design.designs[0]):
        _check_somebody_complies(regression_data, optimum)
    check_finite(regression_data, optimum, penalty)
    return Regression(regression_data, optimum, standard_error_name, prior, model, squared_weights)


_ALL = 1 - 1e-6  # of people who do not comply; a larger share is everybody


def _check_somebody_complies(data: Data, optimum: Optimum) -> None:
    """Raise if nobody is left whose answers tell coefficients: by the likelihood, or where that has no end, by moments.

    Raises
    ------
    NotEstimable
        All, or all of a group, or most and perhaps all, answered the control as people who do not comply.
    """
    type_name = str(data.design.cells[-1])
    shares_away = data.model.nuisance(optimum.theta, slice(None))[-1]
    is_away = shares_away > _ALL if data.design.nuisance[0].name == type_name else shares_away < 1 - _ALL
    # with a finite maximum somebody far out in a covariate may be away, and all others tell coefficients
    away = "in some group everybody" if np.any(is_away) and optimum.endless.size else ""
    if np.all(is_away):
        away = "about 100 of 100"
    elif not away and optimum.endless.size and (answers := complete(data.tally)) is not None:
        people = estimated_compliance(data.design, answers)
        if people is not None and people.share >= max(1 - 2 * people.standard_error, 0.5):
            away = f"{about_share(people.share)}, and perhaps all,"
    if away:
        raise NotEstimable(
            f"{away} answered the control {behavior_text(type_name)}: nobody is left whose answers tell coefficients; "
            "look at how the control was asked"
        )


def part_column_of(design: Answerable, level: str | None, sample: str | None) -> str | None:
    """The column that tells the channels of the design apart, under the name that it has for this design."""
    role_and_column = {"respondent": ("level", level), "researcher": ("sample", sample), "nobody": (None, None)}
    design_name = design.name or design.kind
    if design.offer.assigned_by not in role_and_column:
        raise DataError(
            f"a regression is of categories; {design_name} tells {design.structure.estimates.replace('_', ' ')}"
        )
    part_role, part_column = role_and_column[design.offer.assigned_by]
    for other_role, column_given in (("level", level), ("sample", sample)):
        if column_given is not None and other_role != part_role:
            raise DataError(f"{design_name} has no {other_role}s; leave `{other_role}` out")
    if part_role is not None and part_column is None:
        raise DataError(f"{design_name} needs `{part_role}`: the column of the {part_role} of each respondent")
    return part_column


def compliance_formula(design: Answerable, formula: str, compliance: str, cheaters: str) -> Formula:
    """The formula of who complies, after checking that the design shows who does."""
    if not (design.offer.measures_compliance and within(design).parameters):
        raise DataError(
            f"who complies can have covariates only where a control shows it; {design.name or design.kind} has none: "
            f"leave compliance={compliance!r} out, or name the control"
        )
    if cheaters != "within":
        raise DataError("cheaters='CDM' are the same share of everybody; leave compliance or cheaters out")
    return parse_right(compliance, formula.partition("~")[0].strip())


_COLLINEAR = 1e-11  # squared length of a combination of unit columns that counts as none
_PART = 1e-3  # entries of a direction below this share of the largest are left out of a message


def check_columns(data: Data) -> None:
    """Raise unless the columns of the formula can tell coefficients apart.

    Raises
    ------
    NotEstimable
        More coefficients than people, a column of zeros (an empty combination of categories), or collinear columns.
    """
    model, has_weight = data.model, data.model.weight > 0
    x = model.x if has_weight.all() else model.x[has_weight]
    if model.size > len(x):
        raise NotEstimable(
            f"the formula asks for {model.size} coefficients, and only {_checks.several(len(x), 'person', 'people')} "
            "answered; leave terms out, or join categories",
            rank=len(x),
        )
    check_apart(x, data.matrix.columns)
    if data.compliance is not None and model.w is not None:
        check_apart(model.w[has_weight], data.compliance[1].columns)


def check_apart(x: Floats, column_names: Sequence[str]) -> None:
    """Raise unless these columns can tell coefficients apart."""
    column_squares = np.einsum("ij,ij->j", x, x)
    empty = [
        column_name
        for column_name, column_square in zip(column_names, column_squares, strict=True)
        if column_square == 0
    ]
    if empty:
        raise NotEstimable(
            f"nobody is in {_checks.listing_text(empty)}: this combination of categories is empty among those who "
            "answered; leave the interaction out, or join categories",
            rank=len(column_names) - len(empty),
        )
    column_scale = 1 / np.sqrt(column_squares)
    eigenvalues, eigenvectors = np.linalg.eigh((x.T @ x) * column_scale * column_scale[:, None])
    is_collinear = eigenvalues < _COLLINEAR * len(column_names)
    if is_collinear.any():
        contrast = eigenvectors[:, 0] * column_scale
        is_involved = np.abs(eigenvectors[:, 0]) > _PART * np.abs(eigenvectors[:, 0]).max()
        names = [column_name for column_name, keep in zip(column_names, is_involved, strict=True) if keep]
        raise NotEstimable(
            f"the columns {_checks.listing_text(names)} are collinear: each follows from the others, so that their "
            "coefficients cannot be told apart; leave one of their terms out",
            contrast=contrast.tolist(),
            rank=int((~is_collinear).sum()),
        )


def check_finite(data: Data, optimum: Optimum, penalty: float = 0.0) -> None:
    """Raise if coefficients grow without end (separation), or for longer than was searched.

    Raises
    ------
    NotEstimable
        Which coefficients, how many people they concern, and which share of theirs is estimated as 0 or 1.
    """
    if not optimum.endless.shape[1]:
        return
    remedy = (
        "a larger penalty" if penalty else "a penalty (penalty=1, --penalty 1), with which coefficients stay finite"
    )
    if optimum.search.lower:
        raise NotEstimable(
            f"the likelihood rises where some coefficients grow without end, and its highest finite maximum is lower "
            f"by {optimum.search.lower[0]:.1f}, too much to be believed (outside its 95 % region); leave terms out, "
            f"join categories, or add {remedy}",
            contrast=optimum.endless[:, 0].tolist(),
            rank=data.model.size - optimum.endless.shape[1],
        )
    model, equation_list = data.model, equations(data)
    predictor_columns = model.predictor_columns(slice(None))
    directions = [optimum.endless[place] for place in model.places[: len(equation_list)]]  # (p, k) each
    predictor_movement = np.array(
        [
            np.sqrt(((columns @ direction) ** 2).sum(axis=1))
            for columns, direction in zip(predictor_columns, directions, strict=False)
        ]
    )
    moving_equation = int(predictor_movement.max(axis=1).argmax())
    equation, column_names = equation_list[moving_equation], equation_list[moving_equation].columns
    is_concerned = (predictor_movement[moving_equation] > 1e-6 * predictor_movement[moving_equation].max()) & (
        model.weight > 0
    )
    column_spreads = np.sqrt(
        np.mean(predictor_columns[moving_equation] ** 2, axis=0) * (directions[moving_equation] ** 2).sum(axis=1)
    )
    endless_names = [
        column_name
        for column_name, column_spread in zip(column_names, column_spreads, strict=True)
        if column_spread > _PART * column_spreads.max()
    ]
    is_of_categories = moving_equation < model.t - 1
    category_shares = (
        model.shares(optimum.theta)[model.free[moving_equation]]
        if is_of_categories
        else model.nuisance(optimum.theta, slice(None))[moving_equation - model.t + 1]
    )[is_concerned]
    end_shares = sorted(
        {
            round(float(share_at_end))
            for share_at_end in category_shares[(category_shares < 1e-4) | (category_shares > 1 - 1e-4)]
        }
    )
    share_sentence = (
        f"their share of “{_checks.label(equation.label)}” is estimated as {' or '.join(map(str, end_shares))}"
        if end_shares
        else "their shares run off"
    )
    people_per_row = (model.weight > 0) if data.tally.weighted else model.weight  # each row for how many people
    people = f"{int(people_per_row[is_concerned].sum()):,} of {data.n:,} people"
    reason = (
        "as their answers are as one-sided as the design allows"
        if is_of_categories
        else "so that their controls do not tell who complies"
    )
    term = "the term" if is_of_categories else "the term of compliance"
    raise NotEstimable(
        f"no finite coefficient of {_checks.listing_text(endless_names)} for {equation.comparison} "
        f"(separation): for {people} {share_sentence}, {reason}; leave "
        f"{term} out, join its categories, or add {remedy}",
        contrast=optimum.endless[:, 0].tolist(),
        rank=model.size - optimum.endless.shape[1],
    )
