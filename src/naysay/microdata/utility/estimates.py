"""What analyses of a release tell: estimates beside those of the original, and whether the files can be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import scipy

from naysay import _checks, designs, regression
from naysay._values import Array, Floats
from naysay.design import Answerable
from naysay.errors import DataError, NaysayError
from naysay.microdata.attack.register import Places, texts
from naysay.microdata.keys.codes import check_choice, check_names
from naysay.microdata.utility.distances import Pair, Variable, cells_as_labels
from naysay.regression.reading import Formula, parse, table_of
from naysay.show import Column, Content, Facts, Note, Sentence, Table
from naysay.show.result import DASH, grid

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

    def parts(self) -> list[Content]:
        most_moved = sorted(self.plain, key=lambda estimate: -abs(np.nan_to_num(estimate.difference, nan=np.inf)))
        count_text = f"{min(len(most_moved), _ROWS_IN_TABLE)} of {len(most_moved)}, those that moved most"
        content_parts: list[Content] = (
            [_table(f"Means and shares, {count_text}", most_moved[:_ROWS_IN_TABLE])] if most_moved else []
        )
        group_names = dict.fromkeys(estimate.group for estimate in self.named)
        content_parts += [
            _table(group_name, [estimate for estimate in self.named if estimate.group == group_name], tested=True)
            for group_name in group_names
        ]
        if self.undone:
            undone_rows = []
            for raw_estimate, undone_estimate in self.undone:
                undone_share, undone_error = undone_estimate.after, undone_estimate.after_error
                values = (raw_estimate.before, raw_estimate.after, undone_share, undone_error)
                moved = f"{(undone_share - undone_estimate.before) / undone_error:+.2f}" if undone_error else DASH
                undone_rows.append((raw_estimate.name, *(f"{value:.4f}" for value in values), moved))
            column_titles = ("category", "original", "read as it is", "undone", "s.e.", "difference / s.e.")
            content_parts.append(
                grid("Shares of variables that were released under a design", column_titles, undone_rows)
            )
        content_parts += [Note(failure) for failure in self.failed]
        explanation = (
            "Difference: how far an estimate moved, in standard errors of the original. Overlap: of the 95 % "
            "intervals, 1 where they are the same, negative where they do not touch."
        )
        return [*content_parts, Sentence(explanation, small=True)]

    def numbers(self) -> dict[str, object]:
        return {
            "mean_overlap": self.mean_overlap,
            "plain": [estimate.numbers() for estimate in self.plain],
            "named": [estimate.numbers() for estimate in self.named],
            "undone": [
                {"raw": raw_estimate.numbers(), "undone": undone_estimate.numbers()}
                for raw_estimate, undone_estimate in self.undone
            ],
            "failed": list(self.failed),
        }


def _table(caption: str, rows: Sequence[Estimated], *, tested: bool = False) -> Table:
    column_titles = ("estimate", "original", "s.e.", "release", "s.e. (release)", "difference", "overlap")
    head_columns = (Column(column_titles[0], words=True, width=40), *map(Column, column_titles[1:]))
    cell_rows = [
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
    return Table((*head_columns, *([Column("verdict", words=True)] if tested else [])), tuple(cell_rows), caption)


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
    design_of = dict(designs or {})
    variable_names = [variable.name for variable in pair.variables]
    check_names(list(design_of), variable_names, what="variable")
    plain_estimates = [
        estimate
        for variable in pair.variables
        if variable.name not in design_of
        for estimate in _plain(variable, pair.weights)
    ]
    undone_pairs = [
        estimate_pair
        for variable_name, design in design_of.items()
        for estimate_pair in shares_undone(pair, variable_name, design)
    ]
    formula_estimates: list[Estimated] = []
    failed_formulas = []
    for formula in formulas:
        try:
            formula_estimates += coefficient_estimates(pair, formula, design_of)
        except NaysayError as error:
            failed_formulas.append(f"{formula}: {error}")
    return Estimates(tuple(plain_estimates), tuple(formula_estimates), tuple(undone_pairs), tuple(failed_formulas))


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
    for label_code, label in enumerate(labels):
        label_indicators = [np.where(codes < 0, np.nan, codes == label_code) for codes in (x, y)]
        yield Estimated(
            f"{variable.name} = {label}",
            *_mean(label_indicators[0], weights[0]),
            *_mean(label_indicators[1], weights[1]),
        )


def _mean(cells: Floats, weight: Floats) -> tuple[float, float]:
    """A weighted mean of what is known, and its linearized standard error."""
    is_known = ~np.isnan(cells)
    n = int(is_known.sum())
    if n < 2:
        return float("nan"), float("nan")
    known_weights, known_cells = weight[is_known], cells[is_known]
    weighted_mean = float(known_weights @ known_cells / known_weights.sum())
    return weighted_mean, float(
        np.sqrt(n / (n - 1) * (known_weights**2 @ (known_cells - weighted_mean) ** 2)) / known_weights.sum()
    )


def shares_undone(pair: Pair, name: str, design: Answerable) -> Iterator[tuple[Estimated, Estimated]]:
    """Shares of a variable that was released under a design: as they stand in the release, and undone.

    The records are fixed and only the randomization is random (target file).
    """
    from naysay import estimate

    category_labels = list(map(str, design.categories))
    original_labels = cells_as_labels(pair.before[name], category_labels)
    released_labels = cells_as_labels(pair.after[name], category_labels)
    response_table = pl.DataFrame({name: released_labels, _WEIGHT: pair.weights[1]})
    tally = design.tally(response_table, name, weights=_WEIGHT if pair.weighted else None)
    fit = estimate.moments(design, tally, target="file")
    for category_label, undone_share, undone_error in zip(
        category_labels, fit.proportions.tolist(), fit.standard_errors.tolist(), strict=True
    ):
        original_share = _mean(_indicator(original_labels, category_label), pair.weights[0])
        raw_share = _mean(_indicator(released_labels, category_label), pair.weights[1])
        estimate_name = f"{name} = {category_label}"
        yield (
            Estimated(estimate_name, *original_share, *raw_share),
            Estimated(estimate_name, *original_share, undone_share, undone_error),
        )


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
    analysis_frames = [
        _analysis_frame(variable_of, (response, *formula.variables), file_side, pair, private) for file_side in (0, 1)
    ]
    if variable_of[response].numeric and response not in private and analysis_frames[0][response].n_unique() > 2:
        fits = [_linear(formula, analysis_frame, weighted=pair.weighted) for analysis_frame in analysis_frames]
    else:
        category_labels = sorted(
            {
                response_label
                for analysis_frame in analysis_frames
                for response_label in analysis_frame[response].drop_nulls().to_list()
            }
        )
        if response in private:
            category_labels = list(map(str, private[response].categories))
        plain_design = designs.direct(category_labels)
        file_designs = [plain_design, private.get(response, plain_design)]
        weight_column = _WEIGHT if pair.weighted else None
        fits = []
        for design, analysis_frame in zip(file_designs, analysis_frames, strict=True):
            fit = regression.regress(design, text, analysis_frame, weights=weight_column, missing="drop")
            value_pairs = zip(fit.coefficients.tolist(), fit.standard_errors.tolist(), strict=True)
            names = (": ".join(map(str, name_parts)) for name_parts in fit.names)
            fits.append(dict(zip(names, value_pairs, strict=True)))
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
    cells_of: dict[str, Any] = {}
    for column_name in names:
        variable = variable_of[column_name]
        if column_name in private:
            cells_of[column_name] = cells_as_labels(
                (variable.before, variable.after)[side], list(map(str, private[column_name].categories))
            )
        elif variable.numeric:
            cells_of[column_name] = pl.Series(variable.numbers[side], nan_to_null=True)
        else:
            category_codes, category_labels = variable.alike[:2][side], pl.Series(variable.alike[2], dtype=pl.String)
            cells_of[column_name] = category_labels.gather(pl.Series(np.where(category_codes < 0, 0, category_codes)))
            cells_of[column_name] = cells_of[column_name].zip_with(
                pl.Series(category_codes >= 0), pl.Series([None], dtype=pl.String)
            )
    if names[0] not in private and variable_of[names[0]].numeric:
        response_cells = pl.Series(cells_of[names[0]])
        cells_of[names[0]] = (
            texts(response_cells)
            if response_cells.n_unique() - int(response_cells.null_count() > 0) <= 2
            else response_cells
        )
    cells_of[_WEIGHT] = pair.weights[side]
    return pl.DataFrame(cells_of)


def _linear(formula: Formula, file: pl.DataFrame, *, weighted: bool) -> Coefficients:
    """Weighted least squares; standard errors by the sandwich with weights, classical without."""
    import narwhals as nw

    complete_rows = file.drop_nulls()
    if complete_rows.height < 2:
        raise DataError(f"only {complete_rows.height} people have all variables of {formula.text!r}")
    frame = nw.from_native(complete_rows)
    model_matrix = formula.matrix(
        table_of(
            {variable_name: frame[variable_name] for variable_name in formula.variables},
            np.arange(complete_rows.height),
        )
    )
    x, y, weight = model_matrix.values, complete_rows[formula.response[0]].to_numpy(), complete_rows[_WEIGHT].to_numpy()
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
    standard_errors = np.sqrt(covariance.diagonal())
    return dict(zip(model_matrix.columns, zip(beta.tolist(), standard_errors.tolist(), strict=True), strict=True))


_Z = 1.959963984540054


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Overlap of two intervals as a mean share of both; negative where they do not touch.

    ½ [(min U - max L)/(U₁ - L₁) + (min U - max L)/(U₂ - L₂)].

    Parameters
    ----------
    first, second : (float, float)
        Lower and upper bounds.

    Examples
    --------
    >>> overlap((0, 2), (1, 3)), overlap((0, 1), (2, 3))
    (0.5, -1.0)

    Source: Karr et al. (2006).
    """
    overlap_width = min(first[1], second[1]) - max(first[0], second[0])
    widths = first[1] - first[0], second[1] - second[0]
    if not all(widths):  # an interval without width, of a share of 0 or 1
        return 1.0 if first == second else float(overlap_width > 0) if any(widths) else 0.0
    return float(np.mean([overlap_width / width for width in widths]))


