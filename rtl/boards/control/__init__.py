"""Executes the back end's commands, and answers them.

In the order in which to read:

- :mod:`.control`: The control of a board: executes the back end's frames and answers them
- :mod:`.commands`: Execution of the commands in a frame from the back end
- :mod:`.responses`: Composition of the frames that answer the back end
- :mod:`.stepper`: The clock enable of a board's target: when the target takes a step
"""
