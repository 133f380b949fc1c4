"""Building blocks used throughout the target.

In the order in which to read:

- :mod:`.aligner`: Aligners of bytes: from words at any byte address to words at any other, or to
  those of a packet
- :mod:`.round_robin`: Round-robin arbitration
- :mod:`.first_come`: Arbitration by age: first come, first served
- :mod:`.least`: The least of several numbers
- :mod:`.block_ram`: Memory as in an FPGA: undefined if a word is read and written at the same edge
- :mod:`.queue`: A FIFO in block memory: the storage behind the NIC's lanes and its side queues
- :mod:`.distinct_queue`: A queue that holds every item at most once
- :mod:`.stream_merge`: Merges several producers of one stream; lower inputs have priority
- :mod:`.sizes`: Checks of the sizes that blocks are built with
- :mod:`.flit`: The unit of packets: eight bytes, and the signals beside them
- :mod:`.receive_word`: Received packets within a NIC: words that say where in their packet they are
- :mod:`.csr_file`: Registers of a NIC: decode, storage and read-back made from their declaration
- :mod:`.timing`: The target's timing registers, one for each timing knob, as a struct that blocks
  take as an input
- :mod:`.timing_registers`: The target's timing registers: written between runs, read by every block
  that keeps time
- :mod:`.event`: The port by which a block emits trace events
- :mod:`.trace_sink`: The exits of blocks' events from the target
- :mod:`.verilog_modules`: Modules in Verilog that blocks instantiate and that users bring along, by
  name
- :mod:`.verilog_data`: Puts the data of $readmemh and $readmemb into the text of a module
"""
