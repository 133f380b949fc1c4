"""Tables, result files and plots.

In the order in which to read:

- :mod:`.document`: Result files: one JSON document for each run, with the same bytes for the same
  configuration
- :mod:`.tables`: Tables for readers: the content of a result file, on a terminal or in a pipe
- :mod:`.plots`: Plots as PNG and SVG: one style, the same bytes for the same data
- :mod:`.comparison`: Benchmarks on several NIC descriptions: one column, or one line, for each
  description
- :mod:`.axes`: Design points on the axes of processing and attachment: the costs and the bound of
  each
- :mod:`.profile`: A profile of NIC processors: functions, then the lines with the highest cost
- :mod:`.speed`: The table of ``nicbed speed``
"""
