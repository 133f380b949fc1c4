"""The target on an FPGA board.

In the order in which to read:

- :mod:`.core`: A whole target behind a serial line
- :mod:`.harness`: What surrounds the machine on a board, up to the words of the serial link
- :mod:`.turns`: When each of two nodes that share their logic takes its edge
- :mod:`.line`: The serial line: bytes, frames, words
- :mod:`.control`: The back end's commands carried out, and answered
- :mod:`.store`: What a board keeps for the back end: blocks, pages of host memory, logs
- :mod:`.devices`: The boards there are: clock, pins, device
"""
