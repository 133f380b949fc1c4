"""Providers for NICs that read descriptors from memory, posted by doorbells.

In the order in which to read:

- :mod:`.doorbell_queues`: Posting by doorbell: the common part of providers whose NIC reads
  descriptors from memory
- :mod:`.engine`: The provider for the VI engine in the NIC: registers and events beside
  :mod:`.doorbell_queues`
- :mod:`.physical`: The provider for host-supplied physical addresses (via.translation = physical)
- :mod:`.firmware`: The provider for VIA's firmware on the NIC processor (firmware/via)
"""
