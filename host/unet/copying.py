"""Copies between a program's buffers and the segment."""

from ...layouts.trace import Activity
from ..kernel.process import Process
from .costs import Prices

__all__ = ["copy"]

COPY = int(Activity.COPY)


async def copy(process: Process, source: int, destination: int, length: int) -> None:
    """The CPU copies ``length`` bytes of the process's memory; they are there when this ends."""
    port = process.port
    port.spend(process.node.service(Prices).copy)
    data = process.read(source, length)
    size, done = process.page_bytes, 0
    while done < length:
        at, to = source + done, destination + done
        part = min(length - done, size - at % size, size - to % size)
        await port.room(2)
        port.put_copy(COPY, process.physical(at), process.physical(to), part)
        done += part
    await port.flush()
    process.write(destination, data)
