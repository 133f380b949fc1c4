"""Runs a target on an FPGA board, over a serial line.

In the order in which to read:

- :mod:`.entry`: The process that executes a job on a board, or on a board's top in a simulator
- :mod:`.backend`: The target on a board, or on a board's top in a simulator: operations and answers
  by frames
- :mod:`.line`: The serial line to a board: transports commands and responses, even if the line
  loses or damages frames
- :mod:`.ports`: Serial ports: a board's, and the port of a board's top in a simulator
- :mod:`.commands`: Commands to a board, as words (:mod:`nicbed.layouts.board`)
- :mod:`.responses`: Decodes the words of a board's response (:mod:`nicbed.layouts.board`)
- :mod:`.memory`: A node's host memory: a complete copy here, and pages of it resident on the board
"""
