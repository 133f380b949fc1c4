"""Runs a target on an FPGA board, over a serial line."""
