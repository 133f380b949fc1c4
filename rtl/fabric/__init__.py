"""Everything between the nodes' NICs.

In the order in which to read:

- :mod:`.fabric`: The fabric: what lies between the nodes' NICs
- :mod:`.link`: A link: one direction of a cable, from the sender's end to the receiver's buffer
- :mod:`.switch`: A crossbar switch: source routes, wormhole, round-robin
- :mod:`.faults`: Faults on a link, on request: packets lost, corrupt, doubled or late
"""
