"""Who is in which category: logistic and multinomial regression of the true category, from randomized answers.

`regress` takes a design, a formula and a table, and gives a `Regression`. It needs the extra ``regression``.
"""

from naysay.regression.fitted import Effects, Predictions, Test
from naysay.regression.fitting import regress
from naysay.regression.lists import ListRegression, regress_list
from naysay.regression.outcome import OutcomeRegression, regress_outcome
from naysay.regression.reading import FUNCTIONS
from naysay.regression.result import Regression

__all__ = [
    "FUNCTIONS",
    "Effects",
    "ListRegression",
    "OutcomeRegression",
    "Predictions",
    "Regression",
    "Test",
    "regress",
    "regress_list",
    "regress_outcome",
]
