"""Collective calls over messages in a context of their own.

In the order in which to read:

- :mod:`.collectives`: Collective calls of one group
- :mod:`.neighbours`: Collective calls among neighbours
- :mod:`.intercollectives`: Collective calls between two groups
- :mod:`.nonblocking`: Calls that have only begun: collective calls, and exchanges, that do not
  block
"""
