"""The target on an FPGA board: a serial line, host memory, logs, control."""
