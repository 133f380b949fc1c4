"""The data of messages: datatypes, buffers, copies, memory, operations.

In the order in which to read:

- :mod:`.datatypes`: Datatypes: the bytes of a buffer that a message has, and their order
- :mod:`.buffers`: Buffers of a program: arrays of numpy that have a place in the process's memory
- :mod:`.message_data`: The bytes of a message, and those of all ranks' parts: where they are in
  memory
- :mod:`.overlap`: Buffers of a call that overlap
- :mod:`.memory`: Memory of a program's process, for data that lie to both sides of an address
- :mod:`.memory_store`: Memory of a process that is used again
- :mod:`.registration`: Registered memory of users' buffers, kept after use
- :mod:`.copies`: Copies by the CPU, from and to pieces of a process's memory
- :mod:`.operators`: Operations of Reduce and its relatives
- :mod:`.operands`: Operands of reductions: elements of a datatype in memory of the library's own
"""
