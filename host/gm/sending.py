"""gm_send_with_callback, gm_send_to_peer_with_callback, gm_directed_send_with_callback,
gm_resume_sending, gm_drop_sends; send tokens."""

from collections.abc import Callable
from typing import Any

from ...layouts.gm import COMMAND, COMMAND_END, INLINE, MAX_SIZE, MIN_SIZE, PORTS, CommandKind
from ...layouts.trace import Activity, Kind
from .caller import Caller
from .handles import Port, Sending
from .sizes import gm_max_length_for_size, gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["Sends"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
POST_SEND = int(Activity.POST_SEND)
K_SEND, K_DIRECTED = int(CommandKind.SEND), int(CommandKind.DIRECTED)
SHIFT = {name: COMMAND.offset(name) for name in ("port", "size", "priority", "inlined", "phase",
                                                 "node", "trace")}
S_PORT, S_SIZE, S_PRIORITY = SHIFT["port"], SHIFT["size"], SHIFT["priority"]
S_NODE, S_TRACE, S_PHASE = SHIFT["node"], SHIFT["trace"], SHIFT["phase"]
INLINED = COMMAND.mask("inlined")
S_TOKEN, S_PHASE_END = COMMAND_END.offset("token"), COMMAND_END.offset("phase")

Callback = Callable[..., Any]


class Sends(Caller):
    """Sends take a send token each; the callback, ``callback(port, context, status)``, which may be
    a coroutine function, gives it back. It runs in gm_unknown.

    The calls return GM_SUCCESS for what is on its way: how it ends is the callback's to hear.
    GM_TRY_AGAIN: there is no token.
    """

    async def gm_send_with_callback(self, port: Port, ptr: int, size: int, length: int,
                                    priority: int, target_node_id: int, target_port_id: int,
                                    callback: Callback | None = None,
                                    context: Any = None) -> GM_STATUS:
        """Send ``length`` bytes at ``ptr`` into a buffer of ``size`` and ``priority`` that the
        target's port has provided. The program must not change the bytes until the callback. Up to
        INLINE (16) bytes go with the command itself and need no registered memory."""
        if (not self._is_port(port) or not self._is_target(priority, target_node_id,
                                                           target_port_id)
                or not isinstance(length, int) or not isinstance(size, int)
                or not MIN_SIZE <= size <= MAX_SIZE
                or not 0 <= length <= gm_max_length_for_size(size) or not _address(ptr)):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._send(port, ptr, size, length, priority, target_node_id,
                                target_port_id, callback, context)

    async def gm_send_to_peer_with_callback(self, port: Port, ptr: int, size: int, length: int,
                                            priority: int, target_node_id: int,
                                            callback: Callback | None = None,
                                            context: Any = None) -> GM_STATUS:
        """The same, to the port with this port's number on that node."""
        if not self._is_port(port):
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
        if (not self._is_port(port) or not self._is_target(priority, target_node_id,
                                                           target_port_id)
                or not isinstance(length, int) or length < 0 or not _address(source_buffer)
                or not _address(target_buffer)
                or gm_min_size_for_length(length) > MAX_SIZE):
            return GM_STATUS.GM_INVALID_PARAMETER
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        cpu = self.port
        trace = self.node.trace_number()
        cpu.mark(POST_SEND, BEGIN, trace)
        cpu.spend(self.paths.send)
        token = self._token(port, callback, context, trace)
        size = max(MIN_SIZE, gm_min_size_for_length(length))
        await self._command(
            port, K_DIRECTED | target_port_id << S_PORT | size << S_SIZE | priority << S_PRIORITY
            | target_node_id << S_NODE | trace << S_TRACE, source_buffer, target_buffer,
            length | token << S_TOKEN, trace)
        cpu.mark(POST_SEND, END, trace)
        return GM_STATUS.GM_SUCCESS

    async def gm_resume_sending(self, port: Port, priority: int, target_node_id: int,
                                target_port_id: int, callback: Callback | None = None,
                                context: Any = None) -> GM_STATUS:
        """After a send has failed: let the stopped sends to that target continue. Takes a send
        token."""
        return await self._go_on(CommandKind.RESUME, port, priority, target_node_id,
                                 target_port_id, callback, context)

    async def gm_drop_sends(self, port: Port, priority: int, target_node_id: int,
                            target_port_id: int, callback: Callback | None = None,
                            context: Any = None) -> GM_STATUS:
        """After a send has failed: return the stopped sends to that target with GM_SEND_DROPPED and
        allow new ones. Takes a send token."""
        return await self._go_on(CommandKind.DROP, port, priority, target_node_id,
                                 target_port_id, callback, context)

    # Tokens

    def gm_num_send_tokens(self, port: Port) -> int:
        """How many send tokens a port has."""
        self.port.spend(self.paths.query)
        return port.send_tokens

    def gm_send_token_available(self, port: Port, priority: int = 0) -> bool:
        """Whether gm_alloc_send_token would give one."""
        self.port.spend(self.paths.query)
        return port.reserve > 0

    def gm_alloc_send_token(self, port: Port, priority: int = 0) -> bool:
        """Reserve a send token; for programs that count tokens by these calls."""
        self.port.spend(self.paths.token)
        if port.reserve == 0:
            return False
        port.reserve -= 1
        return True

    def gm_free_send_token(self, port: Port, priority: int = 0) -> None:
        """Return a reserved send token, in a callback."""
        self.gm_free_send_tokens(port, priority, 1)

    def gm_free_send_tokens(self, port: Port, priority: int, count: int) -> None:
        """``count`` of them."""
        self.port.spend(self.paths.token)
        port.reserve = min(port.send_tokens, port.reserve + count)

    # Helpers

    def _is_target(self, priority: int, node: int, port: int) -> bool:
        return (isinstance(node, int) and isinstance(port, int) and priority in (0, 1)
                and 0 <= node < self.node.nodes and 0 <= port < PORTS)

    def _token(self, port: Port, callback: Callback | None, context: Any, trace: int) -> int:
        token = port.free_sends.pop()
        port.sends[token] = Sending(callback, context, trace)
        return token

    async def _send(self, port: Port, ptr: int, size: int, length: int, priority: int, node: int,
                    target: int, callback: Callback | None, context: Any) -> GM_STATUS:
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        cpu = self.port
        trace = self.node.trace_number()
        cpu.mark(POST_SEND, BEGIN, trace)
        cpu.spend(self.paths.send)
        word = (K_SEND | target << S_PORT | size << S_SIZE | priority << S_PRIORITY
                | node << S_NODE | trace << S_TRACE)
        second = 0
        if length <= INLINE:
            if length and not self.process.mapped(ptr, length):
                cpu.mark(POST_SEND, END, trace)
                return GM_STATUS.GM_MEMORY_FAULT
            cpu.spend(self.paths.inline)
            if length:
                await self.process.touch(ptr, length)
            data = self.process.read(ptr, length) + bytes(INLINE - length)
            ptr, second = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
            word |= INLINED
        token = self._token(port, callback, context, trace)
        await self._command(port, word, ptr, second, length | token << S_TOKEN, trace)
        cpu.mark(POST_SEND, END, trace)
        return GM_STATUS.GM_SUCCESS

    async def _go_on(self, kind: CommandKind, port: Port, priority: int, node: int, target: int,
                     callback: Callback | None, context: Any) -> GM_STATUS:
        if not self._is_port(port) or not self._is_target(priority, node, target):
            return GM_STATUS.GM_INVALID_PARAMETER
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        self.port.spend(self.paths.control)
        token = self._token(port, callback, context, 0)
        await self._command(port, kind | target << S_PORT | MIN_SIZE << S_SIZE
                            | priority << S_PRIORITY | node << S_NODE, 0, 0, token << S_TOKEN, 0)
        return GM_STATUS.GM_SUCCESS

    async def _command(self, port: Port, first: int, second: int, third: int, last: int,
                       trace: int) -> None:
        """A command into the port's queue: one burst and a doorbell."""
        queue, cpu = port.queue, self.port
        cpu.process = port.process.number
        if queue.room.free <= 0:
            await queue.wait()
        if not queue.room.posted & queue.count:
            first |= 1 << S_PHASE
            last |= 1 << S_PHASE_END
        await queue.put((first, second, third, last), trace)


def _address(ptr: int) -> bool:
    return isinstance(ptr, int) and 0 <= ptr < 1 << 64
