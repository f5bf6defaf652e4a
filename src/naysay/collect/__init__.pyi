from naysay.collect import questionnaire as questionnaire
from naysay.collect.client import Client as Client
from naysay.collect.survey.published import Published as Published
from naysay.collect.survey.submission import Reader as Reader
from naysay.collect.survey.submission import Refusal as Refusal
from naysay.collect.survey.submission import Submission as Submission
from naysay.collect.survey.tallies import replies as replies
from naysay.collect.survey.tallies import tally as tally
