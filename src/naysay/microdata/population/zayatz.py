"""People unique in the population, if its classes were of the sizes that the file's are (Zayatz 1991)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.population.uniques import NOWHERE, Sample, Uniques

ASSUMPTION = "classes of the population are of the sizes that those of the file are, so it suits large fractions only"
WITHOUT = "its bias at small fractions is many times its error, which an interval would not show"


def zayatz(sample: Sample, *, confidence: float = 0.95) -> Uniques:
    """The number of people unique in the population: U = (n₁/π) · n₁h(1)/Σ n_j h(j).

    h(j) is the probability that just one of a class of j people is drawn. It has no interval: see `WITHOUT`.

    Examples
    --------
    >>> import numpy as np
    >>> round(zayatz(Sample.of(np.repeat([1, 2, 3, 9], [300, 80, 30, 20]), 10_000)).people)
    1976

    Notes
    -----
    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample, Bureau
    of the Census, SRD Research Report RR-91/08.
    """
    unique = sample.of_size(1)
    if sample.fraction == 1:
        return Uniques("zayatz", ASSUMPTION, float(unique), (unique, unique), sample, confidence=confidence)
    chance_of_one = one_drawn(sample)
    total = float((sample.cells * chance_of_one).sum())
    right_share = unique * float(chance_of_one[sample.sizes == 1].sum()) / total if unique else math.nan
    reason = sample.reason or ("" if unique else "no record is unique")
    people = unique * right_share / sample.fraction
    return Uniques("zayatz", ASSUMPTION, people, NOWHERE, sample, {}, reason, WITHOUT, confidence)


def one_drawn(sample: Sample) -> NDArray[np.float64]:
    """The probability that just one of a class of each size is in the file: hypergeometric (N, j, n).

    h(j) = jπ Π_{i=0}^{j-2} (N - n - i)/(N - 1 - i); logarithms, as factors of N above 2³¹ must not be multiplied.
    """
    n, people = sample.records, sample.population
    before = np.arange(int(sample.sizes.max()) - 1, dtype=np.float64)
    others_outside = np.maximum(people - n - before, 0)  # nobody else can be left out
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log(others_outside) - np.log(people - 1 - before))])
    return np.asarray(sample.sizes * sample.fraction * np.exp(logs[sample.sizes - 1]), np.float64)
