"""LogP estimators: from measured points alone.

In the order in which to read:

- :mod:`.fits`: Straight lines through measured points, in exact arithmetic
- :mod:`.logp`: LogP parameters from a signature, from measurements by a program's own clock alone
- :mod:`.one_way`: Latency, and the LogP parameters of a one-way layer, from a program's own clock
- :mod:`.loggp`: Predicts by LogGP when each rank of a pattern of messages ends
- :mod:`.bulk`: Bandwidth figures from times over sizes
- :mod:`.fairness`: Shares of a resource that several parties wanted at once
- :mod:`.compare`: Compares estimates with the truth: difference, named bias, and checks that can
  fail
"""
