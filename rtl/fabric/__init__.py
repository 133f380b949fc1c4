"""Everything between the nodes' NICs.

In the order in which to read:

- :mod:`.fabric`: The fabric: everything between the nodes' NICs
- :mod:`.link`: A link: one direction of a cable, from the sender's end to the receiver's buffer
- :mod:`.routing`: Reads a packet's route in a switch: the output that it names, and what remains of
  it
- :mod:`.switch`: A crossbar switch: source routes, wormhole, round-robin
- :mod:`.faults`: Injected faults on a link: packets lost, corrupted, duplicated or delayed
"""
