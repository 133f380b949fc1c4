"""Programs on sockets of TCP for tests."""

from collections.abc import Callable
from typing import Any

from nicbed.host.tcp import Socket, Tcp
from nicbed.layouts.description import Description

__all__ = ["FAULTS", "LIMIT", "PORT", "content", "describe", "pair", "read_all"]

LIMIT = 60_000_000
PORT = 80
FAULTS = {"faults.drop": 0.02, "faults.corrupt": 0.01, "faults.duplicate": 0.02,
          "faults.delay": 0.02, "faults.delay_cycles": 5000}


def describe(nodes: int = 2, **knobs: Any) -> Description:
    """The default NIC, with time-outs that are short beside a real kernel's; and knobs as
    ``tcp__mss=100``."""
    every = {"fabric.nodes": nodes, "via.design": "kernel", "tcp.rto_min": 40_000,
             "tcp.delayed_ack": 10_000, "tcp.time_wait": 400_000, "tcp.retries": 8,
             **{name.replace("__", "."): value for name, value in knobs.items()}}
    table: dict[str, dict[str, Any]] = {}
    for name, value in every.items():
        section, key = name.split(".")
        table.setdefault(section, {})[key] = value
    return Description.model_validate(table)


def content(length: int, seed: int) -> bytes:
    """``length`` bytes that depend on ``seed``."""
    return bytes((place * 7 + (place >> 8) * 13 + seed * 31 + 1) & 255 for place in range(length))


def pair(caller: Callable[[Tcp, Socket], Any], answerer: Callable[[Tcp, Socket], Any]
         ) -> list[Any]:
    """Programs of nodes 0 and 1, each with its end of a connection."""
    async def calls(node: Any) -> Any:
        async with Tcp(node) as tcp:
            socket = await tcp.socket()
            await socket.connect(1, PORT)
            return await caller(tcp, socket)

    async def answers(node: Any) -> Any:
        async with Tcp(node) as tcp:
            listener = await tcp.socket()
            await listener.bind(PORT)
            await listener.listen()
            return await answerer(tcp, await listener.accept())
    return [calls, answers]


async def read_all(socket: Socket, count: int | None = None) -> bytes:
    """``count`` bytes, or all until the peer has ended its sending."""
    found = b""
    while count is None or len(found) < count:
        part = await socket.recv(4096 if count is None else count - len(found))
        if not part:
            break
        found += part
    return found
