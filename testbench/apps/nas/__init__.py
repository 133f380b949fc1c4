"""The NAS kernels: their runs and their reports.

In the order in which to read:

- :mod:`.extent`: Decides how much of a kernel is run, and estimates how long that takes
- :mod:`.measurement`: Runs a kernel, verifies it, and reports where its time went and which
  messages were sent
- :mod:`.timing`: The timed part of a run, from marks alone: computation, communication, waiting
- :mod:`.report`: Tables and picture of a kernel's run
- :mod:`.changes`: Changes o, g or L, in each channel by the knob that bounds it
- :mod:`.worth`: Measures what a cycle of o, of g and of L is worth to a kernel: each is changed
  alone
- :mod:`.worth_report`: Tables and picture of that, on several NICs
"""
