"""Benchmarks of Active Messages.

In the order in which to read:

- :mod:`.rtt`: Round trips of a request and its reply, 1 to 4 words: measured, and leg by leg from
  the trace
- :mod:`.packets`: Packets past the layer: the layer's own way to the NIC, with no window, no
  sequence numbers and no handlers
- :mod:`.bare`: Round trips past the layer: a program that drives the layer's own way to the NIC,
  beside Active Messages over the same way
- :mod:`.single_calls`: Single calls of Active Messages, far apart, each between two readings of the
  CPU's clock
- :mod:`.overhead`: CPU costs of single calls: requests and replies by words, empty polls,
  successful polls
- :mod:`.logp`: The LogP signature of small messages: o_s, o_r, g, L and RTT, with the truth beside
  them
- :mod:`.latency`: Latency of Active Messages
- :mod:`.bandwidth`: Bandwidth of Active Messages: asynchronous stores
- :mod:`.prtt`: LogP the LogGP way, as a cross-check: from PRTT(n, d, s), the time of n messages of
  s bytes with delay d between them and the answer to the last
- :mod:`.bulk`: Bulk transfers over sizes: T(n), o_s(n), o_r(n), g(n), bandwidth, r_inf, n_1/2, T0
  and G
- :mod:`.pipelined`: A fixed total moved as requests of 64 B to 1 MB: asynchronous and pipelined, or
  blocking
- :mod:`.exchange`: Both nodes send at once, started by a third; and one node does both, with a get
  and a store
- :mod:`.pairs`: All pairs at once, half of the nodes requesting, half replying: is each as fast as
  one alone?
- :mod:`.one_to_many`: One node sends to many in turn: its gap falls if the remote reply was the
  bottleneck
- :mod:`.many_to_one`: K nodes send to one: the gap at K senders over the gap at one, beside the
  prediction from the stages' services, and each sender's share
"""
