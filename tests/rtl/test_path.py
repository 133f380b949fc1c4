"""The way of a message on the default NIC takes exactly the promised cycles, block by block."""

from functools import cache

import pytest
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions.load import for_layer, load

from tests.programs import path_jobs as jobs


@cache
def found() -> dict[str, dict[str, list[int]]]:
    return run_job(for_layer(load("default"), "am"), function=f"{jobs.__name__}:measure")


def took(message: str, begin: str, end: str, nth: tuple[int, int] = (0, 0)) -> int:
    """Cycles from the event ``begin`` to ``end``, the so many-th of their kind."""
    events = found()[message]
    return events[end][nth[1]] - events[begin][nth[0]]


@pytest.mark.promise("register write to wire", "a packet of 3 words by PIO, bus and link idle: "
                     "from its first beat on the bus to its first flit on the link", "7")
def test_register_write_to_wire():
    assert took("small", "0 BUS BEGIN", "0 SEND_LINK BEGIN") == 7


@pytest.mark.promise("doorbell", "a write of 1 beat on an idle bus: the bus is held", "4")
@pytest.mark.promise("doorbell to descriptor", "from the doorbell's end on the bus to the "
                     "descriptor's burst", "1")
@pytest.mark.promise("descriptor", "a burst of 8 words from memory", "25")
def test_doorbell_and_descriptor():
    assert took("bulk", "0 BUS BEGIN", "0 BUS END") == 4
    assert took("bulk", "0 BUS END", "0 BUS BEGIN", (0, 1)) == 1
    assert took("bulk", "0 BUS BEGIN", "0 BUS END", (1, 1)) == 25


@pytest.mark.promise("descriptor to first beat", "from the descriptor's last beat to the first "
                     "flit on the link", "2")
@pytest.mark.promise("doorbell to wire", "one descriptor in the send ring: from its doorbell on "
                     "the bus to the first flit on the link", "32")
def test_descriptor_to_first_beat():
    assert took("bulk", "0 BUS END", "0 SEND_LINK BEGIN", (1, 0)) == 2
    assert took("bulk", "0 BUS BEGIN", "0 SEND_LINK BEGIN") == 32


@pytest.mark.promise("wire to switch", "a link and the head of a packet", "13")
@pytest.mark.promise("last flit to receive DMA", "an idle bus", "3")
@pytest.mark.promise("receive DMA", "a packet of one word: its burst of header, payload and "
                     "completion word", "12")
def test_wire_to_memory():
    assert took("small", "0 SEND_LINK BEGIN", "0 SWITCH BEGIN") == 13
    assert took("small", "1 RECEIVE_LINK END", "1 RECEIVE_DMA BEGIN", (1, 0)) == 3
    assert took("small", "1 BUS BEGIN", "1 BUS END") == 12
