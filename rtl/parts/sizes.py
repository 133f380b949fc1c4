"""Checks of the sizes that blocks are built with."""

from ...layouts.via import VI_BITS

__all__ = ["check_count", "check_integer", "check_power_of_two", "check_vis"]


def check_integer(name: str, value: int) -> None:
    """``value`` must be an integer, and no truth value."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")


def check_count(name: str, value: int, *, least: int = 1) -> None:
    """``value`` must be an integer of at least ``least``."""
    check_integer(name, value)
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def check_power_of_two(name: str, value: int, *, least: int = 2, most: int | None = None) -> None:
    """``value`` must be a power of two from ``least`` to ``most``."""
    check_integer(name, value)
    if value < least or value & (value - 1):
        raise ValueError(f"{name} must be a power of two, at least {least}, not {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, not {value}")


def check_vis(vis: int) -> None:
    """The number of a NIC's VIs."""
    check_power_of_two("vis", vis, least=2, most=1 << VI_BITS)
