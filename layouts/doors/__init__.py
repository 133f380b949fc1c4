"""The doors by which designs, layers and benchmarks come in, and the objects that go through them.

In the order in which to read:

- :mod:`.layer`: A communication layer as one object
"""
