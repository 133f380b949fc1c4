"""The surroundings of blocks of the VI engine in their benches.

In the order in which to read:

- :mod:`.consumer`: The surroundings of a block of the VI engine in its benches: a consumer's memory
  under handles, the translator that finds it, and descriptors
- :mod:`.memory`: The surroundings of the parts of the VI engine in their benches: virtual memory
  behind a translator's client
- :mod:`.contexts`: Contexts beside a block under test: answers its reads, holds what a test lays
  down
- :mod:`.receiver`: The answer that a receiver must give to each packet, one after the other
- :mod:`.translation`: Models around the address translator: its clients, the table as the kernel
  agent keeps it, and what may be answered while it changes
"""
