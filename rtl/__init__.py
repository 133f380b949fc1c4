"""The target: everything that has time, in Amaranth."""
