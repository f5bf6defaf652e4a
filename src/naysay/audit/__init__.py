"""Attack a client that randomizes answers, and say what ε it can be shown to exceed.

`audit` runs a client on known truths, looks at everything that it lets out, and judges whether its reports tell more
about the truth than ε allows.
"""

from naysay.audit.attack import Audit, Finding, audit
from naysay.audit.clients import Callee, Client, Command, Endpoint, Observed, of_design
from naysay.audit.features import Walked, walked

__all__ = ["Audit", "Callee", "Client", "Command", "Endpoint", "Finding", "Observed", "Walked", "audit", "of_design"]
__all__ += ["walked"]
