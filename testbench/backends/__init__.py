"""Back ends: what carries a host port's operations to a running target."""
