"""The truth: from events and marks alone. Imports nothing from the estimators.

In the order in which to read:

- :mod:`.spans`: What each CPU was doing when: marks paired into spans
- :mod:`.messages`: One-way messages and their echoes, from events and marks: where half a round
  trip goes
- :mod:`.exchange`: Each request with its reply: every leg of the way there and back, from events
  and marks
- :mod:`.steady`: Means over many messages in steady state, from events and marks
- :mod:`.budget`: Where a CPU's time goes in steady state: mean ticks a request, activity by
  activity
- :mod:`.busy`: When blocks served, and CPUs worked: intervals from events and marks
- :mod:`.bound`: Which block bounds the gap: busy shares over the steady state, from the trace
- :mod:`.breakdown`: The life of a message by stage: from its call to its handler's end, without a
  gap
- :mod:`.service`: What each stage needs for a message, from a run of one sender and one receiver;
  and what follows for many: the stage with most to serve sets the pace
"""
