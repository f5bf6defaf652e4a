"""Privacy: what an answer reveals about the person who gave it.

Privacy is computed from P(response | category), the same rows that estimation uses. An ε of ∞ is allowed; it always
comes with its reason and with the categories that an answer leaves open. For a design of several levels or samples,
every function returns a dict with one entry for each.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
