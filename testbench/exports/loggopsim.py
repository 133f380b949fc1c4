"""The command line of LogGOPSim: times in nanoseconds.

LogGOPSim has one o for both ends and adds O for each byte; here the CPU's time a byte is in o_s and
o_r of larger messages, which LogGP does not have, so O is 0. Source: Hoefler, Schneider, Lumsdaine:
LogGOPSim, Simulating Large-Scale Applications in the LogGOPS Model, 2010.
"""

from .parameters import Parameters

__all__ = ["text"]

_NANO = 1e9


def text(found: Parameters) -> str:
    """The options, on one line, below a comment."""
    overhead = (found.send + found.receive) / 2
    options = {"-L": f"{found.latency * _NANO:.0f}", "-o": f"{overhead * _NANO:.0f}",
               "-g": f"{found.gap * _NANO:.0f}", "-G": f"{found.byte_gap * _NANO:.6g}", "-O": "0"}
    return (f"# {found.source}; o is the mean of o_s and o_r\n"
            + " ".join(f"{name} {value}" for name, value in options.items()) + "\n")
