"""What `naysay` offers by name: a list that others may rely on."""

import importlib

import pytest

import naysay

MODULES = ("design", "designs", "estimate", "planning", "privacy", "simulate")

PLANNING = {
    "Comparison",
    "Liars",
    "Option",
    "Variance",
    "compare",
    "difference_power",
    "difference_sample_size",
    "power",
    "sample_size",
    "standard_error",
    "variance",
}
SIMULATE = {
    "ESTIMATORS",
    "HONEST",
    "POPULATIONS",
    "Behavior",
    "Measure",
    "Population",
    "Runs",
    "Simulation",
    "Summary",
    "Survey",
    "column",
    "counts",
    "equal",
    "exponential",
    "log_normal",
    "normal",
    "population",
    "replicate",
    "shares",
    "skewed",
    "tied",
    "uniform",
}


def test_the_modules_are_there():
    assert set(MODULES) <= set(naysay.__all__)
    assert all(getattr(naysay, name) is importlib.import_module(f"naysay.{name}") for name in MODULES)


@pytest.mark.parametrize(("module", "names"), [("planning", PLANNING), ("simulate", SIMULATE)])
def test_public_names(module, names):
    assert set(getattr(naysay, module).__all__) == names


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_documented(module):
    found = getattr(naysay, module)
    for name in found.__all__:
        value = getattr(found, name)
        if callable(value):
            assert value.__doc__, f"{module}.{name}"
