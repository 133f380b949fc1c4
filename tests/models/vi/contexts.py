"""Contexts beside a block under test: answers its reads, holds what a test lays down."""

import random
from typing import Any

from nicbed.layouts.via import ViState

from tests.labs.bench import pack

__all__ = ["ContextModel"]


class ContextModel:
    """Answers the block's ContextRead port ``name`` as rtl.vi.contexts does."""

    def __init__(self, dut: Any, name: str = "context") -> None:
        import cocotb
        from cocotb.triggers import RisingEdge
        from nicbed.rtl.vi.types import Context
        self._shape = Context
        self._vi = getattr(dut, f"{name}__vi")
        self._data = getattr(dut, f"{name}__data")
        self._edge = RisingEdge(dut.clk)
        self.attributes: dict[int, dict[str, int]] = {}
        self.peers: dict[int, dict[str, int]] = {}
        self.states: dict[int, int] = {}
        cocotb.start_soon(self._run())

    def open(self, vi: int, state: int = ViState.CONNECTED, **attributes: int) -> None:
        """VI ``vi`` from now on."""
        self.attributes[vi] = attributes
        self.states[vi] = state

    async def _run(self) -> None:
        noise = random.Random(1)
        while True:
            await self._edge
            if not self._vi.value.is_resolvable:
                continue
            vi = int(self._vi.value)
            self._data.value = pack(self._shape, {
                "attributes": self.attributes.get(vi, {"owner": noise.getrandbits(8)}),
                "peer": self.peers.get(vi, {}),
                "state": int(self.states.get(vi, ViState.CLOSED)),
            })
