"""Published machines: their figures beside ours, and descriptions fitted to figures.

In the order in which to read:

- :mod:`.quantities`: The quantities of which studies publish figures, and the benchmark that gives
  each
- :mod:`.programs`: Programs over Split-C, and sorts of fewer keys in place of long ones
- :mod:`.sized`: Programs of the study of clumps at sizes that run, and what they take at the
  study's size
- :mod:`.measured`: Benchmarks' outcomes, kept in the cache by their content
- :mod:`.field_quantities`: Quantities of a study's own: a benchmark, and a field of its results
- :mod:`.studies`: The tables of published studies, from files
- :mod:`.published`: The published studies that come with nicbed
- :mod:`.time_spent`: Tells from traces where a machine's time goes: a round trip in parts, and how
  long each block is busy for a message
- :mod:`.reproduction`: A published table measured on the machines' descriptions, with its errors
- :mod:`.calibration`: The ``[fit]`` table of a description: parameters, their bounds, their figures
- :mod:`.lattice`: Least squares over knobs that have steps
- :mod:`.apart`: Fits each parameter by itself, if each has a figure of its own that is nearly
  linear in it
- :mod:`.sharpness`: Measures how sharply figures fix parameters: the singular values of the scaled
  Jacobian
- :mod:`.writing`: Writes fitted values into a description's file
- :mod:`.curves`, :mod:`.layouts_drawn`, :mod:`.plots`: Plots of published tables
- :mod:`.intervals`: How sure a figure is, by the ranges of what nobody measured
- :mod:`.page`: docs/explanation/reproduction.md
"""
