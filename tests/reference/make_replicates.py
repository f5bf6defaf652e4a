"""Draw the survey whose replicate weights `replicates.json` holds R's numbers for; see `survey` for what is drawn.

python tests/reference/make_replicates.py file.csv    # then in R: see the "how" of replicates.json
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import scipy

SIZES = (2, 3, 4, 3, 2, 4, 3, 3)
"""Clusters of each stratum of the jackknife."""


def survey() -> tuple[pl.DataFrame, list[float]]:
    """240 people in 24 clusters with five sets of replicate weights, and the scales of the stratified jackknife."""
    rng = np.random.default_rng(1969)
    people, clusters = 240, 24
    cluster = np.repeat(np.arange(clusters), people // clusters)
    weight = rng.integers(5, 50, people) / 10
    shift = rng.normal(0, 0.5, clusters)[cluster]
    z = rng.integers(0, 10, people)
    yes = (rng.random(people) < 1 / (1 + np.exp(0.4 - 0.1 * z - shift))).astype(int)
    columns = {"y": yes, "group": rng.choice(["a", "b", "c"], people), "z": z, "w": weight}
    signs = scipy.linalg.hadamard(16)[:, 1:13]  # 12 pairs of clusters
    side = np.where(np.arange(clusters) % 2, -1, 1)
    halves = signs[:, np.arange(clusters) // 2] * side
    sets = {"brr": 1 + halves, "fay": 1 + 0.7 * halves}
    sets["bs"] = np.array([np.bincount(rng.integers(0, clusters, clusters), minlength=clusters) for _ in range(80)])
    sets["jka"] = (1 - np.eye(clusters)) * clusters / (clusters - 1)
    stratum = np.repeat(np.arange(len(SIZES)), SIZES)
    size = np.array(SIZES)[stratum]
    within = np.where(stratum[:, None] == stratum, (size / (size - 1))[:, None], 1.0)
    sets["jkn"] = within * (1 - np.eye(clusters))
    for name, factors in sets.items():
        columns |= {f"{name}{i}": weight * row[cluster] for i, row in enumerate(factors, 1)}
    return pl.DataFrame(columns), ((size - 1) / size).tolist()


if __name__ == "__main__":
    frame, scales = survey()
    frame.write_csv(sys.argv[1])
    Path(sys.argv[1]).with_suffix(".scales").write_text("\n".join(map(repr, scales)))
