"""Checks of what others plug in: ``nicbed check``."""
