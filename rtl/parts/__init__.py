"""Building blocks used throughout the target.

In the order in which to read:

- :mod:`.align`: Aligners of bytes: from words at any byte address to words at any other, or to
  those of a packet
- :mod:`.arbiter`: Round-robin arbitration
- :mod:`.block_ram`: Memory as in an FPGA: undefined if a word is read and written at the same edge
- :mod:`.queue`: A FIFO in block memory: the storage behind the NIC's lanes and its side queues
- :mod:`.distinct_queue`: A queue in which every item is at most once
- :mod:`.stream_merge`: Several producers of one stream, the first one first
- :mod:`.sizes`: Checks of the sizes that blocks are built with
- :mod:`.flit`: The unit in which packets move: eight bytes, and what travels beside them
- :mod:`.timing`: The target's timing registers, one a timing knob, as a struct that blocks take
  as an input
- :mod:`.timing_registers`: The target's timing registers: written between runs, read by every
  block that keeps time
- :mod:`.event`: The port by which a block tells the trace what it does
- :mod:`.trace_sink`: Where a block's events leave the target
"""