@dataclass(frozen=True)
class Estimated:
    """One number from both files.

    Parameters
    ----------
    name : str
    before, before_error, after, after_error : float
        Estimates and their standard errors.
    group : str
        What it belongs to, such as a formula.
    tested : bool
        Whether its sign and its distance from zero mean something, as those of a coefficient do.
    """

    name: str
    before: float
    before_error: float
    after: float
    after_error: float
    group: str = ""
    tested: bool = False

    @property
    def difference(self) -> float:
        """(after - before) in standard errors of the original."""
        moved = self.after - self.before
        return moved / self.before_error if self.before_error else float("nan") if moved else 0.0

    @property
    def overlap(self) -> float:
        """Overlap of the 95 % intervals."""
        interval_ends = [
            (value - _Z * error, value + _Z * error)
            for value, error in ((self.before, self.before_error), (self.after, self.after_error))
        ]
        return overlap(interval_ends[0], interval_ends[1])

    @property
    def verdict(self) -> str:
        """Whether a reader would conclude something else: another sign, or another test at 5 %; empty if not."""
        if not self.tested:
            return ""
        is_significant = abs(self.before) > _Z * self.before_error, abs(self.after) > _Z * self.after_error
        if any(is_significant) and np.sign(self.before) != np.sign(self.after):
            return "another sign"
        if is_significant[0] == is_significant[1]:
            return ""
        return "no longer significant" if is_significant[0] else "significant only now"

    def numbers(self) -> dict[str, object]:
        derived = {"difference": self.difference, "overlap": self.overlap, "verdict": self.verdict}
        return {**vars(self), **derived}


