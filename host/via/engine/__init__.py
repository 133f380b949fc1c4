"""Providers for NICs that read descriptors from memory, posted by doorbells.

In the order in which to read:

- :mod:`.doorbell_nic`: The common part of the providers whose NIC reads descriptors from memory,
  posted by doorbells
- :mod:`.engine`: The provider for the VI engine in the NIC, with whichever table of translations it
  has
- :mod:`.firmware`: The provider for VIA's firmware on the NIC processor (firmware/via)
- :mod:`.doorbell_posts`: Posting by doorbell, for a NIC that reads descriptors from memory
- :mod:`.shadow_posts`: Posting with host-supplied physical addresses (via.translation = physical)
- :mod:`.token_posts`: Posting by tokens, for firmware that may miss some of them
- :mod:`.doorbells`: Writes to the doorbell pages of VIs and completion queues
- :mod:`.nic_words`: Words that the kernel agent and the library write to a NIC that reads
  descriptors
"""
