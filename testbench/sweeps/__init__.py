"""Studies: measurements at many points of a design, as one table.

In the order in which to read:

- :mod:`.axis`: The values of one knob in a study: a list, a range with a step, or a range alone
- :mod:`.measured`: The measurements at a point: benchmarks, programs and ``area``; their figures as
  metrics
- :mod:`.constraint`: Conditions on knobs: comparisons, without anything else of Python
- :mod:`.start`: The description from which points start, and the way of measuring them
- :mod:`.plan`: The plan of a study: its points, benchmarks and metrics
- :mod:`.file`: A study's file in TOML
- :mod:`.executor`: Executors of measurements: their common interface, and threads of this process
- :mod:`.figures`: Finds the figures that a study asks for: before anything runs, in the first
  result, or in all results
- :mod:`.sweep`: Turns a plan into its table: refuses points, groups them by build, and measures
  them as rows
- :mod:`.table`: The table of a study: its columns with units, as CSV, Parquet and data frame
- :mod:`.plots`: Plots of a study's table: lines, heat map, Pareto front, parallel coordinates
"""

from .executor import Executor, Local, Outcome, Task
from .plan import Plan, planned
from .sweep import Prepared, measured, prepare, sweep
from .table import Column, Table

__all__ = ["Column", "Executor", "Local", "Outcome", "Plan", "Prepared", "Table", "Task",
           "measured", "planned", "prepare", "sweep"]