MODELS = ("pairs", "tree")
"""What a propensity model sees: pairs of variables, or whatever a tree finds. Main effects alone see margins only."""

_LEAST = 10  # records of both files together in a cell that gets a term
_MOST = 600  # terms of a model
_RESAMPLES = 20  # resampled files for what a tree finds where there is nothing to find
_LEAF = 20  # records in a leaf of a tree


@dataclass(frozen=True)
class Propensity:
    """The propensity score's mean squared error, pMSE = mean (ê - c)².

    ê_i is the estimated chance that record i of both files together comes from the release; c is the release's share.

    Parameters
    ----------
    model : {"pairs", "tree"}
    pmse : float
    expected : float
        For records drawn correctly from the original file itself, such as its bootstrap.
    deviation : float
        The standard deviation of pMSE in that case.
    terms : int
        Terms of the model, the constant included; leaves of a tree.
    share : float
        c.
    """

    name = "propensity"
    model: str
    pmse: float
    expected: float
    deviation: float
    terms: int
    share: float

    @property
    def ratio(self) -> float:
        """PMSE over its expectation: 0 for a copy, 1 for a correct synthesis of the file."""
        return self.pmse / self.expected if self.expected else float("nan")

    @property
    def fresh(self) -> float:
        """The ratio that a fresh sample of people would show, 1/(1 - c)."""
        return 1 / (1 - self.share)

    @property
    def standardized(self) -> float:
        """(pMSE - expected)/sd; above 2 or 3 the files can be told apart."""
        return (self.pmse - self.expected) / self.deviation if self.deviation else float("nan")

    def parts(self) -> list[Content]:
        model_texts = {"pairs": f"a logistic model with all pairs of variables ({self.terms} terms)"}
        return [
            Facts(
                (
                    ("propensity model", model_texts.get(self.model, f"a tree with {self.terms} leaves")),
                    ("pMSE", f"{self.pmse:.3g}, {self.ratio:.2f} times what a correct synthesis shows"),
                    ("a fresh sample of people", f"{self.fresh:.2f} times"),
                )
            ),
            Sentence(
                "0: the files cannot be told apart; about 1: as alike as a correct synthesis; far above what a "
                "fresh sample shows: relations between variables were lost. A gap counts as a value here, and "
                "recoded variables are compared at the level of the release.",
                small=True,
            ),
        ]

    def numbers(self) -> dict[str, object]:
        return {
            "model": self.model,
            "pmse": self.pmse,
            "expected": self.expected,
            "ratio": self.ratio,
            "fresh_sample_ratio": self.fresh,
            "standardized": self.standardized,
            "terms": self.terms,
        }


