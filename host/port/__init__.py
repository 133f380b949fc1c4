"""A node for its program: its port, its memory, and the costs of CPU work.

In the order in which to read:

- :mod:`.node`: A node as its program sees it: number, port, memory
- :mod:`.port`: A node's host port as a program sees it: work, operations, marks
- :mod:`.suspension`: The objects that a host program's awaits lead to
- :mod:`.costs`: The CPU cost model: named items, each a number of CPU cycles, and the paths made
  of them
- :mod:`.work`: What a CPU has been doing: cost items and paths counted, CPU cycles turned into
  ticks
- :mod:`.memory`: Who gets which part of a node's host memory, and a host memory in plain Python
- :mod:`.backend`: What a back end is to the runtime: a mailbox of blocks and answers, and a
  memory a node
- :mod:`.done_count`: A count in host memory by which the NIC says how much of what was posted to
  it is done
- :mod:`.sent_again`: Counts of packets that a layer sent again, by peer and cause
- :mod:`.diagnosis`: Operations in words, for the diagnosis of a run that never ends
"""
