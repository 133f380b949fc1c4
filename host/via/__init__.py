"""The Virtual Interface Architecture for host programs: VIPL, under its own names."""
