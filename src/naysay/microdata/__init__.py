"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells."""

from naysay.microdata import panel
from naysay.microdata.anonymity import anonymity
from naysay.microdata.candidates import Between, Chances, Either, Form, Joined, Privatized
from naysay.microdata.contributions import Contribution, Contributions, contributions
from naysay.microdata.cost import Cost, Plan, explain
from naysay.microdata.diversity import Diversity, diversity
from naysay.microdata.expected import expected_matches
from naysay.microdata.histogram import Histogram, attached, histogram
from naysay.microdata.informed import Informed
from naysay.microdata.keys import Keys
from naysay.microdata.matches import matches
from naysay.microdata.population import Intrusion, Theta, data_intrusion_simulation, theta
from naysay.microdata.recodings import Recoding, Recodings, recodings
from naysay.microdata.risk import Listwise, Matches, QuasiIdentifier, RiskTable, risk_table
from naysay.microdata.scenarios import SCENARIOS, Identification, Scenario, identification
from naysay.microdata.search import Combination, Search, SearchPlan, search, search_plan
from naysay.microdata.standout import KeySet, StandOut, stand_out, stand_out_of

__all__ = [
    "SCENARIOS",
    "Between",
    "Chances",
    "Combination",
    "Contribution",
    "Contributions",
    "Cost",
    "Diversity",
    "Either",
    "Form",
    "Histogram",
    "Identification",
    "Informed",
    "Intrusion",
    "Joined",
    "KeySet",
    "Keys",
    "Listwise",
    "Matches",
    "Plan",
    "Privatized",
    "QuasiIdentifier",
    "Recoding",
    "Recodings",
    "RiskTable",
    "Scenario",
    "Search",
    "SearchPlan",
    "StandOut",
    "Theta",
    "anonymity",
    "attached",
    "contributions",
    "data_intrusion_simulation",
    "diversity",
    "expected_matches",
    "explain",
    "histogram",
    "identification",
    "matches",
    "panel",
    "recodings",
    "risk_table",
    "search",
    "search_plan",
    "stand_out",
    "stand_out_of",
    "theta",
]
