"""gm_provide_receive_buffer, and the messages that a port accepts."""

from ...layouts.gm import COMMAND, COMMAND_END, CommandKind
from ...layouts.trace import BEGIN, END, Activity
from .caller import Caller
from .commands import Commands
from .handles import Port, Provided
from .status import GM_STATUS

__all__ = ["Buffers"]

POST_RECEIVE = int(Activity.POST_RECEIVE)
S_SIZE, S_PRIORITY = COMMAND.offset("size"), COMMAND.offset("priority")
S_TOKEN = COMMAND_END.offset("token")


class Buffers:
    """Buffers take a receive token each, which comes back with the message in it."""

    def __init__(self, caller: Caller, commands: Commands) -> None:
        self._commands = commands
        self._port = caller.port
        self._provide = caller.paths.provide

    async def provide(self, port: Port, ptr: int, size: int, priority: int, tag: int) -> GM_STATUS:
        """Provide a buffer."""
        if not port.free_receives:
            return GM_STATUS.GM_TRY_AGAIN
        cpu = self._port
        cpu.mark(POST_RECEIVE, BEGIN, 0)
        cpu.spend(self._provide)
        token = port.free_receives.pop()
        port.receives[token] = Provided(ptr, size, priority, tag)
        await self._commands.put(port, CommandKind.RECEIVE | size << S_SIZE
                                 | priority << S_PRIORITY, ptr, tag, token << S_TOKEN, 0)
        cpu.mark(POST_RECEIVE, END, 0)
        return GM_STATUS.GM_SUCCESS

    async def accept(self, port: Port, priority: int, mask: int) -> GM_STATUS:
        """Tells which sizes are taken."""
        return await self._commands.control(port, CommandKind.ACCEPT | priority << S_PRIORITY,
                                            mask)

    async def allow(self, port: Port) -> GM_STATUS:
        """Take directed sends."""
        return await self._commands.control(port, int(CommandKind.ALLOW), 1)
