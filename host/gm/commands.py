"""Commands to the firmware, in a port's queue."""

from ...layouts.gm import COMMAND, COMMAND_END
from .caller import Caller
from .handles import Port
from .status import GM_STATUS

__all__ = ["Commands"]

S_PHASE, S_PHASE_END = COMMAND.offset("phase"), COMMAND_END.offset("phase")


class Commands:
    """The commands that ``caller`` gives to the firmware."""

    def __init__(self, caller: Caller) -> None:
        self._port = caller.port
        self._control = caller.paths.control

    async def put(self, port: Port, first: int, second: int, third: int, last: int,
                  trace: int) -> None:
        """A command into the port's queue: one burst and a doorbell."""
        queue, cpu = port.queue, self._port
        cpu.process = port.process.number
        if queue.room.free <= 0:
            await queue.wait()
        if not queue.room.posted & queue.count:
            first |= 1 << S_PHASE
            last |= 1 << S_PHASE_END
        await queue.put((first, second, third, last), trace)

    async def control(self, port: Port, first: int, second: int) -> GM_STATUS:
        """A command that carries no data and takes no token."""
        self._port.spend(self._control)
        await self.put(port, first, second, 0, 0, 0)
        return GM_STATUS.GM_SUCCESS
