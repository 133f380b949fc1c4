"""What is recorded of a run, and what stops one.

In the order in which to read:

- :mod:`.recording`: Records Python's inputs to a target in a run, in order, for replay by the bare
  loop
- :mod:`.sent_again`: Checks whether packets were sent again, which must not happen on a network
  without losses
- :mod:`.watchdog`: Reports, and in the end stops, a host program that never lets target time
  advance
"""
