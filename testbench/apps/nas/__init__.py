"""The NAS kernels: their runs and their reports.

In the order in which to read:

- :mod:`.measurement`: Runs a kernel, verifies it, and says where its time went and what was sent
- :mod:`.timing`: The timed part of a run, from marks alone: computation, communication, waiting
- :mod:`.report`: Tables and picture of a kernel's run
"""
