"""What a board keeps for the back end: blocks, pages of host memory, logs.

In the order in which to read:

- :mod:`.block_store`: A host port's block of entries and answers on a board
- :mod:`.resident_memory`: Host memory of a node on a board: the pages that are resident there
- :mod:`.log`: Records on their way from a board to the back end
- :mod:`.write_log`: What the target wrote to its host memories, in order, for the back end
- :mod:`.trace_log`: The target's events on a board, for the back end
"""
