"""LogP estimators: from measured points alone.

In the order in which to read:

- :mod:`.fits`: Straight lines through measured points, in exact arithmetic
- :mod:`.logp`: LogP parameters from a signature: what a program sees with its own clock, and
  nothing else
- :mod:`.one_way`: Latency, and the LogP parameters of a one-way layer: from what a program's own
  clock says
- :mod:`.bulk`: Bandwidth figures from times over sizes
- :mod:`.fairness`: Who got how much of what several wanted at once
- :mod:`.compare`: Estimates beside the truth: difference, named bias, and checks that can fail
"""
