"""Return codes of VIPL, and the asynchronous errors, under their own names."""

from enum import IntEnum

from ...layouts.via import Event

__all__ = ["ErrorCode", "VIP_INFINITE", "VIP_RETURN"]


class VIP_RETURN(IntEnum):
    """A call's result."""

    SUCCESS = 0
    NOT_DONE = 1
    """The descriptor at the queue's head, the queue, or the peer request is not done yet."""
    INVALID_PARAMETER = 2
    ERROR_RESOURCE = 3
    """A resource is used up, or still in use."""
    TIMEOUT = 4
    REJECT = 5
    """The remote end refused the connection."""
    INVALID_RELIABILITY_LEVEL = 6
    INVALID_MTU = 7
    INVALID_QOS = 8
    INVALID_PTAG = 9
    INVALID_RDMAREAD = 10
    """RDMA reads were requested for a VI of Unreliable Delivery."""
    DESCRIPTOR_ERROR = 11
    """The descriptor completed with an error; without a descriptor: the queue is empty."""
    INVALID_STATE = 12
    ERROR_NAMESERVICE = 13
    NO_MATCH = 14
    """Nobody waits at the remote address."""
    NOT_REACHABLE = 15
    """No such node, or one on which no program runs."""
    ERROR_NOT_SUPPORTED = 16
    """This design point does not support it."""


class ErrorCode(IntEnum):
    """Asynchronous errors."""

    POST_DESC = Event.POST_DESC
    CONN_LOST = Event.CONN_LOST
    RECVQ_EMPTY = Event.RECVQ_EMPTY
    VI_OVERRUN = Event.VI_OVERRUN
    RDMAW_PROT = Event.RDMAW_PROT
    RDMAW_DATA = Event.RDMAW_DATA
    RDMAW_ABORT = Event.RDMAW_ABORT
    RDMAR_PROT = Event.RDMAR_PROT
    COMP_PROT = Event.COMP_PROT
    RDMA_TRANSPORT = Event.RDMA_TRANSPORT
    CATASTROPHIC = Event.CATASTROPHIC


VIP_INFINITE = None
"""A time-out that never ends. Others are in milliseconds of target time."""
