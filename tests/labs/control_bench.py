"""Benches of the NIC processor's control blocks, on Amaranth's own simulator."""

from collections.abc import Awaitable, Callable
from typing import Any

from amaranth.lib import wiring
from amaranth.sim import Simulator

__all__ = ["pulses", "simulate"]


def simulate(component: wiring.Component, bench: Callable[[Any], Awaitable[None]], *,
             limit: int = 50_000) -> None:
    """Run ``bench`` on ``component``; it fails if it has not ended after ``limit`` cycles."""
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)

    async def watch(ctx: Any) -> None:
        for _ in range(limit):
            await ctx.tick()
        raise AssertionError(f"no end after {limit} cycles")

    simulator.add_testbench(watch, background=True)
    simulator.run()


def pulses(ctx: Any, component: wiring.Component, *names: str) -> list[str]:
    """Those of the component's outputs ``names`` that are high."""
    return [name for name in names if ctx.get(getattr(component, name))]
