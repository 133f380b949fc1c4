"""The back end's commands carried out, and answered.

In the order in which to read:

- :mod:`.control`: The control of a board: what the back end says, and what is answered
- :mod:`.commands`: Execution of the commands in a frame from the back end
- :mod:`.responses`: Composition of the frames that answer the back end
- :mod:`.stepper`: When a board's target takes a step
"""