def propensity(pair: Pair, *, model: str = "pairs", seed: int = 1) -> Propensity:
    """How well the files can be told apart.

    Parameters
    ----------
    pair : Pair
    model : {"pairs", "tree"}
        A logistic model with all pairs of variables, or a classification tree (extra ``protect``). The expectation of
        the first has a formula; that of a tree is found by resampling the original. Cells with fewer than 10 records
        get no term of their own, and at most 600 terms are taken, the most common first.
    seed : int
        For the resampling.

    Raises
    ------
    DataError
        An unknown model.
    NaysayError
        A tree without scikit-learn.

    References
    ----------
    Woo et al. (2009); Snoke et al. (2018), null expectation (p - 1)(1 - c)² c/N.
    """
    check_choice(model, MODELS, what="model")
    code_columns = [np.concatenate(variable.alike[:2]) + 1 for variable in pair.variables]
    code_counts = [len(variable.alike[2]) + 1 for variable in pair.variables]
    is_released = np.repeat([0.0, 1.0], [pair.before.height, pair.after.height])
    scaled_weights = np.concatenate(
        [file_weights * len(file_weights) / file_weights.sum() for file_weights in pair.weights]
    )
    released_share = float(scaled_weights @ is_released / scaled_weights.sum())
    if model == "tree":
        return _by_tree(code_columns, is_released, scaled_weights, released_share, seed)
    return _by_terms(code_columns, code_counts, is_released, scaled_weights, released_share, pair.effective[1])


def _by_terms(
    columns: Sequence[Places],
    sizes: Sequence[int],
    released: Floats,
    weight: Floats,
    share: float,
    people: float,
    *,
    together: int = 2,
) -> Propensity:
    """The score of a logistic model with terms for up to `together` variables at once."""
    x = terms(columns, sizes, together)
    gram = (x.T @ x).toarray()
    fitted_chances = _fitted_chances(x, gram, released, weight)
    # directions of the terms' space that are there: the others are combinations of them
    directions = np.linalg.eigvalsh(gram / np.sqrt(np.outer(gram.diagonal(), gram.diagonal())))
    term_count = int((directions > directions[-1] * 1e-9).sum())
    pmse = float(weight @ (fitted_chances - share) ** 2 / weight.sum())
    null_unit = share**2 * (1 - share) ** 2 / people
    return Propensity(
        "pairs", pmse, (term_count - 1) * null_unit, np.sqrt(2 * (term_count - 1)) * null_unit, term_count, share
    )


