"""The benchmarks of the Virtual Interface Architecture: programs on VIPL."""
