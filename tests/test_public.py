"""What `naysay` offers by name: a list that others may rely on."""

import importlib

import pytest

import naysay
from naysay import design, estimate, privacy, report, simulate

MODULES = ("crosstab", "design", "designs", "estimate", "planning", "privacy", "simulate")

PLANNING = {
    "Comparison",
    "Liars",
    "Option",
    "Variance",
    "arm_shares",
    "compare",
    "control_costs",
    "dependable_level",
    "detectable",
    "detection_power",
    "detection_size",
    "difference_power",
    "difference_sample_size",
    "lead_power",
    "lead_sample_size",
    "power",
    "sample_size",
    "standard_error",
    "standing_out",
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


def test_what_devices_need_stands_at_the_front_door():
    for name in ("audit", "batches", "client", "ledger", "prices"):
        assert getattr(naysay, name) is importlib.import_module(f"naysay.telemetry.{name}")
    assert naysay.questionnaire is importlib.import_module("naysay.collect.questionnaire")


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


NEED_A_DESIGN = {
    "skewed": simulate.skewed,
    "tied": lambda given: simulate.tied(given, hiding=["yes"]),
    "population": lambda given: simulate.equal(2).of(given),
    "leverage": estimate.leverage,
    "default": estimate.default,
    "suitable": estimate.suitable,
    "posterior": lambda given: privacy.posterior(given, ["yes"]),
    "gain": lambda given: privacy.gain(given, ["yes"]),
    "channels_about": lambda given: privacy.channels_about(given, [[1, 0], [0, 1]]),
    "protocols": design.protocols,
    "flowchart": report.flowchart,
    "posterior chart": lambda given: report.posterior(given, "yes"),
}
NEED_AN_ESTIMATE = {
    "noncompliance_band": estimate.noncompliance_band,
    "probability_band": estimate.probability_band,
    "differences": lambda given: estimate.differences({"f": given, "m": given}),
    "estimate_html": report.estimate_html,
    "estimate_section": report.estimate_section,
}


@pytest.mark.parametrize("given", ["warner(p=0.7)", None, 3], ids=repr)
@pytest.mark.parametrize("call", [*NEED_A_DESIGN, *NEED_AN_ESTIMATE])
def test_what_is_no_design_or_estimate_is_named(call, given):
    kind = type(given).__name__
    with pytest.raises(naysay.NaysayError, match=rf"(design|an estimate).*; got {kind}$"):
        (NEED_A_DESIGN | NEED_AN_ESTIMATE)[call](given)
