"""The truth: from events and marks alone. Imports nothing from the estimators.

In the order in which to read:

- :mod:`.spans`: The activity of each CPU over time: marks paired into spans
- :mod:`.phases`: Phases of a program: how long each took on each node, and what the CPU did in it,
  from marks alone
- :mod:`.messages`: One-way messages and their echoes, from events and marks: the legs of half a
  round trip
- :mod:`.echoes`: Round trips of layers that do not mark which message a call finds: cut where the
  message left the CPU and where it had landed
- :mod:`.exchange`: Each request with its reply: every leg there and back, from events and marks
- :mod:`.steady`: Means over many messages in steady state, from events and marks
- :mod:`.budget`: A CPU's time in steady state: mean ticks for each request, by activity
- :mod:`.busy`: Intervals in which blocks served and CPUs worked, from events and marks
- :mod:`.bound`: The block that bounds the gap: busy shares in steady state, from the trace
- :mod:`.breakdown`: The life of a message by stage, from its call to its handler's end, without
  gaps
- :mod:`.service`: The service time of each stage for a message, from a run of one sender and one
  receiver, and predictions for many nodes: the stage with the most service sets the pace
- :mod:`.memory`: Computes what accesses to memory and NIC take by the contracts of the RTL's
  blocks, where nobody else uses the bus and the memory: cycles from a description's knobs alone
"""
