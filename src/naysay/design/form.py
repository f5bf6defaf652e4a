"""Reading designs back from JSON; every integer is checked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from naysay.design.algebra import Both, Product, Then, mixture_of_form
from naysay.design.answerable import Answerable
from naysay.design.channels import Subset, Table, TwoOption, WeightedSubset
from naysay.design.exact import flag, integer
from naysay.design.offer import Levels
from naysay.design.shares import Share
from naysay.design.stacked import Samples
from naysay.errors import DesignError
from naysay.tally.stored import register_reader

__all__ = ["VERSION", "load", "read"]

VERSION = 1


def read(text: str | Mapping[str, Any]) -> Answerable:
    """The design, offer of levels or design of samples that a JSON text or object describes.

    Parameters
    ----------
    text : str or mapping
        What `to_json` wrote, as text or as the object that it stands for.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        Text that is no JSON, or JSON that is no design of this version; says what is wrong.

    Examples
    --------
    >>> from naysay import designs
    >>> read(designs.warner(p=0.7).to_json())
    <warner(p=0.7): 2 categories>
    """
    try:
        whole = json.loads(text) if isinstance(text, str) else text
    except (json.JSONDecodeError, RecursionError) as error:
        raise DesignError(f"a design's JSON must be readable; {error}") from None
    if not isinstance(whole, Mapping) or whole.get("naysay") != "design":
        raise DesignError('a design\'s JSON must be an object with "naysay": "design"')
    if whole.get("version") != VERSION:
        raise DesignError(f"this naysay reads designs of version {VERSION}; got version {whole.get('version')!r}")
    return of_node(whole.get("design"))


def load(path: str | Path) -> Answerable:
    """The design, offer of levels or design of samples in a JSON file.

    Parameters
    ----------
    path : str or Path
        A file of UTF-8 text, as `to_json` writes it.

    Returns
    -------
    Design, Levels or Samples

    Raises
    ------
    DesignError
        No such file, one that cannot be read, or one that holds no design of this version.

    Examples
    --------
    >>> import tempfile
    >>> from naysay import designs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "income.json")
    ...     written = path.write_text(designs.negative(("low", "middle", "high")).to_json(), encoding="utf-8")
    ...     load(path)
    <negative(): 3 categories>
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DesignError(f"there is no design file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DesignError(f"cannot read the design file {str(path)!r}: {error}") from None
    return read(text)


def of_node(node: Any) -> Answerable:
    """The design that one object of the tree describes."""
    try:
        labels = {key: _labels(node[key]) for key in ("categories", "responses") if key in node}
        design = _KINDS[node["kind"]]({**node, **labels})
        ends = tuple(of_node(end) for end in node.get("alternatives", ()))
        return replace(design, alternatives=ends) if ends else design
    except DesignError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        kind = node.get("kind") if isinstance(node, Mapping) else node
        raise DesignError(
            f"a design's JSON must be of a known kind ({', '.join(_KINDS)}) with its fields complete; "
            f"got kind {kind!r} and stumbled over {error!r}"
        ) from None


def _labels(labels: Any) -> tuple[Any, ...]:
    """Labels as they were before JSON made lists of tuples."""
    return tuple(_labels(label) if isinstance(label, list) else label for label in labels)


def _mixture(node: Any) -> Answerable:
    parts = [of_node(part) for part in node["components"]]
    return mixture_of_form([integer(weight) for weight in node["weights"]], parts, node.get("name", ""))


def _then(node: Any) -> Answerable:
    return Then.of(of_node(node["first"]), of_node(node["second"]))


def _product(node: Any) -> Answerable:
    return Product.of(of_node(node["first"]), of_node(node["second"]))


def _both(node: Any) -> Answerable:
    return Both.of(of_node(node["first"]), of_node(node["second"]))


def _levels(node: Any) -> Answerable:
    offer = {entry["level"]: of_node(entry["design"]) for entry in node["levels"]}
    if len(offer) != len(node["levels"]):
        raise DesignError("the levels of an offer must differ")
    return Levels.of(offer, name=node.get("name", ""), notes=tuple(node.get("notes", ())))


def _samples(node: Any) -> Answerable:
    samples = {_key(entry["sample"]): of_node(entry["design"]) for entry in node["samples"]}
    if len(samples) != len(node["samples"]):
        raise DesignError("the samples of a design must differ")
    shares, nuisance = ([_share(entry) for entry in node[field]] for field in ("shares", "nuisance"))
    told = {"name": node.get("name", ""), "notes": tuple(node.get("notes", ()))}
    compliance = flag(node["measures_compliance"])
    return Samples.of(samples, shares=shares, nuisance=nuisance, measures_compliance=compliance, **told)


def _share(node: Any) -> Share:
    return Share(_key(node["share"]), _labels(node["of"]), _labels(node["among"]))


def _key(label: Any) -> Any:
    return _labels(label) if isinstance(label, list) else label


_KINDS: dict[str, Callable[[Any], Answerable]] = {
    "table": Table.of_form,
    "two_option": TwoOption.of_form,
    "subset": Subset.of_form,
    "weighted_subset": WeightedSubset.of_form,
    "mixture": _mixture,
    "then": _then,
    "product": _product,
    "levels": _levels,
    "samples": _samples,
    "both": _both,
}

register_reader(of_node)
