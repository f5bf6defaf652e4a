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

# ruff: noqa: F403, PLE0604 (the modules' own lists)
from naysay.responses.affine import *
from naysay.responses.affine import __all__ as _affine
from naysay.responses.cells import *
from naysay.responses.cells import __all__ as _cells
from naysay.responses.numbers import *
from naysay.responses.numbers import __all__ as _numbers
from naysay.responses.sets import *
from naysay.responses.sets import __all__ as _sets
from naysay.responses.several import *
from naysay.responses.several import __all__ as _several
from naysay.responses.spaces import *
from naysay.responses.spaces import __all__ as _spaces

__all__ = [*_affine, *_cells, *_numbers, *_sets, *_several, *_spaces]
