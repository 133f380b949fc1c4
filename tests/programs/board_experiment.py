"""A short experiment for `nicbed run`, to hold the result files of back ends against each other."""

from typing import Any

from nicbed.testbench.benches.common.programs import Party


async def program(node: Any) -> Any:
    """When some round trips began and ended."""
    party = Party(node)
    if node.number:
        return await party.serve()
    await party.start([1])
    trips = await party.trips(1, 4)
    await party.finish([1])
    return trips
