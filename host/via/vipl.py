"""VIPL: the Virtual Interface Provider Library of one process, all calls under their own names.

Each call is in the file of its concern: :mod:`.opening`, :mod:`.registering`, :mod:`.endpoints`,
:mod:`.connecting`, :mod:`.posting`, :mod:`.completing`, :mod:`.completion_queues`, :mod:`.naming`.
"""

from .completing import Completing
from .completion_queues import CompletionQueues
from .connecting import Connecting
from .endpoints import Endpoints
from .naming import Naming
from .opening import Opening
from .posting import Posting
from .registering import Registering

__all__ = ["Vipl"]


class Vipl(Posting, Completing, CompletionQueues, Endpoints, Registering, Connecting, Opening,
           Naming):
    """``vipl = Vipl(process)``; ``result, nic = await vipl.VipOpenNic("nic0")``.

    All calls are coroutines. They return a :class:`~nicbed.host.via.returns.VIP_RETURN`, and those
    that give something a tuple of it and what they give, None if they failed. None raises for what
    a consumer does.
    """
