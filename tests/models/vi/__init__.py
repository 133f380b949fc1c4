"""What stands around blocks of the VI engine in their benches.

In the order in which to read:

- :mod:`.consumer`: What stands around a block of the VI engine in its benches: a consumer's
  memory under handles, the translator that finds it, and descriptors
- :mod:`.memory`: What stands around the parts of the VI engine in their benches: virtual memory
  behind a translator's client
- :mod:`.contexts`: Contexts beside a block under test: answers its reads, holds what a test lays
  down
- :mod:`.receiver`: What a receiver must do with each packet, one after the other
- :mod:`.translation`: Models around the address translator: its clients, the table as the kernel
  agent keeps it, and what may be answered while it changes
"""
