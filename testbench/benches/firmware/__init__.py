"""Benchmarks of the layers that live in firmware of the NIC processor: GM and Fast Messages."""
