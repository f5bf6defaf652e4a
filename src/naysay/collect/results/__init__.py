"""The results of a survey while replies come: as a page, as data, and as a page that others may read.

Numbers are those of ``naysay estimate --survey``. They come from tallies that are kept while replies are stored, so
that a page opens as quickly after a million replies as after a hundred.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
