"""Models in plain Python: the right answers for blocks and layers, and their surroundings in
benches.

In the order in which to read:

- :mod:`.target`: The functional target (:mod:`nicbed.testbench.backends.model`), which checks that
  all time of the CPUs has been charged
- :mod:`.spent`: The time that a CPU spent: by the counts of its port, and by its operations
- :mod:`.riscv`: RV32IM in Python, by the text of the unprivileged ISA manual: what the cores are
  held against
- :mod:`.host_port`: The times of a host port, its bus and its memory, in plain Python: no DMA, no
  interrupts
- :mod:`.nic`: The surroundings of a NIC in its benches: host memory behind a Burst, PIO, packets,
  events
- :mod:`.processor_engines`: The surroundings of an engine of the NIC processor in its bench: NIC
  memory, and firmware
- :mod:`.board`: A toy machine to put a board's harness around, as RTL and as a model of it
- :mod:`.toy_messages`: Active Messages of processes that are CPUs, without a NIC: what Split-C
  needs
- :mod:`.toy_target`: A target of nothing but host ports that can only delay: what back ends are
  tested against
- :mod:`.interleaved`: The CPUs of a node with their operations on memory as atomic steps, taken in
  any order
- :mod:`.unkind_target`: Memory as unkind as a device's: what a BlockRam reads of a word being
  written comes inverted
- :mod:`.logp_machine`: A synthetic LogP machine of two nodes, for tests of estimators and truth
- :mod:`.via_machine`: A synthetic VIA machine of two nodes with known parameters, for estimators,
  truth and reports
- :mod:`.vi`: The surroundings of blocks of the VI engine in their benches
- :mod:`.random_logic`: Random Verilog, for what changes how a model is evaluated
"""
