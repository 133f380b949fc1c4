"""The memory system of a node: what an access takes by where the line is, and what CPUs share.

In the order in which to read:

- :mod:`.accesses`: Single accesses of a CPU, by what it does and by where the line is
- :mod:`.sharing`: Measures CPUs of a node at once: copies, CAS of one word, locks, a barrier, a
  word to and fro
- :mod:`.nic`: A CPU's accesses to the NIC, and the NIC's to memory
- :mod:`.results`: Parameters and results of the memory system's benchmark
- :mod:`.machines`: Published figures of the machines whose descriptions come with the package
- :mod:`.report`: Tables, plot and headline figures of the memory system's benchmark
- :mod:`.memory`: The benchmark of a node's memory system: measurement and evaluation
"""
