"""naysay: answer sensitive questions without giving the answer away.

`designs` makes a design, `Design.randomize` draws answers, `Design.tally` counts them, `estimate` says what they tell
about the population, `crosstab` how they go together with other answers, `privacy` what they tell about a person, and
`microdata` how identifiable a file of people is.
"""

from naysay._lazy import loader, show_in_notebooks

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = loader(__name__, __file__)
__all__ += ["__version__"]

show_in_notebooks(__name__, "design_html", module="naysay.design.base", kind="Answerable")
