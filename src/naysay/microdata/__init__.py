"""How identifiable respondents are in a file: anonymity sets and matches, with missing and uncertain cells."""

from typing import TYPE_CHECKING

from naysay._lazy import loader

if TYPE_CHECKING:  # loaded when first asked for, as `loader` does; "as" says that they are public
    from naysay.microdata import panel as panel
    from naysay.microdata.combinations.contributions import Contribution as Contribution
    from naysay.microdata.combinations.contributions import Contributions as Contributions
    from naysay.microdata.combinations.contributions import contributions as contributions
    from naysay.microdata.combinations.finished import Combination as Combination
    from naysay.microdata.combinations.plan import SearchPlan as SearchPlan
    from naysay.microdata.combinations.plan import search_plan as search_plan
    from naysay.microdata.combinations.recodings import Recoding as Recoding
    from naysay.microdata.combinations.recodings import Recodings as Recodings
    from naysay.microdata.combinations.recodings import recodings as recodings
    from naysay.microdata.combinations.search import Search as Search
    from naysay.microdata.combinations.search import search as search
    from naysay.microdata.combinations.standout import KeySet as KeySet
    from naysay.microdata.combinations.standout import StandOut as StandOut
    from naysay.microdata.combinations.standout import stand_out as stand_out
    from naysay.microdata.combinations.standout import stand_out_of as stand_out_of
    from naysay.microdata.keys.candidates import Between as Between
    from naysay.microdata.keys.candidates import Chances as Chances
    from naysay.microdata.keys.candidates import Either as Either
    from naysay.microdata.keys.candidates import Form as Form
    from naysay.microdata.keys.candidates import Joined as Joined
    from naysay.microdata.keys.candidates import Privatized as Privatized
    from naysay.microdata.keys.variables import Keys as Keys
    from naysay.microdata.matching.cost import Cost as Cost
    from naysay.microdata.matching.cost import Plan as Plan
    from naysay.microdata.matching.cost import explain as explain
    from naysay.microdata.matching.histogram import Histogram as Histogram
    from naysay.microdata.matching.histogram import attached as attached
    from naysay.microdata.matching.histogram import histogram as histogram
    from naysay.microdata.matching.matches import anonymity as anonymity
    from naysay.microdata.matching.matches import matches as matches
    from naysay.microdata.population.expected import expected_matches as expected_matches
    from naysay.microdata.population.informed import Informed as Informed
    from naysay.microdata.population.theta import Intrusion as Intrusion
    from naysay.microdata.population.theta import Theta as Theta
    from naysay.microdata.population.theta import data_intrusion_simulation as data_intrusion_simulation
    from naysay.microdata.population.theta import theta as theta
    from naysay.microdata.risk.diversity import Diversity as Diversity
    from naysay.microdata.risk.diversity import diversity as diversity
    from naysay.microdata.risk.listwise import Listwise as Listwise
    from naysay.microdata.risk.matched import Matches as Matches
    from naysay.microdata.risk.scenarios import SCENARIOS as SCENARIOS
    from naysay.microdata.risk.scenarios import Identification as Identification
    from naysay.microdata.risk.scenarios import Scenario as Scenario
    from naysay.microdata.risk.scenarios import identification as identification
    from naysay.microdata.risk.table import QuasiIdentifier as QuasiIdentifier
    from naysay.microdata.risk.table import RiskTable as RiskTable
    from naysay.microdata.risk.table import risk_table as risk_table

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

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    __getattr__, __dir__ = loader(
        __name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}
    )
