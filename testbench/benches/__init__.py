"""The microbenchmarks: one module each; see the registry."""
