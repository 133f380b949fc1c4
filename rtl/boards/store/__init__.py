"""Data that a board stores for the back end: blocks, pages of host memory, logs.

In the order in which to read:

- :mod:`.block_store`: A host port's block of entries and answers on a board
- :mod:`.resident_memory`: Resident pages of a node's host memory on a board
- :mod:`.log`: A log of records on their way from a board to the back end
- :mod:`.write_log`: Log of the target's writes to its host memories, in order, for the back end
- :mod:`.trace_log`: Log of the target's events on a board, for the back end
"""
