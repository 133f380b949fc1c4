"""Boards in labs: tops in simulators, models, and ports that go wrong.

In the order in which to read:

- :mod:`.lab`: Labs on boards' tops, and what tests put between a back end and its board: ports
  that count or hurt what they carry, a cable that can be pulled
- :mod:`.client`: The back end's end of a board's word streams: frames, responses, and whole runs
  by them
- :mod:`.frames`: Frames of layouts.board byte by byte: slow, plain, and apart from what is tested
  with them
- :mod:`.ports`: Boards at the other end of a serial line: in Python, and behind a SerialLink; and
  noise
"""
