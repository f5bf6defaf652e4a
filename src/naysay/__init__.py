"""naysay: answer sensitive questions without giving the answer away.

`designs` makes a design, `Design.randomize` draws answers, `Design.tally` counts them, `estimate` says what they tell
about the population, `privacy` what they tell about a person, and `microdata` how identifiable a file of people is.
"""

from naysay import design, designs, estimate, microdata, planning, privacy, simulate
from naysay.design import Design
from naysay.errors import AnswerError, DataError, DesignError, NaysayError, NotEstimable, StatisticalWarning
from naysay.responses import Responses
from naysay.tally import Tally

__version__ = "0.1.0"

__all__ = [
    "AnswerError",
    "DataError",
    "Design",
    "DesignError",
    "NaysayError",
    "NotEstimable",
    "Responses",
    "StatisticalWarning",
    "Tally",
    "__version__",
    "design",
    "designs",
    "estimate",
    "microdata",
    "planning",
    "privacy",
    "simulate",
]
