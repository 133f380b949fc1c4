"""The NIC processor as a host program sees it: loading firmware, queues and commands to it."""