def terms(columns: Sequence[Places], sizes: Sequence[int], together: int) -> scipy.sparse.csr_array:
    """A constant, an indicator of each value but the most common, and of each cell of such values; rare ones left out.

    Parameters
    ----------
    columns : sequence of (records,) int
    sizes : sequence of int
    together : int
        Most variables of a term.
    """
    n = len(columns[0])
    candidate_terms: list[tuple[int, Array]] = []
    common_codes = [int(np.bincount(column).argmax()) for column in columns]
    for variable_count in range(1, together + 1):
        for term_variables in combinations(range(len(columns)), variable_count):
            uncommon_rows = np.flatnonzero(
                np.all([columns[position] != common_codes[position] for position in term_variables], axis=0)
            )
            cell_numbers = np.ravel_multi_index(
                [columns[position][uncommon_rows] for position in term_variables],
                [sizes[position] for position in term_variables],
            )
            cell_order = np.argsort(cell_numbers, kind="stable")
            _, cell_starts = np.unique(cell_numbers[cell_order], return_index=True)
            candidate_terms += [
                (len(rows_of_term), uncommon_rows[rows_of_term])
                for rows_of_term in np.split(cell_order, cell_starts[1:])
                if len(rows_of_term) >= _LEAST
            ]
    term_rows = [rows_of_term for _, rows_of_term in sorted(candidate_terms, key=lambda term: -term[0])[: _MOST - 1]]
    row_numbers = np.concatenate([np.arange(n), *term_rows])
    term_numbers = np.repeat(np.arange(len(term_rows) + 1), [n, *map(len, term_rows)])
    return scipy.sparse.csr_array(
        (np.ones(len(row_numbers)), (row_numbers, term_numbers)), shape=(n, len(term_rows) + 1)
    )


def _fitted_chances(x: scipy.sparse.csr_array, gram: Floats, y: Floats, weight: Floats) -> Floats:
    """Fitted chances by Newton's method.

    A cell that only one file has sends its coefficient to infinity, while its fitted chance converges: steps end when
    the deviance does. The ridge, a billionth of the terms' size, only keeps the equations solvable.
    """
    ridge = np.diag(1e-9 * gram.diagonal())
    beta, last_deviance = np.zeros(x.shape[1]), np.inf
    for _ in range(40):
        eta = np.clip(x @ beta, -30, 30)
        fitted_chances = scipy.special.expit(eta)
        deviance = float(weight @ (np.logaddexp(0, eta) - y * eta))
        if last_deviance - deviance < 1e-9 * max(1.0, deviance):
            break
        last_deviance = deviance
        curvature_weights = weight * fitted_chances * (1 - fitted_chances)
        curvature = (x.T @ (x * curvature_weights[:, None]).tocsr()).toarray() + ridge
        beta = beta + scipy.linalg.solve(curvature, x.T @ (weight * (y - fitted_chances)), assume_a="pos")
    return np.asarray(fitted_chances)


def _by_tree(columns: Sequence[Places], released: Floats, weight: Floats, share: float, seed: int) -> Propensity:
    """The score of a classification tree; its null distribution from bootstraps of the original."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ModuleNotFoundError:
        problem = "a tree needs scikit-learn, which is not installed; get it with: pip install 'naysay[protect]'"
        raise NaysayError(f"{problem}, or ask for model='pairs'") from None
    code_table = np.column_stack(columns).astype(np.float32)
    rng = np.random.default_rng(seed)

    def score(rows: Array) -> tuple[float, int]:
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=seed)
        tree.fit(code_table[rows], released, sample_weight=weight[rows])
        fitted_chances = tree.predict_proba(code_table[rows])[:, 1]
        return float(weight[rows] @ (fitted_chances - share) ** 2 / weight[rows].sum()), int(tree.get_n_leaves())

    original_count = int((released == 0).sum())
    pmse, leaf_count = score(np.arange(len(code_table)))
    bootstrap_scores = [
        score(
            np.concatenate(
                [np.arange(original_count), rng.integers(0, original_count, len(code_table) - original_count)]
            )
        )[0]
        for _ in range(_RESAMPLES)
    ]
    return Propensity(
        "tree", pmse, float(np.mean(bootstrap_scores)), float(np.std(bootstrap_scores, ddof=1)), leaf_count, share
    )
