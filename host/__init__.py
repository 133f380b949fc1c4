"""The world of host programs: they take no target time but in operations of their host port."""
