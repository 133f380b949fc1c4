"""Translation of a virtual address and a memory handle to a physical address, or a refusal.

In the order in which to read:

- :mod:`.translator`: The address translator: from a virtual address and a handle to a physical
  address, or a refusal
- :mod:`.translation_table`: The translation and protection table in NIC memory, and the content
  of its entries
- :mod:`.table_walk`: Reads an entry of the translation and protection table in host memory
- :mod:`.translation_cache`: A set-associative cache over the translation and protection table in
  host memory
"""
