"""Planning a survey: how many respondents, how precise, how private, and whether randomizing pays.

`variance` gives the variance that one respondent contributes under any design. From it follow `standard_error`,
`dependable_level`, `sample_size` and `power`, for who leads `lead_power` and `lead_sample_size`, and for two groups
`difference_power` and `difference_sample_size`. `compare` compares designs with one another, and with the direct
question, to which some people lie. `detectable` is the least share that shows that a category exists; `standing_out`
finds such categories.
`detection_size` says how many respondents a control needs to show that some do not comply; `detection_power` how
often it does. `control_costs` says what controls cost; `arm_shares` how many to put into each arm.
"""

from naysay.planning.comparison import Comparison, Liars, Option, compare
from naysay.planning.controls import arm_shares, control_costs, detection_power, detection_size
from naysay.planning.power import (
    dependable_level,
    detectable,
    difference_power,
    difference_sample_size,
    lead_power,
    lead_sample_size,
    power,
    sample_size,
    standard_error,
    standing_out,
)
from naysay.planning.variance import Variance, variance

__all__ = [
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
]
