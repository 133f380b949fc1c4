"""Host programs, and jobs for a lab.

In the order in which to read:

- :mod:`.am`: The promises of Active Messages as programs and checks that run on any target
- :mod:`.fm`: The promises of Fast Messages as programs and checks that run on any target
- :mod:`.gm`: Host programs for tests of GM: a station is a port with its buffers, and what
  happened at it
- :mod:`.vipl`: Host programs over VIPL: what tests of the library start from
- :mod:`.via_raw`: VIA without VIPL: a node's memory, VIs and descriptors by hand, for tests of
  the engine itself
- :mod:`.via_firmware_raw`: VIA without VIPL on the firmware of the NIC processor:
  :class:`tests.programs.via_raw.Raw` by other means
- :mod:`.firmware`: Host programs for tests of firmware: packets of protocol RAW out of the
  window, into the ring
- :mod:`.junk_slots`: Slots and doorbells that make no sense, for firmware am and fm: programs for
  any target
- :mod:`.riscv`: Assembly of programs that exercise each instruction of RV32I and M, and that end
  in a crash ``PANIC``
- :mod:`.target_jobs`: Jobs for the whole target: what back ends and options are held against each
  other with
- :mod:`.raw_ports`: Host ports driven block by block, without the runtime: every CPU of every
  node
- :mod:`.toy_jobs`: Jobs for the toy target, which has neither memory nor NIC
- :mod:`.attachment_jobs`: Jobs about where the NIC is attached: what a message costs the CPU, and
  what the bus sees
- :mod:`.board_jobs`: Jobs that a board and a simulator are held against each other with, beside
  target_jobs
- :mod:`.bound_jobs`: Gaps and their bounds under several settings, in one simulator
- :mod:`.load_jobs`: Benchmarks under load, as a job for a lab: many rows in one simulator
- :mod:`.sent_again_jobs`: A job for the whole target: what a VI engine sends again, by its
  register and by the trace
- :mod:`.via_firmware_jobs`: Jobs in a simulator with VIA's firmware: round trips with other VIs
  open beside the one, and the tests of the engine
- :mod:`.via_ideal_jobs`: The speed of the VI engine alone, measured on the wire: jobs for a lab of
  the ideal NIC
- :mod:`.via_load_jobs`: Many VIs at once, receives posted ahead, as a job for a lab of a NIC with
  a VI engine
- :mod:`.short_logp`: An experiment for `nicbed run`: a LogP signature of few points, where a
  whole one takes long
- :mod:`.board_experiment`: A short experiment for `nicbed run`, to hold the result files of back
  ends against each other
- :mod:`.via_random`: Random programs for the VI engine: drawn, played, judged
"""
