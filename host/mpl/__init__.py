"""MPL, the message passing of the SP-2, over Active Messages: :class:`Mpl`, one object a node.

Packets, windows and reliability are those of :mod:`nicbed.host.am`, whose paths are charged as
such; what MPL adds has costs of its own, with a factor of its own (``mpl.path_scale``).

In the order in which to read:

- :mod:`.costs`: CPU costs of MPL: what each call and handler adds to Active Messages
- :mod:`.matching`: Messages by source and type: posted receives, and messages nobody asked for yet
- :mod:`.peers`: Keeps a node's state about another node: the order of messages, and its eager
  buffers
- :mod:`.mpl`: MPL on one node: the public calls
- :mod:`.layer`: The layer mpl for the testbed
- :mod:`.endpoint`: A side of an exchange over MPL: mp_send, and mp_brecv in a row
"""

from .matching import DONTCARE, MplError, Status
from .mpl import Mpl

__all__ = ["DONTCARE", "Mpl", "MplError", "Status"]
