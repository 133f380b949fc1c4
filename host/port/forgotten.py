"""A flush that a program forgot, on a bus that is not coherent (``bus.coherent``)."""

from ...layouts.operations import Forgotten

__all__ = ["ForgottenFlush", "forgotten"]

_TOLD = {
    Forgotten.OLD_READ: "the NIC read it while it was dirty in the CPU's cache; it has to be "
                        "flushed after the store and before the NIC is told",
    Forgotten.LOST_WRITE: "the NIC wrote to it while it was dirty in the CPU's cache; it has to be "
                          "flushed before the NIC may write",
    Forgotten.OLD_LOAD: "the CPU found it in its cache after the NIC had written to it; it has to "
                        "be flushed before it is read again",
}


class ForgottenFlush(RuntimeError):
    """A program read, or let the NIC read, what another had written over."""


def forgotten(node: int, data: int) -> ForgottenFlush:
    """Returns what an answer with ``data`` and STALE says of ``node``."""
    return ForgottenFlush(f"node {node}: the line of address {data & 0xFFFF_FFFF:#x}, "
                          "bus.coherent being false: " + _TOLD[Forgotten(data >> 32 & 3)])
