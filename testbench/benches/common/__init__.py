"""What benchmarks share: programs, evaluations, tables.

In the order in which to read:

- :mod:`.programs`: What the benchmarks' host programs share: parties with the same handlers,
  clocks, streams
- :mod:`.transfers`: Bulk transfers as streams of issues: store, store_async and get between two
  nodes
- :mod:`.streams`: Streams of requests between many nodes at once, and the gap of each; how it is
  shown
- :mod:`.latencies`: What the latency benchmarks share: half round trips by variant and over some
  x, their legs from the trace, what a variant costs beyond the plain one; tables, plot, headline
  figures
- :mod:`.logp_evaluation`: From the runs of the signature to o_s, o_r, g, L, the truth beside
  them, and the checks
- :mod:`.logp_report`: Tables and plot of the signature
- :mod:`.bulk_report`: Tables and plot of bulk transfers
- :mod:`.headline`: What a benchmark hands to ``nicbed compare``
"""
