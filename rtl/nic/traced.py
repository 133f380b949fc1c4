"""The NIC's blocks that emit events, and the stages of a message's flight that they are."""

from ...layouts.doors.trace_block import RECEIVING, SENDING, TraceBlock
from ...layouts.doors.trace_stage import Pick, TraceStage
from ...layouts.trace import Block, Kind

__all__ = ["BLOCKS", "ONE_WAY", "REQUESTS"]

_AT_WORK = "at work"

BLOCKS = (
    TraceBlock("PROCESSOR", "NI processor", "The NIC processor is awake.", lands=False,
               listed=_AT_WORK, stays=True, number=Block.PROCESSOR),
    TraceBlock("VI_FETCH", "VI fetch", "A descriptor, from its VI's turn.", SENDING,
               listed=_AT_WORK, number=Block.VI_FETCH),
    TraceBlock("VI_SEND", "VI send", "Data of a packet, until it is whole in its slot.", SENDING,
               listed=_AT_WORK, number=Block.VI_SEND),
    TraceBlock("SEND_DMA", "send DMA", "A packet of the send ring, from its descriptor's fetch.",
               SENDING, dma=0, begins_at_arg=True, number=Block.SEND_DMA),
    TraceBlock("H2N", "H2N", "A transfer from host memory to NIC memory.", SENDING,
               listed=_AT_WORK, number=Block.H2N),
    TraceBlock("VI_RECEIVE", "VI receive", "A packet, until its data is in memory.", RECEIVING,
               lands=False, listed=_AT_WORK, number=Block.VI_RECEIVE),
    TraceBlock("RECEIVE_DMA", "receive DMA", "A packet into the receive ring.", RECEIVING, dma=1,
               number=Block.RECEIVE_DMA),
    TraceBlock("N2H", "N2H", "A transfer from NIC memory to host memory.", RECEIVING,
               listed=_AT_WORK, number=Block.N2H),
    TraceBlock("COMPLETION", "completion", "A completion, until it is in memory.", RECEIVING,
               listed=_AT_WORK, number=Block.COMPLETION),
)
"""In the order in which they wait for each other."""

_B, _E = Kind.BEGIN, Kind.END

REQUESTS = (
    TraceStage("posted write, bus, send FIFO", Block.SEND_PIO, _E, SENDING),
    TraceStage("doorbell, descriptor, send DMA", Block.SEND_DMA, _E, SENDING),
    TraceStage("posted write, doorbell, firmware", Block.H2N, _B, SENDING),
    TraceStage("payload to NIC memory", Block.H2N, _E, SENDING),
    TraceStage("queue to the NIC, firmware: sending", Block.NIC_SEND, _B, SENDING),
    TraceStage("out of NIC memory", Block.NIC_SEND, _E, SENDING),
    TraceStage("receive DMA", Block.RECEIVE_DMA, _E, RECEIVING),
    TraceStage("into NIC memory", Block.NIC_RECEIVE, _E, RECEIVING),
    TraceStage("firmware: receiving", Block.N2H, _B, RECEIVING),
    TraceStage("to host memory", Block.N2H, _E, RECEIVING),
)
"""Of requests and replies."""

ONE_WAY = (
    TraceStage("posted write, bus, doorbell", Block.DOORBELL, _B, SENDING, Pick.QUEUE),
    TraceStage("doorbell to the VI's turn", Block.VI_FETCH, _B, SENDING, Pick.QUEUE),
    TraceStage("descriptor fetched", Block.VI_FETCH, _E, SENDING, Pick.FIRST),
    TraceStage("data gathered into a slot", Block.VI_SEND, _E, SENDING),
    TraceStage("posted write, bus, send FIFO", Block.SEND_PIO, _E, SENDING),
    TraceStage("doorbell, ring's descriptor", Block.SEND_DMA, _B, SENDING),
    TraceStage("send DMA", Block.SEND_DMA, _E, SENDING),
    TraceStage("firmware: until the data are asked for", Block.H2N, _B, SENDING),
    TraceStage("descriptor, data to NIC memory", Block.H2N, _E, SENDING),
    TraceStage("firmware: until the packet is sent", Block.NIC_SEND, _B, SENDING),
    TraceStage("out of NIC memory", Block.NIC_SEND, _E, SENDING),
    TraceStage("receive FIFO to receiver", Block.VI_RECEIVE, _B, RECEIVING),
    TraceStage("receiver: descriptor, data landed", Block.VI_RECEIVE, _E, RECEIVING),
    TraceStage("completion: status landed", Block.COMPLETION, _E, RECEIVING),
    TraceStage("receive DMA", Block.RECEIVE_DMA, _E, RECEIVING),
    TraceStage("into NIC memory", Block.NIC_RECEIVE, _E, RECEIVING),
    TraceStage("firmware: until it is written", Block.N2H, _B, RECEIVING),
    TraceStage("to host memory", Block.N2H, _E, RECEIVING),
)
"""Of messages one way."""
