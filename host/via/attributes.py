"""Attributes of NICs, memory and VIs, and network addresses."""

from dataclasses import dataclass
from enum import IntEnum

from ...layouts.via import Reliability, ViState
from .tags import Ptag

__all__ = ["MAX_DISCRIMINATOR", "MemAttributes", "NetAddress",
           "NicAttributes", "RemoteAttributes", "STATES", "ViAttributes", "VipState"]

MAX_DISCRIMINATOR = 12
"""Most bytes of a network address's discriminator."""


class VipState(IntEnum):
    """State of a VI, as VipQueryVi reports it."""

    IDLE = 0
    CONNECTED = 1
    CONNECT_PENDING = 2
    ERROR = 3


STATES = {ViState.IDLE: VipState.IDLE, ViState.CONNECTED: VipState.CONNECTED,
          ViState.ERROR: VipState.ERROR}
"""VIPL's state for each of the engine's states."""


@dataclass(frozen=True, slots=True)
class NetAddress:
    """Address of a VI: a node's number, and a discriminator of up to MAX_DISCRIMINATOR bytes, on
    which the consumers agree."""

    host: int
    discriminator: bytes = b""


@dataclass(frozen=True, slots=True)
class NicAttributes:
    """Result of VipQueryNic: sizes in bytes, and the largest number of each kind of object."""

    name: str
    address: NetAddress
    hardware_version: str
    max_vis: int
    max_cqs: int
    max_descriptors_per_queue: int
    max_segments: int
    max_cq_entries: int
    max_transfer_size: int
    max_register_bytes: int
    """Registered memory of all processes: the table's entries, one a page."""
    page_bytes: int
    max_discriminator: int
    reliability: tuple[Reliability, ...]
    rdma_write: bool
    rdma_read: bool
    thread_safe: bool = True


@dataclass(frozen=True, slots=True)
class MemAttributes:
    """Attributes of a registered region: its protection tag; whether peers may write to it, and
    read it."""

    ptag: Ptag
    rdma_write: bool = False
    rdma_read: bool = False


@dataclass(frozen=True, slots=True)
class ViAttributes:
    """Attributes of a VI.

    ``max_transfer``: bytes of one descriptor. ``qos``: without effect on this NIC, but it must be
    the same at both ends. ``rdma_write``, ``rdma_read``: whether the peer may write and read memory
    of the VI's tag."""

    ptag: Ptag
    reliability: Reliability = Reliability.RELIABLE_DELIVERY
    max_transfer: int = 1 << 20
    qos: int = 0
    rdma_write: bool = False
    rdma_read: bool = False


@dataclass(frozen=True, slots=True)
class RemoteAttributes:
    """Attributes of the VI at the other end of a connection."""

    reliability: Reliability
    max_transfer: int
    qos: int
    rdma_write: bool
    rdma_read: bool
