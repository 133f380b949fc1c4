"""Benchmarks of MPI, beside those of the layer below.

In the order in which to read:

- :mod:`.names`: The names by which tables call the layers that carry MPI's messages
- :mod:`.pingpong`: Ping-pongs over MPI, and the same over the layer that carries it
- :mod:`.split`: Splits a rank's time in a ping-pong or a stream: parts of the library, the channel,
  waiting
- :mod:`.beside`: A ping-pong over MPI beside its twin over the layer below, and what the layer
  itself costs
- :mod:`.latency`: Latency: half the round trip of equal messages, and what MPI adds
- :mod:`.bandwidth`: Bandwidth: messages back to back, and what MPI leaves of it
- :mod:`.buffers`: Buffer management: latency if every message has fresh pages; the registration
  cache on and off
- :mod:`.connections`: Multiple connections: latency after n partners were contacted
- :mod:`.gather`: Non-contiguous data: a derived type of 1 to 64 blocks, packed or as segments
- :mod:`.wildcard`: Wildcards: receives from any rank, with any tag
- :mod:`.overlap`: Overlap: how much of a message a rank that computes hides
- :mod:`.loggp`: LogGP's parameters of MPI, measured
- :mod:`.patterns`: Lists which rank sends to which in a collective call, step by step, as the
  algorithms of ``host/mpi/collective/collectives.py`` have it; written apart from them
- :mod:`.collectives`: Collective calls over sizes, beside the prediction of LogGP
- :mod:`.commtest`: COMMTEST: 21 protocols by which ranks exchange messages, and which of them is
  fastest where
"""
