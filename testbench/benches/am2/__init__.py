"""Benchmarks of Active Messages II.

In the order in which to read:

- :mod:`.between`: Latency and bandwidth between two processes, which the link carries, or the
  memory of a node
- :mod:`.bursts`: Bursts of requests to a process that looks for them when they have been sent
- :mod:`.logp_results`: The results of the LogP signature of Active Messages II
- :mod:`.logp`: The LogP signature of Active Messages II: as of Active Messages, but for o_s, which
  is of bursts that the receiver takes later
- :mod:`.incast`: Many processes send to one over Active Messages II
- :mod:`.nics`: Bandwidth by number of NICs over Active Messages II: a process for each NIC
- :mod:`.send_stack`: The stack of a send's costs, in the form in which it was published, and ours
  in that form
- :mod:`.send_cost`: The cost of a request between CPUs of a node, step by step: what the CPU works
  and what it waits for memory, beside the published stack
- :mod:`.polled_traffic`: Traffic by which the polling of two protocols is measured: a round trip,
  sends and a stream between two processes, and messages of both protocols that come to one
- :mod:`.polling`: The cost of a second protocol under one poll: local traffic with shared memory
  alone and with both protocols, traffic of the network likewise, over the ways of polling; and how
  often polls look at the network as the share of its messages varies
"""
