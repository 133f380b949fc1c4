"""The NIC processor: a published core with NIC memory, and the engines that firmware drives."""
