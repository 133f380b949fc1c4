"""Benches and labs: tools that run a block, a layer or a board, and observe it.

In the order in which to read:

- :mod:`.bench`: Block-level benches: one Amaranth component in a simulator, driven by cocotb
- :mod:`.started`: Simulators that are started once and forked for each case
- :mod:`.control_bench`: Benches of the NIC processor's control blocks, on Amaranth's own
  simulator
- :mod:`.gate_pair`: A block beside its own netlist of ECP5 cells, both with the same inputs
- :mod:`.packets`: Packets for the benches of the fabric: flits, CRC, the cycle counter, a log of
  every cycle
- :mod:`.rows`: Rows of parameters
- :mod:`.played_nic`: A node whose NIC a bench plays: the product's Node, with a NIC that only
  hands out its socket
- :mod:`.port_system`: A node of one CPU whose NIC the bench plays, and what drives it in benches
- :mod:`.smp_system`: A node of several CPUs whose NIC and memory the bench plays, and what drives
  it in benches
- :mod:`.vi_sender`: Everything around the sender, in Python: work queues and scheduler, contexts,
  host memory, the peers of its VIs with a lossy wire, and a record of what it did
- :mod:`.vi_receiver`: A receiver with everything around it: memory, translators, receive queues,
  contexts, peers
- :mod:`.processor`: A NIC processor alone in Verilator: programs are loaded into it, run, and
  looked at afterwards
- :mod:`.model`: A lab over the functional model: benchmarks without a simulator, in plausible
  times
- :mod:`.via_model`: Runs raw host programs on the VI engine's model
- :mod:`.kernel_trap`: Pairs of VIPL programs on the kernel-trap design point, over the functional
  target
- :mod:`.on_simulator`: Tests of the model target, run on the real one: the same functions in a
  simulator
- :mod:`.firmware_cases`: VIA's tests on the firmware of the NIC processor: which run, and what
  stands for what in them
- :mod:`.mpich`: MPICH's test suite: its lists of tests, compiled, run and judged
- :mod:`.promises`: Promises of cycles: docs/reference/promises.md, made from the tests that measure
  them
- :mod:`.nic_ports`: Ports of a NIC in Verilog: docs/reference/nic-ports.md, made from the socket
- :mod:`.synth`: Common parts of the tests of ``nicbed synth``
- :mod:`.users`: Functions run as a user who is not root, in a fork of the test's process
- :mod:`.board`: Boards in labs: tops in simulators, models, and ports that go wrong
"""
