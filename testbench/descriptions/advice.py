"""Notes about consequences of a description that its designer may not have intended."""

from fractions import Fraction
from math import ceil

from ...layouts.description import Description
from ...layouts.fabric import SWITCH_PIPELINE, link_depth
from ...layouts.packet import CRC_BYTES, FLIT_BYTES, HEADER_BYTES

__all__ = ["credit_bound", "least_window", "notes", "sent_again", "window_bound"]

ROUND_CYCLES = 2
"""Cycles of a credit's round trip besides flight and wire time."""
CONTROL_BYTES = HEADER_BYTES + 8 + CRC_BYTES
"""Bytes on the wire of an acknowledgement, and of a VIA packet around its payload."""
ENGINE_CYCLES = 100
"""Cycles of a packet's round trip in the VI engines of both ends, besides wire and memory time."""


def credit_bound(description: Description) -> Fraction | None:
    """Bytes a cycle that a link's credits allow, if this is less than its rate.

    A flit's credit returns after two flights, the flit's wire time, ROUND_CYCLES, and the time in
    which the switch holds the flit. In that time as many flits can be under way as the buffer
    holds.
    """
    link = description.link
    round_trip = 2 * link.latency + ceil(FLIT_BYTES / link.bytes_per_cycle) + ROUND_CYCLES
    into_node = Fraction(link_depth(link.buffer) * FLIT_BYTES, round_trip)
    into_switch = Fraction(link_depth(link.buffer, SWITCH_PIPELINE) * FLIT_BYTES,
                           round_trip + description.switch.latency + 1)
    allowed = min(into_node, into_switch)
    return allowed if allowed < link.bytes_per_cycle else None


def notes(description: Description) -> list[str]:
    """One line for each note. They are printed and kept in the result file."""
    found = []
    allowed = credit_bound(description)
    if allowed is not None:
        link = description.link
        found.append(
            f"links are credit-bound: link.buffer = {link.buffer} bytes allows "
            f"{float(allowed):.3g} of link.bytes_per_cycle = {float(link.bytes_per_cycle):.3g}; "
            f"2 × link.latency × rate is {ceil(2 * link.latency * link.bytes_per_cycle)} bytes")
    return found + window_bound(description) + sent_again(description)


def least_window(description: Description) -> int:
    """Least ``via.window``, a power of two of packets, with which one VI of an engine fills the
    link with large messages. Twice as many slots are then enough.

    One packet in each half window requests an acknowledgement. This packet and another half window
    leave before the sender needs the acknowledgement. This must take as long as the packet takes to
    the receiver's memory and the acknowledgement takes back.
    """
    link, bus = description.link, description.bus
    packet = (description.nic.mtu + CONTROL_BYTES) / link.bytes_per_cycle
    hops = 2 * link.latency + description.switch.latency
    beats = min(bus.bytes_per_cycle, description.memory.word_rate)
    writes = (ceil(description.nic.mtu / bus.max_burst) * (bus.dma_setup + 1)
              + description.nic.mtu / beats)
    trip = packet + writes + 2 * hops + CONTROL_BYTES / link.bytes_per_cycle + ENGINE_CYCLES
    window = 1
    while (1 + window // 2) * packet < trip:
        window *= 2
    return window


def window_bound(description: Description) -> list[str]:
    """One line if a VI's window does not fill the link; else None."""
    least = least_window(description)
    via = description.via
    if via.design != "engine" or via.window >= least:
        return []
    return [f"VIs are window-bound: via.window = {via.window} packets do not last for a packet's "
            f"way and its acknowledgement's; one VI fills the link from via.window = {least} and "
            f"via.send_slots = {2 * least} on"]


def sent_again(description: Description) -> list[str]:
    """One line if the layer's time-out is shorter than a round trip. The layer then sends probes
    for packets that are only late, until it has measured the round trip."""
    trip = 4 * description.link.latency + 2 * description.switch.latency
    if description.am.retry_timeout >= trip:
        return []
    return [f"am.retry_timeout = {description.am.retry_timeout} cycles is shorter than a round "
            f"trip, at least {trip}: time-outs pass and probes go though nothing was lost; "
            f"--set am.retry_timeout={2 * trip} avoids that"]
