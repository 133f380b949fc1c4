"""Tables, result files and plots.

In the order in which to read:

- :mod:`.document`: Result files: one JSON document a run, the same bytes for the same
  configuration
- :mod:`.tables`: Tables for people: what a result file says, on a terminal or in a pipe
- :mod:`.plots`: Plots as PNG and SVG: one style, the same bytes for the same data
- :mod:`.comparison`: Benchmarks on several NIC descriptions: one column, or one line, a
  description
- :mod:`.axes`: Design points on the axes of processing and attachment: what each costs, and what
  bounds it
- :mod:`.profile`: A profile of NIC processors: functions, then the lines that cost most
- :mod:`.speed`: The table of ``nicbed speed``
"""
