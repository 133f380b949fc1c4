"""Collective calls over messages in a context of their own.

In the order in which to read:

- :mod:`.collectives`: Collective calls of one group
- :mod:`.neighbours`: Collective calls among neighbours
- :mod:`.intercollectives`: Collective calls between two groups
- :mod:`.nonblocking`: Nonblocking calls: collective calls and exchanges that have begun
"""
