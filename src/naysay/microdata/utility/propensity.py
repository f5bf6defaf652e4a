"""Whether a statistician who sees both files can tell a record of the release from one of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import NaysayError
from naysay.microdata.keys.table import check_choice
from naysay.microdata.utility.paired import Pair
from naysay.show import Content, Facts, Sentence

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

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

    def content(self) -> list[Content]:
        kind = {"pairs": f"a logistic model with all pairs of variables ({self.terms} terms)"}
        return [
            Facts(
                (
                    ("propensity model", kind.get(self.model, f"a tree with {self.terms} leaves")),
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

    def fields(self) -> dict[str, Any]:
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
    columns = [np.concatenate(variable.alike[:2]) + 1 for variable in pair.variables]
    sizes = [len(variable.alike[2]) + 1 for variable in pair.variables]
    released = np.repeat([0.0, 1.0], [pair.before.height, pair.after.height])
    weight = np.concatenate([file_weights * len(file_weights) / file_weights.sum() for file_weights in pair.weights])
    share = float(weight @ released / weight.sum())
    if model == "tree":
        return _by_tree(columns, released, weight, share, seed)
    return _by_terms(columns, sizes, released, weight, share, pair.effective[1])


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
    fitted = _logistic(x, gram, released, weight)
    number = int(_independent(gram).sum())
    pmse = float(weight @ (fitted - share) ** 2 / weight.sum())
    unit = share**2 * (1 - share) ** 2 / people
    return Propensity("pairs", pmse, (number - 1) * unit, np.sqrt(2 * (number - 1)) * unit, number, share)


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
    candidate_terms: list[tuple[int, NDArray[Any]]] = []
    common = [int(np.bincount(column).argmax()) for column in columns]
    for number in range(1, together + 1):
        for term_variables in combinations(range(len(columns)), number):
            uncommon_rows = np.flatnonzero(
                np.all([columns[position] != common[position] for position in term_variables], axis=0)
            )
            cell = np.ravel_multi_index(
                [columns[position][uncommon_rows] for position in term_variables],
                [sizes[position] for position in term_variables],
            )
            order = np.argsort(cell, kind="stable")
            _, starts = np.unique(cell[order], return_index=True)
            candidate_terms += [
                (len(rows), uncommon_rows[rows]) for rows in np.split(order, starts[1:]) if len(rows) >= _LEAST
            ]
    term_rows = [rows for _, rows in sorted(candidate_terms, key=lambda term: -term[0])[: _MOST - 1]]
    rows = np.concatenate([np.arange(n), *term_rows])
    places = np.repeat(np.arange(len(term_rows) + 1), [n, *map(len, term_rows)])
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=(n, len(term_rows) + 1))


def _independent(gram: Floats) -> NDArray[np.bool_]:
    """Which directions of the terms' space are there: the others are combinations of them."""
    values = np.linalg.eigvalsh(gram / np.sqrt(np.outer(gram.diagonal(), gram.diagonal())))
    return np.asarray(values > values[-1] * 1e-9)


def _logistic(x: scipy.sparse.csr_array, gram: Floats, y: Floats, weight: Floats) -> Floats:
    """Fitted chances by Newton's method.

    A cell that only one file has sends its coefficient to infinity, while its fitted chance converges: steps end when
    the deviance does. The ridge, a billionth of the terms' size, only keeps the equations solvable.
    """
    ridge = np.diag(1e-9 * gram.diagonal())
    beta, before = np.zeros(x.shape[1]), np.inf
    for _ in range(40):
        eta = np.clip(x @ beta, -30, 30)
        fitted = scipy.special.expit(eta)
        deviance = float(weight @ (np.logaddexp(0, eta) - y * eta))
        if before - deviance < 1e-9 * max(1.0, deviance):
            break
        before = deviance
        curvature_weights = weight * fitted * (1 - fitted)
        curvature = (x.T @ (x * curvature_weights[:, None]).tocsr()).toarray() + ridge
        beta = beta + scipy.linalg.solve(curvature, x.T @ (weight * (y - fitted)), assume_a="pos")
    return np.asarray(fitted)


def _by_tree(columns: Sequence[Places], released: Floats, weight: Floats, share: float, seed: int) -> Propensity:
    """The score of a classification tree; its null distribution from bootstraps of the original."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ModuleNotFoundError:
        problem = "a tree needs scikit-learn, which is not installed; get it with: pip install 'naysay[protect]'"
        raise NaysayError(f"{problem}, or ask for model='pairs'") from None
    table = np.column_stack(columns).astype(np.float32)
    rng = np.random.default_rng(seed)

    def score(rows: NDArray[Any]) -> tuple[float, int]:
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=seed)
        tree.fit(table[rows], released, sample_weight=weight[rows])
        fitted = tree.predict_proba(table[rows])[:, 1]
        return float(weight[rows] @ (fitted - share) ** 2 / weight[rows].sum()), int(tree.get_n_leaves())

    first = int((released == 0).sum())
    pmse, leaves = score(np.arange(len(table)))
    bootstrap_scores = [
        score(np.concatenate([np.arange(first), rng.integers(0, first, len(table) - first)]))[0]
        for _ in range(_RESAMPLES)
    ]
    return Propensity(
        "tree", pmse, float(np.mean(bootstrap_scores)), float(np.std(bootstrap_scores, ddof=1)), leaves, share
    )
