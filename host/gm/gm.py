"""GM: the message-passing library of one process, all calls under their own names.

A call checks its arguments here. What it does is in the file of its concern: :mod:`.opening`,
:mod:`.registering`, :mod:`.sending`, :mod:`.buffers`, :mod:`.event_ring`. They have
:class:`~.caller.Caller` in common.
"""

from typing import Any

from ...layouts.gm import MAX_SIZE, MIN_SIZE, PORTS, CommandKind
from ..kernel.process import Process
from ..port.port import Watch
from .buffers import Buffers
from .caller import GM_HIGH_PRIORITY, GM_LOW_PRIORITY, Caller, is_address
from .commands import Commands
from .event_ring import EventRing
from .events import NOTHING, Event
from .handles import Port
from .opening import GM_API_VERSION, Opening
from .registering import Registering
from .sending import Callback, Sends
from .sizes import gm_max_length_for_size, gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["GM_HIGH_PRIORITY", "GM_LOW_PRIORITY", "Gm"]

SPIN_MILLISECONDS = 1
"""gm_blocking_receive spins for this long, unless the program says otherwise."""


class Gm:
    """``gm = Gm(process)``; ``status, port = await gm.gm_open(0, 2, "mine")``.

    A call that accesses the NIC or memory is a coroutine; the CPU time of the other calls is
    charged to the next coroutine. Calls return a
    :class:`~nicbed.host.gm.status.GM_STATUS` where GM's do, or would have to: none raises for what
    a program does.

    Sends take a send token each; the callback, ``callback(port, context, status)``, which may be a
    coroutine function, gives it back. It runs in gm_unknown. GM_SUCCESS is for what is on its way:
    how it ends is the callback's to hear. Buffers take a receive token each, which comes back with
    the message in it. GM_TRY_AGAIN: there is no token.

    Events come in the order in which they happened: messages, and sends that have ended, which are
    for gm_unknown. A program gives gm_unknown every event that it does not know.
    """

    gm_min_size_for_length = staticmethod(gm_min_size_for_length)
    gm_max_length_for_size = staticmethod(gm_max_length_for_size)

    def __init__(self, process: Process) -> None:
        self._caller = caller = Caller(process)
        self.process = process
        self.node = process.node
        self.port = process.port
        self.memory = process.memory
        self.driver = caller.driver
        self._commands = commands = Commands(caller)
        self._opening = Opening(caller)
        self._registering = Registering(caller)
        self._sends = Sends(caller, commands)
        self._buffers = Buffers(caller, commands)
        self._events = EventRing(caller, commands)
        self.spin = int(SPIN_MILLISECONDS * 1000 * process.node.description.nic.clock_mhz)
        """Cycles for which gm_blocking_receive spins."""

    # Ports

    async def gm_init(self) -> GM_STATUS:
        """Start the NIC's control program if it is not running. gm_open does this, too. GM_FAILURE
        with more nodes than GM knows."""
        return await self._opening.init()

    async def gm_open(self, unit: int, port_id: int, port_name: str = "",
                      version: int = GM_API_VERSION) -> tuple[GM_STATUS, Port | None]:
        """Open port ``port_id`` (1 to 7; port 0 is the driver's) of NIC ``unit`` (0). GM_BUSY: it
        is open. GM_OUT_OF_MEMORY: the node's memory is full."""
        if unit != 0 or not isinstance(port_id, int) or not 1 <= port_id < PORTS:
            return GM_STATUS.GM_INVALID_PARAMETER, None
        return await self._opening.open(port_id, port_name, version)

    async def gm_close(self, port: Port) -> GM_STATUS:
        """Close the port. Sends under way are abandoned, buffers return to the program, and its
        memory is deregistered."""
        if not self._caller.is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._opening.close(port)

    async def gm_get_node_id(self, port: Port) -> tuple[GM_STATUS, int]:
        """This node's number."""
        if not self._caller.is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER, 0
        self.port.spend(self._caller.paths.query)
        return GM_STATUS.GM_SUCCESS, self.node.number

    # Memory

    async def gm_register_memory(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Give the NIC access to the pages of these bytes, for this port. Each registration needs a
        deregistration of its own. GM_PERMISSION_DENIED: they are not the process's."""
        if not self._caller.is_port(port) or not _bytes(ptr, length):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._registering.register(port, ptr, length)

    async def gm_deregister_memory(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Ends a registration: the NIC can no longer access the pages, except those that another
        registration covers."""
        if not self._caller.is_port(port) or not _bytes(ptr, length):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._registering.deregister(port, ptr, length)

    async def gm_dma_malloc(self, port: Port, length: int) -> int | None:
        """Address of ``length`` bytes of registered memory in pages of their own; None if there are
        none."""
        if not self._caller.is_port(port) or not isinstance(length, int) or length < 1:
            return None
        return await self._registering.allocate(port, length)

    async def gm_dma_free(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Deregister the memory. (It is not allocated again.)"""
        return await self.gm_deregister_memory(port, ptr, length)

    # Sends

    async def gm_send_with_callback(self, port: Port, ptr: int, size: int, length: int,
                                    priority: int, target_node_id: int, target_port_id: int,
                                    callback: Callback | None = None,
                                    context: Any = None) -> GM_STATUS:
        """Send ``length`` bytes at ``ptr`` into a buffer of ``size`` and ``priority`` that the
        target's port has provided. The program must not change the bytes until the callback. Up to
        INLINE (16) bytes go with the command itself and need no registered memory."""
        if (not self._caller.is_port(port)
                or not self._caller.is_target(priority, target_node_id, target_port_id)
                or not isinstance(length, int) or not isinstance(size, int)
                or not MIN_SIZE <= size <= MAX_SIZE
                or not 0 <= length <= gm_max_length_for_size(size) or not is_address(ptr)):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._sends.send(port, ptr, size, length, priority, target_node_id,
                                      target_port_id, callback, context)

    async def gm_send_to_peer_with_callback(self, port: Port, ptr: int, size: int, length: int,
                                            priority: int, target_node_id: int,
                                            callback: Callback | None = None,
                                            context: Any = None) -> GM_STATUS:
        """The same, to the port with this port's number on that node."""
        if not self._caller.is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self.gm_send_with_callback(port, ptr, size, length, priority, target_node_id,
                                                port.number, callback, context)

    async def gm_directed_send_with_callback(self, port: Port, source_buffer: int,
                                             target_buffer: int, length: int, priority: int,
                                             target_node_id: int, target_port_id: int,
                                             callback: Callback | None = None,
                                             context: Any = None) -> GM_STATUS:
        """Put ``length`` bytes at ``source_buffer`` to ``target_buffer`` in the registered memory
        of the target's port, which must allow it. The target gets no event."""
        if (not self._caller.is_port(port)
                or not self._caller.is_target(priority, target_node_id, target_port_id)
                or not isinstance(length, int) or length < 0 or not is_address(source_buffer)
                or not is_address(target_buffer)
                or gm_min_size_for_length(length) > MAX_SIZE):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._sends.directed(port, source_buffer, target_buffer, length, priority,
                                          target_node_id, target_port_id, callback, context)

    async def gm_resume_sending(self, port: Port, priority: int, target_node_id: int,
                                target_port_id: int, callback: Callback | None = None,
                                context: Any = None) -> GM_STATUS:
        """After a send has failed: let the stopped sends to that target continue. Takes a send
        token."""
        if (not self._caller.is_port(port)
                or not self._caller.is_target(priority, target_node_id, target_port_id)):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._sends.go_on(CommandKind.RESUME, port, priority, target_node_id,
                                       target_port_id, callback, context)

    async def gm_drop_sends(self, port: Port, priority: int, target_node_id: int,
                            target_port_id: int, callback: Callback | None = None,
                            context: Any = None) -> GM_STATUS:
        """After a send has failed: return the stopped sends to that target with GM_SEND_DROPPED and
        allow new ones. Takes a send token."""
        if (not self._caller.is_port(port)
                or not self._caller.is_target(priority, target_node_id, target_port_id)):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._sends.go_on(CommandKind.DROP, port, priority, target_node_id,
                                       target_port_id, callback, context)

    # Send tokens

    def gm_num_send_tokens(self, port: Port) -> int:
        """Returns how many send tokens a port has."""
        self.port.spend(self._caller.paths.query)
        return port.send_tokens

    def gm_send_token_available(self, port: Port, priority: int = 0) -> bool:
        """Tells whether gm_alloc_send_token would give one."""
        self.port.spend(self._caller.paths.query)
        return port.reserve > 0

    def gm_alloc_send_token(self, port: Port, priority: int = 0) -> bool:
        """Reserve a send token; for programs that count tokens by these calls."""
        return self._sends.reserve(port)

    def gm_free_send_token(self, port: Port, priority: int = 0) -> None:
        """Return a reserved send token, in a callback."""
        self._sends.give_back(port, 1)

    def gm_free_send_tokens(self, port: Port, priority: int, count: int) -> None:
        """``count`` of them."""
        self._sends.give_back(port, count)

    # Receive buffers

    async def gm_provide_receive_buffer(self, port: Port, ptr: int, size: int,
                                        priority: int) -> GM_STATUS:
        """A buffer in registered memory for a message of exactly this size class and priority, at
        least ``gm_max_length_for_size(size)`` bytes. GM_TRY_AGAIN: there is no token."""
        return await self.gm_provide_receive_buffer_with_tag(port, ptr, size, priority, 0)

    async def gm_provide_receive_buffer_with_tag(self, port: Port, ptr: int, size: int,
                                                 priority: int, tag: int) -> GM_STATUS:
        """The same, with a ``tag`` of 8 bits that comes with its message."""
        if (not self._caller.is_port(port) or not isinstance(size, int)
                or not MIN_SIZE <= size <= MAX_SIZE or priority not in (0, 1)
                or not is_address(ptr) or not isinstance(tag, int) or not 0 <= tag < 256):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._buffers.provide(port, ptr, size, priority, tag)

    def gm_num_receive_tokens(self, port: Port) -> int:
        """Returns how many receive tokens a port has."""
        self.port.spend(self._caller.paths.query)
        return port.receive_tokens

    async def gm_set_acceptable_sizes(self, port: Port, priority: int, mask: int) -> GM_STATUS:
        """Bit s of ``mask``: messages of size class s and this priority are taken. Others fail at
        their senders, GM_SEND_REJECTED. All are until this says otherwise."""
        if (not self._caller.is_port(port) or priority not in (0, 1) or not isinstance(mask, int)
                or not 0 <= mask < 1 << 32):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._buffers.accept(port, priority, mask)

    async def gm_allow_remote_memory_access(self, port: Port) -> GM_STATUS:
        """Accept directed sends into the port's registered memory from now on."""
        if not self._caller.is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._buffers.allow(port)

    # Events

    async def gm_receive(self, port: Port) -> Event:
        """The oldest event, or GM_NO_RECV_EVENT if there is none. It checks once."""
        if not self._caller.is_port(port):
            await self._caller.take_time()
            return NOTHING
        return await self._events.check(port)

    async def gm_receive_pending(self, port: Port) -> bool:
        """Tells whether gm_receive would find one."""
        if not self._caller.is_port(port):
            await self._caller.take_time()
            return False
        return await self._events.pending(port)

    async def gm_blocking_receive(self, port: Port) -> Event:
        """The next event: spins for a millisecond, then gives up the CPU until the interrupt."""
        if not self._caller.is_port(port):
            await self._caller.take_time()
            return NOTHING
        return await self._events.wait(port, self.spin)

    async def gm_blocking_receive_no_spin(self, port: Port) -> Event:
        """The next event; gives up the CPU at once if there is none."""
        if not self._caller.is_port(port):
            await self._caller.take_time()
            return NOTHING
        return await self._events.wait(port, 0)

    def awaits(self, port: Port) -> Watch:
        """No call of GM: for a process that also waits for something else than the port's events.
        The word that gm_blocking_receive would poll."""
        return self._events.awaits(port)

    async def gm_unknown(self, port: Port, event: Event) -> None:
        """Handle an event that the program does not handle itself. For a send that has ended it
        returns the send token and runs the callback."""
        result = self._events.unknown(port, event)
        if hasattr(result, "__await__"):
            await result


def _bytes(ptr: int, length: int) -> bool:
    return isinstance(ptr, int) and isinstance(length, int) and ptr >= 0 and length >= 1
