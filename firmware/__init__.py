"""Firmware of NIC processors."""
