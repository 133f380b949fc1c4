"""A node for its program: its port, its memory, and the costs of CPU work.

In the order in which to read:

- :mod:`.node`: A node for its program: number, CPU, port, memory; and for layers on one of its NICs
- :mod:`.host`: A node without its NICs: what all its CPUs share, whoever looks at it
- :mod:`.cpu`: A CPU of a node, or its kernel, which any CPU executes: whoever has a port
- :mod:`.kernel_cpu`: The kernel of a node whose CPUs share the NIC, in place of a CPU
- :mod:`.position`: A layer's position on the wire: on a node as a whole, or on one of its several
  NICs
- :mod:`.services`: Services of one owner, each the only one of its kind: of a CPU, of a node, of
  the run
- :mod:`.port`: A node's host port for its program: work, operations, marks
- :mod:`.words`: The words of entries and answers, as a port packs and reads them
- :mod:`.entries`: Operations of a CPU, put into blocks of entries: a full block is queued, and
  another begun
- :mod:`.block`: A block: what a port gives to the target at a time
- :mod:`.marking`: A port that keeps marks
- :mod:`.serving`: Serves one host port at an attention: takes its answers, resumes its program, and
  gives it the next block
- :mod:`.running`: The port of whichever CPU runs: for code that several CPUs of a node execute,
  such as a kernel's
- :mod:`.suspension`: Awaitables that suspend a host program
- :mod:`.costs`: The CPU cost model: named items, each a number of CPU cycles, and the paths made of
  them
- :mod:`.prices`: The paths of a layer as a CPU charges them
- :mod:`.work`: A CPU's work: counts of cost items and paths, and CPU cycles converted into ticks
- :mod:`.memory`: Allocation of a node's host memory, and a host memory in plain Python
- :mod:`.backend`: The interface of a back end to the runtime: a mailbox of blocks and answers, and
  a memory for each node
- :mod:`.forgotten`: A flush that a program forgot, on a bus that is not coherent
- :mod:`.sent_again`: Counts of packets that a layer sent again, by peer and cause
- :mod:`.watch`: Tells of a program that runs without letting target time advance, and ends it after
  a while
- :mod:`.ends`: Knows which programs of a run have ended
- :mod:`.diagnosis`: Operations in words, for the diagnosis of a run that never ends
"""
