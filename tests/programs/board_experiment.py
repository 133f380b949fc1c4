"""A short experiment for `nicbed run`, to hold the result files of back ends against each other."""

from typing import Any

from nicbed.testbench.benches.common.programs import close_to, on, open_to, round_trips, server


async def program(node: Any) -> Any:
    """When some round trips began and ended."""
    make = on("am")
    if node.number:
        return await server(make)(node)
    side = make(node)
    await open_to(side, [1])
    trips = await round_trips(side, 1, 4)
    await close_to(side, [1])
    return trips
