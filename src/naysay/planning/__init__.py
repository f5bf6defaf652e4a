"""Before the survey: how many respondents, how precise, how private, and whether randomizing pays.

`variance` is what one respondent is worth under any design; `standard_error`, `sample_size` and `power` follow, with
`difference_power` and `difference_sample_size` for two groups. `compare` puts designs beside one another, and beside
the direct question with its liars.
"""

from naysay.planning.comparison import compare
from naysay.planning.power import difference_power, power
from naysay.planning.result import Comparison, Liars, Option
from naysay.planning.size import difference_sample_size, sample_size, standard_error
from naysay.planning.variance import Variance, variance

__all__ = [
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
]
