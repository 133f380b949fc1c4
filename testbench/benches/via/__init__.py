"""The benchmarks of the Virtual Interface Architecture: programs on VIPL.

In the order in which to read:

- :mod:`.pingpong`: Ping-pongs on VIPL
- :mod:`.room`: Counts the VIs for which there is room: those of the description, or, where firmware
  keeps them, as many as NIC memory holds
- :mod:`.stream`: Streams on VIPL: messages back to back, acknowledged when the last has come
- :mod:`.latency`: Latency of VIA: the plain ping-pong of one VI, polled
- :mod:`.bandwidth`: Bandwidth of VIA, and the block that bounds it
- :mod:`.counting`: o_r if arrivals interrupt: a counting loop on the receiver, alone and while
  messages arrive
- :mod:`.logp`: LogP of VIA: o_s from streams of few sends, o_r from a ping-pong with a delay longer
  than L between send and receive, g from long streams, L, and o_r with interrupts from a counting
  loop
- :mod:`.logp_results`: LogP of VIA as results: at each size, at the smallest one, with interrupts
- :mod:`.size_estimates`: The LogP parameters of VIA at one size from the clocks of its programs, a
  method a parameter
- :mod:`.size_truth`: The truth of the LogP parameters of VIA at one size from the traces, a method
  a parameter
- :mod:`.logp_evaluation`: From the runs of logp on VIA to o_s(n), o_r(n), g(n), L(n), the truth
  beside them, and checks
- :mod:`.logp_report`: Tables and plot of LogP on VIA
- :mod:`.buffers`: Buffer management: latency if every send and every receive has its own buffer on
  its own pages
- :mod:`.connections`: Multiple connections: latency between two endpoints while n VIs are connected
- :mod:`.blocking`: Blocking: latency with receives that wait for an interrupt, at once or after
  spinning for a while; and the difference to polling
- :mod:`.gather`: Non-contiguous data: one message of a fixed total in 1 to 64 segments at either
  end
- :mod:`.cq`: Completion queue: latency with completions taken from a completion queue of n receive
  queues, and the difference to the plain ping-pong
"""
