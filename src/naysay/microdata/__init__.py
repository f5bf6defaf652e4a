"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells."""

from typing import TYPE_CHECKING

from naysay._lazy import loader

if TYPE_CHECKING:  # loaded when first asked for, as `loader` does
    from naysay.microdata import panel
    from naysay.microdata.combinations.contributions import Contribution, Contributions, contributions
    from naysay.microdata.combinations.finished import Combination
    from naysay.microdata.combinations.plan import SearchPlan, search_plan
    from naysay.microdata.combinations.recodings import Recoding, Recodings, recodings
    from naysay.microdata.combinations.search import Search, search
    from naysay.microdata.combinations.standout import KeySet, StandOut, stand_out, stand_out_of
    from naysay.microdata.keys.candidates import Between, Chances, Either, Form, Joined, Privatized
    from naysay.microdata.keys.variables import Keys
    from naysay.microdata.matching.cost import Cost, Plan, explain
    from naysay.microdata.matching.histogram import Histogram, attached, histogram
    from naysay.microdata.matching.matches import anonymity, matches
    from naysay.microdata.population.expected import expected_matches
    from naysay.microdata.population.informed import Informed
    from naysay.microdata.population.theta import Intrusion, Theta, data_intrusion_simulation, theta
    from naysay.microdata.risk.diversity import Diversity, diversity
    from naysay.microdata.risk.listwise import Listwise
    from naysay.microdata.risk.matched import Matches
    from naysay.microdata.risk.scenarios import SCENARIOS, Identification, Scenario, identification
    from naysay.microdata.risk.table import QuasiIdentifier, RiskTable, risk_table

_HOMES = {
    "combinations.contributions": ("Contribution", "Contributions", "contributions"),
    "combinations.finished": ("Combination",),
    "combinations.recodings": ("Recoding", "Recodings", "recodings"),
    "combinations.plan": ("SearchPlan", "search_plan"),
    "combinations.search": ("Search", "search"),
    "combinations.standout": ("KeySet", "StandOut", "stand_out", "stand_out_of"),
    "keys.candidates": ("Between", "Chances", "Either", "Form", "Joined", "Privatized"),
    "keys.variables": ("Keys",),
    "matching.cost": ("Cost", "Plan", "explain"),
    "matching.histogram": ("Histogram", "attached", "histogram"),
    "matching.matches": ("anonymity", "matches"),
    "panel": ("panel",),
    "population.expected": ("expected_matches",),
    "population.informed": ("Informed",),
    "population.theta": ("Intrusion", "Theta", "data_intrusion_simulation", "theta"),
    "risk.diversity": ("Diversity", "diversity"),
    "risk.scenarios": ("SCENARIOS", "Identification", "Scenario", "identification"),
    "risk.listwise": ("Listwise",),
    "risk.matched": ("Matches",),
    "risk.table": ("QuasiIdentifier", "RiskTable", "risk_table"),
}
"""The module of each public name. No room has the name of a function: it would hide that function once imported."""

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

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    __getattr__, __dir__ = loader(
        __name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}
    )
