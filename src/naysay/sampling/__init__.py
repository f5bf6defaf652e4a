"""Complex samples: weights, strata, clusters, finite populations, replicate weights and calibration.

A `Sampling` says which columns hold them. It makes `Rows`, one for each row of data, checked and calibrated. Collapsed
to distinct answers these are a `Sampled`: all that a tally keeps, and the covariance of any weighted total.
"""

from naysay.sampling.joining import joined, restored, stored
from naysay.sampling.sampled import KINDS, LONELY, Plan, Replicates, Sampled, Units
from naysay.sampling.sampling import Rows, Sampling

__all__ = [
    "KINDS",
    "LONELY",
    "Plan",
    "Replicates",
    "Rows",
    "Sampled",
    "Sampling",
    "Units",
    "joined",
    "restored",
    "stored",
]
