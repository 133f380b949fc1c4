"""Checks a NIC that somebody plugs in, ``nicbed check``: two such NICs in a simulator are held to
the rules of their socket (:mod:`nicbed.rtl.node.nic_rules`) and to their own declaration.

In the order in which to read:

- :mod:`.scenarios`: The runs of a check, and the rules that they show
- :mod:`.traffic`: The traffic of a run: frames of every length, reads and writes of registers
- :mod:`.pair`: The design that is simulated: two NICs with the rules of their sockets
- :mod:`.bench`: Two NICs in a simulator, cycle by cycle
- :mod:`.nic_ports`: The ports of a NIC, and the record of their transfers
- :mod:`.host_port`: A node's host port, which executes programs and drivers
- :mod:`.sides`: Host memory behind DMA ports, and links
- :mod:`.inside`: In the simulator's process: runs the scenarios
- :mod:`.simulator`: Builds the simulators, and runs scenarios in one of them
- :mod:`.report`: The report: a line for each rule, and the work of the ports
"""
