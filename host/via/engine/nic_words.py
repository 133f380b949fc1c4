"""Words that the kernel agent and the library write to a NIC that reads descriptors."""

from ....layouts.via import ADDRESS, ATTRIBUTES, CQ_CONFIG, HANDLE_BITS, PEER, VA_BITS
from ..handles import Cq, Vi

__all__ = ["BAD_TOKEN", "attributes_word", "cq_word", "keep_count", "peer_word", "token"]

HANDLE = ADDRESS.offset("handle")
BAD_TOKEN = 1
"""Stands for an address that no token can hold. It is misaligned, so the NIC refuses it as a bad
descriptor."""


def token(va: int, handle: int) -> int:
    """The doorbell's value for the descriptor at ``va``."""
    if va >> VA_BITS or handle >> HANDLE_BITS:
        return BAD_TOKEN
    return va | handle << HANDLE


def attributes_word(vi: Vi) -> int:
    """layouts.via.ATTRIBUTES of ``vi``."""
    send, receive = vi.send.cq, vi.receive.cq
    attributes = vi.attributes
    return ATTRIBUTES.pack(
        tag=attributes.ptag.number, owner=vi.nic.process.number,
        reliability=attributes.reliability, rdma_write=attributes.rdma_write,
        rdma_read=attributes.rdma_read, send_cq=send.number if send else 0,
        send_on_cq=send is not None, receive_cq=receive.number if receive else 0,
        receive_on_cq=receive is not None)


def peer_word(vi: Vi, route: int, max_transfer: int) -> int:
    """layouts.via.PEER of ``vi``."""
    assert vi.peer is not None
    return PEER.pack(node=vi.peer.node, vi=vi.peer.vi, route=route, max_transfer=max_transfer)


def cq_word(cq: Cq) -> int:
    """layouts.via.CQ_CONFIG of ``cq``."""
    ring = cq.ring
    return CQ_CONFIG.pack(log_entries=ring.size.bit_length() - 1, enable=1,
                          tag=ring.region.ptag.number, owner=cq.process)


def keep_count(vi: Vi, completed: int) -> None:
    """Both queues of ``vi`` are flushed: set the counts of seen completions to ``completed``, with
    the send queue's count in the low half and the receive queue's in the high half."""
    for queue, count in ((vi.send, completed), (vi.receive, completed >> 16)):
        # The NIC does not count descriptors that it lost.
        queue.seen = count - sum(posted.counted for posted in queue.entries) & 0xFFFF
