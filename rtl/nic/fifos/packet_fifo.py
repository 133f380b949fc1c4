"""The size and the longest packet that all FIFOs of packets share."""

from amaranth.lib import wiring

from ....layouts.packet import FLIT_BYTES

__all__ = ["PACKET_SLACK", "PacketFifo"]

PACKET_SLACK = 16
"""Bytes that a packet's length may exceed nic.mtu by: the header of the protocol above."""


class PacketFifo(wiring.Component):
    """A block that keeps packets in a FIFO with room for at least the longest one.

    Parameters
    ----------
    fifo_bytes : int
        Capacity in bytes, a power of two.
    mtu : int
        Payload bytes of a packet. Its ``length`` may be 16 bytes more.
    members : dict
        The block's members.

    Raises
    ------
    ValueError
        It could not hold a packet.
    """

    def __init__(self, *, fifo_bytes: int, mtu: int, members: dict[str, wiring.Member]) -> None:
        self._longest = mtu + PACKET_SLACK
        if FLIT_BYTES + self._longest > fifo_bytes:
            raise ValueError(f"fifo_bytes = {fifo_bytes}: must hold a packet of "
                             f"{FLIT_BYTES + self._longest} bytes")
        self._words = fifo_bytes // FLIT_BYTES
        self._mtu = mtu
        super().__init__(members)

    @property
    def fifo_bytes(self) -> int:
        """Capacity, in bytes."""
        return self._words * FLIT_BYTES

    @property
    def mtu(self) -> int:
        """Payload bytes of a packet."""
        return self._mtu
