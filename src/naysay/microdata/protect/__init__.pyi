# The public names and where they live, for type checkers and for `__init__.py`, which loads what is asked for.
from naysay.microdata.protect.guarantees import Guarantee as Guarantee
from naysay.microdata.protect.guarantees import guarantee as guarantee
from naysay.microdata.protect.log import Cells as Cells
from naysay.microdata.protect.log import Log as Log
from naysay.microdata.protect.log import Step as Step
from naysay.microdata.protect.method import Method as Method
from naysay.microdata.protect.methods import METHODS as METHODS
from naysay.microdata.protect.plan import Plan as Plan
from naysay.microdata.protect.recoding import Bins as Bins
from naysay.microdata.protect.recoding import Dates as Dates
from naysay.microdata.protect.recoding import Intervals as Intervals
from naysay.microdata.protect.recoding import Recode as Recode
from naysay.microdata.protect.release import Release as Release
from naysay.microdata.protect.release import release as release
from naysay.microdata.protect.suppression import Suppress as Suppress
from naysay.microdata.protect.target import READINGS as READINGS
from naysay.microdata.protect.target import Target as Target
