"""Has a model evaluate only what has changed, by a pass over the C++ that Verilator made.

Verilator evaluates all logic behind a clock at each of its edges. Most of that logic then computes
what it computed before: of a node with a VI engine, weighted by the accesses in its statements,
four fifths in a ping-pong and 72 % in a stream (docs/explanation/performance.md). So the
statements are distributed to clusters, and a cluster runs only if something that it read when it
ran last has changed since. Every variable has the same value as without the pass, after every
evaluation.

In the order in which to read:

- :mod:`.model`: Reads what Verilator wrote: the members of a model, and its statements by what
  triggers them
- :mod:`.accesses`: Finds what a statement of Verilator's C++ reads and writes
- :mod:`.parts`: Large conditional statements, taken apart by the variables that they set
- :mod:`.groups`: Numbers in groups that are joined
- :mod:`.clusters`: Decides which statements run together, and in which order
- :mod:`.branches`: Finds what a cluster reads only in a branch: while the branch is not taken, it
  is no input
- :mod:`.own`: Variables that only one cluster uses
- :mod:`.rewrite`: The pass: writes clusters, and the conditions that wake them, as C++

C++ that is not of the forms known here is not touched: then the model is evaluated as Verilator has
it, and the build says why.
"""
