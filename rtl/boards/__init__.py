"""The target on an FPGA board.

In the order in which to read:

- :mod:`.core`: A complete target behind a serial line
- :mod:`.harness`: The environment of the machine on a board, up to the words of the serial link
- :mod:`.turns`: Turns of two nodes that share their logic: when each takes its edge
- :mod:`.line`: The serial line: bytes, frames, words
- :mod:`.control`: Executes the back end's commands, and answers them
- :mod:`.store`: Data that a board stores for the back end: blocks, pages of host memory, logs
- :mod:`.devices`: The supported boards: clock, pins, device
"""
