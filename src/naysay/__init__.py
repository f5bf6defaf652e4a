"""naysay: answer sensitive questions without giving the answer away.

`designs` makes a design, `Design.randomize` draws answers, `Design.tally` counts them, `estimate` says what they tell
about the population, `privacy` what they tell about a person, and `microdata` how identifiable a file of people is.
"""

from typing import TYPE_CHECKING

from naysay._lazy import loader
from naysay.errors import AnswerError, DataError, DesignError, NaysayError, NotEstimable, StatisticalWarning

if TYPE_CHECKING:  # loaded when first asked for, as `loader` does
    from naysay import design, designs, estimate, microdata, planning, privacy, simulate
    from naysay.design import Design
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

_MODULES = ("design", "designs", "estimate", "microdata", "planning", "privacy", "simulate")

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    __getattr__, __dir__ = loader(
        __name__,
        {name: f"naysay.{name}" for name in _MODULES}
        | {"Design": "naysay.design", "Responses": "naysay.responses", "Tally": "naysay.tally"},
    )
