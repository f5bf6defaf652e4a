"""Made-up people for regressions: covariates, true categories and what they said."""

import numpy as np


def people(n, beta, rng, *, categories=("yes", "no")):
    """A table with a number x and a text g of n people, and their true categories; beta is (t - 1, 3)."""
    table = {"x": rng.normal(size=n), "g": rng.choice(["f", "m"], n)}
    z = np.column_stack([np.ones(n), table["x"], table["g"] == "m"])
    odds = np.column_stack([np.exp(z @ np.reshape(beta, (-1, 3)).T), np.ones(n)])
    shares = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    return table, np.array(categories)[(rng.random(n)[:, None] > shares).sum(axis=1)]


def asked(design, truth, rng, **options):
    """What people say under a design: texts, of two questions a pair, and the level or sample of each."""
    said = design.randomize(truth, rng=rng, **options)
    texts = said.texts() if design.space.answers == 1 else tuple(part.texts() for part in said.parts)
    return texts, said.level
