"""CPU costs of a call: library, kernel and interrupt, each way.

Nobody has published the instructions of the study's RPC; these are our counts of what a C
implementation over sockets and a datagram protocol needs, hundreds in the library and more than a
thousand in the kernel. ``cpu.trap`` and ``cpu.interrupt`` are in them; all are times
``cpu.path_scale``.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

CALL = Path("rpc_call", call=14, load=60, store=80, branch=40, alu=40)
"""The library: the call's record and number, header, credentials and words in their wire form."""
OUTPUT = Path("rpc_output", trap=1, call=40, load=240, store=180, branch=120, alu=160)
"""The kernel: the socket, the words into a buffer, headers and checksums, the route, the driver."""
INPUT = Path("rpc_input", interrupt=1, call=40, load=260, store=160, branch=140, alu=180)
"""The interrupt: the driver, headers and checksums, the socket found, the process told."""
TAKE = Path("rpc_take", trap=1, call=12, load=60, store=40, branch=30, alu=20)
"""The process takes a message from its socket."""
DECODE = Path("rpc_decode", call=10, load=50, store=40, branch=30, alu=30)
"""The library: header and words out of their wire form, the record or the procedure found."""
CHECK = Path("rpc_check", call=2, load=4, branch=4)
"""Whether anything has come, as the library knows without the kernel."""
UNWANTED = Path("rpc_unwanted", interrupt=1, call=4, load=8, branch=4)
"""An interrupt that finds nothing more: another has handled its packet."""


class Prices(prices(globals())):
    """The paths of a call as a CPU charges them."""
