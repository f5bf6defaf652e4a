"""Probabilistic linkage after Fellegi and Sunter, by splink on DuckDB (extra ``linkage``)."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError, NaysayError
from naysay.microdata.attack.aligned import texts
from naysay.microdata.attack.register import Register
from naysay.microdata.attack.success import Linked

__all__ = ["probabilistic"]

_PAIRS = 3_000_000
_LEAST = 100  # people, however many records there are
_EVEN = 0.5
_NEAR = (0.1, 0.5)  # standard deviations within which two numbers are nearly the same


def probabilistic(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Name the record with the largest probability; or only where that is at least a half.

    The chances that a key agrees for one person (m) are found by the EM algorithm, those that it agrees for two
    different ones (u) from random pairs; agreement on a rare value counts more. A gap is no evidence. Every person is
    compared with every record, so that of many people some are drawn: 3 million pairs, of at least 100 people.

    Parameters
    ----------
    register : Register
    seed : int
        For the people and the random pairs.

    Raises
    ------
    NaysayError
        Without the extra ``linkage``.
    DataError
        A single key: chances are learned from how keys agree together.
    """
    try:
        import splink
    except ModuleNotFoundError as error:
        told = f"probabilistic linkage needs {error.name}, which is not installed"
        raise NaysayError(f"{told}; get it with: pip install 'naysay[linkage]'") from None
    if len(register.keys) < 2:
        raise DataError("probabilistic linkage needs at least two keys: it learns from how they agree together")
    people = register.people.height
    drawn = np.arange(people)
    if people * register.release.height > _PAIRS:
        most = min(people, max(_LEAST, _PAIRS // register.release.height))
        drawn = np.sort(np.random.default_rng(seed).choice(people, most, replace=False))
    part = register.take(drawn)
    linker = _linker(splink, part)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=seed)
    for place in range(2):  # a key is learned while another one is known to agree
        linker.training.estimate_parameters_using_expectation_maximisation(splink.block_on(f"key_{place}"))
    found = pl.DataFrame(pl.from_arrow(linker.inference.predict().as_pyarrow_table()))
    made, right, chance = _best(found, part)
    every = np.zeros((3, people))
    every[:, drawn] = made, right, chance
    tried = np.isin(np.arange(people), drawn)
    return {
        "probabilistic": Linked(every[0] > 0, every[1], tried),
        "probabilistic, at least even": Linked((every[0] > 0) & (every[2] >= _EVEN), every[1], tried),
    }


def _linker(splink: Any, register: Register) -> Any:
    """The linker of both tables."""
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons

    logging.getLogger("splink").setLevel(logging.ERROR)
    api = splink.DuckDBAPI()
    tables = []
    compared: list[Any] = []
    for side, frame in ((0, register.people), (1, register.release)):
        columns: dict[str, Any] = {"unique_id": np.arange(frame.height)}
        for place, name in enumerate(register.keys):
            numeric = all(each[name].dtype.is_numeric() for each in (register.people, register.release))
            columns[f"key_{place}"] = frame[name].cast(pl.Float64) if numeric else texts(frame[name])
            if side == 0 and numeric:
                unit = float(np.nanstd(register.release[name].cast(pl.Float64).to_numpy())) or 1.0
                near = [levels.AbsoluteDifferenceLevel(f"key_{place}", unit * each) for each in _NEAR]
                steps = [levels.NullLevel(f"key_{place}"), levels.ExactMatchLevel(f"key_{place}"), *near]
                compared.append(
                    comparisons.CustomComparison([*steps, levels.ElseLevel()], output_column_name=f"key_{place}")
                )
            elif side == 0:
                compared.append(comparisons.ExactMatch(f"key_{place}").configure(term_frequency_adjustments=True))
        name = ("people", "records")[side]
        tables.append(api.register(pl.DataFrame(columns).to_arrow(), dataset_display_name=name))
    settings = splink.SettingsCreator(
        link_type="link_only",
        comparisons=compared,
        blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=min(0.5, 1 / register.release.height),
        retain_matching_columns=False,
    )
    return splink.Linker(tables, settings, log_level=None)


def _best(found: pl.DataFrame, register: Register) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each person whether there is a most probable record, the chance that it is theirs, and what splink says."""
    made, right, chance = (np.zeros(register.people.height) for _ in range(3))
    left = pl.col("source_dataset_l") == "people"
    pairs = found.select(
        pl.when(left).then("unique_id_l").otherwise("unique_id_r").cast(pl.Int64).alias("person"),
        pl.when(left).then("unique_id_r").otherwise("unique_id_l").cast(pl.Int64).alias("record"),
        "match_weight",
        "match_probability",
    )
    best = pairs.filter(pl.col("match_weight") >= pl.col("match_weight").max().over("person") - 1e-9)
    hit = best["record"] == pl.Series(register.own).gather(best["person"])
    told = (
        best.with_columns(hit.alias("hit"))
        .group_by("person")
        .agg(pl.col("hit").mean(), pl.col("match_probability").max())
    )
    rows = told["person"].to_numpy()
    made[rows], right[rows], chance[rows] = 1.0, told["hit"].to_numpy(), told["match_probability"].to_numpy()
    return made, right, chance
