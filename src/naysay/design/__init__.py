"""Designs: P(response | category), its algebra, its JSON form and exact drawing.

A `Design` is one channel. `Levels` offers several designs, of which each respondent picks one. `Samples` gives each
sample a design of its own. ``a * b`` puts two questions to one person: a `Product`, or a `Crossed` where a question has
levels or samples. Families of designs are functions in `naysay.designs`. Each module's ``__all__`` lists what it adds
here.
"""

# ruff: noqa: F403, PLE0604 (the modules' own lists)
from naysay.design.affine import *
from naysay.design.affine import __all__ as _affine
from naysay.design.algebra import *
from naysay.design.algebra import __all__ as _algebra
from naysay.design.base import *
from naysay.design.base import __all__ as _base
from naysay.design.channels import *
from naysay.design.channels import __all__ as _channels
from naysay.design.crossed import *
from naysay.design.crossed import __all__ as _crossed
from naysay.design.devices import *
from naysay.design.devices import __all__ as _devices
from naysay.design.drawing import *
from naysay.design.drawing import __all__ as _drawing
from naysay.design.hierarchy import *
from naysay.design.hierarchy import __all__ as _hierarchy
from naysay.design.loading import *
from naysay.design.loading import __all__ as _loading
from naysay.design.memory import *
from naysay.design.memory import __all__ as _memory
from naysay.design.pattern import *
from naysay.design.pattern import __all__ as _pattern
from naysay.design.prefixes import *
from naysay.design.prefixes import __all__ as _prefixes
from naysay.design.protocol import *
from naysay.design.protocol import __all__ as _protocol
from naysay.design.pure import *
from naysay.design.pure import __all__ as _pure
from naysay.design.redraw import *
from naysay.design.redraw import __all__ as _redraw
from naysay.design.relabeling import *
from naysay.design.relabeling import __all__ as _relabeling
from naysay.design.several import *
from naysay.design.several import __all__ as _several
from naysay.design.shares import *
from naysay.design.shares import __all__ as _shares
from naysay.design.stacked import *
from naysay.design.stacked import __all__ as _stacked
from naysay.design.steps import *
from naysay.design.steps import __all__ as _steps
from naysay.design.subsets import *
from naysay.design.subsets import __all__ as _subsets
from naysay.design.unary import *
from naysay.design.unary import __all__ as _unary
from naysay.design.window import *
from naysay.design.window import __all__ as _window

__all__ = [*_affine, *_algebra, *_base, *_channels, *_crossed, *_devices, *_drawing, *_hierarchy, *_loading]
__all__ += [*_memory, *_redraw, *_pattern, *_prefixes, *_protocol, *_pure, *_relabeling, *_several, *_shares, *_stacked]
__all__ += [*_steps, *_subsets, *_unary, *_window]
