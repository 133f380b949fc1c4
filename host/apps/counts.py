"""Counts that all processes exchange, so that each knows where its data belong."""

from typing import Any

import numpy as np

from ..splitc import GlobalPointer, SplitC
from .data import load, save

__all__ = ["Counts"]


class Counts:
    """A matrix of words: row p is what process p told all others. The memory is at the same address
    on all processes."""

    def __init__(self, sc: SplitC, address: int) -> None:
        self._sc = sc
        self._address = address

    @classmethod
    async def make(cls, sc: SplitC) -> "Counts":
        """Allocate it. All processes call this."""
        array = await sc.all_spread_malloc(sc.PROCS, 4 * sc.PROCS * sc.PROCS)
        return cls(sc, array.address)

    async def exchange(self, mine: Any) -> Any:
        """Tell all others ``mine``, a word for each process; return the matrix. One bulk_store of
        4 bytes a process to each other process."""
        sc = self._sc
        row = self._address + 4 * sc.PROCS * sc.MYPROC
        save(sc.node, row, np.asarray(mine, np.uint32))
        sc.node.port.work("store", sc.PROCS)
        for step in range(1, sc.PROCS):
            other = (sc.MYPROC + step) % sc.PROCS
            await sc.bulk_store(GlobalPointer(other, row, ""), row, 4 * sc.PROCS)
        await sc.all_store_sync()
        sc.node.port.work("load", sc.PROCS * sc.PROCS)
        return load(sc.node, self._address, sc.PROCS * sc.PROCS).reshape(sc.PROCS, sc.PROCS)
