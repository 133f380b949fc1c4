"""gm_send_with_callback, gm_directed_send_with_callback, gm_resume_sending, gm_drop_sends; send
tokens."""

from collections.abc import Callable
from typing import Any

from ...layouts.gm import COMMAND, COMMAND_END, INLINE, MIN_SIZE, CommandKind
from ...layouts.trace import BEGIN, END, Activity
from .caller import Caller
from .commands import Commands
from .handles import Port, Sending
from .sizes import gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["Callback", "Sends"]

POST_SEND = int(Activity.POST_SEND)
K_SEND, K_DIRECTED = int(CommandKind.SEND), int(CommandKind.DIRECTED)
S_PORT, S_SIZE, S_PRIORITY = (COMMAND.offset(name) for name in ("port", "size", "priority"))
S_NODE, S_TRACE = COMMAND.offset("node"), COMMAND.offset("trace")
INLINED = COMMAND.mask("inlined")
S_TOKEN = COMMAND_END.offset("token")

Callback = Callable[..., Any]


class Sends:
    """Commands that take a send token."""

    def __init__(self, caller: Caller, commands: Commands) -> None:
        self._caller = caller
        self._commands = commands
        self._port = caller.port
        self._paths = caller.paths

    async def send(self, port: Port, ptr: int, size: int, length: int, priority: int, node: int,
                   target: int, callback: Callback | None, context: Any) -> GM_STATUS:
        """Send into a buffer; a short message goes with the command itself."""
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        cpu, caller = self._port, self._caller
        trace = caller.node.trace_number()
        cpu.mark(POST_SEND, BEGIN, trace)
        cpu.spend(self._paths.send)
        word = (K_SEND | target << S_PORT | size << S_SIZE | priority << S_PRIORITY
                | node << S_NODE | trace << S_TRACE)
        second = 0
        if length <= INLINE:
            process = caller.process
            if length and not process.mapped(ptr, length):
                cpu.mark(POST_SEND, END, trace)
                return GM_STATUS.GM_MEMORY_FAULT
            cpu.spend(self._paths.inline)
            if length:
                await process.touch(ptr, length)
            data = process.read(ptr, length) + bytes(INLINE - length)
            ptr, second = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
            word |= INLINED
        token = self._token(port, callback, context, trace)
        await self._commands.put(port, word, ptr, second, length | token << S_TOKEN, trace)
        cpu.mark(POST_SEND, END, trace)
        return GM_STATUS.GM_SUCCESS

    async def directed(self, port: Port, source: int, destination: int, length: int, priority: int,
                       node: int, target: int, callback: Callback | None, context: Any
                       ) -> GM_STATUS:
        """Send to an address of the target's."""
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        cpu = self._port
        trace = self._caller.node.trace_number()
        cpu.mark(POST_SEND, BEGIN, trace)
        cpu.spend(self._paths.send)
        token = self._token(port, callback, context, trace)
        size = max(MIN_SIZE, gm_min_size_for_length(length))
        await self._commands.put(
            port, K_DIRECTED | target << S_PORT | size << S_SIZE | priority << S_PRIORITY
            | node << S_NODE | trace << S_TRACE, source, destination, length | token << S_TOKEN,
            trace)
        cpu.mark(POST_SEND, END, trace)
        return GM_STATUS.GM_SUCCESS

    async def go_on(self, kind: CommandKind, port: Port, priority: int, node: int, target: int,
                    callback: Callback | None, context: Any) -> GM_STATUS:
        """RESUME, DROP: what becomes of stopped sends."""
        if not port.free_sends:
            return GM_STATUS.GM_TRY_AGAIN
        self._port.spend(self._paths.control)
        token = self._token(port, callback, context, 0)
        await self._commands.put(port, kind | target << S_PORT | MIN_SIZE << S_SIZE
                                 | priority << S_PRIORITY | node << S_NODE, 0, 0,
                                 token << S_TOKEN, 0)
        return GM_STATUS.GM_SUCCESS

    def reserve(self, port: Port) -> bool:
        """Count one of the program's tokens as taken."""
        self._port.spend(self._paths.token)
        if port.reserve == 0:
            return False
        port.reserve -= 1
        return True

    def give_back(self, port: Port, count: int) -> None:
        """Count ``count`` as free again."""
        self._port.spend(self._paths.token)
        port.reserve = min(port.send_tokens, port.reserve + count)

    def _token(self, port: Port, callback: Callback | None, context: Any, trace: int) -> int:
        token = port.free_sends.pop()
        port.sends[token] = Sending(callback, context, trace)
        return token
