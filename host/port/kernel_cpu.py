"""The kernel of a node whose CPUs share the NIC, in place of a CPU."""

from collections.abc import Iterator

from .cpu import ALL, Cpu
from .host import Host
from .running import Running, port_of

__all__ = ["kernel_cpu"]


def kernel_cpu(host: Host) -> Cpu:
    """The kernel of ``host``: its port and its trace numbers are those of the CPU which executes
    it, its services and interrupt handlers are its own."""
    running = host.run_services.find(Running, Running)
    return Cpu(ALL, port_of(running), _trace_numbers(host, running))


def _trace_numbers(host: Host, running: Running) -> Iterator[int]:
    numbers = [cpu.trace_numbers for cpu in host.cpus]
    while True:
        yield next(numbers[running.port.cpu])
