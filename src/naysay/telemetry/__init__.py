"""Telemetry: reports of devices, which randomize for themselves and belong to no survey.

`client`, `ledger` and `prices` run on the device and need only Python's standard library. The folders `c` and
`javascript`, a package that npm takes as it is, draw the same in other languages. `batches` are what devices send and
how they are counted. `audit` attacks a client in any language and says what ε it can be shown to exceed.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
