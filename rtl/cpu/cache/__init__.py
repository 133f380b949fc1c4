"""The parts of a CPU's cache.

In the order in which to read:

- :mod:`.tags`: The tags of a direct-mapped cache without data, and a state for each line
- :mod:`.refill`: The traffic of a cache's lines on the memory port
- :mod:`.policy`: The side of a policy: the rules by which the cache of a node's only CPU decides
- :mod:`.private`: The policy of a cache beside which nobody has to be told of stores
- :mod:`.upgrading`: The policy of a cache whose NIC is on the memory bus, and sees what lines
  stores take
- :mod:`.flushing`: The policy of a cache on a bus that is not coherent
- :mod:`.fault`: A flush that a program has forgotten
- :mod:`.mesi`: States of the lines of several caches
- :mod:`.sharing`: The effects that other caches and the NIC have on the lines of a cache
- :mod:`.taken_lines`: Tells a NIC on the memory bus of the lines that stores take
"""
