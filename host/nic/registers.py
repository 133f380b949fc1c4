"""Bits of the NIC's control register."""

from typing import Final

__all__ = ["LINES", "RECEIVE_RING", "SEND_RING"]

SEND_RING: Final = 1
"""The NIC reads the send ring."""
RECEIVE_RING: Final = 2
"""The NIC fills the receive ring; otherwise packets wait in the receive window."""
LINES: Final = 4
"""Entries of the send ring are lines, which the NIC pulls without doorbells."""
