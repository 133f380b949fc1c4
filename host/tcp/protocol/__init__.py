"""TCP as a state machine: segments in, segments out, times given; no node, no CPU, no simulator.

In the order in which to read:

- :mod:`.checksum`: The checksum of IP and TCP
- :mod:`.sequence`: Sequence numbers, modulo 2^32
- :mod:`.headers`: Packets: the headers of IP and TCP, made and checked
- :mod:`.round_trip`: The retransmission time-out, from measured round trips
- :mod:`.congestion`: The congestion window: slow start, avoidance, fast recovery
- :mod:`.incoming`: Received bytes: in order for the reader, beyond a gap kept
- :mod:`.outgoing`: Bytes to be sent, and sent ones until they are acknowledged
- :mod:`.connection`: A connection: what a segment, a timer or a call of the process does to it
- :mod:`.endpoints`: The connections and listeners of a host: which one a segment is for
"""
