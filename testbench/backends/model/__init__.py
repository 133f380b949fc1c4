"""The functional target: a target in Python, after the layouts, for ``--sim model`` and for tests.

It does what the target does, and needs no build; when it does it is estimated: nothing here is
measured against the RTL's cycles. Whole suites of programs run on it in minutes.

In the order in which to read:

- :mod:`.target`: Nodes, and a network with faults: the events, and the loop over them
- :mod:`.port`: The host ports: operations and their times
- :mod:`.nic`: A NIC: its registers, rings, uplink and receive side
- :mod:`.vi`: The VI engine's model: the specification in Python
- :mod:`.processor`: The NIC processor: the core of :mod:`.core`, NIC memory, registers, doorbells
  and engines after layouts.processor, running the real firmware images
- :mod:`.core`: A riscv32 core in plain Python (RV32IM, machine mode as far as the runtime uses it)
- :mod:`.backend`: The functional target as a back end
- :mod:`.entry`: The process that executes a job on it
"""
