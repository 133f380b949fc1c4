"""What is kept of a run, and what ends one.

In the order in which to read:

- :mod:`.recording`: What Python gave a target in a run, in order, for the bare loop to give again
- :mod:`.sent_again`: Whether anything was sent again: what a network that loses nothing must
  never see
- :mod:`.watchdog`: Tells of a host program that never lets target time go on, and ends it in the
  end
"""
