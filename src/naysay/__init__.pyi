from naysay import crosstab as crosstab
from naysay import design as design
from naysay import designs as designs
from naysay import estimate as estimate
from naysay import microdata as microdata
from naysay import planning as planning
from naysay import privacy as privacy
from naysay import regression as regression
from naysay import simulate as simulate
from naysay.collect import questionnaire as questionnaire
from naysay.design import Design as Design
from naysay.errors import AnswerError as AnswerError
from naysay.errors import DataError as DataError
from naysay.errors import DesignError as DesignError
from naysay.errors import NaysayError as NaysayError
from naysay.errors import NotEstimable as NotEstimable
from naysay.errors import StatisticalWarning as StatisticalWarning
from naysay.report import design_html as design_html
from naysay.responses import Responses as Responses
from naysay.sampling import Sampling as Sampling
from naysay.tally import Tally as Tally
from naysay.telemetry import audit as audit
from naysay.telemetry import batches as batches
from naysay.telemetry import client as client
from naysay.telemetry import ledger as ledger
from naysay.telemetry import prices as prices

__version__: str
