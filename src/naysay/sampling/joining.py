"""Samples that are added, saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.sampling.sampled import Places, Plan, Replicates, Sampled, Units

Either = TypeVar("Either")
Both = tuple[Either, Either]


def joined(first: Sampled, second: Sampled, places: tuple[Places, Places], items: int) -> Sampled:
    """Two parts of one sample together, with the place of each one's items among those of both.

    Strata of one name are one stratum, clusters of one name in it one cluster; people add up.

    Raises
    ------
    DataError
        Samples of two kinds, calibrated weights, or populations that differ.
    """
    if isinstance(first, Replicates) and isinstance(second, Replicates):
        return _replicates(first, second, places, items)
    if not isinstance(first, Units) or not isinstance(second, Units):
        raise DataError("replicate weights add only to replicate weights; count both tallies with the same sampling")
    if first.margins.shape[1] or second.margins.shape[1]:
        raise DataError("weights were calibrated to totals of the whole; tally all rows at once")
    plan, units, strata = _plans(first.plan, second.plan)
    columns = places[0][first.item], places[1][second.item]
    totals = _sum_of_matrices((first.totals, second.totals), units, columns, (len(plan.stratum), items))
    squares = _sum_of_matrices((first.squares, second.squares), strata, columns, (len(plan.strata), items))
    return Units(plan, totals, squares, np.arange(items), np.zeros(items, dtype=np.intp), np.zeros((1, 0)), items)


def _sum_of_matrices(matrices: Both[Any], rows: Both[Places], columns: Both[Places], shape: tuple[int, int]) -> Any:
    """Two sparse matrices in a larger one, their rows and columns at these places."""
    entries = [matrix.tocoo() for matrix in matrices]
    row = np.concatenate([place[entry.row] for place, entry in zip(rows, entries, strict=True)])
    column = np.concatenate([place[entry.col] for place, entry in zip(columns, entries, strict=True)])
    values = np.concatenate([entry.data for entry in entries])
    return scipy.sparse.csr_array(scipy.sparse.coo_array((values, (row, column)), shape=shape))


def _plans(first: Plan, second: Plan) -> tuple[Plan, Both[Places], Both[Places]]:
    """Both plans together, and the places of each one's units and strata in it."""
    if (first.clusters is None) != (second.clusters is None) or first.lonely != second.lonely:
        raise DataError("the two tallies were sampled differently; count both with the same sampling")
    strata = tuple(dict.fromkeys((*first.strata, *second.strata)))
    place = {name: at for at, name in enumerate(strata)}
    fpc = np.full(len(strata), np.nan)
    moved_strata = np.array([place[name] for name in first.strata]), np.array([place[name] for name in second.strata])
    fpc[moved_strata[0]] = first.fpc
    for name, at, value in zip(second.strata, moved_strata[1].tolist(), second.fpc.tolist(), strict=True):
        if name in first.strata and not np.array_equal(fpc[at], value, equal_nan=True):
            raise DataError(
                f"stratum {name!r} has a population (fpc) of {fpc[at]:g} in one tally and {value:g} in the other"
            )
        fpc[at] = value
    stratum = np.concatenate(
        [new_places[plan.stratum] for plan, new_places in zip((first, second), moved_strata, strict=True)]
    )
    many = np.concatenate([first.many, second.many])
    size = len(first.stratum)
    if first.clusters is None or second.clusters is None:
        units = np.arange(size), size + np.arange(len(second.stratum))
        return Plan(stratum, many, strata, fpc, None, first.lonely), units, moved_strata
    keys = list(zip(stratum.tolist(), (*first.clusters, *second.clusters), strict=True))
    unit_of_key = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    unit = np.array([unit_of_key[key] for key in keys], dtype=np.intp)
    stratum_of_unit = np.array([key[0] for key in unit_of_key], dtype=np.intp)
    plan = Plan(
        stratum_of_unit, np.ones(len(unit_of_key)), strata, fpc, tuple(key[1] for key in unit_of_key), first.lonely
    )
    return plan, (unit[:size], unit[size:]), moved_strata


def _replicates(first: Replicates, second: Replicates, places: tuple[Places, Places], items: int) -> Replicates:
    if first.kind != second.kind or not np.array_equal(first.scale, second.scale):
        raise DataError(
            f"the replicate weights differ: {first} and {second}; both tallies must have the same ones, of one scale"
        )
    totals, (full, square, remains) = np.zeros((len(first.scale), items)), np.zeros((3, items))
    for replicates, place in zip((first, second), places, strict=True):
        totals[:, place] += replicates.totals
        full[place] += replicates.full
        square[place] += replicates.square
        remains[place] += replicates.remains
    degrees = max(first.degrees, second.degrees)
    return Replicates(totals, full, square, remains, first.scale, first.kind, degrees, object())


def stored(sampled: Sampled) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A sample as a JSON object and arrays, for a file."""
    if isinstance(sampled, Replicates):
        arrays = {name: getattr(sampled, name) for name in ("totals", "full", "square", "remains", "scale")}
        return {"kind": sampled.kind, "degrees": sampled.degrees}, arrays
    if not isinstance(sampled, Units):
        raise TypeError(f"no sample that can be stored: {type(sampled).__name__}")
    plan = sampled.plan
    head = {"strata": plan.strata, "clusters": plan.clusters, "lonely": plan.lonely, "items": sampled.items}
    arrays = {name: getattr(plan, name) for name in ("stratum", "many", "fpc")}
    arrays |= {name: getattr(sampled, name) for name in ("item", "cell", "margins")}
    for name in ("totals", "squares"):
        matrix = getattr(sampled, name)
        arrays |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
    return head, arrays


def restored(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Sampled:
    """The sample that was `stored`."""
    if "kind" in head:
        fields = {name: arrays[name] for name in ("totals", "full", "square", "remains", "scale")}
        return Replicates(**fields, kind=head["kind"], degrees=head["degrees"], whole=object())
    names = None if head["clusters"] is None else tuple(head["clusters"])
    plan = Plan(arrays["stratum"], arrays["many"], tuple(head["strata"]), arrays["fpc"], names, head["lonely"])
    columns = len(arrays["item"])

    def matrix(name: str, rows: int) -> scipy.sparse.csr_array:
        parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        return scipy.sparse.csr_array(parts, shape=(rows, columns))

    totals, squares = matrix("totals", len(plan.stratum)), matrix("squares", len(plan.strata))
    return Units(plan, totals, squares, arrays["item"], arrays["cell"], arrays["margins"], head["items"])
