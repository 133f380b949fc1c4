"""NIC descriptions that come with the testbed, as TOML."""
