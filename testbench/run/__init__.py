"""Records a run, stops one, and shares the beginning of runs that begin alike.

In the order in which to read:

- :mod:`.recording`: Records Python's inputs to a target in a run, in order, for replay by the bare
  loop
- :mod:`.sent_again`: Checks whether packets were sent again, which must not happen on a network
  without losses
- :mod:`.watchdog`: Ends a host program that never lets target time advance
- :mod:`.branches`: Runs that begin alike: the beginning is simulated once, and each run goes on in
  a fork
"""
