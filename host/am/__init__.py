"""Generic Active Messages 1.1 over the NIC."""

from .gam import Gam
from .window import AmError, PeerGone

__all__ = ["Gam", "AmError", "PeerGone"]
