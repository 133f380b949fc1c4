"""Common parts of benchmarks: programs, evaluations, tables.

In the order in which to read:

- :mod:`.programs`: Common parts of the benchmarks' host programs: clocks, round trips and streams
  of requests over any layer whose requests have replies
- :mod:`.one_nic`: Benchmarks on nodes with several NICs: a lab whose programs, and whose events,
  are of one NIC of each node
- :mod:`.processes`: Benchmarks over layers of which each CPU can have a process: a lab whose
  programs, marks and results are one a process
- :mod:`.transfers`: Bulk transfers as streams of issues: store, store_async and get between two
  nodes
- :mod:`.gap_bound`: The block that bounds the gap, in results: its fields, its sentence, its table
- :mod:`.streams`: Streams of requests between many nodes at once: the gap of each, and its truth
- :mod:`.gap_report`: The gap by number of nodes: its results, tables, plot, headlines
- :mod:`.latencies`: Common part of the latency benchmarks: half round trips by variant over x,
  their legs from the trace, the difference of a variant to the plain one; tables, plot, headline
  figures
- :mod:`.reported`: A benchmark whose results are shown by a report: a module of functions, or an
  object
- :mod:`.varied_latency`: A benchmark of latency in which one thing is varied
- :mod:`.logp_results`: LogP parameters as a benchmark's results: what a signature gives on any
  layer
- :mod:`.logp_truth`: The truth of the LogP parameters from the traces of the signature's runs, a
  method a parameter
- :mod:`.logp_evaluation`: From the runs of the signature to o_s, o_r, g, L, the truth beside them,
  and the checks
- :mod:`.logp_report`: Tables and plot of the signature
- :mod:`.bulk_report`: Bulk transfers: results, tables and plot
- :mod:`.headline`: Figures of a benchmark for ``nicbed compare``
"""
