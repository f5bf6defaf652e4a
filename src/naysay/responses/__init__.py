"""Response spaces: what a person may report, and how reports are stored compactly.

A space turns reports into integer codes and back. It also defines the *linear statistic* T of a response, from which
unbiased estimators are built. Codes are int64 arrays of shape (n, width); a first word of -1 means a missing answer.

=========== ============================================== =================== =======================
space       a report is                                    T(response)         d
=========== ============================================== =================== =======================
`Labels`    one label                                      indicator           number of labels
`Subsets`   a set of labels, as text ``"a;b"`` in a file   membership          number of labels
`Bits`      any set of labels, also empty or full          membership          number of labels
`Affine`    a hash and one of its values, as a number      support             number of labels
`Numbers`   a few whole numbers, as text ``"17;1"``        its design's        number of labels
`Pair`      two reports, one in each of two spaces         Kronecker product   product of the two
`Margins`   two reports about one thing                    side by side        sum of the two
=========== ============================================== =================== =======================
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
